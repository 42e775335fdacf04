//! A healthy server whose tools show what its client does.

use std::{collections::BTreeMap, io, thread, time::Duration};

use serde_json::{Value, json};

use crate::protocol::{Message, Output, answer_the_rest, read_all, text, tool};

/// What has been seen of the client.
#[derive(Default)]
struct Seen {
    cancelled: Vec<Value>,
    /// The question whose answer the tool `ask` waits for, with the id of the call.
    asked: Option<Value>,
    has_grown: bool,
    lists: u64,
}

/// Serves tools that show what the client sends, tolerates, and answers.
pub(crate) fn probe() -> io::Result<()> {
    let (output, mut seen) = (Output::default(), Seen::default());
    read_all(|message| match message.method() {
        "tools/list" => {
            seen.lists += 1;
            output.result(message.id(), json!({"tools": tools(seen.has_grown)}))
        }
        "tools/call" => call(&output, &message, &mut seen),
        "notifications/cancelled" => {
            seen.cancelled.push(message.parameter("/requestId"));
            Ok(())
        }
        "" if message.id() == "question" => match seen.asked.take() {
            Some(call) => output.result(call, json!({"content": [], "structuredContent": message.json()})),
            None => Ok(()),
        },
        _ => answer_the_rest(&output, &message),
    })
}

fn tools(has_grown: bool) -> Value {
    let mut tools = vec![
        tool("environment", "Gives its environment"),
        tool("directory", "Gives its working directory"),
        tool("large", "Gives a result of `bytes` bytes, with the id last if `id_last`"),
        tool("deep", "Gives a result that nests `levels` deep"),
        tool("scalar", "Gives a result that is no object"),
        tool("refuse", "Refuses with a JSON-RPC error"),
        tool("progress", "Reports progress `times` times, every `ms`, and then answers"),
        tool("hang", "Never answers"),
        tool("cancelled", "Gives the ids of the requests that were cancelled"),
        tool("ask", "Asks the client with the method `method`, and gives its answer"),
        tool("grow", "Adds a tool, and says so several times"),
        tool("lists", "Gives how often the tools were listed"),
    ];
    if has_grown {
        tools.push(tool("grown", "Is new"));
    }
    tools.into()
}

fn call(output: &Output, message: &Message, seen: &mut Seen) -> io::Result<()> {
    let id = message.id();
    let argument = |name: &str| message.parameter(&format!("/arguments/{name}"));
    let number = |name: &str| argument(name).as_u64().unwrap_or_default();
    let structured = |value: Value| json!({"content": [], "structuredContent": value});
    match message.tool().as_str() {
        "environment" => {
            let variables: BTreeMap<_, _> = std::env::vars().collect();
            output.result(id, structured(json!(variables)))
        }
        "directory" => output.result(id, text(&std::env::current_dir()?.to_string_lossy())),
        "large" => {
            let filling = "x".repeat(usize::try_from(number("bytes")).unwrap_or(usize::MAX));
            output.line(&if argument("id_last") == true {
                format!(r#"{{"result":{{"content":[],"filling":"{filling}"}},"jsonrpc":"2.0","id":{id}}}"#)
            } else {
                format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[],"filling":"{filling}"}}}}"#)
            })
        }
        "deep" => {
            let levels = usize::try_from(number("levels")).unwrap_or(usize::MAX);
            let (open, close) = ("[".repeat(levels), "]".repeat(levels));
            output.line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":{open}{close}}}}}"#))
        }
        "scalar" => output.result(id, json!("text")),
        "refuse" => output.error(id, -32602, "no:\u{1b}[31m wrong\narguments"),
        "progress" => {
            let (output, token) = (output.clone(), message.parameter("/_meta/progressToken"));
            let (times, pause) = (number("times"), Duration::from_millis(number("ms")));
            thread::spawn(move || {
                for progress in 1..=times {
                    thread::sleep(pause);
                    output.send(json!({
                        "jsonrpc": "2.0",
                        "method": "notifications/progress",
                        "params": {"progressToken": token, "progress": progress},
                    }))?;
                }
                output.result(id, text("done"))
            });
            Ok(())
        }
        "hang" => Ok(()),
        "cancelled" => output.result(id, structured(json!({"ids": seen.cancelled}))),
        "ask" => {
            seen.asked = Some(id);
            let parameters = argument("params");
            output.send(json!({"jsonrpc": "2.0", "id": "question", "method": argument("method"), "params": parameters}))
        }
        "grow" => {
            seen.has_grown = true;
            for _ in 0..5 {
                output.send(json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}))?;
            }
            output.result(id, text("grown"))
        }
        "lists" => output.result(id, structured(json!({"lists": seen.lists}))),
        unknown => output.error(id, -32602, &format!("there is no tool {unknown}")),
    }
}
