//! Results that are text in Python's notation, as servers written in Python print their rows. The
//! text becomes JSON, and is treated like any other JSON from then on.
//!
//! This is done before an answer enters the sandbox, and so before it is recorded: a replay sees
//! what the run saw.

use belljar_model::JsonText;
use belljar_notation::{may_be_python, python_to_json};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, json, value::RawValue};

/// Where a result says that belljar has converted its text, and from which notation.
const META: &str = "belljar/notation";

/// What a result's text says about how its tool writes data.
pub(crate) enum Written {
    /// In Python's notation; holds the result with JSON for its text.
    Python(JsonText),
    /// It begins like a list or a dict, and is neither JSON nor Python's notation.
    Neither,
    /// Nothing: it is JSON, or not data at all.
    Nothing,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Result<'raw> {
    #[serde(borrow)]
    content: Vec<Block<'raw>>,
    #[serde(borrow, default)]
    structured_content: Option<&'raw RawValue>,
    #[serde(default)]
    is_error: bool,
}

#[derive(Deserialize)]
struct Block<'raw> {
    #[serde(borrow, default)]
    text: Option<&'raw RawValue>,
}

/// Whether the whole result is worth examining, judging by what seems to be its first text.
pub(crate) fn may_be_written_so(raw: &JsonText) -> bool {
    let texts = raw.as_str().split("\"text\"").skip(1);
    // The word is also the type of the block.
    let mut values =
        texts.filter_map(|rest| rest.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')).take(1);
    values.any(|mut text| {
        while let Some(rest) = [" ", "\\n", "\\r", "\\t"].iter().find_map(|space| text.strip_prefix(space)) {
            text = rest;
        }
        may_be_python(text)
    })
}

/// Examines a `CallToolResult`, in time linear in its length.
pub(crate) fn written(raw: &JsonText) -> Written {
    let Some(text) = only_text(raw.as_str()).filter(|text| may_be_python(text)) else { return Written::Nothing };
    if serde_json::from_str::<IgnoredAny>(&text).is_ok() {
        return Written::Nothing;
    }
    let Ok(json) = python_to_json(&text) else { return Written::Neither };
    // Parentheses around one value do not make it a tuple.
    if !json.trim_start().starts_with(['[', '{']) {
        return Written::Nothing;
    }
    let Ok(Value::Object(mut result)) = raw.to_value() else { return Written::Nothing };
    let Some(Value::String(text)) = result.get_mut("content").and_then(|content| content.get_mut(0)?.get_mut("text"))
    else {
        return Written::Nothing;
    };
    *text = json;
    if let Value::Object(meta) = result.entry("_meta").or_insert_with(|| json!({})) {
        meta.insert(META.to_owned(), "python".into());
    }
    Written::Python(JsonText::from_value(&Value::Object(result)))
}

/// The text of a successful result that has only one.
fn only_text(raw: &str) -> Option<String> {
    let result: Result<'_> = serde_json::from_str(raw).ok()?;
    let is_structured = result.structured_content.is_some_and(|structured| structured.get() != "null");
    match &result.content[..] {
        [Block { text: Some(text) }] if !is_structured && !result.is_error => serde_json::from_str(text.get()).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With the type before the text, as servers write it.
    fn of_text(text: &str) -> JsonText {
        JsonText::from_value(&json!({ "content": [{ "type": "text", "text": text }] }))
    }

    #[track_caller]
    fn text_of(raw: &JsonText) -> String {
        assert!(may_be_written_so(raw), "{raw:?}");
        match written(raw) {
            Written::Python(result) => {
                let result = result.to_value().expect("JSON");
                assert_eq!(result["_meta"][META], "python");
                result["content"][0]["text"].as_str().expect("a text").to_owned()
            }
            _ => panic!("{raw:?}"),
        }
    }

    #[test]
    fn a_text_that_is_a_literal_of_python_becomes_json() {
        assert_eq!(text_of(&of_text("[{'a': None}]")), r#"[{"a":null}]"#);
        assert_eq!(text_of(&of_text("\n (1, 'x')")), r#"[1,"x"]"#);
        assert_eq!(text_of(&of_text("{'it': \"it's\"}")), r#"{"it":"it's"}"#);
    }

    #[test]
    fn json_and_words_stay_as_they_are() {
        for text in ["[]", "{}", "[1, 2]", r#"[{"a": null}]"#, "no rows", "", "'x'", "None", "(5)", "Error: [x]"] {
            assert!(matches!(written(&of_text(text)), Written::Nothing), "{text}");
        }
        for raw in [
            json!({ "content": [{ "type": "text", "text": "['a']" }], "isError": true }),
            json!({ "content": [{ "type": "text", "text": "['a']" }], "structuredContent": { "a": 1 } }),
            json!({ "content": [{ "type": "text", "text": "['a']" }, { "type": "text", "text": "['b']" }] }),
            json!({ "content": [{ "type": "image", "data": "x" }] }),
            json!({ "content": [] }),
            json!({}),
            json!([1]),
        ] {
            assert!(matches!(written(&JsonText::from_value(&raw)), Written::Nothing), "{raw}");
        }
    }

    #[test]
    fn what_begins_as_data_and_is_none_is_known_as_such() {
        for text in ["[INFO] started", "[{'at': datetime.date(2024, 1, 2)}]", "(see below)", "{'a': 1"] {
            assert!(matches!(written(&of_text(text)), Written::Neither), "{text}");
        }
    }
}
