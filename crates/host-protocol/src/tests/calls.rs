//! Calls of the other end's functions.

use serde_json::{Value, json};

use super::support::{Client, Event};

fn argument(call: &Value) -> u64 {
    call["params"]["arguments"][0].as_u64().expect("a number")
}

#[tokio::test]
async fn a_thousand_calls_are_under_way_at_once_and_are_answered_in_any_order() {
    let mut client = Client::greeted().await;
    client.run(1, "calls 1000").await;
    let mut calls = client.some(1000).await;
    let asked: Vec<u64> = calls.iter().map(argument).collect();
    assert_eq!(asked, (0..1000).collect::<Vec<_>>(), "they are sent in the order in which they were made");
    calls.reverse();
    for call in &calls {
        assert_eq!(
            (&call["method"], &call["params"]["run"], &call["params"]["function"]),
            (&json!("call"), &json!(1), &json!("f"))
        );
        client.answer(call, &json!({ "result": { "value": argument(call) * 2 } })).await;
    }
    let expected: Vec<u64> = (0..1000).map(|at| at * 2).collect();
    assert_eq!(client.next().await["result"], json!(expected));
}

#[tokio::test]
async fn an_answer_is_exactly_what_came_and_no_answer_is_undefined() {
    let mut client = Client::greeted().await;
    client.run(1, "calls 6").await;
    let calls = client.some(6).await;
    let answers = [
        json!({ "result": { "value": null } }),
        json!({ "result": { "value": "3" } }),
        json!({ "result": {} }),
        json!({ "error": { "code": -32000, "message": "no", "data": { "name": "TypeError" } } }),
        json!({ "error": { "code": 5, "message": "boom" } }),
        json!({ "result": "3" }),
    ];
    for (call, answer) in calls.iter().zip(&answers) {
        client.answer(call, answer).await;
    }
    let told = client.next().await["result"].take();
    let expected =
        json!([null, "3", "undefined", { "message": "no", "name": "TypeError" }, { "message": "boom", "name": null }]);
    assert_eq!(told.as_array().and_then(|told| told.get(..5)), expected.as_array().map(Vec::as_slice));
    assert!(told[5]["malformed"].as_str().is_some_and(|reason| reason.contains("value")), "{told}");
}

#[tokio::test]
async fn an_answer_that_is_too_large_or_too_deep_fails_its_call_alone() {
    let mut client = Client::greeted().await;
    client.run(1, "calls 3").await;
    let calls = client.some(3).await;
    client.answer(&calls[0], &json!({ "result": { "value": "x".repeat(2000) } })).await;
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":{},"result":{{"value":{}{}}}}}"#,
        calls[1]["id"],
        "[".repeat(400),
        "]".repeat(400)
    );
    client.send(&deep).await;
    client.answer(&calls[2], &json!({ "result": { "value": 3 } })).await;
    let told = client.next().await["result"].take();
    assert!(told[0]["malformed"].as_str().is_some_and(|reason| reason.contains("1000")), "{told}");
    assert!(told[1]["malformed"].as_str().is_some_and(|reason| reason.contains("deeper")), "{told}");
    assert_eq!(told[2], 3);
}

#[tokio::test]
async fn a_failure_is_cut_and_what_is_no_answer_is_not_quoted_whole() {
    let mut client = Client::greeted().await;
    client.run(1, "calls 4").await;
    let calls = client.some(4).await;
    let long = "é".repeat(500_000);
    let answers = [
        json!({ "error": { "code": 1, "message": long, "data": { "name": long } } }),
        json!({ "result": long }),
        json!({ "error": long }),
        json!({ "result": { "value": 3 } }),
    ];
    for (call, answer) in calls.iter().zip(&answers) {
        client.answer(call, answer).await;
    }
    let told = client.next().await["result"].take();
    assert_eq!(told[0], json!({ "message": "é".repeat(32 << 10), "name": null }));
    for malformed in [&told[1], &told[2]] {
        let reason = malformed["malformed"].as_str().expect("a reason");
        assert!(reason.len() < 1000, "{} bytes", reason.len());
    }
    assert_eq!(told[3], 3);
    // The same holds for what is not a message at all.
    client.send(&json!({ "jsonrpc": "2.0", "id": { "a": long }, "method": long }).to_string()).await;
    let wrong = json!({ "code": "1", "value": long });
    client.send(&json!({ "jsonrpc": "2.0", "id": 2, "method": "run", "params": wrong }).to_string()).await;
    for refused in client.some(2).await {
        assert!(refused.to_string().len() < 1000, "{refused}");
    }
}

#[tokio::test]
async fn an_answer_to_nothing_and_a_second_answer_are_ignored() {
    let mut client = Client::greeted().await;
    client.run(1, "calls 2").await;
    let calls = client.some(2).await;
    for id in [
        json!("c1.7"),
        json!("c9.0"),
        json!("c"),
        json!("c1"),
        json!("c1.-1"),
        json!("other"),
        json!(4),
        json!("c1.99999999999999999999"),
    ] {
        client.answer(&json!({ "id": id }), &json!({ "result": { "value": "foreign" } })).await;
    }
    client.answer(&calls[0], &json!({ "result": { "value": "first" } })).await;
    client.answer(&calls[0], &json!({ "result": { "value": "second" } })).await;
    client.answer(&calls[1], &json!({ "result": { "value": "other" } })).await;
    assert_eq!(client.next().await["result"], json!(["first", "other"]));
}

#[tokio::test]
async fn a_run_that_ends_calls_off_what_is_under_way_before_it_is_answered() {
    let mut client = Client::greeted().await;
    client.run(1, "leave").await;
    let call = client.next().await;
    let cancel = client.next().await;
    assert_eq!((&cancel["method"], &cancel["params"]["id"]), (&json!("cancel"), &call["id"]));
    let answer = client.next().await;
    assert_eq!((&answer["id"], &answer["result"]), (&json!(1), &json!("left")));
    // The answer that was on its way.
    client.answer(&call, &json!({ "result": {} })).await;
    client.run(1, "other").await;
    assert_eq!(client.next().await["result"], json!({ "client": "tests" }));
}

// The clock goes on only when nobody can do anything.
#[tokio::test(start_paused = true)]
async fn a_client_that_hangs_up_with_calls_under_way_cancels_their_runs() {
    let mut client = Client::greeted().await;
    client.run(1, "hang").await;
    client.run(2, "wait").await;
    assert_eq!((client.events.recv().await, client.events.recv().await), (Some(Event::Begun), Some(Event::Begun)));
    client.hang_up().await;
    assert_eq!(client.events.recv().await, Some(Event::Cancelled));
    let answer = client.next().await;
    assert_eq!((&answer["id"], &answer["result"]), (&json!(2), &json!("cancelled")), "it can still read");
    assert!(client.is_over().await);
    assert_eq!((client.events.recv().await, client.events.recv().await), (Some(Event::Dropped), Some(Event::Dropped)));
}
