//! A component never calls another tool than the one that it was built for, whichever tools have
//! its name by then.

use std::sync::Arc;

use belljar_catalog::wit::{Mapping, Package, Selection, Worlds, mark, packages};
use belljar_foreign::{Refusal, Server};
use belljar_model::ToolPath;
use belljar_sandbox::{Effect, ToolSet};
use serde_json::json;

use super::support::{compiled, components, encoded, module, returns, value};

const RUN: &str = "export run: func() -> result<string, string>;";

/// Servers whose tools say their own path.
pub(super) fn tools(paths: &[(&str, &str)]) -> ToolSet {
    paths.iter().fold(ToolSet::new(), |tools, (server, tool)| {
        let said = format!("{server}.{tool}");
        tools.with(server, tool, Effect::ReadOnly, move |_| {
            let said = said.clone();
            async move { Ok(json!([said])) }
        })
    })
}

/// What `belljar wit` prints for the first server.
pub(super) fn wit(tools: &ToolSet) -> String {
    let servers = tools.catalog().servers();
    let names: Vec<&str> = servers.iter().map(|server| server.name()).collect();
    let mapping = Mapping::new(&packages(&names)[0], &servers[0]);
    Package::new(&[Selection::all(&mapping)], Worlds::Guest).text()
}

/// The names of the first server's functions.
fn functions(tools: &ToolSet) -> Vec<String> {
    let mapping = Mapping::new("mcp-kit", &tools.catalog().servers()[0]);
    mapping.functions().iter().map(|function| function.name.clone()).collect()
}

/// A component that calls a function of a package, and returns the text that comes back.
pub(super) fn calling(wit: &str, package: &str, function: &str) -> Vec<u8> {
    let interface = format!("belljar:{package}/tools@0.1.0");
    let import = format!(r#"(import "{interface}" "{function}" (func $call (param i32 i32 i32)))"#);
    let body = format!(
        "(call $call (i32.const 16) (i32.const 2) (i32.const 2048)) (if (i32.load8_u (i32.const 2048)) (then unreachable)) {}",
        returns(0, "(i32.load (i32.const 2052))", "(i32.load (i32.const 2056))")
    );
    let parts = format!(r#"{import} (data (i32.const 16) "{{}}")"#);
    encoded(wit, &[], &format!("import {interface}; {RUN}"), &module(&parts, &body))
}

async fn called(file: &[u8], tools: ToolSet) -> Result<serde_json::Value, Refusal> {
    let component = compiled(file)?;
    let linked = components().link(&component, &Server::all(tools.catalog()))?;
    Ok(value(&components().run(&linked).tools(Arc::new(tools)).await))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_tool_that_takes_the_name_of_another_is_not_called() {
    let file = calling(&wit(&tools(&[("kit", "foo_bar")])), "mcp-kit", "foo-bar");
    let built_for = Ok(json!(["kit.foo_bar"]));
    assert_eq!(called(&file, tools(&[("kit", "foo_bar")])).await, built_for);
    // It has the name from now on, and the component still calls its own.
    let both = || tools(&[("kit", "foo-bar"), ("kit", "foo_bar")]);
    assert_eq!(called(&file, both()).await, built_for);
    assert_eq!(called(&calling(&wit(&both()), "mcp-kit", "foo-bar"), both()).await, Ok(json!(["kit.foo-bar"])));
    assert_eq!(called(&file, tools(&[("kit", "fooBar"), ("kit", "foo_bar")])).await, built_for);
    for other in ["foo-bar", "fooBar", "foo.bar", "Foo_Bar"] {
        let refusal = called(&file, tools(&[("kit", other)])).await.expect_err(other).to_string();
        let says = format!("it was built for another tool than kit.{other}, which has this name now");
        assert!(refusal.contains(&says), "{refusal}");
    }
    let refusal = called(&file, tools(&[("kit", "else")])).await.expect_err("it is gone").to_string();
    assert!(refusal.contains("kit has no such tool"), "{refusal}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nor_is_a_tool_of_a_server_that_takes_the_name_of_its_package() {
    let file = calling(&wit(&tools(&[("my_kit", "go")])), "mcp-my-kit", "go");
    assert_eq!(called(&file, tools(&[("my_kit", "go")])).await, Ok(json!(["my_kit.go"])));
    for servers in [&[("my-kit", "go")][..], &[("my-kit", "go"), ("my_kit", "go")], &[("myKit", "go")]] {
        let refusal = called(&file, tools(servers)).await.expect_err("it is another server's").to_string();
        assert!(refusal.contains("it was built for another tool than my"), "{refusal}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nor_is_one_whose_path_was_chosen_for_a_short_hash() {
    // Both servers have one package, and the 32-bit FNV-1a hashes of both paths are equal.
    let file = calling(&wit(&tools(&[("my_kit", "varjkfzj")])), "mcp-my-kit", "varjkfzj");
    assert_eq!(called(&file, tools(&[("my_kit", "varjkfzj")])).await, Ok(json!(["my_kit.varjkfzj"])));
    let refusal = called(&file, tools(&[("my-kit", "vwkurvto")])).await.expect_err("it is another tool").to_string();
    assert!(refusal.contains("my-kit has no such tool"), "{refusal}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_whose_name_ends_as_if_with_a_mark_takes_no_other_from_a_component() {
    let real = format!("go_{}", mark(&ToolPath::new("kit", "go")));
    for posing in ["go_t0123456789abcdef0123", real.as_str()] {
        let both = || tools(&[("kit", "go"), ("kit", posing)]);
        let names = functions(&both());
        assert_eq!(called(&calling(&wit(&both()), "mcp-kit", &names[0]), both()).await, Ok(json!(["kit.go"])));
        let own = calling(&wit(&both()), "mcp-kit", &names[1]);
        assert_eq!(called(&own, both()).await, Ok(json!([format!("kit.{posing}")])));
    }
}

#[test]
fn a_function_that_looks_like_a_mark_is_not_one() {
    // As another printer could write it.
    let (digits, text) = ("0123456789abcdef0123", "(result (result (error string)))");
    let component = format!(
        r#"(component (import "belljar:mcp-kit/tools@0.1.0" (instance (type string)
            (export "go-t{digits}" (func {text})) (export "go-t{digits}-t{digits}" (type (eq 0)))
            (export "go-t00000000000000000000" (type (eq 0))) (export "go" (func {text})))))"#
    );
    let refusal = compiled(component.as_bytes()).map(|_| ()).expect_err("it has no run").to_string();
    assert!(refusal.contains("exports no function"), "{refusal}");
}

#[test]
fn what_says_of_no_tool_or_of_two_which_it_is_of_is_refused() {
    let function = |types: &str| {
        format!(
            r#"(component (import "belljar:mcp-kit/tools@0.1.0" (instance {types}
                (export "go" (func (result (result (error string))))))))"#
        )
    };
    let mark = |mark: &str| format!(r#"(export "go-{mark}" (type (eq 0)))"#);
    let of = |letter: char, digit: &str| format!("{letter}{}", digit.repeat(20));
    let (one, two) = (mark(&of('t', "0")), mark(&of('t', "1")));
    let marks = [String::new(), mark("t0123"), mark("t01234567"), mark(&of('h', "0")), one.clone() + &two];
    for types in marks {
        let text = function(&format!("(type string) {types}"));
        let refusal = compiled(text.as_bytes()).map(|_| ()).expect_err(&types).to_string();
        assert!(refusal.contains("go does not say which tool it is of"), "{refusal}");
    }
    let one = function(&format!("(type string) {one}"));
    let refusal = compiled(one.as_bytes()).map(|_| ()).expect_err("it has no run").to_string();
    assert!(refusal.contains("exports no function"), "{refusal}");
}
