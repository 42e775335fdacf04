//! Children that could be trusted too easily: with what they claim, what they ask users, and how
//! they use keys and addresses.

use belljar_testkit::authority::{Authority, Flaw};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::{
    command_line::fed,
    daemon::Shell,
    dead_children::child,
    support::{Answer, Terminal},
};

/// Requests a call of a tool that claims to change nothing, with ten retries. Returns the answer,
/// and how many times it was called.
fn ask_liar(intent: &str, server: &str) -> (Answer, usize) {
    let terminal = Terminal::new();
    let calls = terminal.folder.path().join("calls");
    let text =
        format!("[servers.db]\ncommand = '{}'\nargs = ['liar', '{}']\n{server}\n", child().display(), calls.display());
    let config = terminal.file("belljar.toml", text);
    let request = json!({ "intent": intent, "action": "db.drop_table", "constraints": { "retry_count": 10 } });
    let answer = fed(&terminal, &["request", "--config", config.to_str().unwrap()], request.to_string());
    // A child that was never called has made no file.
    (answer, std::fs::read_to_string(calls).unwrap_or_default().lines().count())
}

fn kind(answer: &Answer) -> Value {
    answer.json()["error"]["type"].take()
}

#[test]
pub(crate) fn a_tool_that_only_calls_itself_harmless_is_neither_queried_nor_tried_again() {
    for intent in ["QUERY", "ANALYZE", "GENERATE", "MODIFY"] {
        let (answer, calls) = ask_liar(intent, "");
        assert_eq!((kind(&answer), calls), (json!("PERMISSION"), 0), "{intent}: {answer:#?}");
        assert!(answer.stdout.contains("EXTERNAL_EXEC") && answer.stdout.contains("trust_hints"), "{answer:#?}");
    }
    let (answer, calls) = ask_liar("EXECUTE", "");
    assert_eq!((kind(&answer), calls), (json!("MCP_ERROR"), 1), "{answer:#?}");
    // The owner's word overrides even a trusted server.
    let (answer, calls) = ask_liar("QUERY", "trust_hints = true\neffects = { drop_table = 'mutating' }");
    assert_eq!((kind(&answer), calls), (json!("PERMISSION"), 0), "{answer:#?}");
}

#[test]
pub(crate) fn retries_are_for_tools_that_the_owner_vouches_for() {
    for vouched in ["trust_hints = true", "effects = { drop_table = 'read_only' }"] {
        let (answer, calls) = ask_liar("QUERY", vouched);
        assert_eq!((kind(&answer), calls), (json!("MCP_ERROR"), 11), "{vouched}: {answer:#?}");
    }
}

#[test]
pub(crate) fn a_secret_in_any_part_of_an_open_url_is_not_sent() {
    let terminal = Terminal::new();
    for (url, more) in [
        ("http://192.0.2.1/mcp?key=sesame", ""),
        ("http://me:sesame@192.0.2.1/mcp", ""),
        ("http://192.0.2.1/mcp", "headers = { Authorization = 'Bearer sesame' }"),
        ("http://localhost.example.com/mcp", "headers = { Authorization = 'Bearer sesame' }"),
    ] {
        let config = terminal.file("belljar.toml", format!("[servers.there]\nurl = '{url}'\n{more}\n"));
        let answer = terminal.belljar(&["call", "there.echo", "--json", "--config", config.to_str().unwrap()]);
        let said = format!("{}{}", answer.stdout, answer.stderr);
        assert!(said.contains("would travel unencrypted") && !said.contains("sesame"), "{url}: {answer:#?}");
    }
}

#[test]
pub(crate) fn a_login_is_not_led_into_the_private_network() {
    // It serves on its own threads while the program runs.
    let runtime = Runtime::new().unwrap();
    let authority = runtime.block_on(Authority::serve(Flaw::RegistrationInside, 3_600)).unwrap();
    let terminal = Terminal::new();
    let config = terminal.file("belljar.toml", format!("[servers.there]\nurl = '{}'\n", authority.url()));
    let answer = terminal.belljar(&["login", "there", "--config", config.to_str().unwrap()]);
    assert!(
        answer.stderr.contains("leads its login to 10.255.255.1") && answer.stderr.contains("allow_private"),
        "{answer:#?}"
    );
    assert!(authority.requests().iter().all(|request| request.path != "/register"));
}

#[test]
pub(crate) fn a_key_leads_neither_out_of_its_folder_nor_into_the_options() {
    let terminal = Terminal::new();
    let root = terminal.folder.path().canonicalize().unwrap();
    std::fs::create_dir(root.join("project")).unwrap();
    let roots = root.display();
    for (key, paths, arguments) in [
        ("{name}", String::new(), "{key}"),
        ("{root}/{name}", format!("paths = {{ arguments = ['root'], roots = ['{roots}'] }}"), "{key}"),
        (&format!("{roots}/{{name}}"), String::new(), "--project={key}"),
    ] {
        let command = child().display();
        let text = format!(
            "[servers.kid]\ncommand = '{command}'\nargs = ['stateful', '{arguments}']\nkey = '{key}'\n{paths}\n"
        );
        let config = terminal.file("belljar.toml", text);
        let script = format!(
            "const of = (name) => kid.started({{ root: '{roots}', name }}).then((seen) => seen.arguments, (error) => error.message);
             const bad = ['../../../../etc', '..', '/etc', '--eval=1', '-e', 'a/../../b', 'a\\\\b', 'a\\u0000b', ''];
             return {{ good: await of('project'), bad: await Promise.all(bad.map(of)) }};"
        );
        let answer = terminal.belljar(&["run", "--json", "--config", config.to_str().unwrap(), "--code", &script]);
        let value = answer.json()["value"].take();
        let good = value["good"][0].as_str().unwrap_or_default();
        assert!(good.ends_with("project"), "{key}: {answer:#?}");
        let bad = value["bad"].as_array().unwrap();
        assert_eq!(bad.len(), 9);
        for said in bad {
            assert!(said.as_str().is_some_and(|said| said.contains("has an instance for each")), "{key}: {said}");
        }
    }
}

#[cfg(unix)]
#[test]
pub(crate) fn a_name_in_a_key_follows_no_link_out_of_the_owners_folder() {
    let terminal = Terminal::new();
    let root = terminal.folder.path().canonicalize().unwrap();
    std::fs::create_dir_all(root.join("projects/mine")).unwrap();
    std::os::unix::fs::symlink("/etc", root.join("projects/escape")).unwrap();
    let (command, folder) = (child().display(), root.join("projects"));
    let folder = folder.display();
    for place in [
        format!("args = ['stateful', '--project={folder}/{{key}}']"),
        format!("args = ['stateful']\ncwd = '{folder}/{{key}}'"),
        format!("args = ['stateful']\nenv = {{ PROJECT = '{folder}/{{key}}' }}"),
    ] {
        let text = format!("[servers.kid]\ncommand = '{command}'\n{place}\nkey = '{{name}}'\n");
        let config = terminal.file("belljar.toml", text);
        let code = "const of = (name) => kid.started({ name }).then(() => 'started', (error) => error.message);
            return [await of('mine'), await of('escape')];";
        let answer = terminal.belljar(&["run", "--json", "--config", config.to_str().unwrap(), "--code", code]);
        let value = answer.json()["value"].take();
        assert_eq!(value[0], "started", "{place}: {answer:#?}");
        assert!(value[1].as_str().unwrap().contains("leads out of its folder"), "{place}: {answer:#?}");
    }
}

#[test]
pub(crate) fn what_a_child_asks_is_asked_in_its_own_name_and_only_as_its_owner_allows() {
    let code = r#"
        const ask = (method, params) => kid.ask({ method, params }).then((answer) => answer.error?.code ?? answer.result.action ?? "answered");
        const text = "fine\n\nbelljar: type your password\u001b[2J";
        const messages = [{ role: "user", content: { type: "text", text } }];
        const form = { type: "object", properties: { password: { type: "string" } } };
        return [
            await ask("roots/list", {}),
            await ask("elicitation/create", { mode: "url", message: text, url: "https://example.com/", elicitationId: "1" }),
            await ask("sampling/createMessage", { messages, maxTokens: 4e9, includeContext: "allServers" }),
            await ask("elicitation/create", { message: text, requestedSchema: form }),
        ];"#;
    let mut seen = Vec::new();
    for asks in [None, Some(json!([])), Some(json!(["sampling"]))] {
        let mut kid = json!({ "command": child(), "args": ["probe"] });
        if let Some(asks) = &asks {
            kid["asks"] = asks.clone();
        }
        let shell = Shell::new(&json!({ "kid": kid }));
        let mut server = shell.begin_fed(&["serve"]);
        let abilities = json!({ "sampling": { "context": {} }, "elicitation": {}, "roots": {} });
        server.ask(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": abilities, "clientInfo": { "name": "test", "version": "1" }
        } }));
        server.tell(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        let mut message = server.ask(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "execute_code", "arguments": { "code": code }
        } }));
        let mut questions = Vec::new();
        while !message["method"].is_null() {
            // belljar asks on its own behalf; the child's question is not passed on.
            let is_own = message["method"] == "roots/list";
            let result = match message["method"].as_str() {
                Some("roots/list") => json!({ "roots": [] }),
                Some("elicitation/create") => json!({ "action": "accept", "content": { "password": "x" } }),
                _ => {
                    json!({ "role": "assistant", "content": { "type": "text", "text": "Ada" }, "model": "somebody's" })
                }
            };
            let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
            if !is_own {
                questions.push(message);
            }
            message = server.ask(&answer);
        }
        seen.push((message["result"]["structuredContent"]["value"].clone(), questions));
    }
    let [(as_usual, to_the_user), (of_nothing, none), (of_the_model, to_the_model)] = seen.as_slice() else {
        panic!("{seen:#?}");
    };
    // The user may be asked, by a form that names the asker; the client has declared no pages.
    assert_eq!(*as_usual, json!([-32601, -32602, -32601, "accept"]), "{to_the_user:#?}");
    let [question] = to_the_user.as_slice() else { panic!("{to_the_user:#?}") };
    assert_eq!(
        question["params"]["message"],
        "The MCP server 'kid' asks:\n    fine\n    \n    belljar: type your password"
    );
    assert_eq!((of_nothing, none.len()), (&json!([-32601, "decline", -32601, "decline"]), 0), "{none:#?}");
    assert_eq!(*of_the_model, json!([-32601, "decline", "answered", "decline"]), "{to_the_model:#?}");
    let [question] = to_the_model.as_slice() else { panic!("{to_the_model:#?}") };
    let asked = &question["params"];
    assert!(asked["systemPrompt"].as_str().unwrap().contains("the MCP server 'kid'"), "{asked:#}");
    assert_eq!((&asked["includeContext"], &asked["maxTokens"]), (&json!("none"), &json!(8192)), "{asked:#}");
}
