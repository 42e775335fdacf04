//! Which calls of a run wait for a person.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::Waker,
};

use futures::task::AtomicWaker;
use parking_lot::Mutex;

/// The parked calls of a run. Clones count together.
#[derive(Clone, Default)]
pub(crate) struct Parking(Arc<Inner>);

/// Who wants to know of each change: in another process, the run's own.
type Listener = Box<dyn Fn(bool) + Send + Sync>;

#[derive(Default)]
struct Inner {
    parked: AtomicU64,
    changed: AtomicWaker,
    listener: Mutex<Option<Listener>>,
}

/// A call that waits for a person, for as long as this is there.
#[must_use]
pub struct Parked(Parking);

impl Parking {
    /// One that tells of a call being parked and let go, for a run that is elsewhere.
    pub(crate) fn telling(listener: impl Fn(bool) + Send + Sync + 'static) -> Self {
        let inner = Inner { listener: Mutex::new(Some(Box::new(listener))), ..Inner::default() };
        Self(Arc::new(inner))
    }

    pub(crate) fn park(&self) -> Parked {
        self.0.parked.fetch_add(1, Ordering::SeqCst);
        self.tell(true);
        Parked(self.clone())
    }

    /// How many calls wait for a person.
    pub(crate) fn parked(&self) -> u64 {
        self.0.parked.load(Ordering::SeqCst)
    }

    /// Wakes this task at the next change.
    pub(crate) fn wake_at_change(&self, waker: &Waker) {
        self.0.changed.register(waker);
    }

    fn tell(&self, is_parked: bool) {
        self.0.changed.wake();
        if let Some(listener) = &*self.0.listener.lock() {
            listener(is_parked);
        }
    }
}

impl Drop for Parked {
    fn drop(&mut self) {
        self.0.0.parked.fetch_sub(1, Ordering::SeqCst);
        self.0.tell(false);
    }
}
