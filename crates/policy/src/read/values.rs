//! Reads single values of the file.

use belljar_tree::{Node, Value};
use serde_json::{Number as JsonNumber, Value as Json};

use crate::number::Number;

/// The value, if it is a number that can be compared.
pub(super) fn number(node: &Node) -> Option<Number> {
    let whole = node.whole().map(|whole| Number::Whole(whole.into()));
    whole.or_else(|| node.float().map(Number::Float))
}

/// The value as JSON; `None` for dates and numbers that are too large, which JSON does not have.
pub(super) fn json(node: &Node) -> Option<Json> {
    Some(match &node.value {
        Value::Boolean(boolean) => Json::Bool(*boolean),
        Value::Number(_) => Json::Number(match number(node)? {
            Number::Whole(whole) => JsonNumber::from_i128(whole)?,
            Number::Float(float) => JsonNumber::from_f64(float)?,
        }),
        Value::String(text) => Json::String(text.clone()),
        Value::List(list) => Json::Array(list.iter().map(json).collect::<Option<_>>()?),
        Value::Table(entries) => Json::Object(
            entries.iter().map(|entry| Some((entry.key.clone(), json(&entry.node)?))).collect::<Option<_>>()?,
        ),
        Value::Null | Value::Date => return None,
    })
}
