//! A script that works is never stopped before it runs: over all scripts of the tests and examples,
//! and all programs that are compared with Node, no call counts as certain to fail.

use std::{fs, path::Path, sync::Arc};

use belljar_model::ErrorKind;
use belljar_sandbox::Program;
use futures::{StreamExt as _, stream};
use serde_json::{Value, json};

use crate::{
    stub_server::{Stub, gateway},
    support::{repository, sandbox, tools},
};

/// The least number of scripts: a test of nothing proves nothing.
const SCRIPTS: usize = 75;
const CERTAIN_CALLS: usize = 90;
const PROGRAMS: usize = 3_000;
/// Programs that are examined at the same time.
const AT_ONCE: usize = 4;

/// Every server of the scripts, with its listed tools. None of them is ever called.
fn servers() -> Vec<(&'static str, Stub)> {
    let stub = |list: &str| Stub::new(Stub::real_tools(list), |tool, _| panic!("{tool} was called"));
    let mut all: Vec<_> =
        ["memory", "everything", "git", "playwright", "sqlite", "time"].map(|name| (name, stub(name))).into();
    all.push(("fs", stub("filesystem")));
    all
}

/// The scripts of a folder that succeed: beside each is its result.
fn scripts(folder: &Path) -> Vec<(String, String)> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_script =
        |path: &Path| ["js", "ts", "md"].iter().any(|ending| path.extension().is_some_and(|own| own == *ending));
    let succeeds = |path: &Path| {
        let Ok(expected) = fs::read_to_string(path.with_extension("expected.json")) else { return false };
        let expected: Value = serde_json::from_str(&expected).unwrap();
        expected.get("error").is_none_or(Value::is_null)
    };
    let read = |path: std::path::PathBuf| (path.display().to_string(), fs::read_to_string(&path).unwrap());
    files.filter(|path| is_script(path) && succeeds(path)).map(read).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn no_script_that_succeeds_has_a_call_that_counts_as_certain_to_fail() {
    let gateway = gateway(&servers(), Vec::new());
    let folder = repository().join("tests/scripts");
    let scripts: Vec<_> = [scripts(&folder), scripts(&folder.join("tasks"))].concat();
    assert!(scripts.len() >= SCRIPTS, "there are only {} scripts", scripts.len());
    let mut certain = 0;
    for (name, source) in scripts {
        let plan = gateway.plan(source).await;
        assert!(plan.error.is_none(), "{name}: {:#?}", plan.error);
        for call in plan.calls.iter().filter(|call| call.call.fatal) {
            assert_eq!(call.problem, None, "{name}: {call:#?}");
            assert!(call.effect.is_some(), "{name}: {call:#?}");
            certain += 1;
        }
    }
    assert!(certain >= CERTAIN_CALLS, "only {certain} calls are certain");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_program_that_node_runs_names_what_counts_as_unknown() {
    let files = fs::read_dir(repository().join("tests/differential/programs")).unwrap();
    let mut programs = Vec::new();
    for file in files {
        let rows: Vec<[String; 3]> = serde_json::from_str(&fs::read_to_string(file.unwrap().path()).unwrap()).unwrap();
        programs.extend(rows.into_iter().filter(|[_, _, node]| !node.starts_with("throws ReferenceError")));
    }
    assert!(programs.len() >= PROGRAMS, "there are only {} programs", programs.len());
    let looked = stream::iter(&programs).map(async |[name, source, _]| {
        let program = Program::new(source.as_str()).only_planned();
        (name, source, sandbox().run(program).tools(Arc::new(tools())).await)
    });
    let mut stopped = Vec::new();
    let mut looked = looked.buffered(AT_ONCE);
    while let Some((name, source, outcome)) = looked.next().await {
        match outcome.result {
            Err(error) if error.kind == ErrorKind::Plan => stopped.push(format!("{name}\n{source}\n{error:#?}")),
            Ok(value) => assert_eq!(value.to_value().unwrap(), json!(null), "{name} was run"),
            Err(_) => {}
        }
    }
    assert!(stopped.is_empty(), "{} are stopped\n{}", stopped.len(), stopped.join("\n"));
}

/// The cost of examining sources that have much of one thing, for twice as much of it.
#[tokio::test(flavor = "multi_thread")]
async fn looking_at_a_source_costs_in_proportion_to_its_length() {
    let chain = |count: usize| {
        let functions: String = (1..count).map(|n| format!("function f{n}() {{ f{}() }}\n", n - 1)).collect();
        format!("function f0() {{}}\n{functions}for (;;) {{ f{}(); break }}", count - 1)
    };
    let spreads = |count: usize| format!("const x = {{}}; await box.echo({{ a: 1, {} }})", "...x, ".repeat(count));
    let members = |count: usize| {
        let members: String = (0..count).map(|n| format!("a{n}: 1, ...x, ")).collect();
        format!("const x = {{}}; await box.echo({{ {members} }})")
    };
    let arrows = |count: usize| {
        "const f = () => 0; { const f = () => 1; }\n(() => 0)();\n".replace("const f = () => 0; ", "").repeat(count)
    };
    let calls = |count: usize| "await box.echo({ a: 1 });\n".repeat(count);
    for (what, source, count) in [
        ("functions that call each other", &chain as &dyn Fn(usize) -> String, 1_000),
        ("spreads", &spreads, 200),
        ("members between spreads", &members, 100),
        ("functions with and without names", &arrows, 1_000),
        ("calls", &calls, 1_000),
    ] {
        let fuel = async |count: usize| {
            let program = Program::new(source(count)).only_planned();
            sandbox().run(program).tools(Arc::new(tools())).await.usage.fuel.unwrap()
        };
        let (one, two) = (fuel(count).await, fuel(2 * count).await);
        assert!(two < one * 3, "{what}: {one} units of fuel for {count}, {two} for twice as many");
    }
}
