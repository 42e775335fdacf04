//! The components of `examples/components`: one job in several languages, with one value.

use std::{path::PathBuf, process::Command, sync::OnceLock};

use serde_json::{Value, json};

use crate::support::{Answer, Terminal, cargo, repository};

fn examples() -> PathBuf {
    repository().join("examples/components")
}

/// The guest in Rust, built as its README says.
fn rust() -> &'static str {
    static FILE: OnceLock<String> = OnceLock::new();
    FILE.get_or_init(|| {
        let target = repository().join("target/examples");
        let mut build = cargo();
        build.args(["build", "--quiet", "--release", "--locked", "--target", "wasm32-wasip2", "--manifest-path"]);
        build.arg(examples().join("rust/Cargo.toml")).arg("--target-dir").arg(&target);
        assert!(build.status().unwrap().success(), "the component does not build");
        let file = target.join("wasm32-wasip2/release/copy_urgent.wasm");
        file.to_str().unwrap().to_owned()
    })
}

fn run(file: &str, more: &[&str]) -> Value {
    let config = examples().join("belljar.toml");
    let mut arguments = vec!["run", file, "--json", "--config", config.to_str().unwrap()];
    arguments.extend(more);
    Terminal::new().belljar(&arguments).json()
}

/// The value of a script that does the same.
fn expected() -> Value {
    let script = "const { issues } = await tracker.list_issues({ label: 'urgent' });
        const copied = [];
        for (const { project, title } of issues) copied.push((await archive.create_issue({ project, title })).title);
        return { copied };";
    let config = examples().join("belljar.toml");
    let answer = Terminal::new().belljar(&["run", "--code", script, "--json", "--config", config.to_str().unwrap()]);
    let value = answer.json()["value"].clone();
    assert!(value["copied"].as_array().is_some_and(|copied| copied.len() > 1), "{answer:#?}");
    value
}

#[test]
fn a_component_in_rust_does_what_a_script_does_over_two_servers() {
    let outcome = run(rust(), &[]);
    assert_eq!(outcome["value"], expected(), "{outcome:#}");
    let calls = outcome["calls"].as_array().unwrap();
    assert_eq!(calls[0]["server"], "tracker", "{outcome:#}");
    assert!(calls[1..].iter().all(|call| call["server"] == "archive" && call["effect"] != "read_only"), "{outcome:#}");
}

/// The command of a toolchain that is installed beside its example.
fn toolchain(program: &str) -> Command {
    let program = examples().join(program);
    assert!(program.exists(), "{} is missing: scripts/test installs what the tests need", program.display());
    Command::new(program)
}

/// The component that a toolchain builds from an example, in a folder of the test.
fn built(terminal: &Terminal, build: &mut Command) -> String {
    let file = terminal.folder.path().join("copy_urgent.wasm");
    let answer = Answer::of(build.arg("-o").arg(&file).output().unwrap());
    assert!(answer.code == 0 && file.exists(), "{answer:#?}");
    file.to_str().unwrap().to_owned()
}

/// Its interpreter imports files and sockets, and asks for them when it starts.
#[test]
fn a_component_in_python_does_the_same() {
    let terminal = Terminal::new();
    let mut build = toolchain("python/.venv/bin/componentize-py");
    build.current_dir(examples().join("python")).args(["-d", "../wit", "-w", "guest", "componentize", "app"]);
    let outcome = run(&built(&terminal, &mut build), &[]);
    assert_eq!(outcome["value"], expected(), "{outcome:#}");
}

#[test]
fn a_component_in_javascript_does_the_same() {
    let terminal = Terminal::new();
    let mut build = toolchain("javascript/node_modules/.bin/jco");
    build.current_dir(examples().join("javascript")).args(["componentize", "app.js", "--wit", "../wit"]);
    build.args(["--world-name", "guest", "--backend", "quickjs", "--backend-qjs-stub-wasi"]);
    let outcome = run(&built(&terminal, &mut build), &[]);
    assert_eq!(outcome["value"], expected(), "{outcome:#}");
}

/// Its module becomes a component with the adapter of the JavaScript toolchain.
#[test]
fn a_component_in_go_does_the_same() {
    let terminal = Terminal::new();
    let made = |build: &mut Command, name: &str| {
        let file = terminal.folder.path().join(name);
        let answer = Answer::of(build.arg("-o").arg(&file).output().unwrap());
        assert!(answer.code == 0 && file.exists(), "{answer:#?}");
        file
    };
    let mut build = toolchain("go/.venv/bin/go");
    build.current_dir(examples().join("go")).args(["build", "-buildmode=c-shared"]);
    build.env("GOOS", "wasip1").env("GOARCH", "wasm").env("GOTOOLCHAIN", "local").env("GOFLAGS", "-buildvcs=false");
    build.env("GOCACHE", terminal.folder.path().join("cache"));
    let module = made(&mut build, "core.wasm");
    let mut embed = toolchain("go/.venv/bin/wasm-tools");
    embed.current_dir(examples().join("go")).args(["component", "embed", "../wit", "--world", "guest"]);
    let embedded = made(embed.arg(&module), "embedded.wasm");
    let mut new = toolchain("go/.venv/bin/wasm-tools");
    new.current_dir(examples().join("go")).args(["component", "new", "--realloc-via-memory-grow", "--adapt"]);
    let adapter = "../javascript/node_modules/@bytecodealliance/jco/lib/wasi_snapshot_preview1.reactor.wasm";
    new.arg(format!("wasi_snapshot_preview1={adapter}")).arg(embedded);
    let outcome = run(&built(&terminal, &mut new), &[]);
    assert_eq!(outcome["value"], expected(), "{outcome:#}");
}

#[test]
fn its_plan_is_the_two_tools_that_it_uses_and_no_others() {
    let plan = run(rust(), &["--plan"]);
    let tools: Vec<&Value> = plan["tools"].as_array().unwrap().iter().map(|tool| &tool["tool"]).collect();
    assert_eq!(json!(tools), json!(["tracker.list_issues", "archive.create_issue"]), "{plan:#}");
}

#[test]
fn the_packages_beside_the_examples_are_those_that_belljar_wit_prints() {
    let terminal = Terminal::new();
    let config = examples().join("belljar.toml");
    let out = terminal.folder.path().join("wit");
    let names = ["wit", "tracker.list_issues", "archive.create_issue", "--world", "--out", out.to_str().unwrap()];
    let mut arguments = names.to_vec();
    arguments.extend(["--config", config.to_str().unwrap()]);
    let answer = terminal.belljar(&arguments);
    assert_eq!(answer.code, 0, "{answer:#?}");
    for file in [
        "package.wit",
        "deps/belljar-mcp/package.wit",
        "deps/belljar-mcp-tracker/package.wit",
        "deps/belljar-mcp-archive/package.wit",
    ] {
        let (made, kept) = (out.join(file), examples().join("wit").join(file));
        let read = |path: &PathBuf| {
            std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        };
        assert_eq!(read(&made), read(&kept), "{file}");
    }
}
