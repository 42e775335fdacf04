//! What a client puts before its model: two tools, in as few words as serve.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

pub(crate) const SEARCH: &str = "search_docs";
pub(crate) const EXECUTE: &str = "execute_code";

/// Sent to the client once, when it connects.
pub(super) const INSTRUCTIONS: &str = "The tools of many MCP servers, called from code: find them with search_docs, then write one \
                                       script for execute_code that calls, loops, filters and returns only what is needed.";

const SEARCH_DESCRIPTION: &str = "Finds tools that execute_code can call, with their TypeScript declarations. Without a query: all \
                                  servers and tools by name.";

const EXECUTE_DESCRIPTION: &str = "Runs JavaScript or TypeScript in a sandbox. Each server is a global object with one async function \
                                   per tool, which takes one object and returns parsed data; find them with search_docs. Top-level \
                                   await and return work. No network, files or imports. Call many tools in one script (Promise.all), \
                                   filter there, return little:\n\
                                   const found = await tools.search(\"list\");\n\
                                   return found.map(t => t.path);";

/// Both definitions.
pub(super) fn tools() -> Vec<Tool> {
    let search = Tool::new_with_raw(
        SEARCH,
        Some(SEARCH_DESCRIPTION.into()),
        object(json!({
            "type": "object",
            "properties": {
                "query": { "type": "string", "description": "words, or a tool's path" },
                "server": { "type": "string" },
                "detail": { "enum": ["names", "brief", "full"] },
                "limit": { "type": "integer", "minimum": 1 },
                "budget": { "type": "integer", "minimum": 1, "description": "most tokens to answer with (2000)" }
            },
            "additionalProperties": false
        })),
    )
    .with_raw_output_schema(object(search_output()))
    .with_annotations(ToolAnnotations::new().read_only(true).open_world(false));
    let execute = Tool::new_with_raw(
        EXECUTE,
        Some(EXECUTE_DESCRIPTION.into()),
        object(json!({
            "type": "object",
            "properties": {
                "code": { "type": "string" },
                "limits": {
                    "type": "object",
                    "description": "lower limits for this run, such as {\"timeout\": \"20s\", \"max_calls\": 50}"
                }
            },
            "required": ["code"],
            "additionalProperties": false
        })),
    )
    .with_raw_output_schema(object(execute_output()))
    .with_annotations(ToolAnnotations::new().read_only(false).open_world(true));
    vec![search, execute]
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
            "value": { "description": "what the script returned" },
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
                    "tool_calls": { "type": "integer" },
                    "log_bytes": { "type": "integer" },
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
