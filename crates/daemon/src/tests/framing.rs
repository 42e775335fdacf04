//! Whatever a client sends gets one clear answer, and the daemon continues.

use crate::{MAX_LINE_BYTES, codes};
use serde_json::json;
use tokio::io::AsyncWriteExt as _;

use super::support::{Raw, daemon, options};

#[tokio::test]
async fn the_first_request_must_be_hello_in_a_version_that_both_speak() {
    let daemon = daemon(options()).await;
    let mut raw = daemon.raw().await;
    raw.say(r#"{"jsonrpc":"2.0","id":1,"method":"echo","params":{}}"#).await;
    let answer = raw.hear().await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(1), &json!(codes::INVALID_REQUEST)), "{answer}");
    raw.say(r#"{"jsonrpc":"2.0","id":2,"method":"hello","params":{"protocol":99}}"#).await;
    let answer = raw.hear().await;
    assert_eq!(answer["error"]["code"], codes::PROTOCOL, "{answer}");
    assert!(
        answer["error"]["data"]["hint"].as_str().unwrap().contains(&format!("kill {}", std::process::id())),
        "{answer}"
    );
    raw.say(r#"{"jsonrpc":"2.0","id":3,"method":"hello","params":{"protocol":1,"client":"of the future"}}"#).await;
    let answer = raw.hear().await;
    assert_eq!((&answer["result"]["version"], &answer["result"]["fingerprint"]), (&json!("1.2.3"), &json!("f")));
}

#[tokio::test]
async fn what_is_no_request_is_answered_and_the_next_request_works() {
    let daemon = daemon(options()).await;
    for (line, code) in [
        ("GET / HTTP/1.1", codes::PARSE),
        ("{\"jsonrpc\":\"2.0\"", codes::PARSE),
        ("[1,2]", codes::INVALID_REQUEST),
        (r#"{"jsonrpc":"2.0","id":{},"method":"echo"}"#, codes::INVALID_REQUEST),
        (r#"{"jsonrpc":"2.0","id":5,"method":"frobnicate"}"#, codes::METHOD_NOT_FOUND),
        (r#"{"jsonrpc":"2.0","id":5,"method":"refuse"}"#, codes::INVALID_PARAMS),
        (r#"{"jsonrpc":"2.0","id":5,"method":"panic"}"#, codes::INTERNAL),
        (r#"{"jsonrpc":"2.0","id":5,"method":"hello","params":[]}"#, codes::INVALID_PARAMS),
    ] {
        let mut raw = Raw::greeted(&daemon.address.socket()).await;
        raw.say(line).await;
        let answer = raw.hear().await;
        assert_eq!(answer["error"]["code"], code, "{line}: {answer}");
        assert!(answer["error"]["message"].as_str().is_some_and(|message| !message.is_empty()), "{line}: {answer}");
        raw.say(r#"{"jsonrpc":"2.0","id":"next","method":"echo","params":{"a":[1,2]}}"#).await;
        assert_eq!(raw.hear().await, json!({ "jsonrpc": "2.0", "id": "next", "result": { "a": [1, 2] } }), "{line}");
    }
}

#[tokio::test]
async fn deep_nesting_in_a_request_is_an_error_and_no_crash() {
    let daemon = daemon(options()).await;
    let mut raw = Raw::greeted(&daemon.address.socket()).await;
    raw.say(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"echo","params":{}}}"#, "[".repeat(100_000))).await;
    assert_eq!(raw.hear().await["error"]["code"], codes::PARSE);
}

#[tokio::test]
async fn a_request_of_a_hundred_megabytes_is_refused_without_being_kept_and_the_next_is_answered() {
    let daemon = daemon(options()).await;
    let mut raw = Raw::greeted(&daemon.address.socket()).await;
    let piece = vec![b'x'; 1 << 20];
    let writing = async {
        for _ in 0..100 {
            raw.writing.write_all(&piece).await.unwrap();
        }
        raw.writing.write_all(b"\n").await.unwrap();
    };
    writing.await;
    let answer = raw.hear().await;
    assert_eq!(answer["error"]["code"], codes::TOO_LONG, "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains(&MAX_LINE_BYTES.to_string()), "{answer}");
    raw.say(r#"{"jsonrpc":"2.0","id":1,"method":"echo"}"#).await;
    assert_eq!(raw.hear().await["result"], json!({}));
}

#[tokio::test]
async fn a_request_right_behind_a_line_that_is_too_long_is_answered() {
    let daemon = daemon(options()).await;
    let mut raw = Raw::greeted(&daemon.address.socket()).await;
    // The line becomes too long only in the chunk that also brings the request.
    raw.writing.write_all(&vec![b'x'; MAX_LINE_BYTES - 8]).await.unwrap();
    raw.writing.write_all(b"xxxxxxxxxxxxxxxx\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\"}\n").await.unwrap();
    assert_eq!(raw.hear().await["error"]["code"], codes::TOO_LONG);
    assert_eq!(raw.hear().await["result"], json!({}));
}

#[tokio::test]
async fn half_a_line_and_a_hang_up_leave_nothing_behind() {
    let daemon = daemon(options()).await;
    for half in ["", "{", r#"{"jsonrpc":"2.0","id":1,"method":"hang""#, "\u{0}\u{0}"] {
        let mut raw = Raw::greeted(&daemon.address.socket()).await;
        raw.writing.write_all(half.as_bytes()).await.unwrap();
        drop(raw);
    }
    let mut raw = daemon.raw().await;
    raw.writing.write_all(b"\xff\xfe\n").await.unwrap();
    assert_eq!(raw.hear().await["error"]["code"], codes::PARSE);
    let echoed = daemon.client().await.request("echo", &json!([1])).await.unwrap();
    assert_eq!(echoed.get(), "[1]");
}

#[tokio::test]
async fn a_notification_gets_no_answer() {
    let daemon = daemon(options()).await;
    let mut raw = Raw::greeted(&daemon.address.socket()).await;
    for notification in ["echo", "cancel", "stop", "frobnicate"] {
        raw.say(&format!(r#"{{"jsonrpc":"2.0","method":"{notification}","params":{{"id":9}}}}"#)).await;
    }
    raw.say(r#"{"jsonrpc":"2.0","id":1,"method":"echo"}"#).await;
    assert_eq!(raw.hear().await["id"], 1);
}
