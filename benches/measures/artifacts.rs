//! What artifacts cost: `cargo bench --workspace --bench artifacts`.
//!
//! - A search in 1,000 artifacts of 100 KB, and that of another holder beside them.
//! - Storing a result of 5 MB.
//! - An entry of another run that is committed meanwhile, and while the result is indexed.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, reason = "a bench that cannot go on has failed")]

use std::{
    fs,
    future::Future,
    path::Path,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::{Duration, Instant, SystemTime},
};

use belljar_ledger::{
    Artifacts, Asker, Content, Entry, Holder, Ledger as _, NewArtifact, Options, RunStart, Search, SqliteLedger,
};
use belljar_model::{ArtifactSettings, ByteSize, JsonText, LedgerKeep, RunId};
use serde_json::{Value, json};
use tokio::runtime::Builder;

const ARTIFACTS: u64 = 1_000;
const BYTES: usize = 100_000;
const LARGE: usize = 5_000_000;
const TIMES: usize = 50;

fn main() {
    Builder::new_multi_thread().enable_all().build().unwrap().block_on(all());
}

async fn all() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = SqliteLedger::new(Some(folder.path()), Options { fsync: false, keep: LedgerKeep::default() });
    let artifacts = ledger.artifacts(ArtifactSettings { max_bytes: ByteSize::gib(8), ..ArtifactSettings::default() });
    let mut words = Words::default();

    let begun = Instant::now();
    for _ in 0..ARTIFACTS {
        artifacts.store(holder("/large"), value(words.records(BYTES))).await.unwrap();
    }
    for _ in 0..10 {
        artifacts.store(holder("/small"), value(words.records(BYTES))).await.unwrap();
    }
    let stored = begun.elapsed();
    while artifacts.search(holder("/large"), search("absent")).await.unwrap().pending > 0 {}
    while artifacts.search(holder("/small"), search("absent")).await.unwrap().pending > 0 {}
    println!("{ARTIFACTS} artifacts of {BYTES} bytes: stored in {stored:.1?}, indexed after {:.1?}", begun.elapsed());
    println!("the file and its log have {} MB", bytes(folder.path()) / 1_000_000);

    println!("{:44} {:>9} {:>9} {:>9}", "a search, ms", "median", "99 %", "longest");
    for (name, workspace, words) in [
        ("a rare word", "/large", "w19000"),
        ("two words", "/large", "w1500 w2500"),
        ("three words, one of them common", "/large", "w3 w1500 w2500"),
        ("a word in a tenth of all records", "/large", "w40"),
        ("a word in every record", "/large", "w0"),
        ("a part of a word", "/large", "1900"),
        ("nothing", "/large", "nothingatall"),
        ("a rare word, of another holder", "/small", "w19000"),
        ("a word in every record, of another holder", "/small", "w0"),
    ] {
        let [median, most, longest] =
            times(TIMES, async |_| drop(artifacts.search(holder(workspace), search(words)).await.unwrap())).await;
        println!("{name:44} {median:>9.2} {most:>9.2} {longest:>9.2}");
    }

    println!("{:44} {:>9} {:>9} {:>9}", "5 MB, ms", "median", "99 %", "longest");
    let large = value(words.records(LARGE));
    let [median, most, longest] = times(10, async |_| {
        artifacts.store(holder("/new"), large.clone()).await.unwrap();
    })
    .await;
    println!("{:44} {median:>9.2} {most:>9.2} {longest:>9.2}", "stored");
    while artifacts.search(holder("/new"), search("w3")).await.unwrap().pending > 0 {}
    let commit = async |ledger: &SqliteLedger| ledger.commit(Entry::Begin(start())).await.unwrap();
    let [median, most, longest] = times(1_000, async |_| commit(&ledger).await).await;
    println!("{:44} {median:>9.2} {most:>9.2} {longest:>9.2}", "an entry of another run: alone");
    let storing = tokio::spawn({
        let (artifacts, large) = (artifacts.clone(), large.clone());
        async move {
            for _ in 0..20 {
                artifacts.store(holder("/new"), large.clone()).await.unwrap();
            }
        }
    });
    let mut taken = Vec::new();
    while !storing.is_finished() {
        taken.push(timed(commit(&ledger)).await);
    }
    let [median, most, longest] = figures(taken);
    println!("{:44} {median:>9.2} {most:>9.2} {longest:>9.2}", "an entry of another run: while it is stored");
    let [median, most, longest] = times(1_000, async |_| commit(&ledger).await).await;
    println!("{:44} {median:>9.2} {most:>9.2} {longest:>9.2}", "an entry of another run: while it is indexed");
    let others = SqliteLedger::new(Some(folder.path()), Options { fsync: false, keep: LedgerKeep::default() });
    let [median, most, longest] = times(1_000, async |_| commit(&others).await).await;
    println!("{:44} {median:>9.2} {most:>9.2} {longest:>9.2}", "the same, in another process");
    ledger.close().await;
}

fn holder(workspace: &str) -> Holder {
    Holder { principal: None, workspace: workspace.into() }
}

fn search(words: &str) -> Search {
    Search { words: words.to_owned(), within: Vec::new(), limit: 10 }
}

fn value(value: Value) -> NewArtifact {
    NewArtifact {
        content: Content::Value(JsonText::from_value(&value)),
        name: None,
        mime: None,
        run: None,
        labels: Vec::new(),
    }
}

/// The start of a run that is like no other.
fn start() -> RunStart {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    let (run, asker) = (RunId::from_bits(RUNS.fetch_add(1, Relaxed)), Asker::new(None, None));
    RunStart { run, at: SystemTime::now(), origin: "bench", asker, source_bytes: None, source: None }
}

/// Texts of words, some of which are frequent and most of which are rare.
#[derive(Default)]
struct Words(u64);

impl Words {
    /// An array of records of 500 bytes or so.
    fn records(&mut self, bytes: usize) -> Value {
        let record = |id: usize, words: &mut Self| json!({"id": id, "text": words.text(460)});
        (0..bytes / 500).map(|id| record(id, self)).collect()
    }

    fn text(&mut self, bytes: usize) -> String {
        let mut text = String::new();
        while text.len() < bytes {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // The third power of a number below 1: most are small.
            let share = self.0 >> 44;
            let word = (((share * share) >> 20) * share) >> 20;
            text.push_str(&format!("w{} ", (word * 20_000) >> 20));
        }
        text
    }
}

async fn times(times: usize, once: impl AsyncFn(usize)) -> [f64; 3] {
    let mut taken = Vec::new();
    for time in 0..times {
        taken.push(timed(once(time)).await);
    }
    figures(taken)
}

async fn timed(once: impl Future<Output = ()>) -> Duration {
    let begun = Instant::now();
    once.await;
    begun.elapsed()
}

/// The median, the 99th percentile, and the longest, in milliseconds.
fn figures(mut taken: Vec<Duration>) -> [f64; 3] {
    taken.sort_unstable();
    let ms = |place: usize| taken.get(place).map_or(f64::NAN, |taken| taken.as_secs_f64() * 1e3);
    [ms(taken.len() / 2), ms(taken.len() * 99 / 100), ms(taken.len().saturating_sub(1))]
}

fn bytes(folder: &Path) -> u64 {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum()
}
