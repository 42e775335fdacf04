"""Makes the source distribution for PyPI: the Python client. Where there is no wheel, pip builds a
package without the program from it.

The same files always give the same archive.
"""

from __future__ import annotations

import argparse
import gzip
import io
import tarfile
from pathlib import Path

from wheel import LICENSES, PACKAGE, REPOSITORY, client_sources, metadata, project_of


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    for name in ("version", "epoch", "to"):
        arguments.add_argument(f"--{name}", required=True)
    given = arguments.parse_args()

    project = project_of(given.version)
    name = f"belljar-{given.version}"
    files = {f"src/{path}": data for path, data in client_sources()}
    files |= {path: (PACKAGE / path).read_bytes() for path in ("README.md", "pyproject.toml")}
    files |= {license: (REPOSITORY / license).read_bytes() for license in LICENSES}
    files["PKG-INFO"] = metadata(project).encode()

    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path, data in sorted(files.items()):
            entry = tarfile.TarInfo(f"{name}/{path}")
            entry.size, entry.mode, entry.mtime = len(data), 0o644, int(given.epoch)
            archive.addfile(entry, io.BytesIO(data))
    packed = gzip.compress(written.getvalue(), mtime=int(given.epoch))
    (Path(given.to) / f"{name}.tar.gz").write_bytes(packed)


if __name__ == "__main__":
    main()
