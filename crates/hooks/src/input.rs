//! What a client sends to its hooks, read as far as the rules need it.

use serde_json::{Map, Value};

use crate::{Client, Speaker};

/// The most that a client may send. A call that writes a file carries the file's text; an input
/// with more than this is not looked at.
pub const MAX_INPUT_BYTES: usize = 1 << 20;

/// A tool call that an agent is about to make.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolUse {
    /// Whose agent it is.
    pub client: Client,
    /// The client's own name of the tool.
    pub tool: String,
    /// The tool's arguments.
    pub input: Map<String, Value>,
    /// The folder in which the agent works.
    pub folder: Option<String>,
    /// The client's own name of the session.
    pub session: String,
}

impl ToolUse {
    /// Reads what `speaker` sends before a tool call; `None` where it is not that.
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
    /// Whose session it is.
    pub client: Client,
    /// The folder in which the agent works.
    pub folder: Option<String>,
}

impl SessionStart {
    /// Reads what `speaker` sends when a session begins; `None` where it is not that.
    pub fn read(speaker: Speaker, bytes: &[u8]) -> Option<Self> {
        let object = object(bytes)?;
        Some(Self { client: speaker.client(&object), folder: folder(&object) })
    }
}

pub(crate) fn object(bytes: &[u8]) -> Option<Map<String, Value>> {
    if bytes.len() > MAX_INPUT_BYTES {
        return None;
    }
    // serde_json bounds the depth of what it reads.
    serde_json::from_slice(bytes).ok()
}

pub(crate) fn session(object: &Map<String, Value>) -> String {
    text(object, &["session_id", "sessionId", "conversation_id"]).unwrap_or_default()
}

/// Cursor begins a session without `cwd`, and says which folders are open.
pub(crate) fn folder(object: &Map<String, Value>) -> Option<String> {
    let root = || object.get("workspace_roots")?.get(0)?.as_str().map(str::to_owned);
    text(object, &["cwd"]).filter(|folder| !folder.is_empty()).or_else(root)
}

/// The first of these keys that has a text.
fn text(object: &Map<String, Value>, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| object.get(*key).and_then(Value::as_str)).map(str::to_owned)
}
