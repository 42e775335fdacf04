//! Requests as a browser, another page and a program send them.

use std::sync::Arc;

use futures::{
    FutureExt as _, StreamExt as _,
    future::{BoxFuture, ready},
    stream::{self, BoxStream},
};
use http_body_util::Full;
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::*;

const HOST: &str = "127.0.0.1:4000";
const ORIGIN: &str = "http://127.0.0.1:4000";

/// Remembers what was decided. Its question changes when it is told to.
#[derive(Default)]
struct Kept {
    decided: Mutex<Vec<(String, String, bool)>>,
}

impl Source for Kept {
    fn runs(&self, asked: RunsAsked) -> BoxFuture<'_, Result<Value, NotShown>> {
        ready(Ok(json!(format!("{asked:?}")))).boxed()
    }

    fn run(&self, run: String) -> BoxFuture<'_, Result<Value, NotShown>> {
        ready(Err(NotShown::Unknown(format!("no {run}")))).boxed()
    }

    fn approvals(&self) -> BoxFuture<'_, Result<Value, NotShown>> {
        ready(Ok(json!([]))).boxed()
    }

    fn waiting(&self) -> BoxFuture<'_, Result<Value, NotShown>> {
        ready(Ok(json!({ "waiting": 0 }))).boxed()
    }

    fn question(&self, id: String) -> BoxFuture<'_, Result<(Value, String), NotShown>> {
        ready(Ok((json!({ "id": id }), "exactly this".to_owned()))).boxed()
    }

    fn decide(&self, id: String, identity: String, approve: bool) -> BoxFuture<'_, Result<(), NotShown>> {
        self.decided.lock().push((id, identity, approve));
        ready(Ok(())).boxed()
    }

    fn metrics(&self) -> BoxFuture<'_, (&'static str, String)> {
        ready(("text/plain", "m 1\n".to_owned())).boxed()
    }

    fn updates(&self) -> BoxStream<'static, Value> {
        stream::pending().boxed()
    }
}

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
    let answer = front.answer(request).await.expect("an answer");
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
    for path in ["/api/runs", "/api/runs/r_1", "/api/approvals", "/api/events", "/metrics", "/nothing"] {
        for headers in [vec![("host", HOST)], vec![("host", HOST), ("authorization", "Bearer x")]] {
            assert_eq!(sent(&front, "GET", path, &headers, "").await.0, 401, "{path}");
        }
    }
    let change = [("host", HOST), ("origin", ORIGIN), ("x-belljar-change", "x")];
    assert_eq!(sent(&front, "POST", "/api/approvals/q1", &change, "{}").await.0, 401);
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

#[test]
fn a_filter_is_read_as_it_was_written_and_an_unknown_one_is_an_error() {
    let read = |query| runs_asked(query).map_err(|Refused(_, message)| message);
    let wanted =
        RunsAsked { tool: Some("fs.read file".to_owned()), failed: true, limit: Some(5), ..RunsAsked::default() };
    assert_eq!(read("tool=fs.read%20file&failed=1&client=&limit=5"), Ok(wanted));
    for wrong in ["tool=%", "tool=%zz", "tool=%ff", "other=1", &format!("tool={}", "x".repeat(201))] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
}
