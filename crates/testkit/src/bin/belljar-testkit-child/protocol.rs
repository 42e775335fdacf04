//! A minimal JSON-RPC, written by hand.

use std::{
    io::{self, BufRead, Write},
    sync::Arc,
};

use parking_lot::Mutex;
use serde_json::{Value, json};

/// One message of the client.
pub(crate) struct Message(Value);

impl Message {
    pub(crate) fn of(json: Value) -> Self {
        Self(json)
    }

    pub(crate) fn method(&self) -> &str {
        self.0["method"].as_str().unwrap_or_default()
    }

    /// The id of a request; null for a notification.
    pub(crate) fn id(&self) -> Value {
        self.0["id"].clone()
    }

    /// The parameter at `pointer`.
    pub(crate) fn parameter(&self, pointer: &str) -> Value {
        self.0["params"].pointer(pointer).cloned().unwrap_or_default()
    }

    /// The name of the called tool.
    pub(crate) fn tool(&self) -> String {
        self.parameter("/name").as_str().unwrap_or_default().to_owned()
    }

    /// The whole message.
    pub(crate) fn json(&self) -> &Value {
        &self.0
    }
}

/// Stdout, one message a line, for any thread.
#[derive(Clone, Default)]
pub(crate) struct Output(Arc<Mutex<()>>);

impl Output {
    pub(crate) fn line(&self, text: &str) -> io::Result<()> {
        let _turn = self.0.lock();
        let mut stdout = io::stdout().lock();
        stdout.write_all(text.as_bytes())?;
        stdout.write_all(b"\n")?;
        stdout.flush()
    }

    pub(crate) fn send(&self, message: Value) -> io::Result<()> {
        self.line(&message.to_string())
    }

    pub(crate) fn result(&self, id: Value, result: Value) -> io::Result<()> {
        self.send(json!({"jsonrpc": "2.0", "id": id, "result": result}))
    }

    pub(crate) fn error(&self, id: Value, code: i32, message: &str) -> io::Result<()> {
        self.send(json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}))
    }
}

/// Hands each message to `handle` until the input ends.
pub(crate) fn read_all(mut handle: impl FnMut(Message) -> io::Result<()>) -> io::Result<()> {
    for line in io::stdin().lock().lines() {
        if let Ok(message) = serde_json::from_str(&line?) {
            handle(Message(message))?;
        }
    }
    Ok(())
}

/// Answers the handshake and pings, lists `tools`, and hands calls to `call`.
pub(crate) fn serve(
    output: &Output,
    tools: &Value,
    mut call: impl FnMut(&Output, Message) -> io::Result<()>,
) -> io::Result<()> {
    read_all(|message| match message.method() {
        "tools/list" => output.result(message.id(), json!({"tools": tools})),
        "tools/call" => call(output, message),
        _ => answer_the_rest(output, &message),
    })
}

/// Answers the handshake and pings, refuses other requests, and ignores notifications.
pub(crate) fn answer_the_rest(output: &Output, message: &Message) -> io::Result<()> {
    match message.method() {
        "initialize" => output.result(
            message.id(),
            json!({
                "protocolVersion": message.parameter("/protocolVersion"),
                "capabilities": {"tools": {"listChanged": true}},
                "serverInfo": {"name": "belljar-testkit-child", "version": "0"},
            }),
        ),
        "ping" => output.result(message.id(), json!({})),
        "" => Ok(()),
        _ if message.id().is_null() => Ok(()),
        method => output.error(message.id(), -32601, &format!("there is no method {method}")),
    }
}

/// A tool's definition with any arguments.
pub(crate) fn tool(name: &str, description: &str) -> Value {
    json!({"name": name, "description": description, "inputSchema": {"type": "object"}})
}

/// A result that is one text.
pub(crate) fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}
