//! Arguments are checked before a call leaves the sandbox, and their problems are reported to the
//! author who can fix them.

use std::sync::atomic::Ordering;

use belljar_gateway::{Gateway, report};
use belljar_model::{ErrorKind, LimitsPatch};
use serde_json::json;

use crate::{
    stub_server::{Stub, gateway, run, text, value},
    support::Terminal,
};

/// The tools of the real file server; every call that reaches it is answered with its arguments.
fn files() -> (Stub, Gateway) {
    let stub = Stub::new(
        Stub::real_tools("filesystem"),
        |_, arguments| json!({ "content": [], "structuredContent": { "got": arguments } }),
    );
    let gateway = gateway(&[("fs", stub.clone())], Vec::new());
    (stub, gateway)
}

/// The message for a script that is stopped before it begins.
const NOTHING_CALLED: &str = "\nThe script was not run: nothing was called.";

#[tokio::test]
async fn a_wrong_argument_is_a_type_error_at_the_call_that_never_reaches_the_child() {
    let (stub, gateway) = files();
    for (call, message) in [
        ("fs.read_text_file({ path: 3 })", "fs.read_text_file: arguments.path: expected string, found number 3"),
        ("fs.read_text_file({})", "fs.read_text_file: arguments.path: expected string, found nothing"),
        ("fs.read_text_file()", "fs.read_text_file: arguments.path: expected string, found nothing"),
        (
            "fs.read_text_file({ file_path: 'a.txt' })",
            "fs.read_text_file: arguments.path: expected string, found nothing (there is `file_path`: did you mean `path`?)",
        ),
        (
            "fs.write_file({ path: 'a.txt', text: 'x' })",
            "fs.write_file: arguments.content: expected string, found nothing (there is `text`: did you mean `content`?)",
        ),
        (
            "fs.edit_file({ path: 'a.txt', edits: [{ oldText: 'a', newText: 1 }] })",
            "fs.edit_file: arguments.edits[0].newText: expected string, found number 1",
        ),
        (
            "fs.edit_file({ path: 'a.txt', edits: { oldText: 'a', newText: 'b' } })",
            "fs.edit_file: arguments.edits: expected array, found an object { oldText, newText }",
        ),
        (
            "tools.call('fs.read_text_file', { path: ['a.txt'] })",
            "fs.read_text_file: arguments.path: expected string, found an array of 1 element",
        ),
        (
            "tools.raw('fs.move_file', { from: 'a', to: 'b' })",
            "fs.move_file: arguments.source: expected string, found nothing; arguments.destination: expected string, found nothing",
        ),
    ] {
        let source = format!("const a = 1;\nconst b = await {call};");
        let outcome = run(&gateway, &source).await;
        assert!(outcome.calls.is_empty() && outcome.usage.tool_calls == 0, "{call}\n{outcome:#?}");
        let error = outcome.result.unwrap_err();
        // Certain errors are reported before the script runs.
        assert_eq!(error.kind, ErrorKind::Plan, "{call}");
        assert_eq!(error.message, format!("TypeError: {message}{NOTHING_CALLED}"), "{call}");
        assert_eq!(error.line, Some(2), "{call}\n{error:#?}");
        assert!(error.frame.as_deref().is_some_and(|frame| frame.contains(">    2 | const b")), "{call}\n{error:#?}");
        assert!(error.hint.as_deref().is_some_and(|hint| hint.starts_with("the tool is fs.")), "{call}\n{error:#?}");
    }
    assert_eq!(stub.calls.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn right_arguments_pass_as_they_are_and_defaults_are_not_filled_in() {
    let (stub, gateway) = files();
    for arguments in [
        json!({ "path": "a.txt" }),
        json!({ "path": "a.txt", "head": 5 }),
        json!({ "path": "a.txt", "not_in_the_schema": { "a": [1] } }),
    ] {
        let got = value(&gateway, &format!("return (await fs.read_text_file({arguments})).got")).await;
        assert_eq!(got, arguments);
    }
    let edit = json!({ "path": "a.txt", "edits": [{ "oldText": "a", "newText": "b" }] });
    assert_eq!(value(&gateway, &format!("return (await fs.edit_file({edit})).got")).await, edit);
    assert_eq!(stub.calls.load(Ordering::SeqCst), 4);
}

#[tokio::test]
async fn an_argument_that_a_tool_does_not_list_is_refused_where_another_was_meant_and_told_otherwise() {
    let (stub, gateway) = files();
    let outcome = run(&gateway, "return await fs.read_text_file({ path: 'a.txt', heads: 3 })").await;
    let error = outcome.result.unwrap_err();
    assert_eq!(
        error.message,
        format!(
            "TypeError: fs.read_text_file: arguments.heads: there is no argument of this name: did you mean `head`?{NOTHING_CALLED}"
        )
    );
    assert_eq!(stub.calls.load(Ordering::SeqCst), 0);

    let source = "for (let page = 1; page < 4; page++) await fs.read_text_file({ path: 'a.txt', page });
        await Promise.all([1, 2, 3].map((n) => fs.edit_file({ path: 'a', edits: [{ oldText: 'a', newText: 'b', count: n }] })));";
    let outcome = run(&gateway, source).await;
    assert!(outcome.is_ok(), "{outcome:#?}");
    let logged: Vec<&str> =
        outcome.logs.iter().map(|entry| entry.text.split("; the tool is ").next().unwrap()).collect();
    assert_eq!(
        logged,
        [
            "fs.edit_file does not list arguments.edits[0].count, so the server has probably ignored that: leave it out",
            "fs.read_text_file does not list arguments.page, so the server has probably ignored that: leave it out",
        ]
    );
    assert!(
        outcome.logs.iter().all(|entry| entry.level.as_str() == "warn" && entry.text.contains("; the tool is fs."))
    );
    assert_eq!(stub.calls.load(Ordering::SeqCst), 6);
}

#[test]
fn a_single_call_is_told_of_an_argument_that_its_tool_does_not_list() {
    let terminal = Terminal::new();
    let call = |input: &str, more: &[&str]| {
        terminal.belljar(&[&["call", "demo.list_issues", "--input", input], more].concat())
    };
    let refused = call("{\"projects\": \"comet\"}", &[]);
    assert_eq!(refused.code, 2, "{refused:#?}");
    assert!(refused.stderr.contains("arguments.projects: there is no argument of this name: did you mean `project`?"));
    let warned = call("{\"page\": 2}", &[]);
    assert_eq!(warned.code, 0, "{warned:#?}");
    assert!(warned.stderr.contains("demo.list_issues does not list arguments.page"), "{warned:#?}");
    let warned = call("{\"page\": 2}", &["--json"]).json();
    assert!(warned["warning"].as_str().unwrap().contains("arguments.page"), "{warned:#}");
    assert!(call("{}", &["--json"]).json().get("warning").is_none());
}

#[tokio::test]
async fn what_is_required_but_has_a_default_may_be_left_out() {
    // As declared by servers that generate schemas from their state after defaults are filled in.
    let stub = Stub::new(Stub::real_tools("playwright"), |_, arguments| text(&arguments.to_string()));
    let gateway = gateway(&[("browser", stub)], Vec::new());
    assert_eq!(value(&gateway, "return await browser.browser_console_messages({})").await, json!({}));
    let error = run(&gateway, "await browser.browser_console_messages({ level: 'warn' })").await.result.unwrap_err();
    assert!(error.message.contains("did you mean \"warning\"?"), "{error:#?}");
    let error =
        run(&gateway, "await browser.browser_navigate({ link: 'https://example.com' })").await.result.unwrap_err();
    assert!(error.message.contains("did you mean `url`?") && error.message.contains("arguments.link"), "{error:#?}");
}

#[tokio::test]
async fn a_refused_call_can_be_caught_and_mended() {
    let (stub, gateway) = files();
    let source = "
        let file;
        try {
            file = await fs.read_text_file({ pth: 'a.txt' });
        } catch (error) {
            if (!(error instanceof TypeError) || error instanceof ToolError) throw error;
            console.log(error.message);
            file = await fs.read_text_file({ path: 'a.txt' });
        }
        return file.got;";
    let outcome = run(&gateway, source).await;
    assert_eq!(outcome.result.as_ref().unwrap().to_value().unwrap(), json!({ "path": "a.txt" }), "{outcome:#?}");
    assert!(outcome.logs[0].text.ends_with("(there is `pth`: did you mean `path`?)"), "{outcome:#?}");
    assert_eq!((outcome.calls.len(), outcome.usage.tool_calls), (1, 1));
    assert_eq!(stub.calls.load(Ordering::SeqCst), 1);
    // If one of many concurrent calls fails, the others go on.
    let source = "const all = await Promise.allSettled(['a', 5, 'b'].map(path => fs.read_text_file({ path })));
        return all.map(each => each.status)";
    assert_eq!(value(&gateway, source).await, json!(["fulfilled", "rejected", "fulfilled"]));
}

#[tokio::test]
async fn arguments_that_are_no_object_are_answered_with_the_shape_that_is_wanted() {
    let (stub, gateway) = files();
    for call in [
        "fs.read_text_file('a.txt')",
        "fs.read_text_file('a.txt', 5)",
        "fs.read_text_file(['a.txt'])",
        "fs.read_text_file(null)",
    ] {
        let error = run(&gateway, &format!("const a = 1;\nawait {call}")).await.result.unwrap_err();
        assert!(
            error.message.starts_with("TypeError: fs.read_text_file takes one object with named arguments"),
            "{error:#?}"
        );
        assert_eq!(error.line, Some(2), "{call}\n{error:#?}");
        let hint = error.hint.as_deref().unwrap_or_default();
        assert!(
            hint.starts_with("the tool is fs.read_text_file(") && hint.contains("path: string"),
            "{call}\n{error:#?}"
        );
    }
    assert_eq!(stub.calls.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn the_text_that_a_model_reads_suffices_to_mend_the_call() {
    let (_, gateway) = files();
    let outcome =
        run(&gateway, "const { content } = await fs.read_text_file({ filename: 'a.txt' });\nreturn content").await;
    let text = report(&outcome);
    let (text, _) = text.split_once("\n\nrun: r_").expect("the name of the run");
    assert_eq!(
        text,
        "plan error: TypeError: fs.read_text_file: arguments.path: expected string, found nothing (there is `filename`: did you mean `path`?)\n  \
         The script was not run: nothing was called.\n\
         at line 1, column 30\n\
         >    1 | const { content } = await fs.read_text_file({ filename: 'a.txt' });\n\
         \u{20}      |                              ^\n\
         \u{20}    2 | return content\n\
         hint: the tool is fs.read_text_file(args: { path: string; tail?: number; head?: number }): Promise<{ content: string }>"
    );
}

#[tokio::test]
async fn a_schema_that_is_wrong_hides_no_tool() {
    let tools = json!([
        { "name": "outside", "inputSchema": { "type": "object", "properties": { "a": { "$ref": "https://example.com/a.json" } } } },
        { "name": "endless", "inputSchema": { "type": "object", "$ref": "#" } },
        { "name": "nonsense", "inputSchema": { "type": "none of these", "required": 5 } },
        { "name": "pattern", "inputSchema": { "properties": { "a": { "pattern": "(?<=x)[" } } } },
        { "name": "good", "inputSchema": { "properties": { "a": { "type": "string" } } } },
    ]);
    let stub = Stub::new(tools, |_, _| text("reached"));
    let gateway = gateway(&[("odd", stub)], Vec::new());
    for tool in ["outside", "endless", "nonsense", "pattern"] {
        assert_eq!(value(&gateway, &format!("return await odd.{tool}({{ a: 1 }})")).await, json!("reached"), "{tool}");
    }
    assert!(!run(&gateway, "await odd.good({ a: 1 })").await.is_ok());
}

#[tokio::test]
pub(crate) async fn a_changed_tool_list_changes_what_is_asked_for() {
    let list = |kind: &str| json!([{ "name": "t", "inputSchema": { "properties": { "a": { "type": kind } } } }]);
    let (numbers, texts) = (list("number"), list("string"));
    let stub = Stub::new(texts, move |_, _| json!({ "content": [], "tools": numbers }));
    let gateway = gateway(&[("s", stub)], Vec::new());
    assert!(run(&gateway, "await s.t({ a: 'text' })").await.is_ok());
    // The notification of the new list may come a moment after the answer.
    for _ in 0..1_000 {
        if run(&gateway, "await s.t({ a: 5 })").await.is_ok() {
            assert!(!run(&gateway, "await s.t({ a: 'text' })").await.is_ok());
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    panic!("the old list is still asked for");
}

#[tokio::test]
async fn refused_calls_are_bounded_too() {
    let (stub, gateway) = files();
    let limits = LimitsPatch { max_calls: Some(50), ..LimitsPatch::default() };
    let source = "for (;;) { try { await fs.read_text_file({}) } catch {} }";
    let outcome = gateway.execute(source.to_owned()).limits(&limits).await;
    assert_eq!(outcome.result.unwrap_err().kind, ErrorKind::Calls);
    assert_eq!(stub.calls.load(Ordering::SeqCst), 0);
}
