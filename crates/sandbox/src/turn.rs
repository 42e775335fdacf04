//! The right of a run to compute, and the clock that goes with it.
//!
//! A run computes only while it holds a turn. It releases it at the next tick, and whenever it
//! waits for the host, so that any number of runs leaves a share for the others, and for the rest
//! of the process.

use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    task::Poll,
};

use futures::future::poll_fn;
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::meter::{Meter, Phase};

/// One run's claim to the turns of a sandbox.
pub(crate) struct Turn {
    turns: Arc<Semaphore>,
    held: Mutex<Option<OwnedSemaphorePermit>>,
    /// Whether the run has waited since the last tick that it saw, which may be long ago.
    has_waited: AtomicBool,
    meter: Arc<Meter>,
}

impl Turn {
    /// The claim of a run that does not compute yet.
    pub(crate) fn new(turns: Arc<Semaphore>, meter: Arc<Meter>) -> Self {
        Self { turns, held: Mutex::default(), has_waited: AtomicBool::new(true), meter }
    }

    /// Waits for a turn. From then on the run computes.
    ///
    /// # Cancellation
    /// The run loses its place among those that wait.
    pub(crate) async fn begin(&self) {
        // The semaphore is never closed while the sandbox lives.
        let turn = self.turns.clone().acquire_owned().await.ok();
        *self.held.lock() = turn;
        self.meter.enter(Phase::Computing);
    }

    /// Whether the turn lasts until the next tick. The first tick after a wait passed during the
    /// wait, so it does not use up a turn that has just begun.
    pub(crate) fn goes_on(&self) -> bool {
        self.has_waited.swap(false, Relaxed)
    }

    /// Ends a turn that is used up, and waits for the next.
    ///
    /// # Cancellation
    /// As [`Turn::begin`].
    pub(crate) async fn pass(&self) {
        self.meter.enter(Phase::Queued);
        // The runtime returns here after it has looked at timers and sockets. The turn is kept
        // until then: otherwise the next run would come first, and after it the next but one.
        tokio::task::yield_now().await;
        self.end();
        self.begin().await;
    }

    /// Waits for `event` while others have the turn. If it is ready at once, the run keeps its
    /// turn.
    ///
    /// # Cancellation
    /// Drops `event`; otherwise as [`Turn::begin`].
    pub(crate) async fn wait_for<T>(&self, event: impl Future<Output = T>) -> T {
        let mut event = pin!(event);
        if let Poll::Ready(there) = poll_fn(|context| Poll::Ready(event.as_mut().poll(context))).await {
            return there;
        }
        self.meter.enter(Phase::Waiting);
        drop(self.held.lock().take());
        self.has_waited.store(true, Relaxed);
        let there = event.await;
        self.meter.enter(Phase::Queued);
        self.begin().await;
        there
    }

    /// Releases the turn, if the run holds one.
    pub(crate) fn end(&self) {
        let turn = self.held.lock().take();
        if turn.is_some() {
            self.meter.enter(Phase::Queued);
        }
    }
}
