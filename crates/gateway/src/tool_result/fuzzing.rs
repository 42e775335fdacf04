//! The fuzzed function and its invariant: `fuzz/` feeds it, and the test below replays its corpus.

use belljar_catalog::{Observed, Words};
use belljar_model::{JsonBounds, JsonText};
use serde_json::Value;

use super::{Written, text, value, written};

/// Any answer to `tools/call` gives a value whose shape can be kept.
pub fn tool_result(data: &[u8]) {
    let Ok(answer) = std::str::from_utf8(data) else { return };
    let Ok(raw) = JsonText::parse(answer.to_owned(), &JsonBounds::with_bytes(64 * 1024)) else { return };
    if let Written::Python(written) = written(&raw) {
        // The result is data for the caller, and a second pass changes nothing.
        assert!(matches!(super::written(&written), Written::Nothing));
        let made = written.to_value().map(|raw| value(&raw));
        assert!(made.is_ok_and(|value| value.is_array() || value.is_object()));
    }
    let Ok(raw) = raw.to_value() else { return };
    let value = value(&raw);
    match raw.get("structuredContent") {
        Some(structured) if !structured.is_null() => assert_eq!(&value, structured),
        _ => match text(&raw) {
            // JSON text is parsed, and any other text is kept unchanged.
            Some(text) => assert!(value == Value::String(text.clone()) || serde_json::from_str::<Value>(&text).is_ok()),
            None => assert_eq!(value, raw.get("content").cloned().unwrap_or_default()),
        },
    }
    let mut observed = Observed::default();
    observed.record(&value, &Words::default());
    assert_eq!(observed.calls(), 1);
    let _ = observed.checked();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_fuzzed_of_tool_results_holds_still() {
        crate::replay::replay("tool_result", tool_result);
    }
}
