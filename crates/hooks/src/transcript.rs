//! Recorded tool calls: what a client sent to its hooks, or Claude Code's own transcript.

use serde_json::{Map, Value};

use crate::{Client, Speaker, ToolUse, input};

/// How many calls are read from one line.
const MAX_CALLS: usize = 256;

/// The calls in one line of a transcript, or none if it contains something else.
///
/// A line is what a client sends before a tool call, or a message of Claude Code's transcript with
/// any number of calls.
pub fn calls(speaker: Speaker, line: &[u8]) -> Vec<ToolUse> {
    let Some(object) = input::object(line) else { return Vec::new() };
    match object.get("message").and_then(|message| message.get("content")) {
        Some(Value::Array(content)) => {
            content.iter().take(MAX_CALLS).filter_map(|block| in_message(&object, block)).collect()
        }
        Some(_) => Vec::new(),
        None => ToolUse::of(speaker, object).into_iter().collect(),
    }
}

fn in_message(line: &Map<String, Value>, block: &Value) -> Option<ToolUse> {
    if block.get("type")? != "tool_use" {
        return None;
    }
    Some(ToolUse {
        client: Client::ClaudeCode,
        tool: block.get("name")?.as_str()?.to_owned(),
        input: block.get("input")?.as_object()?.clone(),
        folder: input::folder(line),
        session: input::session(line),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calls_of_a_transcript_and_of_hooks_are_read_and_all_else_is_passed_over() {
        let message = br#"{"type":"assistant","sessionId":"s","cwd":"/w","message":{"role":"assistant","content":[
            {"type":"text","text":"I look."},{"type":"tool_use","id":"t","name":"Grep","input":{"pattern":"class A"}}]}}"#;
        let read = calls(Speaker::Guessed, message);
        assert_eq!(read.len(), 1);
        let Some(call) = read.first() else { return };
        assert_eq!((call.tool.as_str(), call.session.as_str()), ("Grep", "s"));
        assert_eq!((call.folder.as_deref(), call.input.len()), (Some("/w"), 1));
        assert_eq!(calls(Speaker::Guessed, br#"{"tool_name":"Read","tool_input":{}}"#).len(), 1);
        for other in
            ["", "{}", "[]", r#"{"message":{"content":"text"}}"#, r#"{"message":{"content":[3,{"type":"tool_use"}]}}"#]
        {
            assert_eq!(calls(Speaker::Guessed, other.as_bytes()), [], "{other}");
        }
    }
}
