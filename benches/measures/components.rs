//! What components of others cost, in this process: a run in a warm pool, from instantiation to
//! drop; a typed call beside the same call without types; and the conversion of a large typed
//! result: `cargo bench --workspace --bench components`.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    missing_docs,
    reason = "a measure prints, and fails where it cannot"
)]

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use belljar_catalog::wit::{Mapping, Package, Selection, Worlds, packages};
use belljar_foreign::{Components, Linked, Server};
use belljar_model::{Effect, Limits};
use belljar_sandbox::{
    AnswerStyle, GrantedTool, Tool, ToolPath, ToolSet, Tools,
    apart::{self, Keeper},
};
use serde_json::{Value, json};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// Runs of each kind; the first tenth does not count.
const ROUNDS: usize = 500;
/// Calls in one run.
const CALLS: u32 = 1_000;
/// Rows of the large result: about a megabyte as JSON.
const ROWS: usize = 10_000;

fn tools() -> ToolSet {
    let row = json!({ "type": "object", "properties": {
        "id": { "type": "integer" }, "title": { "type": "string" }, "labels": { "type": "array", "items": { "type": "string" } },
        "done": { "type": "boolean" }, "score": { "type": "number" } }, "required": ["id", "title", "labels", "done"] });
    let rows =
        json!({ "type": "object", "properties": { "rows": { "type": "array", "items": row } }, "required": ["rows"] });
    let nothing = json!({ "type": "object", "properties": {}, "additionalProperties": false });
    let note = json!({ "type": "object", "properties": { "text": { "type": "string" } }, "required": ["text"] });
    let answer: Vec<Value> = (0..ROWS)
        .map(|id| json!({ "id": id, "title": format!("what the issue {id} is about"), "labels": ["bug", "urgent"], "done": false, "score": 0.5 }))
        .collect();
    let answer = json!({ "rows": answer });
    println!("{:44} {:>10}", "bytes of the large result", answer.to_string().len());
    let note = Tool::new("note", Effect::ReadOnly).with_input(note.clone()).unwrap().with_output(note).unwrap();
    let large = Tool::new("large", Effect::ReadOnly).with_input(nothing).unwrap().with_output(rows).unwrap();
    ToolSet::new().with_tool("kit", note, async |arguments| Ok(Value::Object(arguments))).with_tool(
        "kit",
        large,
        move |_| {
            let answer = answer.clone();
            async move { Ok(answer) }
        },
    )
}

fn linked(components: &Components, tools: &ToolSet, imports: &str, parts: &str, body: &str) -> Linked {
    let core = format!(
        r#"(module {parts}
            (memory (export "memory") 600)
            (global $free (mut i32) (i32.const 65536))
            (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
                (local $at i32)
                (local.set $at (i32.and (i32.add (global.get $free) (i32.const 7)) (i32.const -8)))
                (global.set $free (i32.add (local.get $at) (local.get 3)))
                (local.get $at))
            (func (export "run") (result i32) {body}
                (i32.store (i32.const 1024) (i32.const 0)) (i32.store (i32.const 1028) (i32.const 16))
                (i32.store (i32.const 1032) (i32.const 2)) (i32.const 1024)))"#
    );
    let mut resolve = Resolve::default();
    let mapping = Mapping::new(&packages(&["kit"])[0], &tools.catalog().servers()[0]);
    resolve.push_str("kit.wit", &Package::new(&[Selection::all(&mapping)], Worlds::Imports).text()).unwrap();
    let world = format!("package b:b; world b {{ {imports} export run: func() -> result<string, string>; }}");
    let package = resolve.push_str("b.wit", &world).unwrap();
    let world = resolve.select_world(&[package], Some("b")).unwrap();
    let mut module = wat::parse_str(core).unwrap();
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).unwrap();
    let file = ComponentEncoder::default().module(&module).unwrap().encode().unwrap();
    let component = components.component(&file).unwrap();
    components.link(&component, &Server::all(tools.catalog())).unwrap()
}

/// The median time of a run.
async fn median(components: &Components, linked: &Linked, tools: &Arc<ToolSet>, rounds: usize) -> Duration {
    let limits = Limits { max_calls: u64::from(CALLS) + 1, ..Limits::default() };
    let mut times = Vec::new();
    for round in 0..rounds {
        let begun = Instant::now();
        let outcome = components.run(linked).limits(&limits).tools(tools.clone()).await;
        if round >= rounds / 10 {
            times.push(begun.elapsed());
        }
        outcome.result.unwrap();
    }
    middle(times)
}

fn middle(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// The same call without types: what a script's call costs on the host.
async fn untyped(tools: &Arc<ToolSet>, name: &str, arguments: &str, calls: u32) -> Duration {
    let limits = Limits::default();
    let mut times = Vec::new();
    for _ in 0..20 {
        let keeper = Keeper::new(limits.max_held, None);
        let begun = Instant::now();
        for number in 0..u64::from(calls) {
            let tool = GrantedTool { path: ToolPath::new("kit", name), effect: Effect::ReadOnly };
            let tools: Arc<dyn Tools> = tools.clone();
            let called = (tool, AnswerStyle::ToolResult);
            let ended = apart::call(tools, number, called, arguments.to_owned(), &limits, &keeper, |_| {});
            drop(ended.await);
        }
        times.push(begun.elapsed() / calls);
    }
    middle(times)
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (components, tools) = (Components::new(4).unwrap(), Arc::new(tools()));
        let data = r#"(data (i32.const 16) "hi")"#;
        let imports = "import belljar:mcp-kit/tools@0.1.0;";
        let bare = linked(&components, &tools, "", data, "");
        let show = |what: &str, time: Duration| println!("{what:44} {:>10.2} µs", time.as_secs_f64() * 1e6);
        let run = median(&components, &bare, &tools, ROUNDS).await;
        show("instantiate, run and drop, warm", run);
        let note = format!(r#"(import "belljar:mcp-kit/tools@0.1.0" "note" (func $note (param i32 i32 i32))) {data}"#);
        let calls = format!(
            "(local $n i32) (loop $again
                (call $note (i32.const 16) (i32.const 2) (i32.const 2048))
                (global.set $free (i32.const 65536))
                (local.set $n (i32.add (local.get $n) (i32.const 1)))
                (br_if $again (i32.lt_u (local.get $n) (i32.const {CALLS}))))"
        );
        let calling = linked(&components, &tools, imports, &note, &calls);
        let typed = median(&components, &calling, &tools, ROUNDS / 10).await.saturating_sub(run) / CALLS;
        let plain = untyped(&tools, "note", r#"{"text":"hi"}"#, CALLS).await;
        show("a typed call", typed);
        show("the same call without types", plain);
        show("what the types cost", typed.saturating_sub(plain));
        let large = format!(r#"(import "belljar:mcp-kit/tools@0.1.0" "large" (func $large (param i32))) {data}"#);
        let large = linked(&components, &tools, imports, &large, "(call $large (i32.const 2048))");
        let all = median(&components, &large, &tools, 50).await;
        let plain = untyped(&tools, "large", "{}", 1).await;
        show("a run with the large result, conversion and all", all);
        show("the same call without types", plain);
        show("the conversion of the large result", all.saturating_sub(run).saturating_sub(plain));
    });
}
