//! Measures what finding a tool costs: `cargo bench -p belljar-catalog`.

#![allow(missing_docs, reason = "a bench")]

use std::{hint::black_box, sync::Arc, time::Duration};

use belljar_catalog::{Catalog, Query, ServerCatalog, namespaces};
use belljar_model::{EffectRules, ToolDefinition};
use criterion::{Criterion, criterion_group, criterion_main};
use serde_json::json;

const TOOLS: usize = 10_000;

const VERBS: [&str; 10] = ["get", "list", "create", "update", "delete", "search", "send", "copy", "merge", "export"];
const NOUNS: [&str; 20] = [
    "file", "page", "issue", "user", "invoice", "message", "branch", "table", "image", "calendar", "contact", "order",
    "report", "ticket", "channel", "document", "payment", "device", "task", "event",
];

/// The definitions of some servers' tools, each a verb, a noun and a number, with three parameters.
fn definitions(servers: usize) -> Vec<Vec<ToolDefinition>> {
    let tool = |number: usize| {
        let (verb, noun) = (VERBS[number % VERBS.len()], NOUNS[number / VERBS.len() % NOUNS.len()]);
        let definition = json!({
            "name": format!("{verb}_{noun}_{number}"),
            "description": format!("Can {verb} a {noun} of the workspace {number}. The {noun} must exist, and you must be allowed to {verb} it."),
            "inputSchema": { "type": "object", "required": ["id"], "properties": {
                "id": { "type": "string", "description": format!("which {noun} to {verb}") },
                "fields": { "type": "array", "items": { "type": "string" }, "description": "fields to return" },
                "limit": { "type": "integer", "description": "how many to return at most" }
            } }
        });
        ToolDefinition::from_json(definition).expect("a tool")
    };
    let each = TOOLS / servers;
    (0..servers).map(|server| (server * each..(server + 1) * each).map(tool).collect()).collect()
}

fn catalog(definitions: Vec<Vec<ToolDefinition>>) -> Catalog {
    let names: Vec<String> = (0..definitions.len()).map(|server| format!("server{server}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let servers = namespaces(&names).into_iter().zip(definitions);
    let servers = servers.map(|(names, tools)| Arc::new(ServerCatalog::ready(names, tools, &EffectRules::default())));
    Catalog::new(servers.collect())
}

fn search(criterion: &mut Criterion) {
    for servers in [1, 200] {
        let tools = definitions(servers);
        criterion.bench_function(&format!("index 10,000 tools of {servers} servers"), |bencher| {
            bencher.iter_batched(
                || tools.clone(),
                |tools| {
                    let catalog = catalog(tools);
                    // The first search joins the servers' words.
                    black_box(catalog.search(&Query::new("anything")));
                    catalog
                },
                criterion::BatchSize::PerIteration,
            );
        });
        let catalog = catalog(tools);
        for (what, text) in [
            ("a question", "delete the invoice of a customer"),
            ("words that every tool has", "return a workspace that must exist"),
            ("typing errors", "updaet the calender and the dokument"),
            ("a path", "server0.get_file_0"),
            ("nothing", ""),
        ] {
            let query = Query::new(text);
            criterion.bench_function(&format!("{what}, over 10,000 tools of {servers} servers"), |bencher| {
                bencher.iter(|| black_box(catalog.search(&query)));
            });
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(2));
    targets = search
}
criterion_main!(benches);
