//! A program that embeds the sandbox needs only its crate: tools with schemas are checked, found
//! and described like those of a child server.

use std::{
    collections::BTreeSet,
    fs,
    path::PathBuf,
    process::Command,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use belljar_sandbox::{
    CallStyle, Effect, Image, Outcome, Program, Sandbox, SandboxOptions, SchemaError, ScriptValue, Thrown, Tool,
    ToolSet, json,
};

use crate::support::{Answer, cargo, repository, sandbox};

fn forecast() -> Tool {
    Tool::new("forecast", Effect::ReadOnly)
        .with_description("The weather of a city in the days to come.")
        .with_input(json!({
            "type": "object",
            "properties": { "city": { "type": "string" }, "days": { "type": "integer", "minimum": 1 } },
            "required": ["city"]
        }))
        .unwrap()
        .with_output(json!({ "type": "object", "properties": { "celsius": { "type": "number" } } }))
        .unwrap()
}

/// The outcome of a script, and how many times the tool was called.
async fn run(source: &str) -> (Outcome, u64) {
    let calls = Arc::new(AtomicU64::new(0));
    let counted = calls.clone();
    let tools = ToolSet::new().with_tool("weather", forecast(), move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        async { Ok(json!({ "celsius": 21 })) }
    });
    let outcome = sandbox().run(source).tools(Arc::new(tools)).await;
    (outcome, calls.load(Ordering::Relaxed))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_program_in_the_readme_gives_what_it_says() -> Result<(), Box<dyn std::error::Error>> {
    let tools = ToolSet::new().with("shop", "price", Effect::ReadOnly, |_| async { Ok(json!(12)) });
    let sandbox = Sandbox::new(&Image::embedded(), SandboxOptions::default())?;
    let outcome = sandbox.run("return await shop.price({ id: 7 })").tools(Arc::new(tools)).await;
    assert_eq!(outcome.result?.as_str(), "12");

    // The lines above are those of the `main` in README.md.
    let (_, program) = include_str!("../../README.md").split_once("#[tokio::main]\n").ok_or("there is no program")?;
    let shown: Vec<&str> = program.lines().filter(|line| line.starts_with("    let ")).take(3).collect();
    assert!(include_str!("embedding.rs").contains(&shown.join("\n")), "{shown:#?}");
    assert!(shown.len() == 3 && program.contains("println!(\"{}\", outcome.result?.as_str()); // 12"));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_functions_in_the_library_document_are_called_as_it_says() -> Result<(), Box<dyn std::error::Error>> {
    let sandbox = sandbox();
    let tools = ToolSet::new()
        // call_tool("github.find", { q: 1 })
        .with_function(CallStyle::Positional, Tool::new("call_tool", Effect::External), async |arguments| {
            let name = arguments.first().and_then(ScriptValue::as_str).ok_or(Thrown::named("TypeError", "no name"))?;
            Ok(json!({ "called": name }).into())
        })
        // codemode.read("a.bin") is a Uint8Array
        .with_plain("codemode", CallStyle::Positional, Tool::new("read", Effect::ReadOnly), async |_| {
            Ok(ScriptValue::bytes([1, 2, 3]))
        });
    let program = Program::new("const { length } = await codemode.read(limit); await call_tool('a'); length")
        .with_prelude("const limit = 7; codemode.twice = async (x) => 2 * x;")
        .with_extended_value();
    let outcome = sandbox.run(program).tools(Arc::new(tools)).await;
    assert_eq!(outcome.result?.as_str(), "3");
    assert_eq!(outcome.calls.len(), 2);

    let (_, block) = include_str!("../../docs/LIBRARY.md").split_once("```rust\n").ok_or("there is no program")?;
    let (block, _) = block.split_once("```").ok_or("it has no end")?;
    let indented: String = block.lines().map(|line| format!("    {line}\n")).collect();
    assert!(include_str!("embedding.rs").contains(&indented), "{indented}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_are_checked_against_the_schema_before_a_closure_is_called() {
    let (outcome, calls) = run("return (await weather.forecast({ city: 'Bern', days: 2 })).celsius").await;
    assert_eq!((outcome.result.unwrap().as_str(), calls), ("21", 1));
    for (arguments, problem) in [
        ("{ city: 3 }", "arguments.city: expected string, found number 3"),
        ("{ city: 'Bern', days: 0 }", "arguments.days: expected"),
        ("{ cty: 'Bern' }", "arguments.city: expected string, found nothing"),
        ("{ city: 'Bern', day: 2 }", "did you mean `days`?"),
    ] {
        let (outcome, calls) =
            run(&format!("const make = () => ({arguments}); return await weather.forecast(make())")).await;
        let error = outcome.result.unwrap_err();
        assert!(error.message.starts_with("TypeError: weather.forecast: "), "{}", error.message);
        assert!(error.message.contains(problem), "{arguments}: {}", error.message);
        assert!(error.hint.as_ref().is_some_and(|hint| hint.contains("the tool is weather.forecast(")), "{error:?}");
        // It was not sent, so it is not among the calls.
        assert_eq!((calls, outcome.calls.len()), (0, 0), "{arguments}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_of_an_embedder_are_found_and_described_in_scripts() {
    let (outcome, _) = run("const [found] = tools.search('weather of a city');
         const described = tools.describe('weather.forecast');
         return [found.path, found.declaration.includes('city: string'), described.description,
             described.inputSchema.required, tools.list('weather')[0].summary]")
    .await;
    assert_eq!(
        outcome.result.unwrap().to_value().unwrap(),
        json!([
            "weather.forecast",
            true,
            "The weather of a city in the days to come.",
            ["city"],
            "The weather of a city in the days to come."
        ])
    );
}

#[test]
fn a_schema_with_which_calls_cannot_be_checked_is_refused_when_it_is_given() {
    let tool = || Tool::new("t", Effect::External);
    assert!(matches!(tool().with_input(json!("string")), Err(SchemaError::NotAnObject)));
    assert!(matches!(tool().with_input(json!({ "type": "no such type" })), Err(SchemaError::Unfit(_))));
    assert!(matches!(tool().with_input(json!({ "$ref": "https://example.com/s" })), Err(SchemaError::Unfit(_))));
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_that_would_take_long_to_check_are_refused() {
    let tool = Tool::new("put", Effect::External)
        .with_input(json!({ "properties": { "all": { "type": "array", "uniqueItems": true } } }))
        .unwrap();
    let tools = ToolSet::new().with_tool("store", tool, async |_| Ok(json!(null)));
    let source = "await store.put({ all: Array.from({ length: 50000 }, (_, i) => ({ i })) })";
    let outcome = sandbox().run(source).tools(Arc::new(tools)).await;
    let error = outcome.result.unwrap_err();
    assert!(error.message.contains("too large to be checked: pass less at once"), "{}", error.message);
}

/// Besides the hint that contains it, the suggestion is a field of a script's error.
#[tokio::test(flavor = "multi_thread")]
async fn the_tool_that_was_meant_is_a_field_of_the_error() {
    for source in [
        "return await weather.forecst({ city: 'Bern' })",
        "const name = 'forecst'; return await weather[name]({ city: 'Bern' })",
    ] {
        let (outcome, _) = run(source).await;
        let error = outcome.result.unwrap_err();
        assert_eq!(error.hint.as_deref(), Some("did you mean weather.forecast?"), "{source}");
        let missing = error.missing.unwrap();
        assert_eq!(
            (&*missing.server, &*missing.tool, missing.near.as_deref()),
            ("weather", "forecst", Some("forecast"))
        );
    }
}

/// The program of examples/embed, which is no member of belljar's workspace.
fn example() -> Command {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    Command::new(BINARY.get_or_init(|| {
        let target = std::env::current_exe().unwrap().ancestors().nth(3).unwrap().to_owned();
        let mut build = cargo();
        build.args(["build", "--quiet", "--locked", "--manifest-path", "examples/embed/Cargo.toml"]);
        // The image has already been compiled and is in the same folder, so the compiler need not
        // be fast, and is itself compiled in a quarter of the time.
        build.args(["--config", "profile.dev.package.\"*\".opt-level=0", "--target-dir"]).arg(&target);
        assert!(build.status().unwrap().success(), "examples/embed does not build");
        target.join("debug").join(format!("embed{}", std::env::consts::EXE_SUFFIX))
    }))
}

#[test]
pub(crate) fn a_program_outside_of_the_workspace_runs_scripts_with_its_own_tools() {
    let answer = Answer::of(example().output().unwrap());
    assert_eq!(answer.code, 0, "{answer:#?}");
    assert_eq!(answer.json(), json!({ "item": "nut", "reserved": 2, "left": 2 }));
    assert_eq!(answer.stderr, "low: nut\nlow: washer\ncalled warehouse.list: ok\ncalled warehouse.reserve: ok\n");

    let folder = tempfile::tempdir().unwrap();
    for (script, says) in [
        (
            "return await warehouse.reserve({ item: 'nut', count: 0 });",
            &["arguments.count: expected a number of at least 1, found number 0", ">    1 | return await"][..],
        ),
        (
            "return await warehouse.reserve({ item: 'nut', count: 5 });",
            &["only 4 of nut are left, and 5 were asked for"],
        ),
        (
            "return await warehouse.remove({ item: 'nut' });",
            &["warehouse.remove is not a function", "warehouse has list, reserve"],
        ),
        ("while (true);", &["computed for longer than 2000 ms"]),
        ("return await fetch('https://example.com');", &["fetch"]),
    ] {
        let file = folder.path().join("script.ts");
        fs::write(&file, script).unwrap();
        let answer = Answer::of(example().arg(&file).output().unwrap());
        assert_eq!((answer.code, answer.stdout.as_str()), (1, ""), "{script}: {answer:#?}");
        for text in says {
            assert!(answer.stderr.contains(text), "{script}: {}", answer.stderr);
        }
    }
}

#[test]
fn the_example_of_an_embedder_depends_on_the_sandbox_and_a_runtime_alone() {
    let mut metadata = cargo();
    metadata.args(["metadata", "--no-deps", "--format-version", "1", "--manifest-path", "examples/embed/Cargo.toml"]);
    let packages = Answer::of(metadata.output().unwrap()).json();
    let dependencies = packages["packages"][0]["dependencies"].as_array().unwrap().clone();
    let names: Vec<_> = dependencies.iter().map(|each| each["name"].as_str().unwrap()).collect();
    assert_eq!((names, packages["packages"].as_array().unwrap().len()), (vec!["belljar-sandbox", "tokio"], 1));

    // It is built from the versions that belljar is tested with.
    let locked = |path: &str| -> BTreeSet<(String, String)> {
        let lock = fs::read_to_string(repository().join(path)).unwrap();
        let field = |package: &str, name: &str| {
            let rest = package.split_once(&format!("{name} = \"")).unwrap().1;
            rest.split('"').next().unwrap().to_owned()
        };
        lock.split("[[package]]").skip(1).map(|each| (field(each, "name"), field(each, "version"))).collect()
    };
    let (own, tested) = (locked("examples/embed/Cargo.lock"), locked("Cargo.lock"));
    let other: Vec<_> = own.difference(&tested).map(|(name, _)| name.as_str()).collect();
    assert_eq!(other, ["embed"], "run `cargo update` in examples/embed, or copy the versions of Cargo.lock");
}
