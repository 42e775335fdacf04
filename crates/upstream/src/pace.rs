//! Limits reactions to a child's unsolicited messages: prompt at first, and rare for one that never
//! stops.

use std::time::Duration;

use tokio::time::Instant;

use crate::limits;

/// Decides which of a child's lines are logged: some at once, and then a certain number per second.
#[derive(Debug)]
pub(crate) struct LinePace {
    allowed: u32,
    since: Instant,
    left_out: u64,
}

impl LinePace {
    pub(crate) fn new(now: Instant) -> Self {
        Self { allowed: limits::LOGGED_AT_ONCE, since: now, left_out: 0 }
    }

    /// Whether to log a line now; if so, how many were omitted before it.
    pub(crate) fn admit(&mut self, now: Instant) -> Option<u64> {
        let seconds = now.saturating_duration_since(self.since).as_secs();
        if seconds > 0 {
            let more = u32::try_from(seconds).unwrap_or(u32::MAX).saturating_mul(limits::LOGGED_PER_SECOND);
            self.allowed = self.allowed.saturating_add(more).min(limits::LOGGED_AT_ONCE);
            self.since = now;
        }
        match self.allowed.checked_sub(1) {
            Some(left) => {
                self.allowed = left;
                Some(self.left_out())
            }
            None => {
                self.left_out = self.left_out.saturating_add(1);
                None
            }
        }
    }

    /// How many lines were omitted since the last report.
    pub(crate) fn left_out(&mut self) -> u64 {
        std::mem::take(&mut self.left_out)
    }
}

/// How long to wait after a child's change of tools before its list is requested.
#[derive(Debug, Default)]
pub(crate) struct RelistPace {
    last: Option<Instant>,
    in_a_row: u32,
}

impl RelistPace {
    /// How long to wait after a change that came now.
    pub(crate) fn rest(&mut self, now: Instant) -> Duration {
        let is_calm = self.last.is_none_or(|last| now.saturating_duration_since(last) >= limits::RELIST_CALM);
        self.in_a_row = if is_calm { 0 } else { self.in_a_row.saturating_add(1) };
        let doublings = self.in_a_row.saturating_sub(limits::RELIST_PROMPT);
        let rest = limits::RELIST_QUIET.saturating_mul(2_u32.saturating_pow(doublings)).min(limits::RELIST_REST);
        self.last = now.checked_add(rest);
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_lines_is_logged_at_its_pace_and_counted() {
        let begun = Instant::now();
        let mut pace = LinePace::new(begun);
        let (mut logged, mut told) = (0, 0);
        for second in 0..10 {
            for line in 0..100_000 {
                let now = begun + Duration::from_secs(second) + Duration::from_micros(line * 10);
                if let Some(left_out) = pace.admit(now) {
                    logged += 1;
                    told += left_out;
                }
            }
        }
        assert_eq!(logged, limits::LOGGED_AT_ONCE + 9 * limits::LOGGED_PER_SECOND);
        assert_eq!(u64::from(logged) + told + pace.left_out(), 1_000_000, "some were left out and never counted");
    }

    #[test]
    fn a_child_that_says_little_is_logged_whole() {
        let begun = Instant::now();
        let mut pace = LinePace::new(begun);
        let lines = u64::from(limits::LOGGED_PER_SECOND);
        let logged = (0..100 * lines).filter(|line| {
            pace.admit(begun + Duration::from_millis(line * 1_000 / lines)).is_some_and(|left_out| left_out == 0)
        });
        assert_eq!(logged.count() as u64, 100 * lines);
    }

    #[test]
    fn a_child_whose_tools_never_stop_changing_is_listed_seldom_and_one_that_stops_promptly_again() {
        let begun = Instant::now();
        let (mut pace, mut now, mut lists) = (RelistPace::default(), begun, 0);
        assert_eq!(pace.rest(now), limits::RELIST_QUIET);
        while now < begun + Duration::from_secs(3_600) {
            now += pace.rest(now);
            lists += 1;
        }
        assert!((60..160).contains(&lists), "{lists} lists in an hour");
        assert_eq!(pace.rest(now), limits::RELIST_REST);
        assert_eq!(pace.rest(now + limits::RELIST_REST + limits::RELIST_CALM), limits::RELIST_QUIET);
    }
}
