//! The values of limits: durations, sizes and counts, and how each is read, written and compared.

use std::time::Duration;

use bytesize::ByteSize;
use serde::{Deserialize, Deserializer, de};
use serde_json::Value;

use crate::{MAX_DURATION, parse_duration};

/// What a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitKind {
    /// Time, written with a unit (`"30s"`); as a number, nanoseconds.
    Duration,
    /// Bytes, written with a unit (`"64MiB"`) or as a number.
    Size,
    /// A count.
    Count,
}

impl LimitKind {
    /// The allowed values for a limit of this kind.
    pub fn range(self) -> String {
        match self {
            Self::Duration => format!("a duration of at most {}", humantime::format_duration(MAX_DURATION)),
            Self::Size => "a size".to_owned(),
            Self::Count => "a whole number".to_owned(),
        }
    }

    /// A number of this kind, as people read it.
    pub fn text(self, number: u64) -> String {
        match self {
            Self::Duration => humantime::format_duration(Duration::from_nanos(number)).to_string(),
            Self::Size => ByteSize::b(number).display().iec().to_string(),
            Self::Count => number.to_string(),
        }
    }
}

/// A type that a limit can have. Its numbers keep its order.
pub(crate) trait LimitValue: Sized + Copy {
    const KIND: LimitKind;

    fn number(self) -> u64;
    fn from_number(number: u64) -> Self;
    fn to_json(self) -> Value;
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error>;
}

impl LimitValue for Duration {
    const KIND: LimitKind = LimitKind::Duration;

    fn number(self) -> u64 {
        u64::try_from(self.as_nanos()).unwrap_or(u64::MAX)
    }

    fn from_number(number: u64) -> Self {
        Self::from_nanos(number)
    }

    fn to_json(self) -> Value {
        humantime::format_duration(self).to_string().into()
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        text.map(|text| parse_duration(&text).map_err(de::Error::custom)).transpose()
    }
}

impl LimitValue for ByteSize {
    const KIND: LimitKind = LimitKind::Size;

    fn number(self) -> u64 {
        self.as_u64()
    }

    fn from_number(number: u64) -> Self {
        Self::b(number)
    }

    fn to_json(self) -> Value {
        self.as_u64().into()
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error> {
        Option::deserialize(deserializer)
    }
}

impl LimitValue for u64 {
    const KIND: LimitKind = LimitKind::Count;

    fn number(self) -> u64 {
        self
    }

    fn from_number(number: u64) -> Self {
        number
    }

    fn to_json(self) -> Value {
        self.into()
    }

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Self>, D::Error> {
        Option::deserialize(deserializer)
    }
}

/// Reads a limit that may be missing: durations and sizes are texts with a unit, counts are
/// numbers.
pub(crate) fn optional<'de, D: Deserializer<'de>, T: LimitValue>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::read(deserializer)
}
