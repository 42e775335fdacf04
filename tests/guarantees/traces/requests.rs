//! Requests that no run answers have spans too: searches, requests refused before a run begins, and
//! what servers ask of their client.

use serde_json::{Value, json};

use super::{
    CLIENT, INTERNAL, KID, PARENT, SERVER,
    collector::{Behaviour, Collector, Taken},
    configured, hex, servers, to,
};
use crate::{
    approvals_by_command::Client,
    daemon::Shell,
    http::{Served, result, token},
    real_servers::node,
    support::Terminal,
};

/// A server that sends its client every kind of request, or only pings.
const CURIOUS: &str = "
    const waiting = new Map();
    const say = message => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }));
    const ask = (method, params) => new Promise(answered => {
        const id = 'q' + waiting.size;
        waiting.set(id, answered);
        say({ id, method, params });
    });
    const foreign = { traceparent: '00-11111111111111111111111111111111-2222222222222222-01' };
    const tools = {
        ask: async ({ _meta }) => {
            await ask('ping');
            await ask('roots/list');
            const messages = [{ role: 'user', content: { type: 'text', text: 'SECRET' } }];
            await ask('sampling/createMessage', { messages, maxTokens: 1, _meta: foreign });
            const requestedSchema = { type: 'object', properties: {} };
            await ask('elicitation/create', { message: 'SECRET', requestedSchema, _meta });
            await ask('SECRET/method', { SECRET: 1 });
        },
        flood: async () => { for (let i = 0; i < 300; i++) await ask('ping'); },
    };
    require('readline').createInterface({ input: process.stdin }).on('line', async line => {
        const { id, method, params } = JSON.parse(line);
        if (method === undefined) return waiting.get(id)?.();
        if (id === undefined) return;
        const list = () => Object.keys(tools).map(name => ({ name, inputSchema: { type: 'object' } }));
        const result = {
            initialize: () => ({ protocolVersion: params.protocolVersion, capabilities: { tools: {} },
                serverInfo: { name: 'kid', version: '1' } }),
            'tools/list': () => ({ tools: list() }),
            'tools/call': async () => { await tools[params.name](params); return { content: [] }; },
        };
        say({ id, result: await result[method]?.() ?? {} });
    });";

fn curious(terminal: &Terminal) -> String {
    let servers = json!({ "mcpServers": { "kid": { "command": node(), "args": ["-e", CURIOUS] } } });
    terminal.file("mcp.json", servers.to_string()).to_str().unwrap().to_owned()
}

fn attribute<'t>(taken: &'t Taken, name: &str) -> Option<&'t str> {
    taken.attributes.get(name).map(String::as_str)
}

#[test]
fn searches_and_requests_that_are_refused_are_spans_in_the_clients_trace() {
    let collector = Collector::over_http(Behaviour::Takes);
    let terminal = Terminal::new().with_variables(to(&collector));
    let config = configured(&terminal);
    let mut client = Client::of(&terminal, &config, json!({}));
    let execute = "tools/call execute_code";
    for (tool, arguments, name, error, outcome) in [
        ("search_docs", json!({ "query": "SECRET" }), "tools/call search_docs", None, None),
        ("search_docs", json!({ "query": 7 }), "tools/call search_docs", Some("tool_error"), None),
        ("search_docs", json!({ "detail": "SECRET" }), "tools/call search_docs", Some("tool_error"), None),
        ("execute_code", json!({ "source": "SECRET" }), execute, Some("tool_error"), Some("usage")),
        ("execute_code", json!({}), execute, Some("tool_error"), Some("usage")),
        (
            "execute_code",
            json!({ "code": "1", "limits": { "timeout": "90000h" } }),
            execute,
            Some("tool_error"),
            Some("usage"),
        ),
        ("execute_code", json!({ "run": "r_0000000000001" }), execute, Some("tool_error"), Some("usage")),
        ("SECRET", json!({}), "tools/call", Some("-32602"), None),
    ] {
        client.send(&json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {
            "name": tool, "arguments": arguments, "_meta": { "traceparent": PARENT, "tracestate": "vendor=1" } } }));
        let answer = client.receive();
        let spans = collector.spans(1);
        let taken = spans.get(name).unwrap_or_else(|| panic!("{arguments}: {spans:#?}"));
        assert_eq!(taken.span.kind, SERVER);
        assert_eq!((&*hex(&taken.span.trace_id), &*hex(&taken.span.parent_span_id)), (&PARENT[3..35], &PARENT[36..52]));
        assert_eq!(taken.span.trace_state, "vendor=1");
        for (key, value) in [
            ("mcp.method.name", Some("tools/call")),
            ("jsonrpc.request.id", Some("7")),
            ("network.transport", Some("pipe")),
            ("mcp.protocol.version", Some("2025-11-25")),
            ("gen_ai.tool.name", Some(tool).filter(|_| name != "tools/call")),
            ("error.type", error),
            ("rpc.response.status_code", error.filter(|error| *error != "tool_error")),
            ("belljar.run.outcome", outcome),
        ] {
            assert_eq!(attribute(taken, key), value, "{key} {arguments} {answer} {taken:#?}");
        }
        let is_failed = taken.span.status.as_ref().is_some_and(|status| status.code == super::ERROR);
        assert_eq!(is_failed, error.is_some(), "{taken:#?}");
        assert!(!format!("{taken:?}").contains("SECRET"), "{taken:?}");
    }
    // A run that begins and is refused then has a span of its own, and the request one.
    client.execute("await kid.nothing({})");
    client.receive();
    let spans = collector.spans(2);
    assert_eq!(attribute(&spans["belljar.run"], "belljar.run.outcome"), Some("plan"), "{spans:#?}");
    assert_eq!(attribute(&spans[execute], "error.type"), Some("tool_error"));
    // A request whose trace is not recorded.
    client.send(&json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {
        "name": "search_docs", "arguments": {}, "_meta": { "traceparent": PARENT.replace("-01", "-00") } } }));
    client.receive();
    client.execute("1");
    client.receive();
    // Spans come in their order.
    assert!(collector.spans(2).contains_key("belljar.run"));
}

#[test]
fn a_search_is_a_span_by_each_way_into_belljar() {
    let collector = Collector::over_http(Behaviour::Takes);
    let terminal = Terminal::new().with_variables(to(&collector));
    let config = configured(&terminal);
    let search = |arguments: &[&str]| {
        let answer = terminal.belljar(&[&["search", "--config", &config], arguments].concat());
        (answer, collector.spans(1).remove("belljar.search").unwrap())
    };
    let (answer, found) = search(&["SECRET"]);
    assert_eq!((answer.code, found.span.kind, attribute(&found, "error.type")), (0, INTERNAL, None), "{answer:?}");
    assert!(found.span.parent_span_id.is_empty() && !format!("{found:?}").contains("SECRET"), "{found:?}");

    // If a daemon searches, it sends the span.
    let shell = Shell::of(Terminal::with_daemon().with_variables(to(&collector)), &servers());
    assert_eq!(shell.belljar(&["search"]).code, 0);
    shell.belljar(&["daemon", "stop"]);
    assert_eq!(collector.spans(1)["belljar.search"].span.kind, INTERNAL);

    // Over HTTP, and where a token does not allow it.
    let terminal = Terminal::new().with_variables(to(&collector));
    let runner = token(&terminal, &["add", "runner", "--scope", "run"]);
    let served = Served::of(terminal, &[]);
    for (token, error) in [(&served.token, None), (&runner, Some("tool_error"))] {
        let search = json!({ "name": "search_docs", "arguments": {}, "_meta": { "traceparent": PARENT } });
        result(served.send(token, "tools/call", "search_docs", search));
        let spans = collector.spans(1);
        let request = &spans["tools/call search_docs"];
        assert_eq!(hex(&request.span.parent_span_id), PARENT[36..52]);
        assert_eq!((attribute(request, "network.transport"), attribute(request, "error.type")), (Some("tcp"), error));
    }
    assert!(collector.others().is_empty());
}

#[test]
fn what_a_server_asks_of_its_client_is_a_span_below_the_run_that_calls_it() {
    for can_be_asked in [false, true] {
        let collector = Collector::over_http(Behaviour::Takes);
        let terminal = Terminal::new().with_variables(to(&collector));
        let config = curious(&terminal);
        let abilities = if can_be_asked { json!({ "elicitation": {} }) } else { json!({}) };
        let mut client = Client::of(&terminal, &config, abilities);
        client.send(&json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": { "name": "execute_code",
            "arguments": { "code": "await kid.ask({}); return 1" }, "_meta": { "traceparent": PARENT } } }));
        let mut answer = client.receive();
        if can_be_asked {
            assert_eq!(answer["method"], "elicitation/create");
            client.send(&json!({ "jsonrpc": "2.0", "id": answer["id"], "result": { "action": "decline" } }));
            answer = client.receive();
        }
        assert_eq!(answer["result"]["structuredContent"]["value"], 1, "{answer:#}");
        let spans = collector.spans(8);
        let (run, call) = (&spans["belljar.run"], &spans["tools/call ask"]);
        for (name, error) in [
            ("ping", None),
            ("roots/list", Some("-32601")),
            ("sampling/createMessage", Some("-32601")),
            // The user's own answer is not a failure.
            ("elicitation/create", (!can_be_asked).then_some("declined")),
            ("_OTHER", Some("-32601")),
        ] {
            let asked = &spans[name];
            assert_eq!((asked.span.kind, &asked.span.trace_id), (SERVER, &run.span.trace_id), "{asked:#?}");
            // What the server says about its own spans counts within the trace of the run.
            let parent = if name == "elicitation/create" { call } else { run };
            assert_eq!(asked.span.parent_span_id, parent.span.span_id, "{asked:#?}");
            assert_eq!(attribute(asked, "mcp.method.name"), Some(name));
            assert_eq!(attribute(asked, "belljar.server"), Some("kid"));
            assert_eq!(attribute(asked, "network.transport"), Some("pipe"));
            assert!(attribute(asked, "jsonrpc.request.id").is_some_and(|id| id.starts_with('q')), "{asked:#?}");
            assert!(attribute(asked, "mcp.protocol.version").is_some(), "{asked:#?}");
            assert_eq!(attribute(asked, "error.type"), error, "{asked:#?}");
        }
        assert_eq!(call.span.kind, CLIENT);
        assert!(!format!("{spans:?}").contains("SECRET"), "{spans:?}");
        if !can_be_asked {
            // What belongs to a run that is not recorded is not recorded either.
            client.send(&json!({ "jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": { "name": "execute_code",
                "arguments": { "code": "await kid.ask({})" }, "_meta": { "traceparent": PARENT.replace("-01", "-00") } } }));
            assert_eq!(client.receive()["id"], 8);
            client.execute("1");
            client.receive();
            assert!(collector.spans(2).contains_key("belljar.run"));
            assert!(collector.others().is_empty());
        }
    }
}

#[test]
fn a_server_that_asks_without_end_takes_half_of_the_room_for_spans() {
    let collector = Collector::over_http(Behaviour::Takes);
    let terminal = Terminal::new().with_variables([
        ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint.clone()),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "100".to_owned()),
        // All of them wait until the process ends.
        ("OTEL_BSP_SCHEDULE_DELAY", "3600000".to_owned()),
    ]);
    let config = curious(&terminal);
    let answer = terminal.belljar(&["run", "--config", &config, "--code", "await kid.flood({})"]);
    assert_eq!(answer.code, 0, "{answer:?}");
    let spans = collector.others();
    let named = |name: &str| spans.iter().filter(|taken| taken.span.name == name).count();
    assert_eq!((named("ping"), named("belljar.run"), named("tools/call flood"), spans.len()), (50, 1, 1, 52));
    assert!(answer.stderr.contains("(250 spans lost so far)"), "{answer:?}");
}

#[test]
fn the_span_of_a_call_says_where_its_server_is_reached() {
    let (collector, far) = (Collector::over_http(Behaviour::Takes), Served::of(Terminal::new(), &[]));
    let terminal = Terminal::new().with_variables(to(&collector));
    let servers = json!({ "mcpServers": {
        "far": { "url": format!("http://{}/mcp", far.address), "headers": { "Authorization": format!("Bearer {}", far.token) } },
        "near": { "command": node(), "args": ["-e", KID] },
    } });
    let config = terminal.file("mcp.json", servers.to_string());
    let code = "await far.search_docs({}); await near.meta({}); return 1";
    let answer = terminal.belljar(&["run", "--json", "--config", config.to_str().unwrap(), "--code", code]);
    assert_eq!(answer.json()["value"], Value::from(1), "{answer:?}");
    let spans = collector.spans(3);
    let reached = |name: &str| {
        ["network.transport", "server.address", "server.port"]
            .map(|key| attribute(&spans[name], key).map(str::to_owned))
    };
    let port = far.address.port().to_string();
    assert_eq!(reached("tools/call search_docs"), [Some("tcp".to_owned()), Some("127.0.0.1".to_owned()), Some(port)]);
    assert_eq!(reached("tools/call meta"), [Some("pipe".to_owned()), None, None]);
    assert!(!format!("{spans:?}").contains(&far.token), "{spans:?}");
}
