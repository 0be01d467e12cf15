"""Puts the programs into the wheel, which is then of one platform and of any Python 3."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Program(BuildHookInterface):  # type: ignore[misc]
    """Takes the program at DECOY_PROGRAM, and decoy-spark where it lies beside it, for the platform
    DECOY_PLATFORM (a wheel tag)."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        program = os.environ.get("DECOY_PROGRAM")
        platform = os.environ.get("DECOY_PLATFORM")
        if not program or not platform:
            raise SystemExit("wheels are built of release programs: see build_wheels.py")
        suffix = ".exe" if platform.startswith("win") else ""
        helper = Path(program).parent / f"decoy-spark{suffix}"
        programs = {program: f"decoy/bin/decoy{suffix}"}
        if helper.is_file():
            programs[str(helper)] = f"decoy/bin/{helper.name}"
        build_data["force_include"] = programs
        build_data["tag"] = f"py3-none-{platform}"
        build_data["pure_python"] = False
