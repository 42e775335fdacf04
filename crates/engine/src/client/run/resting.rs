//! How long a run has waited for people alone: all of its open calls are parked. Its clocks stand
//! still then, in its process as here.

use std::{sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::time::Instant;

/// How soon the time that is left is asked for again while a run rests.
const AGAIN: Duration = Duration::from_secs(1);

/// The rest of a run. Clones share it. Its lock is its own, since calls end wherever they are
/// dropped.
#[derive(Clone)]
pub(super) struct Resting(Arc<Mutex<State>>);

struct State {
    begun: Instant,
    open: u64,
    parked: u64,
    /// Since when it rests, if it does.
    since: Option<Instant>,
    /// What it has rested before.
    rested: Duration,
}

impl Resting {
    /// Of a run that begins now.
    pub(super) fn new() -> Self {
        let (begun, rested) = (Instant::now(), Duration::ZERO);
        Self(Arc::new(Mutex::new(State { begun, open: 0, parked: 0, since: None, rested })))
    }

    /// A call has begun.
    pub(super) fn open(&self) {
        self.change(|state| state.open += 1);
    }

    /// A call's answer is on its way.
    pub(super) fn close(&self) {
        self.change(|state| state.open = state.open.saturating_sub(1));
    }

    /// A call begins to wait for a person, or stops.
    pub(super) fn park(&self, is_parked: bool) {
        self.change(|state| {
            state.parked = if is_parked { state.parked + 1 } else { state.parked.saturating_sub(1) };
        });
    }

    /// After how long the run may be overdue that may take `time` without its rests. `None` if it
    /// is.
    pub(super) fn left_of(&self, time: Duration) -> Option<Duration> {
        let state = self.0.lock();
        let rests = state.since.map(|since| since.elapsed());
        let rested = state.rested.saturating_add(rests.unwrap_or_default());
        let left = time.saturating_sub(state.begun.elapsed().saturating_sub(rested));
        match rests {
            Some(_) => Some(left.max(AGAIN)),
            None => Some(left).filter(|left| !left.is_zero()),
        }
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.0.lock();
        change(&mut state);
        let rests = state.parked > 0 && state.parked == state.open;
        match state.since {
            None if rests => state.since = Some(Instant::now()),
            Some(since) if !rests => {
                state.rested = state.rested.saturating_add(since.elapsed());
                state.since = None;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn time_stands_still_while_every_open_call_waits_for_a_person() {
        let resting = Resting::new();
        let left = || resting.left_of(10 * SECOND);
        advance(SECOND).await;
        assert_eq!(left(), Some(9 * SECOND));
        resting.open();
        resting.park(true);
        advance(100 * SECOND).await;
        assert_eq!(left(), Some(9 * SECOND), "it rests");
        resting.open();
        advance(SECOND).await;
        assert_eq!(left(), Some(8 * SECOND), "another call does not wait for a person");
        resting.close();
        advance(100 * SECOND).await;
        assert_eq!(left(), Some(8 * SECOND), "it rests again");
        resting.park(false);
        resting.close();
        advance(7 * SECOND).await;
        assert_eq!(left(), Some(SECOND));
        advance(SECOND).await;
        assert_eq!(left(), None, "it is overdue");
    }

    #[tokio::test(start_paused = true)]
    async fn a_run_that_rests_at_its_last_moment_is_asked_again_and_not_at_once() {
        let resting = Resting::new();
        advance(10 * SECOND).await;
        assert_eq!(resting.left_of(10 * SECOND), None);
        resting.open();
        resting.park(true);
        assert_eq!(resting.left_of(10 * SECOND), Some(AGAIN));
    }
}
