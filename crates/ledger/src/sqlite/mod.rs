//! The ledger as an SQLite file in WAL mode: one process writes at a time, and all can read.
//!
//! `file.rs` opens the file and checks what it is, `place.rs` checks where it is, `writer.rs` has
//! the only thread of a process that writes, and `keep.rs` forgets runs. `beside.rs` is a second
//! connection for the questions of the owner's rules: `counts.rs` counts calls, `labels.rs` keeps
//! the labels that principals carry, `pins.rs` the pinned definitions of tools, and `passed.rs` the
//! successful calls that others require. `write.rs`, `read.rs`, `questions.rs`, `resting.rs` and
//! `verdicts.rs` have the SQL statements, `measured.rs` those for measurements of servers.
//! `artifacts/` has what runs leave for later ones, `columns.rs` the meaning of the numbers in the
//! file, and `live.rs` tells the runs of live processes from those of dead ones. `points.rs` is for
//! tests. `kept.rs` has the values that live between runs, on a separate connection, so that no
//! rule has to wait for a large value.

mod artifacts;
mod beside;
mod columns;
mod counts;
mod file;
#[cfg(test)]
mod filter_tests;
mod given_up;
mod keep;
mod kept;
mod labels;
mod live;
mod measured;
mod passed;
mod pins;
mod place;
mod points;
mod questions;
mod read;
mod resting;
#[cfg(test)]
mod tests;
mod verdicts;
#[cfg(test)]
mod waiting_tests;
mod write;
mod writer;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use belljar_approvals::{Change, QuestionId, Refusal, State};
use belljar_model::{ArtifactSettings, LedgerKeep, Measures, RunId};
use futures::{FutureExt as _, future::BoxFuture};
use tokio::task::spawn_blocking;

use crate::{
    asked::{Carried, Count, CountId, Mark, Measured, Passed, PinnedServer, Pins},
    entry::{Assumption, Digest, Entry, KeptRecording},
    error::LedgerError,
    holder::Holder,
    keeps::{Changed, KeepAuthor, KeepBounds, KeepChange, KeepTotals, Keeps, KeptEntry, KeptValue, Swapped},
    key::KeyPlace,
    ledger::{Ledger, Purpose},
    query::{Filter, KeptQuestion, KeptRun, KeptVerdicts, NotResting, Purge, QuestionFilter, RestingRun, WholeRun},
};
pub use artifacts::SqliteArtifacts;
use beside::Beside;
use given_up::GivenUp;
use writer::Writer;

/// How long to wait for another process's lock, and for room in the queue.
const PATIENCE: Duration = Duration::from_secs(5);

/// How a ledger is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Whether a commit waits for the disk, so that it survives a power cut.
    pub fsync: bool,
    /// How long runs are kept.
    pub keep: LedgerKeep,
}

/// A ledger in a file.
pub struct SqliteLedger {
    path: Option<PathBuf>,
    key: Arc<KeyPlace>,
    beside: Arc<Beside>,
    kept: Arc<Beside>,
    writer: Writer,
}

impl SqliteLedger {
    /// The ledger in this folder, which must belong to the user. Without a folder, every write
    /// fails. The file is created at the first write, and errors are reported then.
    pub fn new(folder: Option<&Path>, options: Options) -> Self {
        let key = Arc::new(KeyPlace::new(folder));
        let writer = Writer::start(folder.map(Path::to_owned), key.clone(), options);
        let beside = || Arc::new(Beside::new(folder.map(Path::to_owned)));
        Self { path: folder.map(|folder| folder.join(file::NAME)), key, beside: beside(), kept: beside(), writer }
    }

    /// The artifacts in this file, kept according to the settings. This ledger writes them, even
    /// after this value is dropped, until the ledger is closed.
    pub fn artifacts(&self, settings: ArtifactSettings) -> SqliteArtifacts {
        SqliteArtifacts::new(self.path.clone(), self.writer.clone(), settings)
    }

    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&mut read::Reader) -> Result<T, LedgerError> + Send + 'static,
    ) -> Result<Option<T>, LedgerError> {
        // Everything that was written through this ledger must be found.
        self.writer.flush().await;
        let path = self.path.clone().ok_or(LedgerError::NoFolder)?;
        let given_up = GivenUp::default();
        let is_given_up = given_up.question();
        let asked = spawn_blocking(move || {
            let Some(mut reader) = read::Reader::open(&path)? else { return Ok(None) };
            reader.end_when(is_given_up)?;
            read(&mut reader).map(Some)
        });
        asked.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
    }
}

impl Ledger for SqliteLedger {
    fn write(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerError>> {
        self.writer.write(entry).boxed()
    }

    fn commit(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerError>> {
        self.writer.commit(entry).boxed()
    }

    fn offer(&self, entry: Entry) -> bool {
        self.writer.offer(entry)
    }

    fn digest(&self, text: &[u8]) -> Option<Digest> {
        self.key.get().ok().map(|key| key.digest(text))
    }

    fn seal(&self, purpose: Purpose, bytes: &[u8]) -> Option<Vec<u8>> {
        self.key.get().ok()?.sealed_for(purpose.label(), bytes)
    }

    fn unseal(&self, purpose: Purpose, sealed: &[u8]) -> Option<Vec<u8>> {
        self.key.get().ok()?.opened_for(purpose.label(), sealed)
    }

    fn runs(&self, filter: Filter) -> BoxFuture<'_, Result<Vec<KeptRun>, LedgerError>> {
        async move { Ok(self.read(move |reader| reader.runs(&filter)).await?.unwrap_or_default()) }.boxed()
    }

    fn run(&self, run: RunId) -> BoxFuture<'_, Result<Option<WholeRun>, LedgerError>> {
        async move { Ok(self.read(move |reader| reader.run(run)).await?.flatten()) }.boxed()
    }

    fn between(&self, first: RunId, last: RunId) -> BoxFuture<'_, Result<Vec<RunId>, LedgerError>> {
        async move { Ok(self.read(move |reader| reader.between(first, last)).await?.unwrap_or_default()) }.boxed()
    }

    fn recording(&self, run: RunId) -> BoxFuture<'_, Result<Option<KeptRecording>, LedgerError>> {
        async move { Ok(self.read(move |reader| reader.recording(run)).await?.flatten()) }.boxed()
    }

    fn resting(&self, run: RunId) -> BoxFuture<'_, Result<Result<RestingRun, NotResting>, LedgerError>> {
        async move {
            let key = self.key.get()?;
            let found = self.read(move |reader| reader.resting(&key, run)).await?;
            Ok(found.unwrap_or(Err(NotResting::Unknown)))
        }
        .boxed()
    }

    fn take_up(&self, run: RunId) -> BoxFuture<'_, Result<Result<RestingRun, NotResting>, LedgerError>> {
        self.writer.take_up(run).boxed()
    }

    fn lay_down(&self, run: RunId) -> BoxFuture<'_, Result<(), LedgerError>> {
        self.writer.lay_down(run).boxed()
    }

    fn assume(&self, run: RunId, assumed: Assumption) -> BoxFuture<'_, Result<Result<(), NotResting>, LedgerError>> {
        self.writer.assume(run, assumed).boxed()
    }

    fn resting_of(&self, asked: Digest) -> BoxFuture<'_, Result<Option<RunId>, LedgerError>> {
        async move { Ok(self.read(move |reader| reader.resting_of(asked)).await?.flatten()) }.boxed()
    }

    fn resting_bytes(&self) -> BoxFuture<'_, Result<u64, LedgerError>> {
        async move { Ok(self.read(|reader| reader.resting_bytes()).await?.unwrap_or_default()) }.boxed()
    }

    fn purge(&self, what: Purge) -> BoxFuture<'_, Result<u64, LedgerError>> {
        self.writer.purge(what).boxed()
    }

    fn count(&self, count: Count) -> BoxFuture<'_, Result<Option<CountId>, LedgerError>> {
        let beside = self.beside.clone();
        on_a_thread(move || beside.count(&count)).boxed()
    }

    fn uncount(&self, id: CountId) -> BoxFuture<'_, Result<(), LedgerError>> {
        let beside = self.beside.clone();
        on_a_thread(move || beside.uncount(id)).boxed()
    }

    fn mark(&self, mark: Mark) -> BoxFuture<'_, Result<(), LedgerError>> {
        let beside = self.beside.clone();
        on_a_thread(move || beside.mark(&mark)).boxed()
    }

    fn carried(&self, asked: Carried) -> BoxFuture<'_, Result<Vec<String>, LedgerError>> {
        let beside = self.beside.clone();
        on_a_thread(move || beside.carried(&asked)).boxed()
    }

    fn pins(&self, pins: Pins) -> BoxFuture<'_, Result<PinnedServer, LedgerError>> {
        let beside = self.beside.clone();
        on_a_thread(move || beside.pins(&pins)).boxed()
    }

    fn accept_pins(&self, pins: Pins) -> BoxFuture<'_, Result<(), LedgerError>> {
        let beside = self.beside.clone();
        on_a_thread(move || beside.accept_pins(&pins)).boxed()
    }

    fn pass(&self, passed: Passed) -> BoxFuture<'_, Result<(), LedgerError>> {
        let beside = self.beside.clone();
        on_a_thread(move || beside.pass(&passed)).boxed()
    }

    fn has_passed(&self, passed: Passed, within: Duration) -> BoxFuture<'_, Result<bool, LedgerError>> {
        let beside = self.beside.clone();
        on_a_thread(move || beside.has_passed(&passed, within)).boxed()
    }

    fn change_question(&self, change: Change) -> BoxFuture<'_, Result<Result<(), Refusal>, LedgerError>> {
        self.writer.change(change).boxed()
    }

    fn offer_change(&self, change: Change) -> bool {
        self.writer.offer_change(change)
    }

    fn questions(&self, filter: QuestionFilter) -> BoxFuture<'_, Result<Vec<KeptQuestion>, LedgerError>> {
        async move { Ok(self.read(move |reader| reader.questions(&filter)).await?.unwrap_or_default()) }.boxed()
    }

    fn asking_runs(&self) -> BoxFuture<'_, Result<BTreeSet<RunId>, LedgerError>> {
        async move { Ok(self.read(|reader| reader.asking_runs()).await?.unwrap_or_default()) }.boxed()
    }

    fn waiting_questions(&self) -> BoxFuture<'_, Result<u64, LedgerError>> {
        async move { Ok(self.read(|reader| reader.waiting_questions()).await?.unwrap_or_default()) }.boxed()
    }

    fn question_states(&self, ids: Vec<QuestionId>) -> BoxFuture<'_, Result<Vec<(QuestionId, State)>, LedgerError>> {
        async move { Ok(self.read(move |reader| reader.question_states(&ids)).await?.unwrap_or_default()) }.boxed()
    }

    fn offer_measured(&self, measured: Measured) -> bool {
        self.writer.offer_measured(measured)
    }

    fn measures(&self, configuration: String) -> BoxFuture<'_, Result<BTreeMap<String, Measures>, LedgerError>> {
        async move { Ok(self.read(move |reader| reader.measures(&configuration)).await?.unwrap_or_default()) }.boxed()
    }

    fn verdicts(&self) -> BoxFuture<'_, Result<Vec<KeptVerdicts>, LedgerError>> {
        async move { Ok(self.read(|reader| reader.verdicts()).await?.unwrap_or_default()) }.boxed()
    }

    fn keeps(&self) -> &dyn Keeps {
        self
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.writer.close().boxed()
    }
}

impl Keeps for SqliteLedger {
    fn kept(
        &self,
        holder: Holder,
        name: String,
        bounds: KeepBounds,
    ) -> BoxFuture<'_, Result<Option<KeptValue>, LedgerError>> {
        let kept = self.kept.clone();
        on_a_thread(move || kept.kept(&holder, &name, &bounds)).boxed()
    }

    fn kept_entries(&self, holder: Holder, bounds: KeepBounds) -> BoxFuture<'_, Result<Vec<KeptEntry>, LedgerError>> {
        let kept = self.kept.clone();
        on_a_thread(move || kept.kept_entries(&holder, &bounds)).boxed()
    }

    fn change_kept(
        &self,
        author: KeepAuthor,
        changes: Vec<KeepChange>,
        bounds: KeepBounds,
    ) -> BoxFuture<'_, Result<Vec<Changed>, LedgerError>> {
        let kept = self.kept.clone();
        on_a_thread(move || kept.change_kept(&author, &changes, &bounds)).boxed()
    }

    fn swap_kept(
        &self,
        author: KeepAuthor,
        (name, text): (String, String),
        version: Option<i64>,
        bounds: KeepBounds,
    ) -> BoxFuture<'_, Result<Swapped, LedgerError>> {
        let kept = self.kept.clone();
        on_a_thread(move || kept.swap_kept(&author, (&name, &text), version, &bounds)).boxed()
    }

    fn forget_kept(&self, holder: Holder, name: Option<String>) -> BoxFuture<'_, Result<u64, LedgerError>> {
        let kept = self.kept.clone();
        on_a_thread(move || kept.forget_kept(&holder, name.as_deref())).boxed()
    }

    fn kept_totals(&self) -> BoxFuture<'_, Result<KeepTotals, LedgerError>> {
        let kept = self.kept.clone();
        on_a_thread(move || kept.kept_totals()).boxed()
    }
}

async fn on_a_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    spawn_blocking(work).await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}
