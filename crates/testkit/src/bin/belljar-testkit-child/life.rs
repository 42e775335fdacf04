//! Healthy servers for tests of a child's life: one with state, one that dies once, ones that stop
//! answering, and one with another framing.

use std::{
    fs,
    io::{self, BufRead, Read, Write},
    process,
};

use serde_json::{Value, json};

use crate::{
    echo::{answer, tools},
    protocol::{Message, Output, answer_the_rest, read_all, serve, text, tool},
    stubborn::write_whole,
};

/// Counts its calls, and crashes when told to. `started` returns `start`, its start arguments.
#[expect(clippy::exit, reason = "this is what it is for")]
pub(crate) fn stateful(start: &[&str]) -> io::Result<()> {
    let (mut count, mut activated) = (0_u64, Vec::new());
    let tools = json!([
        tool("count", "Counts its calls"),
        tool("crash", "Exits"),
        {"name": "look", "description": "Exits", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}},
        {"name": "set", "description": "Exits", "inputSchema": {"type": "object"}, "annotations": {"idempotentHint": true}},
        tool("started", "Shows how it was started"),
        tool("activate", "Is called at the start"),
        tool("path", "Gives its arguments back"),
    ]);
    serve(&Output::default(), &tools, |output, message| match message.tool().as_str() {
        "count" => {
            count += 1;
            output.result(
                message.id(),
                json!({"content": [], "structuredContent": {"count": count, "pid": process::id()}}),
            )
        }
        "activate" if message.parameter("/arguments/fail") == true => {
            let mut result = text("there is no such project");
            result["isError"] = true.into();
            output.result(message.id(), result)
        }
        "activate" => {
            activated.push(message.parameter("/arguments"));
            output.result(message.id(), text("activated"))
        }
        "started" => {
            let seen = json!({"arguments": start, "activated": activated, "pid": process::id(), "call": message.parameter("/arguments")});
            output.result(message.id(), json!({"content": [], "structuredContent": seen}))
        }
        "path" => {
            output.result(message.id(), json!({"content": [], "structuredContent": message.parameter("/arguments")}))
        }
        _ => process::exit(7),
    })
}

/// Leaves the text of each call as a line in `file`, so that a test can count what happened.
pub(crate) fn tally(file: &str) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().create(true).append(true).open(file)?;
    let tools = json!([tool("mark", "Leaves a mark")]);
    serve(&Output::default(), &tools, |output, message| {
        let marked = message.parameter("/arguments/text");
        // In one write, so that a line is there as a whole or not at all.
        file.write_all(format!("{}\n", marked.as_str().unwrap_or_default()).as_bytes())?;
        output.result(message.id(), text("marked"))
    })
}

/// Exits at its first call, leaving the marker `file`; with the marker it is healthy.
#[expect(clippy::exit, reason = "this is what it is for")]
pub(crate) fn crash_once(file: &str) -> io::Result<()> {
    let mut tools = tools();
    if let Some(fail) = tools.pointer_mut("/1") {
        fail["annotations"] = json!({"idempotentHint": true});
    }
    serve(&Output::default(), &tools, |output, message| {
        if !fs::exists(file)? {
            write_whole(file, &message.tool())?;
            process::exit(7)
        }
        answer(output, message)
    })
}

/// Returns the arguments of each call, except for the very first one and for those of its tool
/// `hang`, and leaves a line with them in `file`.
pub(crate) fn silent_once(file: &str) -> io::Result<()> {
    let tools = json!([tool("send", "Sends"), tool("note", "Notes"), tool("hang", "Is never answered")]);
    serve(&Output::default(), &tools, |output, message| {
        let (is_first, arguments) = (!fs::exists(file)?, message.parameter("/arguments"));
        let mut lines = fs::OpenOptions::new().append(true).create(true).open(file)?;
        lines.write_all(format!("{} {arguments}\n", message.tool()).as_bytes())?;
        match is_first || message.tool() == "hang" {
            true => Ok(()),
            false => output.result(message.id(), json!({"content": [], "structuredContent": arguments})),
        }
    })
}

/// Answers until its tool `deafen` is called, which leaves the marker `file`; from then on it reads
/// and says nothing.
pub(crate) fn deaf(file: &str) -> io::Result<()> {
    let (output, mut is_deaf) = (Output::default(), false);
    let tools = json!([tool("deafen", "Is the last thing that is heard"), tool("hear", "Is answered or not")]);
    read_all(|message| match message.method() {
        _ if is_deaf => Ok(()),
        "tools/list" => output.result(message.id(), json!({"tools": tools})),
        "tools/call" if message.tool() == "deafen" => {
            is_deaf = !fs::exists(file)?;
            write_whole(file, "deaf")
        }
        "tools/call" => output.result(message.id(), text("heard")),
        _ => answer_the_rest(&output, &message),
    })
}

/// Speaks like language servers: with a header before each message. The tools are those of `echo`.
pub(crate) fn lengths() -> io::Result<()> {
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let mut send = |message: Value| {
        let text = message.to_string();
        write!(output, "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{text}", text.len())?;
        output.flush()
    };
    loop {
        let (mut length, mut line) = (0, String::new());
        loop {
            line.clear();
            if input.read_line(&mut line)? == 0 {
                return Ok(());
            }
            match line.trim_end().split_once(": ") {
                Some(("Content-Length", value)) => length = value.parse().map_err(io::Error::other)?,
                Some(_) => {}
                None => break,
            }
        }
        let mut body = vec![0; length];
        input.read_exact(&mut body)?;
        let message: Value = serde_json::from_slice(&body)?;
        let result = match Message::of(message.clone()).method() {
            "initialize" => json!({
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "lengths", "version": "0"},
            }),
            "tools/list" => json!({"tools": tools()}),
            "tools/call" => json!({"content": [], "structuredContent": message["params"]["arguments"]}),
            _ => continue,
        };
        send(json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))?;
    }
}
