//! Servers that break one rule each.

use std::{
    io::{self, Write},
    process,
};

use serde_json::{Value, json};

use crate::{
    echo::tools,
    protocol::{Output, answer_the_rest, read_all, serve, text, tool},
};

/// Lists its tools, and never answers a call.
pub(crate) fn hang_call() -> io::Result<()> {
    serve(&Output::default(), &tools(), |_, _| Ok(()))
}

/// Lists its tools, and exits when one is called.
#[expect(clippy::exit, reason = "this is what it is for")]
pub(crate) fn crash_on_call() -> io::Result<()> {
    serve(&Output::default(), &tools(), |_, message| {
        writeln!(io::stderr(), "panicked in {}", message.tool())?;
        process::exit(7)
    })
}

/// Refuses every request, the handshake included.
pub(crate) fn refuse() -> io::Result<()> {
    let output = Output::default();
    read_all(|message| output.error(message.id(), -32001, "a licence is needed"))
}

/// Greets, and never lists its tools.
pub(crate) fn mute_list() -> io::Result<()> {
    let output = Output::default();
    read_all(|message| match message.method() {
        "tools/list" => Ok(()),
        _ => answer_the_rest(&output, &message),
    })
}

/// Lists one good tool among bad ones.
pub(crate) fn bad_tools() -> io::Result<()> {
    let tools = json!([
        {"name": "no_schema", "description": "Has no schema"},
        {"name": "boolean_schema", "inputSchema": true, "outputSchema": false},
        {"description": "Has no name", "inputSchema": {"type": "object"}},
        tool("good", "Works"),
        {"name": "nulls", "title": null, "description": null, "inputSchema": null, "annotations": null, "icons": 3},
        "a text",
        {"name": 5},
    ]);
    serve(&Output::default(), &tools, |output, message| {
        output.result(message.id(), json!({"content": [{"type": "hologram", "of": message.tool()}]}))
    })
}

/// Lists pages for ever: each names itself as the next.
pub(crate) fn loop_cursor() -> io::Result<()> {
    let output = Output::default();
    read_all(|message| match message.method() {
        "tools/list" => {
            let name = if message.parameter("/cursor").is_null() { "first" } else { "second" };
            output.result(message.id(), json!({"tools": [tool(name, "Works")], "nextCursor": "again"}))
        }
        "tools/call" => output.result(message.id(), text("called")),
        _ => answer_the_rest(&output, &message),
    })
}

/// Lists `count` tools, in pages.
pub(crate) fn many(count: usize) -> io::Result<()> {
    const PAGE: usize = 500;
    let output = Output::default();
    read_all(|message| match message.method() {
        "tools/list" => {
            let start = message.parameter("/cursor").as_str().and_then(|cursor| cursor.parse().ok()).unwrap_or(0);
            let end = count.min(start + PAGE);
            let tools: Vec<Value> = (start..end).map(|number| numbered(number + 1)).collect();
            let next = (end < count).then(|| end.to_string());
            output.result(message.id(), json!({"tools": tools, "nextCursor": next}))
        }
        "tools/call" => output.result(message.id(), text(&message.tool())),
        _ => answer_the_rest(&output, &message),
    })
}

fn numbered(number: usize) -> Value {
    json!({
        "name": format!("tool_{number:05}"),
        "description": format!("Tool number {number}, which does what its number says"),
        "inputSchema": {
            "type": "object",
            "properties": {"text": {"type": "string", "description": "What to work on"}, "count": {"type": "integer"}},
            "required": ["text"],
        },
        "annotations": {"readOnlyHint": number.is_multiple_of(2)},
    })
}
