//! Ends reads for which nobody waits any more.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::Relaxed},
};

/// Ends a read when this is dropped because nobody waits for it any more. Otherwise a thread that
/// reads for minutes would stay busy, and whoever asks again would occupy another one.
#[derive(Default)]
pub(super) struct GivenUp(Arc<AtomicBool>);

impl GivenUp {
    /// The question that the thread asks from time to time: whether it should end.
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
