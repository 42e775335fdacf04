//! The results of a run's calls and timers: one completion at a time, in an order that is recorded.
//!
//! Calls run on tasks of their own, and their results arrive in an [`Inbox`]. The run takes the
//! next completion out of it only when the guest asks for one. So the guest handles one answer
//! completely before it sees the next, and its behaviour depends only on the completions and their
//! order.
//!
//! A waiting answer is counted by [`Holdings`]. One that is in the file is read back when it is its
//! turn.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    io,
    sync::Arc,
};

use belljar_model::{CallRecord, JsonText};
use parking_lot::Mutex;
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

use crate::{
    CallError,
    holdings::{Held, Holdings},
    overflow::Written,
};

/// The result of a call or a timer.
pub(crate) struct Completion {
    /// Its number, in the order in which the script began them.
    pub(crate) number: u64,
    pub(crate) event: Event,
}

/// The kind of result.
#[expect(clippy::large_enum_variant, reason = "most are answers, and each is moved once or twice")]
pub(crate) enum Event {
    Answer(Answer),
    Elapsed,
}

/// A tool's answer.
pub(crate) struct Answer {
    pub(crate) result: Result<Kept, CallError>,
    /// The record of the call, added when the guest gets the answer; `None` for a refused call.
    pub(crate) record: Option<CallRecord>,
}

/// A waiting answer.
pub(crate) enum Kept {
    /// In memory, with its counted room until it is handed out.
    Here { text: JsonText, room: Option<Held> },
    /// In the file.
    There(Written),
}

/// Where answers arrive and timers end. Their number is bounded by that of calls and timers under
/// way, which is checked where they begin; the memory for answers is bounded where they are
/// admitted.
#[derive(Clone)]
pub(crate) struct Inbox(Arc<Inner>);

struct Inner {
    waiting: Mutex<Waiting>,
    holdings: Holdings,
    /// Signals that an answer has arrived.
    arrived: Notify,
}

#[derive(Default)]
struct Waiting {
    /// In the order of arrival, with the time.
    answers: VecDeque<(Instant, u64, Answer)>,
    timers: Timers,
    /// The remaining order of an earlier run.
    order: VecDeque<u64>,
    /// The record of the call whose answer is being read back from the file.
    reading: Option<(u64, Option<CallRecord>)>,
}

/// The running timers, in the order in which they end.
#[derive(Default)]
struct Timers {
    ends: BTreeSet<(Instant, u64)>,
    by_number: BTreeMap<u64, Instant>,
}

/// What the guest gets next.
enum Next {
    /// The answer at this index.
    Answer(usize),
    Timer(u64),
    Pending(Pending),
}

/// Why there is nothing for the guest yet.
enum Pending {
    /// It must get a timer next, which ends at this time.
    Timer(Instant),
    /// It gets whatever comes first: an answer, or a timer that ends at this time.
    Any(Instant),
    /// It gets an answer.
    Answer,
}

impl Inbox {
    /// An empty inbox that hands out results as they arrive, or in a given order.
    pub(crate) fn new(order: Option<Vec<u64>>, holdings: Holdings) -> Self {
        let waiting = Waiting { order: order.unwrap_or_default().into(), ..Waiting::default() };
        Self(Arc::new(Inner { waiting: Mutex::new(waiting), holdings, arrived: Notify::new() }))
    }

    /// The answer to a call has arrived.
    pub(crate) fn put(&self, number: u64, answer: Answer) {
        self.0.waiting.lock().answers.push_back((Instant::now(), number, answer));
        self.0.arrived.notify_one();
    }

    /// A timer has started.
    pub(crate) fn begin_timer(&self, number: u64, ends: Instant) {
        let timers = &mut self.0.waiting.lock().timers;
        timers.ends.insert((ends, number));
        timers.by_number.insert(number, ends);
    }

    /// Forgets a timer. Returns false if there is none with this number.
    pub(crate) fn cancel_timer(&self, number: u64) -> bool {
        self.0.waiting.lock().timers.remove(number)
    }

    /// The next completion, if there is one. An answer in the file must still be
    /// [read](Inbox::read).
    pub(crate) fn take(&self) -> Option<Completion> {
        let mut waiting = self.0.waiting.lock();
        let (number, event) = match waiting.next() {
            Next::Answer(place) => {
                let (_, number, answer) = waiting.answers.remove(place)?;
                (number, Event::Answer(answer))
            }
            Next::Timer(number) => {
                waiting.timers.remove(number);
                (number, Event::Elapsed)
            }
            Next::Pending(_) => return None,
        };
        waiting.order.pop_front();
        Some(Completion { number, event })
    }

    /// Whether a timer runs.
    pub(crate) fn has_timers(&self) -> bool {
        !self.0.waiting.lock().timers.ends.is_empty()
    }

    /// Waits until the next completion can be taken.
    pub(crate) async fn ready(&self) {
        loop {
            let pending = match self.0.waiting.lock().next() {
                Next::Pending(pending) => pending,
                Next::Answer(_) | Next::Timer(_) => return,
            };
            // The next result may be behind one that finds no room. A timer never is.
            if !matches!(pending, Pending::Timer(_)) {
                self.0.holdings.starve();
            }
            match pending {
                Pending::Timer(ends) => sleep_until(ends).await,
                Pending::Any(ends) => tokio::select! {
                    () = self.0.arrived.notified() => {}
                    () = sleep_until(ends) => {}
                },
                Pending::Answer => self.0.arrived.notified().await,
            }
        }
    }

    /// Whether the next result in the given order belongs to a call or timer of this run. `is_open`
    /// tells whether a call is open.
    pub(crate) fn can_come(&self, is_open: impl FnOnce(u64) -> bool) -> bool {
        let waiting = self.0.waiting.lock();
        waiting.order.front().is_none_or(|wanted| waiting.timers.by_number.contains_key(wanted) || is_open(*wanted))
    }

    /// Reads an answer back from the file. The record of its call is kept here meanwhile, since the
    /// run may end before the guest has the answer. [`Inbox::was_read`] returns it.
    ///
    /// # Cancellation
    /// The answer is lost.
    pub(crate) async fn read(
        &self,
        number: u64,
        written: Written,
        record: Option<CallRecord>,
    ) -> Result<JsonText, CallError> {
        self.0.waiting.lock().reading = Some((number, record));
        let result = written.read().await.map_err(|error| unreadable(&error));
        if let (Err(fault), Some((_, Some(record)))) = (&result, &mut self.0.waiting.lock().reading) {
            (record.ok, record.error) = (false, Some(fault.message.clone()));
        }
        result
    }

    /// The record of the call whose answer was read.
    pub(crate) fn was_read(&self) -> Option<CallRecord> {
        self.0.waiting.lock().reading.take().and_then(|(_, record)| record)
    }

    /// The records of calls whose answers came and were never handed over, by number.
    pub(crate) fn late(&self) -> Vec<(u64, Option<CallRecord>)> {
        let mut waiting = self.0.waiting.lock();
        let reading = waiting.reading.take();
        let answers = waiting.answers.drain(..).map(|(_, number, answer)| (number, answer.record));
        reading.into_iter().chain(answers).collect()
    }
}

impl Waiting {
    fn next(&self) -> Next {
        match self.order.front() {
            Some(wanted) => self.wanted(*wanted),
            None => self.first(),
        }
    }

    /// Whichever came first.
    fn first(&self) -> Next {
        let arrived = self.answers.front().map(|(arrived, ..)| *arrived);
        let Some((ends, timer)) = self.timers.ends.first().copied() else {
            return arrived.map_or(Next::Pending(Pending::Answer), |_| Next::Answer(0));
        };
        match arrived {
            Some(arrived) if arrived < ends => Next::Answer(0),
            // A timer that should end before an answer came has ended by now.
            Some(_) => Next::Timer(timer),
            None if ends <= Instant::now() => Next::Timer(timer),
            None => Next::Pending(Pending::Any(ends)),
        }
    }

    fn wanted(&self, wanted: u64) -> Next {
        if let Some(ends) = self.timers.by_number.get(&wanted).copied() {
            return if ends <= Instant::now() { Next::Timer(wanted) } else { Next::Pending(Pending::Timer(ends)) };
        }
        let place = self.answers.iter().position(|(_, number, _)| *number == wanted);
        place.map_or(Next::Pending(Pending::Answer), Next::Answer)
    }
}

impl Timers {
    fn remove(&mut self, number: u64) -> bool {
        let Some(ends) = self.by_number.remove(&number) else { return false };
        self.ends.remove(&(ends, number))
    }
}

fn unreadable(error: &io::Error) -> CallError {
    CallError::new(format!("the answer came, and could not be read back from the file in which it waited: {error}"))
        .with_hint("the call has taken effect; await calls in smaller groups, so that no answer has to wait")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::FutureExt as _;

    use super::*;

    fn taken(inbox: &Inbox) -> Option<u64> {
        assert_eq!(inbox.ready().now_or_never().is_some(), inbox.0.waiting.lock().next().is_there());
        inbox.take().map(|completion| completion.number)
    }

    async fn next(inbox: &Inbox) -> u64 {
        inbox.ready().await;
        taken(inbox).expect("it is ready")
    }

    impl Next {
        fn is_there(&self) -> bool {
            !matches!(self, Self::Pending(_))
        }
    }

    async fn put(inbox: &Inbox, holdings: &Holdings, number: u64) {
        let room = holdings.admit(100, || true).await;
        inbox.put(number, Answer { result: Ok(Kept::Here { text: JsonText::null(), room }), record: None });
    }

    fn inbox(order: Option<Vec<u64>>) -> (Inbox, Holdings) {
        let holdings = Holdings::new(100, false);
        (Inbox::new(order, holdings.clone()), holdings)
    }

    #[tokio::test]
    async fn a_recorded_order_is_followed_although_the_wanted_answer_stands_behind_what_finds_no_room() {
        let (inbox, holdings) = inbox(Some(vec![3, 1, 2]));
        let (theirs, mine) = (holdings.clone(), inbox.clone());
        // One after the other, as a child answers.
        let child = tokio::spawn(async move {
            for number in 1..=3 {
                put(&mine, &theirs, number).await;
            }
        });
        assert_eq!((next(&inbox).await, next(&inbox).await, next(&inbox).await), (3, 1, 2));
        child.await.expect("all were let in");
        assert_eq!(taken(&inbox), None);
    }

    #[tokio::test]
    async fn what_came_first_is_handed_over_first_be_it_an_answer_or_the_end_of_a_timer() {
        let (inbox, holdings) = inbox(None);
        let begun = Instant::now();
        inbox.begin_timer(0, begun + Duration::from_secs(1_000));
        inbox.begin_timer(2, begun);
        inbox.begin_timer(1, begun);
        put(&inbox, &holdings, 3).await;
        inbox.begin_timer(4, Instant::now());
        let order: Vec<u64> = std::iter::from_fn(|| taken(&inbox)).collect();
        assert_eq!(order, [1, 2, 3, 4]);
    }

    #[tokio::test]
    async fn a_timer_that_was_cancelled_is_never_handed_over() {
        let (inbox, _) = inbox(None);
        inbox.begin_timer(0, Instant::now());
        assert!(inbox.cancel_timer(0) && !inbox.cancel_timer(0) && !inbox.cancel_timer(7));
        assert_eq!(taken(&inbox), None);
    }

    #[tokio::test]
    async fn a_recorded_order_waits_for_a_timer_although_an_answer_is_there() {
        let (inbox, holdings) = inbox(Some(vec![0, 1]));
        inbox.begin_timer(0, Instant::now() + Duration::from_secs(1));
        put(&inbox, &holdings, 1).await;
        assert_eq!(taken(&inbox), None);
        assert_eq!((next(&inbox).await, next(&inbox).await), (0, 1));
    }

    #[tokio::test]
    async fn a_recorded_order_that_wants_what_never_was_can_be_told() {
        let (inbox, _) = inbox(Some(vec![7]));
        assert!(!inbox.can_come(|_| false) && inbox.can_come(|number| number == 7));
        inbox.begin_timer(7, Instant::now());
        assert!(inbox.can_come(|_| false));
        assert_eq!(taken(&inbox), Some(7));
        assert!(inbox.can_come(|_| false), "an order that was followed to its end asks for nothing");
    }
}
