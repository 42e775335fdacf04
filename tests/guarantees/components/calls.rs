//! Typed calls: what is passed, and what happens to values that do not fit.

use std::{
    future::IntoFuture as _,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

use belljar_foreign::Server;
use belljar_model::{ByteSize, ErrorKind, Limits};
use belljar_sandbox::{Effect, Tool, ToolSet};
use futures::poll;
use serde_json::json;

use super::support::{compiled, components, kind, module, returns, run, run_with, typed, value};

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
    let limits = Limits { max_arguments: ByteSize(1000), ..Limits::default() };
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

/// A core module that calls `meet` twice at once, and waits for both answers.
pub(super) fn meeting() -> String {
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
    module(parts, &body)
}

#[tokio::test(flavor = "multi_thread")]
async fn async_functions_run_together() {
    let outcome = run(&waiting(&meeting())).await;
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

#[tokio::test(flavor = "multi_thread")]
async fn values_that_lie_about_their_place_and_size_are_not_passed_on() {
    let note = |at: i32, length: i64| {
        let call = format!(
            "(drop (memory.grow (i32.const 400)))
             (call $call (i32.const {at}) (i32.const {length}) (i32.const 0) (i64.const 0) (i32.const 2048)) unreachable"
        );
        typed(TOOLS, &module(&NOTE.replace("$note", "$call"), &call))
    };
    let many = |at: i32, length: i64| {
        let import = r#"(import "belljar:mcp-kit/tools@0.1.0" "many" (func $call (param i32 i32 i32)))"#;
        let call = format!(
            "(drop (memory.grow (i32.const 400))) (call $call (i32.const {at}) (i32.const {length}) (i32.const 2048)) unreachable"
        );
        typed(TOOLS, &module(import, &call))
    };
    for (what, file) in [
        ("a text beyond the memory", note(65_536, 0x7fff_ffff)),
        ("a text around the end of addresses", note(-16, 32)),
        ("a list beyond the memory", many(65_536, 0x0fff_ffff)),
        ("a list whose size overflows", many(65_536, 0x2000_0001)),
        ("a list that is not aligned", many(65_537, 1)),
        ("a list of two million, all of them there", many(65_536, 2_000_000)),
    ] {
        let outcome = run(&file).await;
        assert_eq!(kind(&outcome), ErrorKind::Exception, "{what}: {outcome:?}");
        assert_eq!(outcome.calls, [], "{what}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn json_that_is_too_deep_is_refused_as_an_argument_and_a_text_as_a_value() {
    let fill =
        "(memory.fill (i32.const 65536) (i32.const 91) (i32.const 100000)) (global.set $free (i32.const 200000))";
    let import = r#"(import "belljar:mcp-kit/tools@0.1.0" "any" (func $any (param i32 i32 i32 i32)))"#;
    let body = format!(
        "{fill} (call $any (i32.const 1) (i32.const 65536) (i32.const 100000) (i32.const 2048))
         (if (i32.eqz (i32.load8_u (i32.const 2048))) (then unreachable)) {}",
        returns(0, "(i32.load (i32.const 2056))", "(i32.load (i32.const 2060))")
    );
    let outcome = run(&typed(TOOLS, &module(import, &body))).await;
    let text = value(&outcome).as_str().unwrap().to_owned();
    assert!(text.contains("the call was not made") && text.contains("JSON"), "{text}");
    assert_eq!(outcome.calls, []);
    let body = format!("{fill} {}", returns(0, "(i32.const 65536)", "(i32.const 100000)"));
    let outcome = run(&typed("", &module("", &body))).await;
    assert_eq!(value(&outcome).as_str().map(str::len), Some(100_000));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_values_of_open_calls_count_as_held() {
    let note = r#"(import "belljar:mcp-kit/tools-async@0.1.0" "[async-lower]note" (func $note (param i32 i32 i32 i64 i32) (result i32)))"#;
    // Two calls with 300,000 bytes each, which exist as text and as JSON.
    let begin = |at: u32| {
        format!("(call $note (i32.const 65536) (i32.const 300000) (i32.const 0) (i64.const 0) (i32.const {at}))")
    };
    let body = format!(
        "(memory.fill (i32.const 65536) (i32.const 97) (i32.const 300000)) (global.set $free (i32.const 400000))
         (if (i32.eq (i32.and {} (i32.const 15)) (i32.const 2)) (then unreachable))
         (if (i32.ne (i32.and {} (i32.const 15)) (i32.const 2)) (then unreachable))
         (if (i32.eqz (i32.load8_u (i32.const 3072))) (then unreachable)) {}",
        begin(2048),
        begin(3072),
        // The payload of its result has an integer, and is aligned to it.
        returns(0, "(i32.load (i32.const 3084))", "(i32.load (i32.const 3088))")
    );
    let limits = Limits { max_held: ByteSize::mib(1), ..Limits::default() };
    let outcome = run_with(&waiting(&module(note, &body)), &limits).await;
    let text = value(&outcome).as_str().unwrap().to_owned();
    assert!(text.contains("max_held") && text.contains("take 600"), "{text}");
}

/// Counts the calls that are under way.
struct UnderWay(Arc<AtomicUsize>);

impl UnderWay {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, SeqCst);
        Self(count.clone())
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

#[tokio::test]
async fn a_run_that_is_dropped_at_any_poll_leaves_no_call_and_frees_its_slot() {
    let under_way = Arc::new(AtomicUsize::new(0));
    // None of its calls is answered, so the run is dropped while they are open.
    let tools = || {
        let count = under_way.clone();
        let meet = Tool::new("meet", Effect::ReadOnly);
        let meet =
            meet.with_input(json!({ "type": "object", "properties": {}, "additionalProperties": false })).unwrap();
        ToolSet::new().with_tool("kit", meet, move |_| {
            let guard = UnderWay::new(&count);
            async move {
                let _guard = guard;
                std::future::pending::<Result<serde_json::Value, String>>().await
            }
        })
    };
    let component = compiled(&waiting(&meeting())).unwrap();
    let linked = components().link(&component, &Server::all(tools().catalog())).unwrap();
    // More often than there are slots, so that each slot is needed again.
    let mut dropped_with_calls = 0;
    for polls in (1..=12).cycle().take(36) {
        let run = components().run(&linked).tools(Arc::new(tools())).into_future();
        {
            let mut run = pin!(run);
            for _ in 0..polls {
                assert!(poll!(&mut run).is_pending(), "nothing answers it");
                tokio::task::yield_now().await;
            }
            dropped_with_calls += usize::from(under_way.load(SeqCst) == 2);
        }
        assert_eq!(under_way.load(SeqCst), 0, "after {polls} polls");
    }
    assert!(dropped_with_calls > 0, "no run was dropped with calls under way");
    assert_eq!(value(&run(&waiting(&meeting())).await), json!("both met"));
}
