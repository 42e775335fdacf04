//! What the ledger costs on this machine: `cargo run -p belljar-ledger --example figures [RUNS]`.
//!
//! Latency is what a run waits for: its start and its end are queued, and an intent is waited for.
//! Latency is how long a run waits: its start and its end are queued, and it waits until an intent
//! is kept. The file is then filled with RUNS runs (100,000) of five calls each, and queried like
//! `belljar runs` and `belljar runs show` do.

#![allow(clippy::print_stdout, clippy::expect_used, reason = "it is a program that prints figures")]

use std::{
    fs,
    time::{Duration, Instant, SystemTime},
};

use belljar_ledger::{
    Asker, Call, CallEnd, CallState, Entry, Filter, Ledger as _, Options, RunEnd, RunStart, SqliteLedger,
};
use belljar_model::{Effect, ErrorKind, LedgerKeep, RunId, ToolPath, Usage};

const CALLS: u64 = 5;

fn start(bits: u64) -> RunStart {
    // Runs have random names, and are spread over the file.
    let run = RunId::from_bits(bits.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    RunStart {
        run,
        at: SystemTime::now(),
        origin: "run",
        asker: Asker::default(),
        source_bytes: Some(300),
        source: Some([7; 16]),
    }
}

/// The start of the runs that fill the file: one per second, until now.
fn long_ago(bits: u64) -> RunStart {
    let start = start(bits);
    RunStart { at: SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 + bits), ..start }
}

fn common_tool(list: &Filter) -> Filter {
    Filter { tool: Some(("server".to_owned(), Some("tool_3".to_owned()))), ..list.clone() }
}

fn call(number: u64, trusted: Effect, ends: bool) -> Call {
    let took = Duration::from_micros(1_500);
    let end = CallEnd { state: CallState::Ok, took, answer_bytes: Some(2_000), answer: Some([2; 16]) };
    Call {
        number,
        tool: ToolPath::new("server", format!("tool_{}", number % 7)),
        effect: trusted,
        trusted,
        begun: Duration::from_micros(900 * number),
        arguments_bytes: 80,
        arguments: Some([1; 16]),
        verdict: None,
        rule: None,
        may_repeat: false,
        end: ends.then_some(end),
    }
}

fn end(start: RunStart, calls: Vec<Call>) -> Entry {
    let usage =
        Usage { fuel: Some(1_234_567), guest_ms: Some(1.5), peak_memory_bytes: Some(5 << 20), ..Usage::default() };
    let took = Duration::from_millis(9);
    Entry::End(Box::new(RunEnd { start, took, error: None, line: None, usage, calls, recording: None }))
}

fn median(mut times: Vec<Duration>) -> (Duration, Duration) {
    times.sort();
    let at = |part: usize| times.get(times.len() * part / 100).copied().unwrap_or_default();
    (at(50), at(99))
}

async fn latency(
    what: &str,
    ledger: &SqliteLedger,
    rounds: u64,
    pause: Duration,
    entries: impl Fn(u64) -> Vec<(Entry, bool)>,
) {
    let mut times = Vec::new();
    for round in 0..rounds {
        let entries = entries(round);
        // As between two runs of a client: the thread is idle when the next one comes.
        tokio::time::sleep(pause).await;
        let begun = Instant::now();
        for (entry, waits) in entries {
            let kept = if waits { ledger.commit(entry).await } else { ledger.write(entry).await };
            kept.expect("kept");
        }
        times.push(begun.elapsed());
    }
    let (median, worst) = median(times);
    println!("{what:<62} median {:>7.1} µs, 99 % {:>8.1} µs", median.as_secs_f64() * 1e6, worst.as_secs_f64() * 1e6);
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let runs: u64 = std::env::args().nth(1).and_then(|runs| runs.parse().ok()).unwrap_or(100_000);
    let folder = tempfile::tempdir().expect("a folder");
    let keep = LedgerKeep { bytes: belljar_model::ByteSize::gib(4), days: 36_500 };
    let pause = Duration::from_millis(2);
    for fsync in [false, true] {
        let path = folder.path().join(if fsync { "fsync" } else { "plain" });
        let ledger = SqliteLedger::new(Some(&path), Options { fsync, keep });
        ledger.commit(Entry::Begin(start(u64::MAX))).await.expect("kept");
        if !fsync {
            let read_only = |round| {
                let start = start(round);
                let calls = (0..CALLS).map(|number| call(number, Effect::ReadOnly, true)).collect();
                vec![(Entry::Begin(start.clone()), false), (end(start, calls), false)]
            };
            latency("a run with read-only calls, its start and end", &ledger, 2_000, pause, read_only).await;
        }
        let intent = |round| {
            let start = start(round + 10_000);
            vec![(Entry::Calls { start, calls: vec![call(0, Effect::External, false)] }, true)]
        };
        let what = format!("the intent of a call that may change something, fsync = {fsync}");
        latency(&what, &ledger, 1_000, pause, intent).await;
        ledger.close().await;
    }

    let path = folder.path().join("many");
    let ledger = SqliteLedger::new(Some(&path), Options { fsync: false, keep });
    let size = || {
        let bytes = |name: &str| fs::metadata(path.join(name)).map_or(0, |file| file.len());
        bytes("ledger.db")
    };
    let begun = Instant::now();
    for bits in 0..runs {
        ledger.write(end(long_ago(bits), Vec::new())).await.expect("written");
    }
    ledger.close().await;
    let of_runs = size();
    println!(
        "{runs} runs: {:.0} runs a second, {:.0} bytes a run",
        runs as f64 / begun.elapsed().as_secs_f64(),
        of_runs as f64 / runs as f64
    );
    let ledger = SqliteLedger::new(Some(&path), Options { fsync: false, keep });
    for bits in 0..runs {
        let calls = (0..CALLS).map(|number| call(number, Effect::ReadOnly, true)).collect();
        ledger.write(Entry::Calls { start: long_ago(bits), calls }).await.expect("written");
    }
    ledger.close().await;
    println!("{} calls: {:.0} bytes a call", runs * CALLS, (size() - of_runs) as f64 / (runs * CALLS) as f64);

    // A tool that one of a thousand runs called, long ago, and equally rare failures.
    let ledger = SqliteLedger::new(Some(&path), Options { fsync: false, keep });
    for bits in (0..runs / 10).step_by(100) {
        let start = long_ago(bits);
        let tool = ToolPath::new("rare_server", "rare_tool");
        let calls = vec![Call { tool, number: CALLS, ..call(0, Effect::External, true) }];
        let Entry::End(rare) = end(start, calls) else { continue };
        ledger.write(Entry::End(Box::new(RunEnd { error: Some(ErrorKind::Tool), ..*rare }))).await.expect("written");
    }
    ledger.close().await;

    let list = Filter { limit: 20, ..Filter::default() };
    let of_server = Filter { tool: Some(("server".to_owned(), None)), ..list.clone() };
    let rare = Filter { tool: Some(("rare_server".to_owned(), Some("rare_tool".to_owned()))), ..list.clone() };
    let failed = Filter { failed: true, ..list.clone() };
    let effect = Filter { effect: Some(Effect::External), ..list.clone() };
    let both = Filter { failed: true, ..common_tool(&list) };
    let client = Filter { client: Some("nobody".to_owned()), ..list.clone() };
    let waiting = Filter { waiting: true, ..list.clone() };
    let none = Filter { tool: Some(("server".to_owned(), Some("none".to_owned()))), ..list.clone() };
    for (what, filter) in [
        ("belljar runs", list.clone()),
        ("belljar runs --tool, a common one", common_tool(&list)),
        ("belljar runs --tool, a server with seven tools", of_server),
        ("belljar runs --tool, a rare one of long ago", rare),
        ("belljar runs --tool, of which there are none", none),
        ("belljar runs --failed, which few are", failed),
        ("belljar runs --effect, which few have", effect),
        ("belljar runs --tool --failed, common and rare", both),
        ("belljar runs --client, which none has: each run is read", client),
        ("belljar runs --waiting, of which there are none", waiting),
    ] {
        let mut times = Vec::new();
        for _ in 0..20 {
            let begun = Instant::now();
            let ledger = SqliteLedger::new(Some(&path), Options { fsync: false, keep });
            ledger.runs(filter.clone()).await.expect("runs");
            times.push(begun.elapsed());
        }
        let (median, worst) = median(times);
        println!(
            "{what:<62} median {:>7.1} ms, worst {:>8.1} ms",
            median.as_secs_f64() * 1e3,
            worst.as_secs_f64() * 1e3
        );
    }
    let mut times = Vec::new();
    for bits in 0..200 {
        let begun = Instant::now();
        let ledger = SqliteLedger::new(Some(&path), Options { fsync: false, keep });
        ledger.run(start(bits * 311 % runs).run).await.expect("a ledger").expect("a run");
        times.push(begun.elapsed());
    }
    let (median, worst) = median(times);
    println!(
        "{:<62} median {:>7.1} ms, 99 % {:>8.1} ms",
        "one run by its name",
        median.as_secs_f64() * 1e3,
        worst.as_secs_f64() * 1e3
    );
}
