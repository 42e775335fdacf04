//! A call's result and record, the same wherever it was made.

use std::time::{Duration, Instant};

use belljar_model::{CallRecord, JsonError, JsonText, says_error};

use crate::{AnswerStyle, CallError, GrantedTool};

/// Characters kept of a call's error in the outcome.
pub const MAX_ERROR: usize = 300;

/// The error of a call whose answer the guest never got.
pub(crate) const UNANSWERED: &str = "the run ended before the answer came; the call may have taken effect";

/// The result, if it is not too large.
pub(crate) fn bounded(result: JsonText, max_result: u64) -> Result<JsonText, CallError> {
    let used = result.as_str().len() as u64;
    if used <= max_result {
        return Ok(result);
    }
    Err(CallError::new(format!("the result has {used} bytes; the limit is {max_result}"))
        .with_hint("ask the tool for less: a page, a range or fewer fields"))
}

/// The record of a call; `None` for one that was never made. `answers` is the style of the tool's
/// answers.
pub(crate) fn record(
    tool: &GrantedTool,
    answers: AnswerStyle,
    result: &Result<JsonText, CallError>,
    begun: Instant,
) -> Option<CallRecord> {
    // A lock is not a tool, and taking it is not a call.
    if tool.path.is_lock() {
        return None;
    }
    let error = match result {
        Err(fault) if fault.is_refusal => return None,
        Err(fault) => Some(fault.message.chars().take(MAX_ERROR).collect()),
        Ok(result) if answers == AnswerStyle::ToolResult => reported_error(result),
        // A plain value says nothing about the call, whatever its members are called.
        Ok(_) => None,
    };
    Some(CallRecord {
        server: tool.path.server().to_owned(),
        tool: tool.path.tool().to_owned(),
        effect: tool.effect,
        ok: error.is_none(),
        ms: milliseconds(begun.elapsed()),
        error,
        verdict: None,
        rule: None,
    })
}

/// The first text of a result with `isError`.
fn reported_error(result: &JsonText) -> Option<String> {
    if !says_error(result) {
        return None;
    }
    let value = result.to_value().ok()?;
    let text = value.pointer("/content/0/text").and_then(serde_json::Value::as_str);
    Some(text.unwrap_or("the tool reported an error").chars().take(MAX_ERROR).collect())
}

pub(crate) fn panicked() -> CallError {
    CallError::new("the tool's code in the host panicked")
        .with_hint("this is a defect of the program that offers the tool: see its log")
}

pub(crate) fn arguments_error(fault: &JsonError) -> CallError {
    CallError::refused(format!("the arguments were not accepted: {fault}"))
}

/// Rounded to microseconds, which is the precision of the clocks.
pub fn milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e3
}

/// The record of a call whose answer the guest never got.
pub(crate) fn unanswered(tool: &GrantedTool, begun: Instant) -> CallRecord {
    CallRecord {
        server: tool.path.server().to_owned(),
        tool: tool.path.tool().to_owned(),
        effect: tool.effect,
        ok: false,
        ms: milliseconds(begun.elapsed()),
        error: Some(UNANSWERED.to_owned()),
        verdict: None,
        rule: None,
    }
}
