//! Hostile runs give their resources back: memory and file descriptors are the same before and
//! after each group.

use std::{process::Command, sync::Arc};

use belljar_model::{ByteSize, Limits};

use super::arena::{Arena, small};
use crate::support;

/// Growth that does not count: allocators keep some memory.
const SLACK: u64 = 24 << 20;
/// Rounds over a group before its baseline is measured, and after.
const ROUNDS: usize = 20;

/// Other tests of this process open files and use memory, so it is measured in its own process.
#[test]
pub(crate) fn what_hostile_runs_take_comes_back() {
    let alone = Command::new(std::env::current_exe().unwrap())
        .args(["hostile::baseline::every_group_returns_to_its_baseline", "--exact", "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&alone.stdout).into_owned() + &String::from_utf8_lossy(&alone.stderr);
    assert!(alone.status.success() && said.contains("1 passed"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "wants a process of its own: `what_hostile_runs_take_comes_back` gives it one"]
async fn every_group_returns_to_its_baseline() {
    let limits = Limits { fuel: 20_000_000, memory: ByteSize::mib(24), max_calls: 20, ..small() };
    let arena = Arena::with(Arc::new(support::tools()));
    for (group, scripts) in [
        ("cpu", &["while (true) {}", "for (;;) await 0", "/(a+)+$/.test('a'.repeat(40) + '!')"][..]),
        ("memory", &["let s = 'x'; for (;;) s += s", "const all = []; for (;;) all.push(new Uint8Array(1e6))"]),
        ("stack", &["(function f() { f() })()", "eval('['.repeat(1e5))"]),
        ("values", &["return 'x'.repeat(1e6)", "return Array(2 ** 32 - 1)", "return 1n"]),
        (
            "calls",
            &[
                "for (;;) await box.echo({})",
                "await Promise.all(Array.from({ length: 100 }, () => box.wait({ ms: 1e6 })))",
                "box.wait({ ms: 1 }); return 1",
            ],
        ),
        ("logs", &["for (let i = 0; i < 1e4; i++) console.log('x'.repeat(100)); return 1"]),
        (
            "timers",
            &["for (let i = 0; i < 100; i++) setTimeout(() => {}, 1e6); return 1", "await new Promise(() => {})"],
        ),
    ] {
        let round = async || {
            for script in scripts {
                // Other tests check how each of them ends.
                let _ = arena.run(script, &limits).await;
            }
        };
        for _ in 0..ROUNDS {
            round().await;
        }
        let (memory, files) = (resident(), open_files());
        for _ in 0..ROUNDS {
            round().await;
        }
        let (memory_after, files_after) = (resident(), open_files());
        assert!(files_after <= files, "{group}: {files} files were open, and {files_after} are");
        assert!(memory_after <= memory + SLACK, "{group}: {memory} bytes were resident, and {memory_after} are");
    }
    arena.assert_clean("all groups").await;
}

/// Bytes of this process in memory.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}
