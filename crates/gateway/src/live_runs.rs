//! The runs that have begun and not ended. The list is complete even if a listener has missed
//! events. The owner can cancel each of them.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    future::pending,
};

use belljar_model::{ErrorKind, RunError, RunId};
use parking_lot::Mutex;
use tokio::sync::watch;

/// The live runs of a toolbox, each with the channel that cancels it.
#[derive(Debug, Default)]
pub(crate) struct LiveRuns(Mutex<BTreeMap<RunId, watch::Sender<bool>>>);

impl LiveRuns {
    pub(crate) fn enter(&self, run: RunId) -> OwnersWord {
        let (cancel, cancelled) = watch::channel(false);
        self.0.lock().insert(run, cancel);
        OwnersWord(cancelled)
    }

    /// Removes a run for which [`enter`](Self::enter) returned `entered`. A run that was put aside
    /// may have entered again before the earlier instance is dropped, and then it stays.
    pub(crate) fn leave(&self, run: RunId, entered: &OwnersWord) {
        if let Entry::Occupied(entry) = self.0.lock().entry(run)
            && entry.get().subscribe().same_channel(&entered.0)
        {
            entry.remove();
        }
    }

    pub(crate) fn all(&self) -> Vec<RunId> {
        self.0.lock().keys().copied().collect()
    }

    /// Cancels a run, and returns whether there is such a run.
    pub(crate) fn cancel(&self, run: RunId) -> bool {
        self.0.lock().get(&run).map(|cancel| cancel.send_replace(true)).is_some()
    }
}

/// Whether the owner has cancelled a run.
#[derive(Debug, Clone)]
pub(crate) struct OwnersWord(watch::Receiver<bool>);

impl OwnersWord {
    /// Whether it was cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        *self.0.borrow()
    }

    /// Completes when it is cancelled.
    pub(crate) fn cancelled(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut word = self.0.clone();
        async move {
            let has_ended = word.wait_for(|is_cancelled| *is_cancelled).await.is_err();
            if has_ended {
                pending::<()>().await;
            }
        }
    }
}

/// What a model reads about a run that its owner cancelled.
pub(crate) const CANCELLED_BY_OWNER: &str = "belljar's owner cancelled it: ask them before you run it again";

/// The error of a call that its owner cancelled.
pub(crate) fn cancelled_by_owner() -> RunError {
    RunError::new(ErrorKind::Cancelled, "the call was cancelled").with_hint(CANCELLED_BY_OWNER)
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    #[test]
    fn only_the_run_that_is_named_is_cancelled_and_only_as_long_as_it_is_live() {
        let (live, [first, second]) = (LiveRuns::default(), [1, 2].map(RunId::from_bits));
        let (one, other) = (live.enter(first), live.enter(second));
        let cancelled = one.cancelled();
        assert!(live.cancel(first) && !live.cancel(RunId::from_bits(3)));
        assert!(one.is_cancelled() && !other.is_cancelled());
        assert_eq!((cancelled.now_or_never(), other.cancelled().now_or_never()), (Some(()), None));
        live.leave(second, &other);
        assert!(!live.cancel(second) && !other.is_cancelled());
        assert_eq!(other.cancelled().now_or_never(), None, "its end is not a cancellation");
        assert_eq!(live.all(), [first]);
    }
    #[test]
    fn a_run_that_goes_on_is_not_taken_out_by_what_it_was_before() {
        let (live, run) = (LiveRuns::default(), RunId::from_bits(1));
        let before = live.enter(run);
        let now = live.enter(run);
        live.leave(run, &before);
        assert!(live.cancel(run) && now.is_cancelled() && !before.is_cancelled());
        live.leave(run, &now);
        assert_eq!(live.all(), []);
    }
}
