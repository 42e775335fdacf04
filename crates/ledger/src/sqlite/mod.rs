//! The ledger as a file of SQLite's, in WAL mode: one process writes at a time, and all can read.
//!
//! `file.rs` opens it and says what it may be, `writer.rs` is the one thread of a process that
//! writes, `keep.rs` forgets, `counts.rs` counts calls for rules, `write.rs`, `read.rs` and
//! `questions.rs` have the statements, and `live.rs` tells the runs of a process that lives from
//! those of one that is gone. `points.rs` is for tests.

mod counts;
mod file;
mod keep;
mod live;
mod points;
mod questions;
mod read;
#[cfg(test)]
mod tests;
mod write;
mod writer;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use belljar_approvals::{Change, QuestionId, Refusal, State};
use belljar_model::{LedgerKeep, RunId};
use futures::{FutureExt as _, future::BoxFuture};
use tokio::task::spawn_blocking;

use crate::{
    entry::{Digest, Entry, KeptRecording},
    fault::LedgerFault,
    key::KeyPlace,
    ledger::Ledger,
    query::{Filter, KeptQuestion, KeptRun, Purge, QuestionFilter, WholeRun},
};
use counts::Counts;
pub use counts::{Count, CountId};
use writer::Writer;

/// How long another process's lock is waited for, and room in the queue.
const PATIENCE: Duration = if cfg!(test) { Duration::from_millis(300) } else { Duration::from_secs(5) };

/// How a ledger is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Whether what is committed has reached the disk itself, and survives a power cut.
    pub fsync: bool,
    /// How long runs are kept.
    pub keep: LedgerKeep,
}

/// A ledger in a file.
pub struct SqliteLedger {
    path: Option<PathBuf>,
    key: Arc<KeyPlace>,
    counts: Arc<Counts>,
    writer: Writer,
}

impl SqliteLedger {
    /// The ledger in this folder, which has to be the user's own; without one, each write fails. The file is made when there is something to write; what is wrong with it is
    /// said then.
    pub fn new(folder: Option<&Path>, options: Options) -> Self {
        let key = Arc::new(KeyPlace::new(folder));
        let writer = Writer::start(folder.map(Path::to_owned), key.clone(), options);
        let counts = Arc::new(Counts::new(folder.map(Path::to_owned)));
        Self { path: folder.map(|folder| folder.join(file::NAME)), key, counts, writer }
    }

    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&mut read::Reader) -> Result<T, LedgerFault> + Send + 'static,
    ) -> Result<Option<T>, LedgerFault> {
        // What was handed over here is to be found.
        self.writer.flush().await;
        let path = self.path.clone().ok_or(LedgerFault::NoFolder)?;
        let asked = spawn_blocking(move || read::Reader::open(&path)?.map(|mut reader| read(&mut reader)).transpose());
        asked.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
    }
}

impl Ledger for SqliteLedger {
    fn write(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerFault>> {
        self.writer.write(entry).boxed()
    }

    fn commit(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerFault>> {
        self.writer.commit(entry).boxed()
    }

    fn offer(&self, entry: Entry) -> bool {
        self.writer.offer(entry)
    }

    fn digest(&self, text: &[u8]) -> Option<Digest> {
        self.key.get().ok().map(|key| key.digest(text))
    }

    fn runs(&self, filter: Filter) -> BoxFuture<'_, Result<Vec<KeptRun>, LedgerFault>> {
        async move { Ok(self.read(move |reader| reader.runs(&filter)).await?.unwrap_or_default()) }.boxed()
    }

    fn run(&self, run: RunId) -> BoxFuture<'_, Result<Option<WholeRun>, LedgerFault>> {
        async move { Ok(self.read(move |reader| reader.run(run)).await?.flatten()) }.boxed()
    }

    fn between(&self, first: RunId, last: RunId) -> BoxFuture<'_, Result<Vec<RunId>, LedgerFault>> {
        async move { Ok(self.read(move |reader| reader.between(first, last)).await?.unwrap_or_default()) }.boxed()
    }

    fn recording(&self, run: RunId) -> BoxFuture<'_, Result<Option<KeptRecording>, LedgerFault>> {
        async move { Ok(self.read(move |reader| reader.recording(run)).await?.flatten()) }.boxed()
    }

    fn purge(&self, what: Purge) -> BoxFuture<'_, Result<u64, LedgerFault>> {
        self.writer.purge(what).boxed()
    }

    fn count(&self, count: Count) -> BoxFuture<'_, Result<Option<CountId>, LedgerFault>> {
        let counts = self.counts.clone();
        on_a_thread(move || counts.count(&count)).boxed()
    }

    fn uncount(&self, id: CountId) -> BoxFuture<'_, Result<(), LedgerFault>> {
        let counts = self.counts.clone();
        on_a_thread(move || counts.uncount(id)).boxed()
    }

    fn change_question(&self, change: Change) -> BoxFuture<'_, Result<Result<(), Refusal>, LedgerFault>> {
        self.writer.change(change).boxed()
    }

    fn offer_change(&self, change: Change) -> bool {
        self.writer.offer_change(change)
    }

    fn questions(&self, filter: QuestionFilter) -> BoxFuture<'_, Result<Vec<KeptQuestion>, LedgerFault>> {
        async move { Ok(self.read(move |reader| reader.questions(&filter)).await?.unwrap_or_default()) }.boxed()
    }

    fn question_states(&self, ids: Vec<QuestionId>) -> BoxFuture<'_, Result<Vec<(QuestionId, State)>, LedgerFault>> {
        async move { Ok(self.read(move |reader| reader.question_states(&ids)).await?.unwrap_or_default()) }.boxed()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.writer.close().boxed()
    }
}

async fn on_a_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    spawn_blocking(work).await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}
