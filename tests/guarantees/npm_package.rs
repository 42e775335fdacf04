//! The npm package `belljar`: its client, and its adapters under the tests of their hosts.

use std::process::Command;

use crate::{
    host_protocol::client_conformance,
    real_servers::node,
    support::{belljar, repository},
};

#[test]
fn the_client_of_npm_does_what_the_protocols_table_says() {
    let table = repository().join("packages/npm/tests/table.mjs");
    client_conformance(&[node(), table.to_str().unwrap()]);
}

#[test]
fn the_client_of_npm_and_its_adapters_keep_what_their_hosts_test() {
    let folder = repository().join("packages/npm");
    assert!(
        folder.join("node_modules").exists(),
        "packages/npm/node_modules is missing: scripts/test installs what the tests need, or `npm ci` in packages/npm"
    );
    let mut files: Vec<_> =
        std::fs::read_dir(folder.join("tests")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.to_str().unwrap().ends_with(".test.mjs"));
    assert!(!files.is_empty());

    let mut tests = Command::new(node());
    // Which reporter is the default depends on the version of Node.
    tests.args(["--test", "--test-reporter=tap"]).args(&files).current_dir(&folder).env("BELLJAR_BINARY", belljar());
    let output = tests.output().unwrap();
    let (said, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}{complained}");
    for none in ["# fail 0", "# cancelled 0", "# skipped 0", "# todo 0"] {
        assert!(said.lines().any(|line| line == none), "{none}: {said}{complained}");
    }
}
