//! A recorded run of a component is repeated whatever it did with its calls: whether it gave them
//! up, continued beside them, or was ended while they were open. This holds in this process and
//! through the command.

use std::{sync::Arc, time::Duration};

use belljar_model::{ByteSize, ErrorKind, Limits, Outcome, Recorded};
use serde_json::{Value, json};

use super::{
    recordings::{MAX, WORLD, recorded_with, recording, repeated, replayed},
    support::{compiled, components, encoded, in_world, kind, linked, module, returns, tools, value, wit},
};
use crate::{dead_children::child, support::Terminal};

const RUN: &str = "export run: func() -> result<string, string>;";
const ASYNC: &str = "import belljar:mcp-kit/tools-async@0.1.0; export run: async func() -> result<string, string>;";
/// What the components below call. `$stall` is never answered, `$fail` at once.
const IMPORTS: &str = r#"
    (import "belljar:mcp-kit/tools-async@0.1.0" "[async-lower]stall"
        (func $stall_with (param i32 i32 i32 i32) (result i32)))
    (import "belljar:mcp-kit/tools-async@0.1.0" "[async-lower]fail" (func $fail (param i32) (result i32)))
    (import "belljar:mcp-kit/tools-async@0.1.0" "note" (func $note (param i32 i32 i32 i64 i32)))
    (import "$root" "[waitable-set-new]" (func $set (result i32)))
    (import "$root" "[waitable-join]" (func $join (param i32 i32)))
    (import "$root" "[waitable-set-wait]" (func $wait (param i32 i32) (result i32)))
    (import "$root" "[subtask-cancel]" (func $cancel (param i32) (result i32)))
    (import "$root" "[subtask-drop]" (func $drop (param i32)))
    (import "$root" "[thread-yield]" (func $yield (result i32)))"#;
const HELPERS: &str = r#"
    (data (i32.const 16) "hi")
    (func $task (param $status i32) (result i32) (i32.shr_u (local.get $status) (i32.const 4)))
    (func $stall (result i32)
        (call $task (call $stall_with (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 4096))))
    (func $give_up (param $task i32)
        (drop (call $cancel (local.get $task)))
        (call $drop (local.get $task)))
    (func $noted
        (call $note (i32.const 16) (i32.const 2) (i32.const 0) (i64.const 0) (i32.const 2048))
        (if (i32.load8_u (i32.const 2048)) (then unreachable)))
    ;; Waits until one of a set has returned, which is then dropped.
    (func $take (param $set i32)
        (loop $again
            (drop (call $wait (local.get $set) (i32.const 512)))
            (br_if $again (i32.ne (i32.load (i32.const 516)) (i32.const 2))))
        (call $drop (i32.load (i32.const 512))))"#;

fn hi() -> String {
    returns(0, "(i32.const 16)", "(i32.const 2)")
}

/// The parts above, with more imports.
fn parts(imports: &str) -> String {
    format!("{IMPORTS} {imports} {HELPERS}")
}

/// A component with the parts above.
fn with_calls(body: &str) -> Vec<u8> {
    in_world(ASYNC, &module(&parts(""), body))
}

/// A component that also waits for timers and streams: it makes a call without waiting, makes
/// another one and waits for it, checks which of three timers is ready first, and takes the answer
/// of the first call. Its value is how many timers were ready, and the first of them.
pub(super) fn various() -> Vec<u8> {
    let parts = parts(
        r#"(import "wasi:clocks/monotonic-clock@0.2.6" "subscribe-duration" (func $after (param i64) (result i32)))
           (import "wasi:io/poll@0.2.6" "poll" (func $poll (param i32 i32 i32)))"#,
    );
    let body = format!(
        "(local $set i32) (local.set $set (call $set))
         (call $join (call $task (call $fail (i32.const 3072))) (local.get $set))
         (call $noted)
         (i32.store (i32.const 600) (call $after (i64.const 3600000000000)))
         (i32.store (i32.const 604) (call $after (i64.const 5000000)))
         (i32.store (i32.const 608) (call $after (i64.const 5000000)))
         (call $poll (i32.const 600) (i32.const 3) (i32.const 700))
         (i32.store8 (i32.const 64) (i32.add (i32.const 48) (i32.load (i32.const 704))))
         (i32.store8 (i32.const 65) (i32.add (i32.const 48) (i32.load8_u (i32.load (i32.const 700)))))
         (call $take (local.get $set)) {}",
        returns(0, "(i32.const 64)", "(i32.const 2)")
    );
    let world = format!("import wasi:clocks/monotonic-clock@0.2.6; import wasi:io/poll@0.2.6; {ASYNC}");
    encoded(&wit(&tools()), &WORLD, &world, &module(&parts, &body))
}

fn called(outcome: &Outcome) -> Vec<(&str, bool)> {
    outcome.calls.iter().map(|call| (call.tool.as_str(), call.ok)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_were_given_up_are_open_until_the_end_and_are_repeated() {
    let given_up = "(call $give_up (call $stall))".repeat(3);
    let file = with_calls(&format!("{given_up} (call $noted) {}", hi()));
    let limits = |max_concurrent_calls| Limits { max_concurrent_calls, ..Limits::default() };
    let outcome = repeated(&file, &limits(4)).await;
    assert_eq!((value(&outcome), outcome.usage.concurrent_calls), (json!("hi"), 4));
    assert_eq!(called(&outcome), [("note", true), ("stall", false), ("stall", false), ("stall", false)]);
    let outcome = repeated(&file, &limits(3)).await;
    assert_eq!((kind(&outcome), outcome.calls.len()), (ErrorKind::Calls, 3));
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_of_calls_that_were_given_up_are_held_until_the_end() {
    let stall = "(call $stall_with (i32.const 1) (i32.const 65536) (i32.const 300000) (i32.const 2048))";
    let body = format!(
        "(local $status i32)
         (memory.fill (i32.const 65536) (i32.const 97) (i32.const 300000)) (global.set $free (i32.const 400000))
         (call $give_up (call $task {stall}))
         ;; The second has returned at once.
         (if (i32.ne {stall} (i32.const 2)) (then unreachable))
         (if (i32.eqz (i32.load8_u (i32.const 2048))) (then unreachable)) {}",
        returns(0, "(i32.load (i32.const 2056))", "(i32.load (i32.const 2060))")
    );
    let limits = Limits { max_held: ByteSize::mib(1), ..Limits::default() };
    let outcome = repeated(&with_calls(&body), &limits).await;
    assert!(value(&outcome).as_str().is_some_and(|text| text.contains("max_held")), "{outcome:#?}");
    assert_eq!(called(&outcome), [("stall", false)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_for_which_the_component_waits_beside_open_ones_is_repeated() {
    let body = format!(
        "(local $set i32) (local.set $set (call $set))
         (call $join (call $task (call $fail (i32.const 3072))) (local.get $set))
         (call $join (call $stall) (local.get $set))
         (call $noted) (call $take (local.get $set)) (call $noted) {}",
        hi()
    );
    let outcome = repeated(&with_calls(&body), &Limits::default()).await;
    assert_eq!(value(&outcome), json!("hi"));
    // Which of the first two is handed over first depends on when they arrived, and is repeated.
    assert!([[0, 2, 3], [2, 0, 3]].iter().any(|order| outcome.order == order), "{:?}", outcome.order);
    assert_eq!((outcome.calls.len(), called(&outcome)[3]), (4, ("stall", false)));
}

#[tokio::test(flavor = "multi_thread")]
async fn which_of_several_timers_was_ready_is_repeated_beside_open_calls() {
    let outcome = repeated(&various(), &Limits::default()).await;
    // One of the short ones, or both.
    assert!(["11", "12", "21"].contains(&value(&outcome).as_str().unwrap()), "{outcome:#?}");
    assert_eq!((outcome.usage.concurrent_calls, outcome.order.len()), (2, 2));
}

/// The component has a call that is never answered.
const OPEN: &str = "(local $set i32) (local.set $set (call $set))
    (call $join (call $stall) (local.get $set))";

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_ended_with_calls_open_is_repeated() {
    let waits = with_calls(&format!("{OPEN} (call $take (local.get $set)) unreachable"));
    let short = Limits { timeout: Duration::from_secs(5), ..Limits::default() };
    let outcome = repeated(&waits, &short).await;
    assert_eq!((kind(&outcome), called(&outcome)), (ErrorKind::Timeout, vec![("stall", false)]));
    let computes = with_calls(&format!(
        "{OPEN} (drop (call $fail (i32.const 3072))) (call $give_up (call $stall)) (loop $again (br $again)) unreachable"
    ));
    let limits = Limits { fuel: u64::MAX / 2, compute: Duration::from_secs(3), ..Limits::default() };
    let outcome = recorded_with(&computes, &limits).await;
    let ceiling = Limits { fuel: u64::MAX, ..Limits::default() };
    let again = components().replay(&compiled(&computes).unwrap(), &recording(&outcome), &ceiling).await;
    let again = again.unwrap_or_else(|error| panic!("{error}\n{outcome:#?}"));
    assert_eq!((kind(&again), again.usage.fuel), (ErrorKind::Timeout, outcome.usage.fuel));
    assert_eq!((json!(again.calls), again.calls.len()), (json!(outcome.calls), 3));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_its_caller_cancels_with_calls_open_is_repeated() {
    let waits = with_calls(&format!("{OPEN} (call $noted) (call $take (local.get $set)) unreachable"));
    let linked = linked(&waits);
    let cancelled = async {
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
    };
    let outcome = components().run(&linked).tools(Arc::new(tools())).recording(MAX).cancel_on(cancelled).await;
    let again = replayed(&waits, &recording(&outcome)).await;
    let again = again.unwrap_or_else(|error| panic!("{error}\n{outcome:#?}"));
    assert_eq!((kind(&again), again.usage.fuel), (ErrorKind::Cancelled, outcome.usage.fuel));
    assert_eq!(json!(again.calls), json!(outcome.calls));
}

#[tokio::test(flavor = "multi_thread")]
async fn computing_beside_an_open_call_is_not_looking_for_its_answer() {
    let parts = parts(r#"(import "wasi:clocks/monotonic-clock@0.2.6" "now" (func $now (result i64)))"#);
    // As long as a few hundred ticks of the clock that interrupts it.
    let body = format!(
        "(local $set i32) (local.set $set (call $set))
         (call $join (call $task (call $fail (i32.const 3072))) (local.get $set))
         (loop $again (br_if $again (i64.lt_u (call $now) (i64.const 400000000))))
         (drop (call $yield))
         (call $take (local.get $set)) {}",
        hi()
    );
    let world = format!("import wasi:clocks/monotonic-clock@0.2.6; {ASYNC}");
    let file = encoded(&wit(&tools()), &WORLD, &world, &module(&parts, &body));
    let limits = Limits { fuel: u64::MAX / 2, ..Limits::default() };
    let outcome = recorded_with(&file, &limits).await;
    assert_eq!(value(&outcome), json!("hi"));
    assert!(matches!(outcome.recording, Some(Recorded::Whole(_))), "{outcome:#?}");
    let ceiling = Limits { fuel: u64::MAX, ..Limits::default() };
    let again = components().replay(&compiled(&file).unwrap(), &recording(&outcome), &ceiling).await;
    let again = again.unwrap_or_else(|error| panic!("{error}\n{outcome:#?}"));
    assert_eq!((value(&again), again.usage.fuel), (json!("hi"), outcome.usage.fuel));
}

/// Runs a component through the command, with a server whose tool `slow` takes as long as it is
/// told. The run and its replay must be equal, and the run's outcome is returned.
fn repeated_by_command(world: &str, parts: &str, body: &str, more: &[&str]) -> Value {
    let terminal = Terminal::new();
    let config = format!("[servers.kit]\ncommand = {:?}\nargs = [\"echo\"]\n", child());
    let config = terminal.file("belljar.toml", config).to_str().unwrap().to_owned();
    let wit = terminal.belljar(&["wit", "kit", "--world", "--config", &config]).stdout;
    let file = terminal.file("guest.wasm", encoded(&wit, &[], world, &module(parts, body)));
    let file = file.to_str().unwrap();
    let recording = terminal.folder.path().join("run.belljar").to_str().unwrap().to_owned();
    let mut arguments = vec!["run", file, "--config", &config, "--json", "--record", &recording];
    arguments.extend(more);
    let first = terminal.belljar(&arguments);
    let again = terminal.belljar(&["replay", &recording, "--component", file, "--json", "--config", &config]);
    let (mut outcome, mut repeated) = (first.json(), again.json());
    assert_eq!(outcome["usage"]["fuel"], repeated["usage"]["fuel"], "{first:#?}\n{again:#?}");
    for part in ["value", "error", "logs", "calls"] {
        let (here, there) = (outcome[part].take(), repeated[part].take());
        assert_eq!(here, there, "{part}: {first:#?}\n{again:#?}");
        outcome[part] = here;
    }
    outcome
}

const SLOW: &str = r#"
    (import "belljar:mcp-kit/tools-async@0.1.0" "[async-lower]slow" (func $slow (param i64 i32) (result i32)))
    (import "belljar:mcp-kit/tools-async@0.1.0" "slow" (func $wait_for (param i64 i32)))
    (import "$root" "[subtask-cancel]" (func $cancel (param i32) (result i32)))
    (import "$root" "[subtask-drop]" (func $drop (param i32)))
    (data (i32.const 16) "hi")
    (func $give_up (param $ms i64) (local $task i32)
        (local.set $task (i32.shr_u (call $slow (local.get $ms) (i32.const 4096)) (i32.const 4)))
        (drop (call $cancel (local.get $task)))
        (call $drop (local.get $task)))"#;

#[test]
fn a_process_whose_component_gives_calls_up_is_not_taken_for_a_liar() {
    // One is answered while the component waits for another, and two are not.
    let given_up =
        "(call $give_up (i64.const 0)) (call $give_up (i64.const 600000)) (call $give_up (i64.const 600000))";
    let body = format!("{given_up} (call $wait_for (i64.const 50) (i32.const 2048)) {}", hi());
    let outcome = repeated_by_command(ASYNC, SLOW, &body, &["--max-concurrent-calls", "4"]);
    assert_eq!((&outcome["value"], outcome["calls"].as_array().unwrap().len()), (&json!("hi"), 4), "{outcome:#}");
    let outcome = repeated_by_command(ASYNC, SLOW, &body, &["--max-concurrent-calls", "3"]);
    assert_eq!(outcome["error"]["kind"], "calls", "{outcome:#}");
    // It is the second that has an answer too late for the component.
    let many = "(call $give_up (i64.const 0)) (call $wait_for (i64.const 0) (i32.const 2048))".repeat(20);
    let outcome = repeated_by_command(ASYNC, SLOW, &format!("{many} {}", hi()), &[]);
    assert_eq!((&outcome["value"], outcome["calls"].as_array().unwrap().len()), (&json!("hi"), 40), "{outcome:#}");
}

#[test]
fn a_process_that_is_ended_with_calls_open_is_repeated() {
    let open =
        "(drop (call $slow (i64.const 0) (i32.const 4096))) (drop (call $slow (i64.const 600000) (i32.const 5120)))";
    let body = format!("{open} (call $wait_for (i64.const 600000) (i32.const 2048)) unreachable");
    let outcome = repeated_by_command(ASYNC, SLOW, &body, &["--timeout", "3s"]);
    assert_eq!(outcome["error"]["kind"], "timeout", "{outcome:#}");
    assert_eq!(outcome["calls"].as_array().unwrap().len(), 3, "{outcome:#}");
}

#[test]
fn an_image_in_the_value_is_taken_out_of_it_in_the_replay_too() {
    let picture = "iVBO".repeat(3000);
    let content = json!({ "content": [{ "type": "image", "data": picture, "mimeType": "image/png" }] }).to_string();
    let parts = format!(r#"(data (i32.const 4096) "{}")"#, content.replace('"', "\\22"));
    let body = returns(0, "(i32.const 4096)", &format!("(i32.const {})", content.len()));
    let outcome = repeated_by_command(RUN, &parts, &body, &[]);
    assert!(outcome["value"].to_string().contains("[image 1: image/png"), "{outcome:#}");
    assert!(!outcome["value"].to_string().contains(&picture), "{outcome:#}");
}

#[test]
fn a_process_that_waits_for_nothing_at_all_fails_again_in_the_same_way() {
    let terminal = Terminal::new();
    let config = terminal.file("belljar.toml", "[servers.demo]\nbuiltin = \"demo\"\n").to_str().unwrap().to_owned();
    let parts = r#"(import "wasi:io/poll@0.2.6" "poll" (func $poll (param i32 i32 i32)))"#;
    let body = "(call $poll (i32.const 0) (i32.const 0) (i32.const 2048)) unreachable";
    let file = encoded("", &WORLD, &format!("import wasi:io/poll@0.2.6; {RUN}"), &module(parts, body));
    let file = terminal.file("guest.wasm", file).to_str().unwrap().to_owned();
    let recording = terminal.folder.path().join("run.belljar").to_str().unwrap().to_owned();
    let first = terminal.belljar(&["run", &file, "--config", &config, "--json", "--record", &recording]);
    let again = terminal.belljar(&["replay", &recording, "--config", &config, "--component", &file, "--json"]);
    let (first, again) = (first.json(), again.json());
    assert_eq!((&first["error"]["kind"], &first["error"]), (&json!("exception"), &again["error"]));
    assert_eq!(first["usage"]["fuel"], again["usage"]["fuel"]);
}
