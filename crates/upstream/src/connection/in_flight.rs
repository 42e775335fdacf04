//! The load of a connection: how many calls are in flight, how many there were, and since when
//! there are none.
//!
//! One lock decides between a new call and a due end, so that no call is sent to a child that is
//! being stopped.

use std::{sync::Arc, time::Duration};

use belljar_model::MAX_DURATION;
use parking_lot::Mutex;
use tokio::{sync::Notify, time::Instant};

/// The calls of one connection.
#[derive(Debug)]
pub(crate) struct InFlightCalls {
    state: Mutex<InFlightState>,
    max_calls: Option<usize>,
    /// The last call in flight has ended.
    drained: Notify,
    /// The last call that this connection may make was admitted.
    used_up: Notify,
    /// Several calls timed out in a row.
    suspected: Notify,
}

#[derive(Debug)]
struct InFlightState {
    in_flight: usize,
    calls: usize,
    /// When the last call ended, or calls were first taken.
    since: Instant,
    closed: bool,
    /// Calls that timed out since the last answer.
    timeouts: usize,
}

/// After this many timeouts without an answer in between, a child is suspect.
pub(crate) const SUSPECT_TIMEOUTS: usize = 3;

impl InFlightCalls {
    pub(crate) fn new(max_calls: Option<usize>) -> Arc<Self> {
        let state = InFlightState { in_flight: 0, calls: 0, since: Instant::now(), closed: false, timeouts: 0 };
        let (drained, used_up, suspected) = (Notify::new(), Notify::new(), Notify::new());
        Arc::new(Self { state: Mutex::new(state), max_calls, drained, used_up, suspected })
    }

    /// Admits a call, unless the connection takes none any more.
    pub(crate) fn admit(self: &Arc<Self>) -> Option<InFlight> {
        let mut state = self.state.lock();
        if state.closed {
            return None;
        }
        state.in_flight += 1;
        state.calls += 1;
        if self.max_calls.is_some_and(|most| state.calls >= most) {
            state.closed = true;
            self.used_up.notify_one();
        }
        Some(InFlight(self.clone()))
    }

    pub(crate) fn in_flight(&self) -> usize {
        self.state.lock().in_flight
    }

    /// Calls are taken from now on: what was before counts as no idle time.
    pub(crate) fn open(&self) {
        self.state.lock().since = Instant::now();
    }

    /// Takes no more calls.
    pub(crate) fn close(&self) {
        self.state.lock().closed = true;
    }

    /// Waits until there was no call for this long, and takes none from then on. Never completes
    /// for `None`.
    pub(crate) async fn idle(&self, limit: Option<Duration>) {
        let Some(limit) = limit else { return std::future::pending().await };
        let limit = limit.min(MAX_DURATION);
        loop {
            let due = {
                let mut state = self.state.lock();
                let due = if state.in_flight > 0 { Instant::now() + limit } else { state.since + limit };
                if due <= Instant::now() {
                    state.closed = true;
                    return;
                }
                due
            };
            tokio::time::sleep_until(due).await;
        }
    }

    /// Waits for the last call that may be made.
    pub(crate) async fn used_up(&self) {
        self.used_up.notified().await;
    }

    /// Waits for the end of the last call. The caller has closed it, so no more follow.
    pub(crate) async fn drained(&self) {
        while self.in_flight() > 0 {
            self.drained.notified().await;
        }
    }

    /// A call was answered.
    pub(crate) fn answered(&self) {
        self.state.lock().timeouts = 0;
    }

    /// A call timed out.
    pub(crate) fn timed_out(&self) {
        let mut state = self.state.lock();
        state.timeouts += 1;
        if state.timeouts >= SUSPECT_TIMEOUTS {
            state.timeouts = 0;
            self.suspected.notify_one();
        }
    }

    /// Waits until the child is suspect.
    pub(crate) async fn suspected(&self) {
        self.suspected.notified().await;
    }
}

/// A call in flight, until it is dropped.
#[derive(Debug)]
pub(crate) struct InFlight(Arc<InFlightCalls>);

impl Drop for InFlight {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.in_flight = state.in_flight.saturating_sub(1);
        if state.in_flight == 0 {
            state.since = Instant::now();
            self.0.drained.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn idleness_is_counted_from_the_end_of_the_last_call() {
        let (calls, limit, begun) = (InFlightCalls::new(None), Duration::from_secs(300), Instant::now());
        let waiting = tokio::spawn({
            let calls = calls.clone();
            async move { calls.idle(Some(limit)).await }
        });
        tokio::time::sleep(Duration::from_secs(200)).await;
        let call = calls.admit().expect("it is open");
        tokio::time::sleep(Duration::from_secs(1_000)).await;
        assert!(!waiting.is_finished(), "a call is in flight");
        drop(call);
        waiting.await.expect("it ends");
        assert!(begun.elapsed() >= Duration::from_secs(1_200) + limit);
        assert!(calls.admit().is_none(), "it takes no more calls");
    }

    #[tokio::test(start_paused = true)]
    async fn the_last_call_closes_and_what_is_in_flight_is_waited_for() {
        let calls = InFlightCalls::new(Some(2));
        let (first, second) = (calls.admit(), calls.admit());
        assert!(first.is_some() && second.is_some() && calls.admit().is_none());
        calls.used_up().await;
        drop(first);
        assert!(tokio::time::timeout(Duration::from_secs(9), calls.drained()).await.is_err());
        drop(second);
        calls.drained().await;
    }

    #[tokio::test]
    async fn calls_that_run_out_of_time_one_after_another_make_suspect() {
        let calls = InFlightCalls::new(None);
        for _ in 0..5 {
            calls.timed_out();
            calls.timed_out();
            calls.answered();
        }
        assert!(futures::poll!(Box::pin(calls.suspected())).is_pending());
        for _ in 0..SUSPECT_TIMEOUTS {
            calls.timed_out();
        }
        calls.suspected().await;
    }
}
