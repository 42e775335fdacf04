//! `at_most` of the owner's rules: how many calls a run or principal has made.
//!
//! Calls are counted when they are judged, and it should be the first calls of a script that pass.
//! So a call that such a rule counts is judged only after all such calls that its run began
//! earlier. A run's counts are kept with the run. A principal's counts per minute, hour or day are
//! kept in the ledger, for all processes.

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;
use tokio::sync::oneshot;

/// What one run has used, and the order in which its calls are judged.
#[derive(Debug, Default)]
pub(crate) struct RunCounts {
    used: Mutex<BTreeMap<Arc<str>, u32>>,
    last: Mutex<Option<oneshot::Receiver<()>>>,
}

impl RunCounts {
    /// A place behind all calls that were begun earlier.
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

    /// What the run has used.
    pub(crate) fn used(&self) -> BTreeMap<String, u32> {
        let used = self.used.lock();
        used.iter().map(|(rule, used)| (rule.to_string(), *used)).collect()
    }

    /// Restores what the run had used when it was put aside.
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

/// A place in the order of a script's calls. Dropping it lets the next one go.
pub(crate) struct Turn {
    before: Option<oneshot::Receiver<()>>,
    _done: oneshot::Sender<()>,
}

impl Turn {
    /// Waits until all calls that were begun earlier are judged or gone.
    pub(crate) async fn come(&mut self) {
        if let Some(before) = self.before.take() {
            // Nothing is ever sent here: a finished call drops its end.
            let _ = before.await;
        }
    }
}
