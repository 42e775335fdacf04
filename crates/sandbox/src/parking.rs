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

/// The parked calls of a run. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Parking(Arc<Inner>);

/// The listener for changes, if the run itself is in another process.
type Listener = Box<dyn Fn(bool) + Send + Sync>;

#[derive(Default)]
struct Inner {
    parked: AtomicU64,
    changed: AtomicWaker,
    listener: Mutex<Option<Listener>>,
}

/// A call that waits for a person, as long as this exists.
#[must_use]
pub struct Parked(Parking);

impl Parking {
    /// One that reports changes, for a run in another process.
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
