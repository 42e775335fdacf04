//! What it costs to suspend a run that waits for its owner: `cargo bench --workspace --bench
//! resting`.
//!
//! - A run that is put aside once and resumed, against the same run in one go, and against its
//!   replay.
//! - A thousand waiting runs: what they take on disk, and of this process's memory.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, reason = "a bench that cannot go on has failed")]

use std::{
    fs,
    path::Path,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use belljar_approvals::{By, Change, Channel, Decision};
use belljar_gateway::{Approvals, Gateway, RunLedger, Toolbox};
use belljar_ledger::{Asker, Filter, Ledger, QuestionFilter, SqliteLedger};
use belljar_model::{
    ByteSize, ErrorKind, LedgerKeep, LedgerLevel, Limits, Outcome, Recorded, RunId, ServerSpec, Transport,
};
use belljar_policy::{Policy, absolute_folder};
use belljar_sandbox::{Image, Recording, Sandbox, SandboxOptions};
use belljar_upstream::{BuiltIns, Options};
use tokio::runtime::Builder;

const ROOM: ByteSize = ByteSize::mib(16);
const ROUNDS: usize = 60;
const RESTING: u64 = 1_000;

fn main() {
    Builder::new_multi_thread().enable_all().build().unwrap().block_on(measure());
}

async fn measure() {
    let folder = tempfile::tempdir().unwrap();
    let house = House::new(folder.path());
    println!(
        "{:32} {:>8} {:>8} {:>8} {:>8} {:>8} {:>10}",
        "median, ms", "one go", "parked", "resumed", "replay", "more", "less replay"
    );
    for (name, calls, asked) in [
        ("one call, asked about", 0, 1),
        ("5 calls, then one asked about", 5, 1),
        ("50 calls, then one asked about", 50, 1),
        ("500 calls, then one asked about", 500, 1),
        ("40 at once, all asked about", 0, 40),
    ] {
        house.compare(name, calls, asked).await;
    }
    house.rest_by_the_thousand(folder.path()).await;
}

/// A ledger, a server in memory, and the owner of the runs.
struct House {
    owner: Arc<SqliteLedger>,
    asks: Gateway,
    allows: Gateway,
}

impl House {
    fn new(folder: &Path) -> Self {
        let options = belljar_ledger::Options { fsync: false, keep: LedgerKeep::default() };
        let owner = Arc::new(SqliteLedger::new(Some(folder), options));
        let sandbox = Arc::new(Sandbox::new(&Image::embedded(), SandboxOptions::default()).unwrap());
        let gateway = |rules: &str| {
            let kept = RunLedger {
                ledger: owner.clone(),
                required: false,
                level: LedgerLevel::Calls,
                max_recording: ROOM,
                redact: Arc::default(),
            };
            let built_ins = BuiltIns::new().with("demo", belljar_demo::serve);
            let specs = vec![ServerSpec::new("demo", Transport::BuiltIn("demo".to_owned()))];
            let policy = Policy::parse(rules, &absolute_folder).unwrap_or_else(|problems| panic!("{problems}"));
            let toolbox = Toolbox::new(specs.clone(), built_ins, Options::new("belljar-benches", "0"))
                .with_policy(Arc::new(policy), &specs)
                .with_ledger(kept);
            let limits = Limits { max_calls: 10_000, ..Limits::default() };
            Gateway::new(Arc::new(toolbox), sandbox.clone(), limits).with_approvals(Approvals {
                desk: None,
                by_command: true,
                allow_yes: false,
                wait: Duration::from_secs(3600),
                hold: Duration::ZERO,
                max_resting: ByteSize::mib(256),
            })
        };
        let asks = gateway("default = 'allow'\n[[rule]]\nid = 'w'\ntools = 'demo.update_issue'\nthen = 'ask'\n");
        Self { asks, allows: gateway("default = 'allow'\n").with_recording(ROOM), owner }
    }

    async fn approve_all(&self) {
        let open = QuestionFilter { open: true, ..QuestionFilter::default() };
        for kept in self.owner.questions(open).await.unwrap() {
            let decision = Decision { approve: true, by: By::Owner, channel: Channel::Command, at: SystemTime::now() };
            self.owner.change_question(Change::Decide(kept.question.id, decision)).await.unwrap().unwrap();
        }
    }

    async fn compare(&self, name: &str, calls: usize, asked: usize) {
        let mut all: [Vec<f64>; 6] = Default::default();
        for round in 0..ROUNDS + ROUNDS / 10 {
            let (mut whole, one_go) = timed(execute(&self.allows, calls, asked, round as u64)).await;
            let Some(Recorded::Whole(recording)) = whole.recording.take() else { panic!("{whole:?}") };
            let recording = Recording::read(recording).unwrap();
            let (replayed, replay) = timed(self.allows.replay(&recording)).await;
            assert!(whole.is_ok() && replayed.unwrap().is_ok());
            // By then, entries of the ledger that nobody waited for have been written, outside of
            // any measured time.
            self.owner.runs(Filter { limit: 1, ..Filter::default() }).await.unwrap();
            let (parked, park) = timed(execute(&self.asks, calls, asked, round as u64)).await;
            let run = resting(&parked);
            self.approve_all().await;
            let going_on = self.asks.resume(run).into_future();
            let (resumed, resume) = timed(going_on).await;
            assert_eq!(resumed.result, whole.result);
            if round >= ROUNDS / 10 {
                let more = park + resume - one_go;
                for (values, value) in all.iter_mut().zip([one_go, park, resume, replay, more, more - replay]) {
                    values.push(value);
                }
            }
        }
        let [one_go, park, resume, replay, more, less] = all.map(median);
        println!("{name:32} {one_go:>8.2} {park:>8.2} {resume:>8.2} {replay:>8.2} {more:>8.2} {less:>10.2}");
    }

    async fn rest_by_the_thousand(&self, folder: &Path) {
        let rest = async |from: u64, count: u64| {
            for each in from..from + count {
                // For several clients: a single one may not have so many open questions.
                let asker = Asker::new(Some(&format!("client{}", each % 4)), None);
                resting(&execute(&self.asks.with_asker(asker), 20, 1, each).await);
            }
        };
        // What the first runs allocate is allocated once.
        rest(1_000_000, 100).await;
        let (memory, disk, sealed) = (resident(), bytes(folder), self.owner.resting_bytes().await.unwrap());
        let began = Instant::now();
        rest(2_000_000, RESTING).await;
        let took = began.elapsed();
        let kib = |bytes: i64| bytes as f64 / 1024.0;
        println!(
            "{RESTING} more runs of 20 calls that wait, in {:.1} s: {:.1} KiB of memory and {:.2} KiB of disk each, of which {:.2} sealed",
            took.as_secs_f64(),
            kib(resident() - memory) / RESTING as f64,
            kib(bytes(folder) - disk) / RESTING as f64,
            (self.owner.resting_bytes().await.unwrap() - sealed) as f64 / 1024.0 / RESTING as f64,
        );
    }
}

async fn execute(gateway: &Gateway, calls: usize, asked: usize, mark: u64) -> Outcome {
    let source = format!(
        "// {mark}\nfor (let i = 0; i < {calls}; i++) await demo.list_projects({{}});\n\
         return (await Promise.all(Array.from({{ length: {asked} }}, () => demo.update_issue({{ id: 3, state: 'closed' }})))).length"
    );
    gateway.execute(source).await
}

/// The waiting run.
fn resting(outcome: &Outcome) -> RunId {
    assert!(outcome.result.as_ref().is_err_and(|error| error.kind == ErrorKind::Approval), "{outcome:#?}");
    outcome.run.unwrap()
}

/// Its result, and its milliseconds.
async fn timed<T>(work: impl Future<Output = T>) -> (T, f64) {
    let began = Instant::now();
    let done = work.await;
    (done, began.elapsed().as_secs_f64() * 1e3)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// The bytes of this process's memory.
fn resident() -> i64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<i64>().map_or(0, |kib| kib * 1024)
}

/// The bytes of the files in a folder.
fn bytes(folder: &Path) -> i64 {
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().metadata().unwrap().len());
    i64::try_from(files.sum::<u64>()).unwrap()
}
