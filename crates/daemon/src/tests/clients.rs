//! Clients come and go without affecting others.

use crate::{DaemonClient, RequestError, codes, requests::AskStatus};
use futures::future::join_all;
use serde_json::json;

use super::support::{Event, Raw, daemon, options};

#[tokio::test]
async fn a_client_that_vanishes_cancels_what_it_had_running_and_nothing_else() {
    let mut daemon = daemon(options()).await;
    let mut other = daemon.client().await;
    let mut raw = Raw::greeted(&daemon.address.socket()).await;
    raw.say(r#"{"jsonrpc":"2.0","id":1,"method":"hang"}"#).await;
    assert_eq!(daemon.event().await, Event::Begun);
    let mut patient = daemon.client().await;
    let waiting = tokio::spawn(async move { patient.request("hang", &json!({})).await });
    assert_eq!(daemon.event().await, Event::Begun);
    drop(raw);
    assert_eq!(daemon.event().await, Event::Dropped);
    assert_eq!(other.ask(&AskStatus {}).await.unwrap().running, 1);
    daemon.release.cancel();
    assert_eq!(waiting.await.unwrap().unwrap().get(), "\"released\"");
}

#[tokio::test]
async fn a_request_that_is_cancelled_still_says_what_it_has_done() {
    let mut daemon = daemon(options()).await;
    let mut client = daemon.client().await;
    let begun = async {
        assert_eq!(daemon.events.recv().await.unwrap(), Event::Begun);
    };
    let answer = client.request_until("until_cancelled", &json!({}), begun).await.unwrap();
    assert_eq!(answer.get(), "\"cancelled\"");
    // The connection can still be used.
    assert_eq!(client.request("echo", &json!(2)).await.unwrap().get(), "2");
}

#[tokio::test]
async fn requests_of_one_client_run_side_by_side_up_to_the_limit() {
    let mut daemon = daemon(options()).await;
    let mut raw = Raw::greeted(&daemon.address.socket()).await;
    for id in 1..=257 {
        raw.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"hang"}}"#)).await;
    }
    let refused = raw.hear().await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(257), &json!(codes::BUSY)), "{refused}");
    for _ in 0..256 {
        assert_eq!(daemon.event().await, Event::Begun);
    }
    raw.say(r#"{"jsonrpc":"2.0","id":7,"method":"echo"}"#).await;
    assert_eq!(raw.hear().await["error"]["code"], codes::INVALID_REQUEST, "an id that is in use");
    daemon.release.cancel();
    for _ in 0..256 {
        assert_eq!(raw.hear().await["result"], "released");
    }
}

#[tokio::test]
async fn the_client_that_is_one_too_many_is_told_so_and_a_place_that_becomes_free_is_given_again() {
    let daemon = daemon(options()).await;
    let mut clients = Vec::new();
    for _ in 0..256 {
        clients.push(daemon.client().await);
    }
    let fault = DaemonClient::connect(&daemon.address).await.err().expect("there is no place");
    assert!(fault.to_string().contains("256 clients, the limit"), "{fault}");
    clients.pop();
    // The place is free once the daemon has seen the hang-up.
    let status = async |client: &mut DaemonClient| client.ask(&AskStatus {}).await.unwrap().clients;
    let first = clients.first_mut().unwrap();
    while status(first).await > 255 {
        tokio::task::yield_now().await;
    }
    assert_eq!(daemon.client().await.request("echo", &json!(1)).await.unwrap().get(), "1");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_requests_of_thirty_two_clients_are_all_answered() {
    let daemon = daemon(options()).await;
    let clients = (0..32).map(async |number| {
        let mut client = daemon.client().await;
        for request in 0..32 {
            let sent = json!({ "client": number, "request": request });
            let answer: serde_json::Value =
                serde_json::from_str(client.request("echo", &sent).await.unwrap().get()).unwrap();
            assert_eq!(answer, sent);
        }
    });
    join_all(clients).await;
    let status = daemon.client().await.ask(&AskStatus {}).await.unwrap();
    assert_eq!((status.answered, status.running), (32 * 32, 0));
}

#[tokio::test]
async fn a_daemon_that_dies_mid_request_is_a_typed_error_at_once() {
    let mut daemon = daemon(options()).await;
    let mut client = daemon.client().await;
    let waiting = tokio::spawn(async move { client.request("hang", &json!({})).await });
    assert_eq!(daemon.event().await, Event::Begun);
    daemon.served.abort();
    let fault = waiting.await.unwrap().unwrap_err();
    assert!(matches!(&fault, RequestError::Ended { method } if method == "hang"), "{fault}");
}

#[tokio::test]
async fn a_connection_is_left_to_the_host_protocol_and_ends_with_the_daemon() {
    let mut daemon = daemon(options()).await;
    let mut raw = Raw::greeted(&daemon.address.socket()).await;
    // Everything that follows belongs to the other protocol already.
    raw.say("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"host\"}\n{\"other\":1}").await;
    assert_eq!(raw.hear().await["result"], json!({ "host": true }));
    assert_eq!(raw.hear().await, json!({ "other": 1 }));
    assert_eq!(daemon.event().await, Event::Begun);
    let mut client = daemon.client().await;
    assert_eq!(client.ask(&AskStatus {}).await.unwrap().running, 1);
    daemon.told_to_end.cancel();
    assert!(raw.hear().await.is_null());
    daemon.served.await.unwrap();
    assert_eq!(daemon.events.recv().await, Some(Event::Dropped));
}

#[tokio::test]
async fn a_connection_with_requests_running_is_not_left_to_another_protocol() {
    let mut daemon = daemon(options()).await;
    let mut raw = Raw::greeted(&daemon.address.socket()).await;
    raw.say(r#"{"jsonrpc":"2.0","id":1,"method":"hang"}"#).await;
    assert_eq!(daemon.event().await, Event::Begun);
    raw.say(r#"{"jsonrpc":"2.0","id":2,"method":"host"}"#).await;
    assert_eq!(raw.hear().await["error"]["code"], codes::INVALID_REQUEST);
}
