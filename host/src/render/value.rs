//! A value for people: text unchanged, anything else as indented JSON.

use belljar_model::take_media;
use serde_json::Value;

use crate::output::visible_text;

/// The same with the size of an image or a file in place of its bytes.
pub(crate) fn without_media(mut value: Value) -> String {
    take_media(&mut value);
    text(&value)
}

pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => visible_text(text).into_owned(),
        // A value that was parsed can be written.
        other => visible_text(&serde_json::to_string_pretty(other).unwrap_or_default()).into_owned(),
    }
}
