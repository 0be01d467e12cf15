"""Builds a wheel for each program of a release, without Go:

    python internal/packaging/release.py dist
    python python/build_wheels.py dist wheels

or for one program of this platform, such as the one just built:

    python python/build_wheels.py --program ./decoy wheels

It needs `pip install hatchling`.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

HERE = Path(__file__).resolve().parent

# Static programs run on every Linux of the kernel that Go needs, and on macOS 12 or later.
PLATFORMS = {
    ("linux", "amd64"): "manylinux2014_x86_64.musllinux_1_1_x86_64",
    ("linux", "arm64"): "manylinux2014_aarch64.musllinux_1_1_aarch64",
    ("darwin", "amd64"): "macosx_12_0_x86_64",
    ("darwin", "arm64"): "macosx_12_0_arm64",
    ("windows", "amd64"): "win_amd64",
    ("windows", "arm64"): "win_arm64",
}


def build(program: Path, platform: str, version: str, out: Path) -> None:
    """Builds one wheel."""
    environment = {
        **os.environ,
        "DECOY_PROGRAM": str(program.resolve()),
        "DECOY_PLATFORM": platform,
        "DECOY_VERSION": version,
        "SOURCE_DATE_EPOCH": os.environ.get("SOURCE_DATE_EPOCH", "315532800"),
    }
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out.resolve())]
    subprocess.run(command, cwd=HERE, env=environment, check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="build wheels of release programs")
    parser.add_argument("dist", nargs="?", type=Path, help="folder of a release")
    parser.add_argument("out", type=Path, help="folder of the wheels")
    parser.add_argument("--program", type=Path, help="one program in place of a release")
    parser.add_argument("--version", default="0.0.0", help="version of a single wheel")
    given = parser.parse_args()
    if importlib.util.find_spec("hatchling") is None:
        raise SystemExit("building a wheel needs hatchling: pip install hatchling")
    if given.program and not given.program.is_file():
        raise SystemExit(f"--program {given.program}: there is no such file")
    given.out.mkdir(parents=True, exist_ok=True)
    if given.program:
        here = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build(given.program, here, given.version, given.out)
        return
    if not given.dist:
        parser.error("give the folder of a release, or --program")
    version = (given.dist / "VERSION").read_text().strip().replace("-dev.g", ".dev0+g")
    found = 0
    for folder in sorted((given.dist / "bin").iterdir()):
        goos, goarch = folder.name.split("_")
        program = folder / ("decoy.exe" if goos == "windows" else "decoy")
        build(program, PLATFORMS[goos, goarch], version, given.out)
        found += 1
    if not found:
        raise SystemExit(f"{given.dist} holds no program")


if __name__ == "__main__":
    main()
