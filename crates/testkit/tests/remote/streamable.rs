//! Streamable HTTP.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use parking_lot::Mutex;
use tokio::sync::mpsc;

use super::*;

fn streamable(web: &Web) -> Upstream {
    upstream_at(endpoint(web.url("/mcp"), HttpProtocol::Streamable))
}

#[tokio::test]
async fn a_session_is_begun_kept_and_ended() {
    let web = web(ordinary).await;
    let upstream = streamable(&web);
    assert_eq!(call(&upstream, "echo", json!({ "n": 1 })).await.expect("a result")["structuredContent"]["n"], 1);
    upstream.shutdown().await;
    let requests = web.requests();
    let seen = |request: &Request| {
        let method = request.json()["method"].as_str().unwrap_or_default().to_owned();
        (request.method.clone(), method, request.header("mcp-session-id").map(str::to_owned))
    };
    let seen: Vec<_> = requests.iter().map(seen).collect();
    let in_session = |method: &str, name: &str| (method.to_owned(), name.to_owned(), Some("first".to_owned()));
    assert_eq!(seen[0], ("POST".to_owned(), "initialize".to_owned(), None));
    assert_eq!(seen[1], in_session("POST", "notifications/initialized"));
    assert!(seen.contains(&in_session("GET", "")), "{seen:?}");
    assert!(seen.contains(&in_session("POST", "tools/list")), "{seen:?}");
    assert_eq!(seen.last(), Some(&in_session("DELETE", "")));
    let version = requests[0].json()["params"]["protocolVersion"].clone();
    assert!(requests[1..].iter().all(|request| request.header("mcp-protocol-version") == version.as_str()));
    assert_eq!(requests[0].header("mcp-protocol-version"), None);
}

#[tokio::test]
async fn a_session_that_the_server_forgot_is_begun_anew_and_the_call_made_once() {
    let restarted = Arc::new(AtomicUsize::new(0));
    let calls = Arc::new(AtomicUsize::new(0));
    let (begun, made) = (restarted.clone(), calls.clone());
    let web = web(move |request| {
        let message = request.json();
        let method = message["method"].as_str().unwrap_or_default();
        if method == "initialize" {
            let number = begun.fetch_add(1, Ordering::SeqCst);
            let reply = Reply::json(&answer(&message, result(&message).expect("a result")));
            return reply.with("mcp-session-id", &format!("session-{number}"));
        }
        // The first session lasts until the first call.
        if method == "tools/call" && request.header("mcp-session-id") == Some("session-0") {
            return Reply::status(404);
        }
        if method == "tools/call" {
            made.fetch_add(1, Ordering::SeqCst);
        }
        ordinary(request)
    })
    .await;
    let upstream = streamable(&web);
    assert!(call(&upstream, "echo", json!({})).await.is_ok());
    assert_eq!((restarted.load(Ordering::SeqCst), calls.load(Ordering::SeqCst)), (2, 1));
    let last = web.requests().into_iter().rfind(|request| request.json()["method"] == "tools/call").expect("a call");
    assert_eq!(last.header("mcp-session-id"), Some("session-1"));
    upstream.shutdown().await;
}

#[tokio::test]
async fn an_answer_beyond_the_limit_is_not_read_to_its_end_and_others_go_on() {
    let web = web(|request| {
        let message = request.json();
        let arguments = &message["params"]["arguments"];
        let endless = || {
            let (pieces, rest) = mpsc::channel::<Vec<u8>>(1);
            tokio::spawn(async move { while pieces.send(vec![b'x'; 64 * 1024]).await.is_ok() {} });
            Some(rest)
        };
        let begin = format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{\"content\":\"", message["id"]);
        match arguments["as"].as_str() {
            Some("document") => {
                let reply = Reply { status: 200, body: begin.into_bytes(), rest: endless(), ..Reply::default() };
                reply.with("content-type", "application/json")
            }
            Some("event") => Reply::events(&format!("data: {begin}"), endless()),
            _ => ordinary(request),
        }
    })
    .await;
    let upstream = streamable(&web);
    let fault = call(&upstream, "echo", json!({ "as": "document" })).await.expect_err("it is too long");
    assert!(matches!(fault, CallError::TooLarge { .. }), "{fault}");
    // The stream of events never ends, so neither does its message: the time limit ends the call.
    let limit = Duration::from_secs(2);
    let arguments = json!({ "as": "event" }).as_object().cloned().expect("an object");
    let fault = upstream.call(&ToolPath::new("there", "echo"), arguments, limit).await.expect_err("it does not end");
    assert!(matches!(fault, CallError::Timeout { .. } | CallError::TooLarge { .. }), "{fault}");
    assert!(call(&upstream, "echo", json!({})).await.is_ok());
    upstream.shutdown().await;
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_taken_up_again_after_its_last_event() {
    let open = Arc::new(Mutex::new(None::<Value>));
    let asked = open.clone();
    let web = web(move |request| {
        let message = request.json();
        if message["method"] == "tools/call" {
            *asked.lock() = Some(message);
            return Reply::events("id: 41\nretry: 1\ndata:\n\n", None);
        }
        match (request.header("last-event-id"), asked.lock().as_ref()) {
            (Some("41"), Some(message)) => {
                Reply::events(&event(&answer(message, json!({ "content": "resumed" }))), None)
            }
            _ => ordinary(request),
        }
    })
    .await;
    let upstream = streamable(&web);
    assert_eq!(call(&upstream, "echo", json!({})).await.expect("a result")["content"], "resumed");
    upstream.shutdown().await;
}

#[tokio::test]
async fn an_answer_that_breaks_off_fails_its_own_call_and_no_other() {
    let web = web(|request| {
        let message = request.json();
        match message["params"]["arguments"]["how"].as_str() {
            Some("half") => Reply::json(&json!({})).with("content-length", "5000"),
            Some("nothing") => Reply::events(": hello\n\n", None),
            Some("web page") => {
                Reply { status: 200, body: b"<html>".to_vec(), ..Reply::default() }.with("content-type", "text/html")
            }
            Some("trouble") => Reply { status: 500, body: b"the disk is full".to_vec(), ..Reply::default() }
                .with("content-type", "text/plain"),
            Some("json-rpc") => Reply {
                status: 400,
                ..Reply::json(&json!({ "jsonrpc": "2.0", "error": { "code": -5, "message": "no such thing" } }))
            },
            _ => ordinary(request),
        }
    })
    .await;
    let upstream = streamable(&web);
    for (how, said) in [
        ("nothing", "the answer ended before its end"),
        ("web page", "neither JSON nor a stream of events"),
        ("trouble", "HTTP status 500: the disk is full"),
        ("json-rpc", "no such thing (JSON-RPC error -5)"),
        ("half", "broke"),
    ] {
        let fault = call(&upstream, "echo", json!({ "how": how })).await.expect_err(how).to_string();
        assert!(fault.contains(said), "{how}: {fault}");
    }
    assert!(call(&upstream, "echo", json!({ "how": "well" })).await.is_ok());
    assert_eq!(upstream.status()[0].restarts, 0);
    upstream.shutdown().await;
}

#[tokio::test]
async fn a_tool_list_that_is_odd_in_places_is_read_for_the_rest() {
    let web = web(|request| {
        let message = request.json();
        match message["method"].as_str() {
            Some("tools/list") => {
                let tools = json!([{ "name": "no schema" }, { "name": "boolean", "inputSchema": true }, 5, null, { "name": "good", "inputSchema": {} }]);
                Reply::events(&event(&answer(&message, json!({ "tools": tools, "nextCursor": null }))), None)
            }
            _ => ordinary(request),
        }
    })
    .await;
    let upstream = streamable(&web);
    let tools = upstream.tools("there").await.expect("tools");
    assert!(tools.iter().any(|tool| tool.name == "good"), "{tools:?}");
    upstream.shutdown().await;
}

#[tokio::test]
async fn changed_tools_are_heard_of_on_the_stream_that_is_for_that() {
    let (changed, later) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(None::<mpsc::Sender<Vec<u8>>>)));
    let (lists, sender) = (changed.clone(), later.clone());
    let web = web(move |request| {
        let message = request.json();
        if request.method == "GET" {
            let (pieces, rest) = mpsc::channel(1);
            *sender.lock() = Some(pieces);
            return Reply::events(": hello\n\n", Some(rest));
        }
        if message["method"] == "tools/list" && lists.fetch_add(1, Ordering::SeqCst) > 0 {
            let tools = json!({ "tools": [{ "name": "fresh", "inputSchema": {} }] });
            return Reply::json(&answer(&message, tools));
        }
        ordinary(request)
    })
    .await;
    let upstream = streamable(&web);
    let mut changes = upstream.subscribe();
    assert_eq!(upstream.tools("there").await.expect("tools")[0].name, "echo");
    let news = event(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
    let waiting = async {
        while upstream.tools("there").await.expect("tools")[0].name != "fresh" {
            let pieces = later.lock().clone();
            if let Some(pieces) = pieces {
                let _ = pieces.try_send(news.clone().into_bytes());
            }
            let _ = tokio::time::timeout(Duration::from_millis(50), changes.recv()).await;
        }
    };
    tokio::time::timeout(AMPLE, waiting).await.expect("the new list arrives");
    upstream.shutdown().await;
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_is_cancelled_at_the_server() {
    let web = web(|request| match request.json()["method"].as_str() {
        Some("tools/call") => {
            let (pieces, rest) = mpsc::channel(1);
            tokio::spawn(async move { pieces.closed().await });
            Reply::events(": wait\n\n", Some(rest))
        }
        _ => ordinary(request),
    })
    .await;
    let upstream = streamable(&web);
    upstream.tools("there").await.expect("tools");
    let arguments = Map::new();
    let fault = upstream.call(&ToolPath::new("there", "echo"), arguments, Duration::from_millis(200)).await;
    assert!(matches!(fault, Err(CallError::Timeout { .. })));
    let cancelled = async {
        while !web.requests().iter().any(|request| request.json()["method"] == "notifications/cancelled") {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(AMPLE, cancelled).await.expect("the server is told");
    upstream.shutdown().await;
}
