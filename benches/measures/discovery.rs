//! What tool discovery costs a script: `cargo bench -p belljar-benches --bench discovery`.
//!
//! Each case is a run of a hundred questions over one server with 1,000 tools; the first run asks
//! none.

#![allow(clippy::unwrap_used, missing_docs, reason = "a bench that cannot go on has failed")]

use std::{sync::Arc, time::Duration};

use belljar_gateway::{Gateway, Toolbox};
use belljar_model::{Limits, ServerSpec, Transport};
use belljar_sandbox::{Image, Sandbox, SandboxOptions};
use belljar_upstream::{BuiltIns, Options};
use criterion::{Criterion, criterion_group, criterion_main};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream},
    runtime::Builder,
};

/// A server of 1,000 tools, with as much of MCP as listing them needs.
async fn serve(stream: DuplexStream) {
    let (from, mut to) = tokio::io::split(stream);
    let mut lines = BufReader::new(from).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let message: Value = serde_json::from_str(&line).unwrap();
        let result = match message["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "many", "version": "1" }
            }),
            Some("tools/list") => json!({ "tools": (0..1_000).map(tool).collect::<Vec<_>>() }),
            _ => continue,
        };
        let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
        to.write_all(format!("{answer}\n").as_bytes()).await.unwrap();
    }
}

fn tool(number: usize) -> Value {
    let noun = ["file", "page", "issue", "user", "invoice"][number % 5];
    json!({
        "name": format!("get_{noun}_{number}"),
        "description": format!("Gets a {noun} of the workspace {number}. It must exist."),
        "inputSchema": { "type": "object", "required": ["id"], "properties": { "id": { "type": "string" } } }
    })
}

fn discovery(criterion: &mut Criterion) {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let gateway = runtime.block_on(async {
        let specs = vec![ServerSpec::new("many", Transport::BuiltIn("many".to_owned()))];
        let built_ins = BuiltIns::new().with("many", serve);
        let toolbox = Toolbox::new(specs, built_ins, Options::new("bench", "1"));
        let sandbox = Sandbox::new(&Image::embedded(), SandboxOptions::default()).unwrap();
        Gateway::new(Arc::new(toolbox), Arc::new(sandbox), Limits::default())
    });
    for (name, question) in [
        ("no question", "0"),
        ("100 times tools.search", "tools.search('the invoice of a workspace').length"),
        ("100 times tools.describe", "tools.describe('many.get_file_500').path"),
        ("100 times tools.list of one server", "tools.list('many').length"),
    ] {
        let times = if question == "0" { 0 } else { 100 };
        let source = format!("let last; for (let i = 0; i < {times}; i++) last = {question}; return last ?? 1;");
        criterion.bench_function(name, |bencher| {
            bencher.iter(|| {
                let outcome = runtime.block_on(gateway.execute(source.clone()).into_future());
                assert!(outcome.is_ok(), "{:?}", outcome.result);
            });
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10).measurement_time(Duration::from_secs(3));
    targets = discovery
}
criterion_main!(benches);
