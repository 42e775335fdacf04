//! Typed calls: what crosses, and what becomes of what does not fit.

use belljar_model::{ErrorKind, Limits};
use serde_json::json;

use super::support::{kind, module, returns, run, run_with, typed, value};

const NOTE: &str = r#"(import "belljar:mcp-kit/tools@0.1.0" "note" (func $note (param i32 i32 i32 i64 i32)))"#;
const TOOLS: &str = "import belljar:mcp-kit/tools@0.1.0;";

/// A component that calls a function without arguments, and returns the message of its error.
fn message_of(function: &str) -> Vec<u8> {
    let import = format!(r#"(import "belljar:mcp-kit/tools@0.1.0" "{function}" (func $call (param i32)))"#);
    // The payload of the result begins with an integer for one of them, and is aligned to it.
    let payload = if function == "lie" { 2056 } else { 2052 };
    let message = |at: u32| format!("(i32.load (i32.const {}))", payload + at);
    let run = format!(
        "(call $call (i32.const 2048))
         (if (i32.eqz (i32.load8_u (i32.const 2048))) (then unreachable))
         {}",
        returns(0, &message(4), &message(8))
    );
    typed(TOOLS, &module(&import, &run))
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_and_results_cross_in_the_components_own_types() {
    let parts = format!(r#"{NOTE} (data (i32.const 16) "hi")"#);
    let call = "(call $note (i32.const 16) (i32.const 2) (i32.const 1) (i64.const 7) (i32.const 2048))
        (if (i32.load8_u (i32.const 2048)) (then unreachable))
        (if (i64.ne (i64.load (i32.const 2072)) (i64.const 7)) (then unreachable))";
    let run_body = format!("{call} {}", returns(0, "(i32.load (i32.const 2056))", "(i32.load (i32.const 2060))"));
    let outcome = run(&typed(TOOLS, &module(&parts, &run_body))).await;
    assert_eq!(value(&outcome), json!("hi"));
    assert_eq!(outcome.calls.len(), 1);
    let call = &outcome.calls[0];
    assert_eq!((call.server.as_str(), call.tool.as_str(), call.ok), ("kit", "note", true));
    assert_eq!(outcome.usage.tool_calls, 1);
    assert!(outcome.usage.fuel.is_some_and(|fuel| fuel > 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_of_another_type_is_the_error_of_the_call_and_never_a_trap() {
    let outcome = run(&message_of("lie")).await;
    let text = value(&outcome).as_str().unwrap().to_owned();
    assert!(text.contains("not of the declared type") && text.contains("should be a number"), "{text}");
    assert!(outcome.calls[0].ok, "the tool has answered: {:?}", outcome.calls);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_fails_is_an_error_that_the_component_can_handle() {
    let outcome = run(&message_of("fail")).await;
    assert_eq!(value(&outcome), json!("it failed"));
    assert!(!outcome.calls[0].ok);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_calls_ends_the_run_at_its_limit() {
    let parts = format!(r#"{NOTE} (data (i32.const 16) "hi")"#);
    let flood = "(loop $again
        (call $note (i32.const 16) (i32.const 2) (i32.const 0) (i64.const 0) (i32.const 2048))
        (global.set $free (i32.const 65536))
        (br $again)) unreachable";
    let limits = Limits { max_calls: 50, ..Limits::default() };
    let outcome = run_with(&typed(TOOLS, &module(&parts, flood)), &limits).await;
    assert_eq!(kind(&outcome), ErrorKind::Calls);
    assert_eq!(outcome.calls.len(), 50);
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_that_are_too_large_are_refused_before_the_call() {
    let parts = format!("{NOTE} (memory $unused 0)").replace(" (memory $unused 0)", "");
    // Some 900,000 bytes of its own memory.
    let call = "(call $note (i32.const 0) (i32.const 900000) (i32.const 0) (i64.const 0) (i32.const 2048))
        (if (i32.eqz (i32.load8_u (i32.const 2048))) (then unreachable))";
    let body = format!("{call} {}", returns(0, "(i32.load (i32.const 2060))", "(i32.load (i32.const 2064))"));
    let limits = Limits { max_arguments: belljar_model::ByteSize(1000), ..Limits::default() };
    let outcome = run_with(&typed(TOOLS, &module(&parts, &body)), &limits).await;
    let text = value(&outcome).as_str().unwrap().to_owned();
    assert!(text.contains("the arguments were not accepted"), "{text}");
    assert_eq!(outcome.calls, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_component_with_the_same_answers_uses_the_same_fuel() {
    let parts = format!(r#"{NOTE} (data (i32.const 16) "hi")"#);
    let call = "(call $note (i32.const 16) (i32.const 2) (i32.const 0) (i64.const 0) (i32.const 2048))";
    let body = format!("{call} {}", returns(0, "(i32.const 16)", "(i32.const 2)"));
    let file = typed(TOOLS, &module(&parts, &body));
    let (first, second) = (run(&file).await, run(&file).await);
    assert_eq!(value(&first), value(&second));
    assert_eq!(first.usage.fuel, second.usage.fuel);
}

/// A world whose `run` may wait, with the tools as async functions.
fn waiting(core: &str) -> Vec<u8> {
    super::support::in_world(
        "import belljar:mcp-kit/tools-async@0.1.0; export run: async func() -> result<string, string>;",
        core,
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn async_functions_can_be_called_one_at_a_time() {
    let note = NOTE.replace("kit/tools@", "kit/tools-async@");
    let parts = format!(r#"{note} (data (i32.const 16) "hi")"#);
    let call = "(call $note (i32.const 16) (i32.const 2) (i32.const 0) (i64.const 0) (i32.const 2048))";
    let body = format!("{call} {}", returns(0, "(i32.load (i32.const 2056))", "(i32.load (i32.const 2060))"));
    let outcome = run(&waiting(&module(&parts, &body))).await;
    assert_eq!(value(&outcome), json!("hi"));
}

#[tokio::test(flavor = "multi_thread")]
async fn async_functions_run_together() {
    let parts = r#"
        (import "belljar:mcp-kit/tools-async@0.1.0" "[async-lower]meet" (func $meet (param i32) (result i32)))
        (import "$root" "[waitable-set-new]" (func $set (result i32)))
        (import "$root" "[waitable-join]" (func $join (param i32 i32)))
        (import "$root" "[waitable-set-wait]" (func $wait (param i32 i32) (result i32)))
        (import "$root" "[subtask-drop]" (func $drop (param i32)))
        (data (i32.const 16) "both met")
        (func $begin (param $at i32) (param $set i32)
            (local $status i32)
            (local.set $status (call $meet (local.get $at)))
            ;; The second may have returned at once.
            (if (i32.eq (i32.and (local.get $status) (i32.const 15)) (i32.const 2)) (then (return)))
            (global.set $open (i32.add (global.get $open) (i32.const 1)))
            (call $join (i32.shr_u (local.get $status) (i32.const 4)) (local.get $set)))
        (func $take (param $set i32)
            (loop $again
                (drop (call $wait (local.get $set) (i32.const 512)))
                (br_if $again (i32.ne (i32.load (i32.const 516)) (i32.const 2))))
            (call $drop (i32.load (i32.const 512)))
            (global.set $open (i32.sub (global.get $open) (i32.const 1))))
        (global $open (mut i32) (i32.const 0))"#;
    let body = format!(
        "(local $set i32) (local.set $set (call $set))
         (call $begin (i32.const 2048) (local.get $set))
         (call $begin (i32.const 3072) (local.get $set))
         (loop $again (if (global.get $open) (then (call $take (local.get $set)) (br $again))))
         (if (i32.load8_u (i32.const 2048)) (then unreachable))
         (if (i32.load8_u (i32.const 3072)) (then unreachable)) {}",
        returns(0, "(i32.const 16)", "(i32.const 8)")
    );
    let outcome = run(&waiting(&module(parts, &body))).await;
    assert_eq!(value(&outcome), json!("both met"));
    assert_eq!(outcome.usage.concurrent_calls, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_tasks_ends_at_the_limit_of_calls_at_once() {
    let parts =
        r#"(import "belljar:mcp-kit/tools-async@0.1.0" "[async-lower]meet" (func $meet (param i32) (result i32)))"#;
    let body = "(loop $again (drop (call $meet (i32.const 2048))) (br $again)) unreachable";
    let limits = Limits { max_concurrent_calls: 1, ..Limits::default() };
    let outcome = run_with(&waiting(&module(parts, body)), &limits).await;
    assert_eq!(kind(&outcome), ErrorKind::Calls);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_component_that_waits_for_nothing_that_can_come_is_ended() {
    let parts = r#"
        (import "$root" "[waitable-set-new]" (func $set (result i32)))
        (import "$root" "[waitable-set-wait]" (func $wait (param i32 i32) (result i32)))"#;
    let outcome = run(&waiting(&module(parts, "(drop (call $wait (call $set) (i32.const 512))) unreachable"))).await;
    assert_eq!(kind(&outcome), ErrorKind::Deadlock);
}
