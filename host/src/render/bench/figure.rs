//! Formats figures for people: three digits, a suitable unit, thousands separated.

use belljar_model::ByteSize;

/// A time in microseconds.
pub(super) fn microseconds(time: f64) -> String {
    match time {
        _ if time < 999.5 => format!("{} µs", digits(time)),
        _ if time < 999_500.0 => format!("{} ms", digits(time / 1e3)),
        _ => format!("{} s", digits(time / 1e6)),
    }
}

/// A time in milliseconds.
pub(super) fn milliseconds(time: f64) -> String {
    microseconds(time * 1e3)
}

/// A ratio.
pub(super) fn ratio(ratio: f64) -> String {
    format!("{ratio:.2} ×")
}

pub(super) fn bytes(bytes: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an amount of memory, to the byte")]
    let whole = bytes.max(0.0).round() as u64;
    ByteSize::b(whole).display().iec().to_string()
}

/// A whole number, with its thousands separated.
pub(super) fn count(number: impl Into<i128>) -> String {
    let number: i128 = number.into();
    let digits = number.unsigned_abs().to_string();
    let mut apart = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            apart.push(',');
        }
        apart.push(digit);
    }
    if number < 0 { format!("-{apart}") } else { apart }
}

/// A number of things.
pub(super) fn size(number: usize) -> String {
    count(i128::try_from(number).unwrap_or(i128::MAX))
}

/// A number rounded to a whole one.
pub(super) fn whole(number: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "far below 2^63")]
    let whole = number.round() as i64;
    count(whole)
}

/// Three digits.
fn digits(number: f64) -> String {
    match number {
        _ if number < 9.995 => format!("{number:.2}"),
        _ if number < 99.95 => format!("{number:.1}"),
        _ => format!("{number:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_has_three_digits_and_a_unit_that_fits() {
        let times = [0.5, 9.994, 9.996, 56.04, 99.96, 345.6, 999.6, 33_100.0, 999_400.0, 999_600.0, 50e6];
        let shown = [
            "0.50 µs", "9.99 µs", "10.0 µs", "56.0 µs", "100 µs", "346 µs", "1.00 ms", "33.1 ms", "999 ms", "1.00 s",
            "50.0 s",
        ];
        assert_eq!(times.map(microseconds), shown);
        assert_eq!(milliseconds(33.1), "33.1 ms");
        assert_eq!(
            [0, 7, 999, 1_000, 28_735, 1_234_567].map(|number: i64| count(number)),
            ["0", "7", "999", "1,000", "28,735", "1,234,567"]
        );
        assert_eq!(count(-1_000), "-1,000");
        assert_eq!(
            (bytes(117_965.0), ratio(1.0449), whole(18_399.6)),
            ("115.2 KiB".into(), "1.04 ×".into(), "18,400".into())
        );
    }
}
