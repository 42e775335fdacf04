//! Numbers, compared exactly: rounding must never decide whether a limit is exceeded.

use std::{cmp::Ordering, fmt};

/// A number from JSON or TOML.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    Whole(i128),
    Float(f64),
}

impl Number {
    pub(crate) fn of(number: &serde_json::Number) -> Option<Self> {
        if let Some(whole) = number.as_i64() {
            return Some(Self::Whole(whole.into()));
        }
        match number.as_u64() {
            Some(whole) => Some(Self::Whole(whole.into())),
            None => number.as_f64().filter(|float| float.is_finite()).map(Self::Float),
        }
    }

    /// The order of the two values. Both are finite.
    pub(crate) fn compare(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Whole(one), Self::Whole(other)) => one.cmp(&other),
            (Self::Float(one), Self::Float(other)) => one.partial_cmp(&other).unwrap_or(Ordering::Equal),
            (Self::Whole(one), Self::Float(other)) => whole_and_float(one, other),
            (Self::Float(one), Self::Whole(other)) => whole_and_float(other, one).reverse(),
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the float was just seen to be a whole number that fits")]
fn whole_and_float(whole: i128, float: f64) -> Ordering {
    /// Larger than every integer that is compared, since those have 64 bits.
    const BEYOND: f64 = 1e30;
    if float >= BEYOND {
        return Ordering::Less;
    }
    if float <= -BEYOND {
        return Ordering::Greater;
    }
    let floor = float.floor();
    whole.cmp(&(floor as i128)).then(if float > floor { Ordering::Less } else { Ordering::Equal })
}

impl fmt::Display for Number {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(whole) => whole.fmt(formatter),
            Self::Float(float) => float.fmt(formatter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_not_passed_by_rounding() {
        let json = |text: &str| Number::of(&serde_json::from_str(text).expect("a number")).expect("finite");
        for (one, other, expected) in [
            ("9007199254740993", "9007199254740992.0", Ordering::Greater),
            ("9007199254740992", "9007199254740992.0", Ordering::Equal),
            ("100", "100.00000000000001", Ordering::Less),
            ("-1", "-1.5", Ordering::Greater),
            ("-2", "-1.5", Ordering::Less),
            ("18446744073709551615", "1e300", Ordering::Less),
            ("-9223372036854775808", "-1e300", Ordering::Greater),
            ("100", "1e2", Ordering::Equal),
            ("0", "-0.0", Ordering::Equal),
        ] {
            assert_eq!(json(one).compare(json(other)), expected, "{one} {other}");
            assert_eq!(json(other).compare(json(one)), expected.reverse(), "{other} {one}");
        }
    }
}
