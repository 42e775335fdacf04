//! What it costs to record a run's input, and to repeat the run: `cargo bench --workspace --bench
//! recording`.
//!
//! - Recording in memory, and replay, in a sandbox.
//! - Everything around a run in a gateway (a recording, the ledger at level `calls`, a listener for
//!   events), against none of it.
//! - Metrics alone, as a daemon counts them, against nobody who listens.
//!
//! Each run is made without and with it, in turn and in either order, in one process. It prints
//! both medians, and the median of the differences of the pairs, which the machine's load affects
//! less. The memory for a recording is freed between two runs.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, reason = "a bench that cannot go on has failed")]

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use belljar_benches::TYPICAL;
use belljar_gateway::{Gateway, RunLedger, Toolbox};
use belljar_ledger::SqliteLedger;
use belljar_measures::two_tools;
use belljar_model::{ByteSize, LedgerKeep, LedgerLevel, Limits, Outcome, Recorded, ServerSpec, Transport};
use belljar_sandbox::{Image, Program, Recording, Sandbox, SandboxOptions};
use belljar_telemetry::{Gauges, Telemetry};
use belljar_upstream::{BuiltIns, Options};
use tokio::runtime::Builder;

const ROOM: ByteSize = ByteSize::mib(16);
const CALLS: u32 = 1_000;

/// What is run, how many pairs of it count, and how many calls its time is divided by.
struct Case {
    name: &'static str,
    source: String,
    pairs: usize,
    calls: u32,
}

fn main() {
    let sandbox = Arc::new(Sandbox::new(&Image::embedded(), SandboxOptions::default()).unwrap());
    println!("{:44} {:>10} {:>10} {:>10} {:>8}", "median, µs", "without", "with", "more", "");
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(recorded(&sandbox));
    runtime.block_on(repeated(&sandbox));
    Builder::new_multi_thread().enable_all().build().unwrap().block_on(all_of_it(&sandbox));
    Builder::new_multi_thread().enable_all().build().unwrap().block_on(counted(&sandbox));
}

fn cases(call: &str, pairs_of_calls: usize) -> Vec<Case> {
    let in_turn = format!("for (let i = 0; i < {CALLS}; i++) await {call}");
    let case = |name, source: &str, pairs, calls| Case { name, source: source.to_owned(), pairs, calls };
    vec![
        case("a run of 1+1", "1+1", 4_000, 1),
        case("a typical script", TYPICAL, 1_000, 1),
        case("a call, of 1,000 in turn", &in_turn, pairs_of_calls, CALLS),
    ]
}

fn limits() -> Limits {
    Limits { max_calls: 100_000, max_output: ByteSize::mib(16), ..Limits::default() }
}

async fn recorded(sandbox: &Sandbox) {
    println!("recording in memory");
    for case in cases("box.echo({ i })", 100) {
        let once = async |with: bool| {
            let program = Program::new(case.source.as_str());
            let program = if with { program.with_recording(ROOM) } else { program };
            let begun = Instant::now();
            let outcome = sandbox.run(program).limits(&limits()).tools(two_tools()).await;
            let took = begun.elapsed();
            assert!(outcome.is_ok() && outcome.recording.is_some() == with, "{outcome:?}");
            took
        };
        compare(&case, once).await;
    }
}

/// The guest's time in a run, and the time of its whole replay.
async fn repeated(sandbox: &Sandbox) {
    println!("the replay of a run, against its guest's time in the run");
    for (name, source) in [
        ("1,000 calls in turn", "for (let i = 0; i < 1000; i++) await box.echo({ i })"),
        ("1,000 calls at once", "await Promise.all(Array.from({ length: 1000 }, (_, i) => box.echo({ i })))"),
    ] {
        let case = Case { name, source: source.to_owned(), pairs: 60, calls: 1 };
        let recording = std::cell::RefCell::new(None);
        let once = async |with: bool| {
            if !with {
                let program = Program::new(source).with_recording(ROOM);
                let mut outcome = sandbox.run(program).limits(&limits()).tools(two_tools()).await;
                let Some(Recorded::Whole(bytes)) = outcome.recording.take() else { panic!("{outcome:?}") };
                recording.replace(Some(Recording::read(bytes).unwrap()));
                return guest_time(&outcome);
            }
            let Some(recording) = recording.borrow().clone() else { return Duration::ZERO };
            let begun = Instant::now();
            let outcome = sandbox.replay(&recording, &limits()).await.unwrap();
            let took = begun.elapsed();
            assert!(outcome.is_ok());
            took
        };
        compare(&case, once).await;
    }
}

fn guest_time(outcome: &Outcome) -> Duration {
    Duration::from_secs_f64(outcome.usage.guest_ms.unwrap() / 1e3)
}

async fn all_of_it(sandbox: &Arc<Sandbox>) {
    println!("with a recording, the ledger at level calls, and a listener to events");
    let folder = tempfile::tempdir().unwrap();
    let ledger =
        SqliteLedger::new(Some(folder.path()), belljar_ledger::Options { fsync: false, keep: LedgerKeep::default() });
    let ledger = RunLedger {
        ledger: Arc::new(ledger),
        required: false,
        level: LedgerLevel::Calls,
        max_recording: ROOM,
        redact: Arc::default(),
    };
    let watched = Arc::new(toolbox().with_ledger(ledger));
    let mut events = watched.events();
    let listener = tokio::spawn(async move { while events.next().await.is_some() {} });
    let without = Gateway::new(Arc::new(toolbox()), sandbox.clone(), limits());
    let with = Gateway::new(watched, sandbox.clone(), limits()).with_recording(ROOM);
    for case in cases("demo.list_projects({})", 30) {
        let once = async |is_with: bool| {
            let gateway = if is_with { &with } else { &without };
            let begun = Instant::now();
            let outcome = gateway.execute(case.source.clone()).await;
            let took = begun.elapsed();
            assert!(outcome.is_ok() && outcome.recording.is_some() == is_with, "{outcome:?}");
            took
        };
        compare(&case, once).await;
    }
    listener.abort();
}

async fn counted(sandbox: &Arc<Sandbox>) {
    println!("with metrics that are counted");
    let (watched, telemetry) = (Arc::new(toolbox()), Arc::new(Telemetry::default()));
    let listener = tokio::spawn(telemetry.clone().listen(watched.events()));
    let without = Gateway::new(Arc::new(toolbox()), sandbox.clone(), limits());
    let with = Gateway::new(watched, sandbox.clone(), limits());
    for case in cases("demo.list_projects({})", 60) {
        let once = async |is_with: bool| {
            let gateway = if is_with { &with } else { &without };
            let begun = Instant::now();
            let outcome = gateway.execute(case.source.clone()).await;
            let took = begun.elapsed();
            assert!(outcome.is_ok(), "{outcome:?}");
            took
        };
        compare(&case, once).await;
    }
    let text = telemetry.metrics(&Gauges::default());
    println!("{}", text.lines().find(|line| line.starts_with("belljar_events_lost_total")).unwrap_or_default());
    listener.abort();
}

fn toolbox() -> Toolbox {
    let built_ins = BuiltIns::new().with("demo", belljar_demo::serve);
    let spec = ServerSpec::new("demo", Transport::BuiltIn("demo".to_owned()));
    Toolbox::new(vec![spec], built_ins, Options::new("belljar-benches", "0"))
}

/// Makes pairs of runs and prints their times: without, with, and the difference.
async fn compare(case: &Case, once: impl AsyncFn(bool) -> Duration) {
    let (mut without, mut with, mut more) = (Vec::new(), Vec::new(), Vec::new());
    let warm_up = case.pairs / 10 + 1;
    for round in 0..case.pairs + warm_up {
        // Which one is first alternates.
        let (mut one, mut other) = (Duration::ZERO, Duration::ZERO);
        for is_with in [round % 2 == 1, round % 2 == 0] {
            let took = once(is_with).await / case.calls;
            if is_with { other = took } else { one = took }
        }
        if round >= warm_up {
            without.push(micros(one));
            with.push(micros(other));
            more.push(micros(other) - micros(one));
        }
    }
    let (without, with, more) = (median(without), median(with), median(more));
    println!("{:44} {without:>10.2} {with:>10.2} {more:>10.2} {:>7.1} %", case.name, more / without * 100.0);
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
