//! The meaning of the numbers in the file.

use belljar_model::{Effect, Verdict};
use rusqlite::{Row, types::Type};

use crate::entry::{Assumption, CallState};

/// The number that stands for an effect in the file.
pub(super) fn number_of(effect: Effect) -> i64 {
    match effect {
        Effect::ReadOnly => 0,
        Effect::Mutating => 1,
        Effect::External => 2,
    }
}

/// The flag of an effect among those of a run.
pub(super) fn flag_of(effect: Effect) -> i64 {
    1 << number_of(effect)
}

/// The number that stands for a call's state.
pub(super) fn state(state: CallState) -> i64 {
    match state {
        CallState::Sent => 0,
        CallState::Ok => 1,
        CallState::ToolError => 2,
        CallState::Fault => 3,
        CallState::Denied => 4,
        CallState::AssumedDone => 5,
        CallState::AssumedFailed => 6,
    }
}

/// The number that stands for an assumption.
pub(super) fn number_of_assumption(assumed: Assumption) -> i64 {
    match assumed {
        Assumption::Failed => 0,
        Assumption::Done => 1,
    }
}

pub(super) fn assumption(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Assumption>> {
    match row.get::<_, Option<i64>>(column)? {
        None => Ok(None),
        Some(0) => Ok(Some(Assumption::Failed)),
        Some(1) => Ok(Some(Assumption::Done)),
        Some(_) => Err(senseless(column, "an assumption")),
    }
}

/// The number that stands for a verdict.
pub(super) fn verdict(verdict: Verdict) -> i64 {
    match verdict {
        Verdict::Allow => 0,
        Verdict::Ask => 1,
        Verdict::Deny => 2,
    }
}

pub(super) fn verdict_at(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Verdict>> {
    let Some(number) = row.get::<_, Option<i64>>(column)? else { return Ok(None) };
    let known = Verdict::ALL.into_iter().find(|known| verdict(*known) == number);
    known.map(Some).ok_or_else(|| senseless(column, "a verdict"))
}

pub(super) fn effect(row: &Row<'_>, column: usize) -> rusqlite::Result<Effect> {
    let number: i64 = row.get(column)?;
    Effect::ALL.into_iter().find(|effect| number_of(*effect) == number).ok_or_else(|| senseless(column, "an effect"))
}

/// A number that cannot be negative. (Numbers beyond the signed range are never written.)
pub(super) fn unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<u64>> {
    let number: Option<i64> = row.get(column)?;
    number.map(|number| u64::try_from(number).map_err(|_| senseless(column, "a number"))).transpose()
}

pub(super) fn senseless(column: usize, what: &str) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Null, format!("it is not {what} that is known").into())
}
