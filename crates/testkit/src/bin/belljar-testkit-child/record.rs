//! A healthy server that writes down each call before it answers, so that a client's calls are
//! recorded however the client ended.

use std::{
    fs::OpenOptions,
    io::{self, Write as _},
    path::Path,
    process, thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::protocol::{Message, Output, serve, tool};

/// Serves the tools `read` and `write`, which answer after `ms` with their arguments. Each call has
/// its own file in `folder`, with the tool's name and the arguments.
pub(crate) fn record(folder: &str) -> io::Result<()> {
    let mut calls = 0_u64;
    serve(&Output::default(), &tools(), |output, message| {
        calls += 1;
        let place = Path::new(folder).join(format!("{}-{calls}.json", process::id()));
        let arguments = message.parameter("/arguments");
        let mut file = OpenOptions::new().write(true).create_new(true).open(place)?;
        file.write_all(json!({"tool": message.tool(), "arguments": arguments}).to_string().as_bytes())?;
        drop(file);
        later(output, &message, arguments);
        Ok(())
    })
}

fn tools() -> Value {
    json!([
        {
            "name": "read",
            "description": "Changes nothing",
            "inputSchema": {"type": "object"},
            "annotations": {"readOnlyHint": true},
        },
        tool("write", "Changes something"),
    ])
}

fn later(output: &Output, message: &Message, arguments: Value) {
    let (output, id) = (output.clone(), message.id());
    let wait = Duration::from_millis(arguments["ms"].as_u64().unwrap_or_default());
    // Other calls are answered meanwhile. The thread ends with the process at the latest.
    thread::spawn(move || {
        thread::sleep(wait);
        output.result(id, json!({"content": [], "structuredContent": arguments}))
    });
}
