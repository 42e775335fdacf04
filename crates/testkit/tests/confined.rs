//! The engine's walls, tried one attempt at a time by a process that has built them around itself.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on has failed")]

use std::{
    os::unix::process::ExitStatusExt as _,
    process::{Command, Output},
};

const SIGSYS: i32 = 31;

fn attempt(walls: &str, name: &str) -> Output {
    let mut process = Command::new(env!("CARGO_BIN_EXE_belljar-testkit-confined"));
    process.arg(format!("{walls}:{name}")).output().expect("the process starts")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn attempts() -> Vec<String> {
    let listed = Command::new(env!("CARGO_BIN_EXE_belljar-testkit-confined")).arg("list").output().expect("the list");
    let names: Vec<_> = said(&listed).lines().map(str::to_owned).filter(|name| name != "compute").collect();
    assert!(names.len() >= 15, "{names:?}");
    names
}

#[test]
fn a_process_within_the_engines_walls_can_compute() {
    let output = attempt("all", "compute");
    assert!(output.status.success(), "{:?} {}", output.status, said(&output));
}

#[test]
fn whatever_reaches_beyond_the_engines_walls_ends_the_process() {
    for name in attempts() {
        let output = attempt("all", &name);
        assert!(said(&output).starts_with("confined"), "{name}: {}", said(&output));
        // The C library opens files in the middle of an allocation, and allocations may fail: these do no more than that.
        let fails = match name.as_str() {
            "read-file" => Some("Permission denied"),
            "map-memory" => Some("Cannot allocate memory"),
            _ => None,
        };
        if let Some(reason) = fails {
            assert_eq!(output.status.code(), Some(1), "{:?}", output.status);
            assert!(said(&output).contains(reason), "{}", said(&output));
            continue;
        }
        assert_eq!(output.status.signal(), Some(SIGSYS), "{name}: {:?} {}", output.status, said(&output));
    }
}

#[test]
fn without_walls_the_same_attempts_succeed() {
    // Tracing the parent is the one that the system may forbid anyway.
    for name in attempts().iter().filter(|name| !["trace-parent", "read-parent", "unshare"].contains(&name.as_str())) {
        let output = attempt("none", name);
        assert!(output.status.success(), "{name}: {:?} {}", output.status, said(&output));
    }
}

#[test]
fn landlock_alone_takes_the_files_away() {
    for name in ["read-file", "write-file", "list-folder"] {
        let output = attempt("landlock", name);
        assert_eq!(output.status.code(), Some(1), "{name}: {:?} {}", output.status, said(&output));
        assert!(said(&output).contains("Permission denied"), "{name}: {}", said(&output));
    }
}

#[test]
fn where_the_kernel_lacks_a_wall_of_the_engine_the_reason_is_said() {
    for (missing, reason) in [
        ("landlock", "landlock cannot take the files away"),
        ("seccomp", "seccomp cannot filter the system calls"),
        ("seccomp-filter", "seccomp cannot filter the system calls"),
    ] {
        let mut process = Command::new(env!("CARGO_BIN_EXE_belljar-testkit-child"));
        process.args(["without", missing, env!("CARGO_BIN_EXE_belljar-testkit-confined"), "all:compute"]);
        let output = process.output().expect("the process starts");
        assert_eq!(output.status.code(), Some(3), "{missing}: {:?} {}", output.status, said(&output));
        assert!(said(&output).starts_with(&format!("not confined: {reason}")), "{missing}: {}", said(&output));
    }
}
