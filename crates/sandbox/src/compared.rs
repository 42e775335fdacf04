//! Compares a finished replay with its recording.

use belljar_model::{ErrorKind, LimitHit, LimitName, Outcome, RunError};
use belljar_recording::{Cause, End};

use crate::{Divergence, ReplayError, divergence::other_part, failure, replay::Replay};

/// The outcome of a replay, if it equals the recorded one. It is as the script ended, without
/// remarks. `overdue` is the time limit that the replay itself met. `of_limit` makes the error of a
/// run that was ended by a time limit.
///
/// # Errors
/// [`ReplayError`]: the first difference, or a time limit that the replay met.
pub fn compared(
    mut outcome: Outcome,
    overdue: Option<LimitHit>,
    mut replay: Replay,
    (end, is_exact): (&End<'_>, bool),
    of_limit: impl FnOnce(LimitHit, &Outcome) -> RunError,
) -> Result<Outcome, ReplayError> {
    let diverged = |divergence| Err(ReplayError::Diverged(divergence));
    if let Some(divergence) = replay.divergence() {
        return diverged(divergence);
    }
    if let Some(hit) = overdue {
        return Err(ReplayError::Time(hit));
    }
    if let Some(divergence) = replay.left_over() {
        return diverged(divergence);
    }
    let ended_here = replay.is_at_end || outcome.result.as_ref().is_err_and(|error| error.kind == ErrorKind::Fuel);
    match end.cause {
        Cause::Script => {}
        _ if !ended_here => {
            return diverged(Divergence::new("the recorded run was ended from outside, and the replay was not"));
        }
        Cause::Time { limit, max, used } => {
            let error = of_limit(time_limit(limit, max, used)?, &outcome);
            outcome.result = Err(match &outcome.result {
                Err(here) => failure::seen_where(error, here),
                Ok(_) => error,
            });
        }
        Cause::Cancelled => outcome.result = Err(failure::cancelled()),
        Cause::Rested(_) => outcome.result = Err(failure::put_aside()),
    }
    if let Some(divergence) = replay.not_taken().filter(|_| is_exact) {
        return diverged(divergence);
    }
    if let Some(part) = other_part(&outcome, &end.digests) {
        let is_or_are = if part == "result" { "is" } else { "are" };
        let divergence = format!("the {part} of the run {is_or_are} not what was recorded");
        return diverged(Divergence::found(divergence, Some(outcome)));
    }
    let fuel = outcome.usage.fuel.unwrap_or_default();
    if is_exact && fuel != end.fuel {
        return diverged(Divergence::new(format!("the recorded run used {} fuel, the replay {fuel}", end.fuel)));
    }
    Ok(outcome)
}

/// The time limit that a recording names.
fn time_limit(name: &str, max: u64, used: u64) -> Result<LimitHit, ReplayError> {
    let of_time = |limit: &LimitName| matches!(limit, LimitName::Timeout | LimitName::Compute | LimitName::Wait);
    let known = LimitName::from_name(name).filter(of_time);
    let unknown = || ReplayError::Diverged(Divergence::new("the recorded run was ended by an unknown limit"));
    Ok(LimitHit { name: known.ok_or_else(unknown)?, max, used })
}
