//! The times of many rounds.

use std::time::Duration;

/// Times of many rounds, sorted.
#[derive(Debug, Clone)]
pub struct Times(Vec<Duration>);

impl Times {
    /// The times of some rounds, in any order.
    ///
    /// # Panics
    /// There are none: a measure has at least one round.
    pub fn new(mut times: Vec<Duration>) -> Self {
        assert!(!times.is_empty(), "a measure has at least one round");
        times.sort();
        Self(times)
    }

    /// The time below which so many percent are.
    pub fn percentile(&self, percent: usize) -> Duration {
        let last = self.0.len() - 1;
        self.0.get(self.0.len() * percent / 100).or(self.0.get(last)).copied().unwrap_or_default()
    }

    /// How many rounds there were.
    pub fn rounds(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_sorted_times() {
        let times = Times::new((1..=100).rev().map(Duration::from_millis).collect());
        let of = |percent| times.percentile(percent).as_millis();
        assert_eq!([of(0), of(50), of(95), of(100)], [1, 51, 96, 100]);
        let one = Times::new(vec![Duration::from_millis(7)]);
        assert!([0, 50, 95, 100].iter().all(|percent| one.percentile(*percent).as_millis() == 7));
    }
}
