//! Which client calls a hook, and for which event.

use serde_json::{Map, Value};

/// A client that has hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// VS Code's own agent.
    VsCode,
    /// The command line of GitHub Copilot, and its agent in the cloud.
    Copilot,
    /// Cursor.
    Cursor,
    /// The Gemini command line.
    Gemini,
}

impl Client {
    /// Every client.
    pub const ALL: [Self; 6] = [Self::ClaudeCode, Self::Codex, Self::VsCode, Self::Copilot, Self::Cursor, Self::Gemini];

    /// The name used on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::VsCode => "vscode",
            Self::Copilot => "copilot",
            Self::Cursor => "cursor",
            Self::Gemini => "gemini",
        }
    }

    /// Whether the agent can get a message before a call without the call being denied.
    pub fn can_be_told(self) -> bool {
        !matches!(self, Self::Copilot | Self::Gemini)
    }

    /// The client whose hook sends such an object. Each has a key or a name that no other has.
    fn guess(object: &Map<String, Value>) -> Self {
        let event = object.get("hook_event_name").and_then(Value::as_str).unwrap_or_default();
        let has = |key: &str| object.contains_key(key);
        if has("toolName") || (has("sessionId") && !has("hookEventName")) {
            Self::Copilot
        } else if has("sessionId") {
            Self::VsCode
        } else if event == "BeforeTool" {
            Self::Gemini
        } else if matches!(event, "preToolUse" | "sessionStart") || has("conversation_id") {
            Self::Cursor
        } else if has("turn_id") {
            Self::Codex
        } else {
            // Codex and Gemini use the same form when a session begins.
            Self::ClaudeCode
        }
    }
}

/// The client that a hook was written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// This client.
    Known(Client),
    /// Whichever client the input looks like.
    Guessed,
}

impl Speaker {
    /// The client with this name on the command line; `auto` guesses.
    pub fn named(name: &str) -> Option<Self> {
        if name == "auto" {
            return Some(Self::Guessed);
        }
        Client::ALL.into_iter().find(|client| client.as_str() == name).map(Self::Known)
    }

    pub(crate) fn client(self, object: &Map<String, Value>) -> Client {
        match self {
            Self::Known(client) => client,
            Self::Guessed => Client::guess(object),
        }
    }
}

/// When a client calls its hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// Before a tool is called.
    BeforeTool,
    /// When a session begins.
    SessionStart,
}

impl Event {
    /// The event with this name, in any client's spelling.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "PreToolUse" | "preToolUse" | "BeforeTool" => Some(Self::BeforeTool),
            "SessionStart" | "sessionStart" => Some(Self::SessionStart),
            _ => None,
        }
    }
}
