//! Each function of files and sockets that wasmtime-wasi has is tried: it is refused with its own
//! error, or needs a handle that cannot be obtained. The other functions are linked; HTTP is
//! refused by name.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    process::{Command, Stdio},
};

use belljar_foreign::Server;
use belljar_model::ErrorKind;
use belljar_sandbox::ToolSet;
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::{
    Function, Handle, InterfaceId, PackageId, Resolve, Type, TypeDefKind, WorldItem,
    abi::{AbiVariant, WasmType},
};

use super::support::{compiled, components, kind, module, run, value};
use crate::support::{cargo, repository};

const RUN: &str = "export run: func() -> result<string, string>;";
/// The packages, each after those that it uses.
const PACKAGES: [&str; 6] = ["io", "clocks", "random", "filesystem", "sockets", "cli"];
/// The only handle of these interfaces that a component can get. Nothing can be done with it.
const NETWORK: &str = "network";

/// The platform that this is compiled for.
fn host() -> String {
    let version = Command::new("rustc").arg("-vV").current_dir(repository()).output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    version.lines().find_map(|line| line.strip_prefix("host: ")).expect("rustc names it").to_owned()
}

/// The WIT of the wasmtime-wasi that is linked.
fn wasi() -> (Resolve, Vec<InterfaceId>) {
    let mut metadata = cargo();
    metadata.args(["metadata", "--format-version", "1", "--locked", "--offline"]).stderr(Stdio::inherit());
    // A build fetches only what its own platform needs, so nothing else is requested here.
    metadata.args(["--filter-platform", &host()]);
    let metadata: serde_json::Value = serde_json::from_slice(&metadata.output().unwrap().stdout).unwrap();
    let mut packages = metadata["packages"].as_array().unwrap().iter();
    let found = packages.find(|package| package["name"] == "wasmtime-wasi").expect("belljar depends on it");
    let folder = PathBuf::from(found["manifest_path"].as_str().unwrap()).with_file_name("src/p2/wit/deps");
    let mut resolve = Resolve::default();
    for package in PACKAGES {
        let file = folder.join(format!("{package}.wit"));
        let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        resolve.push_str(&file, &text).unwrap_or_else(|error| panic!("{error:#}"));
    }
    // What a program may import, as opposed to what it may export.
    let of_cli = |package: Option<PackageId>| package.is_some_and(|id| resolve.packages[id].name.name == "cli");
    let mut worlds = resolve.worlds.iter().map(|(_, world)| world);
    let world = worlds.find(|world| world.name == "imports" && of_cli(world.package)).expect("it has one");
    let imported = world.imports.values().filter_map(|item| match item {
        WorldItem::Interface { id, .. } => Some(*id),
        _ => None,
    });
    let interfaces: Vec<InterfaceId> = imported.collect();
    assert!(interfaces.len() > 20, "{}", interfaces.len());
    (resolve, interfaces)
}

/// A function, and the interface that has it.
struct Tried<'a> {
    import: String,
    function: &'a Function,
}

impl Tried<'_> {
    /// A component that calls it with nothing but zeros, and with the only handle that exists. Its
    /// value is `0` or `1`, the first byte of the result, and the letter of its error: `A` for the
    /// first error, or if there is none.
    fn component(&self, resolve: &Resolve) -> Vec<u8> {
        let signature = resolve.wasm_signature(AbiVariant::GuestImport, self.function);
        let types = |types: &[WasmType]| types.iter().map(|ty| core(*ty)).collect::<Vec<_>>().join(" ");
        let takes_network =
            self.function.params.first().is_some_and(|param| handle(resolve, param.ty) == Some(NETWORK));
        let mut arguments: Vec<String> = signature.params.iter().map(|ty| format!("({}.const 0)", core(*ty))).collect();
        if signature.retptr {
            *arguments.last_mut().unwrap() = "(i32.const 2048)".to_owned();
        }
        if takes_network {
            arguments[0] = "(call $network)".to_owned();
        }
        let (import, name) = (&self.import, &self.function.name);
        let version = import.split_once('@').unwrap().1;
        let (mut parts, mut world) = (String::new(), format!("import {import}; "));
        if takes_network {
            let instance = format!("wasi:sockets/instance-network@{version}");
            parts = format!(r#"(import "{instance}" "instance-network" (func $network (result i32)))"#);
            world += &format!("import {instance}; ");
        }
        parts += &format!(
            r#"(import "{import}" "{name}" (func $tried (param {}) (result {})))"#,
            types(&signature.params),
            types(&signature.results)
        );
        let call = format!("(call $tried {})", arguments.join(" "));
        let call = match signature.results.len() {
            0 => call,
            // A value that is returned without a pointer is only an error, or a handle.
            _ if self.function.name == "instance-network" => format!("(drop {call})"),
            _ if signature.results[0] == WasmType::I32 => format!("(i32.store (i32.const 2048) {call})"),
            _ => format!("(drop {call})"),
        };
        // A list has its length after its place.
        let byte = if self.returns_list(resolve) { 2052 } else { 2048 };
        let body = format!(
            "{call} (i32.store8 (i32.const 16) (i32.add (i32.const 48) (i32.load8_u (i32.const {byte})))) \
             (i32.store8 (i32.const 17) (i32.add (i32.const 65) (i32.load8_u offset=4 (i32.const {byte})))) {}",
            super::support::returns(0, "(i32.const 16)", "(i32.const 2)")
        );
        encoded(resolve, &format!("{world} {RUN}"), &module(&parts, &body))
    }

    fn returns_list(&self, resolve: &Resolve) -> bool {
        matches!(self.function.result, Some(Type::Id(id)) if matches!(resolve.types[id].kind, TypeDefKind::List(_)))
    }

    /// The error with which it is refused, as a letter.
    fn refusal(&self, resolve: &Resolve) -> Option<char> {
        let aliased = |mut id| {
            while let TypeDefKind::Type(Type::Id(next)) = resolve.types[id].kind {
                id = next;
            }
            &resolve.types[id].kind
        };
        let Some(Type::Id(result)) = self.function.result else { return None };
        let TypeDefKind::Result(result) = aliased(result) else { return None };
        let Some(Type::Id(errors)) = result.err else { return None };
        let TypeDefKind::Enum(errors) = aliased(errors) else { return None };
        let name =
            if self.function.name == "resolve-addresses" { "permanent-resolver-failure" } else { "access-denied" };
        let at = errors.cases.iter().position(|error| error.name == name).expect("WASI has it");
        Some(char::from(b'A' + u8::try_from(at).unwrap()))
    }

    /// The handles that it takes.
    fn handles<'r>(&self, resolve: &'r Resolve) -> Vec<&'r str> {
        self.function.params.iter().filter_map(|param| handle(resolve, param.ty)).collect()
    }
}

fn encoded(resolve: &Resolve, world: &str, core: &str) -> Vec<u8> {
    let mut resolve = resolve.clone();
    let package = resolve.push_str("test.wit", &format!("package test:test; world test {{ {world} }}")).unwrap();
    let world = resolve.select_world(&[package], Some("test")).unwrap();
    let mut module = wat::parse_str(core).unwrap_or_else(|error| panic!("{error}\n{core}"));
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).unwrap();
    ComponentEncoder::default().module(&module).unwrap().encode().unwrap_or_else(|error| panic!("{error:#}\n{core}"))
}

fn core(ty: WasmType) -> &'static str {
    match ty {
        WasmType::I64 | WasmType::PointerOrI64 => "i64",
        WasmType::F32 => "f32",
        WasmType::F64 => "f64",
        WasmType::I32 | WasmType::Pointer | WasmType::Length => "i32",
    }
}

/// The resource of a handle.
fn handle(resolve: &Resolve, ty: Type) -> Option<&str> {
    let Type::Id(id) = ty else { return None };
    let resource = |mut id| {
        while let TypeDefKind::Type(Type::Id(next)) = resolve.types[id].kind {
            id = next;
        }
        resolve.types[id].name.as_deref()
    };
    match resolve.types[id].kind {
        TypeDefKind::Handle(Handle::Own(id) | Handle::Borrow(id)) => resource(id),
        TypeDefKind::Type(of) => handle(resolve, of),
        _ => None,
    }
}

fn of<'a>(resolve: &'a Resolve, interfaces: &[InterfaceId], packages: &[&str]) -> Vec<Tried<'a>> {
    let mut all = Vec::new();
    for id in interfaces {
        let import = resolve.id_of(*id).unwrap();
        if packages.iter().any(|package| import.starts_with(&format!("wasi:{package}/"))) {
            let functions = resolve.interfaces[*id].functions.values();
            all.extend(functions.map(|function| Tried { import: import.clone(), function }));
        }
    }
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn each_function_of_files_and_sockets_grants_nothing_and_traps_nothing_but_its_run() {
    let (resolve, interfaces) = wasi();
    let functions = of(&resolve, &interfaces, &["filesystem", "sockets"]);
    assert!(functions.len() > 60, "{}", functions.len());
    let (mut refused, mut without_handle) = (0, 0);
    for tried in functions {
        let name = format!("{} of {}", tried.function.name, tried.import);
        let outcome = run(&tried.component(&resolve)).await;
        if tried.handles(&resolve).iter().all(|handle| *handle == NETWORK) {
            // It can be called, and its result is refused, or is nothing.
            let said = value(&outcome);
            let expected = tried.refusal(&resolve).map_or("0A".to_owned(), |letter| format!("1{letter}"));
            assert_eq!(said, expected, "{name}");
            refused += 1;
        } else {
            let error = outcome.result.as_ref().expect_err(&name);
            assert_eq!(error.kind, ErrorKind::Exception, "{name}: {error:?}");
            assert!(error.message.contains("unknown handle index"), "{name}: {error:?}");
            without_handle += 1;
        }
    }
    // preopens, the instance of the network, two sockets, a name.
    assert_eq!(refused, 5);
    assert!(without_handle > 60, "{without_handle}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_reading_of_the_monotonic_clock_is_not_zero() {
    let (resolve, interfaces) = wasi();
    let clocks = of(&resolve, &interfaces, &["clocks"]);
    let now = clocks.iter().find(|tried| tried.import.contains("monotonic") && tried.function.name == "now").unwrap();
    let parts = format!(r#"(import "{}" "now" (func $now (result i64)))"#, now.import);
    let body = format!(
        "(if (i64.eqz (call $now)) (then unreachable)) {}",
        super::support::returns(0, "(i32.const 16)", "(i32.const 0)")
    );
    let file = encoded(&resolve, &format!("import {}; {RUN}", now.import), &module(&parts, &body));
    assert_eq!(value(&run(&file).await), "");
}

#[test]
fn a_function_of_files_or_sockets_that_takes_something_else_is_refused_before_it_runs() {
    for (package, interface, function, ty, params) in [
        ("sockets", "tcp-create-socket", "create-tcp-socket", "func(x: list<u8>) -> u32", "i32 i32"),
        ("sockets", "udp-create-socket", "create-udp-socket", "func() -> u32", ""),
        ("filesystem", "preopens", "get-directories", "func(x: u32) -> u32", "i32"),
        // What is a resource of WASI's.
        ("filesystem", "types", "descriptor", "func(x: string) -> u32", "i32 i32"),
    ] {
        let wit = format!("package wasi:{package}@0.2.6; interface {interface} {{ {function}: {ty}; }}");
        let import = format!("wasi:{package}/{interface}@0.2.6");
        let core =
            module(&format!(r#"(import "{import}" "{function}" (func (param {params}) (result i32)))"#), "unreachable");
        let file = super::support::encoded("", &[&wit], &format!("import {import}; {RUN}"), &core);
        let component = compiled(&file).unwrap_or_else(|error| panic!("{error}"));
        let refusal = components().link(&component, &[]).map(|_| ()).expect_err(function).to_string();
        assert!(refusal.contains(&format!("{function} has another form than in WASI")), "{refusal}");
    }
}

/// The functions of HTTP, which wasmtime-wasi does not have: from the toolchain of an example.
fn http() -> (Resolve, Vec<InterfaceId>) {
    let (mut resolve, _) = wasi();
    let jco = "examples/components/javascript/node_modules/@bytecodealliance/jco";
    let file = repository().join(jco).join("lib/wit/builtin/0.2.12/wasi-http/package.wit");
    let missing = |error| panic!("{}: {error}; scripts/test installs what the tests need", file.display());
    let text = std::fs::read_to_string(&file).unwrap_or_else(missing);
    let package = resolve.push_str(&file, &text).unwrap_or_else(|error| panic!("{error:#}"));
    let interfaces = resolve.packages[package].interfaces.values().copied().collect();
    (resolve, interfaces)
}

#[test]
fn each_function_of_http_is_refused_by_the_name_of_its_interface() {
    let (resolve, interfaces) = http();
    let functions = of(&resolve, &interfaces, &["http"]);
    assert!(functions.len() > 50, "{}", functions.len());
    for tried in functions {
        let refusal = compiled(&tried.component(&resolve)).map(|_| ()).expect_err("it is refused").to_string();
        let named = format!("{} (there is no network)", tried.import);
        assert!(refusal.contains(&named), "{}: {refusal}", tried.function.name);
    }
}

#[test]
fn whatever_else_is_imported_of_http_is_refused_by_the_name_of_its_interface() {
    for interface in ["types", "outgoing-handler", "incoming-handler"] {
        for function in ["handle", "[constructor]fields", "http-error-code", "anything"] {
            let import = format!("wasi:http/{interface}@0.2.6");
            let ty = if function.starts_with('[') {
                format!(
                    r#"(export "fields" (type $fields (sub resource))) (export "{function}" (func (result (own $fields))))"#
                )
            } else {
                format!(r#"(export "{function}" (func))"#)
            };
            let text = format!(r#"(component (import "{import}" (instance {ty})))"#);
            let refusal = compiled(text.as_bytes()).map(|_| ()).expect_err("it is refused").to_string();
            assert!(refusal.contains(&import) && refusal.contains("there is no network"), "{refusal}");
        }
    }
}

/// The file of what is answered. It is read before a component is compiled.
const ITEMS: &str = "crates/foreign/src/wasi.txt";

#[test]
fn what_is_answered_of_wasi_is_what_wasmtime_wasi_has() {
    let (resolve, interfaces) = wasi();
    let mut items: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for id in &interfaces {
        let import = resolve.id_of(*id).unwrap();
        let interface = &resolve.interfaces[*id];
        let names = items.entry(import.split_once('@').unwrap().0.to_owned()).or_default();
        let resources = interface.types.iter().filter(|(_, ty)| resolve.types[**ty].kind == TypeDefKind::Resource);
        names.extend(resources.map(|(name, _)| name.as_str()));
        // What it uses of others is exported by its instance, too.
        let used = interface.types.iter().filter(|(_, ty)| is_used_resource(&resolve, **ty));
        names.extend(used.map(|(name, _)| name.as_str()));
        names.extend(interface.functions.keys().map(String::as_str));
        names.sort_unstable();
    }
    let text: String = items.iter().map(|(interface, names)| format!("{interface} {}\n", names.join(" "))).collect();
    let file = repository().join(ITEMS);
    if std::env::var_os("BELLJAR_ACCEPT").is_some() {
        std::fs::write(&file, &text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text, "BELLJAR_ACCEPT=1 writes {ITEMS}");
    // And each of these is there.
    let servers = Server::all(ToolSet::new().catalog());
    for tried in of(&resolve, &interfaces, &PACKAGES) {
        let component = compiled(&tried.component(&resolve)).unwrap_or_else(|error| panic!("{error}"));
        let linked = components().link(&component, &servers);
        assert!(linked.is_ok(), "{} of {}: {:?}", tried.function.name, tried.import, linked.err());
    }
}

fn is_used_resource(resolve: &Resolve, id: wit_parser::TypeId) -> bool {
    match resolve.types[id].kind {
        TypeDefKind::Type(Type::Id(of)) => {
            resolve.types[of].kind == TypeDefKind::Resource || is_used_resource(resolve, of)
        }
        _ => false,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_wasi_does_not_have_is_named_beside_all_else_that_is_missing() {
    let text = r#"(component
        (import "wasi:cli/exit@0.2.6" (instance
            (export "exit" (func (param "status" (result)))) (export "stay" (func)) (export "leave" (func))))
        (import "wasi:cli/nothing@0.2.6" (instance))
        (import "wasi:clocks/wall-clock@0.3.0" (instance))
        (import "other:thing/api@1.0.0" (instance)))"#;
    let refusal = compiled(text.as_bytes()).map(|_| ()).expect_err("it is refused").to_string();
    for part in [
        "wasi:cli/exit@0.2.6 (belljar does not offer stay, leave of it)",
        "wasi:cli/nothing@0.2.6 (belljar does not offer it)",
        "wasi:clocks/wall-clock@0.3.0 (belljar answers WASI 0.2)",
        "other:thing/api@1.0.0 (belljar does not offer it)",
    ] {
        assert!(refusal.contains(part), "{refusal}");
    }
    // Asking something at the wrong time is only a fault of the run.
    let (resolve, interfaces) = wasi();
    let polls = of(&resolve, &interfaces, &["io"]);
    let poll = polls.iter().find(|tried| tried.function.name == "poll").unwrap();
    assert_eq!(kind(&run(&poll.component(&resolve)).await), ErrorKind::Exception, "there is nothing to wait for");
}
