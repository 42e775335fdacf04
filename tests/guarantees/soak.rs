//! Very many runs leave nothing behind. The long form is a command:
//! `cargo bench --workspace --bench soak -- 1000000`.

#![cfg(target_os = "linux")]

use std::{process::Command, sync::Arc};

use belljar_benches::soak::{Sample, soak};
use belljar_sandbox::{Image, Sandbox, SandboxOptions};

const RUNS: u64 = 20_000;
const EVERY: u64 = 4_000;
/// Growth after the first part: at most one KB per run.
const GROWTH_BYTES: u64 = 16 << 20;
const GROWTH_DESCRIPTORS: usize = 8;

#[test]
fn twenty_thousand_runs_of_every_kind_end_as_they_must_and_leave_nothing_behind() {
    // Resources of other tests do not count.
    let mut alone = Command::new(std::env::current_exe().unwrap());
    let output = alone.args(["--exact", "soak::in_a_process_of_its_own", "--ignored", "--nocapture"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("1 passed"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "the test above starts it"]
async fn in_a_process_of_its_own() {
    let options = SandboxOptions { max_live: 8, ..SandboxOptions::default() };
    let sandbox = Arc::new(Sandbox::new(&Image::embedded(), options).unwrap());
    let mut samples: Vec<Sample> = Vec::new();
    soak(&sandbox, RUNS, EVERY, |sample| samples.push(sample)).await.unwrap();
    let (first, last) = (samples[0], samples[samples.len() - 1]);
    assert_eq!(last.runs, RUNS);
    assert!(last.resident_bytes <= first.resident_bytes + GROWTH_BYTES, "{samples:#?}");
    assert!(last.descriptors <= first.descriptors + GROWTH_DESCRIPTORS, "{samples:#?}");
}
