//! `[labels]` of the owner's rules: what a run carries after it received certain answers.
//!
//! A call carries the labels that its run had when the script began it: later answers cannot be in
//! its arguments. If principals carry labels too, the ledger has a mark before the script gets the
//! answer, so that no later run with that knowledge lacks the label, in whichever process.

use std::collections::BTreeSet;

use belljar_ledger::{LedgerError, Mark};
use belljar_model::{RunId, ToolPath};
use belljar_policy::Labels;
use parking_lot::Mutex;

use crate::{Toolbox, rules::AsRules};

/// The labels that one run carries.
#[derive(Debug, Default)]
pub(crate) struct RunLabels {
    carried: Mutex<Labels>,
    /// Labels of things that live on between runs, if these rules do not define them. No rule asks
    /// for them here, but they are stored again with what the run leaves.
    foreign: Mutex<BTreeSet<String>>,
}

impl RunLabels {
    pub(crate) fn now(&self) -> Labels {
        *self.carried.lock()
    }

    pub(crate) fn add(&self, labels: Labels) {
        let mut carried = self.carried.lock();
        *carried = carried.and(labels);
    }
}

/// A run that carries labels.
#[derive(Clone, Copy)]
pub(crate) struct Carrier<'a> {
    pub(crate) who: &'a AsRules,
    pub(crate) run: RunId,
}

/// Why an answer is withheld if its label cannot be kept.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Withheld {
    #[error("the owner's rules remember who has such answers, and there is no ledger to note it in")]
    NoLedger,
    #[error("the owner's rules remember who has such answers, and that could not be kept: {0}")]
    Unkept(#[from] LedgerError),
}

impl Withheld {
    /// The message about a call.
    pub(crate) fn of_call(&self) -> String {
        format!("the call was made, and its answer is withheld: {self}")
    }
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

    /// The labels that a run gets with an answer of this tool.
    pub(crate) fn labels_of(&self, path: &ToolPath) -> Labels {
        self.policy().map(|policy| policy.labels_of(path)).unwrap_or_default()
    }

    /// Notes in the ledger that a run of this principal has an answer of this tool, if the rules
    /// require that. Must be called before anybody gets the answer.
    pub(crate) async fn remember(&self, path: &ToolPath, principal: &str, run: RunId) -> Result<(), Withheld> {
        self.remember_labels(self.labels_of(path), principal, run).await
    }

    /// The same for something else that has these labels.
    pub(crate) async fn remember_labels(&self, labels: Labels, principal: &str, run: RunId) -> Result<(), Withheld> {
        let Some(policy) = self.policy().filter(|policy| policy.memory().is_some()) else { return Ok(()) };
        let labels: Vec<String> = policy.label_names(labels).map(str::to_owned).collect();
        self.mark(labels, principal, run).await
    }

    /// Lets a run carry the labels of something that lives on between runs, before the run gets it.
    ///
    /// # Errors
    /// The rules require a record of who has such things, and it cannot be written.
    pub(crate) async fn receive(&self, carrier: Carrier<'_>, names: &[String]) -> Result<(), Withheld> {
        let Carrier { who, run } = carrier;
        let policy = self.policy();
        let is_known = |name: &&String| policy.is_some_and(|policy| policy.label(name).is_some());
        let (known, foreign): (Vec<&String>, Vec<&String>) = names.iter().partition(is_known);
        who.labels().foreign.lock().extend(foreign.into_iter().cloned());
        let labels = self.labels_named(known.into_iter().map(String::as_str));
        who.labels().add(labels);
        self.remember_labels(labels, who.principal(), run).await
    }

    /// The names of all labels that a run carries, for the things that it leaves.
    pub(crate) fn carried(&self, who: &AsRules) -> Vec<String> {
        let mut names: BTreeSet<String> = self.label_names(who.labels().now()).map(str::to_owned).collect();
        names.extend(who.labels().foreign.lock().iter().cloned());
        names.into_iter().collect()
    }

    /// The names of all labels that it carries once it has an answer of this tool.
    pub(crate) fn carried_with(&self, who: &AsRules, path: &ToolPath) -> Vec<String> {
        let mut names: BTreeSet<String> = self.carried(who).into_iter().collect();
        names.extend(self.label_names(self.labels_of(path)).map(str::to_owned));
        names.into_iter().collect()
    }

    /// Lets a resumed run carry what it carried before.
    pub(crate) fn carry_on(&self, who: &AsRules, names: &[String]) {
        who.labels().add(self.labels_named(names.iter().map(String::as_str)));
        let is_foreign = |name: &&String| self.policy().is_none_or(|policy| policy.label(name).is_none());
        who.labels().foreign.lock().extend(names.iter().filter(is_foreign).cloned());
    }

    async fn mark(&self, labels: Vec<String>, principal: &str, run: RunId) -> Result<(), Withheld> {
        if labels.is_empty() {
            return Ok(());
        }
        let ledger = self.told().ledger.as_ref().ok_or(Withheld::NoLedger)?.ledger.clone();
        ledger.mark(Mark { principal: principal.to_owned(), labels, run }).await?;
        Ok(())
    }
}
