//! The definitions for the client's model: two tools, described as briefly as possible.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde::Deserialize;
use serde_json::{Value, json};

pub(crate) const SEARCH: &str = "search_docs";
pub(crate) const EXECUTE: &str = "execute_code";

/// The names, descriptions and input schemas: the parts of a definition that clients show to a
/// model. They are data, so that they can be read and counted.
const DEFINITIONS: &str = include_str!("tools.json");

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Definition {
    name: String,
    description: String,
    input_schema: JsonObject,
}

/// The parts of both definitions that clients show to a model.
pub(crate) fn before_a_model() -> Vec<Value> {
    serde_json::from_str(DEFINITIONS).expect("the file is part of the program, and a test reads it")
}

/// Both definitions.
pub(super) fn tools() -> Vec<Tool> {
    let definitions: Vec<Definition> =
        serde_json::from_str(DEFINITIONS).expect("the file is part of the program, and a test reads it");
    let tools = definitions.into_iter().map(|definition| {
        let (output, annotations) = match definition.name.as_str() {
            EXECUTE => (execute_output(), ToolAnnotations::new().read_only(false).open_world(true)),
            _ => (search_output(), ToolAnnotations::new().read_only(true).open_world(false)),
        };
        Tool::new_with_raw(definition.name, Some(definition.description.into()), Arc::new(definition.input_schema))
            .with_raw_output_schema(object(output))
            .with_annotations(annotations)
    });
    tools.collect()
}

fn search_output() -> Value {
    json!({
        "type": "object",
        "properties": {
            "results": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "path": { "type": "string" },
                        "server": { "type": "string" },
                        "tool": { "type": "string" },
                        "effect": { "enum": ["read_only", "mutating", "external"] },
                        "summary": { "type": "string" },
                        "declaration": { "type": "string" }
                    },
                    "required": ["path", "server", "tool", "effect"]
                }
            },
            "omitted": { "type": "integer" },
            "unavailable": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "server": { "type": "string" },
                        "reason": { "type": "string" },
                        "hint": { "type": "string" }
                    },
                    "required": ["server", "reason", "hint"]
                }
            },
            "notes": { "type": "array", "items": { "type": "string" } }
        },
        "required": ["results", "omitted", "unavailable"]
    })
}

fn execute_output() -> Value {
    json!({
        "type": "object",
        "properties": {
            "ok": { "type": "boolean" },
            "run": { "type": "string" },
            "value": { "description": "what the script returned, or a preview of artifact" },
            "artifact": {
                "type": "object",
                "properties": {
                    "id": { "type": "string" },
                    "bytes": { "type": "integer" },
                    "not_kept": { "type": "string" }
                },
                "required": ["bytes"]
            },
            "artifacts": { "type": "array" },
            "logs": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "level": { "enum": ["debug", "log", "info", "warn", "error"] },
                        "text": { "type": "string" }
                    },
                    "required": ["level", "text"]
                }
            },
            "error": {
                "type": ["object", "null"],
                "properties": {
                    "kind": { "type": "string" },
                    "message": { "type": "string" },
                    "line": { "type": "integer" },
                    "column": { "type": "integer" },
                    "frame": { "type": "string" },
                    "stack": { "type": "string" },
                    "hint": { "type": "string" },
                    "recoverable": { "type": "boolean" },
                    "retry_after_ms": { "type": "integer" },
                    "waits": { "type": "array" },
                    "limit": {
                        "type": ["object", "null"],
                        "properties": {
                            "name": { "type": "string" },
                            "max": { "type": "integer" },
                            "used": { "type": "integer" },
                            "unit": { "type": "string" }
                        },
                        "required": ["name", "max", "used", "unit"]
                    }
                },
                "required": ["kind", "message", "recoverable", "limit"]
            },
            "calls": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "server": { "type": "string" },
                        "tool": { "type": "string" },
                        "effect": { "enum": ["read_only", "mutating", "external"] },
                        "ok": { "type": "boolean" },
                        "ms": { "type": "number" },
                        "count": { "type": "integer", "description": "calls that ended alike, where many are put together; ms is their sum" },
                        "error": { "type": "string" }
                    },
                    "required": ["server", "tool", "effect", "ok", "ms"]
                }
            },
            "usage": {
                "type": "object",
                "properties": {
                    "wall_ms": { "type": "number" },
                    "guest_ms": { "type": "number" },
                    "wait_ms": { "type": "number" },
                    "fuel": { "type": "integer" },
                    "peak_memory_bytes": { "type": "integer" },
                    "peak_held_bytes": { "type": "integer" },
                    "source_bytes": { "type": "integer" },
                    "tool_calls": { "type": "integer" },
                    "concurrent_calls": { "type": "integer" },
                    "largest_arguments_bytes": { "type": "integer" },
                    "largest_result_bytes": { "type": "integer" },
                    "log_bytes": { "type": "integer" },
                    "log_lines": { "type": "integer" },
                    "output_bytes": { "type": "integer" }
                },
                "required": ["tool_calls", "log_bytes", "output_bytes"]
            }
        },
        "required": ["ok", "value", "logs", "error", "calls", "usage"]
    })
}

fn object(schema: Value) -> Arc<JsonObject> {
    match schema {
        Value::Object(object) => Arc::new(object),
        _ => Arc::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_are_those_of_the_two_tools() {
        let tools = tools();
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
        assert_eq!(names, [SEARCH, EXECUTE]);
        assert!(tools.iter().all(|tool| tool.output_schema.is_some() && tool.description.is_some()));
    }
}
