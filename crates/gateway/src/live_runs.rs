//! The runs that have begun and not ended: known for certain, whatever a listener has lost.

use std::collections::BTreeSet;

use belljar_model::RunId;
use parking_lot::Mutex;

/// The live runs of a toolbox.
#[derive(Debug, Default)]
pub(crate) struct LiveRuns(Mutex<BTreeSet<RunId>>);

impl LiveRuns {
    pub(crate) fn enter(&self, run: RunId) {
        self.0.lock().insert(run);
    }

    pub(crate) fn leave(&self, run: RunId) {
        self.0.lock().remove(&run);
    }

    pub(crate) fn all(&self) -> Vec<RunId> {
        self.0.lock().iter().copied().collect()
    }
}
