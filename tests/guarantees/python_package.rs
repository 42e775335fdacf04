//! The package `belljar` of PyPI: its client, and its adapters in their real hosts.

use std::process::Command;

use crate::support::{belljar, repository};

#[test]
fn the_client_of_python_and_its_adapters_work_in_their_hosts() {
    let folder = repository().join("packages/python");
    let python = folder.join(".venv/bin/python");
    assert!(
        python.exists(),
        "packages/python/.venv is missing: scripts/test makes it, or `python3 -m venv .venv && .venv/bin/pip install --require-hashes -r tests/requirements.txt` in packages/python"
    );
    let mut tests = Command::new(python);
    tests.args(["-m", "pytest", "-p", "no:cacheprovider"]).current_dir(&folder).env("BELLJAR_BINARY", belljar());
    let output = tests.output().unwrap();
    let (said, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}{complained}");
    assert!(said.contains(" passed") && !said.contains("skipped"), "{said}{complained}");
}
