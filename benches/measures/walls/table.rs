//! What the measures print.

use std::time::Duration;

/// Times of many rounds, sorted.
pub(crate) struct Times(Vec<Duration>);

impl Times {
    pub(crate) fn new(mut times: Vec<Duration>) -> Self {
        times.sort();
        Self(times)
    }

    /// The time below which so many of a hundred are.
    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let last = self.0.len() - 1;
        self.0[(self.0.len() * percent / 100).min(last)]
    }
}

/// Prints the head of a table of times.
pub(crate) fn head(title: &str) {
    println!("{title}");
    println!("{:44} {:>7} {:>10} {:>10} {:>10}", "", "rounds", "p50 ms", "p99 ms", "worst ms");
}

/// Prints a row of a table of times.
pub(crate) fn row(what: &str, times: &Times) {
    let of = |percent| format!("{:.2}", times.percentile(percent).as_secs_f64() * 1e3);
    println!("{what:44} {:>7} {:>10} {:>10} {:>10}", times.0.len(), of(50), of(99), of(100));
}

/// Prints a line with a number.
pub(crate) fn line(what: &str, value: impl std::fmt::Display) {
    println!("{what:44} {value:>18}");
}

pub(crate) fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}
