//! Converts a `CallToolResult`, which a child wrote.

#[cfg(any(test, fuzzing))]
#[cfg_attr(test, allow(unreachable_pub, reason = "public for the fuzzer alone"))]
pub mod fuzzing;

mod filtered;
mod python;

pub(crate) use filtered::{large_blocks, scripts_value, with_filtered, with_parts};
pub(crate) use python::{Written, may_be_written_so, written};
use serde_json::Value;

/// The value that a script gets from a `CallToolResult`.
pub(crate) fn value(raw: &Value) -> Value {
    if let Some(structured) = raw.get("structuredContent").filter(|structured| !structured.is_null()) {
        return structured.clone();
    }
    let Some(text) = text(raw) else { return raw.get("content").cloned().unwrap_or(Value::Null) };
    if text.trim_start().starts_with(['{', '['])
        && let Ok(parsed) = serde_json::from_str(&text)
    {
        return parsed;
    }
    Value::String(text)
}

/// The texts of all content blocks, if all of them are text.
pub(crate) fn text(raw: &Value) -> Option<String> {
    let blocks = raw.get("content")?.as_array().filter(|blocks| !blocks.is_empty())?;
    let texts: Option<Vec<&str>> = blocks.iter().map(|block| block.get("text").and_then(Value::as_str)).collect();
    texts.map(|texts| texts.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_call_returns_what_a_programmer_wants() {
        let text = |text: &str| json!({ "content": [{ "type": "text", "text": text }] });
        assert_eq!(value(&json!({ "content": [], "structuredContent": { "a": 1 } })), json!({ "a": 1 }));
        assert_eq!(value(&text("[1, 2]")), json!([1, 2]));
        assert_eq!(value(&text("[not json")), json!("[not json"));
        assert_eq!(value(&text("42")), json!("42"));
        let image = json!({ "content": [{ "type": "image", "data": "x" }] });
        assert_eq!(value(&image), image["content"]);
    }
}
