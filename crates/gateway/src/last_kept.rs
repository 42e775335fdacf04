//! When what was measured of the servers was kept for the last time.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// How often what was measured is kept while runs end. It is what a process that is killed loses.
const KEEP_EVERY: Duration = Duration::from_secs(10);

/// When what was measured was kept for the last time.
#[derive(Default)]
pub(crate) struct LastKept(Mutex<Option<Instant>>);

impl LastKept {
    /// Whether it is time to keep it again, which then counts as done.
    pub(crate) fn is_due(&self) -> bool {
        let mut last = self.0.lock();
        let is_due = last.is_none_or(|last| last.elapsed() >= KEEP_EVERY);
        if is_due {
            *last = Some(Instant::now());
        }
        is_due
    }
}
