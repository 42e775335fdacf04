use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use rmcp::{
    RoleServer,
    model::{
        ClientRequest, EmptyResult, InitializeResult, JsonRpcMessage, NumberOrString, ProtocolVersion,
        ServerCapabilities, ServerJsonRpcMessage, ServerResult,
    },
    service::RxJsonRpcMessage,
    transport::Transport as _,
};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf};

use super::{MAX_ID_BYTES, MAX_IN_FLIGHT, MAX_LINE_BYTES, MAX_VALUES, Wire};

/// The size of the pipes between client and wire. The system's hold 64 KiB.
const PIPE: usize = 4096;
/// The clock of these tests stops while anything is running, so this passes only when nothing is.
const FOREVER: Duration = Duration::from_secs(600);

struct Client {
    input: WriteHalf<DuplexStream>,
    output: BufReader<ReadHalf<DuplexStream>>,
}

fn connected() -> (Client, Wire<ReadHalf<DuplexStream>>) {
    let (client, server) = tokio::io::duplex(PIPE);
    let (output, input) = tokio::io::split(client);
    let (reading, writing) = tokio::io::split(server);
    (Client { input, output: BufReader::new(output) }, Wire::new(reading, writing, Arc::default()))
}

impl Client {
    async fn say(&mut self, line: &Value) {
        self.say_text(&line.to_string()).await;
    }

    async fn say_text(&mut self, line: &str) {
        self.input.write_all(line.as_bytes()).await.unwrap();
        self.input.write_all(b"\n").await.unwrap();
    }

    async fn hear(&mut self) -> Value {
        hear(&mut self.output).await
    }
}

async fn hear(output: &mut BufReader<ReadHalf<DuplexStream>>) -> Value {
    let mut line = String::new();
    output.read_line(&mut line).await.unwrap();
    serde_json::from_str(&line).unwrap()
}

fn ping(id: usize) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "ping" })
}

fn execute(id: usize) -> Value {
    let params = json!({ "name": "execute_code", "arguments": { "code": "1" } });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

fn cancel(id: usize) -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } })
}

/// Answers every request at once, like rmcp with a handler that has nothing to do.
async fn answer_all(mut wire: Wire<ReadHalf<DuplexStream>>) {
    let mut answers = tokio::task::JoinSet::new();
    while let Some(message) = wire.receive().await {
        if let JsonRpcMessage::Request(request) = message {
            let empty = ServerResult::EmptyResult(EmptyResult {});
            answers.spawn(wire.send(ServerJsonRpcMessage::response(empty, request.id)));
        }
        while answers.try_join_next().is_some() {}
    }
    while answers.join_next().await.is_some() {}
    wire.close().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_is_not_read_from_and_loses_nothing() {
    const REQUESTS: usize = 5_000;
    let (mut client, wire) = connected();
    let server = tokio::spawn(answer_all(wire));
    let said = Arc::new(AtomicUsize::new(0));
    let counted = said.clone();
    let mut input = client.input;
    let saying = tokio::spawn(async move {
        for id in 0..REQUESTS {
            input.write_all(format!("{}\n", ping(id)).as_bytes()).await.unwrap();
            counted.fetch_add(1, Ordering::Relaxed);
        }
        input
    });

    tokio::time::sleep(FOREVER).await;
    let before = said.load(Ordering::Relaxed);
    assert!(before < 500, "{before} requests were taken while no answer was");

    let mut answered = HashSet::new();
    while answered.len() < REQUESTS {
        let answer = hear(&mut client.output).await;
        assert!(answered.insert(answer["id"].as_u64().unwrap()), "answered twice: {answer}");
    }
    drop((saying.await.unwrap(), client.output));
    server.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn above_the_bound_requests_are_busy_and_a_cancelled_one_makes_room_when_its_handler_ends() {
    let (mut client, mut wire) = connected();
    let mut handlers = Vec::new();
    for id in 0..MAX_IN_FLIGHT {
        client.say(&ping(id)).await;
        handlers.push(wire.receive().await.unwrap());
    }

    client.say(&execute(1_000)).await;
    client.say(&ping(1_001)).await;
    client.say(&ping(0)).await;
    client.say(&cancel(7)).await;
    let heard = wire.receive().await.unwrap();
    assert!(matches!(heard, JsonRpcMessage::Notification(_)), "{heard:?}");
    let model = client.hear().await;
    assert_eq!((&model["id"], &model["result"]["isError"]), (&json!(1_000), &json!(true)), "{model:#}");
    let error = &model["result"]["structuredContent"]["error"];
    assert_eq!((&error["kind"], &error["limit"]["max"]), (&json!("busy"), &json!(MAX_IN_FLIGHT)), "{model:#}");
    let program = client.hear().await;
    assert_eq!((&program["id"], &program["error"]["code"]), (&json!(1_001), &json!(-32000)), "{program:#}");
    assert_eq!(program["error"]["data"]["kind"], "busy", "{program:#}");
    let same = client.hear().await;
    assert_eq!((&same["id"], &same["error"]["code"]), (&json!(0), &json!(-32600)), "{same:#}");

    // A cancelled handler may continue for a while, and counts until it has ended.
    client.say(&ping(1_002)).await;
    client.say(&cancel(8)).await;
    wire.receive().await.unwrap();
    assert_eq!(client.hear().await["error"]["data"]["kind"], "busy");
    drop(handlers.remove(7));
    client.say(&ping(1_003)).await;
    let admitted = wire.receive().await.unwrap();
    assert!(matches!(admitted, JsonRpcMessage::Request(request) if request.id == NumberOrString::Number(1_003)));
}

#[tokio::test(start_paused = true)]
async fn a_busy_answer_says_its_type_in_the_revision_that_has_types_and_in_no_other() {
    for (revision, expected) in [("2025-11-25", Value::Null), ("2026-07-28", json!("complete"))] {
        let (mut client, mut wire) = connected();
        let revision: ProtocolVersion = serde_json::from_value(json!(revision)).unwrap();
        let initialized = InitializeResult::new(ServerCapabilities::default()).with_protocol_version(revision);
        let initialized = ServerResult::InitializeResult(initialized);
        wire.send(ServerJsonRpcMessage::response(initialized, NumberOrString::Number(0))).await.unwrap();
        client.hear().await;
        let mut handlers = Vec::new();
        for id in 0..MAX_IN_FLIGHT {
            client.say(&ping(id)).await;
            handlers.push(wire.receive().await.unwrap());
        }
        client.say(&execute(1_000)).await;
        // A request may be of another revision than its session.
        let mut modern = execute(1_001);
        modern["params"]["_meta"] = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
        client.say(&modern).await;
        client.say(&cancel(7)).await;
        wire.receive().await.unwrap();
        let heard = [client.hear().await, client.hear().await];
        assert_eq!(heard.each_ref().map(|answer| &answer["id"]), [&json!(1_000), &json!(1_001)], "{heard:#?}");
        assert_eq!(heard[0]["result"]["resultType"], expected, "{heard:#?}");
        assert_eq!(heard[1]["result"]["resultType"], "complete", "{heard:#?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_has_no_method_is_answered_without_its_id_and_the_request_in_flight_keeps_it() {
    let (mut client, mut wire) = connected();
    client.say(&ping(5)).await;
    let request = wire.receive().await.unwrap();
    client.say_text(r#"{"jsonrpc":"2.0","id":5}"#).await;
    client.say(&json!({ "jsonrpc": "2.0", "id": 6, "method": 7 })).await;
    client.say(&ping(8)).await;
    wire.receive().await.unwrap();
    let heard = client.hear().await;
    assert_eq!((&heard["id"], &heard["error"]["code"]), (&Value::Null, &json!(-32600)), "{heard:#}");
    // That one is a request, though nobody knows which.
    assert_eq!(client.hear().await["id"], 6);
    let empty = ServerResult::EmptyResult(EmptyResult {});
    wire.send(ServerJsonRpcMessage::response(empty, NumberOrString::Number(5))).await.unwrap();
    let answer = client.hear().await;
    assert_eq!((&answer["id"], &answer["result"]), (&json!(5), &json!({})), "{answer:#}");
    drop(request);
}

#[tokio::test(start_paused = true)]
async fn a_request_counts_until_its_answer_is_written() {
    let (mut client, mut wire) = connected();
    for id in 0..MAX_IN_FLIGHT {
        client.say(&ping(id)).await;
        drop(wire.receive().await.unwrap());
    }
    // All handlers have ended, and no answer is written.
    client.say(&ping(1_000)).await;
    client.say(&cancel(63)).await;
    wire.receive().await.unwrap();
    assert_eq!(client.hear().await["error"]["data"]["kind"], "busy");

    wire.send(ServerJsonRpcMessage::response(ServerResult::EmptyResult(EmptyResult {}), NumberOrString::Number(0)))
        .await
        .unwrap();
    assert_eq!(client.hear().await["id"], 0);
    for id in [2_000, 2_001] {
        client.say(&ping(id)).await;
        assert!(matches!(wire.receive().await.unwrap(), JsonRpcMessage::Request(_)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_line_that_is_too_long_or_makes_too_large_a_tree_is_answered_and_not_kept() {
    let (mut client, wire) = connected();
    let server = tokio::spawn(answer_all(wire));
    let list = |values: usize| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","x":[0{}]}}"#, ",0".repeat(values));
    let lines = [
        ("x".repeat(MAX_LINE_BYTES + 1), "a line has more than 16777216 bytes"),
        (list(MAX_VALUES), "more than 100000 values"),
        ("[".repeat(1_000), "nests deeper than 127"),
        (r#"{"jsonrpc": "2.0", "id": 3}"#.to_owned(), "not a message of the protocol"),
        (ping(1).to_string().replace('1', &format!("\"{}\"", "i".repeat(MAX_ID_BYTES + 1))), "an id has at most 128"),
    ];
    for (line, message) in lines {
        client.say_text(&line).await;
        let answer = client.hear().await;
        assert!(answer["error"]["message"].as_str().unwrap().contains(message), "{message}: {answer:#}");
    }
    for ignored in ["", " \r", "no JSON", "\u{feff}"] {
        client.say_text(ignored).await;
    }
    client.input.write_all(b"\xff\xfe\n").await.unwrap();
    client.say(&ping(9)).await;
    assert_eq!(client.hear().await, json!({ "jsonrpc": "2.0", "id": 9, "result": {} }));
    drop(client);
    server.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn of_notifications_only_those_are_passed_on_that_mean_something() {
    let (mut client, mut wire) = connected();
    let note =
        |method: &str| json!({ "jsonrpc": "2.0", "method": method, "params": { "progressToken": 1, "progress": 1 } });
    client.say(&ping(1)).await;
    let request = wire.receive().await.unwrap();
    for method in ["notifications/initialized", "notifications/initialized", "notifications/progress"] {
        client.say(&note(method)).await;
    }
    for method in ["notifications/roots/list_changed", "notifications/unheard_of", "unheard_of"] {
        client.say(&note(method)).await;
    }
    for id in [2, 1, 1] {
        client.say(&cancel(id)).await;
    }
    client.say(&ping(3)).await;
    let heard: Vec<String> = [wire.receive().await, wire.receive().await, wire.receive().await]
        .map(|message| match message.unwrap() {
            JsonRpcMessage::Notification(note) => serde_json::to_value(note).unwrap()["method"].to_string(),
            JsonRpcMessage::Request(request) => request.id.to_string(),
            other => format!("{other:?}"),
        })
        .into();
    assert_eq!(heard, ["\"notifications/initialized\"", "\"notifications/cancelled\"", "3"]);
    drop(request);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_takes_no_more_answers_ends_the_connection() {
    let (client, server) = tokio::io::duplex(PIPE);
    let (input, mut asking) = tokio::io::duplex(PIPE);
    let mut wire: Wire<DuplexStream> = Wire::new(input, server, Arc::default());
    drop(client);
    asking.write_all(format!("{}\n", ping(1)).as_bytes()).await.unwrap();
    let RxJsonRpcMessage::<RoleServer>::Request(request) = wire.receive().await.unwrap() else { panic!() };
    assert!(matches!(request.request, ClientRequest::PingRequest(_)));
    let empty = ServerResult::EmptyResult(EmptyResult {});
    wire.send(ServerJsonRpcMessage::response(empty, request.id)).await.unwrap();
    assert!(wire.receive().await.is_none());
}
