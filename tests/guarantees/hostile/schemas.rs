//! Children whose schemas are costly to check or to compile: line 110 of the catalogue.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, Instant},
};

use belljar_gateway::Gateway;
use belljar_model::Outcome;
use belljar_testkit::is_gone_within;
use belljar_worker::WorkerProgram;
use serde_json::{Map, Value, json};

use crate::{
    cancellation::send,
    stub_server::{Stub, gateway_with_check_worker, run},
    support::{Answer, Terminal, belljar},
};

/// More than anything working takes, even on a busy machine.
const AMPLE: Duration = Duration::from_secs(60);

/// Schemas that a child can send and that would keep a validator busy, or fill its memory; and a
/// script's argument that triggers it.
fn attacks() -> Vec<(&'static str, Value, &'static str)> {
    let mut folded = Map::new();
    for level in 0..40 {
        let next = json!({ "$ref": format!("#/$defs/p{}", level + 1) });
        folded.insert(format!("p{level}"), json!({ "allOf": [next, next] }));
    }
    folded.insert("p40".into(), json!({ "type": "object" }));
    let patterns = |count: usize, pattern: &dyn Fn(usize) -> String| -> Value {
        (0..count).map(|number| json!({ "pattern": pattern(number) })).collect()
    };
    let text = "'ab'.repeat(5e5)";
    vec![
        (
            "patterns",
            json!({ "properties": { "a": { "anyOf": patterns(1000, &|n| format!("a.{{60}}[^ab#]{n}")) } } }),
            text,
        ),
        ("names", json!({ "patternProperties": { "a.{200}[^ab#]": true } }), "{ ['ab'.repeat(5e5)]: 1 }"),
        ("compiled", json!({ "allOf": patterns(4_000, &|n| format!("[a-z]{{1000}}{n}")) }), "1"),
        ("multiplied", json!({ "$defs": folded, "$ref": "#/$defs/p0" }), "1"),
        (
            "alike",
            json!({ "properties": { "a": { "uniqueItems": true } } }),
            // Arrays are hashed by their contents, and these are empty.
            "Array.from({ length: 1e4 }, (_, n) => Array.from({ length: 14 }, (_, bit) => n >> bit & 1 ? [] : [[]]))",
        ),
        (
            "kept",
            json!({ "properties": { "a": { "anyOf": vec![json!({ "type": "string" }); 4_000] } } }),
            "Array(2e5).fill(0)",
        ),
    ]
}

/// A tool for each schema, and one without requirements.
fn tools() -> Value {
    let tool = |name: &str, schema: &Value| json!({ "name": name, "inputSchema": schema });
    let hostile = attacks().into_iter().map(|(name, schema, _)| tool(name, &schema));
    hostile.chain([tool("plain", &json!({ "type": "object" })), tool("rows", &rows())]).collect()
}

/// An honest schema, whose arguments may be large.
fn rows() -> Value {
    json!({ "properties": { "rows": { "type": "array", "items": { "type": "string", "pattern": "^[a-z]+$" } } } })
}

fn stub() -> Stub {
    Stub::new(tools(), |name, _| json!({ "content": [], "structuredContent": { "called": name } }))
}

/// belljar's own program as the worker, under a name by which the test finds its processes.
struct Workers {
    folder: tempfile::TempDir,
}

impl Workers {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(belljar(), folder.path().join("worker")).unwrap();
        Self { folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("worker")
    }

    fn gateway(&self) -> Gateway {
        let program = WorkerProgram { program: self.path(), arguments: vec!["__check".into()] };
        gateway_with_check_worker(&[("box", stub())], program)
    }

    fn running(&self) -> BTreeSet<u32> {
        processes(|command| command.starts_with(&self.path().to_string_lossy().into_owned()))
    }
}

/// The processes with this command line, its words separated by spaces.
fn processes(is_such: impl Fn(&str) -> bool) -> BTreeSet<u32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let such = entries.filter_map(|entry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        let command = std::fs::read(Path::new("/proc").join(pid.to_string()).join("cmdline")).ok()?;
        is_such(&String::from_utf8_lossy(&command).replace('\0', " ")).then_some(pid)
    });
    such.collect()
}

fn value(outcome: Outcome) -> Value {
    outcome.result.unwrap_or_else(|error| panic!("{error:#?}")).to_value().unwrap()
}

/// On a single-threaded runtime, so that a check in place would block everything.
#[test]
pub(crate) fn a_schema_that_is_costly_holds_up_nothing_and_its_call_goes_on_unchecked() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let workers = Workers::new();
        let gateway = workers.gateway();
        value(run(&gateway, "return await box.plain({})").await);
        for (name, _, argument) in attacks() {
            let source = format!("return await box.{name}({{ a: {argument} }})");
            let mut hostile = std::pin::pin!(run(&gateway, &source));
            // Until the hostile call is over, others are made and answered.
            let mut others = 0;
            let begun = Instant::now();
            let outcome = loop {
                let other = run(&gateway, "return await box.plain({})");
                tokio::select! {
                    biased;
                    outcome = &mut hostile => break outcome,
                    other = other => assert_eq!(value(other), json!({ "called": "plain" })),
                }
                others += 1;
                assert!(begun.elapsed() < AMPLE, "{name} goes on");
            };
            assert_eq!(value(outcome), json!({ "called": name }));
            assert!(others > 0, "{name} held up the others");
        }
    });
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn what_a_worker_checks_is_refused_in_the_same_words_and_a_lost_worker_is_replaced() {
    let workers = Workers::new();
    let gateway = workers.gateway();
    let refused = "try { return await box.rows({ rows: [...Array(20000).fill('a'), 'B'] }) } catch (error) { return error.message }";
    for _ in 0..2 {
        let message = value(run(&gateway, refused).await);
        let expected = "arguments.rows[20000]: expected a string that matches ^[a-z]+$, found string \"B\"";
        assert!(message.as_str().unwrap().contains(expected), "{message}");
        let admitted = run(&gateway, "return await box.rows({ rows: Array(20000).fill('a') })").await;
        assert_eq!(value(admitted), json!({ "called": "rows" }));
        // The only worker is warm; it is killed as if by the system.
        let running = workers.running();
        assert_eq!(running.len(), 1, "{running:?}");
        for pid in running {
            send("KILL", pid);
            assert!(is_gone_within(pid, AMPLE));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn the_worker_of_a_run_that_is_dropped_ends_with_it() {
    let workers = Workers::new();
    let gateway = workers.gateway();
    let hostile = run(&gateway, "return await box.patterns({ a: 'ab'.repeat(5e5) })");
    let working = async {
        loop {
            if let Some(worker) = workers.running().first() {
                break *worker;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let worker = tokio::select! {
        outcome = hostile => panic!("it was not checked: {outcome:#?}"),
        worker = working => worker,
    };
    assert!(is_gone_within(worker, AMPLE));
}

/// A server over stdio with the first attack's schema.
fn config(terminal: &Terminal) -> String {
    const CHILD: &str = r#"
const { readFileSync } = require("fs");
const tools = readFileSync(process.argv[2], "utf8");
const answer = (id, result) => process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":${result}}\n`);
const handle = ({ id, method, params }) => {
  if (id === undefined) return;
  if (method === "initialize")
    return answer(id, JSON.stringify({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "box", version: "1" } }));
  if (method === "tools/list") return answer(id, `{"tools":${tools}}`);
  return answer(id, `{"content":[],"structuredContent":{"called":"${params?.name}"}}`);
};
let input = "";
process.stdin.on("data", (data) => {
  const lines = (input += data).split("\n");
  input = lines.pop();
  lines.filter(Boolean).forEach((line) => handle(JSON.parse(line)));
});
"#;
    let child = terminal.file("child.js", CHILD);
    let tools = terminal.file("tools.json", tools().to_string());
    let text = format!("[servers.box]\ncommand = 'node'\nargs = ['{}', '{}']\n", child.display(), tools.display());
    terminal.file("belljar.toml", text).to_str().unwrap().to_owned()
}

const ATTACK: &str = "return await box.patterns({ a: 'ab'.repeat(5e5) })";

#[test]
pub(crate) fn a_run_over_a_costly_schema_ends_in_its_time() {
    let terminal = Terminal::new();
    let config = config(&terminal);
    let answer = terminal.belljar(&["run", "--json", "--timeout", "60s", "--config", &config, "--code", ATTACK]);
    assert_eq!(answer.json()["value"], json!({ "called": "patterns" }), "{answer:#?}");
    assert!(answer.stderr.contains("box.patterns"), "nobody says that it was not checked: {answer:#?}");
}

#[test]
pub(crate) fn a_signal_ends_a_process_whose_worker_checks_and_the_worker_too() {
    let terminal = Terminal::new();
    let config = config(&terminal);
    let mut command = terminal.command(&["run", "--json", "--config", &config, "--code", ATTACK]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The worker is told its parent's pid.
    let role = format!(" __check {} ", child.id());
    let worker = loop {
        if let Some(worker) = processes(|command| command.contains(&role)).first() {
            break *worker;
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    send("TERM", child.id());
    let answer = Answer::of(child.wait_with_output().unwrap());
    assert_ne!(answer.code, 0, "{answer:#?}");
    assert!(is_gone_within(worker, AMPLE));
}
