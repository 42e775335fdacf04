//! What the owner sets by effect applies to calls of every server that does not set it itself. A
//! tool counts with the effect that decisions take it to have.

use serde_json::{Value, json};

use crate::{
    command_line::fed,
    dead_children::child,
    support::{Answer, Terminal},
};

/// A terminal with a configuration of these tables, and of servers `[servers.NAME]` with these
/// lines, each of which runs a child in this mode.
struct Owner {
    terminal: Terminal,
    config: String,
}

impl Owner {
    fn new(tables: &str, servers: &[(&str, &[&str], &str)]) -> Self {
        let terminal = Terminal::new();
        let mut text = format!("{tables}\n");
        for (name, args, lines) in servers {
            text += &format!("[servers.{name}]\ncommand = {:?}\nargs = {args:?}\n{lines}\n", child().to_str().unwrap());
        }
        let config = terminal.file("belljar.toml", text).to_str().unwrap().to_owned();
        Self { terminal, config }
    }

    fn belljar(&self, arguments: &[&str]) -> Answer {
        self.terminal.belljar(&[arguments, &["--config", &self.config]].concat())
    }

    fn call(&self, tool: &str, input: &Value) -> Value {
        self.belljar(&["call", tool, "--input", &input.to_string(), "--json"]).json()
    }

    fn request(&self, request: &Value) -> Value {
        fed(&self.terminal, &["request", "--config", &self.config], request.to_string()).json()
    }
}

const TIMEOUTS: &str = "[effects.read_only]\ncall_timeout = '150ms'\n[effects.mutating]\ncall_timeout = '1h'\n";
const READS: &str = "effects = { slow = 'read_only' }";
const CHANGES: &str = "effects = { slow = 'mutating' }";

fn timed_out(answer: &Value) -> bool {
    let message = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(answer["ok"] == true || message.contains("did not answer within"), "{answer:#}");
    message.contains("did not answer within 150ms")
}

#[test]
fn a_call_has_the_time_that_its_effect_gives_it_where_its_server_sets_none() {
    let owner = Owner::new(
        TIMEOUTS,
        &[
            ("reads", &["echo"], READS),
            ("changes", &["echo"], CHANGES),
            // Nobody has declared what it does.
            ("unknown", &["echo"], ""),
            ("patient", &["echo"], &format!("{READS}\ncall_timeout = '20s'")),
        ],
    );
    for (server, is_too_slow) in [("reads", true), ("changes", false), ("unknown", false), ("patient", false)] {
        let slow = json!({ "ms": if is_too_slow { 60_000 } else { 600 } });
        assert_eq!(timed_out(&owner.call(&format!("{server}.slow"), &slow)), is_too_slow, "{server}");
    }
    // Calls of a script pass the same place.
    let script = "const end = (s, ms) => s.slow({ ms }).then(() => 'done', (e) => e.message);\n\
                  return await Promise.all([end(reads, 60_000), end(changes, 600)])";
    let outcome = owner.belljar(&["run", "--json", "--code", script]).json();
    assert!(outcome["value"][0].as_str().unwrap().contains("did not answer within 150ms"), "{outcome:#}");
    assert_eq!(outcome["value"][1], "done", "{outcome:#}");
}

#[test]
fn a_call_is_made_again_where_its_effect_says_so_and_never_one_that_may_change_something_twice() {
    let tables = "[effects.read_only]\nrepeat = 'read_only'\n[effects.mutating]\nrepeat = 'idempotent'\n\
                  [effects.external]\nrepeat = 'idempotent'\n";
    for (server, lines, is_repeated) in [
        ("reads", "effects = { echo = 'read_only' }", true),
        ("changes", "effects = { echo = 'mutating' }", false),
        ("puts", "effects = { echo = 'mutating' }\nidempotent = ['echo']", true),
        // The server says that it only reads, and nobody trusts it.
        ("claims", "", false),
        ("stubborn", "effects = { echo = 'read_only' }\nrepeat = 'never'", false),
    ] {
        let folder = Terminal::new();
        let mark = folder.folder.path().join("mark");
        let owner = Owner::new(tables, &[(server, &["crash-once", mark.to_str().unwrap()], lines)]);
        let answer = owner.call(&format!("{server}.echo"), &json!({ "text": "x" }));
        assert_eq!(answer["ok"], is_repeated, "{server}: {answer:#}");
        assert!(mark.exists(), "{server} has not died");
        if !is_repeated {
            let message = answer["error"]["message"].as_str().unwrap();
            assert!(message.contains("died during the call"), "{server}: {answer:#}");
        }
    }
}

#[test]
fn the_intent_of_a_request_chooses_what_holds_for_its_call() {
    let owner = Owner::new(TIMEOUTS, &[("kid", &["echo"], READS)]);
    let request = |intent: &str, ms: u64| {
        owner.request(&json!({ "intent": intent, "action": "kid.slow", "params": { "ms": ms } }))
    };
    // The tool only reads. A request whose intent is to modify gets the time limit for that.
    assert!(timed_out(&request("QUERY", 60_000)));
    assert!(!timed_out(&request("MODIFY", 600)));
    // A request that modifies, while it claims only to read, is refused as before.
    let owner = Owner::new(TIMEOUTS, &[("kid", &["echo"], CHANGES)]);
    let refused = owner.request(&json!({ "intent": "QUERY", "action": "kid.slow", "params": { "ms": 0 } }));
    assert_eq!(refused["error"]["type"], "PERMISSION", "{refused:#}");

    // An intent never makes belljar repeat a call that the tool's own effect would not allow to
    // repeat.
    let tables = "[effects.read_only]\nrepeat = 'read_only'\n";
    for (intent, is_repeated) in [("QUERY", true), ("MODIFY", false)] {
        let folder = Terminal::new();
        let mark = folder.folder.path().join("mark");
        let kid: (&str, &[&str], &str) =
            ("kid", &["crash-once", mark.to_str().unwrap()], "effects = { echo = 'read_only' }");
        let owner = Owner::new(tables, &[kid]);
        let answer = owner.request(&json!({ "intent": intent, "action": "kid.echo", "params": { "text": "x" } }));
        assert_eq!(answer["ok"], is_repeated, "{intent}: {answer:#}");
    }
}

#[test]
fn policy_explain_says_how_long_a_call_may_take_and_whether_it_is_made_again() {
    let tables = "[effects.read_only]\ncall_timeout = '5s'\nrepeat = 'read_only'\n";
    let owner = Owner::new(tables, &[("kid", &["echo"], "effects = { echo = 'read_only', slow = 'mutating' }")]);
    owner.terminal.file("policy.toml", "default = 'allow'\n");
    let explained = |tool: &str| owner.belljar(&["policy", "explain", tool, "--json"]).json();
    let echo = explained("kid.echo");
    assert_eq!((&echo["call_timeout_ms"], &echo["repeated"]), (&json!(5000), &json!(true)), "{echo:#}");
    let slow = explained("kid.slow");
    assert_eq!((&slow["call_timeout_ms"], &slow["repeated"]), (&Value::Null, &json!(false)), "{slow:#}");
    let told = owner.belljar(&["policy", "explain", "kid.echo"]).stdout;
    assert!(told.contains("fails after 5s without progress") && told.contains("is repeated once"), "{told}");
}
