//! `at_most` of the owner's rules: who has had how many calls.
//!
//! Calls are counted when they are judged. So that the first ones of a script are those that pass, a call whose
//! rules count is judged when all such calls that were begun before it in its run are. What a run used is kept
//! with the run; what a principal used in a minute, an hour or a day is kept in the ledger, for all processes.
//! Where that cannot be kept, nobody knows the count, and the rule fails closed.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use belljar_ledger::{Count, CountId, Ledger};
use belljar_model::Verdict;
use belljar_policy::{AtMost, Counts, Decision};
use tokio::sync::oneshot;

use crate::{Toolbox, rules::AsRules};

/// What one run has used, and whose turn it is to be judged.
#[derive(Debug, Default)]
pub(crate) struct RunCounts {
    used: Mutex<BTreeMap<Arc<str>, u32>>,
    last: Mutex<Option<oneshot::Receiver<()>>>,
}

impl RunCounts {
    /// A place behind all calls that were begun before.
    pub(crate) fn turn(&self) -> Turn {
        let (done, next) = oneshot::channel();
        let before = self.last.lock().unwrap_or_else(PoisonError::into_inner).replace(next);
        Turn { before, _done: done }
    }

    fn take(&self, rule: &Arc<str>, at_most: u32) -> bool {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let used = used.entry(rule.clone()).or_default();
        let has_room = *used < at_most;
        if has_room {
            *used += 1;
        }
        has_room
    }

    fn give_back(&self, rule: &Arc<str>) {
        if let Some(used) = self.used.lock().unwrap_or_else(PoisonError::into_inner).get_mut(rule) {
            *used = used.saturating_sub(1);
        }
    }
}

/// A place in the order of a script's calls. When it is dropped, it is the next one's turn.
pub(crate) struct Turn {
    before: Option<oneshot::Receiver<()>>,
    _done: oneshot::Sender<()>,
}

impl Turn {
    /// Waits until all that were begun before are judged, or gone.
    pub(crate) async fn come(&mut self) {
        if let Some(before) = self.before.take() {
            // Nothing is ever sent: whoever is done drops its end.
            let _ = before.await;
        }
    }
}

/// What is known of the counts, while one call is judged.
#[derive(Default)]
pub(crate) struct Known {
    /// The call was counted before, and is judged once more.
    was_counted: bool,
    room: Mutex<BTreeMap<Arc<str>, bool>>,
    asked: Mutex<Option<(Arc<str>, AtMost)>>,
}

impl Counts for Known {
    fn has_room(&self, rule: &Arc<str>, at_most: AtMost) -> Option<bool> {
        if self.was_counted {
            return Some(true);
        }
        let room = self.room.lock().unwrap_or_else(PoisonError::into_inner).get(rule).copied();
        if room.is_none() {
            // One after the other: what comes behind may not be asked for once this is known.
            let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
            asked.get_or_insert_with(|| (rule.clone(), at_most));
        }
        room
    }
}

/// One call that is judged, and what was counted for it.
pub(crate) struct Counting<'c> {
    who: &'c AsRules,
    ledger: Option<Arc<dyn Ledger>>,
    known: Arc<Known>,
    in_run: Vec<Arc<str>>,
    in_ledger: Vec<CountId>,
    is_lost: bool,
}

impl<'c> Counting<'c> {
    pub(crate) fn new(toolbox: &Toolbox, who: &'c AsRules) -> Self {
        let ledger = toolbox.told().ledger.as_ref().map(|ledger| ledger.ledger.clone());
        Self {
            who,
            ledger,
            known: Arc::new(Known { was_counted: who.was_counted(), ..Known::default() }),
            in_run: Vec::new(),
            in_ledger: Vec::new(),
            is_lost: false,
        }
    }

    /// What is known so far.
    pub(crate) fn known(&self) -> Arc<Known> {
        self.known.clone()
    }

    /// Finds out what was asked for and not known. Whether there is news, so that the call is to be judged again.
    pub(crate) async fn find_out(&mut self) -> bool {
        let asked = self.known.asked.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((rule, at_most)) = asked.filter(|_| !self.is_lost) else { return false };
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
                        tracing::warn!("rule '{rule}' counts calls, and nobody knows how many there were: {fault}");
                        return false;
                    }
                }
            }
        };
        self.known.room.lock().unwrap_or_else(PoisonError::into_inner).insert(rule, room);
        true
    }

    /// Takes back what was counted, where the call is denied after all.
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
