//! A run that is ended from outside reports where its script was last seen, in lines of the
//! author's source.

use std::{sync::Arc, time::Duration};

use belljar_engine::ProcessEngine;
use belljar_model::{ByteSize, Effect, ErrorKind, Limits, RunError};
use belljar_sandbox::{Program, Recording, SandboxOptions, ToolSet};
use belljar_worker::WorkerProgram;
use serde_json::Value;

use crate::support::{self, Terminal, belljar, tools};

/// Enough for each of the scripts to reach the place where it stays.
const FUEL: u64 = 60_000_000;

/// Scripts that never end, and the line where they stay.
const ENDLESS: &[(&str, u32)] = &[
    ("const a = 1;\n\nwhile (true) {}", 3),
    ("let n = 0;\nfor (;;) {\n  n += 1;\n}", 3),
    // Loops without any expression.
    ("const a = 1;\n\nfor (;;) {}", 3),
    ("const a = 1;\nfor (;;);", 2),
    ("const a = 1;\nouter: for (;;) {\n  for (;;) {\n    continue outer;\n  }\n}", 2),
    ("const a = 1;\nfor (;;) {\n  let b = 1;\n}\nconst c = 2;\nreturn c;", 2),
    ("for (\n  let i = 0;\n  i >= 0;\n  i++\n) {}", 3),
    ("let n = 0;\ndo {\n  n++;\n} while (n > 0);", 4),
    ("const list = [1];\nfor (const x of list)\n  list.push(x);", 2),
    ("function* all() {\n  while (true) yield 1;\n}\nfor (const x of all()) {}", 2),
    // After other loops, which came to their ends.
    ("let n = 0;\nfor (let i = 0; i < 20_000; i++) n += i;\nfor (let i = 0; i < 99; i++) n += i;\nwhile (n) n++;", 4),
    ("const outer = () => {\n  const inner = () => {\n    while (true) {}\n  };\n  inner();\n};\nouter();", 3),
    // Nothing but calls.
    ("const f = (n) => {\n  try {\n    f(n + 1);\n  } catch {\n    f(n + 1);\n  }\n};\nf(0);", 3),
    ("const fib = (n) => n < 2 ? n :\n  fib(n - 1) + fib(n - 2);\nfib(50);", 2),
    ("[1, 2].forEach((x) => {\n  if (x === 2)\n    for (;;) x++;\n});", 3),
    ("const all = [...Array(1e4).keys()];\nfor (;;)\n  all.map((x) => x + 1);", 3),
    ("const all = [3, 1, 2];\nall.sort((a, b) => {\n  while (true) {}\n});", 3),
    ("while (true) {\n  await 0;\n}", 1),
    ("const again = () =>\n  Promise.resolve().then(again);\nawait again();", 2),
    // Long work of a built-in function.
    ("const text = 'a'.repeat(40) + '!';\nconst found = /a/.test(text);\nreturn /(a+)+$/.test(text);", 3),
    ("const all = Array.from({ length: 10 }, (_, i) => ({ i }));\nfor (;;)\n  JSON.parse(JSON.stringify(all));", 3),
    // Removed and prepended text does not shift lines.
    (
        "interface A {\n  a: number;\n}\ntype B = A | null;\nenum C {\n  D = 1,\n}\nlet n: number = C.D as number;\nwhile (n > 0) n++;",
        9,
    ),
    ("Here it is:\n\n```js\nconst a = 1;\nwhile (a) {}\n```\n", 5),
    ("const a = 1\r\nconst b = 2\r\nwhile (b) {}", 3),
    ("const a = '\u{1f514} \u{2028} one line to its author';\nwhile (a) {}", 2),
];

async fn ended(source: &str, limits: &Limits) -> RunError {
    support::run_with(source, limits, Arc::new(tools())).await.result.expect_err(source)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_that_never_ends_is_seen_at_its_line() {
    let limits = Limits { fuel: FUEL, ..Limits::default() };
    let mut others = String::new();
    for (source, line) in ENDLESS {
        let error = ended(source, &limits).await;
        assert_eq!(error.kind, ErrorKind::Fuel, "{source}\n{error:#?}");
        if error.line != Some(*line) {
            others.push_str(&format!("line {line} and not {:?}:{:?} of\n{source}\n\n", error.line, error.column));
            continue;
        }
        let frame = error.frame.unwrap_or_default();
        assert!(frame.contains(&format!("> {line:>4} | ")) && error.column.is_some(), "{source}\n{frame}");
    }
    assert!(others.is_empty(), "{others}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_limit_on_what_a_script_does_names_the_line() {
    let three = Duration::from_secs(3);
    let base = Limits::default();
    for (source, line, limits, name) in [
        ("const a = 1;\nwhile (a) {}", 2, Limits { compute: three, ..base.clone() }, "compute"),
        ("const a = 1;\nwhile (a) {}", 2, Limits { timeout: three, ..base.clone() }, "timeout"),
        (
            "const a = [];\nfor (;;)\n  a.push({ a: 1 });",
            3,
            Limits { memory: ByteSize::mib(32), ..base.clone() },
            "memory",
        ),
        ("await box.echo({});\n\nawait box.echo({});", 3, Limits { max_calls: 1, ..base.clone() }, "max_calls"),
    ] {
        let error = ended(source, &limits).await;
        assert_eq!(error.limit.as_ref().map(|hit| hit.name.as_str()), Some(name), "{source}\n{error:#?}");
        assert_eq!(error.line, Some(line), "{source}\n{error:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_limits_an_endless_loop_ends_in_ten_seconds_of_compute() {
    let error = ended("const a = 1;\nwhile (true) {}", &Limits::default()).await;
    let hit = error.limit.as_ref().map(|hit| (hit.name.as_str(), hit.max));
    assert_eq!((hit, error.line), (Some(("compute", 10_000)), Some(2)), "{error:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_that_waits_is_seen_at_the_first_call_that_has_no_answer() {
    let limits = Limits { timeout: Duration::from_secs(3), ..Limits::default() };
    for (source, line) in [
        ("await box.echo({});\nawait box.wait({\n  ms: 60000,\n});\nawait box.echo({});", 2),
        ("await Promise.all([\n  box.echo({}),\n  box.wait({ ms: 60000 }),\n  box.echo({}),\n]);", 3),
        ("const one = async (ms) =>\n  box.wait({ ms });\nawait Promise.all([1, 60000, 2].map(one));", 2),
        ("await box.echo({});\nawait new Promise((done) =>\n  setTimeout(done, 60000));", 3),
    ] {
        let error = ended(source, &limits).await;
        assert_eq!((error.kind, error.line), (ErrorKind::Timeout, Some(line)), "{source}\n{error:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_that_computes_while_a_call_is_under_way_is_seen_where_it_computes() {
    let limits = Limits { compute: Duration::from_secs(3), ..Limits::default() };
    let error = ended("const slow = box.wait({ ms: 60000 });\nwhile (slow) {}", &limits).await;
    assert_eq!(error.line, Some(2), "{error:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_sees_the_script_at_the_same_place() {
    let fuel = Limits { fuel: FUEL, ..Limits::default() };
    let compute = Limits { compute: Duration::from_millis(500), ..Limits::default() };
    let waits = "await box.echo({});\nawait box.wait({ ms: 60000 });";
    let timeout = Limits { timeout: Duration::from_secs(3), ..Limits::default() };
    let endless = ENDLESS.iter().flat_map(|(source, _)| [(*source, &fuel), (*source, &compute)]);
    for (source, limits) in endless.chain([(waits, &timeout)]) {
        let program = Program::new(source).with_recording(ByteSize::mib(16));
        let mut run = support::sandbox().run(program).limits(limits).tools(Arc::new(tools())).await;
        let Some(belljar_model::Recorded::Whole(bytes)) = run.recording.take() else { panic!("{source}\n{run:#?}") };
        let recording = Recording::read(bytes).unwrap();
        let replay = support::sandbox().replay(&recording, &Limits::default()).await;
        let replay = replay.unwrap_or_else(|error| panic!("{source}\n{error}"));
        assert!(run.result.as_ref().is_err_and(|error| error.line.is_some()), "{source}\n{run:#?}");
        assert_eq!(replay.result, run.result, "{source}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_engine_in_a_process_of_its_own_tells_the_same_place() {
    let program = WorkerProgram { program: belljar().to_owned(), arguments: vec!["__engine".into()] };
    let engine = ProcessEngine::start(program, SandboxOptions::default()).await;
    let engine = engine.unwrap_or_else(|fault| panic!("{fault}"));
    let limits = Limits { fuel: FUEL, ..Limits::default() };
    for (source, _) in ENDLESS {
        let program = || Program::new(*source).with_seed([7; 32]);
        let here = support::sandbox().run(program()).limits(&limits).tools(Arc::new(tools())).await;
        let there = engine.run(program()).limits(&limits).tools(Arc::new(tools())).await;
        assert_eq!(there.result, here.result, "{source}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_place_costs_no_call_of_a_tool_and_leaves_no_trace_in_a_run_that_succeeds() {
    let tools = ToolSet::new().with("box", "echo", Effect::ReadOnly, async |arguments| Ok(Value::Object(arguments)));
    let source = "let n = 0;\nfor (let i = 0; i < 50_000; i++) n += i;\nawait box.echo({ n });\nreturn n";
    let outcome = support::run_with(source, &Limits::default(), Arc::new(tools)).await;
    assert_eq!(outcome.result.as_ref().unwrap().as_str(), "1249975000");
    assert_eq!((outcome.calls.len(), outcome.logs.len()), (1, 0), "{outcome:#?}");
}

#[test]
fn people_and_programs_are_told_where_the_script_was_last_seen() {
    let terminal = Terminal::new();
    let script = "const a = 1;\nwhile (a) {}";
    let told = terminal.belljar(&["run", "--fuel", "20000000", "--code", script]);
    assert!(told.stderr.contains("last seen at line 2:\n"), "{told:#?}");
    assert!(told.stderr.contains(">    2 | while (a) {}"), "{told:#?}");
    let json = terminal.belljar(&["run", "--json", "--fuel", "20000000", "--code", script]).json();
    assert_eq!(json["error"]["line"], 2, "{json:#}");
    assert!(json["error"]["frame"].as_str().is_some_and(|frame| frame.contains("while (a)")), "{json:#}");
}
