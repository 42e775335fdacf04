//! A server that keeps state between calls, such as a page: calls for different purposes do not get
//! mixed up unnoticed.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use belljar_gateway::Gateway;
use belljar_model::{ErrorKind, LimitsPatch, LogLevel, Outcome, ServerSpec};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::{runtime::Handle, sync::Notify};

use crate::stub_server::{Stub, gateway_of, run, text};

/// A browser with one page: `go` opens a URL there, `read` returns the open one.
fn browser() -> Stub {
    let page = Arc::new(Mutex::new(String::new()));
    let tools = json!([
        { "name": "go", "inputSchema": { "type": "object", "properties": { "url": { "type": "string" } } } },
        { "name": "read", "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": true } },
        { "name": "$release", "inputSchema": { "type": "object" } },
    ]);
    Stub::new(tools, move |tool, arguments| {
        let mut page = page.lock();
        if tool == "go" {
            *page = arguments["url"].as_str().unwrap_or_default().to_owned();
        }
        text(&page)
    })
}

fn over(change: impl Fn(&mut ServerSpec)) -> Gateway {
    gateway_of(&[("web", browser()), ("other", browser())], change)
}

fn stateful(spec: &mut ServerSpec) {
    spec.life.stateful = true;
}

fn exclusive(spec: &mut ServerSpec) {
    spec.exclusive = true;
}

fn value(outcome: &Outcome) -> Value {
    outcome.result.as_ref().unwrap_or_else(|error| panic!("{error:#?}")).to_value().unwrap()
}

const MIXED: &str = "const urls = ['a', 'b', 'c'];
return await Promise.all(urls.map(async (url) => {
  await web.go({ url });
  return web.read();
}));";

#[tokio::test]
async fn calls_that_overlap_at_a_stateful_server_are_told_with_both_lines_and_once() {
    let outcome = run(&over(stateful), MIXED).await;
    let logs: Vec<&str> = outcome.logs.iter().map(|entry| entry.text.as_str()).collect();
    assert_eq!(
        logs,
        [
            "web keeps one state for all calls, and two of them overlap: go (line 3) and go (line 3), so what they give may be mixed \
          up: await them one after the other, or put what belongs together into web.$exclusive(async () => { … })"
        ]
    );
    let apart = "const a = web.go({ url: 'a' });\nconst b = web.read();\nawait a; await b;\nawait other.read()";
    let outcome = run(&over(stateful), apart).await;
    assert!(outcome.logs[0].text.contains("go (line 1) and read (line 2)"), "{outcome:#?}");
    for fine in [
        "await web.go({ url: 'a' }); return await web.read()",
        "await Promise.all([web.read(), web.read(), other.read()])",
    ] {
        assert_eq!(run(&over(stateful), fine).await.logs, [], "{fine}");
    }
    // Calls of a stateless server need no locks.
    assert_eq!(run(&over(|_| {}), MIXED).await.logs, []);
}

#[tokio::test]
async fn what_belongs_together_stays_together_in_an_exclusive_section() {
    let source = "const urls = ['a', 'b', 'c'];
return await Promise.all(urls.map((url) => web.$exclusive(async () => {
  await web.go({ url });
  return await web.read();
})));";
    for change in [stateful, exclusive] {
        let outcome = run(&over(change), source).await;
        assert_eq!(value(&outcome), json!(["a", "b", "c"]), "{outcome:#?}");
        assert_eq!(outcome.logs, []);
        // The lock is not a tool: it is neither counted nor listed.
        assert_eq!((outcome.usage.tool_calls, outcome.calls.len()), (6, 6), "{outcome:#?}");
    }
    let seen =
        "return [Object.keys(web), '$exclusive' in web, typeof web.$exclusive, web.$exclusive === web.$exclusive]";
    assert_eq!(value(&run(&over(stateful), seen).await), json!([["go", "read"], false, "function", true]));
}

#[tokio::test]
async fn a_section_gives_the_server_back_however_it_ends_and_says_what_is_wrong_with_it() {
    let gateway = over(stateful);
    let source = "
        const failed = await web.$exclusive(async () => { throw new Error('no'); }).catch((error) => error.message);
        return [failed, await web.$exclusive(() => web.read())];";
    assert_eq!(value(&run(&gateway, source).await), json!(["no", ""]));

    let error = run(&gateway, "await web.$exclusive(web.read())").await.result.unwrap_err();
    assert_eq!(error.message, "TypeError: web.$exclusive takes a function: await web.$exclusive(async () => { … })");
    let error = run(&over(|_| {}), "await web.$exclusive(() => web.read())").await.result.unwrap_err();
    assert_eq!(error.message, "TypeError: there is no web.$exclusive");
    assert_eq!(error.hint.as_deref(), Some("web keeps no state between calls: call its tools as they are"));
    let error = run(&gateway, "web.$release()").await.result.unwrap_err();
    assert!(error.message.contains("web.$release is not a function"), "{error:#?}");

    // Waiting for oneself is reported at once, not only at the timeout.
    let nested = "await web.$exclusive(async () => {\n  await web.$exclusive(() => web.read());\n});";
    let error = run(&gateway, nested).await.result.unwrap_err();
    assert_eq!((error.kind, error.line), (ErrorKind::Deadlock, Some(2)), "{error:#?}");
    assert_eq!(value(&run(&gateway, "return await web.$exclusive(() => web.read())").await), json!(""));
}

/// Opens a URL, waits, and returns the open one.
fn visit(url: &str) -> String {
    format!(
        "await web.go({{ url: '{url}' }}); await new Promise((done) => setTimeout(done, 60)); return await web.read();"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn one_run_at_a_time_has_an_exclusive_server_and_who_waits_is_told() {
    let gateway = over(exclusive);
    let outcomes = futures::future::join_all(["a", "b", "c"].map(|url| {
        let gateway = gateway.clone();
        async move { run(&gateway, &visit(url)).await }
    }))
    .await;
    let values: Vec<Value> = outcomes.iter().map(value).collect();
    assert_eq!(values, ["a", "b", "c"]);
    let waited = |outcome: &Outcome| {
        let told = |entry: &belljar_model::LogEntry| {
            entry.level == LogLevel::Info && entry.text == "waited for web, which another run had for itself"
        };
        outcome.logs.iter().any(told)
    };
    assert_eq!(outcomes.iter().filter(|outcome| waited(outcome)).count(), 2, "{outcomes:#?}");
    // Whether a run had to wait does not change its input or its order.
    assert!(outcomes.iter().all(|outcome| outcome.order == outcomes[0].order), "{outcomes:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_fails_is_cancelled_or_is_dropped_gives_back_what_it_had() {
    let gateway = over(exclusive);
    assert!(run(&gateway, "await web.read(); throw new Error('no')").await.result.is_err());
    let short = LimitsPatch { timeout: Some(std::time::Duration::from_millis(300)), ..LimitsPatch::default() };
    let endless = "await web.read(); await new Promise((done) => setTimeout(done, 60_000))".to_owned();
    assert!(gateway.execute(endless.clone()).limits(&short).await.result.is_err());
    let cancelled = tokio::time::sleep(std::time::Duration::from_millis(300));
    assert!(gateway.execute(endless.clone()).cancel_on(cancelled).await.result.is_err());
    let limits = LimitsPatch::default();
    let dropped = gateway.execute(endless).limits(&limits).into_future();
    assert!(tokio::time::timeout(std::time::Duration::from_millis(300), dropped).await.is_err());
    let outcome = run(&gateway, "await web.go({ url: 'z' }); return await web.read()").await;
    assert_eq!(value(&outcome), json!("z"));
    assert_eq!(outcome.logs, [], "nobody had it");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_section_may_await_a_call_that_its_run_began_before_it_had_the_server() {
    // The first call is under way until the gate opens.
    let (begun, gate) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let calls = AtomicUsize::new(0);
    let handle = Handle::current();
    let slow = {
        let (begun, gate) = (begun.clone(), gate.clone());
        Stub::new(json!([{ "name": "read", "inputSchema": { "type": "object" } }]), move |_, _| {
            if calls.fetch_add(1, Ordering::SeqCst) == 0 {
                begun.notify_one();
                tokio::task::block_in_place(|| handle.block_on(gate.notified()));
            }
            text("read")
        })
    };
    let opener = Stub::new(json!([{ "name": "open", "inputSchema": { "type": "object" } }]), move |_, _| {
        gate.notify_one();
        text("open")
    });
    let gateway = gateway_of(&[("web", slow), ("gate", opener)], |spec| spec.life.stateful = spec.name == "web");
    let first = tokio::spawn({
        let gateway = gateway.clone();
        async move { run(&gateway, "return await web.read()").await }
    });
    begun.notified().await;
    // The section waits for that call to end, and the call of its own run waits behind the section.
    let source = "
        let inner;
        const section = web.$exclusive(async () => await inner);
        inner = web.read();
        await gate.open();
        return await section;";
    let second = run(&gateway, source).await;
    assert_eq!(value(&second), json!("read"), "{second:#?}");
    assert_eq!(value(&first.await.unwrap()), json!("read"));
}
