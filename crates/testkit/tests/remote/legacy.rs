//! HTTP with SSE, as it was before streamable HTTP.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::mpsc;

use super::*;

type Stream = Arc<Mutex<Option<mpsc::Sender<Vec<u8>>>>>;

/// A server that says where to send messages, and answers them on its stream.
fn legacy(stream: Stream, endpoint: String) -> impl Fn(&Request) -> Reply + Send + Sync + 'static {
    move |request| {
        let message = request.json();
        match (request.method.as_str(), request.path.as_str()) {
            ("GET", "/sse") => {
                let (pieces, rest) = mpsc::channel(64);
                *stream.lock() = Some(pieces);
                Reply::events(&format!("event: endpoint\ndata: {endpoint}\n\n"), Some(rest))
            }
            ("POST", "/messages?id=1") => {
                if let Some(result) = result(&message)
                    && let Some(pieces) = stream.lock().as_ref()
                {
                    let _ = pieces.try_send(event(&answer(&message, result)).into_bytes());
                }
                Reply::status(202)
            }
            _ => Reply::status(404),
        }
    }
}

#[tokio::test]
async fn a_bare_url_is_tried_as_streamable_http_and_then_as_the_older_one() {
    let web = web(legacy(Stream::default(), "/messages?id=1".to_owned())).await;
    for protocol in [HttpProtocol::Any, HttpProtocol::Sse] {
        let upstream = upstream_at(endpoint(web.url("/sse"), protocol));
        let results = futures(&upstream).await;
        assert_eq!(results, [0, 1, 2, 3], "{protocol:?}");
        upstream.shutdown().await;
    }
    let tried = web.requests().iter().filter(|request| request.method == "POST" && request.path == "/sse").count();
    assert_eq!(tried, 1, "the older one was asked for as such, and got something else first");
    let upstream = upstream_at(endpoint(web.url("/sse"), HttpProtocol::Streamable));
    assert!(start_error(&upstream).await.to_string().contains("HTTP status 404"));
}

/// Some calls at the same time.
async fn futures(upstream: &Upstream) -> Vec<i64> {
    let (a, b, c, d) = tokio::join!(
        call(upstream, "echo", json!({ "n": 0 })),
        call(upstream, "echo", json!({ "n": 1 })),
        call(upstream, "echo", json!({ "n": 2 })),
        call(upstream, "echo", json!({ "n": 3 })),
    );
    let number = |result: Result<Value, CallError>| result.expect("a result")["structuredContent"]["n"].as_i64();
    [a, b, c, d].into_iter().filter_map(number).collect()
}

#[tokio::test]
async fn messages_go_to_no_other_origin() {
    let elsewhere = web(ordinary).await;
    let web = web(legacy(Stream::default(), elsewhere.url("/messages?id=1"))).await;
    let upstream = upstream_at(endpoint(web.url("/sse"), HttpProtocol::Sse));
    assert!(start_error(&upstream).await.to_string().contains("another origin"));
    assert!(elsewhere.requests().is_empty());
}

#[tokio::test]
async fn the_end_of_the_stream_is_the_end_of_the_calls_and_the_next_call_begins_anew() {
    let stream = Stream::default();
    let web = web(legacy(stream.clone(), "/messages?id=1".to_owned())).await;
    let upstream = upstream_at(endpoint(web.url("/sse"), HttpProtocol::Sse));
    upstream.tools("there").await.expect("tools");
    *stream.lock() = None;
    let back = async {
        while call(&upstream, "echo", json!({})).await.is_err() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(AMPLE, back).await.expect("it comes back");
    assert!(upstream.status()[0].restarts > 0);
    upstream.shutdown().await;
}
