//! A client that sends anything, reads nothing, or does too much.

use std::time::Duration;

use serde_json::{Value, json};

use super::support::{Client, Event};
use crate::codes;

#[tokio::test]
async fn junk_is_answered_and_the_connection_goes_on() {
    let mut client = Client::greeted().await;
    let deep = "[".repeat(1_000_000);
    let junk = [
        "",
        "{",
        "\u{0}\u{0}",
        "GET / HTTP/1.1",
        &deep,
        "[]",
        r#"[{"jsonrpc":"2.0","id":1,"method":"hello"}]"#,
        r#"{"jsonrpc":"2.0"}"#,
    ];
    for line in junk {
        client.send(line).await;
        let refused = client.next().await;
        let code = refused["error"]["code"].as_i64();
        assert!(refused["id"].is_null() && matches!(code, Some(-32700 | -32600)), "{refused}");
    }
    client.send(&"x".repeat(crate::MAX_LINE_BYTES + 1)).await;
    assert_eq!(client.next().await["error"]["code"], codes::TOO_LONG);
    for ignored in [r#"{"jsonrpc":"2.0","method":"unknown"}"#, r#"{"jsonrpc":"2.0","method":"cancel","params":7}"#] {
        client.send(ignored).await;
    }
    client.run(1, "other").await;
    assert_eq!(client.next().await["id"], 1);
}

#[tokio::test]
async fn there_are_so_many_runs_and_the_next_is_told_to_wait() {
    let mut client = Client::greeted().await;
    for id in 0..1024 {
        client.run(id, "hang").await;
    }
    client.run(5000, "hang").await;
    let refused = client.next().await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(5000), &json!(codes::BUSY)));
}

#[tokio::test]
async fn what_the_other_end_could_not_read_fails_its_run_or_call_alone() {
    let mut client = Client::greeted().await;
    client.run(1, "wait").await;
    client.run(2, "large 17000000").await;
    let refused = client.next().await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(2), &json!(codes::TOO_LONG)));
    client.run(3, "shout 17000000").await;
    let told = client.next().await["result"].take();
    assert!(told["message"].as_str().is_some_and(|message| message.contains("the limit is 16777216")), "{told}");
    client.run(4, "large 16000000").await;
    assert_eq!(client.next().await["result"].as_str().map(str::len), Some(16_000_000));
    client.send(r#"{"jsonrpc":"2.0","method":"cancel","params":{"id":1}}"#).await;
    assert_eq!(client.next().await["result"], "cancelled");
}

// The clock goes on only when nobody can do anything.
#[tokio::test(start_paused = true)]
async fn runs_whose_answers_nobody_reads_count_until_they_are_written() {
    let mut client = Client::greeted().await;
    // What waits to be written takes some 160 of the answers.
    let flood = async {
        for id in 0..3_000 {
            client.run(id, "large 100000").await;
        }
    };
    // Those that are refused get an error, which nobody reads either.
    let stopped = tokio::time::timeout(Duration::from_secs(3), flood).await;
    assert!(stopped.is_err(), "the session read on");
}

// The clock goes on only when nobody can do anything.
#[tokio::test(start_paused = true)]
async fn a_run_that_takes_no_answers_is_ended_and_the_others_go_on() {
    let mut client = Client::greeted().await;
    client.run(1, "busy 600").await;
    let calls = client.some(600).await;
    // Failures count as values do.
    let failure = json!({ "error": { "code": 1, "message": "x".repeat(64 << 10) } });
    let (fit, last) = calls.split_at(512);
    for call in fit {
        client.answer(call, &failure).await;
    }
    client.run(2, "other").await;
    assert_eq!(client.next().await["id"], 2, "there is room for 32 MiB");
    for call in last {
        client.answer(call, &failure).await;
    }
    client.run(3, "other").await;
    let mut answered = Vec::new();
    while answered.len() < 2 {
        let message = client.next().await;
        if message.get("id").is_some() {
            answered.push((message["id"].clone(), message["result"]["overfull"].clone()));
        }
    }
    assert_eq!(answered, [(json!(1), json!(32 << 20)), (json!(3), Value::Null)]);
}

#[tokio::test(start_paused = true)]
async fn the_run_that_leaves_most_untaken_is_ended_for_one_that_takes_its_answers() {
    let mut client = Client::greeted().await;
    let large = json!({ "result": { "value": "x".repeat(15 << 20) } });
    for (id, count) in [(1, 2), (2, 2), (3, 1)] {
        client.run(id, "busy 2").await;
        let calls = client.some(2).await;
        for call in calls.iter().take(count) {
            client.answer(call, &large).await;
        }
    }
    // Of 64 MiB, 60 are taken, and the last answer found no room: one of the first two is ended.
    client.run(4, "calls 1").await;
    let mut ended = Vec::new();
    let result = loop {
        let message = client.next().await;
        if message["method"] == "call" {
            client.answer(&message, &json!({ "result": { "value": 4 } })).await;
        } else if message["id"] == 4 {
            break message["result"].clone();
        } else if message.get("id").is_some() {
            ended.push(message["id"].clone());
        }
    };
    assert_eq!(result, json!([4]));
    assert!(ended == [json!(1)] || ended == [json!(2)], "{ended:?}");
}

#[tokio::test(start_paused = true)]
async fn the_run_that_an_answer_is_for_does_not_count_it_as_left_before_it_has_it() {
    let mut client = Client::greeted().await;
    let left = json!({ "result": { "value": "x".repeat(13_500_000) } });
    for id in 1..=4 {
        client.run(id, "busy 1").await;
        let call = client.next().await;
        client.answer(&call, &left).await;
    }
    // It is larger than what each of the others leaves, and awaited.
    client.run(5, "calls 1").await;
    let call = client.next().await;
    client.answer(&call, &json!({ "result": { "value": "x".repeat(15_500_000) } })).await;
    let answers = client.some(2).await;
    let ended = answers.iter().filter(|answer| answer["id"] != 5).count();
    let given = answers.iter().find(|answer| answer["id"] == 5).expect("the last run is answered");
    assert!(given["result"][0]["malformed"].is_string(), "it was given, and is too long for the stub: {given}");
    assert_eq!(ended, 1, "one that leaves answers is ended");
}

#[tokio::test]
async fn a_client_that_does_not_read_is_not_read_either_and_loses_logs_alone() {
    let mut client = Client::greeted().await;
    // The logs are more than what may wait.
    client.run(1, "logs 400000").await;
    let mut seen = 0_u64;
    let answer = loop {
        let message = client.next().await;
        if message["method"] != "log" {
            break message;
        }
        seen += 1;
    };
    assert_eq!(answer["result"], "logged");
    assert!(seen < 400_000, "some had to be left out");
}

// The clock goes on only when nobody can do anything.
#[tokio::test(start_paused = true)]
async fn a_client_that_sends_without_reading_is_stopped_and_can_still_hang_up() {
    let mut client = Client::with_pipe(1 << 10);
    let flood = async {
        // Each is answered, and nobody reads the answers: what waits is bounded, so at some point
        // nothing more is read.
        while client.try_send("junk that is answered with more than it has itself").await {}
    };
    let stopped = tokio::time::timeout(std::time::Duration::from_secs(3), flood).await;
    assert!(stopped.is_err(), "the session read on");
    let (session, _) = client.vanish();
    session.await.expect("it has ended");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_vanishes_takes_its_runs_with_it() {
    let mut client = Client::greeted().await;
    client.run(1, "hang").await;
    client.run(2, "calls 5").await;
    let _: Vec<Value> = client.some(5).await;
    let (session, mut events) = client.vanish();
    session.await.expect("it has ended");
    let mut dropped = 0;
    while let Some(event) = events.recv().await {
        dropped += usize::from(event == Event::Dropped);
    }
    assert_eq!(dropped, 2);
}
