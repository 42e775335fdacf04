//! The answer to `execute_code`: text and images for the model, `structuredContent` for programs,
//! and nothing large twice.
//!
//! `belljar run --json` and the daemon return a whole outcome; here it is shortened for clients
//! that show it to their model.

use belljar_daemon::requests::Told;
use belljar_gateway::report;
use belljar_model::{ByteSize, Media, Outcome, RequestFailure, display};
use rmcp::{
    ErrorData,
    model::{CallToolResponse, CallToolResult, ContentBlock},
};
use serde_json::{Map, Value, json};

use crate::failure::Failure;

/// Bytes of a value, or of all logs, that `structuredContent` repeats. Larger ones are only in the
/// text.
const REPEATED_BYTES: usize = 4 * 1024;
/// Calls that are listed one by one. More are combined by tool.
const LISTED_CALLS: usize = 20;
/// Tools with combined calls; the total number of calls is in `usage`.
const LISTED_TOOLS: usize = 40;

/// The client's result for a backend's answer.
pub(super) fn of(answer: Result<Told, Failure>) -> CallToolResult {
    let told = answer.and_then(|told| {
        let structured: Value = serde_json::from_str(told.answer.get())
            .map_err(|error| Failure::internal(format!("the answer cannot be understood: {error}")))?;
        Ok((told.text, told.media, structured))
    });
    match told {
        // An answer to a search has no 'ok', and is not a failure.
        Ok((text, media, structured)) => of_outcome(text, media, structured),
        Err(failure) => {
            let (message, hint) = failure.told();
            let message = display::block(&message, "  ");
            let hint = hint.map(|hint| format!("\nhint: {}", display::block(&hint, "  ")));
            CallToolResult::error(vec![ContentBlock::text(format!("{message}{}", hint.unwrap_or_default()))])
        }
    }
}

/// Why a request was not answered as its client wanted, if it was not, for its span.
pub(super) fn failure(result: &Result<CallToolResponse, ErrorData>) -> Option<RequestFailure> {
    match result {
        Err(error) => Some(RequestFailure::Code(error.code.0)),
        Ok(CallToolResponse::Complete(result)) => failure_of(result),
        Ok(_) => None,
    }
}

/// The same for a result.
pub(super) fn failure_of(result: &CallToolResult) -> Option<RequestFailure> {
    let kind = || {
        let error = result.structured_content.as_ref()?.get("error")?;
        serde_json::from_value(error.get("kind")?.clone()).ok()
    };
    (result.is_error == Some(true)).then(|| RequestFailure::Tool(kind()))
}

/// An outcome as a result.
pub(super) fn told(mut outcome: Outcome) -> CallToolResult {
    let (report, media) = (report(&outcome), std::mem::take(&mut outcome.media));
    match serde_json::to_value(outcome) {
        Ok(outcome) => of_outcome(report, media, outcome),
        Err(error) => refused(&format!("the outcome has no JSON text: {error}")),
    }
}

/// A failure that the model is to read and fix.
pub(super) fn refused(message: &str) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(display::block(message, "  "))])
}

/// The client's result for an outcome: its report, its images, and the outcome itself.
fn of_outcome(report: String, media: Vec<Media>, mut outcome: Value) -> CallToolResult {
    let mut content = vec![ContentBlock::text(report)];
    content.extend(blocks(media));
    if let Some(error) = outcome.get_mut("error").and_then(Value::as_object_mut) {
        // The message has both parts.
        error.remove("thrown");
    }
    let has_failed = outcome.get("ok") == Some(&Value::Bool(false));
    if let Some(outcome) = outcome.as_object_mut() {
        shorten(outcome);
    }
    let mut result = if has_failed { CallToolResult::error(content) } else { CallToolResult::success(content) };
    result.structured_content = Some(outcome);
    result
}

/// A script's media, as the client shows them.
fn blocks(media: Vec<Media>) -> impl Iterator<Item = ContentBlock> {
    media.into_iter().filter_map(|media| match serde_json::from_value(media.into_block()) {
        Ok(block) => Some(block),
        Err(error) => {
            tracing::warn!(%error, "something that a script returned is not a content block, and is left out of the answer");
            None
        }
    })
}

fn shorten(outcome: &mut Map<String, Value>) {
    if let Some(value) = outcome.get_mut("value")
        && let Some(size) = large(value)
    {
        *value = Value::String(format!("[{size}: in the text of content]"));
    }
    if let Some(logs) = outcome.get_mut("logs")
        && let Some(size) = large(logs)
    {
        let entries = logs.as_array().map_or(0, Vec::len);
        *logs = json!([{ "level": "info", "text": format!("[{entries} entries, {size}: in the text of content]") }]);
    }
    if let Some(Value::Array(calls)) = outcome.get_mut("calls")
        && calls.len() > LISTED_CALLS
    {
        *calls = by_tool(calls);
    }
}

/// The size above which something is not repeated.
fn large(value: &Value) -> Option<String> {
    let bytes = value.to_string().len();
    (bytes > REPEATED_BYTES).then(|| ByteSize::b(bytes as u64).display().iec().to_string())
}

/// Calls of one tool that ended alike, as one: how many there were, their total time, and the first
/// error.
fn by_tool(calls: &[Value]) -> Vec<Value> {
    const ALIKE: [&str; 4] = ["server", "tool", "effect", "ok"];
    let mut groups: Vec<Map<String, Value>> = Vec::new();
    for call in calls.iter().filter_map(Value::as_object) {
        let same = |group: &&mut Map<String, Value>| ALIKE.iter().all(|name| group.get(*name) == call.get(*name));
        if let Some(group) = groups.iter_mut().find(same) {
            let ms = |call: &Map<String, Value>| call.get("ms").and_then(Value::as_f64).unwrap_or_default();
            let sum = ((ms(group) + ms(call)) * 1e3).round() / 1e3;
            let count = group.get("count").and_then(Value::as_u64).unwrap_or(1) + 1;
            group.insert("ms".to_owned(), json!(sum));
            group.insert("count".to_owned(), json!(count));
        } else if groups.len() < LISTED_TOOLS {
            groups.push(call.clone());
        }
    }
    groups.into_iter().map(Value::Object).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(value: Value, logs: usize, calls: usize) -> Value {
        let call = |number: usize| match number % 3 {
            0 => {
                json!({ "server": "fs", "tool": "write", "effect": "mutating", "ok": false, "ms": 0.5, "error": format!("e{number}") })
            }
            _ => json!({ "server": "fs", "tool": "read", "effect": "read_only", "ok": true, "ms": 0.25 }),
        };
        json!({
            "ok": true,
            "value": value,
            "logs": vec![json!({ "level": "log", "text": "x".repeat(90) }); logs],
            "calls": (0..calls).map(call).collect::<Vec<_>>(),
        })
    }

    fn structured(outcome: &Value) -> Value {
        of_outcome("report".to_owned(), Vec::new(), outcome.clone()).structured_content.expect("an outcome")
    }

    #[test]
    fn what_is_small_is_whole_for_programs_too() {
        let small = outcome(json!({ "a": 1 }), 3, LISTED_CALLS);
        assert_eq!(structured(&small), small);
    }

    #[test]
    fn what_is_large_is_in_the_text_alone() {
        let large = structured(&outcome(json!("x".repeat(5_000)), 100, 0));
        assert_eq!(large["value"], "[4.9 KiB: in the text of content]");
        assert_eq!(large["logs"][0]["text"], "[100 entries, 11.3 KiB: in the text of content]");
    }

    #[test]
    fn many_calls_are_put_together_by_tool_and_end() {
        let many = structured(&outcome(json!(1), 0, 300));
        assert_eq!(
            many["calls"],
            json!([
                { "server": "fs", "tool": "write", "effect": "mutating", "ok": false, "ms": 50.0, "error": "e0", "count": 100 },
                { "server": "fs", "tool": "read", "effect": "read_only", "ok": true, "ms": 50.0, "count": 200 },
            ])
        );
    }
}
