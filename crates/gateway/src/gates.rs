//! `after` of the owner's rules: which calls of a run have succeeded for which a rule asks before
//! another.
//!
//! A call counts once its script has its answer, and for the calls that the script begins from then
//! on: whatever a replay would decide is decided here. For other runs of the principal it counts in
//! the ledger, where the rule says for how long.

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

/// The longest arguments in which the values that must be the same are looked for.
const MAX_BYTES: usize = 64 * 1024;

/// A rule, and the values that must be the same.
type Key = (Arc<str>, String);

/// The calls of one run that succeeded.
#[derive(Debug, Default)]
pub(crate) struct RunGates(Mutex<PassedCalls>);

#[derive(Debug, Default)]
struct PassedCalls {
    /// Those whose answer the script does not have yet, by their numbers.
    waiting: BTreeMap<u64, Vec<Key>>,
    /// The others, each with how many there were before.
    passed: HashMap<Key, usize>,
}

impl RunGates {
    /// A call succeeded. It counts once its answer is handed over.
    fn expect(&self, number: u64, keys: Vec<Key>) {
        self.with(|state| state.waiting.insert(number, keys));
    }

    /// The script gets the answer of a call.
    pub(crate) fn hand_over(&self, number: u64) {
        self.with(|state| {
            for key in state.waiting.remove(&number).into_iter().flatten() {
                let before = state.passed.len();
                state.passed.entry(key).or_insert(before);
            }
        });
    }

    /// Those that count by now, in their order, of a run that is put aside.
    pub(crate) fn all(&self) -> Vec<(String, String)> {
        self.with(|state| {
            let mut all: Vec<_> = state.passed.iter().collect();
            all.sort_by_key(|(_, before)| **before);
            all.into_iter().map(|((rule, values), _)| (rule.to_string(), values.clone())).collect()
        })
    }

    /// Those that counted when the run was put aside.
    pub(crate) fn go_on(&self, all: &[(String, String)]) {
        self.with(|state| {
            for (before, (rule, values)) in all.iter().enumerate() {
                state.passed.insert((Arc::from(rule.as_str()), values.clone()), before);
            }
        });
    }

    /// How many count by now.
    pub(crate) fn now(&self) -> usize {
        self.with(|state| state.passed.len())
    }

    /// Whether a call counted for this rule when so many did.
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
    /// Those that count in other runs too.
    to_keep: Vec<Key>,
}

impl Toolbox {
    /// What a call of this tool counts for, with these arguments; nothing, for most.
    pub(crate) fn counts_for(
        self: &Arc<Self>,
        path: &ToolPath,
        arguments: &JsonText,
        principal: &str,
    ) -> Option<CountsFor> {
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

    /// What is asked of, or kept in, the ledger; nothing where nothing can be.
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
    /// The call succeeded. Where that cannot be kept, it does not count in other runs.
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
