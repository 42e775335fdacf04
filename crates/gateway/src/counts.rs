//! `at_most` of the owner's rules: who has had how many calls.
//!
//! Calls are counted when they are judged. So that the first ones of a script are those that pass,
//! a call whose rules count is judged when all such calls that were begun before it in its run are.
//! What a run used is kept with the run; what a principal used in a minute, an hour or a day is
//! kept in the ledger, for all processes.

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;
use tokio::sync::oneshot;

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
        let before = self.last.lock().replace(next);
        Turn { before, _done: done }
    }

    pub(crate) fn take(&self, rule: &Arc<str>, at_most: u32) -> bool {
        let mut used = self.used.lock();
        let used = used.entry(rule.clone()).or_default();
        let has_room = *used < at_most;
        if has_room {
            *used += 1;
        }
        has_room
    }

    /// What it has used.
    pub(crate) fn used(&self) -> BTreeMap<String, u32> {
        let used = self.used.lock();
        used.iter().map(|(rule, used)| (rule.to_string(), *used)).collect()
    }

    /// What it had used before it was put aside.
    pub(crate) fn go_on(&self, used: &BTreeMap<String, u32>) {
        let used = used.iter().map(|(rule, used)| (Arc::from(rule.as_str()), *used));
        self.used.lock().extend(used);
    }

    pub(crate) fn give_back(&self, rule: &Arc<str>) {
        if let Some(used) = self.used.lock().get_mut(rule) {
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
