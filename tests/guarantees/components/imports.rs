//! A component's imports are read before it runs: missing ones are named at once, and files and
//! sockets are answered with refusals.

use belljar_foreign::{Imports, MAX_COMPONENT_BYTES, Refusal, Server};
use belljar_model::ErrorKind;
use belljar_sandbox::ToolSet;
use serde_json::json;

use super::support::{compiled, components, encoded, module, returns, run, tools, typed, value};

const RUN: &str = "export run: func() -> result<string, string>;";
const NOTHING: &str = "(unreachable)";

const WASI: [&str; 2] = [
    "package wasi:filesystem@0.2.6; interface types { resource descriptor; }
     interface preopens { use types.{descriptor}; get-directories: func() -> list<tuple<descriptor, string>>; }",
    "package wasi:sockets@0.2.6; interface network { resource network; enum ip-address-family { ipv4, ipv6 }
        enum error-code { unknown, access-denied, not-supported, invalid-argument, out-of-memory, timeout, concurrency-conflict,
            not-in-progress, would-block, invalid-state, new-socket-limit, address-not-bindable, address-in-use, remote-unreachable,
            connection-refused, connection-reset, connection-aborted, datagram-too-large, name-unresolvable,
            temporary-resolver-failure, permanent-resolver-failure } }
     interface instance-network { use network.{network}; instance-network: func() -> network; }
     interface tcp { resource tcp-socket; } interface udp { resource udp-socket; }
     interface tcp-create-socket { use tcp.{tcp-socket}; use network.{ip-address-family, error-code};
        create-tcp-socket: func(address-family: ip-address-family) -> result<tcp-socket, error-code>; }
     interface udp-create-socket { use udp.{udp-socket}; use network.{ip-address-family, error-code};
        create-udp-socket: func(address-family: ip-address-family) -> result<udp-socket, error-code>; }
     interface ip-name-lookup { use network.{network, error-code}; resource resolve-address-stream;
        resolve-addresses: func(network: borrow<network>, name: string) -> result<resolve-address-stream, error-code>; }",
];

fn refusal(file: &[u8]) -> Refusal {
    compiled(file).map(|_| ()).expect_err("it is refused")
}

#[tokio::test(flavor = "multi_thread")]
async fn there_are_no_files_and_no_sockets_and_asking_for_them_is_answered() {
    let world = format!(
        "import wasi:filesystem/preopens@0.2.6; import wasi:sockets/instance-network@0.2.6; \
         import wasi:sockets/tcp-create-socket@0.2.6; import wasi:sockets/udp-create-socket@0.2.6; \
         import wasi:sockets/ip-name-lookup@0.2.6; {RUN}"
    );
    let parts = r#"
        (import "wasi:filesystem/preopens@0.2.6" "get-directories" (func $directories (param i32)))
        (import "wasi:sockets/instance-network@0.2.6" "instance-network" (func $network (result i32)))
        (import "wasi:sockets/tcp-create-socket@0.2.6" "create-tcp-socket" (func $tcp (param i32 i32)))
        (import "wasi:sockets/udp-create-socket@0.2.6" "create-udp-socket" (func $udp (param i32 i32)))
        (import "wasi:sockets/ip-name-lookup@0.2.6" "resolve-addresses" (func $resolve (param i32 i32 i32 i32)))
        (data (i32.const 16) "denied")
        (func $is_denied
            (if (i32.ne (i32.load8_u (i32.const 2048)) (i32.const 1)) (then unreachable))
            (if (i32.ne (i32.load8_u (i32.const 2052)) (i32.const 1)) (then unreachable)))"#;
    let body = format!(
        "(call $directories (i32.const 2048))
         (if (i32.load (i32.const 2052)) (then unreachable))
         (call $tcp (i32.const 0) (i32.const 2048)) (call $is_denied)
         (call $udp (i32.const 1) (i32.const 2048)) (call $is_denied)
         (call $resolve (call $network) (i32.const 16) (i32.const 6) (i32.const 2048))
         (if (i32.ne (i32.load8_u (i32.const 2048)) (i32.const 1)) (then unreachable))
         {}",
        returns(0, "(i32.const 16)", "(i32.const 6)")
    );
    let outcome = run(&encoded("", &WASI, &world, &module(parts, &body))).await;
    assert_eq!(value(&outcome), json!("denied"));
}

#[test]
fn what_belljar_does_not_offer_is_named_all_at_once() {
    let http = "package wasi:http@0.2.6; interface types { get: func() -> u32; }";
    let other = "package other:thing@1.0.0; interface api { go: func(); }";
    let old = "package belljar:mcp-kit@9.0.0; interface tools { go: func(); }";
    let world = format!(
        "import wasi:http/types@0.2.6; import other:thing/api@1.0.0; import belljar:mcp-kit/tools@9.0.0; {RUN}"
    );
    // What is not used is not imported.
    let parts = r#"(import "wasi:http/types@0.2.6" "get" (func (result i32))) (import "other:thing/api@1.0.0" "go" (func))
        (import "belljar:mcp-kit/tools@9.0.0" "go" (func))"#;
    let refusal = refusal(&encoded("", &[http, other, old], &world, &module(parts, NOTHING)));
    let Refusal::Imports { names, more: 0 } = &refusal else { panic!("{refusal:?}") };
    assert_eq!(names.len(), 3, "{names:?}");
    let text = refusal.to_string();
    for part in ["wasi:http/types@0.2.6 (there is no network)", "other:thing/api@1.0.0", "of version 9.0.0"] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(refusal.error().kind, ErrorKind::Usage);
}

#[test]
fn servers_and_tools_that_are_missing_are_named_all_at_once_before_the_run() {
    let parts = r#"(import "belljar:mcp-kit/tools@0.1.0" "note" (func (param i32 i32 i32 i64 i32)))
        (import "belljar:mcp-kit/tools@0.1.0" "lie" (func (param i32)))
        (import "belljar:mcp-kit/tools@0.1.0" "fail" (func (param i32)))"#;
    let file = typed("import belljar:mcp-kit/tools@0.1.0;", &module(parts, NOTHING));
    let component = compiled(&file).unwrap();
    let imports = &component.imports().interfaces;
    assert_eq!(imports.len(), 1);
    let mut functions: Vec<&str> = imports[0].functions.iter().map(|function| function.name.as_str()).collect();
    functions.sort_unstable();
    assert_eq!(functions, ["fail", "lie", "note"]);
    let nothing = ToolSet::new();
    let refused = |tools: &ToolSet| {
        let linked = components().link(&component, &Server::all(tools.catalog()));
        linked.map(|_| ()).expect_err("something is missing").to_string()
    };
    assert!(refused(&nothing).contains("belljar:mcp-kit/tools@0.1.0 (no server"), "{}", refused(&nothing));
    let fewer = ToolSet::new().with("kit", "note", belljar_sandbox::Effect::ReadOnly, async |_| Ok(json!(1)));
    let text = refused(&fewer);
    assert!(text.contains("lie of belljar:mcp-kit") && text.contains("fail of belljar:mcp-kit"), "{text}");
    assert!(components().link(&component, &Server::all(tools().catalog())).is_ok());
}

#[test]
fn what_is_no_component_that_can_be_run_is_refused_with_the_reason() {
    let other_run = |export: &str| encoded("", &[], export, r#"(module (func (export "run")))"#);
    for (file, part) in [
        (b"(module)".to_vec(), "not a component"),
        (b"(component".to_vec(), "has a mistake"),
        (b"\0asm\x0d\0\x01\0garbage".to_vec(), "not valid here"),
        (b"(component)".to_vec(), "exports no function `run`"),
        (other_run("export run: func();"), "another form"),
        (b"(component (core module (func (throw_ref))))".to_vec(), "not valid here"),
        (b"(component (core module (type (struct))))".to_vec(), "gc"),
        (b"(component (core module (memory i64 1)))".to_vec(), "memory"),
    ] {
        let refusal = refusal(&file);
        assert!(refusal.to_string().contains(part), "{}: {refusal}", String::from_utf8_lossy(&file));
    }
    let mut huge = b"\0asm\x0d\0\x01\0".to_vec();
    huge.resize(MAX_COMPONENT_BYTES + 1, 0);
    assert!(matches!(refusal(&huge), Refusal::TooLarge { .. }));
    assert!(matches!(Imports::read(&huge), Err(Refusal::TooLarge { .. })));
}

#[test]
fn other_exports_are_allowed_beside_run() {
    let world = format!("export init: func(); {RUN}");
    let core = module(r#"(func (export "init"))"#, NOTHING);
    assert!(compiled(&encoded("", &[], &world, &core)).is_ok());
}
