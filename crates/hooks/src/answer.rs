//! The answer to a hook, in the form that each client accepts.

use serde_json::{Value, json};

use crate::{Client, Event};

/// What every client understands as "go on as if nobody had been asked".
pub const GO_ON: &str = "{}";

/// What to answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// There is nothing to say.
    Pass,
    /// The agent gets this message, and goes on.
    Tell(String),
    /// The call is not made, and the agent gets the reason.
    Deny(String),
}

/// The decision in the form that `client` accepts, or [`GO_ON`] if it has no such form.
pub fn answer(client: Client, event: Event, decision: &Decision) -> String {
    let value = match (event, decision) {
        (_, Decision::Pass) | (Event::SessionStart, Decision::Deny(_)) => None,
        (Event::BeforeTool, Decision::Tell(text)) => told(client, text),
        (Event::BeforeTool, Decision::Deny(reason)) => Some(denied(client, reason)),
        (Event::SessionStart, Decision::Tell(text)) => introduced(client, text),
    };
    value.map_or_else(|| GO_ON.to_owned(), |value| value.to_string())
}

fn told(client: Client, text: &str) -> Option<Value> {
    match client {
        // Without a decision: an "allow" could take the place of a question to the user.
        Client::ClaudeCode | Client::Codex | Client::VsCode => {
            Some(json!({ "hookSpecificOutput": { "hookEventName": "PreToolUse", "additionalContext": text } }))
        }
        Client::Cursor => Some(json!({ "agent_message": text })),
        Client::Copilot | Client::Gemini => None,
    }
}

fn denied(client: Client, reason: &str) -> Value {
    match client {
        Client::ClaudeCode | Client::Codex | Client::VsCode => json!({ "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        } }),
        Client::Copilot => json!({ "permissionDecision": "deny", "permissionDecisionReason": reason }),
        Client::Cursor => json!({ "permission": "deny", "user_message": reason, "agent_message": reason }),
        Client::Gemini => json!({ "decision": "deny", "reason": reason }),
    }
}

fn introduced(client: Client, text: &str) -> Option<Value> {
    match client {
        Client::ClaudeCode | Client::Codex | Client::VsCode | Client::Gemini => {
            Some(json!({ "hookSpecificOutput": { "hookEventName": "SessionStart", "additionalContext": text } }))
        }
        Client::Cursor => Some(json!({ "additional_context": text })),
        // It ignores the output of its hooks when a session begins.
        Client::Copilot => None,
    }
}
