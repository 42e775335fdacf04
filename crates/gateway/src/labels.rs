//! `[labels]` of the owner's rules: what a run carries after it received certain answers.
//!
//! A call carries the labels that its run had when the script began it: later answers cannot be in
//! its arguments. If principals carry labels too, the ledger has a mark before the script gets the
//! answer, so that no later run with that knowledge lacks the label, in whichever process.

use belljar_ledger::{LedgerError, Mark};
use belljar_model::{RunId, ToolPath};
use belljar_policy::Labels;
use parking_lot::Mutex;

use crate::Toolbox;

/// The labels that one run carries.
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

/// Why an answer is withheld if its label cannot be kept.
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
    /// The labels of these names, as far as the owner's rules have them now.
    pub(crate) fn labels_named<'n>(&self, names: impl Iterator<Item = &'n str>) -> Labels {
        let Some(policy) = self.policy() else { return Labels::default() };
        names.filter_map(|name| policy.label(name)).fold(Labels::default(), Labels::and)
    }

    /// The names of labels.
    pub(crate) fn label_names(&self, labels: Labels) -> impl Iterator<Item = &str> {
        self.policy().into_iter().flat_map(move |policy| policy.label_names(labels))
    }

    /// Notes that the run has an answer of this tool.
    pub(crate) fn labels_of(&self, path: &ToolPath) -> Labels {
        self.policy().map(|policy| policy.labels_of(path)).unwrap_or_default()
    }

    /// Keeps in the ledger that a run of this principal has an answer of this tool, if the rules
    /// require it. Must be called before anybody gets the answer.
    pub(crate) async fn remember(&self, path: &ToolPath, principal: &str, run: RunId) -> Result<(), Withheld> {
        self.remember_labels(self.labels_of(path), principal, run).await
    }

    /// The same of something else that has these labels.
    pub(crate) async fn remember_labels(&self, labels: Labels, principal: &str, run: RunId) -> Result<(), Withheld> {
        let Some(policy) = self.policy().filter(|policy| policy.memory().is_some()) else { return Ok(()) };
        let labels: Vec<String> = policy.label_names(labels).map(str::to_owned).collect();
        if labels.is_empty() {
            return Ok(());
        }
        let ledger = self.told().ledger.as_ref().ok_or(Withheld::NoLedger)?.ledger.clone();
        ledger.mark(Mark { principal: principal.to_owned(), labels, run }).await?;
        Ok(())
    }
}
