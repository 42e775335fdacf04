//! Before a script runs: the calls that it certainly makes are held against what the host knows of
//! the tools, so that a script that is sure to fail does so while nothing was called.

use std::fmt::Write as _;

use crate::{
    failure,
    glass::{Failure, FailureKind},
    globals,
    source::CertainCall,
};

/// Faults that are told of one script.
const MAX_FAULTS: usize = 10;
/// Characters of a line of the source that is shown.
const MAX_LINE: usize = 160;

/// Why a script that makes these calls is not run. The first fault has the failure's position and
/// hint, as it would have if the script had come to it; the others stand below it, each with its
/// own.
pub(crate) fn refuse(calls: &[CertainCall], source: &str) -> Option<Failure> {
    let fault = |call| Some((call, fault_of(call)?));
    let mut faults = calls.iter().filter_map(fault).take(MAX_FAULTS);
    let (first, (mut message, hint)) = faults.next()?;
    for (call, (other, hint)) in faults {
        let line = source.lines().nth(call.position.line.saturating_sub(1) as usize).unwrap_or_default();
        let line: String = line.trim().chars().take(MAX_LINE).collect();
        let (at, column) = (call.position.line, call.position.column);
        // Writing to a String cannot fail.
        let _ = write!(message, "\nalso at line {at}, column {column}: {other}\n> {at} | {line}");
        if let Some(hint) = hint {
            let _ = write!(message, "\nhint: {hint}");
        }
    }
    Some(Failure {
        line: Some(first.position.line),
        column: Some(first.position.column),
        hint,
        ..failure::plain(FailureKind::Plan, &message)
    })
}

fn fault_of(call: &CertainCall) -> Option<(String, Option<String>)> {
    let (message, hint) = globals::fault_of_call(&call.server, &call.tool, call.arguments.as_deref())?;
    Some((format!("TypeError: {message}"), hint))
}
