//! What a `CallToolResult` says: whether the tool failed, and the value that a script gets from it.

use std::{borrow::Cow, fmt};

use memchr::memmem;
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::Value;

use crate::JsonText;

const MEMBER: &str = "\"isError\"";

/// Whether a `CallToolResult` says that the tool failed. No tree is built, since this is checked
/// for every call, and many servers write the member each time.
pub fn says_error(result: &JsonText) -> bool {
    let text = result.as_str();
    let is_denied = |at: usize| text.get(at + MEMBER.len()..).is_some_and(is_false);
    // If every occurrence is false, the member cannot be true.
    let is_said = !memmem::find_iter(text.as_bytes(), MEMBER).all(is_denied);
    is_said && serde_json::from_str::<Said>(text).is_ok_and(|Said(is_error)| is_error)
}

/// Whether a text continues with a member that is false.
fn is_false(rest: &str) -> bool {
    let value = rest.trim_ascii_start().strip_prefix(':').map(str::trim_ascii_start);
    value.is_some_and(|value| value.starts_with("false"))
}

/// The member of the object itself. If there are two, the last one counts, as in a parsed value.
struct Said(bool);

impl<'de> Deserialize<'de> for Said {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Said;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Said, A::Error> {
                let mut is_error = false;
                while let Some(Name(name)) = members.next_key()? {
                    if name == "isError" {
                        is_error = members.next_value::<Value>()? == Value::Bool(true);
                    } else {
                        members.next_value::<IgnoredAny>()?;
                    }
                }
                Ok(Said(is_error))
            }
        }

        deserializer.deserialize_map(Members)
    }
}

/// A name, which is borrowed where it has no escapes.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// The value that a script gets from a `CallToolResult`, read from its text. If there is structured
/// content, nothing else is read: the content blocks repeat it.
///
/// # Errors
/// As [`JsonText::to_value`].
pub fn result_value_in(raw: &JsonText) -> Result<Value, serde_json::Error> {
    #[derive(Deserialize)]
    struct Structured {
        #[serde(rename = "structuredContent", default)]
        content: Option<Value>,
    }
    // If it is not an object, or has the member twice, all of it is parsed.
    if raw.as_str().starts_with('{')
        && let Ok(Structured { content: Some(structured) }) = serde_json::from_str(raw.as_str())
    {
        return Ok(structured);
    }
    raw.to_value().map(|raw| result_value(&raw))
}

/// The value that a script gets from a `CallToolResult`.
pub fn result_value(raw: &Value) -> Value {
    if let Some(structured) = raw.get("structuredContent").filter(|structured| !structured.is_null()) {
        return structured.clone();
    }
    let Some(text) = result_text(raw) else { return raw.get("content").cloned().unwrap_or(Value::Null) };
    if text.trim_start().starts_with(['{', '['])
        && let Ok(parsed) = serde_json::from_str(&text)
    {
        return parsed;
    }
    Value::String(text)
}

/// The texts of all content blocks, if all of them are text.
pub fn result_text(raw: &Value) -> Option<String> {
    let blocks = raw.get("content")?.as_array().filter(|blocks| !blocks.is_empty())?;
    let texts: Option<Vec<&str>> = blocks.iter().map(|block| block.get("text").and_then(Value::as_str)).collect();
    texts.map(|texts| texts.join("\n"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::JsonBounds;

    #[test]
    fn only_a_member_of_the_result_itself_that_is_true_says_that_it_failed() {
        for (text, expected) in [
            (r#"{"isError":true}"#, true),
            ("{ \"content\": [], \"isError\" :\n\ttrue }", true),
            (r#"{"isError":false,"isError":true}"#, true),
            (r#"{"isError":true,"isError":false}"#, false),
            (r#"{"content":[{"isError":true}],"isError":false}"#, false),
            (r#"{"content":[{"isError":false}],"isError":true}"#, true),
            (r#"{"structuredContent":{"isError":true}}"#, false),
            (r#"{"content":[{"text":"\"isError\":true"}]}"#, false),
            (r#"{"content":["isError"],"x":true}"#, false),
            (r#"{"isError":"true"}"#, false),
            (r#"{"isError":1}"#, false),
            (r#"{"isError":null}"#, false),
            (r#"{"isError":{"isError":true}}"#, false),
            (r#"{"isError":false}"#, false),
            (r#"{}"#, false),
            (r#"["isError"]"#, false),
            (r#""isError""#, false),
        ] {
            let result = JsonText::parse(text.to_owned(), &JsonBounds::with_bytes(1000)).expect("JSON");
            assert_eq!(says_error(&result), expected, "{text}");
            // As in the parsed value.
            assert_eq!(result.to_value().expect("a tree").get("isError") == Some(&Value::Bool(true)), expected);
        }
    }

    #[test]
    fn a_call_returns_what_a_programmer_wants() {
        let text = |text: &str| json!({ "content": [{ "type": "text", "text": text }] });
        assert_eq!(result_value(&json!({ "content": [], "structuredContent": { "a": 1 } })), json!({ "a": 1 }));
        assert_eq!(result_value(&text("[1, 2]")), json!([1, 2]));
        assert_eq!(result_value(&text("[not json")), json!("[not json"));
        assert_eq!(result_value(&text("42")), json!("42"));
        let image = json!({ "content": [{ "type": "image", "data": "x" }] });
        assert_eq!(result_value(&image), image["content"]);
    }

    #[test]
    fn from_a_text_the_value_is_that_of_its_tree() {
        for text in [
            r#"{"content":[],"structuredContent":{"a":[1,"x"]}}"#,
            r#"{"structuredContent":null,"content":[{"type":"text","text":"[1]"}]}"#,
            r#"{"structuredContent":{"a":1},"structuredContent":{"a":2}}"#,
            r#"{"content":[{"type":"text","text":"t"}]}"#,
            "{}",
            r#"[{"structuredContent":1}]"#,
            "7",
        ] {
            let raw = JsonText::parse(text.to_owned(), &JsonBounds::with_bytes(1000)).expect("JSON");
            let tree = raw.to_value().expect("a tree");
            assert_eq!(result_value_in(&raw).expect("a tree"), result_value(&tree), "{text}");
        }
    }
}
