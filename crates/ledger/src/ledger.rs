//! What a ledger is to those who write to it and ask it, wherever it keeps what it is given.

use belljar_approvals::{Change, QuestionId, Refusal, State};
use belljar_model::RunId;
use futures::future::BoxFuture;

use crate::{
    entry::{Digest, Entry, KeptRecording},
    fault::LedgerFault,
    query::{Filter, KeptQuestion, KeptRun, Purge, QuestionFilter, WholeRun},
    sqlite::{Count, CountId},
};

/// A ledger of runs.
///
/// Entries of one run are kept in the order in which they were handed over, whichever of the three ways they take.
pub trait Ledger: Send + Sync + 'static {
    /// Hands an entry over, to be kept soon. It fails where there is no room for it in reasonable time.
    fn write(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerFault>>;

    /// Hands an entry over, and waits until it is kept: whatever becomes of this process, it is there.
    fn commit(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerFault>>;

    /// Hands an entry over where nobody can wait. Whether there was room for it.
    fn offer(&self, entry: Entry) -> bool;

    /// The keyed digest of a text; nothing where there is no key.
    fn digest(&self, text: &[u8]) -> Option<Digest>;

    /// The runs that a filter asks for, the latest first.
    fn runs(&self, filter: Filter) -> BoxFuture<'_, Result<Vec<KeptRun>, LedgerFault>>;

    /// One run and its calls, in the order in which they were begun.
    fn run(&self, run: RunId) -> BoxFuture<'_, Result<Option<WholeRun>, LedgerFault>>;

    /// Runs whose names are from the one to the other, and no more than two of them: whether a
    /// beginning of a name is that of one run.
    fn between(&self, first: RunId, last: RunId) -> BoxFuture<'_, Result<Vec<RunId>, LedgerFault>>;

    /// What a run took in, where that is kept.
    fn recording(&self, run: RunId) -> BoxFuture<'_, Result<Option<KeptRecording>, LedgerFault>>;

    /// Forgets runs, and says how many.
    fn purge(&self, what: Purge) -> BoxFuture<'_, Result<u64, LedgerFault>>;

    /// Counts a call by a rule, if there is room for it; nothing where there is none. Of two that want the last place,
    /// whichever processes they are of, one gets it.
    fn count(&self, count: Count) -> BoxFuture<'_, Result<Option<CountId>, LedgerFault>>;

    /// Takes back what was counted.
    fn uncount(&self, id: CountId) -> BoxFuture<'_, Result<(), LedgerFault>>;

    /// Makes a change to a question to the owner, and waits until it is kept. Of two that exclude
    /// each other, whichever process makes them, one is refused.
    fn change_question(&self, change: Change) -> BoxFuture<'_, Result<Result<(), Refusal>, LedgerFault>>;

    /// Hands such a change over where nobody can wait. Whether there was room for it.
    fn offer_change(&self, change: Change) -> bool;

    /// Questions to the owner, the oldest first.
    fn questions(&self, filter: QuestionFilter) -> BoxFuture<'_, Result<Vec<KeptQuestion>, LedgerFault>>;

    /// How these questions stand. One that was forgotten is not among them.
    fn question_states(&self, ids: Vec<QuestionId>) -> BoxFuture<'_, Result<Vec<(QuestionId, State)>, LedgerFault>>;

    /// Keeps all that was handed over, and takes nothing any more.
    fn close(&self) -> BoxFuture<'_, ()>;
}
