"""Makes the wheel for PyPI: the Python client and the program of one platform.

The program has been built already, so that all packages of a platform contain the same one. No
Python build backend makes a wheel whose script is an existing program, so this does. The backend in
pyproject.toml is for working on the client.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import re
import sys
import time
import zipfile
from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    from pip._vendor import tomli as tomllib  # type: ignore[no-redef]

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGE = REPOSITORY / "packages/python"
LICENSES = ("LICENSE-APACHE", "LICENSE-MIT")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    for name in ("version", "tag", "program", "epoch", "to"):
        arguments.add_argument(f"--{name}", required=True)
    arguments.add_argument("--quick", action="store_true")
    given = arguments.parse_args()

    project = project_of(given.version)
    name = f"belljar-{given.version}"
    program = Path(given.program)
    files: list[tuple[str, bytes, int]] = [(path, data, 0o644) for path, data in client_sources()]
    files.append((f"{name}.data/scripts/{program.name}", program.read_bytes(), 0o755))
    for license in LICENSES:
        files.append((f"{name}.dist-info/licenses/{license}", (REPOSITORY / license).read_bytes(), 0o644))
    files.append((f"{name}.dist-info/METADATA", metadata(project).encode(), 0o644))
    wheel = f"Wheel-Version: 1.0\nGenerator: belljar\nRoot-Is-Purelib: false\nTag: py3-none-{given.tag}\n"
    files.append((f"{name}.dist-info/WHEEL", wheel.encode(), 0o644))
    record = "".join(f"{path},sha256={digest(data)},{len(data)}\n" for path, data, _ in files)
    files.append((f"{name}.dist-info/RECORD", f"{record}{name}.dist-info/RECORD,,\n".encode(), 0o644))

    # Times in a zip file begin in 1980.
    stamp = time.gmtime(max(int(given.epoch), 315_532_800))[:6]
    level = 1 if given.quick else 9
    with zipfile.ZipFile(Path(given.to) / f"{name}-py3-none-{given.tag}.whl", "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
        for path, data, mode in files:
            entry = zipfile.ZipInfo(path, stamp)
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data, compresslevel=level)


def project_of(version: str) -> dict:
    """The project of pyproject.toml, whose version must be this one."""
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    if project["version"] != version:
        sys.exit(f"error: packages/python/pyproject.toml has version {project['version']}, but Cargo.toml has {version}")
    return project


def client_sources() -> list[tuple[str, bytes]]:
    """The files of the client, by their paths below `src`."""
    sources = PACKAGE / "src"
    paths = (path for path in sorted(sources.rglob("*")) if path.is_file() and "__pycache__" not in path.parts)
    return [(path.relative_to(sources).as_posix(), path.read_bytes()) for path in paths]


def metadata(project: dict) -> str:
    """Core metadata 2.4, with what is in pyproject.toml."""
    lines = ["Metadata-Version: 2.4", f"Name: {project['name']}", f"Version: {project['version']}"]
    lines += [f"Summary: {project['description']}", f"License-Expression: {project['license'].replace(' or ', ' OR ')}"]
    lines += ["License-File: LICENSE-APACHE", "License-File: LICENSE-MIT"]
    lines += [f"Keywords: {','.join(project.get('keywords', []))}"]
    lines += [f"Classifier: {classifier}" for classifier in project.get("classifiers", [])]
    lines += [f"Requires-Python: {project['requires-python']}"]
    lines += [f"Requires-Dist: {needed}" for needed in project.get("dependencies", [])]
    for extra, needs in project.get("optional-dependencies", {}).items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f"Requires-Dist: {needed}; extra == '{extra}'" for needed in needs]
    lines += [f"Project-URL: {name}, {url}" for name, url in project.get("urls", {}).items()]
    readme = PACKAGE / project.get("readme", "README.md")
    text = readme.read_text() if readme.exists() else ""
    return "\n".join([*lines, "Description-Content-Type: text/markdown", "", text])


def digest(data: bytes) -> str:
    return re.sub("=+$", "", base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode())


if __name__ == "__main__":
    main()
