//! The interface of a ledger for those who write to it and query it, wherever it keeps its data.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use belljar_approvals::{Change, QuestionId, Refusal, State};
use belljar_model::{Measures, RunId};
use futures::future::BoxFuture;

use crate::{
    asked::{Carried, Count, CountId, Mark, Measured, Passed, PinnedServer, Pins},
    entry::{Assumption, Digest, Entry, KeptRecording},
    error::LedgerError,
    keeps::Keeps,
    query::{Filter, KeptQuestion, KeptRun, KeptVerdicts, NotResting, Purge, QuestionFilter, RestingRun, WholeRun},
};

/// The purpose for which data is sealed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The state that a client sends back with its answers to questions about a run.
    RequestState,
}

impl Purpose {
    /// The label is longer than the name of a run, which is used to seal suspended state.
    pub(crate) fn label(self) -> &'static [u8] {
        match self {
            Self::RequestState => b"belljar: the state of a request\0",
        }
    }
}

/// A ledger of runs.
///
/// The entries of one run are kept in the order in which they are written, whichever of the three
/// methods is used.
pub trait Ledger: Send + Sync + 'static {
    /// Queues an entry to be kept soon. Fails if there is no room for it within a reasonable time.
    fn write(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerError>>;

    /// Writes an entry, and waits until it is kept: it then survives whatever happens to this
    /// process.
    fn commit(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerError>>;

    /// Queues an entry without waiting, and returns whether there was room for it.
    fn offer(&self, entry: Entry) -> bool;

    /// The keyed digest of a text, or `None` if there is no key.
    fn digest(&self, text: &[u8]) -> Option<Digest>;

    /// Seals data that somebody else keeps and gives back: without the key it cannot be read or
    /// changed, and it can be opened only for the same purpose. `None` if there is no key.
    fn seal(&self, purpose: Purpose, bytes: &[u8]) -> Option<Vec<u8>>;

    /// Opens data that was sealed for this purpose; `None` for anything else.
    fn unseal(&self, purpose: Purpose, sealed: &[u8]) -> Option<Vec<u8>>;

    /// The runs that match a filter, latest first.
    fn runs(&self, filter: Filter) -> BoxFuture<'_, Result<Vec<KeptRun>, LedgerError>>;

    /// One run and its calls, in the order in which they began.
    fn run(&self, run: RunId) -> BoxFuture<'_, Result<Option<WholeRun>, LedgerError>>;

    /// At most two runs with names in this range: enough to tell whether a prefix is unique.
    fn between(&self, first: RunId, last: RunId) -> BoxFuture<'_, Result<Vec<RunId>, LedgerError>>;

    /// The recording of what a run took in, if it is kept.
    fn recording(&self, run: RunId) -> BoxFuture<'_, Result<Option<KeptRecording>, LedgerError>>;

    /// A suspended run that nobody has resumed.
    fn resting(&self, run: RunId) -> BoxFuture<'_, Result<Result<RestingRun, NotResting>, LedgerError>>;

    /// Resumes a suspended run: from now on it runs in this process, and nobody else can resume it.
    /// Its suspended state is kept until it ends or is suspended again.
    fn take_up(&self, run: RunId) -> BoxFuture<'_, Result<Result<RestingRun, NotResting>, LedgerError>>;

    /// Suspends a run again that was resumed but has done nothing yet.
    fn lay_down(&self, run: RunId) -> BoxFuture<'_, Result<(), LedgerError>>;

    /// Records what the owner assumes about the calls that a run sent before it was interrupted, so
    /// that it can be resumed.
    fn assume(&self, run: RunId, assumed: Assumption) -> BoxFuture<'_, Result<Result<(), NotResting>, LedgerError>>;

    /// The suspended run with this request.
    fn resting_of(&self, asked: Digest) -> BoxFuture<'_, Result<Option<RunId>, LedgerError>>;

    /// The total size of all suspended runs.
    fn resting_bytes(&self) -> BoxFuture<'_, Result<u64, LedgerError>>;

    /// Forgets runs, and returns how many.
    fn purge(&self, what: Purge) -> BoxFuture<'_, Result<u64, LedgerError>>;

    /// Counts a call for a rule if there is room for it; otherwise returns `None`. If two callers
    /// want the last place, even in different processes, one of them gets it.
    fn count(&self, count: Count) -> BoxFuture<'_, Result<Option<CountId>, LedgerError>>;

    /// Undoes a count.
    fn uncount(&self, id: CountId) -> BoxFuture<'_, Result<(), LedgerError>>;

    /// Records that a run has received an answer with these labels, and waits until that is kept,
    /// for all processes.
    fn mark(&self, mark: Mark) -> BoxFuture<'_, Result<(), LedgerError>>;

    /// The labels of a principal's other runs.
    fn carried(&self, asked: Carried) -> BoxFuture<'_, Result<Vec<String>, LedgerError>>;

    /// The pins of a server's tools. If there are none, these are pinned from now on.
    fn pins(&self, pins: Pins) -> BoxFuture<'_, Result<PinnedServer, LedgerError>>;

    /// Replaces the pins with these, and waits until that is kept.
    fn accept_pins(&self, pins: Pins) -> BoxFuture<'_, Result<(), LedgerError>>;

    /// Records the success of a call that a rule requires before another call, and waits until that
    /// is kept.
    fn pass(&self, passed: Passed) -> BoxFuture<'_, Result<(), LedgerError>>;

    /// Whether there was such a call in another run, within this time.
    fn has_passed(&self, passed: Passed, within: Duration) -> BoxFuture<'_, Result<bool, LedgerError>>;

    /// Makes a change to a question to the owner, and waits until it is kept. If two changes
    /// conflict, one of them is refused, whichever process makes it.
    fn change_question(&self, change: Change) -> BoxFuture<'_, Result<Result<(), Refusal>, LedgerError>>;

    /// Queues such a change without waiting, and returns whether there was room for it.
    fn offer_change(&self, change: Change) -> bool;

    /// Questions to the owner, oldest first.
    fn questions(&self, filter: QuestionFilter) -> BoxFuture<'_, Result<Vec<KeptQuestion>, LedgerError>>;

    /// The runs that have questions to the owner that can still be decided.
    fn asking_runs(&self) -> BoxFuture<'_, Result<BTreeSet<RunId>, LedgerError>>;

    /// How many questions to the owner can still be decided.
    fn waiting_questions(&self) -> BoxFuture<'_, Result<u64, LedgerError>>;

    /// The states of these questions. Forgotten questions are left out.
    fn question_states(&self, ids: Vec<QuestionId>) -> BoxFuture<'_, Result<Vec<(QuestionId, State)>, LedgerError>>;

    /// How often each rule, or the default, decided about a call in the runs that are kept.
    fn verdicts(&self) -> BoxFuture<'_, Result<Vec<KeptVerdicts>, LedgerError>>;

    /// Queues measurements of servers, which are added to those that are kept. Returns whether
    /// there was room: nobody waits for them.
    fn offer_measured(&self, measured: Measured) -> bool;

    /// What all processes measured about the servers of a configuration, over the days that are
    /// kept.
    fn measures(&self, configuration: String) -> BoxFuture<'_, Result<BTreeMap<String, Measures>, LedgerError>>;

    /// The store of values that live between runs, in the same file.
    fn keeps(&self) -> &dyn Keeps;

    /// Keeps everything that was written before, and accepts nothing more.
    fn close(&self) -> BoxFuture<'_, ()>;
}
