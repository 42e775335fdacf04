//! A tool's definition as a child server sends it, parsed tolerantly.

use serde::Serialize;
use serde_json::{Map, Value, json};

/// What a tool claims about itself, as unchecked hints.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Annotations {
    /// `readOnlyHint`
    pub read_only: Option<bool>,
    /// `destructiveHint`
    pub destructive: Option<bool>,
    /// `idempotentHint`
    pub idempotent: Option<bool>,
    /// `openWorldHint`
    pub open_world: Option<bool>,
}

/// One entry of a child's `tools/list`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolDefinition {
    /// The exact name, never empty.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What the tool does.
    pub description: Option<String>,
    /// The JSON Schema of the arguments: always an object. A missing or boolean schema has become
    /// `{"type": "object"}`.
    pub input_schema: Map<String, Value>,
    /// The JSON Schema of `structuredContent`, if one was declared.
    pub output_schema: Option<Map<String, Value>>,
    /// The hints.
    pub annotations: Annotations,
}

/// Why an entry of `tools/list` is not a tool.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DefinitionError {
    /// The entry is not a JSON object.
    #[error("a tool definition is not a JSON object")]
    NotAnObject,
    /// The entry has no name.
    #[error("a tool definition has no name")]
    NoName,
    /// The name is too long.
    #[error("a tool's name has {used} bytes; the limit is {limit}")]
    NameTooLong {
        /// The bound.
        limit: usize,
        /// The name's length.
        used: usize,
    },
}

impl ToolDefinition {
    /// A tool of which only the name is known.
    pub fn unknown(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: None,
            input_schema: any_object(),
            output_schema: None,
            annotations: Annotations::default(),
        }
    }

    /// The longest name, in bytes.
    pub const NAME_BYTES: usize = 1024;

    /// Reads one entry of `tools/list`. Malformed optional parts count as absent.
    ///
    /// # Errors
    /// [`DefinitionError`], if there is no usable name. Such an entry cannot be called, and does
    /// not hide any other.
    pub fn from_json(entry: Value) -> Result<Self, DefinitionError> {
        let Value::Object(mut entry) = entry else { return Err(DefinitionError::NotAnObject) };
        let name = text(&mut entry, "name").ok_or(DefinitionError::NoName)?;
        if name.len() > Self::NAME_BYTES {
            return Err(DefinitionError::NameTooLong { limit: Self::NAME_BYTES, used: name.len() });
        }
        let mut hints = object(&mut entry, "annotations").unwrap_or_default();
        let hint = |key: &str| hints.get(key).and_then(Value::as_bool);
        Ok(Self {
            annotations: Annotations {
                read_only: hint("readOnlyHint"),
                destructive: hint("destructiveHint"),
                idempotent: hint("idempotentHint"),
                open_world: hint("openWorldHint"),
            },
            name,
            title: text(&mut entry, "title").or_else(|| text(&mut hints, "title")),
            description: text(&mut entry, "description"),
            input_schema: object(&mut entry, "inputSchema").unwrap_or_else(any_object),
            output_schema: object(&mut entry, "outputSchema"),
        })
    }
}

fn any_object() -> Map<String, Value> {
    Map::from_iter([("type".to_owned(), json!("object"))])
}

fn text(entry: &mut Map<String, Value>, key: &str) -> Option<String> {
    match entry.get_mut(key).map(Value::take) {
        Some(Value::String(text)) if !text.is_empty() => Some(text),
        _ => None,
    }
}

fn object(entry: &mut Map<String, Value>, key: &str) -> Option<Map<String, Value>> {
    match entry.get_mut(key).map(Value::take) {
        Some(Value::Object(object)) => Some(object),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_malformed_option_is_absent_and_a_missing_name_is_a_fault() {
        let odd =
            json!({"name": "t", "description": null, "inputSchema": true, "annotations": "none", "outputSchema": 3});
        let tool = ToolDefinition::from_json(odd).expect("a tool");
        assert_eq!(tool.description, None);
        assert_eq!(tool.input_schema, any_object());
        assert_eq!(tool.output_schema, None);
        assert_eq!(tool.annotations, Annotations::default());
        assert!(ToolDefinition::from_json(json!({"name": ""})).is_err());
        assert!(ToolDefinition::from_json(json!([])).is_err());
    }
}
