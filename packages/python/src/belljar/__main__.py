"""`python -m belljar …` is `belljar …`."""

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
    # The program takes this process over, so that signals and the terminal are its own.
    os.execv(binary, arguments)


if __name__ == "__main__":
    sys.exit(main())
