//! How answers reach the guest: one at a time, in an order that is recorded.
//!
//! Calls and timers run on tasks of their own. What they bring arrives in an [`Inbox`]; the run takes the next arrival out of it only
//! when the guest has nothing left to do. So the guest sees one answer, works it off, and stands still again before it sees the
//! next, and what it does depends on the answers and their order alone.
//!
//! An answer that waits is counted by [`Holdings`]. One that is in the file is read back when it is its turn.

use std::{
    collections::VecDeque,
    io,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, Waker, ready},
};

use belljar_model::{CallRecord, JsonText};
use futures::{FutureExt as _, future::BoxFuture};
use tokio::sync::oneshot;

use crate::{
    CallFault,
    holdings::{Held, Holdings},
    overflow::Written,
};

/// Something that the guest waits for is there. An answer is a `T`: kept somewhere as long as it waits, and then a text.
pub(crate) enum Arrival<T> {
    /// A tool's answer, and what is recorded of it once the guest gets it: nothing, of a call that was refused.
    Answer { number: u64, record: Option<CallRecord>, result: Result<T, CallFault>, waiting: oneshot::Sender<Answer> },
    /// A timer's end.
    Elapsed { number: u64, waiting: oneshot::Sender<()> },
}

impl<T> Arrival<T> {
    /// The number of the call or timer, counted as the script began them.
    pub(crate) fn number(&self) -> u64 {
        match self {
            Self::Answer { number, .. } | Self::Elapsed { number, .. } => *number,
        }
    }
}

/// An answer that waits for the guest.
pub(crate) enum Kept {
    /// In memory, with the room that it takes there until it is handed out.
    Here { text: JsonText, _room: Option<Held> },
    /// In the file.
    There(Written),
}

/// What the guest gets for a call.
pub(crate) type Answer = Result<JsonText, CallFault>;

/// Where answers arrive. There are no more than calls and timers under way, which are bounded where they begin; how much of them is in
/// memory is bounded where they are admitted.
#[derive(Clone)]
pub(crate) struct Inbox {
    arrivals: Arc<Mutex<Arrivals>>,
    holdings: Holdings,
}

struct Arrivals {
    queue: VecDeque<Arrival<Kept>>,
    /// The order of an earlier run, as far as it has not been followed yet.
    order: VecDeque<u64>,
    /// The next arrival, while it is read back from the file.
    reading: Option<Reading>,
    waker: Option<Waker>,
}

struct Reading {
    number: u64,
    record: Option<CallRecord>,
    waiting: oneshot::Sender<Answer>,
    text: BoxFuture<'static, io::Result<JsonText>>,
}

impl Arrivals {
    fn next(&mut self) -> Option<Arrival<Kept>> {
        let Some(wanted) = self.order.front() else { return self.queue.pop_front() };
        let position = self.queue.iter().position(|arrival| arrival.number() == *wanted)?;
        self.order.pop_front();
        self.queue.remove(position)
    }

    /// The answer that is being read back, if there is one.
    fn poll_reading(&mut self, context: &mut Context<'_>) -> Poll<Option<Arrival<JsonText>>> {
        let Some(reading) = &mut self.reading else { return Poll::Ready(None) };
        let read = ready!(reading.text.poll_unpin(context));
        let Some(Reading { number, mut record, waiting, .. }) = self.reading.take() else { return Poll::Ready(None) };
        let result = read.map_err(|error| unreadable(&error));
        if let (Err(fault), Some(record)) = (&result, &mut record) {
            (record.ok, record.error) = (false, Some(fault.message.clone()));
        }
        Poll::Ready(Some(Arrival::Answer { number, record, result, waiting }))
    }
}

impl Inbox {
    /// An empty inbox that hands out its arrivals as they come, or in a given order.
    pub(crate) fn new(order: Option<Vec<u64>>, holdings: Holdings) -> Self {
        let order = order.unwrap_or_default().into();
        let arrivals = Arrivals { queue: VecDeque::new(), order, reading: None, waker: None };
        Self { arrivals: Arc::new(Mutex::new(arrivals)), holdings }
    }

    pub(crate) fn put(&self, arrival: Arrival<Kept>) {
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
    pub(crate) fn poll_next(&self, context: &mut Context<'_>) -> Poll<Arrival<JsonText>> {
        let mut arrivals = self.lock();
        loop {
            if let Some(read) = ready!(arrivals.poll_reading(context)) {
                return Poll::Ready(read);
            }
            match arrivals.next() {
                Some(Arrival::Elapsed { number, waiting }) => {
                    return Poll::Ready(Arrival::Elapsed { number, waiting });
                }
                Some(Arrival::Answer { number, record, result: Ok(Kept::There(written)), waiting }) => {
                    arrivals.reading = Some(Reading { number, record, waiting, text: written.read().boxed() });
                }
                Some(Arrival::Answer { number, record, result: Ok(Kept::Here { text, _room }), waiting }) => {
                    return Poll::Ready(Arrival::Answer { number, record, result: Ok(text), waiting });
                }
                Some(Arrival::Answer { number, record, result: Err(fault), waiting }) => {
                    return Poll::Ready(Arrival::Answer { number, record, result: Err(fault), waiting });
                }
                None => {
                    arrivals.waker = Some(context.waker().clone());
                    drop(arrivals);
                    self.holdings.starve();
                    return Poll::Pending;
                }
            }
        }
    }

    /// What is recorded of calls whose answers came and were never handed over, by their number.
    pub(crate) fn late(&self) -> Vec<(u64, Option<CallRecord>)> {
        let mut arrivals = self.lock();
        let reading = arrivals.reading.take().map(|reading| (reading.number, reading.record));
        let waiting = arrivals.queue.drain(..).filter_map(|arrival| match arrival {
            Arrival::Answer { number, record, .. } => Some((number, record)),
            Arrival::Elapsed { .. } => None,
        });
        reading.into_iter().chain(waiting).collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Arrivals> {
        self.arrivals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn unreadable(error: &io::Error) -> CallFault {
    CallFault::new(format!("the answer came, and could not be read back from the file in which it waited: {error}"))
        .with_hint("the call has taken effect; await calls in smaller groups, so that no answer has to wait")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(inbox: &Inbox) -> Option<u64> {
        match inbox.poll_next(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(arrival) => Some(arrival.number()),
            Poll::Pending => None,
        }
    }

    async fn put(inbox: &Inbox, holdings: &Holdings, number: u64) {
        let held = holdings.admit(100, || true).await;
        let (waiting, _) = oneshot::channel();
        inbox.put(Arrival::Answer {
            number,
            record: None,
            result: Ok(Kept::Here { text: JsonText::null(), _room: held }),
            waiting,
        });
    }

    #[tokio::test]
    async fn a_recorded_order_is_followed_although_the_wanted_answer_stands_behind_what_finds_no_room() {
        let holdings = Holdings::new(100, false);
        let inbox = Inbox::new(Some(vec![3, 1, 2]), holdings.clone());
        let (theirs, mine) = (holdings.clone(), inbox.clone());
        // One after the other, as a child answers.
        let child = tokio::spawn(async move {
            for number in 1..=3 {
                put(&mine, &theirs, number).await;
            }
        });
        let next = || std::future::poll_fn(|context| inbox.poll_next(context).map(|arrival| arrival.number()));
        assert_eq!((next().await, next().await, next().await), (3, 1, 2));
        child.await.expect("all were let in");
        assert_eq!(taken(&inbox), None);
    }
}
