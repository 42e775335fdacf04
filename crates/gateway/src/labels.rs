//! `[labels]` of the owner's rules: what a run carries since it has certain answers.
//!
//! A call carries what its run did when the script began it: of what came later its arguments
//! cannot be made. Where principals carry labels too, a mark is in the ledger before the script
//! gets the answer, so that no run begun with that knowledge, in whichever process, is without it.

use belljar_ledger::{LedgerError, Mark};
use belljar_model::{RunId, ToolPath};
use belljar_policy::Labels;
use parking_lot::Mutex;

use crate::Toolbox;

/// What one run carries by now.
#[derive(Debug, Default)]
pub(crate) struct RunLabels(Mutex<Labels>);

impl RunLabels {
    pub(crate) fn now(&self) -> Labels {
        *self.0.lock()
    }

    pub(crate) fn add(&self, labels: Labels) {
        let mut carried = self.0.lock();
        *carried = carried.and(labels);
    }
}

/// Why an answer is withheld whose label cannot be kept.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Withheld {
    #[error(
        "the call was made, and its answer is withheld: the owner's rules remember who has such answers, and there is no ledger to note it in"
    )]
    NoLedger,
    #[error(
        "the call was made, and its answer is withheld: the owner's rules remember who has such answers, and that could not be kept: {0}"
    )]
    Unkept(#[from] LedgerError),
}

impl Toolbox {
    /// What a run carries from when it has an answer of this tool.
    pub(crate) fn labels_of(&self, path: &ToolPath) -> Labels {
        self.policy().map(|policy| policy.labels_of(path)).unwrap_or_default()
    }

    /// Keeps that a run of this principal has an answer of this tool, where the rules say so. To be
    /// called before anybody gets the answer.
    pub(crate) async fn remember(&self, path: &ToolPath, principal: &str, run: RunId) -> Result<(), Withheld> {
        let Some(policy) = self.policy().filter(|policy| policy.memory().is_some()) else { return Ok(()) };
        let labels: Vec<String> = policy.label_names(policy.labels_of(path)).map(str::to_owned).collect();
        if labels.is_empty() {
            return Ok(());
        }
        let ledger = self.told().ledger.as_ref().ok_or(Withheld::NoLedger)?.ledger.clone();
        ledger.mark(Mark { principal: principal.to_owned(), labels, run }).await?;
        Ok(())
    }
}
