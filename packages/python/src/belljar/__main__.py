"""Runs the program: `python -m belljar …` is the same as `belljar …`."""

from __future__ import annotations

import os
import subprocess
import sys

from ._binary import find_binary
from ._errors import BinaryNotFound


def main() -> int:
    try:
        binary = find_binary()
    except BinaryNotFound as fault:
        print(f"error: {fault}", file=sys.stderr)
        return 1
    arguments = [binary, *sys.argv[1:]]
    if sys.platform == "win32":
        return subprocess.run(arguments, check=False).returncode
    # The program replaces this process, so it gets signals and the terminal directly.
    os.execv(binary, arguments)


if __name__ == "__main__":
    sys.exit(main())
