//! The name of a question, as the owner types it.

use std::{fmt, str::FromStr};

use belljar_model::RunId;
use serde::{Serialize, Serializer};

/// The name of a question: `a_` and 64 random bits, written like those in the name of a run. It is
/// not a secret: nobody can decide anything just by knowing it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QuestionId(u64);

impl QuestionId {
    /// The name made of these bits, which the caller draws at random.
    pub fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// Its bits.
    pub fn bits(self) -> u64 {
        self.0
    }
}

impl fmt::Display for QuestionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = RunId::from_bits(self.0).to_string();
        write!(formatter, "a_{}", digits.strip_prefix("r_").unwrap_or(&digits))
    }
}

impl fmt::Debug for QuestionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{self}")
    }
}

/// The text is not the name of a question.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a question is named a_ and 13 digits and small letters, as belljar approvals lists them")]
pub struct QuestionIdError;

impl FromStr for QuestionId {
    type Err = QuestionIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.strip_prefix("a_").ok_or(QuestionIdError)?;
        let bits: RunId = format!("r_{digits}").parse().map_err(|_| QuestionIdError)?;
        Ok(Self(bits.bits()))
    }
}

impl Serialize for QuestionId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_back_and_that_of_a_run_is_none() {
        for bits in [0, 1, 0x0123_4567_89ab_cdef, u64::MAX] {
            let id = QuestionId::from_bits(bits);
            assert_eq!(id.to_string().parse(), Ok(id));
        }
        for text in ["", "a_", "r_fzzzzzzzzzzzz", "a_r_fzzzzzzzzzzzz", "a_gzzzzzzzzzzzz"] {
            assert_eq!(text.parse::<QuestionId>(), Err(QuestionIdError), "{text}");
        }
    }
}
