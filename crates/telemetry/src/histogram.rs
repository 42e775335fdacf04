//! A histogram of durations.

use std::time::Duration;

/// The upper bounds of its buckets in seconds, as recommended by OpenTelemetry's conventions for
/// MCP for the duration of an operation.
pub(crate) const BOUNDS: [f64; 14] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];

/// How many durations fall into each bucket.
#[derive(Debug, Clone, Default)]
pub(crate) struct Histogram {
    /// The counts of the single buckets, not cumulative.
    buckets: [u64; BOUNDS.len()],
    /// The count of all durations, including those above the last bound.
    pub(crate) count: u64,
    /// The sum of all durations in seconds.
    pub(crate) sum: f64,
}

impl Histogram {
    pub(crate) fn add(&mut self, took: Duration) {
        let seconds = took.as_secs_f64();
        if let Some((bucket, _)) = self.buckets.iter_mut().zip(BOUNDS).find(|(_, bound)| seconds <= *bound) {
            *bucket += 1;
        }
        self.count += 1;
        self.sum += seconds;
    }

    /// Each bound, with the number of durations that do not exceed it.
    pub(crate) fn cumulative(&self) -> impl Iterator<Item = (f64, u64)> {
        let mut total = 0;
        BOUNDS.into_iter().zip(self.buckets).map(move |(bound, count)| {
            total += count;
            (bound, total)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bucket_has_the_durations_up_to_its_bound() {
        let mut histogram = Histogram::default();
        for milliseconds in [0, 10, 11, 300_000, 300_001] {
            histogram.add(Duration::from_millis(milliseconds));
        }
        let counts: Vec<u64> = histogram.cumulative().map(|(_, count)| count).collect();
        assert_eq!((counts[0], counts[1], counts[13], histogram.count), (2, 3, 4, 5));
        assert!(counts.is_sorted());
    }
}
