//! A schema's constraints beyond its type, in a few words for a comment.

use serde_json::{Map, Value};

use crate::{
    bounds::{CONSTRAINT_CHARS, UNION_LITERALS},
    text::one_line,
};

/// How many values of an overlong enumeration are named.
const NAMED_VALUES: usize = 12;

/// Formats of numbers that mean nothing to JavaScript.
const WIDTHS: [&str; 6] = ["int32", "int64", "uint32", "uint64", "float", "double"];

/// The constraints, such as `integer; 1 to 100; default 10`. Empty where there are none.
pub(crate) fn constraints(schema: &Map<String, Value>) -> String {
    let mut said: Vec<String> = Vec::new();
    let number = |key: &str| schema.get(key).and_then(Value::as_number).map(ToString::to_string);
    let text = |key: &str| schema.get(key).and_then(Value::as_str);
    if is_integer(schema) {
        said.push("integer".to_owned());
    }
    if let Some(format) = text("format").filter(|format| !WIDTHS.contains(format)) {
        said.push(one_line(format, CONSTRAINT_CHARS));
    }
    said.extend(range(number("minimum"), number("maximum"), ""));
    // In draft 4, exclusiveMinimum is a boolean beside minimum.
    said.extend(number("exclusiveMinimum").map(|least| format!("over {least}")));
    said.extend(number("exclusiveMaximum").map(|most| format!("under {most}")));
    said.extend(number("multipleOf").map(|factor| format!("multiple of {factor}")));
    said.extend(range(number("minLength"), number("maxLength"), " characters"));
    said.extend(range(number("minItems"), number("maxItems"), " items"));
    said.extend(range(number("minProperties"), number("maxProperties"), " members"));
    if schema.get("uniqueItems") == Some(&Value::Bool(true)) {
        said.push("unique".to_owned());
    }
    if let Some(pattern) = text("pattern").filter(|pattern| pattern.chars().count() <= CONSTRAINT_CHARS) {
        said.push(format!("matches {}", one_line(pattern, CONSTRAINT_CHARS)));
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array).filter(|values| values.len() > UNION_LITERALS) {
        let named: Vec<String> = values.iter().take(NAMED_VALUES).map(shown).collect();
        said.push(format!("one of {} and {} more", named.join(", "), values.len().saturating_sub(NAMED_VALUES)));
    }
    // If there is a description, it usually says this already.
    let is_said = text("description").is_some_and(|text| text.to_ascii_lowercase().contains("default"));
    if let Some(default) = schema.get("default").filter(|default| !default.is_null() && !is_said) {
        said.push(format!("default {}", shown(default)));
    }
    if let Some(example) = schema.get("examples").and_then(Value::as_array).and_then(|examples| examples.first()) {
        said.push(format!("e.g. {}", shown(example)));
    }
    if schema.get("deprecated") == Some(&Value::Bool(true)) {
        said.push("deprecated".to_owned());
    }
    said.join("; ")
}

fn is_integer(schema: &Map<String, Value>) -> bool {
    match schema.get("type") {
        Some(Value::String(name)) => name == "integer",
        Some(Value::Array(names)) => names.iter().any(|name| name == "integer"),
        _ => false,
    }
}

/// Both ends, or one. JavaScript's safe integers as ends, as zod writes them, are omitted.
fn range(least: Option<String>, most: Option<String>, unit: &str) -> Option<String> {
    let least = least.filter(|least| least != "-9007199254740991");
    let most = most.filter(|most| most != "9007199254740991");
    match (least, most) {
        (Some(least), Some(most)) if least == most => Some(format!("{least}{unit}")),
        (Some(least), Some(most)) => Some(format!("{least} to {most}{unit}")),
        (Some(least), None) => Some(format!("at least {least}{unit}")),
        (None, Some(most)) => Some(format!("at most {most}{unit}")),
        (None, None) => None,
    }
}

/// A value as JSON, shortened. Only a small value is written out: the beginning of a text, a
/// number, a short list.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("\"{}\"", one_line(text, CONSTRAINT_CHARS)),
        Value::Array(values) if values.is_empty() => "[]".to_owned(),
        Value::Object(object) if object.is_empty() => "{}".to_owned(),
        Value::Array(values)
            if values.len() <= 4 && values.iter().all(|value| !value.is_array() && !value.is_object()) =>
        {
            let values: Vec<String> = values.iter().map(shown).collect();
            format!("[{}]", values.join(", "))
        }
        Value::Array(_) => "[…]".to_owned(),
        Value::Object(_) => "{…}".to_owned(),
        plain => plain.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn constraints_are_said_in_few_words() {
        let said = |schema: Value| constraints(schema.as_object().expect("an object"));
        assert_eq!(
            said(json!({"type": "integer", "minimum": 1, "maximum": 100, "default": 10})),
            "integer; 1 to 100; default 10"
        );
        assert_eq!(said(json!({"type": "string", "format": "uri", "minLength": 1})), "uri; at least 1 characters");
        assert_eq!(said(json!({"exclusiveMinimum": 0, "maximum": 9_007_199_254_740_991_i64})), "over 0");
        assert_eq!(said(json!({"pattern": "^[a-z]+$", "examples": ["abc"]})), "matches ^[a-z]+$; e.g. \"abc\"");
        assert_eq!(said(json!({"default": [1, [2]], "exclusiveMinimum": true, "minimum": "low"})), "default […]");
        assert_eq!(said(json!({"default": {"a": "x".repeat(100_000)}})), "default {…}");
        assert_eq!(said(json!({})), "");
    }
}
