//! Spans contain arguments and results of calls only if the owner asks for that. They are
//! shortened, and lack what the rules and the tool's schemas hide.

use std::collections::BTreeMap;

use super::{
    collector::{Behaviour, Collector, Taken},
    to,
};
use crate::{real_servers::node, support::Terminal};

/// A server that echoes its arguments. In one tool a schema names a secret, in another a rule does.
const KID: &str = "
    const pin = { type: 'object', properties: { pin: { type: 'string', format: 'password' } } };
    const tool = (name, inputSchema, outputSchema) =>
        ({ name, inputSchema, outputSchema, annotations: { readOnlyHint: true } });
    const open = { type: 'object' };
    const tools = [tool('say', open), tool('login', pin, pin), tool('mail', open)];
    require('readline').createInterface({ input: process.stdin }).on('line', line => {
        const { id, method, params } = JSON.parse(line);
        if (id === undefined) return;
        const result = {
            initialize: () => ({ protocolVersion: params.protocolVersion, capabilities: { tools: {} },
                serverInfo: { name: 'kid', version: '1' } }),
            'tools/list': () => ({ tools }),
            'tools/call': () => ({ structuredContent: params.arguments,
                content: [{ type: 'text', text: JSON.stringify(params.arguments) }] }),
        }[method]?.() ?? {};
        console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });";

const SCRIPT: &str =
    "await kid.say({ text: 'é'.repeat(30000) }); await kid.login({ user: 'ada', pin: ['op', 'en'].join('') });
    await kid.mail({ to: 'bob', body: ['se', 'same'].join('') }); return 1";

/// The spans of a run with this variable.
fn spans(capture: Option<&str>) -> BTreeMap<String, Taken> {
    let collector = Collector::over_http(Behaviour::Takes);
    let capture = capture.map(|value| ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", value.to_owned()));
    let terminal = Terminal::new().with_variables(to(&collector)).with_variables(capture);
    terminal.file("server.cjs", KID);
    let rules = "[ledger]\nredact = [{ tools = 'kid.mail', pointers = ['/body'] }]\n";
    let server = format!("[servers.kid]\ncommand = '{}'\nargs = ['server.cjs']\n", node());
    terminal.file("belljar.toml", format!("{rules}{server}"));
    let answer = terminal.belljar(&["run", "--config", "belljar.toml", "--json", "--code", SCRIPT]);
    assert_eq!(answer.code, 0, "{answer:?}");
    collector.spans(4)
}

#[test]
fn arguments_and_results_are_there_where_the_owner_asks_cut_and_without_secrets() {
    let spans = spans(Some("TRUE"));
    let of = |tool: &str, name: &str| spans[&format!("tools/call {tool}")].attributes.get(name).cloned();
    for (name, length) in [
        ("gen_ai.tool.call.arguments", "belljar.call.arguments_bytes"),
        ("gen_ai.tool.call.result", "belljar.call.result_bytes"),
    ] {
        let said = of("say", name).unwrap();
        assert!(said.contains("éé") && (32_700..=32_768).contains(&said.len()), "{}", said.len());
        assert!(of("say", length).unwrap().parse::<usize>().unwrap() > 60_000);
        for (tool, known, secret) in [("login", "ada", "open"), ("mail", "bob", "sesame")] {
            let text = of(tool, name).unwrap();
            assert!(text.contains(known) && text.contains("[redacted ") && !text.contains(secret), "{text}");
            assert_eq!(of(tool, length), None, "it is whole");
        }
    }
}

#[test]
fn without_the_variable_there_are_none() {
    for capture in [None, Some("false")] {
        for taken in spans(capture).values() {
            let named = taken.attributes.keys().find(|name| name.contains("tool.call") || name.ends_with("_bytes"));
            assert_eq!(named, None, "{taken:#?}");
        }
    }
}
