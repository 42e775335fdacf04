//! What a ledger is to those who write to it and ask it, wherever it keeps what it is given.

use std::{collections::BTreeMap, time::Duration};

use belljar_approvals::{Change, QuestionId, Refusal, State};
use belljar_model::{Measures, RunId};
use futures::future::BoxFuture;

use crate::{
    asked::{Carried, Count, CountId, Mark, Measured, Passed, PinnedServer, Pins},
    entry::{Assumption, Digest, Entry, KeptRecording},
    error::LedgerError,
    query::{Filter, KeptQuestion, KeptRun, NotResting, Purge, QuestionFilter, RestingRun, WholeRun},
};

/// What something is sealed for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// What a client gives back with its answers to what it was asked about a run.
    RequestState,
}

impl Purpose {
    /// Longer than the name of a run, for which what a run goes on from is sealed.
    pub(crate) fn label(self) -> &'static [u8] {
        match self {
            Self::RequestState => b"belljar: the state of a request\0",
        }
    }
}

/// A ledger of runs.
///
/// Entries of one run are kept in the order in which they were handed over, whichever of the three
/// ways they take.
pub trait Ledger: Send + Sync + 'static {
    /// Hands an entry over, to be kept soon. It fails where there is no room for it in reasonable
    /// time.
    fn write(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerError>>;

    /// Hands an entry over, and waits until it is kept: whatever becomes of this process, it is
    /// there.
    fn commit(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerError>>;

    /// Hands an entry over where nobody can wait. Whether there was room for it.
    fn offer(&self, entry: Entry) -> bool;

    /// The keyed digest of a text; nothing where there is no key.
    fn digest(&self, text: &[u8]) -> Option<Digest>;

    /// Seals what somebody else keeps and gives back: nobody without the key reads or changes it,
    /// and it opens for the same purpose alone. Nothing where there is no key.
    fn seal(&self, purpose: Purpose, bytes: &[u8]) -> Option<Vec<u8>>;

    /// What was sealed for this purpose; nothing of what was not.
    fn unseal(&self, purpose: Purpose, sealed: &[u8]) -> Option<Vec<u8>>;

    /// The runs that a filter asks for, the latest first.
    fn runs(&self, filter: Filter) -> BoxFuture<'_, Result<Vec<KeptRun>, LedgerError>>;

    /// One run and its calls, in the order in which they were begun.
    fn run(&self, run: RunId) -> BoxFuture<'_, Result<Option<WholeRun>, LedgerError>>;

    /// Runs whose names are from the one to the other, and no more than two of them: whether a
    /// beginning of a name is that of one run.
    fn between(&self, first: RunId, last: RunId) -> BoxFuture<'_, Result<Vec<RunId>, LedgerError>>;

    /// What a run took in, where that is kept.
    fn recording(&self, run: RunId) -> BoxFuture<'_, Result<Option<KeptRecording>, LedgerError>>;

    /// A run that was put aside, and has not been taken up.
    fn resting(&self, run: RunId) -> BoxFuture<'_, Result<Result<RestingRun, NotResting>, LedgerError>>;

    /// Takes up a run that was put aside: from now on it is running here, and nobody else takes it
    /// up. It stays what it was until it ends, or is put aside again.
    fn take_up(&self, run: RunId) -> BoxFuture<'_, Result<Result<RestingRun, NotResting>, LedgerError>>;

    /// Lays a run down again that was taken up, and of which nothing was done.
    fn lay_down(&self, run: RunId) -> BoxFuture<'_, Result<(), LedgerError>>;

    /// Notes what the owner assumes of the calls that a run sent before it was interrupted: it can
    /// go on then.
    fn assume(&self, run: RunId, assumed: Assumption) -> BoxFuture<'_, Result<Result<(), NotResting>, LedgerError>>;

    /// The run that was put aside of which this was asked.
    fn resting_of(&self, asked: Digest) -> BoxFuture<'_, Result<Option<RunId>, LedgerError>>;

    /// How many bytes all runs have that were put aside.
    fn resting_bytes(&self) -> BoxFuture<'_, Result<u64, LedgerError>>;

    /// Forgets runs, and says how many.
    fn purge(&self, what: Purge) -> BoxFuture<'_, Result<u64, LedgerError>>;

    /// Counts a call by a rule, if there is room for it; nothing where there is none. Of two that
    /// want the last place, whichever processes they are of, one gets it.
    fn count(&self, count: Count) -> BoxFuture<'_, Result<Option<CountId>, LedgerError>>;

    /// Takes back what was counted.
    fn uncount(&self, id: CountId) -> BoxFuture<'_, Result<(), LedgerError>>;

    /// Notes that a run has an answer with these labels, and waits until that is kept, for all
    /// processes.
    fn mark(&self, mark: Mark) -> BoxFuture<'_, Result<(), LedgerError>>;

    /// The labels of a principal's other runs.
    fn carried(&self, asked: Carried) -> BoxFuture<'_, Result<Vec<String>, LedgerError>>;

    /// What is pinned of a server's tools. Where nothing is, these are from now on.
    fn pins(&self, pins: Pins) -> BoxFuture<'_, Result<PinnedServer, LedgerError>>;

    /// Pins these definitions in the place of what was, and waits until that is kept.
    fn accept_pins(&self, pins: Pins) -> BoxFuture<'_, Result<(), LedgerError>>;

    /// Notes that a call succeeded for which a rule asks before another, and waits until that is
    /// kept.
    fn pass(&self, passed: Passed) -> BoxFuture<'_, Result<(), LedgerError>>;

    /// Whether there was such a call in another run, so long ago at most.
    fn has_passed(&self, passed: Passed, within: Duration) -> BoxFuture<'_, Result<bool, LedgerError>>;

    /// Makes a change to a question to the owner, and waits until it is kept. Of two that exclude
    /// each other, whichever process makes them, one is refused.
    fn change_question(&self, change: Change) -> BoxFuture<'_, Result<Result<(), Refusal>, LedgerError>>;

    /// Hands such a change over where nobody can wait. Whether there was room for it.
    fn offer_change(&self, change: Change) -> bool;

    /// Questions to the owner, the oldest first.
    fn questions(&self, filter: QuestionFilter) -> BoxFuture<'_, Result<Vec<KeptQuestion>, LedgerError>>;

    /// How these questions stand. One that was forgotten is not among them.
    fn question_states(&self, ids: Vec<QuestionId>) -> BoxFuture<'_, Result<Vec<(QuestionId, State)>, LedgerError>>;

    /// Hands over what was measured of servers, to be added to what is kept. Whether there was room
    /// for it: nobody waits.
    fn offer_measured(&self, measured: Measured) -> bool;

    /// What was measured of the servers of a configuration in the days that are kept, by all
    /// processes.
    fn measures(&self, configuration: String) -> BoxFuture<'_, Result<BTreeMap<String, Measures>, LedgerError>>;

    /// Keeps all that was handed over, and takes nothing any more.
    fn close(&self) -> BoxFuture<'_, ()>;
}
