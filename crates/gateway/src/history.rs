//! What rules need to know about earlier calls. It is fetched only when a rule asks, since most of
//! it is in the ledger.
//!
//! A call is judged; what a rule lacked is fetched, and the call is judged again, until nothing is
//! missing. If something cannot be known, the rule fails closed.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use belljar_ledger::{Carried, Count, CountId, Ledger};
use belljar_model::Verdict;
use belljar_policy::{AtMost, Decision, Gate, History, Labels, Measure, Policy};
use parking_lot::Mutex;
use serde_json::{Map, Value};

use crate::{Toolbox, gates::RunGates, rules::AsRules};

/// What is known while one call is judged.
#[derive(Default)]
pub(crate) struct Known {
    /// The call was counted before, and is judged once more.
    was_counted: bool,
    /// The labels that its run carried when the call was begun.
    carried: Labels,
    /// Whether principals carry labels from run to run.
    has_memory: bool,
    /// The calls of its run, and how many of them counted when this call was begun.
    gates: Arc<RunGates>,
    passed: usize,
    found: Mutex<Found>,
}

#[derive(Default)]
struct Found {
    room: BTreeMap<Arc<str>, bool>,
    /// The labels from the principal's other runs: the outer `None` before they were looked up, the
    /// inner one if they are unknown.
    others: Option<Option<Labels>>,
    /// Whether an earlier call of another run counts, by rule.
    passed: BTreeMap<Arc<str>, Option<bool>>,
    /// What was counted first, by rule.
    measured: BTreeMap<Arc<str>, Option<u64>>,
    asked: Option<Asked>,
}

/// What a rule asks for.
enum Asked {
    Room(Arc<str>, AtMost),
    Others,
    Passed(Arc<str>, String, Duration),
    Measured(Arc<str>, Arc<Measure>, Map<String, Value>),
}

impl Known {
    fn with<T>(&self, work: impl FnOnce(&mut Found) -> T) -> T {
        work(&mut self.found.lock())
    }
}

impl Found {
    /// Only one question at a time: its answer may make the next one unnecessary.
    fn ask(&mut self, asked: impl FnOnce() -> Asked) {
        self.asked.get_or_insert_with(asked);
    }
}

impl History for Known {
    fn has_room(&self, rule: &Arc<str>, at_most: AtMost) -> Option<bool> {
        if self.was_counted {
            return Some(true);
        }
        self.with(|found| {
            let room = found.room.get(rule).copied();
            if room.is_none() {
                found.ask(|| Asked::Room(rule.clone(), at_most));
            }
            room
        })
    }

    fn carries(&self, labels: Labels) -> Option<bool> {
        if self.carried.meet(labels) {
            return Some(true);
        }
        if !self.has_memory {
            return Some(false);
        }
        self.with(|found| match found.others {
            Some(others) => others.map(|others| others.meet(labels)),
            None => {
                found.ask(|| Asked::Others);
                None
            }
        })
    }

    fn has_passed(&self, gate: &Gate, values: &str) -> Option<bool> {
        if self.gates.has(gate.rule(), values, self.passed) {
            return Some(true);
        }
        let Some(within) = gate.within() else { return Some(false) };
        self.with(|found| match found.passed.get(gate.rule()) {
            Some(known) => *known,
            None => {
                found.ask(|| Asked::Passed(gate.rule().clone(), values.to_owned(), within));
                None
            }
        })
    }

    fn measured(&self, rule: &Arc<str>, measure: &Arc<Measure>, arguments: Map<String, Value>) -> Option<u64> {
        self.with(|found| match found.measured.get(rule) {
            Some(known) => *known,
            None => {
                found.ask(|| Asked::Measured(rule.clone(), measure.clone(), arguments));
                None
            }
        })
    }
}

/// One call that is judged, and what was counted for it.
pub(crate) struct Inquiry<'c> {
    toolbox: &'c Toolbox,
    who: &'c AsRules,
    policy: Arc<Policy>,
    ledger: Option<Arc<dyn Ledger>>,
    known: Arc<Known>,
    in_run: Vec<Arc<str>>,
    in_ledger: Vec<CountId>,
    is_lost: bool,
}

impl<'c> Inquiry<'c> {
    pub(crate) fn new(toolbox: &'c Toolbox, policy: &Arc<Policy>, who: &'c AsRules) -> Self {
        let ledger = toolbox.told().ledger.as_ref().map(|ledger| ledger.ledger.clone());
        let known = Known {
            was_counted: who.was_counted(),
            carried: who.carried(),
            has_memory: policy.memory().is_some(),
            gates: who.gates().clone(),
            passed: who.passed(),
            found: Mutex::default(),
        };
        Self {
            toolbox,
            who,
            policy: policy.clone(),
            ledger,
            known: Arc::new(known),
            in_run: Vec::new(),
            in_ledger: Vec::new(),
            is_lost: false,
        }
    }

    /// What is known so far.
    pub(crate) fn known(&self) -> Arc<Known> {
        self.known.clone()
    }

    /// Fetches what a rule asked for and did not know. Returns whether the call must be judged
    /// again.
    pub(crate) async fn find_out(&mut self) -> bool {
        match self.known.with(|found| found.asked.take()) {
            None => false,
            Some(Asked::Room(rule, at_most)) => self.count(rule, at_most).await,
            Some(Asked::Others) => {
                let others = self.others().await;
                self.known.with(|found| found.others = Some(others));
                true
            }
            Some(Asked::Passed(rule, values, within)) => {
                let passed = self.passed(&rule, &values, within).await;
                self.known.with(|found| found.passed.insert(rule, passed));
                true
            }
            Some(Asked::Measured(rule, measure, arguments)) => {
                let count = match self.who.measuring() {
                    Some(measuring) => measuring.count(self.who, &measure, arguments).await,
                    None => None,
                };
                self.known.with(|found| found.measured.insert(rule, count));
                true
            }
        }
    }

    async fn count(&mut self, rule: Arc<str>, at_most: AtMost) -> bool {
        if self.is_lost {
            return false;
        }
        let room = match at_most.per.duration() {
            None => {
                let room = self.who.counts().take(&rule, at_most.calls);
                self.in_run.extend(room.then(|| rule.clone()));
                room
            }
            Some(within) => {
                let principal = self.who.principal().to_owned();
                let count = Count { rule: rule.to_string(), principal, at_most: at_most.calls, within };
                let Some(ledger) = &self.ledger else {
                    self.is_lost = true;
                    tracing::warn!("rule '{rule}' counts calls, and there is no ledger to count them in");
                    return false;
                };
                match ledger.count(count).await {
                    Ok(counted) => {
                        self.in_ledger.extend(counted);
                        counted.is_some()
                    }
                    Err(fault) => {
                        self.is_lost = true;
                        tracing::warn!("rule '{rule}' counts calls, and their number cannot be read: {fault}");
                        return false;
                    }
                }
            }
        };
        self.known.with(|found| found.room.insert(rule, room));
        true
    }

    /// The labels from the principal's other runs, or `None` if they are unknown.
    async fn others(&self) -> Option<Labels> {
        let within = self.policy.memory()?;
        let Some(ledger) = &self.ledger else {
            tracing::warn!(
                "a rule asks which labels {} carries, and there is no ledger that knows them",
                self.who.principal()
            );
            return None;
        };
        let asked = Carried { principal: self.who.principal().to_owned(), except: self.who.run(), within };
        match ledger.carried(asked).await {
            // A label that the rules no longer define does not matter.
            Ok(names) => {
                Some(names.iter().filter_map(|name| self.policy.label(name)).fold(Labels::default(), Labels::and))
            }
            Err(fault) => {
                tracing::warn!(
                    "a rule asks which labels {} carries, and they cannot be read: {fault}",
                    self.who.principal()
                );
                None
            }
        }
    }

    /// Whether an earlier call of another run counts, or `None` if that is unknown.
    async fn passed(&self, rule: &Arc<str>, values: &str, within: Duration) -> Option<bool> {
        let passed = self.toolbox.passed(rule, values, self.who.principal(), self.who.run());
        let (Some(passed), Some(ledger)) = (passed, &self.ledger) else {
            tracing::warn!("rule '{rule}' asks for an earlier call, and there is no ledger to look in");
            return None;
        };
        match ledger.has_passed(passed, within).await {
            Ok(passed) => Some(passed),
            Err(fault) => {
                tracing::warn!("rule '{rule}' asks for an earlier call, and the ledger cannot be read: {fault}");
                None
            }
        }
    }

    /// Undoes the counting if the call is denied in the end.
    pub(crate) async fn settle(self, decision: &Decision) {
        if decision.verdict != Verdict::Deny {
            return;
        }
        self.in_run.iter().for_each(|rule| self.who.counts().give_back(rule));
        for counted in self.in_ledger {
            if let Some(ledger) = &self.ledger
                && let Err(fault) = ledger.uncount(counted).await
            {
                tracing::warn!("a call that was denied stays counted: {fault}");
            }
        }
    }
}
