//! Programs give the same results here as in Node: 3,000 in `tests/differential/programs`, with the
//! results of Node 20, and thousands that a generator makes while the test runs, judged by Node at
//! the same time. Differences are listed with their reasons.

mod fixed;
mod random;
mod reduce;

use std::{
    io::Write as _,
    path::PathBuf,
    process::{Command, Stdio},
    sync::Arc,
    time::Duration,
};

use belljar_model::{Limits, Outcome};
use futures::{StreamExt as _, stream};
use serde_json::Value;

use crate::{
    real_servers::node,
    support::{repository, run_with, tools},
};

/// Runs under way at the same time.
const AT_ONCE: usize = 4;
/// Programs in one run, when many are judged: a run's result is bounded, and a failed run is
/// repeated program by program.
const IN_A_RUN: usize = 25;
/// The compute limit: such programs take milliseconds, and a reduced one may never end.
const COMPUTE: Duration = Duration::from_secs(20);
/// Characters of a text in a message.
const SHOWN: usize = 600;

/// A program, and Node's result.
struct Judged {
    name: String,
    source: String,
    node: String,
}

fn folder() -> PathBuf {
    repository().join("tests/differential")
}

/// A program's result in a run of its own.
async fn here(source: &str) -> String {
    let script = format!(
        "try {{ return JSON.stringify(await (async () => {{\n{source}\n}})()) ?? 'undefined' }} catch (e) {{ return 'throws ' + e?.name }}"
    );
    let outcome = run(&script).await;
    match &outcome.result {
        Ok(value) => value.to_value().unwrap().as_str().unwrap_or_default().to_owned(),
        Err(error) => format!("ends: {}", error.message),
    }
}

async fn run(script: &str) -> Outcome {
    let limits = Limits { compute: COMPUTE, ..Limits::default() };
    run_with(script, &limits, Arc::new(tools())).await
}

/// The results of many programs. They share runs, one after the other, each in a function of its
/// own.
async fn all_here(sources: &[&str]) -> Vec<String> {
    let runs: Vec<_> = sources.chunks(IN_A_RUN).map(in_one_run).collect();
    stream::iter(runs).buffered(AT_ONCE).collect::<Vec<_>>().await.concat()
}

async fn in_one_run(sources: &[&str]) -> Vec<String> {
    let functions: Vec<_> = sources.iter().map(|source| format!("async () => {{\n{source}\n}}")).collect();
    let script = format!(
        "const results = [];\nfor (const program of [{}]) {{\n  try {{ results.push(JSON.stringify(await program()) ?? 'undefined') }} \
         catch (e) {{ results.push('throws ' + e?.name) }}\n}}\nreturn results;",
        functions.join(",\n")
    );
    let results = run(&script).await.result.ok().map(|value| value.to_value().unwrap());
    match results.as_ref().and_then(Value::as_array) {
        Some(results) if results.len() == sources.len() => {
            results.iter().map(|result| result.as_str().unwrap_or_default().to_owned()).collect()
        }
        // One of them ended the run, or is refused before it starts.
        _ => stream::iter(sources).then(async |source| here(source).await).collect().await,
    }
}

/// The output of one of the scripts beside the programs, with this on its stdin.
fn node_says(script: &str, arguments: &[String], input: &str) -> Value {
    let mut command = Command::new(node());
    command.arg(folder().join(script)).args(arguments).env("TZ", "UTC");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{script} {arguments:?} failed");
    writer.join().unwrap().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A program, and where its two results differ.
fn difference(name: &str, source: &str, expected: &str, found: &str) -> String {
    let at = found.bytes().zip(expected.bytes()).take_while(|(one, other)| one == other).count();
    let near = |text: &str| {
        let from = (0..=at.saturating_sub(40)).rev().find(|byte| text.is_char_boundary(*byte)).unwrap_or(0);
        text.get(from..).unwrap_or(text).chars().take(SHOWN).collect::<String>()
    };
    let (expected, found) = (near(expected), near(found));
    format!("==== {name}\n{source}\n---- expected, from byte {at}\n{expected}\n---- found\n{found}\n")
}
