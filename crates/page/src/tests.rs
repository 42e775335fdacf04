//! Requests as a browser, another page or a program would send them.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use http_body_util::{BodyExt as _, Full};
use serde_json::Value;

use super::*;
use crate::tests_source::Kept;

const HOST: &str = "127.0.0.1:4000";
const ORIGIN: &str = "http://127.0.0.1:4000";

fn front() -> (Front, Arc<Kept>) {
    let kept = Arc::new(Kept::default());
    (Front::new(([127, 0, 0, 1], 4000).into(), kept.clone()), kept)
}

async fn sent(front: &Front, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> (u16, Value) {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Full::new(Bytes::from(body.to_owned()))).expect("a request");
    let answer = front.answer(request, None).await.expect("an answer");
    for name in ["content-security-policy", "x-frame-options", "cross-origin-resource-policy"] {
        assert!(answer.headers().contains_key(name), "{name}");
    }
    assert!(!answer.headers().contains_key("access-control-allow-origin"));
    let status = answer.status().as_u16();
    let bytes = answer.into_body().collect().await.expect("a body").to_bytes();
    (status, serde_json::from_slice(&bytes).unwrap_or_default())
}

async fn open(front: &Front) -> (String, String) {
    let ticket = front.sessions.ticket(Instant::now()).expect("random");
    let body = json!({ "ticket": ticket }).to_string();
    let (status, opened) = sent(front, "POST", "/session", &[("host", HOST), ("origin", ORIGIN)], &body).await;
    assert_eq!(status, 200);
    let text = |name: &str| opened[name].as_str().expect("a secret").to_owned();
    (format!("Bearer {}", text("token")), text("change"))
}

#[tokio::test]
async fn nothing_but_the_empty_page_is_given_without_a_token() {
    let (front, _) = front();
    assert_eq!(sent(&front, "GET", "/", &[("host", HOST), ("sec-fetch-site", "cross-site")], "").await.0, 200);
    for path in [
        "/api/runs",
        "/api/runs/r_1",
        "/api/runs/r_1/recording",
        "/api/runs/r_1/with/r_2",
        "/api/approvals",
        "/api/servers",
        "/api/tools?server=a",
        "/api/tool?path=a.b",
        "/api/search",
        "/api/rules",
        "/api/cost",
        "/api/events",
        "/metrics",
        "/nothing",
    ] {
        for headers in [vec![("host", HOST)], vec![("host", HOST), ("authorization", "Bearer x")]] {
            assert_eq!(sent(&front, "GET", path, &headers, "").await.0, 401, "{path}");
        }
    }
    let change = [("host", HOST), ("origin", ORIGIN), ("x-belljar-change", "x")];
    assert_eq!(sent(&front, "POST", "/api/approvals/q1", &change, "{}").await.0, 401);
    for path in
        ["/api/call", "/api/call/show", "/api/explain", "/api/runs/r_1/replay", "/api/runs/r_1/cancel", "/session/end"]
    {
        assert_eq!(sent(&front, "POST", path, &change, "{}").await.0, 401, "{path}");
    }
    assert_eq!(sent(&front, "POST", "/session", &change, r#"{"ticket":"x"}"#).await.0, 403);
    assert_eq!(sent(&front, "PUT", "/", &change, "").await.0, 405);
}

#[tokio::test]
async fn a_request_of_another_page_or_for_another_host_is_refused_whatever_it_brings() {
    let (front, _) = front();
    let (token, change) = open(&front).await;
    let good = [("host", HOST), ("authorization", token.as_str())];
    assert_eq!(sent(&front, "GET", "/api/approvals", &good, "").await.0, 200);
    for strange in [
        vec![("authorization", token.as_str())],
        vec![("host", "evil.example:4000"), ("authorization", &token)],
        vec![("host", "127.0.0.1"), ("authorization", &token)],
        vec![("host", HOST), ("host", HOST), ("authorization", &token)],
        vec![("host", HOST), ("origin", "http://evil.example"), ("authorization", &token)],
        vec![("host", HOST), ("origin", "null"), ("authorization", &token)],
        vec![("host", HOST), ("origin", "http://localhost:4000"), ("authorization", &token)],
        vec![("host", HOST), ("sec-fetch-site", "cross-site"), ("authorization", &token)],
        vec![("host", HOST), ("sec-fetch-site", "same-site"), ("authorization", &token)],
    ] {
        assert_eq!(sent(&front, "GET", "/api/approvals", &strange, "").await.0, 403, "{strange:?}");
    }
    let without_origin = [("host", HOST), ("authorization", &token), ("x-belljar-change", &change)];
    assert_eq!(sent(&front, "POST", "/api/approvals/q1/show", &without_origin, "").await.0, 403);
    let ticket = front.sessions.ticket(Instant::now()).expect("random");
    let foreign = [("host", HOST), ("origin", "http://evil.example")];
    let body = json!({ "ticket": ticket }).to_string();
    assert_eq!(sent(&front, "POST", "/session", &foreign, &body).await.0, 403);
}

#[tokio::test]
async fn a_decision_takes_the_second_secret_and_a_fresh_look_at_the_call() {
    let (front, kept) = front();
    let (token, change) = open(&front).await;
    let all = [("host", HOST), ("origin", ORIGIN), ("authorization", &token), ("x-belljar-change", &change)];
    let show = async || sent(&front, "POST", "/api/approvals/q1/show", &all, "").await.1["confirmation"].clone();
    let body = |confirmation: &Value| json!({ "approve": true, "confirmation": confirmation }).to_string();
    let given = show().await;
    let (lacking, wrong) = (&all[..3], [all[0], all[1], all[2], ("x-belljar-change", "x")]);
    assert_eq!(sent(&front, "POST", "/api/approvals/q1", lacking, &body(&given)).await.0, 403);
    assert_eq!(sent(&front, "POST", "/api/approvals/q1", &wrong, &body(&given)).await.0, 403);
    assert_eq!(sent(&front, "POST", "/api/approvals/q1", &all, &body(&json!("made up"))).await.0, 409);
    assert_eq!(sent(&front, "POST", "/api/approvals/q2", &all, &body(&given)).await.0, 409);
    assert_eq!(sent(&front, "POST", "/api/approvals/q1", &all, &body(&given)).await.0, 409, "it was used up");
    assert!(kept.decided.lock().is_empty());
    let given = show().await;
    assert_eq!(
        sent(&front, "POST", "/api/approvals/q1", &all, &body(&given)).await,
        (200, json!({ "approved": true }))
    );
    assert_eq!(*kept.decided.lock(), [("q1".to_owned(), "exactly this".to_owned(), true)]);
    assert_eq!(sent(&front, "POST", "/api/approvals/q1", &all, &body(&given)).await.0, 409);
    let long = "x".repeat(MAX_BODY + 1);
    assert_eq!(sent(&front, "POST", "/api/approvals/q1", &all, &long).await.0, 413);
    assert_eq!(sent(&front, "POST", "/api/approvals/../runs", &all, "").await.0, 404);
}

#[tokio::test]
async fn a_call_is_made_once_exactly_as_it_was_shown_for_who_may_change_something() {
    let (front, kept) = front();
    let (token, change) = open(&front).await;
    let all = [("host", HOST), ("origin", ORIGIN), ("authorization", &token), ("x-belljar-change", &change)];
    let call = |arguments: &str, confirmation: &Value| {
        json!({ "tool": "fs.read", "arguments": arguments, "confirmation": confirmation }).to_string()
    };
    let shown = json!({ "tool": "fs.read", "arguments": "{}" }).to_string();
    let show = async || sent(&front, "POST", "/api/call/show", &all, &shown).await.1["confirmation"].clone();
    let confirmation = show().await;
    assert_eq!(sent(&front, "POST", "/api/call", &all[..3], &call("{}", &confirmation)).await.0, 403);
    assert_eq!(sent(&front, "POST", "/api/call/show", &all[..3], &shown).await.0, 403);
    assert_eq!(sent(&front, "POST", "/api/call", &all, &call("{ }", &confirmation)).await.0, 409, "it is another one");
    assert_eq!(sent(&front, "POST", "/api/call", &all, &call("{}", &confirmation)).await.0, 409, "it was used up");
    // A confirmation for a call does not confirm a decision about a question, nor the reverse.
    let confirmation = show().await;
    let decided = json!({ "approve": true, "confirmation": confirmation }).to_string();
    assert_eq!(sent(&front, "POST", "/api/approvals/q1", &all, &decided).await.0, 409);
    let question = sent(&front, "POST", "/api/approvals/q1/show", &all, "").await.1["confirmation"].clone();
    assert_eq!(sent(&front, "POST", "/api/call", &all, &call("{}", &question)).await.0, 409);
    assert!(kept.called.lock().is_empty() && kept.decided.lock().is_empty());
    let confirmation = show().await;
    assert_eq!(sent(&front, "POST", "/api/call", &all, &call("{}", &confirmation)).await, (200, json!({ "ok": true })));
    assert_eq!(sent(&front, "POST", "/api/call", &all, &call("{}", &confirmation)).await.0, 409);
    assert_eq!(*kept.called.lock(), [WrittenCall { tool: "fs.read".to_owned(), arguments: "{}".to_owned() }]);
    let long = call(&"x".repeat(MAX_CALL), &confirmation);
    assert_eq!(sent(&front, "POST", "/api/call", &all, &long).await.0, 413);
}

#[tokio::test]
async fn a_run_is_cancelled_only_for_who_may_change_something() {
    let (front, kept) = front();
    let (token, change) = open(&front).await;
    let all = [("host", HOST), ("origin", ORIGIN), ("authorization", &token), ("x-belljar-change", &change)];
    let foreign = [all[0], ("origin", "http://evil.example"), all[2], all[3]];
    let wrong = [all[0], all[1], all[2], ("x-belljar-change", "x")];
    for headers in [&all[..3], &wrong[..], &foreign[..]] {
        assert_eq!(sent(&front, "POST", "/api/runs/r_1/cancel", headers, "").await.0, 403);
    }
    assert_eq!(sent(&front, "GET", "/api/runs/r_1/cancel", &all, "").await.0, 404);
    for path in ["/api/runs/../cancel", "/api/runs//cancel", "/api/runs/r_1/cancel/", "/api/runs/cancel"] {
        assert_eq!(sent(&front, "POST", path, &all, "").await.0, 404, "{path}");
    }
    assert!(kept.cancelled.lock().is_empty());
    let cancelled = sent(&front, "POST", "/api/runs/r_1/cancel", &all, "").await;
    assert_eq!(cancelled, (200, json!({ "cancelled": true })));
    assert_eq!(*kept.cancelled.lock(), ["r_1"]);
}

#[tokio::test]
async fn a_page_that_was_closed_is_open_to_nobody_and_the_others_stay() {
    let (front, _) = front();
    let ((token, change), (other, _)) = (open(&front).await, open(&front).await);
    let all = [("host", HOST), ("origin", ORIGIN), ("authorization", &token), ("x-belljar-change", &change)];
    assert_eq!(sent(&front, "POST", "/session/end", &all[..3], "").await.0, 403);
    assert_eq!(sent(&front, "GET", "/api/runs", &all, "").await.0, 200);
    let request = Request::get("/api/events").header("host", HOST).header("authorization", &token);
    let events =
        front.answer(request.body(Full::new(Bytes::new())).expect("a request"), None).await.expect("an answer");
    assert_eq!(sent(&front, "POST", "/session/end", &all, "").await, (200, json!({ "closed": true })));
    for (method, path) in [("GET", "/api/runs"), ("GET", "/api/events"), ("POST", "/session/end")] {
        assert_eq!(sent(&front, method, path, &all, "").await.0, 401, "{path}");
    }
    assert_eq!(sent(&front, "GET", "/api/runs", &[all[0], ("authorization", &other)], "").await.0, 200);
    // The stream continues until the next check of who listens, and then ends.
    tokio::time::pause();
    assert_eq!(events.into_body().collect().await.expect("it ends").to_bytes(), "data: []\n\n");
}

#[tokio::test]
async fn what_takes_long_has_a_bounded_number_of_places() {
    let (front, _) = front();
    let (token, _) = open(&front).await;
    let good = [("host", HOST), ("authorization", token.as_str())];
    let taken = front.work.try_acquire_many(u32::try_from(MAX_WORK).expect("few")).expect("all are free");
    assert_eq!(sent(&front, "GET", "/api/search?query=x", &good, "").await.0, 429);
    assert_eq!(sent(&front, "GET", "/api/servers", &good, "").await.0, 200);
    // The person's confirmation is not used up by that.
    drop(taken);
    assert_eq!(sent(&front, "GET", "/api/search?query=x", &good, "").await.0, 200);
    // An export keeps its place until it has been read.
    let export = async || {
        let request = Request::get("/api/runs/r_1/json").header("host", HOST).header("authorization", &token);
        front.answer(request.body(Full::new(Bytes::new())).expect("a request"), None).await.expect("an answer")
    };
    let mut unread = Vec::new();
    for _ in 0..MAX_EXPORTS {
        unread.push(export().await);
    }
    assert_eq!(export().await.status(), 429);
    unread.pop();
    assert_eq!(export().await.status(), 200);
}

/// Opens a page on another server, with a token that is valid until the test says otherwise.
async fn opened_by_token(front: &Front, host: &str, origin: &str) -> (u16, Arc<AtomicBool>, String) {
    let is_good = Arc::new(AtomicBool::new(true));
    let asked = is_good.clone();
    let request = Request::post("/session").header("host", host).header("origin", origin);
    let request = request.body(Full::new(Bytes::new())).expect("a request");
    let bearer = Bearer::new("me", move || asked.load(Ordering::Relaxed));
    let answer = front.answer(request, Some(bearer)).await.expect("an answer");
    let status = answer.status().as_u16();
    let bytes = answer.into_body().collect().await.expect("a body").to_bytes();
    let opened: Value = serde_json::from_slice(&bytes).expect("JSON");
    (status, is_good, format!("Bearer {}", opened["token"].as_str().unwrap_or_default()))
}

#[tokio::test]
async fn on_another_server_a_page_is_open_no_longer_than_its_token_is_good() {
    let front = Front::embedded(Arc::new(Kept::default()));
    let host = "belljar.example:8765";
    // A ticket opens nothing there, even if it is valid.
    let ticket = front.sessions.ticket(Instant::now()).expect("random");
    let plain = [("host", host), ("origin", "http://belljar.example:8765")];
    let body = json!({ "ticket": ticket }).to_string();
    let (status, told) = sent(&front, "POST", "/session", &plain, &body).await;
    assert_eq!((status, &told["login"]), (401, &json!(true)));
    // Another origin that may use the server may not use the page.
    for strange in ["https://app.example", "null", "http://belljar.example"] {
        assert_eq!(opened_by_token(&front, host, strange).await.0, 403, "{strange}");
    }
    for origin in ["http://belljar.example:8765", "https://belljar.example:8765"] {
        let (status, is_good, token) = opened_by_token(&front, host, origin).await;
        let good = [("host", host), ("authorization", token.as_str())];
        assert_eq!((status, sent(&front, "GET", "/api/servers", &good, "").await.0), (200, 200));
        is_good.store(false, Ordering::Relaxed);
        assert_eq!(sent(&front, "GET", "/api/servers", &good, "").await.0, 401);
        is_good.store(true, Ordering::Relaxed);
        assert_eq!(sent(&front, "GET", "/api/servers", &good, "").await.0, 401, "it is closed");
    }
}
