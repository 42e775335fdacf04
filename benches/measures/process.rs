//! From `exec` to the result, as a whole process: `cargo bench -p belljar-benches --bench process`.
//!
//! It measures the release binary, which must have been built: `cargo build --release -p belljar`.

#![allow(clippy::unwrap_used, missing_docs, reason = "a bench that cannot go on has failed")]

use std::{
    path::PathBuf,
    process::{Command, Stdio},
    time::Duration,
};

use criterion::{Criterion, criterion_group, criterion_main};

/// The binary beside the bench.
fn belljar() -> PathBuf {
    let bench = std::env::current_exe().unwrap();
    let binary = bench.parent().unwrap().parent().unwrap().join(format!("belljar{}", std::env::consts::EXE_SUFFIX));
    assert!(binary.exists(), "{} is missing: cargo build --release -p belljar", binary.display());
    binary
}

fn process(criterion: &mut Criterion) {
    let binary = belljar();
    let home = std::env::temp_dir();
    criterion.bench_function("exec to the result of 1+1", |bencher| {
        bencher.iter(|| {
            let output = Command::new(&binary)
                .args(["run", "--code", "1+1"])
                .current_dir(&home)
                .env("HOME", &home)
                .env("XDG_CONFIG_HOME", &home)
                .env_remove("BELLJAR_CONFIG")
                .stderr(Stdio::null())
                .output()
                .unwrap();
            assert_eq!(output.stdout, b"2\n");
        });
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(50).measurement_time(Duration::from_secs(8));
    targets = process
}
criterion_main!(benches);
