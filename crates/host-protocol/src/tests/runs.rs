//! Runs: many at once, cancelled, refused.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::support::{Client, Event};
use crate::codes;

fn code_of(message: &Value) -> i64 {
    message["error"]["code"].as_i64().unwrap_or_else(|| panic!("not an error: {message}"))
}

#[tokio::test]
async fn many_runs_share_a_connection_and_each_gets_its_own_answers() {
    let mut client = Client::greeted().await;
    for run in 1..=100 {
        client.run(run, "calls 3").await;
    }
    for call in client.some(300).await {
        let value = format!("{} {}", call["params"]["run"], call["params"]["arguments"][0]);
        client.answer(&call, &json!({ "result": { "value": value } })).await;
    }
    let answers: BTreeMap<u64, Value> = client
        .some(100)
        .await
        .into_iter()
        .map(|mut answer| (answer["id"].as_u64().expect("an id"), answer["result"].take()))
        .collect();
    assert_eq!(answers.len(), 100);
    for (run, answer) in answers {
        assert_eq!(answer, json!([format!("{run} 0"), format!("{run} 1"), format!("{run} 2")]));
    }
}

#[tokio::test]
async fn a_cancelled_run_is_answered_and_no_other_is_touched() {
    let mut client = Client::greeted().await;
    client.run(1, "wait").await;
    client.run(2, "calls 1").await;
    let call = client.next().await;
    for id in [json!(7), json!("1"), json!({}), json!(1)] {
        client.send(&json!({ "jsonrpc": "2.0", "method": "cancel", "params": { "id": id } }).to_string()).await;
    }
    let answer = client.next().await;
    assert_eq!((&answer["id"], &answer["result"]), (&json!(1), &json!("cancelled")));
    client.answer(&call, &json!({ "result": { "value": 1 } })).await;
    assert_eq!(client.next().await["result"], json!([1]));
}

// The clock goes on only when nobody can do anything.
#[tokio::test(start_paused = true)]
async fn a_cancelled_run_gets_no_more_answers() {
    let mut client = Client::greeted().await;
    client.run(1, "calls 1").await;
    let call = client.next().await;
    client.send(r#"{"jsonrpc":"2.0","method":"cancel","params":{"id":1}}"#).await;
    client.answer(&call, &json!({ "result": { "value": 1 } })).await;
    client.hang_up().await;
    assert!(client.is_over().await, "the script of this test does not end without its answer");
}

#[tokio::test]
async fn the_first_request_is_hello_and_its_version_must_be_known() {
    let mut client = Client::with_pipe(64 << 10);
    client.run(1, "other").await;
    assert_eq!(code_of(&client.next().await), i64::from(codes::INVALID_REQUEST));
    client.send(r#"{"jsonrpc":"2.0","id":2,"method":"hello","params":{"protocol":99}}"#).await;
    assert_eq!(code_of(&client.next().await), i64::from(codes::PROTOCOL));
    client.send(r#"{"jsonrpc":"2.0","id":3,"method":"hello","params":{"protocol":1}}"#).await;
    assert_eq!(client.next().await["result"]["protocol"], 1);
    client.run(4, "other").await;
    assert_eq!(client.next().await["result"], json!({ "client": null }));
}

#[tokio::test]
async fn a_wrong_request_is_refused_and_the_connection_goes_on() {
    let mut client = Client::greeted().await;
    client.run(1, "wait").await;
    client.run(1, "other").await;
    assert_eq!(code_of(&client.next().await), i64::from(codes::INVALID_REQUEST));
    client.send(r#"{"jsonrpc":"2.0","id":2,"method":"call","params":{}}"#).await;
    assert_eq!(code_of(&client.next().await), i64::from(codes::METHOD_NOT_FOUND));
    client.send(r#"{"jsonrpc":"2.0","id":2,"method":"run","params":{"cod":"1"}}"#).await;
    let refused = client.next().await;
    assert_eq!((code_of(&refused), &refused["id"]), (i64::from(codes::INVALID_PARAMS), &json!(2)));
    client.run(3, "panic").await;
    assert_eq!(code_of(&client.next().await), i64::from(codes::INTERNAL));
    client.run(3, "other").await;
    assert_eq!(client.next().await["id"], 3);
}

#[tokio::test]
async fn logs_are_told_while_the_run_goes_on() {
    let mut client = Client::greeted().await;
    client.run(5, "logs 3").await;
    for at in 0..3 {
        let log = client.next().await;
        assert_eq!(
            (&log["method"], &log["params"]),
            (&json!("log"), &json!({ "run": 5, "level": "warn", "text": at.to_string() }))
        );
    }
    assert_eq!(client.next().await["result"], "logged");
}

#[tokio::test]
async fn a_connection_that_drains_begins_nothing_and_ends_with_its_last_run() {
    let mut client = Client::greeted().await;
    client.run(1, "calls 1").await;
    let call = client.next().await;
    client.ends.draining.cancel();
    client.run(2, "other").await;
    assert_eq!(code_of(&client.next().await), i64::from(codes::STOPPING));
    client.answer(&call, &json!({ "result": { "value": 1 } })).await;
    assert_eq!(client.next().await["result"], json!([1]));
    assert!(client.is_over().await);
}

#[tokio::test]
async fn a_connection_that_is_ended_cancels_its_runs() {
    let mut client = Client::greeted().await;
    client.run(1, "wait").await;
    assert_eq!(client.events.recv().await, Some(Event::Begun));
    client.ends.now.cancel();
    assert_eq!(client.next().await["result"], "cancelled");
    assert!(client.is_over().await);
    client.session.await.expect("it has ended");
}
