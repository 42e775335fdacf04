//! How long a run has waited for people alone, which is while all calls whose answers it waits for
//! are parked. Its clocks then stand still, in its process and here.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use tokio::time::Instant;

/// How often to check the remaining time of a run that rests.
const AGAIN: Duration = Duration::from_secs(1);

/// The rest of a run. Clones share it. It has its own lock, since calls end wherever they are
/// dropped.
#[derive(Clone)]
pub(super) struct Resting(Arc<Mutex<State>>);

struct State {
    begun: Instant,
    /// Calls whose answers it waits for, and whether they are parked.
    open: BTreeMap<u64, bool>,
    /// Calls that it has given up, and that are still under way.
    given_up: BTreeSet<u64>,
    /// When it began to rest, if it rests.
    since: Option<Instant>,
    /// How long it has rested before.
    rested: Duration,
}

/// Whether the run waits for a call that begins to wait for a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(super) enum Wanted {
    Yes,
    GivenUp,
}

impl Wanted {
    pub(super) fn is_given_up(self) -> bool {
        self == Self::GivenUp
    }
}

impl Resting {
    /// The rest of a run that begins now.
    pub(super) fn new() -> Self {
        let state = State {
            begun: Instant::now(),
            open: BTreeMap::new(),
            given_up: BTreeSet::new(),
            since: None,
            rested: Duration::ZERO,
        };
        Self(Arc::new(Mutex::new(state)))
    }

    /// A call has begun.
    pub(super) fn open(&self, number: u64) {
        self.change(|state| state.open.insert(number, false));
    }

    /// A call's answer is on its way.
    pub(super) fn close(&self, number: u64) {
        self.change(|state| {
            state.open.remove(&number);
            state.given_up.remove(&number);
        });
    }

    /// A call begins to wait for a person, or stops.
    pub(super) fn park(&self, number: u64, is_parked: bool) -> Wanted {
        self.change(|state| {
            if let Some(call) = state.open.get_mut(&number) {
                *call = is_parked;
            }
            if is_parked && state.given_up.contains(&number) { Wanted::GivenUp } else { Wanted::Yes }
        })
    }

    /// The run goes on without a call's answer. Returns whether the call is parked.
    pub(super) fn give_up(&self, number: u64) -> bool {
        self.change(|state| {
            let parked = state.open.remove(&number);
            if parked.is_some() {
                state.given_up.insert(number);
            }
            parked == Some(true)
        })
    }

    /// How long it takes at least until the run is overdue, if it may take `time` without its
    /// rests. `None` if it is overdue.
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

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.0.lock();
        let changed = change(&mut state);
        let rests = !state.open.is_empty() && state.open.values().all(|is_parked| *is_parked);
        match state.since {
            None if rests => state.since = Some(Instant::now()),
            Some(since) if !rests => {
                state.rested = state.rested.saturating_add(since.elapsed());
                state.since = None;
            }
            _ => {}
        }
        changed
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
        resting.open(1);
        assert_eq!(resting.park(1, true), Wanted::Yes);
        advance(100 * SECOND).await;
        assert_eq!(left(), Some(9 * SECOND), "it rests");
        resting.open(2);
        advance(SECOND).await;
        assert_eq!(left(), Some(8 * SECOND), "another call does not wait for a person");
        resting.close(2);
        advance(100 * SECOND).await;
        assert_eq!(left(), Some(8 * SECOND), "it rests again");
        assert_eq!(resting.park(1, false), Wanted::Yes);
        resting.close(1);
        advance(7 * SECOND).await;
        assert_eq!(left(), Some(SECOND));
        advance(SECOND).await;
        assert_eq!(left(), None, "it is overdue");
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_that_was_given_up_neither_rests_the_run_nor_keeps_it_from_resting() {
        let resting = Resting::new();
        let left = || resting.left_of(10 * SECOND);
        for number in 1..=3 {
            resting.open(number);
        }
        assert_eq!(resting.park(1, true), Wanted::Yes);
        assert!(resting.give_up(1), "it is parked");
        advance(SECOND).await;
        assert_eq!(left(), Some(9 * SECOND), "the others do not wait for a person");
        assert!(!resting.give_up(2) && !resting.give_up(2), "it is not parked");
        assert_eq!(resting.park(2, true), Wanted::GivenUp);
        assert_eq!(resting.park(3, true), Wanted::Yes);
        advance(100 * SECOND).await;
        assert_eq!(left(), Some(9 * SECOND), "it rests");
        resting.close(2);
        assert_eq!(resting.park(2, true), Wanted::Yes, "nothing is known of it");
        assert_eq!(left(), Some(9 * SECOND));
    }

    #[tokio::test(start_paused = true)]
    async fn a_run_that_rests_at_its_last_moment_is_asked_again_and_not_at_once() {
        let resting = Resting::new();
        advance(10 * SECOND).await;
        assert_eq!(resting.left_of(10 * SECOND), None);
        resting.open(1);
        assert_eq!(resting.park(1, true), Wanted::Yes);
        assert_eq!(resting.left_of(10 * SECOND), Some(AGAIN));
    }
}
