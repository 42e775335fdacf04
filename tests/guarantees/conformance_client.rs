//! The protocol's own conformance suite against belljar's side towards servers.
//!
//! The suite plays the servers, and starts `belljar-testkit-client`, which uses them through
//! `belljar-upstream`, as `belljar serve` does. It judges by what its servers saw.

use std::{fs, process::Command};

use crate::{conformance::suites_node, real_servers::installed};

/// The scenarios that do not pass, and why. Each that passes after all is a failure, too: it must
/// be taken out here, and in docs/CONFORMANCE.md.
const NOT_YET: [(&str, &str); 2] = [
    ("auth/basic-cimd", "belljar publishes no document about itself, so it registers"),
    ("auth/scope-step-up", "belljar asks for no further scope by itself"),
];

#[test]
fn the_required_scenarios_of_the_revision_with_sessions_pass_for_the_client() {
    check("2025-11-25", 18);
}

#[test]
fn the_required_scenarios_of_the_revision_without_sessions_pass_for_the_client() {
    check("2026-07-28", 32);
}

/// Runs all scenarios that the revision requires, of which there are so many.
fn check(revision: &str, required: usize) {
    let suite = installed("@modelcontextprotocol/conformance/dist/index.js");
    let client = belljar_testkit::conformance_client_binary().expect("belljar-testkit was built");
    let folder = tempfile::tempdir().unwrap();
    let lines: Vec<_> = NOT_YET.iter().map(|(name, reason)| format!("  - {name} # {reason}\n")).collect();
    fs::write(folder.path().join("baseline.yml"), format!("client:\n{}", lines.concat())).unwrap();
    let output = Command::new(suites_node())
        .arg(suite)
        .args(["client", "--requirements", revision, "--expected-failures", "baseline.yml", "--command"])
        .arg(client)
        .current_dir(folder.path())
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let (_, summary) = told.split_once("=== SUITE SUMMARY ===").unwrap_or_else(|| panic!("no summary: {told}"));
    assert!(output.status.success(), "{summary}\n{}", String::from_utf8_lossy(&output.stderr));
    let (passed, failed): (Vec<_>, Vec<_>) =
        summary.lines().filter(|line| line.contains(" passed, ")).partition(|line| line.starts_with('✓'));
    let expected = failed.iter().filter(|line| NOT_YET.iter().any(|(name, _)| line.contains(name))).count();
    assert_eq!((passed.len(), expected), (required - NOT_YET.len(), NOT_YET.len()), "{summary}");
}
