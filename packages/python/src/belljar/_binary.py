"""Finds the program `belljar`.

It looks in this order: the argument, `BELLJAR_BINARY`, the program that came with this package,
`PATH`. An installer may have put the program into one of several folders, which are those in which
ruff looks for itself (`_find_ruff.py` in its package).
"""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from ._errors import BinaryNotFound

VARIABLE = "BELLJAR_BINARY"


def find_binary(binary: str | os.PathLike[str] | None = None) -> str:
    """Returns the path of the program. Raises `BinaryNotFound`, which says where it looked."""
    for asked, by in ((binary, "binary="), (os.environ.get(VARIABLE), VARIABLE)):
        if asked:
            # A name without a folder is looked up on PATH, as in a shell.
            found = shutil.which(os.fspath(asked))
            if found is None:
                raise BinaryNotFound(
                    f"{by} names {os.fspath(asked)!r}, which is neither the path of an executable "
                    "file nor a program on PATH"
                )
            return found
    looked: list[str] = []
    for folder in _folders():
        path = os.path.join(folder, _name())
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
        looked.append(folder)
    found = shutil.which(_name())
    if found is None:
        places = ", ".join(looked)
        raise BinaryNotFound(
            f"the program belljar was not found in {places} or on PATH: install the package "
            f"belljar from a wheel for this platform, or set {VARIABLE} to the program's path"
        )
    return found


def _name() -> str:
    return "belljar" + (sysconfig.get_config_var("EXE") or "")


def _folders() -> Iterator[str]:
    """The folders into which an installer of this package may have put the program."""
    seen: set[str] = set()
    for folder in _candidates():
        if folder and folder not in seen:
            seen.add(folder)
            yield folder


def _candidates() -> Iterator[str | None]:
    yield sysconfig.get_path("scripts")
    # A virtual environment can see the packages of the Python that it was made with.
    yield sysconfig.get_path("scripts", vars={"base": sys.base_prefix})
    package = Path(__file__).resolve().parent
    # `pip install --prefix`: lib/pythonX.Y/site-packages/belljar, or Lib\site-packages\belljar.
    is_windows = sys.platform == "win32"
    up = 2 if is_windows else 3
    if package.parent.name in ("site-packages", "dist-packages") and len(package.parents) > up:
        yield str(package.parents[up] / ("Scripts" if is_windows else "bin"))
    # `pip install --target`.
    yield str(package.parent / "bin")
    yield sysconfig.get_path("scripts", scheme=sysconfig.get_preferred_scheme("user"))
