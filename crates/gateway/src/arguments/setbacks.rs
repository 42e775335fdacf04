//! Why large checks of one tool are skipped, and how often that is logged.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// How long large checks of a tool are skipped after a worker has failed at one. Any script can
/// make one fail, with arguments that take longer than a check may, and the pause affects
/// everybody. So it is short, and a tool costs at most one worker in this time.
pub(super) const PAUSE: Duration = Duration::from_secs(60);
/// How often skipped checks of one tool are logged, since scripts decide how often they happen.
const SAID_EVERY: Duration = Duration::from_secs(600);

/// The failures of one tool's large checks.
#[derive(Default)]
pub(super) struct Setbacks(Mutex<SetbackState>);

#[derive(Default)]
struct SetbackState {
    given_up: GivenUp,
    /// When skipped checks were last logged, and how many there have been since.
    said: Option<Instant>,
    unsaid: u64,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum GivenUp {
    #[default]
    No,
    Until(Instant),
    ForGood,
}

impl Setbacks {
    /// Whether large checks are skipped now.
    pub(super) fn is_given_up(&self) -> bool {
        match self.0.lock().given_up {
            GivenUp::No => false,
            GivenUp::Until(end) => Instant::now() < end,
            GivenUp::ForGood => true,
        }
    }

    /// Skips large checks for [`PAUSE`]. Returns whether they were made until now.
    pub(super) fn pause(&self) -> bool {
        let was_given_up = self.is_given_up();
        let mut state = self.0.lock();
        if state.given_up != GivenUp::ForGood {
            state.given_up = GivenUp::Until(Instant::now() + PAUSE);
        }
        !was_given_up
    }

    /// Skips large checks from now on. Returns whether that is new.
    pub(super) fn give_up(&self) -> bool {
        std::mem::replace(&mut self.0.lock().given_up, GivenUp::ForGood) != GivenUp::ForGood
    }

    /// Counts a skipped check that could have been made at another time. Returns the number of
    /// unreported ones when it is time to log them.
    pub(super) fn pass_over(&self) -> Option<u64> {
        let mut state = self.0.lock();
        state.unsaid = state.unsaid.saturating_add(1);
        if state.said.is_some_and(|said| said.elapsed() < SAID_EVERY) {
            return None;
        }
        state.said = Some(Instant::now());
        Some(std::mem::take(&mut state.unsaid))
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_pause_ends_and_what_is_given_up_for_good_does_not() {
        let setbacks = Setbacks::default();
        assert!(!setbacks.is_given_up());
        assert!(setbacks.pause(), "the first one is news");
        assert!(!setbacks.pause());
        assert!(setbacks.is_given_up());
        advance(PAUSE).await;
        assert!(!setbacks.is_given_up());
        assert!(setbacks.pause(), "another pause is news again");
        assert!(setbacks.give_up());
        assert!(!setbacks.give_up());
        assert!(!setbacks.pause());
        advance(PAUSE * 2).await;
        assert!(setbacks.is_given_up());
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_passed_over_is_said_at_once_and_then_seldom_with_its_number() {
        let setbacks = Setbacks::default();
        assert_eq!(setbacks.pass_over(), Some(1));
        for _ in 0..1_000 {
            assert_eq!(setbacks.pass_over(), None);
        }
        advance(SAID_EVERY).await;
        assert_eq!(setbacks.pass_over(), Some(1_001));
        assert_eq!(setbacks.pass_over(), None);
    }
}
