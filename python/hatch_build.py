"""Puts the program into the wheel, which is then of one platform and of any Python 3."""

from __future__ import annotations

import os
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Program(BuildHookInterface):  # type: ignore[misc]
    """Takes the program at DECOY_PROGRAM, for the platform DECOY_PLATFORM (a wheel tag)."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        program = os.environ.get("DECOY_PROGRAM")
        platform = os.environ.get("DECOY_PLATFORM")
        if not program or not platform:
            raise SystemExit("wheels are built of release programs: see build_wheels.py")
        name = "decoy.exe" if platform.startswith("win") else "decoy"
        build_data["force_include"] = {program: f"decoy/bin/{name}"}
        build_data["tag"] = f"py3-none-{platform}"
        build_data["pure_python"] = False
