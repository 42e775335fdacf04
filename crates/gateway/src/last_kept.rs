//! When the measurements of the servers were last saved.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// How often measurements are saved while runs end. A process that is killed loses at most this
/// much.
const KEEP_EVERY: Duration = Duration::from_secs(10);

/// When the measurements of the servers were last saved.
#[derive(Default)]
pub(crate) struct LastKept(Mutex<Option<Instant>>);

impl LastKept {
    /// Whether it is time to save them again. If so, that counts as done.
    pub(crate) fn is_due(&self) -> bool {
        let mut last = self.0.lock();
        let is_due = last.is_none_or(|last| last.elapsed() >= KEEP_EVERY);
        if is_due {
            *last = Some(Instant::now());
        }
        is_due
    }
}
