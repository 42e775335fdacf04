//! A component that imports `belljar:sandbox/tools` finds tools by their paths while it runs, and
//! calls them with JSON text. What cannot be found or called is an error that it can handle.

use belljar_foreign::Refusal;
use belljar_model::{ErrorKind, Limits, Outcome};
use serde_json::json;

use super::{
    recordings::repeated,
    support::{compiled, encoded, in_world, kind, module, returns, run, run_with, typed, value},
};

pub(super) const ANY: &str = "import belljar:sandbox/tools@0.2.0;";
const RUN: &str = "export run: func() -> result<string, string>;";
/// What the components below import.
pub(super) const IMPORTS: &str = r#"
    (import "belljar:sandbox/tools@0.2.0" "find" (func $find (param i32 i32 i32)))
    (import "belljar:sandbox/tools@0.2.0" "[method]tool.call" (func $call (param i32 i32 i32 i32)))
    (import "belljar:sandbox/tools@0.2.0" "[resource-drop]tool" (func $drop (param i32)))"#;

/// Ends `run` with an error whose text is described at an address.
fn fails(at: u32) -> String {
    let text = |at: u32| format!("(i32.load (i32.const {at}))");
    format!("{} return", returns(1, &text(at), &text(at + 4)))
}

/// Finds a tool, whose handle is then at 2052.
fn found(path: &str) -> String {
    format!(
        "(call $find (i32.const 16) (i32.const {}) (i32.const 2048)) (if (i32.load8_u (i32.const 2048)) (then {}))",
        path.len(),
        fails(2052)
    )
}

/// Calls the tool that was found, and ends with its result.
fn called(arguments: &str) -> String {
    format!(
        "(call $call (i32.load (i32.const 2052)) (i32.const 512) (i32.const {}) (i32.const 3072))
         (if (i32.load8_u (i32.const 3072)) (then {}))",
        arguments.len(),
        fails(3080)
    )
}

fn data(path: &str, arguments: &str) -> String {
    let text = |text: &str| text.replace('\\', "\\5c").replace('"', "\\22").replace('\n', "\\0a");
    format!(r#"{IMPORTS} (data (i32.const 16) "{}") (data (i32.const 512) "{}")"#, text(path), text(arguments))
}

/// A module that finds a tool, calls it, and returns the result.
pub(super) fn chooser(path: &str, arguments: &str) -> String {
    let given = returns(0, "(i32.load (i32.const 3076))", "(i32.load (i32.const 3080))");
    module(&data(path, arguments), &format!("{} {} {given}", found(path), called(arguments)))
}

async fn chosen(path: &str, arguments: &str) -> Outcome {
    run(&typed(ANY, &chooser(path, arguments))).await
}

fn message(outcome: Outcome) -> String {
    outcome.result.expect_err("it has failed").message
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_is_found_by_its_path_and_called_with_json() {
    let outcome = chosen("kit.note", r#"{"text": "hi", "count": 2}"#).await;
    assert_eq!(value(&outcome), json!({ "text": "hi", "count": 2 }));
    assert_eq!(outcome.calls.len(), 1);
    let call = &outcome.calls[0];
    assert_eq!((call.server.as_str(), call.tool.as_str(), call.ok), ("kit", "note", true));
    assert_eq!(outcome.usage.largest_arguments_bytes, 23, "as it is written anew");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_found_is_an_error_with_the_nearest_name() {
    let not_a_path = "is not a tool path: write SERVER.TOOL";
    for (path, says) in [
        ("kit.not", "kit has no tool 'not', or the owner's rules let nobody call it; did you mean note?"),
        ("kit.Note", "did you mean note?"),
        ("kit.zebra", "kit has no tool 'zebra', or the owner's rules let nobody call it"),
        ("kitt.note", "there is no server 'kitt'; did you mean kit?"),
        ("", not_a_path),
        ("note", not_a_path),
        (".note", not_a_path),
        ("kit.", not_a_path),
        ("kit.$exclusive", "kit has no tool '$exclusive'"),
        ("kit.note\n", "kit has no tool"),
    ] {
        let outcome = chosen(path, "{}").await;
        assert!(outcome.calls.is_empty(), "{path}: {outcome:?}");
        let message = message(outcome);
        assert!(message.contains(says), "{path}: {message}");
    }
    let body = format!(
        "(memory.fill (i32.const 65536) (i32.const 97) (i32.const 2000)) (global.set $free (i32.const 70000))
         (call $find (i32.const 65536) (i32.const 2000) (i32.const 2048))
         (if (i32.eqz (i32.load8_u (i32.const 2048))) (then unreachable)) {}",
        fails(2052)
    );
    let message = message(run(&typed(ANY, &module(&data("", ""), &body))).await);
    assert_eq!(message, "the path has 2000 bytes; the limit is 1024");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_brings_nothing_is_an_error_that_the_component_can_handle() {
    for (path, arguments, says) in [
        ("kit.note", "{", "the call was not made: the text is not JSON that can be passed"),
        ("kit.note", "", "the call was not made: the text is not JSON that can be passed"),
        ("kit.note", "{}", "kit.note: arguments"),
        ("kit.note", "[1]", "the arguments of kit.note are not a JSON object"),
        ("kit.note", r#"{"text": 1}"#, "kit.note: arguments"),
        ("kit.fail", "{}", "it failed"),
    ] {
        let message = message(chosen(path, arguments).await);
        assert!(message.contains(says), "{path} {arguments}: {message}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_it_found_and_called_is_repeated_with_the_same_fuel() {
    let outcome = repeated(&typed(ANY, &chooser("kit.note", r#"{"text":"hi"}"#)), &Limits::default()).await;
    assert_eq!(value(&outcome), json!({ "text": "hi" }));
    let outcome = repeated(&typed(ANY, &chooser("kit.not", "{}")), &Limits::default()).await;
    assert!(message(outcome).contains("did you mean note?"));
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_of_tools_that_were_found_run_together_and_are_repeated() {
    // The tool is found again for each call.
    let imports = r#"
        (import "belljar:sandbox/tools-async@0.2.0" "find" (func $find (param i32 i32 i32)))
        (import "belljar:sandbox/tools-async@0.2.0" "[async-lower][method]tool.call"
            (func $call (param i32 i32 i32 i32) (result i32)))"#;
    let meet = r#"
        (data (i32.const 200) "kit.meet{}")
        (func $meet (param $at i32) (result i32)
            (call $find (i32.const 200) (i32.const 8) (i32.const 4000))
            (if (i32.load8_u (i32.const 4000)) (then unreachable))
            (call $call (i32.load (i32.const 4004)) (i32.const 208) (i32.const 2) (local.get $at)))
        (data (i32.const 16) "both met")"#;
    let typed =
        r#"(import "belljar:mcp-kit/tools-async@0.1.0" "[async-lower]meet" (func $meet (param i32) (result i32)))"#;
    let core = super::calls::meeting().replace(typed, imports).replace(r#"(data (i32.const 16) "both met")"#, meet);
    let world = "import belljar:sandbox/tools-async@0.2.0; export run: async func() -> result<string, string>;";
    let outcome = repeated(&in_world(world, &core), &Limits::default()).await;
    assert_eq!((value(&outcome), outcome.usage.concurrent_calls), (json!("both met"), 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn typed_functions_and_found_tools_can_be_used_together() {
    let note = r#"(import "belljar:mcp-kit/tools@0.1.0" "note" (func $note (param i32 i32 i32 i64 i32)))"#;
    let parts = format!("{note} {}", data("kit.note", r#"{"text":"found"}"#));
    let body = format!(
        "(call $note (i32.const 16) (i32.const 3) (i32.const 0) (i64.const 0) (i32.const 2048))
         (if (i32.load8_u (i32.const 2048)) (then unreachable)) {} {} {}",
        found("kit.note"),
        called(r#"{"text":"found"}"#),
        returns(0, "(i32.load (i32.const 3076))", "(i32.load (i32.const 3080))")
    );
    let file = typed(&format!("import belljar:mcp-kit/tools@0.1.0; {ANY}"), &module(&parts, &body));
    let outcome = repeated(&file, &Limits::default()).await;
    assert_eq!((value(&outcome), outcome.calls.len()), (json!({ "text": "found" }), 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn floods_of_handles_and_of_wrong_paths_end_the_run() {
    let body = |then: &str| {
        format!(
            "(loop $again (call $find (i32.const 16) (i32.const 8) (i32.const 2048)) {then}
                (global.set $free (i32.const 65536)) (br $again)) unreachable"
        )
    };
    let limits = Limits { fuel: 3_000_000, ..Limits::default() };
    let flood = |path: &str, then: &str| typed(ANY, &module(&data(path, ""), &body(then)));
    // Each handle is kept.
    let outcome = run_with(&flood("kit.note", ""), &limits).await;
    assert_eq!(kind(&outcome), ErrorKind::Exception, "{outcome:?}");
    // Each handle is given back, so that only the fuel ends the run.
    let outcome = run_with(&flood("kit.note", "(call $drop (i32.load (i32.const 2052)))"), &limits).await;
    assert_eq!(kind(&outcome), ErrorKind::Fuel, "{outcome:?}");
    for wrong in ["kit.nota", "kot.note", "kitenote"] {
        let outcome = run_with(&flood(wrong, ""), &limits).await;
        assert_eq!(kind(&outcome), ErrorKind::Fuel, "{wrong}: {outcome:?}");
    }
    assert_eq!(value(&chosen("kit.note", r#"{"text":"hi"}"#).await), json!({ "text": "hi" }));
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_of_calls_hold_for_tools_that_were_found() {
    let body = format!("{} (loop $again {} (br $again)) unreachable", found("kit.any"), called("{}"));
    let limits = Limits { max_calls: 20, ..Limits::default() };
    let outcome = run_with(&typed(ANY, &module(&data("kit.any", "{}"), &body)), &limits).await;
    assert_eq!((kind(&outcome), outcome.calls.len()), (ErrorKind::Calls, 20));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handle_that_the_component_does_not_have_cannot_be_called() {
    for handle in ["(i32.const 0)", "(i32.const 1)", "(i32.const 77)", "(i32.const -1)"] {
        let body = format!("(call $call {handle} (i32.const 512) (i32.const 2) (i32.const 3072)) unreachable");
        let outcome = run(&typed(ANY, &module(&data("", "{}"), &body))).await;
        assert_eq!((kind(&outcome), outcome.calls.len()), (ErrorKind::Exception, 0), "{handle}");
    }
    // A handle that was given back is gone, too.
    let body = format!("{} (call $drop (i32.load (i32.const 2052))) {} unreachable", found("kit.any"), called("{}"));
    let outcome = run(&typed(ANY, &module(&data("kit.any", "{}"), &body))).await;
    assert_eq!((kind(&outcome), outcome.calls.len()), (ErrorKind::Exception, 0));
}

#[test]
fn an_interface_of_another_form_is_refused_by_its_name() {
    let find = "find: func(path: string) -> result<tool, string>;";
    let call = "call: func(arguments: string) -> result<string, tool-error>;";
    let error = "record tool-error { kind: error-kind, message: string }
        enum error-kind { failed, refused, denied, unanswered }";
    let package = |version: &str, items: &str, methods: &str| {
        format!(
            "package belljar:sandbox@{version}; interface tools {{ {error} resource tool {{ {methods} }} {items} }}"
        )
    };
    let refused = |package: &str, parts: &str| {
        let version = if package.contains("@0.1.0") { "0.1.0" } else { "0.2.0" };
        let world = format!("import belljar:sandbox/tools@{version}; {RUN}");
        let parts = parts.replace("TOOLS", &format!("belljar:sandbox/tools@{version}"));
        let file = encoded("", &[package], &world, &module(&parts, "unreachable"));
        compiled(&file).and_then(|component| super::support::components().link(&component, &[]).map(|_| ()))
    };
    let importing_find = r#"(import "TOOLS" "find" (func (param i32 i32 i32)))"#;
    let importing_call = r#"(import "TOOLS" "[method]tool.call" (func (param i32 i32 i32 i32)))"#;
    assert_eq!(refused(&package("0.2.0", find, call), &format!("{importing_find} {importing_call}")), Ok(()));
    let other = package("0.2.0", "find: func(path: string) -> result<string, string>;", call);
    let refusal = refused(&other, importing_find).expect_err("another find");
    assert!(
        matches!(&refusal, Refusal::Link(text) if text.contains("find of belljar:sandbox/tools@0.2.0")),
        "{refusal}"
    );
    let other = package("0.2.0", find, "call: func(arguments: string) -> result<u64, tool-error>;");
    let refusal = refused(&other, importing_call).expect_err("another call");
    assert!(matches!(&refusal, Refusal::Link(text) if text.contains("tool.call of belljar:sandbox")), "{refusal}");
    let other = package("0.2.0", &format!("{find} drop-all: func();"), call);
    let refusal = refused(&other, r#"(import "TOOLS" "drop-all" (func))"#).expect_err("one more");
    assert!(matches!(&refusal, Refusal::Imports { names, .. } if names[0].contains("drop-all")), "{refusal}");
    // Tools of the interpreter are not for components.
    let refusal = refused(&package("0.1.0", find, call), importing_find).expect_err("it is the interpreter's");
    assert!(refusal.to_string().contains("of version 0.1.0 of the package, and this belljar makes 0.2.0"), "{refusal}");
}
