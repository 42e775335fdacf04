//! What a client sends to its hooks, parsed as far as the rules need it.

use serde_json::{Map, Value};

use crate::{Client, Speaker};

/// The most that a client may send. A call that writes a file contains the file's text. A larger
/// input is not examined.
pub const MAX_INPUT_BYTES: usize = 1 << 20;

/// A tool call that an agent is about to make.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolUse {
    /// The client whose agent makes the call.
    pub client: Client,
    /// The client's own name for the tool.
    pub tool: String,
    /// The tool's arguments.
    pub input: Map<String, Value>,
    /// The folder in which the agent works.
    pub folder: Option<String>,
    /// The client's own name for the session.
    pub session: String,
}

impl ToolUse {
    /// Parses what `speaker` sends before a tool call, or returns `None` if it is something else.
    pub fn read(speaker: Speaker, bytes: &[u8]) -> Option<Self> {
        Self::of(speaker, object(bytes)?)
    }

    pub(crate) fn of(speaker: Speaker, mut object: Map<String, Value>) -> Option<Self> {
        let client = speaker.client(&object);
        let tool = text(&object, &["tool_name", "toolName"])?;
        let input = match object.remove("tool_input").or_else(|| object.remove("toolArgs")) {
            Some(Value::Object(input)) => input,
            // Copilot's command line sends the arguments as a JSON text.
            Some(Value::String(text)) => serde_json::from_str(&text).ok()?,
            _ => return None,
        };
        Some(Self { client, tool, input, folder: folder(&object), session: session(&object) })
    }
}

/// A session that begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionStart {
    /// The client whose session it is.
    pub client: Client,
    /// The folder in which the agent works.
    pub folder: Option<String>,
}

impl SessionStart {
    /// Parses what `speaker` sends when a session begins, or returns `None` if it is something
    /// else.
    pub fn read(speaker: Speaker, bytes: &[u8]) -> Option<Self> {
        let object = object(bytes)?;
        Some(Self { client: speaker.client(&object), folder: folder(&object) })
    }
}

pub(crate) fn object(bytes: &[u8]) -> Option<Map<String, Value>> {
    if bytes.len() > MAX_INPUT_BYTES {
        return None;
    }
    // serde_json limits the nesting of what it parses.
    serde_json::from_slice(bytes).ok()
}

pub(crate) fn session(object: &Map<String, Value>) -> String {
    text(object, &["session_id", "sessionId", "conversation_id"]).unwrap_or_default()
}

/// The agent's folder. At the beginning of a session, Cursor sends the open folders and no `cwd`.
pub(crate) fn folder(object: &Map<String, Value>) -> Option<String> {
    let root = || object.get("workspace_roots")?.get(0)?.as_str().map(str::to_owned);
    text(object, &["cwd"]).filter(|folder| !folder.is_empty()).or_else(root)
}

/// The text under the first of these keys that has one.
fn text(object: &Map<String, Value>, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| object.get(*key).and_then(Value::as_str)).map(str::to_owned)
}
