//! Prints the measurements.

use belljar_measures::Times;

/// Prints the head of a table of times.
pub(crate) fn head(title: &str) {
    println!("{title}");
    println!("{:44} {:>7} {:>10} {:>10} {:>10}", "", "rounds", "p50 ms", "p99 ms", "worst ms");
}

/// Prints a row of a table of times.
pub(crate) fn row(what: &str, times: &Times) {
    let of = |percent| format!("{:.2}", times.percentile(percent).as_secs_f64() * 1e3);
    println!("{what:44} {:>7} {:>10} {:>10} {:>10}", times.rounds(), of(50), of(99), of(100));
}

/// Prints a line with a number.
pub(crate) fn line(what: &str, value: impl std::fmt::Display) {
    println!("{what:44} {value:>18}");
}

pub(crate) fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}
