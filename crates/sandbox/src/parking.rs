//! Which calls of a run wait for a person, and that no clock of the run counts that.
//!
//! A run *rests* when its guest has nothing left to do, no timer runs, and each call without an answer waits for a person. People take
//! their time; what belljar, a script or a tool does is bounded, and a person is not.

use std::{
    future::poll_fn,
    pin::pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
};

use futures::task::AtomicWaker;

use crate::{
    host::{Journal, Meter},
    inbox::Inbox,
};

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

    /// Waits until the guest's next completion can be taken. While only people are waited for, no clock counts.
    pub(crate) async fn ready(&self, inbox: &Inbox, journal: &Journal, meter: &Meter) {
        let mut ready = pin!(inbox.ready());
        poll_fn(|context: &mut Context<'_>| {
            // Before it is looked: what changes afterwards comes back here.
            self.0.changed.register(context.waker());
            if ready.as_mut().poll(context).is_ready() {
                return Poll::Ready(());
            }
            let parked = self.0.parked.load(Ordering::SeqCst);
            meter.stand(parked > 0 && parked == journal.open_calls() && !inbox.has_timers());
            Poll::Pending
        })
        .await;
    }

    fn tell(&self, is_parked: bool) {
        self.0.changed.wake();
        if let Ok(listener) = self.0.listener.lock()
            && let Some(listener) = &*listener
        {
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
