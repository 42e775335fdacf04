//! Numbers as decimal digits, and their rounding: exact, whatever their size.

use std::cmp::Ordering;

/// `0.DIGITS × 10^point`, without zeros at either end. Zero has no digits.
#[derive(Debug, Clone)]
pub struct Decimal {
    pub is_negative: bool,
    digits: Vec<u8>,
    pub point: i32,
}

/// How a number is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Ceil,
    Floor,
    Expand,
    Trunc,
    HalfCeil,
    HalfFloor,
    HalfExpand,
    HalfTrunc,
    HalfEven,
}

/// Digits before and after the point that a text may spell out beyond those that it has.
const MAX_EXPONENT: i32 = 1_000;

impl Decimal {
    /// The shortest digits that mean this number. It must be finite.
    pub fn of(number: f64) -> Self {
        let mut decimal = Self::parse(&format!("{:e}", number.abs())).unwrap_or(Self::zero());
        decimal.is_negative = number.is_sign_negative();
        decimal
    }

    fn zero() -> Self {
        Self { is_negative: false, digits: Vec::new(), point: 0 }
    }

    /// Reads `-12.5e3`. What is no such text, or is out of all proportion, is none.
    pub fn parse(text: &str) -> Option<Self> {
        let (is_negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let are_digits = whole.bytes().chain(fraction.bytes()).all(|digit| digit.is_ascii_digit());
        if !are_digits || (whole.is_empty() && fraction.is_empty()) || exponent.abs() > MAX_EXPONENT {
            return None;
        }
        let digits = whole.bytes().chain(fraction.bytes()).map(|digit| digit - b'0').collect();
        let point = i32::try_from(whole.len()).ok()?.checked_add(exponent)?;
        let mut decimal = Self { is_negative, digits, point };
        decimal.tidy();
        Some(decimal)
    }

    fn tidy(&mut self) {
        while self.digits.last() == Some(&0) {
            self.digits.pop();
        }
        let zeros = self.digits.iter().take_while(|digit| **digit == 0).count();
        self.digits.drain(..zeros);
        self.point -= i32::try_from(zeros).unwrap_or(0);
        if self.digits.is_empty() {
            self.point = 0;
        }
    }

    pub fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    /// The power of ten of the first digit.
    pub fn magnitude(&self) -> i32 {
        if self.is_zero() { 0 } else { self.point - 1 }
    }

    /// Times a power of ten.
    pub fn shifted(mut self, by: i32) -> Self {
        if !self.is_zero() {
            self.point += by;
        }
        self
    }

    /// Rounded to so many digits after the point.
    pub fn to_fraction(&self, digits: usize, mode: Mode) -> Self {
        self.cut(i64::from(self.point) + digits as i64, mode)
    }

    /// Rounded to so many digits in all.
    pub fn to_significant(&self, digits: usize, mode: Mode) -> Self {
        self.cut(digits as i64, mode)
    }

    fn cut(&self, keep: i64, mode: Mode) -> Self {
        if keep >= self.digits.len() as i64 {
            return self.clone();
        }
        let kept = usize::try_from(keep).unwrap_or(0);
        let rest = if keep < 0 { &[][..] } else { self.digits.get(kept..).unwrap_or_default() };
        let half = match rest {
            // All of it is below the last place, and less than half of that.
            [] => Ordering::Less,
            [5] => Ordering::Equal,
            [first, ..] => first.cmp(&5).then(Ordering::Greater),
        };
        let is_odd = kept > 0 && self.digits.get(kept - 1).is_some_and(|digit| digit % 2 == 1);
        let up = match mode {
            Mode::Expand => true,
            Mode::Trunc => false,
            Mode::Ceil => !self.is_negative,
            Mode::Floor => self.is_negative,
            Mode::HalfExpand => half.is_ge(),
            Mode::HalfTrunc => half.is_gt(),
            Mode::HalfCeil => half.is_gt() || (half.is_eq() && !self.is_negative),
            Mode::HalfFloor => half.is_gt() || (half.is_eq() && self.is_negative),
            Mode::HalfEven => half.is_gt() || (half.is_eq() && is_odd),
        };
        let mut cut = Self {
            is_negative: self.is_negative,
            digits: self.digits.get(..kept).unwrap_or_default().to_vec(),
            point: self.point,
        };
        if up {
            cut.increment(keep);
        }
        cut.tidy();
        cut
    }

    /// One more in the last place kept.
    fn increment(&mut self, keep: i64) {
        for digit in self.digits.iter_mut().rev() {
            if *digit < 9 {
                *digit += 1;
                return;
            }
            *digit = 0;
        }
        // 999 became 1000, or nothing was kept: a one in the place before.
        self.digits.insert(0, 1);
        self.point += 1 - i32::try_from(keep.min(0)).unwrap_or(0);
    }

    /// The digits before and after the point, with zeros up to these counts.
    pub fn written(&self, least_whole: usize, least_fraction: usize) -> (String, String) {
        let point = self.point;
        let digit = |place: i32| {
            let index = usize::try_from(point - 1 - place).ok();
            index.and_then(|index| self.digits.get(index)).map_or('0', |digit| char::from(b'0' + digit))
        };
        let whole = usize::try_from(point).unwrap_or(0).max(least_whole);
        let fraction = self.digits.len() as i64 - i64::from(point);
        let fraction = usize::try_from(fraction).unwrap_or(0).max(least_fraction);
        let place = |count: usize| i32::try_from(count).unwrap_or(0);
        let mut text: String = (0..whole).rev().map(|count| digit(place(count))).collect();
        if text.is_empty() {
            text.push('0');
        }
        (text, (1..=fraction).map(|count| digit(-place(count))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::{Decimal, Mode};

    #[test]
    fn rounding_carries_over_and_starts_from_nothing() {
        for (number, digits, expected) in
            [(0.05, 1, "0.1"), (0.04, 1, "0."), (999.95, 1, "1000."), (0.5, 0, "1."), (0.005, 0, "0."), (1e-7, 2, "0.")]
        {
            let (whole, fraction) = Decimal::of(number).to_fraction(digits, Mode::HalfExpand).written(1, 0);
            assert_eq!(format!("{whole}.{fraction}"), expected, "{number}");
        }
        let (whole, fraction) = Decimal::of(0.001).to_fraction(1, Mode::Ceil).written(1, 0);
        assert_eq!(format!("{whole}.{fraction}"), "0.1");
    }
}
