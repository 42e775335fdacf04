//! The PyPI package `belljar`: its client, and its adapters in their real hosts.

use std::{path::PathBuf, process::Command};

use crate::{
    host_protocol::client_conformance,
    support::{belljar, repository},
};

fn python() -> PathBuf {
    let python = repository().join("packages/python/.venv/bin/python");
    assert!(
        python.exists(),
        "packages/python/.venv is missing: scripts/test makes it, or `python3 -m venv .venv && .venv/bin/pip install --require-hashes -r tests/requirements.txt` in packages/python"
    );
    python
}

#[test]
fn the_client_of_python_does_what_the_protocols_table_says() {
    let table = repository().join("packages/python/tests/table.py");
    client_conformance(&[python().to_str().unwrap(), table.to_str().unwrap()]);
}

#[test]
fn the_client_of_python_and_its_adapters_work_in_their_hosts() {
    let folder = repository().join("packages/python");
    let mut tests = Command::new(python());
    tests.args(["-m", "pytest", "-p", "no:cacheprovider"]).current_dir(&folder).env("BELLJAR_BINARY", belljar());
    let output = tests.output().unwrap();
    let (said, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}{complained}");
    assert!(said.contains(" passed") && !said.contains("skipped"), "{said}{complained}");
}
