"""The program itself, as the console script `decoy`."""

from __future__ import annotations

import os
import subprocess
import sys

from ._program import program


def main() -> None:
    command = [program(), *sys.argv[1:]]
    if os.name == "posix":
        os.execv(command[0], command)
    try:
        raise SystemExit(subprocess.call(command))
    except KeyboardInterrupt:  # which the program has had too
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
