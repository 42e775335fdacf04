//! How answers reach the guest: one at a time, in an order that is recorded.
//!
//! Calls and timers run on tasks of their own. What they bring arrives in an [`Inbox`]; the run takes the next arrival out of it only
//! when the guest has nothing left to do. So the guest sees one answer, works it off, and stands still again before it sees the
//! next, and what it does depends on the answers and their order alone.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, Waker},
};

use belljar_model::{CallRecord, JsonText};
use tokio::sync::oneshot;

use crate::CallFault;

/// Something that the guest waits for is there.
pub(crate) enum Arrival {
    /// A tool's answer, and what is recorded of it once the guest gets it: nothing, of a call that was refused.
    Answer {
        number: u64,
        record: Option<CallRecord>,
        result: Result<JsonText, CallFault>,
        waiting: oneshot::Sender<Answer>,
    },
    /// A timer's end.
    Elapsed { number: u64, waiting: oneshot::Sender<()> },
}

impl Arrival {
    /// The number of the call or timer, counted as the script began them.
    pub(crate) fn number(&self) -> u64 {
        match self {
            Self::Answer { number, .. } | Self::Elapsed { number, .. } => *number,
        }
    }
}

/// What the guest gets for a call.
pub(crate) type Answer = Result<JsonText, CallFault>;

/// Where answers arrive. As many fit as there are calls and timers under way, which are bounded where they begin.
#[derive(Clone)]
pub(crate) struct Inbox(Arc<Mutex<Arrivals>>);

#[derive(Default)]
struct Arrivals {
    queue: VecDeque<Arrival>,
    /// The order of an earlier run, as far as it has not been followed yet.
    order: VecDeque<u64>,
    waker: Option<Waker>,
}

impl Arrivals {
    fn next(&mut self) -> Option<Arrival> {
        let Some(wanted) = self.order.front() else { return self.queue.pop_front() };
        let position = self.queue.iter().position(|arrival| arrival.number() == *wanted)?;
        self.order.pop_front();
        self.queue.remove(position)
    }
}

impl Inbox {
    /// An empty inbox that hands out its arrivals as they come, or in a given order.
    pub(crate) fn new(order: Option<Vec<u64>>) -> Self {
        let order = order.unwrap_or_default().into();
        Self(Arc::new(Mutex::new(Arrivals { order, ..Arrivals::default() })))
    }

    pub(crate) fn put(&self, arrival: Arrival) {
        let waker = {
            let mut arrivals = self.lock();
            arrivals.queue.push_back(arrival);
            arrivals.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// The next arrival, or a promise to wake the task when there is one.
    pub(crate) fn poll_next(&self, context: &mut Context<'_>) -> Poll<Arrival> {
        let mut arrivals = self.lock();
        match arrivals.next() {
            Some(arrival) => Poll::Ready(arrival),
            None => {
                arrivals.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }

    /// What arrived and was never handed over.
    pub(crate) fn drain(&self) -> Vec<Arrival> {
        self.lock().queue.drain(..).collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Arrivals> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
