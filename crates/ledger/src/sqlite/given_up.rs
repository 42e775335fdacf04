//! What is read for somebody who no longer waits.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::Relaxed},
};

/// Ends what is read when nobody waits for it any more: a thread that reads for minutes would be
/// busy as long, and whoever asks again would get one more.
#[derive(Default)]
pub(super) struct GivenUp(Arc<AtomicBool>);

impl GivenUp {
    /// What the thread asks now and then.
    pub(super) fn question(&self) -> impl FnMut() -> bool + Send + use<> {
        let is_given_up = self.0.clone();
        move || is_given_up.load(Relaxed)
    }
}

impl Drop for GivenUp {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}
