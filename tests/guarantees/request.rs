//! `belljar request`: one JSON object in, one JSON object out, whatever happens; and never more
//! than the request allows.

use serde_json::{Value, json};

use crate::{
    command_line::{fed, keys},
    daemon::{Shell, echo},
    dead_children::child,
    support::{Answer, Terminal},
};

fn ask(request: &Value) -> (i32, Value) {
    let answer = fed(&Terminal::new(), &["request"], request.to_string());
    (answer.code, answer.json())
}

fn refused(request: &Value) -> (i32, Value) {
    let (code, answer) = ask(request);
    assert_eq!(keys(&answer), ["ok", "request", "error"], "{answer:#}");
    assert_eq!((&answer["ok"], &answer["request"]), (&json!(false), request));
    assert_eq!(keys(&answer["error"]), ["type", "message", "recoverable", "suggestion"], "{answer:#}");
    (code, answer["error"].clone())
}

#[test]
fn a_request_is_answered_with_its_echo_its_result_and_how_it_came_to_be() {
    let request =
        json!({ "intent": "QUERY", "action": "demo.get_issue", "params": { "id": 40 }, "context": { "caller": "me" } });
    let (code, answer) = ask(&request);
    assert_eq!((code, &answer["ok"], &answer["request"]), (0, &json!(true), &request), "{answer:#}");
    assert_eq!(keys(&answer), ["ok", "request", "result", "meta"]);
    assert_eq!(keys(&answer["result"]), ["artifact_type", "data"]);
    assert_eq!((&answer["result"]["artifact_type"], &answer["result"]["data"]["id"]), (&json!("JSON"), &json!(40)));
    assert_eq!(keys(&answer["meta"]), ["duration_ms", "mcp_name", "isolation_used"]);
    assert_eq!(
        (&answer["meta"]["mcp_name"], &answer["meta"]["isolation_used"]),
        (&json!("demo"), &json!("subprocess"))
    );
}

#[test]
fn the_effect_is_a_ceiling_that_the_intent_gives_where_it_is_not_declared() {
    let comment = |more: Value| {
        let mut request = json!({ "action": "demo.add_comment", "params": { "id": 40, "text": "x" } });
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        request
    };
    for allowed in [
        json!({ "intent": "MODIFY" }),
        json!({ "intent": "QUERY", "effect": "MUTATING" }),
        json!({ "intent": "EXECUTE" }),
    ] {
        assert_eq!(ask(&comment(allowed.clone())).0, 0, "{allowed}");
    }
    for refusal in [
        json!({ "intent": "QUERY" }),
        json!({ "intent": "GENERATE" }),
        json!({ "intent": "EXECUTE", "effect": "READ_ONLY" }),
    ] {
        let (code, error) = refused(&comment(refusal));
        assert_eq!((code, &error["type"]), (1, &json!("PERMISSION")), "{error:#}");
        assert_eq!(error["message"], "'demo.add_comment' is MUTATING, and the request allows READ_ONLY");
    }
    let script = |effect: &str| json!({ "intent": "EXECUTE", "action": "execute_code", "effect": effect, "params": { "code": "1 + 1" } });
    let (code, answer) = ask(&script("EXTERNAL_EXEC"));
    assert_eq!(
        (code, &answer["result"]["data"], &answer["meta"]["mcp_name"]),
        (0, &json!(2), &json!("belljar")),
        "{answer:#}"
    );
    assert_eq!(refused(&script("MUTATING")).1["type"], "PERMISSION");
}

#[test]
fn whatever_is_wrong_is_one_object_with_a_type() {
    let query = |action: &str, params: Value| json!({ "intent": "QUERY", "action": action, "params": params });
    for (request, code, kind, message) in [
        (query("demo.get_isue", json!({})), 2, "VALIDATION", "there is no tool 'demo.get_isue'"),
        (query("nobody.home", json!({})), 2, "VALIDATION", "there is no server 'nobody'"),
        (query("nonsense", json!({})), 2, "VALIDATION", "is not a tool path"),
        (query("", json!({})), 2, "VALIDATION", "'action' is empty"),
        (query("demo.get_issue", json!({ "id": "x" })), 2, "VALIDATION", "id"),
        (query("demo.get_issue", json!({ "id": 99_999 })), 1, "MCP_ERROR", "99999"),
        (json!({ "intent": "GUESS", "action": "a.b" }), 2, "VALIDATION", "unknown variant `GUESS`"),
        (json!({ "action": "a.b" }), 2, "VALIDATION", "missing field `intent`"),
        (json!({ "intent": "QUERY", "action": "a.b", "parms": {} }), 2, "VALIDATION", "unknown field `parms`"),
        (
            json!({ "intent": "QUERY", "action": "a.b", "constraints": { "timeout_ms": 0 } }),
            2,
            "VALIDATION",
            "timeout_ms is 0",
        ),
        (
            json!({ "intent": "QUERY", "action": "a.b", "constraints": { "retry_count": 99 } }),
            2,
            "VALIDATION",
            "retry_count is 99",
        ),
        (
            json!({ "intent": "EXECUTE", "action": "execute_code", "params": { "code": "throw new Error('no')" } }),
            3,
            "UNKNOWN",
            "no",
        ),
        (
            json!({ "intent": "EXECUTE", "action": "execute_code", "params": { "code": "let let" } }),
            2,
            "VALIDATION",
            "",
        ),
        (
            json!({ "intent": "EXECUTE", "action": "execute_code", "params": {} }),
            2,
            "VALIDATION",
            "missing field `code`",
        ),
        (json!([1]), 2, "VALIDATION", "the request is wrong"),
    ] {
        let (found, error) = refused(&request);
        assert_eq!((found, &error["type"]), (code, &json!(kind)), "{request}: {error:#}");
        assert!(error["message"].as_str().unwrap().contains(message), "{request}: {error:#}");
    }
    let terminal = Terminal::new();
    let huge = format!("\"{}\"", "x".repeat(100 << 20));
    for (stdin, message) in
        [("{\"intent\": ", "it is not JSON"), ("", "it is not JSON"), (&huge, "has more than 16777216 bytes")]
    {
        let answer = fed(&terminal, &["request"], stdin);
        unread(&answer, message);
    }
    unread(&fed(&terminal, &["request", "--nonsense"], ""), "--nonsense");
    unread(&fed(&terminal, &["request", "missing.json"], ""), "missing.json does not exist");
    unread(&fed(&terminal, &["request", "-"], [0xff_u8, 0xfe]), "is not UTF-8");
    let deep = "[".repeat(1_000_000);
    unread(&fed(&terminal, &["request"], deep), "it is not JSON");
}

/// One object for a request that could not be read at all.
fn unread(answer: &Answer, message: &str) {
    let object = answer.json();
    assert_eq!((answer.code, &object["ok"], &object["request"]), (2, &json!(false), &Value::Null), "{object:#}");
    assert_eq!(object["error"]["type"], "VALIDATION", "{object:#}");
    assert!(object["error"]["message"].as_str().unwrap().contains(message), "{object:#}");
}

#[test]
fn an_action_that_takes_too_long_is_a_timeout() {
    let script = "await new Promise((r) => setTimeout(r, 1e9))";
    let request = json!({ "intent": "EXECUTE", "action": "execute_code", "params": { "code": script }, "constraints": { "timeout_ms": 500 } });
    let (code, error) = refused(&request);
    assert_eq!((code, &error["type"], &error["recoverable"]), (1, &json!("TIMEOUT"), &json!(true)), "{error:#}");
}

#[test]
fn agent_uses_the_warm_server_and_subprocess_one_of_its_own() {
    let mut servers = echo();
    servers["kid"]["effects"] = json!({ "echo": "read_only" });
    let shell = Shell::new(&servers);
    let ask = |isolation: &str| {
        let request = json!({
            "intent": "QUERY", "action": "kid.echo", "params": { "text": "x" }, "constraints": { "isolation": isolation }
        });
        let file = shell.terminal.file("request.json", request.to_string());
        let answer = shell.belljar(&["request", file.to_str().unwrap()]).json();
        assert_eq!((&answer["ok"], &answer["meta"]["isolation_used"]), (&json!(true), &json!(isolation)), "{answer:#}");
    };
    ask("agent");
    let first = shell.server("kid");
    ask("agent");
    ask("subprocess");
    let then = shell.server("kid");
    assert_eq!((&first["pid"], &first["calls"]), (&then["pid"], &json!(1)), "{first:#} {then:#}");
    assert_eq!(then["calls"], 2, "{then:#}");
}

#[test]
fn what_the_owner_says_of_a_tool_counts_more_than_what_its_server_says() {
    // The server claims that it only reads.
    let shell =
        Shell::new(&json!({ "kid": { "command": child(), "args": ["echo"], "effects": { "echo": "external" } } }));
    let request = json!({ "intent": "QUERY", "action": "kid.echo", "params": { "text": "x" } });
    let file = shell.terminal.file("request.json", request.to_string());
    let answer = shell.belljar(&["request", file.to_str().unwrap()]);
    let error = answer.json()["error"].clone();
    assert_eq!((answer.code, &error["type"]), (1, &json!("PERMISSION")), "{answer:#?}");
    assert_eq!(error["message"], "'kid.echo' is EXTERNAL_EXEC, and the request allows READ_ONLY");
    assert!(error["suggestion"].as_str().unwrap().contains("'effects' in belljar.toml"), "{error:#}");
}

/// Sends requests with a configuration file, and has the folder of that file.
struct House {
    terminal: Terminal,
    config: String,
}

impl House {
    fn new(config: &str, rules: Option<&str>) -> Self {
        let terminal = Terminal::new();
        if let Some(rules) = rules {
            terminal.file("policy.toml", rules);
        }
        let config = terminal.file("belljar.toml", config).to_str().unwrap().to_owned();
        Self { terminal, config }
    }

    fn ask(&self, request: &Value) -> Value {
        fed(&self.terminal, &["request", "--config", &self.config], request.to_string()).json()
    }
}

#[test]
fn a_result_names_what_was_changed_where_the_owner_says_that_it_does() {
    let config = format!(
        "[servers.kid]\ncommand = {:?}\nargs = ['stateful']\n[servers.kid.affected]\n\
         path = {{ files = ['/changes/*/path', '/log'], symbols = ['/names'] }}\n",
        child().to_str().unwrap()
    );
    let house = House::new(&config, None);
    let params = json!({ "changes": [{ "path": "b.rs" }, { "path": "a.rs" }, { "path": "b.rs" }], "names": ["f", "g", 3], "path": "other" });
    let answer = house.ask(&json!({ "intent": "EXECUTE", "action": "kid.path", "params": params }));
    let result = &answer["result"];
    assert_eq!(result["data"], params, "{answer:#}");
    assert_eq!(
        (&result["affected_files"], &result["affected_symbols"]),
        (&json!(["b.rs", "a.rs"]), &json!(["f", "g"])),
        "{answer:#}"
    );
    // Where there is nothing, what was known before counts.
    let answer = house.ask(&json!({ "intent": "EXECUTE", "action": "kid.path", "params": { "path": "other" } }));
    assert_eq!(answer["result"]["affected_files"], json!(["other"]), "{answer:#}");
    assert_eq!(answer["result"].get("affected_symbols"), None, "{answer:#}");
}

#[test]
fn the_folder_of_a_request_chooses_the_instance_within_what_the_owner_allows() {
    let terminal = Terminal::new();
    let root = terminal.folder.path().canonicalize().unwrap();
    for name in ["one", "other"] {
        std::fs::create_dir(root.join(name)).unwrap();
    }
    let config = format!(
        "[servers.kid]\ncommand = {:?}\nargs = ['stateful', '--project={{key}}']\nkey = '{{project}}'\n\
         paths = {{ arguments = ['project'], roots = [{root:?}] }}\n",
        child().to_str().unwrap()
    );
    let house = House::new(&config, None);
    let ask = |root: &str, params: Value| {
        let context = json!({ "project_root": root });
        house.ask(&json!({ "intent": "EXECUTE", "action": "kid.started", "params": params, "context": context }))
    };
    let (one, other) = (root.join("one"), root.join("other"));
    let (one, other) = (one.to_str().unwrap(), other.to_str().unwrap());
    let answer = ask(one, json!({}));
    let started = |folder: &str| json!([format!("--project={folder}")]);
    assert_eq!(answer["result"]["data"]["arguments"], started(one), "{answer:#}");
    assert_eq!(answer["meta"]["project_root"], one, "{answer:#}");
    // What the request itself says takes precedence.
    let answer = ask(one, json!({ "project": other }));
    assert_eq!(answer["result"]["data"]["arguments"], started(other), "{answer:#}");
    assert_eq!(answer["meta"].get("project_root"), None, "{answer:#}");
    // The owner's limits on folders apply.
    assert_eq!(ask("/etc", json!({}))["ok"], false);
    let error = ask("one", json!({}))["error"].clone();
    assert_eq!(error["type"], "VALIDATION", "{error:#}");
    assert!(error["message"].as_str().unwrap().contains("not an absolute path"), "{error:#}");
}

#[test]
fn a_request_needs_the_earlier_call_that_a_rule_asks_for_and_is_measured_as_any_call_is() {
    let rules = "default = 'allow'\n\
        [[rule]]\nid = 'look-first'\ntools = 'demo.add_comment'\nafter = 'demo.get_issue'\nsame = 'id'\nwithin = '10m'\n\
        then = 'deny'\nwhy = 'look at it first'\n\
        [[rule]]\nid = 'crowded'\ntools = 'demo.create_issue'\nthen = 'deny'\n\
        measure = { tool = 'demo.list_issues', arguments = { project = '{project}', limit = 100 }, count = '/issues', max = 2 }\n";
    let house = House::new("[servers.demo]\nbuiltin = 'demo'\n", Some(rules));
    let comment = |id: u64| {
        house.ask(&json!({ "intent": "MODIFY", "action": "demo.add_comment", "params": { "id": id, "text": "x" } }))
    };
    let denied = comment(40)["error"].clone();
    assert_eq!(denied["type"], "PERMISSION", "{denied:#}");
    assert!(denied["message"].as_str().unwrap().contains("look at it first"), "{denied:#}");
    let looked = house.ask(&json!({ "intent": "QUERY", "action": "demo.get_issue", "params": { "id": 40 } }));
    assert_eq!(looked["ok"], true, "{looked:#}");
    assert_eq!(comment(40)["ok"], true);
    // It was not this one that was looked at.
    assert_eq!(comment(41)["error"]["type"], "PERMISSION");

    let project = looked["result"]["data"]["project"].clone();
    let create = |house: &House| {
        let params = json!({ "project": project, "title": "x" });
        house.ask(&json!({ "intent": "MODIFY", "action": "demo.create_issue", "params": params }))
    };
    let listed =
        house.ask(&json!({ "intent": "QUERY", "action": "demo.list_issues", "params": { "project": project } }));
    assert!(listed["result"]["data"]["issues"].as_array().unwrap().len() > 2, "{listed:#}");
    let denied = create(&house)["error"].clone();
    assert_eq!(denied["type"], "PERMISSION", "{denied:#}");
    assert!(denied["message"].as_str().unwrap().contains("'crowded'"), "{denied:#}");
    let roomy = House::new("[servers.demo]\nbuiltin = 'demo'\n", Some(&rules.replace("max = 2", "max = 90")));
    assert_eq!(create(&roomy)["ok"], true);
}
