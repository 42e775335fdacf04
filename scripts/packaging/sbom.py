"""Writes the SBOM of a platform's program as CycloneDX 1.6: every crate that is linked into it, and
every crate of the interpreter inside it, with the patches that were applied.

The crates are those of the lock files. Of the host's, `cargo tree` tells which this target links.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import uuid
from pathlib import Path

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    from pip._vendor import tomli as tomllib  # type: ignore[no-redef]

REPOSITORY = Path(__file__).resolve().parents[2]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    for name in ("version", "target", "epoch", "to"):
        arguments.add_argument(f"--{name}", required=True)
    given = arguments.parse_args()

    host = linked(given.target)
    guest = locked(REPOSITORY / "guest/Cargo.lock")
    if len(host) < 100 or len(guest) < 50:
        sys.exit(f"error: found only {len(host)} crates of the host and {len(guest)} of the guest, expected at least 100 and 50: check `cargo tree`")
    components = [component(entry, "host") for entry in host] + [component(entry, "guest") for entry in guest]
    root = {"type": "application", "bom-ref": "belljar", "name": "belljar", "version": given.version, "purl": f"pkg:cargo/belljar@{given.version}"}
    # Each file of a release has its own number, which stays the same when the file is made again.
    serial = uuid.uuid5(uuid.NAMESPACE_URL, f"pkg:cargo/belljar@{given.version}?target={given.target}&epoch={given.epoch}")
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(given.epoch))),
            "component": root,
            "properties": [{"name": "belljar:target", "value": given.target}],
        },
        "components": components,
        "dependencies": [{"ref": "belljar", "dependsOn": [each["bom-ref"] for each in components]}],
    }
    Path(given.to).write_text(json.dumps(document, indent=1) + "\n")


def linked(target: str) -> list[dict]:
    """The packages of the host's lock file that are linked into the program for `target`."""
    command = ["cargo", "tree", "--locked", "--package", "belljar", "--edges", "normal", "--target", target, "--prefix", "none"]
    tree = subprocess.run([*command, "--format", "{p}"], cwd=REPOSITORY, check=True, capture_output=True, text=True).stdout
    named = {tuple(line.split()[:2]) for line in tree.splitlines() if line}
    return [entry for entry in locked(REPOSITORY / "Cargo.lock") if (entry["name"], f"v{entry['version']}") in named and entry["name"] != "belljar"]


def locked(path: Path) -> list[dict]:
    return tomllib.loads(path.read_text())["package"]


def component(entry: dict, part: str) -> dict:
    name, version = entry["name"], entry["version"]
    made = {
        "type": "library",
        "bom-ref": f"{part}:{name}@{version}",
        "name": name,
        "version": version,
        "purl": f"pkg:cargo/{name}@{version}",
        "properties": [{"name": "belljar:part", "value": part}],
    }
    if "checksum" in entry:
        made["hashes"] = [{"alg": "SHA-256", "content": entry["checksum"]}]
    patches = sorted((REPOSITORY / "guest/patches" / name).glob("*.patch")) if part == "guest" else []
    if patches:
        made["pedigree"] = {"patches": [{"type": "unofficial", "diff": {"url": str(path.relative_to(REPOSITORY))}} for path in patches]}
    return made


if __name__ == "__main__":
    main()
