//! `after` of the owner's rules: the successful calls of a run that a rule requires before another
//! call.
//!
//! A call counts once its script has its answer, for calls that the script begins after that. So a
//! replay decides the same. For other runs of the principal it counts through the ledger, if the
//! rule says for how long.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use belljar_ledger::Passed;
use belljar_model::{JsonText, RunId, ToolPath};
use belljar_policy::Gate;
use parking_lot::Mutex;
use serde_json::Value;

use crate::Toolbox;

/// The longest arguments that are searched for the values that must be the same.
const MAX_BYTES: usize = 64 * 1024;

/// A rule, and the values that must be the same.
type Key = (Arc<str>, String);

/// The calls of one run that succeeded.
#[derive(Debug, Default)]
pub(crate) struct RunGates(Mutex<PassedCalls>);

#[derive(Debug, Default)]
struct PassedCalls {
    /// Calls whose answer the script does not have yet, by number.
    waiting: BTreeMap<u64, Vec<Key>>,
    /// The other calls, each with the number of earlier ones.
    passed: HashMap<Key, usize>,
}

impl RunGates {
    /// Notes that a call succeeded. It counts once its answer is handed over.
    fn expect(&self, number: u64, keys: Vec<Key>) {
        self.with(|state| state.waiting.insert(number, keys));
    }

    /// Notes that the script gets the answer of a call.
    pub(crate) fn hand_over(&self, number: u64) {
        self.with(|state| {
            for key in state.waiting.remove(&number).into_iter().flatten() {
                let before = state.passed.len();
                state.passed.entry(key).or_insert(before);
            }
        });
    }

    /// The calls that count by now, in order, for a run that is put aside.
    pub(crate) fn all(&self) -> Vec<(String, String)> {
        self.with(|state| {
            let mut all: Vec<_> = state.passed.iter().collect();
            all.sort_by_key(|(_, before)| **before);
            all.into_iter().map(|((rule, values), _)| (rule.to_string(), values.clone())).collect()
        })
    }

    /// Restores the calls that counted when the run was put aside.
    pub(crate) fn go_on(&self, all: &[(String, String)]) {
        self.with(|state| {
            for (before, (rule, values)) in all.iter().enumerate() {
                state.passed.insert((Arc::from(rule.as_str()), values.clone()), before);
            }
        });
    }

    /// How many calls count by now.
    pub(crate) fn now(&self) -> usize {
        self.with(|state| state.passed.len())
    }

    /// Whether a call counted for this rule at that point.
    pub(crate) fn has(&self, rule: &Arc<str>, values: &str, then: usize) -> bool {
        let key = (rule.clone(), values.to_owned());
        self.with(|state| state.passed.get(&key).is_some_and(|before| *before < then))
    }

    fn with<T>(&self, work: impl FnOnce(&mut PassedCalls) -> T) -> T {
        work(&mut self.0.lock())
    }
}

/// What a call counts for if it succeeds.
pub(crate) struct CountsFor {
    toolbox: Arc<Toolbox>,
    principal: String,
    keys: Vec<Key>,
    /// What also counts in other runs.
    to_keep: Vec<Key>,
}

impl Toolbox {
    /// What a call of this tool counts for with these arguments: for most calls, nothing.
    pub(crate) fn counts_for(
        self: &Arc<Self>,
        path: &ToolPath,
        arguments: &JsonText,
        principal: &str,
    ) -> Option<CountsFor> {
        // That a named script may run does not mean that it has succeeded.
        if self.is_skill(path) {
            return None;
        }
        let gates: Vec<&Gate> = self.policy()?.gates_of(path).collect();
        if gates.is_empty() || arguments.as_str().len() > MAX_BYTES {
            return None;
        }
        let Ok(Value::Object(arguments)) = arguments.to_value() else { return None };
        let key = |gate: &&Gate| Some((gate.rule().clone(), gate.values(&arguments)?));
        let keys: Vec<Key> = gates.iter().filter_map(key).collect();
        let to_keep = gates.iter().filter(|gate| gate.within().is_some()).filter_map(key).collect();
        Some(CountsFor { toolbox: self.clone(), principal: principal.to_owned(), keys, to_keep })
    }

    /// The value used in the ledger, or `None` if there is none.
    pub(crate) fn passed(&self, rule: &Arc<str>, values: &str, principal: &str, run: Option<RunId>) -> Option<Passed> {
        let ledger = &self.told().ledger.as_ref()?.ledger;
        Some(Passed {
            rules: self.rules_file().to_owned(),
            rule: rule.to_string(),
            principal: principal.to_owned(),
            same: ledger.digest(values.as_bytes())?,
            run,
        })
    }
}

impl CountsFor {
    /// Notes that the call succeeded. If the ledger cannot keep that, it does not count in other
    /// runs.
    pub(crate) async fn succeeded(self, run: Option<RunId>, in_run: Option<(&RunGates, u64)>) {
        let Self { toolbox, principal, keys, to_keep } = self;
        for (rule, values) in to_keep {
            let passed = toolbox.passed(&rule, &values, &principal, run);
            let (Some(passed), Some(kept)) = (passed, &toolbox.told().ledger) else {
                tracing::warn!("rule '{rule}' asks for an earlier call, and there is no ledger to note calls in");
                continue;
            };
            if let Err(fault) = kept.ledger.pass(passed).await {
                tracing::warn!("rule '{rule}' asks for an earlier call, and the call could not be noted: {fault}");
            }
        }
        if let Some((gates, number)) = in_run {
            gates.expect(number, keys);
        }
    }
}
