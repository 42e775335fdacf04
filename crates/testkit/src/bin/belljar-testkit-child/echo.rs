//! A healthy server, and the same with noise around its answers.

use std::{
    io::{self, Write},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::protocol::{Message, Output, serve, text, tool};

/// Serves the tools `echo`, `fail` and `slow`.
pub(crate) fn echo() -> io::Result<()> {
    serve(&Output::default(), &tools(), answer)
}

/// As [`echo`], with lines on stdout that are not messages.
pub(crate) fn noise() -> io::Result<()> {
    let output = Output::default();
    for line in ["Welcome to the noisy server", "", "{\"level\":\"info\",\"message\":\"listening\"}"] {
        output.line(line)?;
    }
    serve(&output, &tools(), |output, message| {
        let mut not_json_rpc = json!({"id": message.id(), "result": "a log entry"});
        output.line("[1, 2, 3]")?;
        output.line("[\"2.0\", 1, null, {}]")?;
        output.line("null")?;
        output.send(not_json_rpc.take())?;
        output.line("{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{}}")?;
        output.line("{\"jsonrpc\":\"2.0\",\"id\":987654,\"result\":{}}")?;
        output.line("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/unheard_of\",\"params\":{}}")?;
        output.line("{\"jsonrpc\":\"2.0\",\"id\":")?;
        answer(output, message)
    })
}

/// As [`echo`], with 300 KB on stderr before each answer to a call, and before the first message.
pub(crate) fn stderr_flood() -> io::Result<()> {
    let flood = || {
        let line = [b"x".repeat(99), b"\n".to_vec()].concat();
        io::stderr().write_all(&line.repeat(3_000))
    };
    flood()?;
    serve(&Output::default(), &tools(), |output, message| {
        flood()?;
        answer(output, message)
    })
}

pub(crate) fn tools() -> Value {
    json!([
        {
            "name": "echo",
            "description": "Gives its arguments back",
            "inputSchema": {"type": "object"},
            "annotations": {"readOnlyHint": true},
        },
        tool("fail", "Fails with a tool error"),
        {
            "name": "slow",
            "description": "Answers after a while",
            "inputSchema": {"type": "object", "properties": {"ms": {"type": "integer"}}, "required": ["ms"]},
        },
    ])
}

/// Answers a call of one of the [`tools`].
pub(crate) fn answer(output: &Output, message: Message) -> io::Result<()> {
    match message.tool().as_str() {
        "echo" => {
            let arguments = message.parameter("/arguments");
            let content = [json!({"type": "text", "text": arguments.to_string()})];
            output.result(message.id(), json!({"content": content, "structuredContent": arguments}))
        }
        "fail" => {
            let mut result = text("it failed, as it was asked to");
            result["isError"] = true.into();
            output.result(message.id(), result)
        }
        "slow" => {
            let (output, id) = (output.clone(), message.id());
            let wait = Duration::from_millis(message.parameter("/arguments/ms").as_u64().unwrap_or_default());
            // Other calls are answered meanwhile. The thread ends with the process at the latest.
            thread::spawn(move || {
                thread::sleep(wait);
                output.result(id, text("slept"))
            });
            Ok(())
        }
        unknown => output.error(message.id(), -32602, &format!("there is no tool {unknown}")),
    }
}
