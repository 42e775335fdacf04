//! The owner's targets for the figures of a server.

use std::{fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Serialize};

use super::{Histogram, Measures};

/// The owner's targets for one server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Targets {
    /// How long 95 of 100 starts may take.
    pub start: Option<Duration>,
    /// How long 95 of 100 first calls may take.
    pub first: Option<Duration>,
    /// How long 95 of 100 of all other calls may take.
    pub warm: Option<Duration>,
    /// What share of the calls may have no result.
    pub errors: Option<ErrorShare>,
}

impl Targets {
    /// The names used in configuration.
    pub const NAMES: [&str; 4] = ["start", "first", "warm", "errors"];

    /// How each target compares with what was measured.
    pub fn held_against(&self, measures: &Measures) -> Vec<TargetFigure> {
        let time = |name: &str, target: Option<Duration>, times: &Histogram| {
            let target = target?;
            let measured = times.quantile(95);
            Some(TargetFigure {
                name: name.to_owned(),
                unit: "ms".to_owned(),
                target: milliseconds(target),
                measured: measured.map(milliseconds),
                samples: times.samples(),
                met: measured.map(|measured| measured <= target),
            })
        };
        let errors = self.errors.map(|target| {
            let answered = measures.first_calls.samples().saturating_add(measures.warm_calls.samples());
            let calls = answered.saturating_add(measures.errors);
            let measured = (calls > 0).then(|| ErrorShare::of(measures.errors, calls));
            TargetFigure {
                name: "errors".to_owned(),
                unit: "%".to_owned(),
                target: target.percent(),
                measured: measured.map(ErrorShare::percent),
                samples: calls,
                met: measured.map(|measured| measured <= target),
            }
        });
        let times = [
            time("start", self.start, &measures.starts),
            time("first", self.first, &measures.first_calls),
            time("warm", self.warm, &measures.warm_calls),
        ];
        times.into_iter().flatten().chain(errors).collect()
    }
}

/// One target, and what was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetFigure {
    /// Its name in the configuration.
    pub name: String,
    /// `ms` or `%`.
    pub unit: String,
    /// The most that the owner wants.
    pub target: f64,
    /// The measured value: for times, the 95th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<f64>,
    /// How many starts or calls were measured.
    pub samples: u64,
    /// Whether the target is met; absent if nothing was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub met: Option<bool>,
}

/// A share of all calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ErrorShare {
    millionths: u32,
}

impl ErrorShare {
    const WHOLE: u32 = 1_000_000;

    /// The share of `some` in `all`, rounded up: one error among any number of calls is more than
    /// none.
    fn of(some: u64, all: u64) -> Self {
        let millionths = (u128::from(some) * u128::from(Self::WHOLE)).div_ceil(u128::from(all.max(1)));
        Self { millionths: u32::try_from(millionths).unwrap_or(Self::WHOLE).min(Self::WHOLE) }
    }

    fn percent(self) -> f64 {
        f64::from(self.millionths) / 10_000.0
    }
}

/// A text that is not a percentage.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it is not a percentage from 0% to 100%, such as \"1%\" or \"0.5%\"")]
pub struct NotAShare;

impl FromStr for ErrorShare {
    type Err = NotAShare;

    /// Digits, optionally a point with up to four more, and a percent sign.
    fn from_str(text: &str) -> Result<Self, NotAShare> {
        let number = text.trim().strip_suffix('%').ok_or(NotAShare)?.trim_end();
        let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
        let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !are_digits(whole) || !are_digits(part) || part.len() > 4 {
            return Err(NotAShare);
        }
        let (whole, part) = (whole.parse::<u32>(), format!("{part:0<4}").parse::<u32>());
        let millionths =
            whole.ok().zip(part.ok()).and_then(|(whole, part)| whole.checked_mul(10_000)?.checked_add(part));
        millionths
            .filter(|millionths| *millionths <= Self::WHOLE)
            .map(|millionths| Self { millionths })
            .ok_or(NotAShare)
    }
}

impl fmt::Display for ErrorShare {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}%", self.percent())
    }
}

/// A time in milliseconds, to a microsecond.
pub(super) fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1_000_000.0).round() / 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_read_as_it_is_written() {
        for (text, millionths) in
            [("0%", 0), ("1%", 10_000), ("0.5%", 5_000), (" 12.3456 %", 123_456), ("100%", 1_000_000)]
        {
            assert_eq!(text.parse(), Ok(ErrorShare { millionths }), "{text}");
        }
        assert_eq!("0.5%".parse::<ErrorShare>().expect("a share").to_string(), "0.5%");
        for wrong in ["", "%", "1", "1.%", ".5%", "-1%", "+1%", "101%", "100.0001%", "1.00001%", "1e1%", "99999999999%"]
        {
            assert_eq!(wrong.parse::<ErrorShare>(), Err(NotAShare), "{wrong}");
        }
    }

    #[test]
    fn a_target_is_met_missed_or_not_known() {
        let targets = Targets {
            start: Some(Duration::from_secs(2)),
            first: None,
            warm: Some(Duration::from_millis(100)),
            errors: Some("1%".parse().expect("a share")),
        };
        let mut measures = Measures { errors: 1, ..Measures::default() };
        for milliseconds in [20, 30, 140] {
            measures.warm_calls.record(Duration::from_millis(milliseconds));
        }
        let found = targets.held_against(&measures);
        let seen: Vec<_> = found.iter().map(|one| (one.name.as_str(), one.target, one.samples, one.met)).collect();
        assert_eq!(
            seen,
            [("start", 2000.0, 0, None), ("warm", 100.0, 3, Some(false)), ("errors", 1.0, 4, Some(false))]
        );
        assert_eq!(found.iter().map(|one| one.measured).collect::<Vec<_>>(), [None, Some(140.0), Some(25.0)]);
        let few = Measures { errors: 1, warm_calls: measures.warm_calls.clone(), ..Measures::default() };
        let generous = Targets { errors: Some("25%".parse().expect("a share")), ..Targets::default() };
        assert_eq!(generous.held_against(&few).first().and_then(|one| one.met), Some(true));
        assert!(Targets::default().held_against(&measures).is_empty());
    }
}
