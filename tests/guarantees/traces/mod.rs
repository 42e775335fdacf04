//! Traces: a collector gets the spans of requests, runs and calls, in the client's trace, and no
//! collector can delay a run.

mod collector;
mod content;
mod rejected;
mod requests;

use serde_json::{Value, json};

use self::collector::{Behaviour, Collector, Taken, texts};
use crate::{
    approvals_by_command::{CLOSE, Client, asking_on, waiting},
    daemon::Shell,
    http::{Served, result},
    real_servers::node,
    support::{Answer, Terminal},
};

/// A server whose only tool returns the `_meta` of its request, or fails.
const KID: &str = "
    require('readline').createInterface({ input: process.stdin }).on('line', line => {
        const { id, method, params } = JSON.parse(line);
        if (id === undefined) return;
        const tool = name => ({ name, inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } });
        const result = {
            initialize: () => ({ protocolVersion: params.protocolVersion, capabilities: { tools: {} },
                serverInfo: { name: 'kid', version: '1' } }),
            'tools/list': () => ({ tools: [tool('meta'), tool('fail')] }),
            'tools/call': () => ({ isError: params.name === 'fail',
                content: [{ type: 'text',
                    text: params.name === 'fail' ? 'SECRET result' : JSON.stringify(params._meta ?? {}) }] }),
        }[method]?.() ?? {};
        console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });";

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

fn servers() -> Value {
    json!({ "kid": { "command": node(), "args": ["-e", KID] } })
}

fn configured(terminal: &Terminal) -> String {
    let config = terminal.file("mcp.json", json!({ "mcpServers": servers() }).to_string());
    config.to_str().unwrap().to_owned()
}

/// The variables that send traces there, soon.
fn to(collector: &Collector) -> [(&'static str, String); 2] {
    [("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint.clone()), ("OTEL_BSP_SCHEDULE_DELAY", "1".to_owned())]
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The `traceparent` of a span.
fn of(taken: &Taken) -> String {
    format!("00-{}-{}-01", hex(&taken.span.trace_id), hex(&taken.span.span_id))
}

const INTERNAL: i32 = 1;
const SERVER: i32 = 2;
const CLIENT: i32 = 3;
const ERROR: i32 = 2;

#[test]
fn a_request_its_run_and_its_calls_are_spans_of_the_clients_trace_over_both_transports() {
    for (protocol, collector) in
        [("http/protobuf", Collector::over_http(Behaviour::Takes)), ("grpc", Collector::over_grpc(Behaviour::Takes))]
    {
        let more = [
            ("OTEL_EXPORTER_OTLP_PROTOCOL", protocol.to_owned()),
            ("OTEL_EXPORTER_OTLP_HEADERS", "x-key=of-the-owner".to_owned()),
            ("OTEL_RESOURCE_ATTRIBUTES", "deployment=test".to_owned()),
        ];
        let terminal = Terminal::new().with_variables(to(&collector)).with_variables(more);
        let config = configured(&terminal);
        let mut client = Client::of(&terminal, &config, json!({}));
        let code = "await kid.fail({ a: 'SECRET argument' }).catch(() => 0); console.log('SECRET log');
            return await kid.meta({})";
        client.send(&json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {
            "name": "execute_code", "arguments": { "code": code },
            "_meta": { "traceparent": PARENT, "tracestate": "vendor=1" } } }));
        let answer = client.receive();
        let meta = &answer["result"]["structuredContent"]["value"];
        let spans = collector.spans(4);
        let [request, run, failed, call] =
            ["tools/call execute_code", "belljar.run", "tools/call fail", "tools/call meta"].map(|name| &spans[name]);
        for taken in spans.values() {
            assert_eq!(hex(&taken.span.trace_id), "0af7651916cd43dd8448eb211c80319c");
            assert_eq!(taken.span.trace_state, "vendor=1");
            assert_eq!(taken.resource["service.name"], "belljar");
            assert_eq!(taken.resource["deployment"], "test");
            assert_eq!(taken.key.as_deref(), Some("of-the-owner"));
            assert!(taken.span.start_time_unix_nano > 0);
            assert!(taken.span.end_time_unix_nano >= taken.span.start_time_unix_nano);
        }
        assert_eq!(hex(&request.span.parent_span_id), "b7ad6b7169203331");
        assert_eq!(run.span.parent_span_id, request.span.span_id);
        assert!([failed, call].iter().all(|call| call.span.parent_span_id == run.span.span_id));
        let kinds = [request, run, failed, call].map(|taken| taken.span.kind);
        assert_eq!(kinds, [SERVER, INTERNAL, CLIENT, CLIENT]);
        // The child was told the call's own span.
        assert_eq!(meta["traceparent"], of(call), "{answer:#}");
        assert_eq!(meta["tracestate"], "vendor=1");

        let has = |taken: &Taken, expected: &[(&str, &str)]| {
            for (name, value) in expected {
                assert_eq!(taken.attributes.get(*name).map(String::as_str), Some(*value), "{name} {taken:#?}");
            }
        };
        has(
            request,
            &[
                ("mcp.method.name", "tools/call"),
                ("gen_ai.operation.name", "execute_tool"),
                ("gen_ai.tool.name", "execute_code"),
                ("mcp.protocol.version", "2025-11-25"),
                ("jsonrpc.request.id", "7"),
                ("network.transport", "pipe"),
            ],
        );
        has(run, &[("belljar.run.outcome", "ok"), ("belljar.run.calls", "2"), ("belljar.run.origin", "serve")]);
        assert!(run.attributes["belljar.run.id"].starts_with("r_"));
        assert!(run.attributes["belljar.run.fuel"].parse::<u64>().unwrap() > 0);
        has(call, &[("gen_ai.tool.name", "meta"), ("belljar.server", "kid"), ("belljar.call.effect", "read_only")]);
        has(failed, &[("error.type", "tool_error")]);
        let status = |taken: &Taken| taken.span.status.as_ref().map_or(0, |status| status.code);
        assert_eq!([request, run, failed, call].map(status), [0, 0, ERROR, 0]);
        // Neither arguments nor results.
        let all = format!("{spans:?}");
        assert!(["SECRET", "console", "progressToken"].iter().all(|text| !all.contains(text)), "{all}");
    }
}

#[test]
fn each_way_into_belljar_is_traced() {
    // A command with its own process sends before it ends.
    let collector = Collector::over_http(Behaviour::Takes);
    let slowly = [
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", format!("{}/v1/traces", collector.endpoint)),
        ("OTEL_SERVICE_NAME", "mine".to_owned()),
    ];
    let terminal = Terminal::new().with_variables(slowly.clone());
    let config = configured(&terminal);
    let run = ["run", "--json", "--config", &config, "--code", "return await kid.meta({})"];
    let answer = terminal.belljar(&run);
    let spans = collector.spans(2);
    let (run_span, call) = (&spans["belljar.run"], &spans["tools/call meta"]);
    assert_eq!(answer.json()["value"]["traceparent"], of(call), "{answer:?}");
    assert!(run_span.span.parent_span_id.is_empty(), "a command is the root of its trace");
    assert_eq!(run_span.resource["service.name"], "mine");
    let answer = terminal.belljar(&["call", "kid.meta", "--json", "--config", &config]);
    let spans = collector.spans(2);
    assert_eq!(answer.json()["value"]["traceparent"], of(&spans["tools/call meta"]), "{answer:?}");
    assert_eq!(spans["belljar.run"].attributes["belljar.run.origin"], "call");

    // A daemon sends according to the environment in which it was started.
    let shell = Shell::of(Terminal::with_daemon().with_variables(slowly), &servers());
    let answer = shell.json(&["run", "--code", "return await kid.meta({})"]);
    shell.belljar(&["daemon", "stop"]);
    let spans = collector.spans(2);
    assert_eq!(answer["value"]["traceparent"], of(&spans["tools/call meta"]), "{answer:#}");

    // So does a server over HTTP, for each of its clients.
    let served = Served::of(Terminal::new().with_variables(to(&collector)), &[]);
    let meta = json!({ "traceparent": PARENT });
    let run = json!({ "name": "execute_code", "arguments": { "code": "return 1" }, "_meta": meta });
    result(served.send(&served.token, "tools/call", "execute_code", run));
    let spans = collector.spans(2);
    let request = &spans["tools/call execute_code"];
    assert_eq!(hex(&request.span.parent_span_id), "b7ad6b7169203331");
    assert_eq!(request.attributes["network.transport"], "tcp");
    assert_eq!(spans["belljar.run"].attributes["belljar.run.principal"], "ann");
    assert!(collector.others().is_empty());
}

#[test]
fn a_hostile_place_in_a_trace_is_none_and_an_unsampled_one_stays_so() {
    let collector = Collector::over_http(Behaviour::Takes);
    let terminal = Terminal::new().with_variables(to(&collector));
    let config = configured(&terminal);
    let mut client = Client::of(&terminal, &config, json!({}));
    let mut run = |meta: Value| {
        client.send(&json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {
            "name": "execute_code", "arguments": { "code": "return await kid.meta({})" }, "_meta": meta } }));
        client.receive()["result"]["structuredContent"]["value"].take()
    };
    let long = "x".repeat(100_000);
    let hostile = [
        json!({ "traceparent": 7, "tracestate": { "a": 1 } }),
        json!({ "traceparent": "00-00000000000000000000000000000000-b7ad6b7169203331-01" }),
        json!({ "traceparent": format!("{PARENT}\r\nx: y") }),
        json!({ "traceparent": long, "tracestate": long }),
        json!({ "tracestate": "a=1" }),
    ];
    for meta in hostile {
        let told = run(meta.clone());
        let spans = collector.spans(3);
        assert!(spans["tools/call execute_code"].span.parent_span_id.is_empty(), "{meta}");
        assert_eq!(told["traceparent"], of(&spans["tools/call meta"]), "{meta}");
        assert!(told["tracestate"].is_null(), "{told}");
    }
    // An invalid state does not cost the client its trace.
    let told = run(json!({ "traceparent": PARENT, "tracestate": "a\n=1" }));
    assert!(told["tracestate"].is_null());
    assert_eq!(hex(&collector.spans(3)["belljar.run"].span.trace_id), PARENT[3..35]);

    let told = run(json!({ "traceparent": PARENT.replace("-01", "-00") }));
    let told = told["traceparent"].as_str().unwrap();
    assert!(told.starts_with(&PARENT[..36]) && told.ends_with("-00") && !told.contains(&PARENT[36..52]), "{told}");
    // The next spans are those of the next run.
    run(json!({}));
    assert!(collector.spans(3).values().all(|taken| hex(&taken.span.trace_id) != PARENT[3..35]));
}

#[test]
fn without_an_endpoint_the_clients_place_is_passed_on_and_nothing_is_sent() {
    let collector = Collector::over_http(Behaviour::Takes);
    for variables in [vec![], [to(&collector).to_vec(), vec![("OTEL_SDK_DISABLED", "true".to_owned())]].concat()] {
        let terminal = Terminal::new().with_variables(variables);
        let mut client = Client::of(&terminal, &configured(&terminal), json!({}));
        let mut run = |meta: Value| {
            client.send(&json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {
                "name": "execute_code", "arguments": { "code": "return await kid.meta({})" }, "_meta": meta } }));
            client.receive()["result"]["structuredContent"]["value"].take()
        };
        let told = run(json!({ "traceparent": PARENT, "tracestate": "a=1" }));
        assert_eq!((&told["traceparent"], &told["tracestate"]), (&json!(PARENT), &json!("a=1")));
        assert!(run(json!({}))["traceparent"].is_null());
        // It would send before it ends.
        assert_eq!(terminal.belljar(&["run", "--code", "1"]).code, 0);
    }
    assert!(collector.others().is_empty());
}

#[test]
fn no_collector_changes_what_a_run_does_or_keeps_its_process() {
    let code = "let sum = 0; for (let i = 0; i < 300; i++) { await demo.get_issue({ id: 3 }); sum += i } return sum";
    let run = |variables: Vec<(&'static str, String)>| {
        let answer = Terminal::new().with_variables(variables).belljar(&["run", "--json", "--code", code]);
        assert_eq!(answer.code, 0, "{answer:?}");
        let outcome = answer.json();
        (outcome["value"].clone(), outcome["usage"]["fuel"].clone(), answer.stderr)
    };
    let (value, fuel, _) = run(Vec::new());
    let behaviours = [
        Behaviour::Hangs,
        Behaviour::HangsUp,
        Behaviour::Refuses,
        Behaviour::Endless,
        Behaviour::Drips,
        Behaviour::Babbles,
    ];
    let mut endpoints: Vec<(String, String)> = Vec::new();
    let collectors = behaviours.map(Collector::over_http);
    for (behaviour, collector) in behaviours.iter().zip(&collectors) {
        endpoints.push((format!("{behaviour:?}"), collector.endpoint.clone()));
    }
    endpoints.push(("nobody".to_owned(), "http://127.0.0.1:1".to_owned()));
    endpoints.push(("no address".to_owned(), "\u{202e}://".to_owned()));
    for (name, endpoint) in endpoints {
        for protocol in ["http/protobuf", "grpc"] {
            let few = [
                ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.clone()),
                ("OTEL_EXPORTER_OTLP_PROTOCOL", protocol.to_owned()),
                // There is no room for most of them.
                ("OTEL_BSP_MAX_QUEUE_SIZE", "100".to_owned()),
                ("OTEL_BSP_SCHEDULE_DELAY", "1".to_owned()),
                // Only the end of the process limits this.
                ("OTEL_EXPORTER_OTLP_TIMEOUT", "3600000".to_owned()),
                ("OTEL_BSP_EXPORT_TIMEOUT", "3600000".to_owned()),
            ];
            let (traced, used, said) = run(few.to_vec());
            assert_eq!((&traced, &used), (&value, &fuel), "{name} {protocol}");
            let hangs = ["Hangs", "Drips"].contains(&name.as_str()) && protocol == "http/protobuf";
            assert!(!hangs || said.contains("did not take them within 2s"), "{name}: {said}");
            let reason = if name == "no address" { "OTEL_EXPORTER_OTLP_ENDPOINT is not an address" } else { "spans" };
            assert!(said.contains(reason) && !said.contains('\u{202e}'), "{name} {protocol}: {said}");
        }
    }
}

#[test]
fn a_run_that_goes_on_is_a_new_trace_with_a_link_to_its_first() {
    let collector = Collector::over_http(Behaviour::Takes);
    let terminal = Terminal::new().with_variables(to(&collector));
    let (terminal, config) = asking_on(terminal, "[approvals]\nallow_yes = true\nhold = '1ms'\n");
    let command = |arguments: &[&str]| {
        Answer::of(terminal.command(&[arguments, &["--config", &config]].concat()).output().unwrap())
    };
    let answer = command(&["run", "--code", CLOSE]);
    assert_eq!(answer.code, 4, "{answer:?}");
    let spans = collector.spans(2);
    let first = &spans["belljar.run"];
    let run = first.attributes["belljar.run.id"].clone();
    // It has not failed, and says that it waited.
    assert!(first.span.status.as_ref().is_none_or(|status| status.code == 0), "{first:#?}");
    let waits = first.span.events.iter().find(|event| event.name == "belljar.approval.waits").expect("an event");
    assert_eq!(texts(&waits.attributes)["gen_ai.tool.name"], "update_issue");
    let waiting = waiting(&terminal);
    let id = waiting["id"].as_str().unwrap();
    let approved = terminal.belljar(&["approve", id, "--yes"]);
    assert_eq!(approved.code, 0, "{approved:?}");
    let answer = command(&["resume", &run]);
    assert_eq!(answer.code, 0, "{answer:?}");
    let spans = collector.spans(2);
    let second = &spans["belljar.run"];
    assert_eq!(second.attributes["belljar.run.id"], run);
    assert_ne!(second.span.trace_id, first.span.trace_id);
    let [link] = &second.span.links[..] else { panic!("{second:#?}") };
    assert_eq!((&link.trace_id, &link.span_id), (&first.span.trace_id, &first.span.span_id));
    let call = &spans["tools/call update_issue"];
    assert_eq!(call.attributes["belljar.policy.verdict"], "ask");
    assert_eq!(call.attributes["belljar.policy.rule"], "closing");
}
