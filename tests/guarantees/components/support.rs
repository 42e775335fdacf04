//! Components for the tests: written as WebAssembly text, with the types of real interfaces.

use std::sync::{Arc, OnceLock};

use belljar_catalog::wit::{Mapping, Package, Selection, Worlds, packages};
use belljar_foreign::{Component, Components, Linked, Refusal, Server};
use belljar_model::{ErrorKind, Limits, Outcome};
use belljar_sandbox::{Effect, Tool, ToolSet};
use serde_json::{Value, json};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// One engine for all tests.
pub(super) fn components() -> &'static Components {
    static COMPONENTS: OnceLock<Components> = OnceLock::new();
    COMPONENTS.get_or_init(|| Components::new(8).unwrap())
}

/// A server `kit` with typed tools.
pub(super) fn tools() -> ToolSet {
    let text = json!({ "type": "string" });
    let note = json!({ "type": "object", "properties": { "text": text, "count": { "type": "integer" } }, "required": ["text"] });
    let noted = Tool::new("note", Effect::Mutating).with_input(note.clone()).unwrap().with_output(note).unwrap();
    let lie = Tool::new("lie", Effect::ReadOnly);
    let declared = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
    let lie = lie.with_input(json!({ "type": "object", "properties": {}, "additionalProperties": false })).unwrap();
    let lie = lie.with_output(declared).unwrap();
    let fail = Tool::new("fail", Effect::ReadOnly);
    let fail = fail.with_input(json!({ "type": "object", "properties": {}, "additionalProperties": false })).unwrap();
    let meet = Tool::new("meet", Effect::ReadOnly);
    let meet = meet.with_input(json!({ "type": "object", "properties": {}, "additionalProperties": false })).unwrap();
    let any = Tool::new("any", Effect::Mutating);
    let any = any.with_input(json!({ "type": "object", "properties": { "value": {} } })).unwrap();
    let stall = Tool::new("stall", Effect::ReadOnly);
    let stall = stall.with_input(json!({ "type": "object", "properties": { "text": text } })).unwrap();
    let many = Tool::new("many", Effect::Mutating);
    let numbers = json!({ "type": "array", "items": { "type": "integer" } });
    let many = many.with_input(json!({ "type": "object", "properties": { "n": numbers }, "required": ["n"] })).unwrap();
    // Two calls must be under way at once, or neither is answered.
    let two = Arc::new(tokio::sync::Barrier::new(2));
    let met = move |_| {
        let two = two.clone();
        async move {
            two.wait().await;
            Ok(json!("met"))
        }
    };
    ToolSet::new()
        .with_tool("kit", meet, met)
        .with_tool("kit", stall, async |_| std::future::pending::<Result<Value, String>>().await)
        .with_tool("kit", noted, async |arguments| Ok(Value::Object(arguments)))
        .with_tool("kit", any, async |arguments| Ok(Value::Object(arguments)))
        .with_tool("kit", many, async |arguments| Ok(Value::Object(arguments)))
        .with_tool("kit", lie, async |_| Ok(json!({ "n": "no number" })))
        .with_tool("kit", fail, async |_| Err("it failed".to_owned()))
}

/// The packages of the server, and the one that finds any tool, as `belljar wit` prints them.
pub(super) fn wit(tools: &ToolSet) -> String {
    let catalog = tools.catalog();
    let mapping = Mapping::new(&packages(&["kit"])[0], &catalog.servers()[0]);
    Package::with_any_tool(&[Selection::all(&mapping)], Worlds::Guest).text()
}

/// A component around a core module, in a world with these imports and with the `run` of
/// `belljar wit`.
pub(super) fn typed(imports: &str, core: &str) -> Vec<u8> {
    encoded(&wit(&tools()), &[], &format!("{imports} export run: func() -> result<string, string>;"), core)
}

/// The same in another world.
pub(super) fn in_world(world: &str, core: &str) -> Vec<u8> {
    encoded(&wit(&tools()), &[], world, core)
}

/// The same with foreign packages, and anything else in its world.
pub(super) fn encoded(wit: &str, packages: &[&str], world: &str, core: &str) -> Vec<u8> {
    let mut resolve = Resolve::default();
    for package in packages {
        resolve.push_str("foreign.wit", package).unwrap_or_else(|error| panic!("{error:#}\n{package}"));
    }
    if !wit.is_empty() {
        resolve.push_str("kit.wit", wit).unwrap_or_else(|error| panic!("{error:#}\n{wit}"));
    }
    let world = format!("package test:test; world test {{ {world} }}");
    let package = resolve.push_str("test.wit", &world).unwrap_or_else(|error| panic!("{error:#}\n{world}"));
    let world = resolve.select_world(&[package], Some("test")).unwrap();
    let mut module = wat::parse_str(core).unwrap_or_else(|error| panic!("{error}\n{core}"));
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).unwrap();
    ComponentEncoder::default().module(&module).unwrap().encode().unwrap_or_else(|error| panic!("{error:#}\n{core}"))
}

/// A core module: `parts` are its imports, data and helpers, `run` the body of its `run`, which
/// returns the address of its result. At 1,024 there is room for results; the heap begins at 65,536
/// and is never freed.
pub(super) fn module(parts: &str, run: &str) -> String {
    format!(
        r#"(module
            {parts}
            (memory (export "memory") 16)
            (global $free (mut i32) (i32.const 65536))
            (func $realloc (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
                (local $at i32)
                (local.set $at (i32.and (i32.add (global.get $free) (i32.const 7)) (i32.const -8)))
                (global.set $free (i32.add (local.get $at) (local.get 3)))
                (block $fits
                    (br_if $fits (i32.le_u (global.get $free) (i32.mul (memory.size) (i32.const 65536))))
                    (drop (memory.grow (i32.add (i32.div_u (local.get 3) (i32.const 65536)) (i32.const 1)))))
                (local.get $at))
            (func (export "run") (result i32) {run}))"#
    )
}

/// Returns `result<string, string>` with a text of the module's memory.
pub(super) fn returns(tag: u32, at: &str, length: &str) -> String {
    format!(
        "(i32.store (i32.const 1024) (i32.const {tag})) (i32.store (i32.const 1028) {at}) (i32.store (i32.const 1032) {length}) \
         (i32.const 1024)"
    )
}

pub(super) fn compiled(file: &[u8]) -> Result<Component, Refusal> {
    components().component(file)
}

pub(super) fn linked(file: &[u8]) -> Linked {
    let component = compiled(file).unwrap_or_else(|refusal| panic!("{refusal}"));
    let servers = Server::all(tools().catalog());
    components().link(&component, &servers).unwrap_or_else(|refusal| panic!("{refusal}"))
}

/// Runs a component with the tools above.
pub(super) async fn run_with(file: &[u8], limits: &Limits) -> Outcome {
    let linked = linked(file);
    components().run(&linked).limits(limits).tools(Arc::new(tools())).await
}

pub(super) async fn run(file: &[u8]) -> Outcome {
    run_with(file, &Limits::default()).await
}

pub(super) fn value(outcome: &Outcome) -> Value {
    outcome.result.as_ref().unwrap_or_else(|error| panic!("{error:#?}\n{:#?}", outcome.logs)).to_value().unwrap()
}

pub(super) fn kind(outcome: &Outcome) -> ErrorKind {
    outcome.result.as_ref().expect_err("it fails").kind
}
