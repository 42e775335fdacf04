//! The name of a run, which cannot be guessed.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::digits::{self, LENGTH};

/// The name of a run: `r_` and 64 random bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(u64);

impl RunId {
    /// The name made of these bits, which the caller draws at random.
    pub fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// Its bits.
    pub fn bits(self) -> u64 {
        self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("r_")?;
        digits::write(formatter, self.0)
    }
}

impl fmt::Debug for RunId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{self}")
    }
}

/// A text that is not the name of a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a run is named r_ and {LENGTH} digits and small letters, as belljar runs lists them")]
pub struct RunIdError;

impl FromStr for RunId {
    type Err = RunIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.strip_prefix("r_").and_then(digits::read).map(Self).ok_or(RunIdError)
    }
}

/// The beginning of the name of a run, or all of it, as a person types it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunIdStart {
    digits: usize,
    first: RunId,
    last: RunId,
}

impl RunIdStart {
    /// The run, if the name is complete.
    pub fn whole(&self) -> Option<RunId> {
        (self.digits == LENGTH).then_some(self.first)
    }

    /// The first and the last name with this prefix.
    pub fn bounds(&self) -> (RunId, RunId) {
        (self.first, self.last)
    }
}

impl FromStr for RunIdStart {
    type Err = RunIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.strip_prefix("r_").filter(|digits| (1..=LENGTH).contains(&digits.len())).ok_or(RunIdError)?;
        let whole = |fill: &str| format!("r_{digits}{}", fill.repeat(LENGTH - digits.len())).parse();
        Ok(Self { digits: digits.len(), first: whole("0")?, last: whole("z")? })
    }
}

impl fmt::Display for RunIdStart {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:.*}", self.digits + 2, self.first.to_string())
    }
}

impl Serialize for RunId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RunId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_of_a_name_stands_for_all_that_begin_so() {
        let whole = RunId::from_bits(0xdead_beef_0123_4567);
        let name = whole.to_string();
        for length in 3..=name.len() {
            let start: RunIdStart = name[..length].parse().expect("a beginning");
            let (first, last) = start.bounds();
            assert!(first <= whole && whole <= last, "{start}");
            // Their order is the same as signed numbers in a database.
            assert!(first.bits().cast_signed() <= last.bits().cast_signed(), "{start}");
            assert_eq!(start.to_string(), name[..length]);
            assert_eq!(start.whole(), (length == name.len()).then_some(whole));
        }
        for text in ["", "r_", "r", "dead", "r_g", "r_u", "r_0\0", "r_\u{e9}", "r_00000000000000"] {
            assert_eq!(text.parse::<RunIdStart>(), Err(RunIdError), "{text}");
        }
    }

    #[test]
    fn a_name_is_read_back_and_nothing_else_is_one() {
        for bits in [0, 1, 31, 32, u64::MAX, 0x0123_4567_89ab_cdef] {
            let id = RunId::from_bits(bits);
            assert_eq!(id.to_string().parse(), Ok(id));
            assert_eq!(id.to_string().len(), LENGTH + 2);
        }
        assert_eq!(RunId::from_bits(u64::MAX).to_string(), "r_fzzzzzzzzzzzz");
        for text in [
            "",
            "r_",
            "fzzzzzzzzzzzz",
            "r_gzzzzzzzzzzzz",
            "r_fzzzzzzzzzzzzz",
            "r_FZZZZZZZZZZZZ",
            "r_fzzzzzzzzzzz\u{e9}",
        ] {
            assert_eq!(text.parse::<RunId>(), Err(RunIdError), "{text}");
        }
    }
}
