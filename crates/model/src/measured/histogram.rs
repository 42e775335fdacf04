//! Times in a bounded space: a count for each of some nine hundred ranges.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};

/// How many ranges each power of two has: a range is at most a thirty-second of its values wide.
const PARTS: u64 = 32;
const PART_BITS: u32 = PARTS.trailing_zeros();
/// The longest time that is distinguished, in microseconds: 71 minutes.
const LONGEST: u64 = (1 << 32) - 1;
/// How many ranges there can be.
const RANGES: u64 = PARTS * (32 - PART_BITS as u64 + 1);

/// Counts of times by range. Two histograms can be added, and a quantile is at most 3.2 % above the
/// true one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Histogram {
    counts: BTreeMap<u16, u64>,
    max_us: u64,
}

impl Histogram {
    /// Counts a time.
    pub fn record(&mut self, time: Duration) {
        let microseconds = u64::try_from(time.as_micros()).unwrap_or(u64::MAX).min(LONGEST);
        self.max_us = self.max_us.max(microseconds);
        self.count(range_of(microseconds), 1);
    }

    /// Adds what was counted elsewhere. Ranges that cannot exist are left out.
    pub fn add(&mut self, other: &Self) {
        let known = other.counts.iter().filter(|(range, _)| u64::from(**range) < RANGES);
        known.for_each(|(range, count)| self.count(*range, *count));
        self.max_us = self.max_us.max(other.max_us.min(LONGEST));
    }

    /// How many times were counted.
    pub fn samples(&self) -> u64 {
        self.counts.values().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// The time that this many hundredths of all times do not exceed: the end of its range. `None`
    /// if nothing was counted.
    pub fn quantile(&self, hundredths: u8) -> Option<Duration> {
        let rank = u128::from(self.samples()) * u128::from(hundredths.min(100));
        let mut below = 0_u128;
        let reaches = |(_, count): &(&u16, &u64)| {
            below += u128::from(**count);
            below * 100 >= rank
        };
        let (range, _) = self.counts.iter().find(reaches)?;
        Some(Duration::from_micros(end_of(*range).min(self.max_us)))
    }

    /// The longest time.
    pub fn max(&self) -> Option<Duration> {
        (!self.counts.is_empty()).then(|| Duration::from_micros(self.max_us))
    }

    fn count(&mut self, range: u16, times: u64) {
        let count = self.counts.entry(range).or_default();
        *count = count.saturating_add(times);
    }
}

/// The range of a number of microseconds, which is at most [`LONGEST`].
fn range_of(microseconds: u64) -> u16 {
    let Some(power) = microseconds.checked_ilog2().filter(|power| *power > PART_BITS) else {
        return u16::try_from(microseconds).unwrap_or(u16::MAX);
    };
    let shift = power - PART_BITS;
    let range = u64::from(shift) * PARTS + (microseconds >> shift);
    u16::try_from(range).unwrap_or(u16::MAX)
}

/// The largest number of microseconds in a range.
fn end_of(range: u16) -> u64 {
    let range = u64::from(range).min(RANGES - 1);
    let shift = (range / PARTS).saturating_sub(1);
    let first_in_power = range - shift * PARTS;
    ((first_in_power + 1) << shift) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_is_in_one_range_whose_end_is_hardly_above_it() {
        let powers = (0..32).map(|bit| 1_u64 << bit).chain((0..=32).map(|bit| (1_u64 << bit) - 1));
        for microseconds in (0..200_000).chain(powers) {
            let range = range_of(microseconds);
            let end = end_of(range);
            assert!(u64::from(range) < RANGES && end >= microseconds, "{microseconds}: {range} ends at {end}");
            assert!((end - microseconds) * 1000 <= microseconds * 32, "{microseconds} is told as {end}");
            assert_eq!(range_of(end), range, "{microseconds}");
        }
        let ranges: Vec<u16> = (0..200_000).map(range_of).collect();
        assert!(ranges.windows(2).all(|pair| pair[1] - pair[0] <= 1), "no range is left out");
        assert_eq!(u64::from(range_of(LONGEST)), RANGES - 1);
    }

    #[test]
    fn quantiles_are_those_of_the_times_within_a_range() {
        let mut histogram = Histogram::default();
        assert_eq!((histogram.quantile(50), histogram.max(), histogram.samples()), (None, None, 0));
        for milliseconds in 1..=1_000 {
            histogram.record(Duration::from_millis(milliseconds));
        }
        for (hundredths, expected) in [(0, 1), (50, 500), (95, 950), (100, 1_000)] {
            let found = histogram.quantile(hundredths).expect("times");
            let expected = Duration::from_millis(expected);
            assert!(found >= expected && found <= expected.mul_f64(1.032), "{hundredths}: {found:?}");
        }
        assert_eq!(histogram.max(), Some(Duration::from_secs(1)));
        // If there is one time, it is every quantile.
        let mut one = Histogram::default();
        one.record(Duration::from_micros(1_234_567));
        assert_eq!([0, 50, 95, 100].map(|part| one.quantile(part)), [one.max(); 4]);
    }

    #[test]
    fn histograms_add_up_and_what_makes_no_sense_in_one_is_left_out() {
        let mut sum = Histogram::default();
        sum.record(Duration::from_millis(5));
        let foreign: Histogram =
            serde_json::from_str(r#"{"counts": {"3": 18446744073709551615, "60000": 4}, "max_us": 99999999999}"#)
                .expect("JSON");
        assert!(foreign.quantile(95).is_some(), "it cannot panic");
        sum.add(&foreign);
        sum.add(&foreign);
        assert_eq!((sum.counts.len(), sum.samples()), (2, u64::MAX));
        assert_eq!(sum.quantile(95), Some(Duration::from_micros(3)));
        sum.record(Duration::MAX);
        assert_eq!(sum.max(), Some(Duration::from_micros(LONGEST)));
        assert!(sum.counts.len() <= usize::try_from(RANGES).expect("small"));
    }
}
