//! Long runs: clients that support tasks get one and ask for the result later; all others hear
//! meanwhile what the run is doing.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::TcpStream,
    process::Stdio,
    sync::mpsc::channel,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    dead_children::child,
    http::{Served, initialize, messages, rest, result, token},
    real_servers::everything,
    support::Terminal,
};

const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// A server whose runs are tasks after this time.
fn served(after: &str) -> Served {
    Served::of(Terminal::new(), &["--task-after", after])
}

/// The capabilities of a client that supports tasks.
fn knows_tasks() -> Value {
    json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } })
}

fn meta() -> Value {
    json!({ CAPABILITIES: knows_tasks() })
}

/// A run of a client that supports tasks, in the revision without sessions.
fn long(served: &Served, token: &str, code: &str) -> TcpStream {
    let params = json!({ "name": "execute_code", "arguments": { "code": code }, "_meta": meta() });
    served.send(token, "tools/call", "execute_code", params)
}

/// Asks about a task: `tasks/get` or `tasks/cancel`.
fn about(served: &Served, token: &str, method: &str, id: &str) -> Value {
    let answer = rest(served.send(token, method, id, json!({ "taskId": id, "_meta": meta() })));
    messages(&answer).pop().unwrap_or_else(|| panic!("{answer}"))
}

/// A task once it has ended.
fn ended(served: &Served, id: &str) -> Value {
    let asked = Instant::now();
    loop {
        let mut task = about(served, &served.token, "tasks/get", id);
        match task["result"]["status"].as_str() {
            Some("working") => assert!(asked.elapsed() < Duration::from_secs(60), "{task:#}"),
            _ => return task["result"].take(),
        }
    }
}

const WAITS: &str = "await demo.create_issue({ project: 'comet', title: 'begun' });
    while ((await demo.search_issues({ query: 'goes on' })).total === 0) await new Promise((done) => setTimeout(done, 10));
    return 'kept'";
const BEGUN: &str = "return (await demo.search_issues({ query: 'begun' })).total === 1";
const GO_ON: &str = "await demo.create_issue({ project: 'comet', title: 'goes on' })";

#[test]
fn a_long_run_becomes_a_task_that_outlives_its_connection_and_is_its_principals_alone() {
    let served = served("50ms");
    let bob = token(&served.terminal, &["add", "bob"]);
    let mut created = result(long(&served, &served.token, WAITS));
    assert_eq!((&created["resultType"], &created["status"]), (&json!("task"), &json!("working")), "{created:#}");
    // The connection of its request is gone: this is the next one.
    served.until(BEGUN);
    let id = created["taskId"].take().as_str().unwrap().to_owned();
    let working = about(&served, &served.token, "tasks/get", &id)["result"].take();
    assert_eq!(working["status"], "working", "{working:#}");
    assert!(working["statusMessage"].as_str().unwrap().starts_with("the script has been running for"), "{working:#}");
    // The run's own limit, plus how long its result is kept after it.
    assert!(working["ttlMs"].as_u64().unwrap() > 120_000, "{working:#}");
    // The token is known when it is no longer rejected.
    let told = |method: &str, id: &str| loop {
        let told = about(&served, &bob, method, id);
        if told["error"]["code"].is_number() || told["result"].is_object() {
            return told;
        }
    };
    for method in ["tasks/get", "tasks/cancel"] {
        let (of_ann, of_nobody) = (told(method, &id), told(method, "0123456789"));
        assert_eq!(of_ann["error"]["code"], -32602, "{of_ann:#}");
        assert_eq!(of_ann["error"], of_nobody["error"]);
    }
    served.value(GO_ON);
    let task = ended(&served, &id);
    assert_eq!(task["status"], "completed", "{task:#}");
    assert_eq!(task["result"]["structuredContent"]["value"], "kept", "{task:#}");
    assert_eq!(ended(&served, &id)["result"], task["result"], "it is kept");
}

#[test]
fn a_token_that_is_not_good_for_runs_hears_of_no_task_and_cancels_none() {
    let terminal = Terminal::new();
    let searcher = token(&terminal, &["add", "s", "--scope", "search"]);
    let reader = token(&terminal, &["add", "r", "--scope", "run:read-only"]);
    let served = Served::of(terminal, &["--task-after", "0s"]);
    let created = result(long(&served, &reader, "await new Promise((done) => setTimeout(done, 200)); return 1"));
    let id = created["taskId"].as_str().unwrap_or_else(|| panic!("{created:#}"));
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let told = |token: &str, id: &str| {
            let params = json!({ "taskId": id, "inputResponses": {}, "_meta": meta() });
            let answer = rest(served.send(token, method, id, params));
            messages(&answer).pop().unwrap_or_else(|| panic!("{answer}"))["error"].take()
        };
        let refused = told(&searcher, id);
        assert_eq!(refused["code"], -32600, "{method}: {refused:#}");
        assert!(refused["message"].as_str().unwrap().contains("scopes are search"), "{method}: {refused:#}");
        assert_eq!(refused, told(&searcher, "0123456789"), "{method}");
        assert_eq!(told(&reader, "0123456789")["code"], -32602, "{method}");
    }
    assert!(about(&served, &reader, "tasks/get", id)["result"]["status"].is_string());
}

#[test]
fn a_short_run_and_a_client_without_tasks_are_answered_at_once() {
    let short = served("1h");
    assert_eq!(result(long(&short, &short.token, "return 1"))["structuredContent"]["value"], 1);
    for (after, capabilities) in [("0s", json!({})), ("never", knows_tasks())] {
        let served = served(after);
        let code = "await new Promise((done) => setTimeout(done, 200)); return 'waited for'";
        let params = json!({
            "name": "execute_code", "arguments": { "code": code }, "_meta": { CAPABILITIES: capabilities },
        });
        let answer = result(served.send(&served.token, "tools/call", "execute_code", params));
        assert_eq!(answer["structuredContent"]["value"], "waited for", "{answer:#}");
    }
}

#[test]
fn a_task_that_is_cancelled_ends_its_run() {
    let served = served("0s");
    let created = result(long(
        &served,
        &served.token,
        "const { id } = await demo.create_issue({ project: 'comet', title: 'ticking' });
         for (let n = 0; ; n++) {
             await demo.update_issue({ id, body: 'tick ' + n });
             await new Promise((done) => setTimeout(done, 10));
         }",
    ));
    let id = created["taskId"].as_str().unwrap_or_else(|| panic!("{created:#}"));
    served.until("return (await demo.search_issues({ query: 'ticking' })).total === 1");
    let acknowledged = about(&served, &served.token, "tasks/cancel", id);
    assert_eq!(acknowledged["result"], json!({ "resultType": "complete" }), "{acknowledged:#}");
    let task = ended(&served, id);
    assert_eq!(task["status"], "cancelled", "{task:#}");
    assert!(task["statusMessage"].as_str().unwrap().contains("those that were sent may have taken effect"), "{task:#}");
    served.until(
        "const { issues } = await demo.search_issues({ query: 'ticking' });
         const body = async () => (await demo.get_issue({ id: issues[0].id })).body;
         const before = await body();
         await new Promise((done) => setTimeout(done, 200));
         return before === await body()",
    );
}

#[test]
fn a_client_of_the_revisions_with_sessions_gets_tasks_too_and_its_session_does_not_keep_them() {
    let served = served("0s");
    let mut greeting = initialize();
    greeting["params"]["capabilities"] = knows_tasks();
    let answer = rest(served.post(&served.token, "", &greeting));
    let session = answer.split_once("mcp-session-id: ").unwrap().1.split("\r\n").next().unwrap();
    let headers = format!("Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25\r\n");
    let params = json!({ "name": "execute_code", "arguments": { "code": WAITS } });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let created = result(served.post(&served.token, &headers, &call));
    let id = created["taskId"].as_str().unwrap_or_else(|| panic!("{created:#}"));
    served.until(BEGUN);
    // The session ends, and the task goes on.
    let mut stream = TcpStream::connect(served.address).unwrap();
    write!(
        stream,
        "DELETE /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nConnection: close\r\n{headers}\r\n",
        served.token
    )
    .unwrap();
    assert!(rest(stream).starts_with("HTTP/1.1 202"));
    served.value(GO_ON);
    assert_eq!(ended(&served, id)["result"]["structuredContent"]["value"], "kept");
}

#[test]
fn a_server_that_is_told_to_end_lets_the_run_of_a_task_end() {
    let terminal = Terminal::new();
    let marks = terminal.folder.path().join("marks");
    let config = format!("[servers.tally]\ncommand = {:?}\nargs = ['tally', {marks:?}]\n", child());
    let config = terminal.file("belljar.toml", config);
    let mut served = Served::of(terminal, &["--task-after", "0s", "--config", config.to_str().unwrap()]);
    let code = "await tally.mark({ text: 'begun' });
        await new Promise((done) => setTimeout(done, 1_500));
        await tally.mark({ text: 'ended' })";
    let created = result(long(&served, &served.token, code));
    assert_eq!(created["resultType"], "task", "{created:#}");
    while !std::fs::read_to_string(&marks).is_ok_and(|marks| marks.contains("begun")) {
        std::thread::yield_now();
    }
    served.signal("-TERM");
    assert!(served.child.wait().unwrap().success());
    assert_eq!(std::fs::read_to_string(&marks).unwrap(), "begun\nended\n");
}

#[test]
fn what_a_script_logs_is_told_to_a_client_that_set_a_level_and_to_no_other() {
    let served = served("never");
    let code = "console.log('low'); console.warn('high'); return 'done'";
    let told = |level: Option<&str>| {
        let mut params = json!({ "name": "execute_code", "arguments": { "code": code } });
        if let Some(level) = level {
            params["_meta"]["io.modelcontextprotocol/logLevel"] = json!(level);
        }
        let answer = rest(served.send(&served.token, "tools/call", "execute_code", params));
        messages(&answer)
    };
    let texts = |messages: &[Value]| -> Vec<Value> {
        let logged = messages.iter().filter(|message| message["method"] == "notifications/message");
        logged.map(|message| json!([message["params"]["level"], message["params"]["data"]])).collect()
    };
    assert_eq!(texts(&told(None)), Vec::<Value>::new());
    let [warned, all] = ["warning", "debug"].map(|level| told(Some(level)));
    assert_eq!(texts(&warned), [json!(["warning", "high"])]);
    assert_eq!(texts(&all), [json!(["info", "low"]), json!(["warning", "high"])]);
    // They come on the stream of the request, before its answer.
    assert_eq!(all.last().unwrap()["result"]["structuredContent"]["value"], "done");

    // A session gets messages of the level that it set, on its own stream.
    let [loud, silent] = ["warning", ""].map(|level| {
        let answer = rest(served.post(&served.token, "", &initialize()));
        let session = answer.split_once("mcp-session-id: ").unwrap().1.split("\r\n").next().unwrap();
        let headers = format!("Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25\r\n");
        if !level.is_empty() {
            let set = json!({ "jsonrpc": "2.0", "id": 1, "method": "logging/setLevel", "params": { "level": level } });
            assert_eq!(result(served.post(&served.token, &headers, &set)), json!({}));
        }
        headers
    });
    let mut stream = TcpStream::connect(served.address).unwrap();
    write!(
        stream,
        "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nAccept: text/event-stream\r\n{loud}\r\n",
        served.token
    )
    .unwrap();
    let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
    assert!(lines.next().unwrap().starts_with("HTTP/1.1 200"));
    let params = json!({ "name": "execute_code", "arguments": { "code": code } });
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params });
    for headers in [&silent, &loud] {
        assert_eq!(result(served.post(&served.token, headers, &call))["structuredContent"]["value"], "done");
    }
    let message = lines.find(|line| line.contains("notifications/message")).unwrap();
    assert!(message.contains("\"high\"") && message.contains("\"warning\""), "{message}");
}

#[test]
fn progress_says_what_the_run_waits_for_and_what_the_server_says_of_it() {
    let terminal = Terminal::new();
    let server = everything();
    let config = format!("[servers.every]\ncommand = {}\nargs = {}\n", server["command"], server["args"]);
    let config = terminal.file("belljar.toml", config);
    let served = Served::of(terminal, &["--config", config.to_str().unwrap()]);
    let code = "await every['trigger-long-running-operation']({ duration: 8, steps: 16 })";
    let params = json!({ "name": "execute_code", "arguments": { "code": code }, "_meta": { "progressToken": "p" } });
    let answer = messages(&rest(served.send(&served.token, "tools/call", "execute_code", params)));
    let mut progress = answer.iter().filter(|message| message["method"] == "notifications/progress");
    let says = |progress: &&Value| {
        let said = progress["params"]["message"].as_str().unwrap();
        said.contains("it waits for every.trigger-long-running-operation (") && said.contains(" of 16)")
    };
    let progress = progress.find(says).unwrap_or_else(|| panic!("{answer:#?}"));
    assert_eq!(progress["params"]["progressToken"], "p");
    assert_eq!(answer.last().unwrap()["result"]["structuredContent"]["ok"], true, "{answer:#?}");
}

#[test]
fn what_a_server_logs_goes_to_belljars_log_and_to_no_client() {
    let terminal = Terminal::new();
    let config = format!("[servers.flood]\ncommand = {:?}\nargs = ['flood']\n", child());
    let config = terminal.file("belljar.toml", config);
    let token = token(&terminal, &["add", "ann"]);
    let mut command = terminal.command(&["serve", "--http", "127.0.0.1:0", "--config", config.to_str().unwrap()]);
    let mut child = command.env("BELLJAR_LOG", "belljar::child=info").stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let address =
        lines.find_map(|line| line.strip_prefix("serving MCP at http://")?.strip_suffix("/mcp")?.parse().ok());
    let (say, said) = channel();
    std::thread::spawn(move || lines.for_each(|line| drop(say.send(line))));
    let served = Served { terminal, child, address: address.unwrap(), token, said };
    let code =
        "const [name] = (await tools.list('flood')).map((tool) => tool.path.split('.')[1]); await flood[name]({})";
    let mut params = json!({ "name": "execute_code", "arguments": { "code": code } });
    params["_meta"]["io.modelcontextprotocol/logLevel"] = json!("debug");
    let answer = messages(&rest(served.send(&served.token, "tools/call", "execute_code", params)));
    assert_eq!(answer.last().unwrap()["result"]["structuredContent"]["ok"], true, "{answer:#?}");
    assert!(!answer.iter().any(|message| message["method"] == "notifications/message"), "{answer:#?}");
    let logged = |line: &String| line.contains("flood") && line.contains("logs at Info: xxx");
    let found = std::iter::from_fn(|| served.said.recv_timeout(Duration::from_secs(30)).ok()).find(logged);
    assert!(found.is_some());
}
