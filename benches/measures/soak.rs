//! Very many short runs: `cargo bench --workspace --bench soak -- 1000000`. Prints a line for each
//! 10,000.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    missing_docs,
    reason = "a measure prints, and fails where it cannot"
)]

use std::sync::Arc;

use belljar_benches::soak::{Sample, kinds, soak};
use belljar_sandbox::{Image, Sandbox, SandboxOptions};

const RUNS: u64 = 100_000;
const EVERY: u64 = 10_000;

fn main() {
    // Cargo adds an argument of its own.
    let asked = std::env::args().skip(1).find_map(|argument| argument.parse().ok());
    let runs = asked.unwrap_or(RUNS);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let sandbox = Arc::new(Sandbox::new(&Image::embedded(), SandboxOptions::default()).unwrap());
    println!("{runs} runs, in turn of these kinds: {}\n", kinds().join(", "));
    println!("{:>9}  {:>8}  {:>8}  {:>11}", "runs", "runs/s", "RSS MiB", "descriptors");
    let mut first: Option<Sample> = None;
    let mut last: Option<Sample> = None;
    runtime
        .block_on(soak(&sandbox, runs, EVERY, |sample| {
            let before = last.map_or(0, |last| last.runs);
            println!("{}", line(&sample, sample.runs - before));
            first.get_or_insert(sample);
            last = Some(sample);
        }))
        .unwrap();
    let (Some(first), Some(last)) = (first, last) else { return };
    println!(
        "\nsince run {}: RSS {:+.1} MiB, descriptors {:+}",
        first.runs,
        mebibytes(last.resident_bytes) - mebibytes(first.resident_bytes),
        i64::try_from(last.descriptors).unwrap() - i64::try_from(first.descriptors).unwrap()
    );
}

fn line(sample: &Sample, runs: u64) -> String {
    let rate = runs as f64 / sample.elapsed.as_secs_f64();
    format!("{:>9}  {rate:>8.0}  {:>8.1}  {:>11}", sample.runs, mebibytes(sample.resident_bytes), sample.descriptors)
}

fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
