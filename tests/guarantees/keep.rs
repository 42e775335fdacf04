//! Values that are kept between runs: for one principal in one workspace, written when a script has
//! ended by itself, recorded, bounded, and with the labels of the values that they were made from.

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use belljar_engine::{Engine, ProcessEngine};
use belljar_gateway::{Approvals, Gateway, Holder, RunLedger, SkillFolder, Skills, Toolbox};
use belljar_ledger::{Ledger, Options, QuestionFilter, SqliteLedger};
use belljar_model::{ByteSize, ErrorKind, KeepSettings, LedgerKeep, LedgerLevel, Limits, Outcome, Recorded, RunStep};
use belljar_policy::{Policy, absolute_folder};
use belljar_sandbox::{Program, Recording, SandboxOptions};
use belljar_upstream::{BuiltIns, Options as UpstreamOptions};
use belljar_worker::WorkerProgram;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{runtime::Handle, sync::Notify};

use crate::{
    approvals_by_command::Client,
    http::{Served, initialize, messages, rest, result, token},
    stub_server::{Stub, gateway_with_rules_and_ledger, run, text, value},
    support::{Terminal, belljar, sandbox},
};

/// A folder with a ledger, which any number of processes share.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn ledger(&self) -> SqliteLedger {
        SqliteLedger::new(Some(self.path()), Options { fsync: false, keep: LedgerKeep::default() })
    }

    fn kept(&self, level: LedgerLevel) -> RunLedger {
        RunLedger {
            ledger: Arc::new(self.ledger()),
            required: false,
            level,
            max_recording: ByteSize::mib(1),
            redact: Arc::default(),
        }
    }

    fn toolbox(&self, settings: KeepSettings) -> Toolbox {
        let toolbox = Toolbox::new(Vec::new(), BuiltIns::new(), UpstreamOptions::new("belljar-tests", "0"));
        toolbox.with_ledger(self.kept(LedgerLevel::Calls)).with_keep(settings)
    }

    /// A process of the owner, as far as the ledger knows, in the workspace `/shop`.
    fn process(&self) -> Gateway {
        self.process_with(KeepSettings::default())
    }

    fn process_with(&self, settings: KeepSettings) -> Gateway {
        let gateway = Gateway::new(Arc::new(self.toolbox(settings)), sandbox().clone(), Limits::default());
        gateway.with_holder(holder(None, "/shop"))
    }
}

fn holder(principal: Option<&str>, workspace: &str) -> Holder {
    Holder { principal: principal.map(Into::into), workspace: workspace.into() }
}

/// The same over a server.
fn with_stub(place: &Place, name: &str, stub: Stub) -> Gateway {
    let policy = Policy::parse("default = 'allow'\n", &absolute_folder).unwrap_or_else(|problems| panic!("{problems}"));
    let gateway = gateway_with_rules_and_ledger(&[(name, stub)], Arc::new(policy), place.kept(LedgerLevel::Calls));
    gateway.with_holder(holder(None, "/shop"))
}

/// The texts of a run's log.
fn logs(outcome: &Outcome) -> Vec<&str> {
    outcome.logs.iter().map(|entry| entry.text.as_str()).collect()
}

/// The one warning of a run that succeeds.
async fn warning(gateway: &Gateway, source: &str) -> String {
    let outcome = run(gateway, source).await;
    assert!(outcome.is_ok(), "{source}\n{outcome:#?}");
    let texts = logs(&outcome);
    assert_eq!(texts.len(), 1, "{source}\n{texts:#?}");
    texts[0].to_owned()
}

fn recording(outcome: &mut Outcome) -> Recording {
    let Some(Recorded::Whole(bytes)) = outcome.recording.take() else { panic!("{outcome:#?}") };
    Recording::read(bytes).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_script_assigns_is_there_for_later_runs_in_any_process() {
    let place = Place::new();
    let first = "keep.count = 1; keep.list = ['a', { b: null }]; keep['a b'] = 'ü\\ud83d\\ude00'; keep.large = 2 ** 60; keep.gone = 1; delete keep.gone;\n\
        return [keep.count, keep.list[1].b, 'list' in keep, 'gone' in keep, Object.keys(keep), typeof keep.none]";
    assert_eq!(
        value(&place.process(), first).await,
        json!([1, null, true, false, ["count", "list", "a b", "large"], "undefined"])
    );
    let all = "return [keep.count, keep.list, keep['a b'], keep.large === 2 ** 60, Object.keys(keep), 'count' in keep, 'x' in keep, keep.gone ?? 'nothing']";
    let expected = json!([
        1, ["a", { "b": null }], "ü😀", true, ["a b", "count", "large", "list"], true, false, "nothing"
    ]);
    assert_eq!(value(&place.process(), all).await, expected);
    // What is changed in place is kept too, and what is deleted is gone.
    let outcome =
        run(&place.process(), "keep.list.push(keep.list.length); keep.list[1].b = true; delete keep.count").await;
    assert!(outcome.is_ok() && outcome.logs.is_empty(), "{outcome:#?}");
    let said = value(
        &place.process(),
        "return [JSON.stringify(keep), { ...keep }.list.length, `${keep}`, await keep === keep]",
    )
    .await;
    let whole = r#"{"a b":"ü😀","large":1152921504606847000,"list":["a",{"b":true},2]}"#;
    assert_eq!(said, json!([whole, 3, "[object keep]", true]));
    let outcome = run(&place.process(), "console.log(keep); return keep").await;
    assert!(logs(&outcome)[0].starts_with("keep {\n  'a b': 'ü😀',\n  large: "), "{outcome:#?}");
    assert_eq!(outcome.result.unwrap().to_value().unwrap(), serde_json::from_str::<Value>(whole).unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn no_principal_sees_what_another_keeps_and_no_workspace_what_is_in_another() {
    let place = Place::new();
    let gateway = place.process();
    let holders = [
        holder(None, "/shop"),
        holder(None, "/shop/"),
        holder(None, ""),
        holder(Some("ada"), "/shop"),
        holder(Some(""), "/shop"),
        holder(Some("=ada"), "/shop"),
        // Names that are equal in the shortened form that a ledger keeps of a run.
        holder(Some(&format!("{}1", "p".repeat(200))), "/shop"),
        holder(Some(&format!("{}2", "p".repeat(200))), "/shop"),
    ];
    for (at, holder) in holders.iter().enumerate() {
        let gateway = gateway.with_holder(holder.clone());
        let source = format!("const before = [keep.mine ?? null, Object.keys(keep)]; keep.mine = {at}; return before");
        assert_eq!(value(&gateway, &source).await, json!([null, []]), "{holder:?}");
    }
    for (at, holder) in holders.iter().enumerate() {
        assert_eq!(value(&gateway.with_holder(holder.clone()), "keep.mine").await, json!(at), "{holder:?}");
    }
}

#[test]
fn two_tokens_over_http_have_their_own_values_and_the_owner_has_others() {
    let terminal = Terminal::new();
    let bob = token(&terminal, &["add", "bob"]);
    let served = Served::of(terminal, &[]);
    let value = |token: &str, code: &str| result(served.run(token, code))["structuredContent"]["value"].take();
    assert_eq!(value(&served.token, "keep.secret = 'of ann'; Object.keys(keep)"), json!(["secret"]));
    assert_eq!(value(&bob, "[keep.secret ?? null, Object.keys(keep)]"), json!([null, []]));
    assert_eq!(value(&bob, "keep.secret = 'of bob'"), json!("of bob"));
    assert_eq!(value(&served.token, "keep.secret"), json!("of ann"));
    // The owner's commands have their own, and can look at those of a token.
    let workspace = ["--workspace", ""];
    let own = served.terminal.belljar(&[&["run", "--code", "keep.secret ?? 'none'"], &workspace[..]].concat());
    assert_eq!(own.stdout.trim(), "none", "{own:?}");
    let of_bob = served.terminal.belljar(&[&["keep", "get", "secret", "--principal", "bob"], &workspace[..]].concat());
    assert_eq!(of_bob.stdout.trim(), "\"of bob\"", "{of_bob:?}");
}

/// Sends a script, answers the question for roots if there is one, and returns the value and
/// whether it was asked.
fn asked_for_roots(client: &mut Client, roots: &[&str], code: &str) -> (Value, bool) {
    client.execute(code);
    let mut was_asked = false;
    loop {
        let message = client.receive();
        if message["method"] == "roots/list" {
            was_asked = true;
            let roots: Vec<Value> = roots.iter().map(|uri| json!({ "uri": uri })).collect();
            client.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "roots": roots } }));
            continue;
        }
        let answer = &message["result"]["structuredContent"];
        assert!(answer["error"].is_null(), "{message:#}");
        return (answer["value"].clone(), was_asked);
    }
}

#[test]
fn a_clients_first_root_is_its_workspace_which_is_asked_for_once_and_after_a_change() {
    let terminal = Terminal::new();
    let config = terminal.file("belljar.toml", "");
    let config = config.to_str().unwrap();
    let mut client = Client::of(&terminal, config, json!({ "roots": { "listChanged": true } }));
    let one = ["file:///srv/one", "file:///srv/two"];
    assert_eq!(asked_for_roots(&mut client, &one, "keep.at = 'one'"), (json!("one"), true));
    assert_eq!(asked_for_roots(&mut client, &one, "keep.at"), (json!("one"), false));
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" }));
    let two = ["file:///srv/two/"];
    assert_eq!(asked_for_roots(&mut client, &two, "keep.at ?? 'nothing'"), (json!("nothing"), true));
    assert_eq!(asked_for_roots(&mut client, &two, "keep.at = 'two'"), (json!("two"), false));
    // Without roots, it is the folder of the server, which is also that of commands started there.
    let mut other = Client::of(&terminal, config, json!({}));
    assert_eq!(asked_for_roots(&mut other, &[], "keep.at = 'folder'"), (json!("folder"), false));
    let said = |arguments: &[&str]| {
        let answer = terminal.belljar(&[&["run", "--config", config, "--code", "keep.at"], arguments].concat());
        assert_eq!(answer.code, 0, "{answer:?}");
        answer.stdout.trim().to_owned()
    };
    assert_eq!(said(&[]), "folder");
    assert_eq!(said(&["--workspace", "/srv/one"]), "one");
    assert_eq!(said(&["--workspace", "/srv/two"]), "two");
}

#[test]
fn a_client_over_http_is_asked_for_its_roots_in_its_session() {
    let served = Served::of(Terminal::new(), &[]);
    let mut greeting = initialize();
    greeting["params"]["capabilities"] = json!({ "roots": {} });
    let answer = rest(served.post(&served.token, "", &greeting));
    let session = answer
        .lines()
        .find_map(|line| line.to_lowercase().strip_prefix("mcp-session-id: ").map(str::to_owned))
        .unwrap_or_else(|| panic!("{answer}"));
    let headers = format!("Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25\r\n");
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    rest(served.post(&served.token, &headers, &initialized));
    let call = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call",
        "params": { "name": "execute_code", "arguments": { "code": "keep.at = 'a root'" } } });
    // The question arrives on the stream of the call, which then continues.
    let mut lines = BufReader::new(served.post(&served.token, &headers, &call)).lines().map(Result::unwrap);
    let id = lines
        .find_map(|line| {
            let message: Value = serde_json::from_str(line.strip_prefix("data: ")?).ok()?;
            (message["method"] == "roots/list").then(|| message["id"].clone())
        })
        .expect("it is asked");
    let reply = json!({ "jsonrpc": "2.0", "id": id, "result": { "roots": [{ "uri": "file:///srv/there" }] } });
    let taken = rest(served.post(&served.token, &headers, &reply));
    assert!(taken.starts_with("HTTP/1.1 202"), "{taken}");
    let answer: Vec<String> = lines.collect();
    let last = messages(&answer.join("\n")).pop().unwrap_or_default();
    assert_eq!(last["result"]["structuredContent"]["value"], json!("a root"), "{last:#}");
    let listed =
        served.terminal.belljar(&["keep", "list", "--principal", "ann", "--workspace", "/srv/there", "--json"]);
    assert_eq!(listed.json()["values"][0]["name"], json!("at"), "{listed:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_runs_that_change_one_name_the_last_wins_and_says_so() {
    let place = Place::new();
    let other = place.process();
    run(&other, "keep.a = 1; keep.b = 1; keep.c = [1]; keep.gone = 1").await;
    // While one run waits for the call, another one runs from beginning to end.
    let stub = Stub::new(json!([{ "name": "change", "inputSchema": { "type": "object" } }]), move |_, _| {
        let source = "keep.a = 10; keep.b = 10; keep.blind = 10; delete keep.gone";
        let outcome = tokio::task::block_in_place(|| Handle::current().block_on(run(&other, source)));
        assert!(outcome.is_ok() && outcome.logs.is_empty(), "{outcome:#?}");
        text("changed")
    });
    let gateway = with_stub(&place, "other", stub);
    let source = "keep.a++; keep.c.push(2); const b = keep.b; keep.gone++; await other.change({}); keep.blind = 1";
    let outcome = run(&gateway, source).await;
    assert!(outcome.is_ok(), "{outcome:#?}");
    let lost = |name: &str| {
        format!(
            "another run changed keep.{name} while this one ran, and that change is lost: this run's value is in its place \
             (keep.$update changes a value in one step)"
        )
    };
    assert_eq!(logs(&outcome), [lost("a"), lost("blind"), lost("gone")], "what is only read is not written");
    let now = value(&gateway, "return [keep.a, keep.b, keep.c, keep.gone, keep.blind]").await;
    assert_eq!(now, json!([2, 10, [1, 2], 2, 1]));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_is_one_step_for_all_runs_and_processes() {
    const UPDATE: &str =
        "for (let i = 0; i < 4; i++) keep.$update('count', (count) => (count ?? 0) + 1); return keep.count > 0";
    let place = Place::new();
    let processes: Vec<Gateway> = (0..5).map(|_| place.process()).collect();
    let runs = (0..50).map(|at| {
        let gateway = processes[at % processes.len()].clone();
        tokio::spawn(async move { run(&gateway, UPDATE).await })
    });
    for run in runs.collect::<Vec<_>>() {
        let outcome = run.await.unwrap();
        assert!(outcome.is_ok() && outcome.logs.is_empty(), "{outcome:#?}");
    }
    assert_eq!(value(&place.process(), "keep.count").await, json!(200));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_is_written_at_once_and_mixes_with_no_assignment() {
    let place = Place::new();
    let gateway = place.process();
    let short = gateway.with_limits(Limits { fuel: 20_000_000, ..Limits::default() });
    let outcome = run(&short, "keep.$update('a', () => ({ n: 1 })); keep.lost = 1; for (;;) {}").await;
    assert_eq!(outcome.result.expect_err("it never ends").kind, ErrorKind::Fuel);
    let source = "const updated = keep.$update('a', (a) => ({ n: a.n + 1, old: a })); updated.n++;\n\
        return [updated, keep.a === updated, keep.lost ?? 'nothing']";
    assert_eq!(value(&gateway, source).await, json!([{ "n": 3, "old": { "n": 1 } }, true, "nothing"]));
    assert_eq!(value(&gateway, "keep.a.n").await, json!(3), "what was changed in place after it is kept too");
    for (source, message) in [
        ("keep.a = 1; keep.$update('a', (a) => a)", "keep.a was changed in this run, and is not written yet"),
        ("keep.a.n = 7; keep.$update('a', (a) => a)", "keep.a was changed in this run, and is not written yet"),
        ("delete keep.a; keep.$update('a', (a) => a)", "keep.a was changed in this run, and is not written yet"),
        ("keep.$update('a', async (a) => a)", "the function of keep.$update gave a promise"),
        ("keep.$update('a', (a) => { a.n++; })", "the function of keep.$update gave undefined"),
        ("keep.$update('a')", "keep.$update takes a function second"),
        ("keep.$update((a) => a)", "keep.$update takes a name as a text first"),
        ("keep.$update('$a', (a) => a)", "begins with $"),
        ("keep.$update('a', () => [1, () => 2])", "keep.a cannot be kept: keep.a[1] is a function"),
    ] {
        let caught = format!(
            "try {{ {source}; return 'nothing' }} catch (error) {{ delete keep.x; return [error.name, error.message] }}"
        );
        let said = value(&gateway, &caught).await;
        assert_eq!(said[0], "TypeError", "{source}: {said}");
        assert!(said[1].as_str().unwrap().contains(message), "{source}: {said}");
        run(&gateway, "keep.a = { n: 3 }").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_that_ends_by_itself_is_written_and_one_that_is_ended_is_not() {
    let place = Place::new();
    let gateway = place.process();
    let outcome = run(&gateway, "keep.thrown = 1; throw new Error('no')").await;
    assert_eq!(outcome.result.unwrap_err().kind, ErrorKind::Exception);
    assert!(outcome.logs.is_empty(), "{:#?}", outcome.logs);
    let limits = |limits: Limits| gateway.with_limits(limits);
    let ended = [
        (limits(Limits { fuel: 20_000_000, ..Limits::default() }), "keep.fuel = 1; for (;;) {}", ErrorKind::Fuel),
        (
            limits(Limits { timeout: Duration::from_millis(300), ..Limits::default() }),
            "keep.time = 1; await new Promise((done) => setTimeout(done, 60_000))",
            ErrorKind::Timeout,
        ),
        (
            limits(Limits { max_output: ByteSize::b(100), ..Limits::default() }),
            "keep.output = 1; return 'x'.repeat(10_000)",
            ErrorKind::Output,
        ),
        (gateway.clone(), "keep.dead = 1; await new Promise(() => {})", ErrorKind::Deadlock),
        (gateway.clone(), "keep.deep = 1; const down = () => down() + 1; down()", ErrorKind::Stack),
    ];
    for (gateway, source, kind) in ended {
        assert_eq!(run(&gateway, source).await.result.expect_err(source).kind, kind, "{source}");
    }
    let has_logged = Arc::new(Notify::new());
    let told = has_logged.clone();
    let followed = gateway.with_follower(Arc::new(move |step: &RunStep| {
        if matches!(step, RunStep::Log { .. }) {
            told.notify_one();
        }
    }));
    let source = "keep.cancelled = 1; console.log('here'); await new Promise((done) => setTimeout(done, 60_000))";
    let outcome = followed.execute(source).cancel_on(has_logged.notified()).await;
    assert_eq!(outcome.result.unwrap_err().kind, ErrorKind::Cancelled);
    assert_eq!(value(&gateway, "Object.keys(keep)").await, json!(["thrown"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_come_back_from_json_is_refused_where_it_is_assigned() {
    let place = Place::new();
    let gateway = place.process();
    for (assigned, fault) in [
        ("() => 1", "keep.x is a function"),
        ("Symbol('a')", "keep.x is a symbol"),
        ("undefined", "keep.x is undefined"),
        ("10n", "keep.x is a BigInt"),
        ("NaN", "keep.x is NaN"),
        ("new Map([[1, 2]])", "keep.x is a Map: keep Object.fromEntries(map)"),
        ("new Set([1])", "keep.x is a Set"),
        ("new Date(0)", "keep.x is a Date: keep its text, date.toISOString()"),
        ("new Uint8Array(3)", "keep.x is made of bytes"),
        ("/a/", "keep.x is not a plain object or array"),
        ("new Error('no')", "keep.x is not a plain object or array"),
        ("Promise.resolve(1)", "keep.x is a promise that was not awaited"),
        ("new (class Item { a = 1 })()", "keep.x is of a class"),
        ("new Proxy({}, {})", "keep.x is not a plain object or array"),
        ("Object(1)", "keep.x is not a plain object or array"),
        ("{ items: [1, 2, { toJSON: () => 1 }] }", "keep.x.items[2].toJSON is a function"),
        ("{ 'a b': [undefined] }", "keep.x[\"a b\"][0] is undefined"),
        ("[1, , 3]", "keep.x[1] is undefined"),
        ("(() => { const a = { b: {} }; a.b.c = [a]; return a })()", "keep.x.b.c[0] is cyclic"),
        ("(() => { let a = []; for (let i = 0; i < 200; i++) a = [a]; return a })()", "nests deeper than 126 levels"),
        ("keep", "keep.x is not a plain object or array"),
    ] {
        let source = format!(
            "try {{ keep.x = {assigned}; return 'nothing' }} catch (error) {{ return [error.name, error.message] }}"
        );
        let said = value(&gateway, &source).await;
        assert_eq!(said[0], "TypeError", "{assigned}: {said}");
        assert!(said[1].as_str().unwrap().contains(fault), "{assigned}: {said}");
    }
    let position = run(&gateway, "const a = 1;\nkeep.cache = { items: [0, 1, 2, () => a] };").await.result.unwrap_err();
    assert_eq!((position.kind, position.line), (ErrorKind::Exception, Some(2)), "{position:#?}");
    assert!(position.message.contains("keep.cache.items[3] is a function"), "{}", position.message);
    for (source, fault) in [
        ("keep.$x = 1", "begins with $"),
        ("keep[''] = 1", "is empty"),
        ("keep['\\ud800'] = 1", "is not a text of whole characters"),
        ("keep['a'.repeat(257)] = 1", "has 257 bytes; the limit is 256"),
        ("keep[Symbol.iterator] = 1", "a symbol cannot name a kept value"),
        ("Object.defineProperty(keep, 'x', { get: () => 1 })", "keep.x can only have a value"),
        ("Object.freeze(keep)", ""),
        ("keep = {}", ""),
    ] {
        let said = value(
            &gateway,
            &format!("try {{ {source}; return 'nothing' }} catch (error) {{ return [error.name, error.message] }}"),
        )
        .await;
        assert_eq!(said[0], "TypeError", "{source}: {said}");
        assert!(said[1].as_str().unwrap().contains(fault), "{source}: {said}");
    }
    assert_eq!(value(&gateway, "Object.keys(keep)").await, json!([]));
    // Undefined members of a plain object are left out.
    assert_eq!(value(&gateway, "keep.x = { a: undefined, b: 1 }; 0").await, 0);
    assert_eq!(value(&gateway, "keep.x").await, json!({ "b": 1 }));
    // A value that is changed into something that cannot be kept is not kept, and the previous one
    // stays.
    let said = warning(&gateway, "keep.x.b = { c: [() => 1] }; 0").await;
    assert!(said.contains("keep.x is not kept: keep.x.b.c[0] is a function"), "{said}");
    assert_eq!(value(&gateway, "keep.x").await, json!({ "b": 1 }));
}

#[tokio::test(flavor = "multi_thread")]
async fn over_its_bounds_nothing_is_kept_the_run_succeeds_and_says_why() {
    let place = Place::new();
    let settings = KeepSettings { max_bytes: ByteSize::b(1000), max_keys: 3, ..KeepSettings::default() };
    let gateway = place.process_with(settings.clone());
    let said = warning(&gateway, "keep.a = 'x'.repeat(2000); 0").await;
    assert!(
        said.contains("keep.a is not kept: a workspace has at most 1.0 kB and 3 kept values")
            || said.contains("keep.a is not kept"),
        "{said}"
    );
    let said =
        warning(&gateway, "keep.a = 'x'.repeat(700); keep.b = 'x'.repeat(290); keep.c = 'y'.repeat(300); 0").await;
    assert!(said.contains("not kept"), "{said}");
    assert_eq!(value(&gateway, "keep.a = 1; keep.b = 2; keep.c = 3; Object.keys(keep).length").await, json!(3));
    let said = warning(&gateway, "keep.d = 4; 0").await;
    assert!(said.contains("keep.d is not kept: this workspace has 3 kept values, the limit"), "{said}");
    // Values that are deleted or shrink make room, in whatever order.
    let outcome = run(&gateway, "keep.d = 'x'.repeat(900); delete keep.b; keep.a = ''").await;
    assert!(outcome.is_ok() && outcome.logs.is_empty(), "{outcome:#?}");
    let said = warning(&gateway, "keep.c = 'x'.repeat(500); 0").await;
    assert!(said.contains("keep.c is not kept: it has 503 bytes with its name"), "{said}");
    let error = run(&gateway, "keep.$update('c', () => 'x'.repeat(500))").await.result.unwrap_err();
    assert!(error.message.contains("keep.c is not updated: it has 503 bytes with its name"), "{error:#?}");
    assert_eq!(
        value(&gateway, "return [keep.a, keep.b ?? null, keep.c, keep.d.length]").await,
        json!(["", null, 3, 900])
    );
    // A value that is larger than the owner now allows is not overwritten as if it did not exist.
    let less = place.process_with(KeepSettings { max_bytes: ByteSize::b(500), ..settings });
    let outcome = run(&less, "keep.d ??= 'new'; 0").await;
    let said = logs(&outcome);
    assert!(said[0].contains("has more than the 500 bytes that may be read"), "{said:#?}");
    assert_eq!(value(&gateway, "keep.d.length").await, json!(900));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_is_the_run_with_what_it_read_then_and_writes_nothing() {
    let place = Place::new();
    let gateway = place.process().with_recording(ByteSize::mib(1));
    run(&gateway, "keep.list = [1, 2]; keep.other = 'x'").await;
    let source = "keep.list.push(3); keep.$update('n', (n) => (n ?? 0) + 1); keep.new = Object.keys(keep); delete keep.other;\n\
        keep.bad = [1]; keep.bad.push(() => 1);\n\
        console.log(keep); return [keep.list, keep.n]";
    let mut outcome = run(&gateway, source).await;
    let said = outcome.result.clone().unwrap().to_value().unwrap();
    assert_eq!(said, json!([[1, 2, 3], 1]));
    let recording = recording(&mut outcome);
    run(&gateway, "keep.list = 'changed'; keep.n = 100; keep.other = 'again'").await;
    let replayed = gateway.replay(&recording).await.unwrap();
    assert_eq!(replayed.result, outcome.result);
    assert_eq!((&replayed.logs, replayed.usage.fuel), (&outcome.logs, outcome.usage.fuel));
    let after = value(&gateway, "return [keep.list, keep.n, keep.other, keep.bad ?? null]").await;
    assert_eq!(after, json!(["changed", 100, "again", null]));
    // Another script gets the recorded values, and writes nothing either.
    let rehearsed =
        gateway.rehearse("keep.list = keep.list.concat('more'); return keep.list", &recording).await.unwrap();
    assert_eq!(rehearsed.result.unwrap().to_value().unwrap(), json!([1, 2, "more"]));
    assert!(rehearsed.logs.is_empty(), "{:#?}", rehearsed.logs);
    assert_eq!(value(&gateway, "keep.list").await, json!("changed"));
    // A warning of the end is repeated, whatever the store says now.
    let small = KeepSettings { max_keys: 5, ..KeepSettings::default() };
    let small = place.process_with(small).with_recording(ByteSize::mib(1));
    let mut outcome = run(&small, "for (let i = 0; i < 9; i++) keep['k' + i] = i; 0").await;
    assert!(logs(&outcome).iter().any(|text| text.contains("is not kept")), "{outcome:#?}");
    let warned = self::recording(&mut outcome);
    assert_eq!(place.process().replay(&warned).await.unwrap().logs, outcome.logs);
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts_in_a_process_of_their_own_keep_the_same() {
    let place = Place::new();
    let program = WorkerProgram { program: belljar().to_owned(), arguments: vec!["__engine".into()] };
    let apart: Engine = Arc::new(ProcessEngine::start(program, SandboxOptions::default()).await.unwrap()).into();
    let toolbox = Arc::new(place.toolbox(KeepSettings::default()));
    let gateway = Gateway::new(toolbox, apart, Limits::default()).with_holder(holder(None, "/shop"));
    let gateway = gateway.with_recording(ByteSize::mib(16));
    run(&gateway, "keep.a = [1]; keep.large = 'x'.repeat(3_000_000); let deep = 1; for (let i = 0; i < 126; i++) deep = [deep]; keep.deep = deep").await;
    let source = "keep.a.push(2); keep.$update('n', (n) => (n ?? 0) + 1); return [keep.a, keep.large.length, JSON.stringify(keep.deep).length, Object.keys(keep)]";
    let mut outcome = run(&gateway, source).await;
    let said = outcome.result.clone().unwrap_or_else(|error| panic!("{error:#?}")).to_value().unwrap();
    assert_eq!(said, json!([[1, 2], 3_000_000, 253, ["a", "deep", "large", "n"]]));
    assert!(outcome.logs.is_empty(), "{outcome:#?}");
    let recording = recording(&mut outcome);
    let replayed = gateway.replay(&recording).await.unwrap();
    assert_eq!((replayed.result, replayed.usage.fuel), (outcome.result, outcome.usage.fuel));
    assert_eq!(value(&place.process(), "return [keep.a, keep.n]").await, json!([[1, 2], 1]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_a_server_or_a_host_has_is_theirs_and_without_builtins_there_is_none() {
    let place = Place::new();
    let stub = Stub::new(json!([{ "name": "list", "inputSchema": { "type": "object" } }]), |_, _| text("theirs"));
    let policy = Policy::parse("default = 'allow'\n", &absolute_folder).unwrap_or_else(|problems| panic!("{problems}"));
    let gateway = gateway_with_rules_and_ledger(&[("keep", stub)], Arc::new(policy), place.kept(LedgerLevel::Calls));
    let gateway = gateway.with_holder(holder(None, "/shop"));
    assert_eq!(value(&gateway, "return await keep.list({})").await, json!("theirs"));
    let of = async |program: Program| {
        let outcome = sandbox().run(program).await;
        outcome.result.unwrap_or_else(|error| panic!("{error:#?}")).to_value().unwrap()
    };
    assert_eq!(of(Program::new("typeof keep")).await, json!("undefined"));
    assert_eq!(of(Program::new("typeof keep").with_keep()).await, json!("object"));
    assert_eq!(of(Program::new("typeof keep").with_keep().without_builtins()).await, json!("undefined"));
    let disabled = place.process_with(KeepSettings { enabled: false, ..KeepSettings::default() });
    assert_eq!(value(&disabled, "typeof keep").await, json!("undefined"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_with_a_name_keeps_what_belongs_to_the_run_that_calls_it() {
    let place = Place::new();
    let scripts = tempfile::tempdir().unwrap();
    let count = "/** Counts. */\nexport default async () => keep.$update('n', (n) => (n ?? 0) + 1);\n";
    std::fs::write(scripts.path().join("count.ts"), count).unwrap();
    let folders = vec![SkillFolder { path: scripts.path().to_owned(), is_named: true }];
    let toolbox = place.toolbox(KeepSettings::default()).with_skills(Skills::new(folders));
    let gateway = Gateway::new(Arc::new(toolbox), sandbox().clone(), Limits::default());
    let gateway = gateway.with_holder(holder(None, "/shop"));
    assert_eq!(value(&gateway, "return [await skills.count({}), await skills.count({})]").await, json!([1, 2]));
    assert_eq!(value(&place.process(), "keep.n").await, json!(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_touches_nothing_kept_costs_what_it_cost_and_asks_nothing() {
    let place = Place::new();
    let with = place.process().with_recording(ByteSize::mib(1));
    let without = Gateway::new(Arc::new(place.toolbox(KeepSettings::default())), sandbox().clone(), Limits::default());
    for source in ["1+1", "const all = [3, 1, 2].map((n) => n * 2); all.sort(); all"] {
        let (mut with, without) = (run(&with, source).await, run(&without, source).await);
        let (one, other) = (with.usage.fuel.unwrap() as f64, without.usage.fuel.unwrap() as f64);
        assert!(one / other < 1.01, "{source}: {one} {other}");
        let asked = recording(&mut with);
        let is_question = |entry| {
            matches!(entry, belljar_recording::Entry::Catalog { question: belljar_recording::Question::Keep(_), .. })
        };
        assert!(!asked.entries().any(is_question), "{source}");
    }
}

const RULES: &str = "default = 'allow'\n[labels]\nprivate = ['crm.*']\n\
    [[rule]]\nid = 'stays'\ntools = 'web.*'\ncarries = 'private'\nthen = 'deny'\nwhy = 'customers stay here'\n";

/// `crm.get` adds the label `private`, with which nothing may be posted.
fn office(place: &Place, rules: &str) -> (Stub, Gateway) {
    let schema = json!({ "type": "object", "properties": { "note": { "type": "string" } } });
    let tool = |name: &str| json!([{ "name": name, "inputSchema": schema }]);
    let (crm, web) =
        (Stub::new(tool("get"), |_, _| text("ada@example.org")), Stub::new(tool("post"), |_, _| text("posted")));
    let policy = Policy::parse(rules, &absolute_folder).unwrap_or_else(|problems| panic!("{problems}"));
    let kept = place.kept(LedgerLevel::Calls);
    let gateway = gateway_with_rules_and_ledger(&[("crm", crm), ("web", web.clone())], Arc::new(policy), kept);
    (web, gateway.with_holder(holder(None, "/shop")))
}

const POST: &str = "const post = () => web.post({}).then(() => 'posted', (error) => error.rule ?? error.message);\n";

#[tokio::test(flavor = "multi_thread")]
async fn a_value_has_the_labels_of_its_run_and_gives_them_to_whoever_reads_it() {
    let place = Place::new();
    let (web, gateway) = office(&place, RULES);
    run(&gateway, "keep.plain = 1").await;
    run(&gateway, "keep.mail = await crm.get({}); keep.$update('count', (n) => (n ?? 0) + 1)").await;
    let said = |source: &str| {
        let (gateway, source) = (gateway.clone(), format!("{POST}{source}; return await post()"));
        async move { value(&gateway, &source).await }
    };
    assert_eq!(said("keep.plain").await, "posted");
    assert_eq!(said("keep.mail").await, "stays");
    assert_eq!(said("keep.count").await, "stays");
    // Names can reveal as much as values.
    assert_eq!(said("Object.keys(keep)").await, "stays");
    assert_eq!(said("'mail' in keep").await, "stays");
    assert_eq!(said("keep.$update('count', (n) => n + 1)").await, "stays");
    assert_eq!(said("keep.blind = 1").await, "posted");
    // Values made from it have the labels too, even through a process whose rules do not have such
    // a label.
    assert_eq!(value(&gateway, "keep.copy = keep.mail; 0").await, 0);
    let (_, others) = office(&place, "default = 'allow'\n");
    assert_eq!(value(&others, "keep.again = keep.mail.length; 0").await, 0);
    assert_eq!(said("keep.copy").await, "stays");
    assert_eq!(said("keep.again").await, "stays");
    assert_eq!(web.calls.load(Ordering::SeqCst), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn that_there_is_no_room_beside_labelled_values_brings_their_labels() {
    let place = Place::new();
    let (web, gateway) = office(&place, RULES);
    run(&gateway, "keep.mail = (await crm.get({})).repeat(400_000); 0").await;
    let source = format!(
        "{POST}let said = ''; try {{ keep.$update('x', () => 'y'.repeat(3_000_000)) }} catch (error) {{ said = error.message }} return [said, await post()]"
    );
    let said = value(&gateway, &source).await;
    assert_eq!(said[1], "stays", "{said}");
    let message = said[0].as_str().unwrap();
    assert!(message.contains("has 3000003 bytes with its name, for which there is no room"), "{message}");
    assert!(!message.contains("free"), "{message}");
    assert_eq!(web.calls.load(Ordering::SeqCst), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_was_put_aside_goes_on_with_what_it_had_read_and_its_labels() {
    let place = Place::new();
    let rules = format!("{RULES}[[rule]]\nid = 'asks'\ntools = 'crm.*'\nthen = 'ask'\nwhy = 'mine'\n");
    let process = |hold: Duration, workspace: &str| {
        let (web, gateway) = office(&place, &rules);
        let wait = Duration::from_secs(600);
        let max_resting = ByteSize::mib(1);
        let approvals = Approvals { desk: None, by_command: true, allow_yes: false, wait, hold, max_resting };
        (web, gateway.with_approvals(approvals).with_holder(holder(None, workspace)))
    };
    run(&office(&place, &RULES.replace("crm.*'", "none.*'")).1, "keep.before = [1]").await;
    let source = format!(
        "{POST}keep.before.push(2); keep.$update('n', (n) => (n ?? 0) + 1); await crm.get({{}}); keep.after = 1; return [keep.before, keep.n, await post()]"
    );
    let (_, first) = process(Duration::ZERO, "/shop");
    let outcome = run(&first, &source).await;
    assert_eq!(outcome.result.as_ref().unwrap_err().kind, ErrorKind::Approval, "{outcome:#?}");
    let id = outcome.run.unwrap();
    assert_eq!(value(&place.process(), "return [keep.before, keep.n]").await, json!([[1], 1]), "it has not ended");
    let ledger = place.ledger();
    let open = ledger.questions(QuestionFilter { open: true, ..QuestionFilter::default() }).await.unwrap();
    for kept in open {
        use belljar_approvals::{By, Change, Channel, Decision};
        let decision =
            Decision { approve: true, by: By::Owner, channel: Channel::Command, at: std::time::SystemTime::now() };
        ledger.change_question(Change::Decide(kept.question.id, decision)).await.unwrap().unwrap();
    }
    // It may be resumed from elsewhere: it stays in its workspace.
    let (_, second) = process(Duration::ZERO, "/elsewhere");
    let outcome = second.resume(id).await;
    let said = outcome.result.unwrap_or_else(|error| panic!("{error:#?}")).to_value().unwrap();
    assert_eq!(said, json!([[1, 2], 1, "stays"]));
    assert_eq!(value(&place.process(), "return [keep.before, keep.n, keep.after]").await, json!([[1, 2], 1, 1]));
}

#[tokio::test(flavor = "multi_thread")]
async fn with_the_ledger_off_nothing_is_kept_and_a_write_says_so() {
    let place = Place::new();
    let off = place.process().with_ledger_level(LedgerLevel::Off);
    run(&place.process(), "keep.a = 1").await;
    let outcome = run(&off, "return [keep.a ?? null, Object.keys(keep)]").await;
    assert!(outcome.logs.is_empty(), "{outcome:#?}");
    assert_eq!(outcome.result.unwrap().to_value().unwrap(), json!([null, []]));
    let said = warning(&off, "keep.a = 2; keep.b = 3; 0").await;
    assert!(said.contains("keep.a, keep.b are not kept: the ledger is off"), "{said}");
    let error = run(&off, "keep.$update('a', () => 1)").await.result.unwrap_err();
    assert!(error.message.contains("keep.a is not updated: the ledger is off"), "{error:#?}");
    assert_eq!(value(&place.process(), "keep.a").await, json!(1));
    // Without any ledger, reading reports that too.
    let toolbox = Toolbox::new(Vec::new(), BuiltIns::new(), UpstreamOptions::new("belljar-tests", "0"));
    let none = Gateway::new(Arc::new(toolbox), sandbox().clone(), Limits::default()).with_holder(holder(None, "/shop"));
    let said = warning(&none, "keep.a ?? keep.b ?? 0").await;
    assert!(said.contains("kept values cannot be read: there is no ledger to keep values in"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_cannot_be_read_makes_values_undefined_and_is_not_written_over() {
    let place = Place::new();
    std::fs::write(place.path().join("ledger.db"), "this is a file of somebody else, and no database at all").unwrap();
    let outcome =
        run(&place.process(), "const a = keep.a ?? 'nothing'; keep.a = 1; return [a, Object.keys(keep)]").await;
    assert_eq!(outcome.result.as_ref().unwrap().to_value().unwrap(), json!(["nothing", ["a"]]));
    let texts = logs(&outcome);
    assert!(texts.iter().any(|text| text.starts_with("kept values cannot be read: ")), "{texts:#?}");
    assert!(
        texts.iter().any(|text| text.contains("keep.a is not kept: what there is under this name could not be read")),
        "{texts:#?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_value_is_said_to_be_one_and_others_are_still_there() {
    let place = Place::new();
    let gateway = place.process();
    run(&gateway, "keep.a = [1, 2, 3]; keep.b = 'fine'").await;
    let database = rusqlite::Connection::open(place.path().join("ledger.db")).unwrap();
    database.execute("UPDATE kept SET value = '[1,' WHERE name = 'a'", []).unwrap();
    let outcome = run(&gateway, "const a = keep.a ?? 'nothing'; keep.a = 1; return [a, keep.b]").await;
    assert_eq!(outcome.result.as_ref().unwrap().to_value().unwrap(), json!(["nothing", "fine"]));
    let texts = logs(&outcome);
    assert!(texts[0].contains("is not a kept value") && texts[1].contains("keep.a is not kept"), "{texts:#?}");
    assert_eq!(value(&gateway, "delete keep.a; keep.b").await, json!("fine"));
    assert_eq!(value(&gateway, "Object.keys(keep)").await, json!(["b"]));
}

#[test]
fn the_owner_lists_reads_and_forgets_values_by_command() {
    let terminal = Terminal::new();
    let config = terminal.file("belljar.toml", "[keep]\nmax_bytes = 1000\n");
    let config = config.to_str().unwrap();
    let keep = |arguments: &[&str]| terminal.belljar(&[&["keep"], arguments, &["--config", config]].concat());
    let none = keep(&["list", "--json"]);
    assert_eq!(none.json()["values"], json!([]), "{none:?}");
    assert!(!terminal.folder.path().join(".local/state/belljar/ledger.db").exists(), "looking makes no file");
    let ran =
        terminal.belljar(&["run", "--config", config, "--code", "keep.seen = [1, 2]; keep.other = '\\u001b[2J'; 0"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let listed = keep(&["list"]);
    assert!(listed.stdout.contains("seen") && listed.stderr.contains("2 values"), "{listed:?}");
    let found = keep(&["list", "--json"]).json();
    assert_eq!((&found["values"][1]["name"], &found["max_bytes"]), (&json!("seen"), &json!(1000)), "{found:#}");
    assert_eq!(keep(&["get", "seen"]).stdout.trim(), "[1,2]");
    assert_eq!(keep(&["get", "seen", "--json"]).json()["value"], json!([1, 2]));
    let missing = keep(&["get", "sen"]);
    assert!(missing.code == 1 && missing.stderr.contains("did you mean seen?"), "{missing:?}");
    let elsewhere = keep(&["get", "seen", "--workspace", "/elsewhere"]);
    assert_eq!(elsewhere.code, 1, "{elsewhere:?}");
    assert_eq!(keep(&["rm", "seen", "--json"]).json()["forgotten"], json!(1));
    assert_eq!(keep(&["rm", "--all", "--json"]).json()["forgotten"], json!(1));
    assert_eq!(keep(&["list", "--json"]).json()["values"], json!([]));
    let doctor = terminal.belljar(&["doctor", "--config", config, "--no-daemon"]);
    assert!(doctor.stdout.contains("0 values in 0 workspaces"), "{doctor:?}");
}
