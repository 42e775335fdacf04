//! The protocol's own conformance suite against belljar's side towards servers.
//!
//! The suite plays the servers, and starts `belljar-testkit-client`, which uses them through
//! `belljar-upstream`, as `belljar serve` does. It judges by what its servers saw.

use std::process::Command;

use crate::{conformance::suites_node, real_servers::installed};

#[test]
fn the_required_scenarios_of_the_revision_with_sessions_pass_for_the_client() {
    check("2025-11-25", 18);
}

#[test]
fn the_required_scenarios_of_the_revision_without_sessions_pass_for_the_client() {
    check("2026-07-28", 32);
}

/// Runs all scenarios that the revision requires, and checks their number.
fn check(revision: &str, required: usize) {
    let suite = installed("@modelcontextprotocol/conformance/dist/index.js");
    let client = belljar_testkit::conformance_client_binary().expect("belljar-testkit was built");
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(suites_node())
        .arg(suite)
        .args(["client", "--requirements", revision, "--command"])
        .arg(client)
        .current_dir(folder.path())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let (_, summary) = told.split_once("=== SUITE SUMMARY ===").unwrap_or_else(|| panic!("no summary: {told}"));
    assert!(output.status.success(), "{summary}\n{}", String::from_utf8_lossy(&output.stderr));
    let passed: Vec<_> = summary.lines().filter(|line| line.contains(" passed, ") && line.starts_with('✓')).collect();
    assert_eq!(passed.len(), required, "{summary}");
}
