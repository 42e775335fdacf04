//! What belljar takes of a model's context: two definitions, whatever the number of servers, with
//! an example that works unchanged.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::{Value, json};

use crate::{
    dead_children::child,
    real_servers::{filesystem, installed, node},
    support::{Terminal, repository},
};

/// The most tokens (o200k) of both names, descriptions and input schemas.
const DEFINITIONS: usize = 440;

/// A raw client, line by line.
pub(crate) struct Client {
    serving: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Client {
    pub(crate) fn connect(terminal: &Terminal, arguments: &[&str]) -> Self {
        let mut command = terminal.command(&[&["serve"], arguments].concat());
        let mut serving = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (to, from) = (serving.stdin.take().unwrap(), BufReader::new(serving.stdout.take().unwrap()));
        let mut client = Self { serving, to, from };
        let who = json!({ "name": "test", "version": "1" });
        client.ask("initialize", json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": who }));
        client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    fn say(&mut self, message: &Value) {
        writeln!(self.to, "{message}").unwrap();
    }

    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        self.say(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }));
        loop {
            let mut line = String::new();
            assert!(self.from.read_line(&mut line).unwrap() > 0, "belljar ended");
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == 1 {
                return answer["result"].clone();
            }
        }
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments }))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.serving.kill();
        let _ = self.serving.wait();
    }
}

/// The tokens (o200k) of some texts.
pub(crate) fn tokens(texts: &[String]) -> Vec<usize> {
    installed("gpt-tokenizer/package.json");
    let mut counting = Command::new(node())
        .arg(repository().join("tests/servers/tokens.mjs"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    counting.stdin.take().unwrap().write_all(json!(texts).to_string().as_bytes()).unwrap();
    serde_json::from_slice(&counting.wait_with_output().unwrap().stdout).unwrap()
}

#[test]
fn both_definitions_take_at_most_440_tokens_whatever_the_number_of_servers() {
    let terminal = Terminal::new();
    let servers: serde_json::Map<String, Value> =
        (0..50).map(|number| (format!("server{number}"), json!({ "command": child(), "args": ["echo"] }))).collect();
    let config = terminal.file("mcp.json", json!({ "mcpServers": servers }).to_string());
    let many = Client::connect(&terminal, &["--config", config.to_str().unwrap()]).ask("tools/list", json!({}));
    let one = Client::connect(&terminal, &[]).ask("tools/list", json!({}));
    assert_eq!(many, one);

    let tools = one["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 2);
    let definition = |tool: &Value| {
        json!({ "name": tool["name"], "description": tool["description"], "inputSchema": tool["inputSchema"] })
            .to_string()
    };
    let inputs: usize = tokens(&tools.iter().map(definition).collect::<Vec<_>>()).iter().sum();
    let outputs = tokens(&tools.iter().map(|tool| tool["outputSchema"].to_string()).collect::<Vec<_>>());
    println!("definitions: {inputs} tokens; output schemas, which clients keep to themselves: {outputs:?}");
    assert!(inputs <= DEFINITIONS, "{inputs} tokens");
}

#[test]
fn the_example_in_the_description_works_as_it_stands() {
    let terminal = Terminal::new();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("orders.csv"), "id,total\n1,20\n2,100.5\n3,1000\n").unwrap();
    let servers = json!({ "mcpServers": { "fs": filesystem(&folder.path().canonicalize().unwrap()) } });
    let config = terminal.file("mcp.json", servers.to_string());
    let mut client = Client::connect(&terminal, &["--config", config.to_str().unwrap()]);
    let tools = client.ask("tools/list", json!({}));
    let execute = tools["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "execute_code").unwrap();
    let (_, example) = execute["description"].as_str().unwrap().split_once("Example, with a server fs:\n").unwrap();
    let outcome = client.call("execute_code", json!({ "code": example }));
    let rows = json!([{ "id": "2", "total": "100.5" }, { "id": "3", "total": "1000" }]);
    assert_eq!(outcome["structuredContent"]["value"], rows, "{outcome:#}");
}

#[test]
fn bad_input_has_an_answer_that_helps() {
    let terminal = Terminal::new();
    let mut client = Client::connect(&terminal, &[]);
    let long = "issue ".repeat(20_000);
    for (arguments, says) in [
        (json!({}), "demo (7 tools): "),
        (json!({ "query": "" }), "demo (7 tools): "),
        (json!({ "query": "?! ***" }), "the query has no words to look for, so this is the catalogue"),
        (json!({ "query": long }), "demo.search_issues("),
        (json!({ "query": "list", "server": "demmo" }), "there is no server \"demmo\"; did you mean \"demo\"?"),
        (
            json!({ "query": "list", "detail": "everything" }),
            "unknown detail 'everything': it is one of names, brief, full",
        ),
        (json!({ "query": "issue", "detail": "full", "budget": 30 }), "raise budget (30)"),
        (
            json!({ "query": "list", "limits": 3 }),
            "unknown field `limits`, expected one of `query`, `server`, `detail`",
        ),
    ] {
        let answer = client.call("search_docs", arguments.clone());
        let text = answer["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(says), "{}: {text}", &arguments.to_string()[..60.min(arguments.to_string().len())]);
    }
}
