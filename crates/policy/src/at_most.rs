//! How many calls a rule lets through: `at_most = "20/run"`.

use std::{fmt, str::FromStr, time::Duration};

/// A number of calls per period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AtMost {
    /// The most calls.
    pub calls: u32,
    /// The period.
    pub per: Period,
}

/// The period in which calls are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Period {
    /// One run.
    Run,
    /// The last minute, counting all runs of a principal.
    Minute,
    /// The last hour, likewise.
    Hour,
    /// The last 24 hours, likewise.
    Day,
}

impl Period {
    const ALL: [Self; 4] = [Self::Run, Self::Minute, Self::Hour, Self::Day];

    fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Minute => "minute",
            Self::Hour => "hour",
            Self::Day => "day",
        }
    }

    /// How long it is; `None` for a run.
    pub fn duration(self) -> Option<Duration> {
        match self {
            Self::Run => None,
            Self::Minute => Some(Duration::from_secs(60)),
            Self::Hour => Some(Duration::from_secs(60 * 60)),
            Self::Day => Some(Duration::from_secs(24 * 60 * 60)),
        }
    }
}

impl fmt::Display for AtMost {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.calls, self.per.as_str())
    }
}

impl FromStr for AtMost {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (calls, per) = text.split_once('/').ok_or(())?;
        let calls = calls.trim().parse().ok().filter(|calls| *calls > 0).ok_or(())?;
        let per = Period::ALL.into_iter().find(|period| period.as_str() == per.trim()).ok_or(())?;
        Ok(Self { calls, per })
    }
}
