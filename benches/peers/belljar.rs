//! belljar as one of the contenders of `benches/peers`, by the protocol in its README: `peers ROW
//! MILLISECONDS` prints a line of JSON.
//!
//! As in a server, runs execute on the workers of a runtime with as many threads as there are
//! cores. Each run has its own instance. belljar does not keep started sandboxes that wait for a
//! script, so starting the instance is included in every row.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    missing_docs,
    reason = "a measure prints, and fails where it cannot"
)]

use std::{
    fs, future, io,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use belljar_model::{ByteSize, Limits, Outcome};
use belljar_sandbox::{Effect, Image, Program, Sandbox, SandboxOptions, ToolSet, Tools};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::{
    runtime::{Builder, Runtime},
    sync::mpsc,
};

const LONGEST_SAMPLES: usize = 500;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let row = arguments.next().unwrap();
    if row == "about" {
        let fresh = "a run in a warm process: a new instance of the component, thrown away after it";
        say(&json!({ "name": "belljar", "versions": { "belljar": env!("CARGO_PKG_VERSION") }, "fresh": fresh }));
        return;
    }
    let rows: Value = serde_json::from_str(include_str!("rows.json")).unwrap();
    let budget = arguments.next().map_or(0, |text| text.parse().unwrap());
    let jar = Jar::new();
    say(&match rows[&row]["kind"].as_str().unwrap() {
        "fresh" => jar.sample(&row, Duration::from_millis(budget), ToolSet::new),
        "work" => jar.sample(&row, Duration::from_millis(budget), tools),
        "waiting" => jar.waiting(&row, usize::try_from(rows[&row]["count"].as_u64().unwrap()).unwrap()),
        "hostile" => jar.hostile(&row, &rows[&row]),
        kind => panic!("there is no kind {kind}"),
    });
}

struct Jar {
    runtime: Runtime,
    sandbox: Arc<Sandbox>,
}

impl Jar {
    fn new() -> Self {
        // Room for all waiting sandboxes at once, each with the limit of `patient`.
        let options = SandboxOptions { max_live: 128, live_memory: ByteSize::gib(64), ..SandboxOptions::default() };
        Self {
            runtime: Builder::new_multi_thread().enable_all().build().unwrap(),
            sandbox: Arc::new(Sandbox::new(&Image::embedded(), options).unwrap()),
        }
    }

    /// One run that does not count, then as many as fit into the time.
    fn sample(&self, row: &str, budget: Duration, box_of: fn() -> ToolSet) -> Value {
        let (script, limits) = (workload(row), patient());
        let once =
            || self.runtime.block_on(run(&self.sandbox, &script, &limits, &(Arc::new(box_of()) as Arc<dyn Tools>)));
        let value = value(&once().0);
        let mut milliseconds = Vec::new();
        let begun = Instant::now();
        while milliseconds.is_empty() || (begun.elapsed() < budget && milliseconds.len() < LONGEST_SAMPLES) {
            let (outcome, elapsed) = once();
            assert_eq!(self::value(&outcome), value);
            milliseconds.push(elapsed);
        }
        json!({ "milliseconds": milliseconds, "value": value })
    }

    /// Many runs that wait for a tool; the parent process measures its memory before and during
    /// that.
    fn waiting(&self, row: &str, count: usize) -> Value {
        let (script, limits) = (workload(row), patient());
        let (arrival, mut arrivals) = mpsc::unbounded_channel();
        let hold = ToolSet::new().with("box", "hold", Effect::ReadOnly, move |_| {
            arrival.send(()).unwrap();
            future::pending()
        });
        let hold: Arc<dyn Tools> = Arc::new(hold);
        let warm = self.runtime.block_on(run(&self.sandbox, &workload("fresh"), &limits, &hold));
        assert!(warm.0.is_ok());
        say(&json!({ "waiting": 0 }));
        asked();
        self.runtime.block_on(async {
            for _ in 0..count {
                let (sandbox, script, limits, hold) =
                    (self.sandbox.clone(), script.clone(), limits.clone(), hold.clone());
                tokio::spawn(async move { sandbox.run(Program::new(script)).limits(&limits).tools(hold).await });
            }
            for _ in 0..count {
                arrivals.recv().await.unwrap();
            }
        });
        say(&json!({ "waiting": count }));
        asked();
        json!({ "done": true })
    }

    /// One attack, and whether this process can continue afterwards.
    fn hostile(&self, row: &str, settings: &Value) -> Value {
        let time = Duration::from_millis(settings["milliseconds"].as_u64().unwrap());
        let memory = ByteSize::mb(settings["megabytes"].as_u64().unwrap());
        let limits = Limits { timeout: time, compute: time, memory, ..patient() };
        let tools: Arc<dyn Tools> = Arc::new(tools());
        let (outcome, milliseconds) = self.runtime.block_on(run(&self.sandbox, &workload(row), &limits, &tools));
        let (next, _) = self.runtime.block_on(run(&self.sandbox, &workload("fresh"), &patient(), &tools));
        let serves = next.is_ok() && value(&next) == json!(2);
        match &outcome.result {
            Ok(_) => json!({ "returned": value(&outcome), "milliseconds": milliseconds, "serves": serves }),
            Err(error) => {
                let ended = format!("{}: {}", error.kind.as_str(), error.message);
                json!({ "ended": ended, "milliseconds": milliseconds, "serves": serves })
            }
        }
    }
}

/// A run, and its milliseconds.
async fn run(sandbox: &Arc<Sandbox>, script: &str, limits: &Limits, tools: &Arc<dyn Tools>) -> (Outcome, f64) {
    let (sandbox, script, limits, tools) = (sandbox.clone(), script.to_owned(), limits.clone(), tools.clone());
    let run = async move {
        let begun = Instant::now();
        let outcome = sandbox.run(Program::new(script)).limits(&limits).tools(tools).await;
        (outcome, begun.elapsed().as_secs_f64() * 1000.0)
    };
    tokio::spawn(run).await.unwrap()
}

/// The value of a run, or the length of a list.
fn value(outcome: &Outcome) -> Value {
    let text = outcome.result.as_ref().unwrap_or_else(|error| panic!("{error:?}"));
    match serde_json::from_str(text.as_str()).unwrap() {
        Value::Array(list) => json!(list.len()),
        value => value,
    }
}

/// The default limits, except for the calls.
fn patient() -> Limits {
    Limits { max_calls: 100_000, ..Limits::default() }
}

fn tools() -> ToolSet {
    let records: Vec<Value> = (0..10_000)
        .map(|id| json!({"id": id, "name": format!("record number {id}"), "tags": ["a", "b"], "open": id % 3 == 0, "at": "2026-01-01T00:00:00Z"}))
        .collect();
    // Moved into the only call, since a copy would cost as much as what is measured.
    let records = Mutex::new(Some(json!({ "records": records })));
    ToolSet::new()
        .with("box", "echo", Effect::ReadOnly, async |arguments| Ok(Value::Object(arguments)))
        .with("box", "wait", Effect::ReadOnly, async |_| {
            tokio::time::sleep(Duration::from_millis(50)).await;
            Ok(json!(50))
        })
        .with("box", "records", Effect::ReadOnly, move |_| {
            future::ready(records.lock().take().ok_or_else(|| "the records are given once".to_owned()))
        })
}

fn workload(row: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/workloads").join(row).with_extension("js");
    fs::read_to_string(path).unwrap().trim().to_owned()
}

fn say(line: &Value) {
    println!("{line}");
}

/// Waits for a line.
fn asked() {
    io::stdin().read_line(&mut String::new()).unwrap();
}
