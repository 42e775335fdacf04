//! A script whose certain calls are certain to fail is not run: nothing is called, and everything
//! that is wrong is reported at once.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use belljar_gateway::{Gateway, Toolbox};
use belljar_model::{ByteSize, ErrorKind, Limits, Recorded, RunError, ServerSpec, Transport};
use belljar_policy::{Policy, absolute_folder};
use belljar_sandbox::Recording;
use belljar_upstream::{BuiltIns, Options};
use serde_json::json;
use tokio::sync::Barrier;

use crate::{
    dead_children::child,
    stub_server::{Stub, gateway, gateway_with_rules, run},
    support::{Terminal, sandbox},
};

fn stub() -> Stub {
    Stub::new(
        Stub::real_tools("filesystem"),
        |_, arguments| json!({ "content": [], "structuredContent": { "content": arguments } }),
    )
}

fn files() -> (Stub, Gateway) {
    let stub = stub();
    let gateway = gateway(&[("fs", stub.clone())], Vec::new());
    (stub, gateway)
}

/// Why a script is not run. Nothing was called.
async fn refused(source: &str) -> RunError {
    let (stub, gateway) = files();
    let outcome = run(&gateway, source).await;
    assert_eq!((stub.calls.load(Ordering::SeqCst), outcome.calls.len()), (0, 0), "{source}");
    let error = outcome.result.expect_err(source);
    assert_eq!(error.kind, ErrorKind::Plan, "{source}\n{error:#?}");
    error
}

#[tokio::test]
async fn a_tool_that_there_is_not_stops_a_script_before_its_first_call() {
    let error = refused("await fs.list_directory({ path: '/' });\nreturn await fs.read_fil({ path: 'a' })").await;
    assert_eq!(
        error.message,
        "TypeError: fs.read_fil is not a function: there is no such tool\nThe script was not run: nothing was called."
    );
    assert_eq!((error.line, error.column), (Some(2), Some(17)));
    assert!(error.frame.as_ref().unwrap().contains("fs.read_fil"), "{error:#?}");
    assert!(
        error.hint.as_ref().unwrap().starts_with("did you mean fs.read_file? It is fs.read_file(args:"),
        "{error:#?}"
    );
}

#[tokio::test]
async fn arguments_that_a_tool_certainly_refuses_stop_a_script_before_its_first_call() {
    for (call, message) in [
        ("fs.write_file({ path: 'b' })", "fs.write_file: arguments.content: expected string, found nothing"),
        ("fs.read_text_file({ path: 'b', tail: '5' })", "arguments.tail: expected number, found string"),
        ("fs.read_text_file({ path: 'b', heads: 3 })", "arguments.heads: there is no argument of this name"),
        ("fs.list_directory_with_sizes({ path: 'b', sortBy: 'age' })", "arguments.sortBy: expected one of"),
        ("fs.read_text_file()", "arguments.path: expected string, found nothing"),
    ] {
        let source = format!("await fs.create_directory({{ path: 'a' }});\nawait {call};");
        let error = refused(&source).await;
        assert!(error.message.contains(message), "{source}\n{error:#?}");
        assert_eq!((error.line, error.column), (Some(2), Some(10)), "{source}");
        assert!(error.hint.as_ref().unwrap().contains("the tool is fs."), "{source}\n{error:#?}");
    }
}

#[tokio::test]
async fn all_that_is_wrong_is_said_at_once_each_with_its_place_and_hint() {
    let error = refused("await fs.read_fil({});\nconst x = 1;\n  await fs.write_file({ path: 'b' });").await;
    assert_eq!(error.line, Some(1));
    let (first, other) = error.message.split_once('\n').unwrap();
    assert!(first.contains("fs.read_fil is not a function"), "{error:#?}");
    assert!(other.starts_with("also at line 3, column 12: TypeError: fs.write_file: arguments.content"), "{error:#?}");
    assert!(
        other.contains("> 3 | await fs.write_file({ path: 'b' });\nhint: the tool is fs.write_file("),
        "{error:#?}"
    );
}

#[tokio::test]
async fn what_is_certain_of_arguments_that_are_known_in_part_stops_a_script() {
    for (call, message) in [
        ("fs.write_file({ content: text() })", "arguments.path: expected string, found nothing"),
        ("fs.write_file({ path: 5, content: text() })", "arguments.path: expected string, found number 5"),
        ("fs.read_text_file({ path: text(), tail: `${text()}` })", "arguments.tail: expected number, found string"),
        ("fs.read_text_file({ path: text(), heads: 3 })", "arguments.heads: there is no argument of this name"),
        ("fs.list_directory_with_sizes({ path: text(), sortBy: 'age' })", "arguments.sortBy: expected one of"),
        (
            "fs.edit_file({ path: text(), edits: [{ oldText: text() }] })",
            "edits[0].newText: expected string, found nothing",
        ),
    ] {
        let error = refused(&format!("const text = () => 'a';\nawait {call};")).await;
        assert!(error.message.contains(message), "{call}\n{error:#?}");
    }
}

#[tokio::test]
async fn what_stands_in_a_gap_is_left_to_the_run() {
    for call in [
        "fs.write_file({ path: text(), content: text() })",
        "fs.write_file({ ...both() })",
        "fs.write_file({ path: 5, ...both() })",
        "fs.write_file(both())",
        "fs.read_text_file({ path: text(), heads: nothing() })",
        "fs.read_text_file({ path: text(), tail: number() })",
        "fs.list_directory_with_sizes({ path: text(), sortBy: name() })",
        "fs.list_directory_with_sizes({ path: text(), sortBy: `${name()}` })",
        "fs.edit_file({ path: text(), edits: [...edits()] })",
        "fs.edit_file({ path: text(), edits: [{ ...edits()[0] }] })",
        "fs.write_file({ [key()]: 'a', content: 'b' })",
        // A spread value may bring a `toJSON`, and a replaced one was never passed.
        "fs.write_file({ ...{ toJSON: () => both() }, path: 5 })",
        "fs.write_file({ path: { x: 1 }, ...both() })",
        "fs.edit_file({ path: 'a', edits: [{ newTxt: 'a', ...edits()[0] }] })",
    ] {
        let source = format!(
            "const text = () => 'a', both = () => ({{ path: 'a', content: 'b' }}), nothing = () => undefined, number = () => 3;\n\
             const name = () => 'name', edits = () => [{{ oldText: 'a', newText: 'b' }}], key = () => 'path';\n\
             await {call};\nreturn 'fine'"
        );
        let outcome = run(&files().1, &source).await;
        assert_eq!(outcome.result.expect(call).to_value().unwrap(), json!("fine"), "{call}");
    }
}

#[tokio::test]
async fn a_tool_by_another_name_is_the_same_tool() {
    for source in [
        "const { read_fil } = fs;\nawait read_fil({})",
        "const disk = fs, read = disk.read_fil;\nawait read({})",
        "const { write_file: write } = fs;\nawait write({ path: 'a' })",
        "await tools.call('fs.read_fil', {})",
        "await tools.raw('fs.write_file', { path: 'a' })",
        "await tools.call('files.read', {})",
        "await Promise.all([fs.read_fil({}), 1])",
    ] {
        refused(source).await;
    }
}

#[tokio::test]
async fn a_server_that_nobody_configured_stops_a_script_before_its_first_call() {
    let error = refused("await fs.read_file({ path: 'a' });\nawait slack.post_message({ text: 'a' })").await;
    assert!(error.message.starts_with("ReferenceError: slack is not defined\n"), "{error:#?}");
    assert_eq!((error.line, error.column), (Some(2), Some(7)));
    assert!(error.hint.as_ref().unwrap().contains("the servers here are: fs"), "{error:#?}");
    for source in [
        "globalThis.slack = { post: () => 'fine' };\nreturn await slack.post()",
        "try { await slack.post() } catch { return 'fine' }",
        "const slack = { post: () => 'fine' };\nreturn await slack.post()",
        "if (typeof slack !== 'undefined') await slack.post();\nreturn 'fine'",
        "await Promise.resolve(1); await JSON.stringify(1); await console.log(1); return 'fine'",
    ] {
        let outcome = run(&files().1, source).await;
        assert_eq!(outcome.result.expect(source).to_value().unwrap(), json!("fine"), "{source}");
    }
}

#[tokio::test]
async fn what_is_merely_likely_to_fail_is_told_in_the_logs() {
    let (stub, gateway) = files();
    let likely = "line 3, column 12: this call would fail if the script came to it: TypeError: ";
    for (call, message) in [
        ("fs.read_fil({})", "fs.read_fil is not a function: there is no such tool"),
        ("fs.write_file({ path: 'b' })", "fs.write_file: arguments.content: expected string, found nothing"),
    ] {
        let source = format!(
            "await fs.list_directory({{ path: '/' }});\nif (Date.now() < 5) {{\n  await {call};\n}}\nreturn 'fine'"
        );
        let outcome = run(&gateway, &source).await;
        assert_eq!(outcome.result.as_ref().unwrap().to_value().unwrap(), json!("fine"));
        let texts: Vec<&str> = outcome.logs.iter().map(|entry| entry.text.as_str()).collect();
        assert_eq!(texts, [format!("{likely}{message}")], "{source}");
    }
    // A script that checks first, or catches, knows it.
    for source in [
        "await fs.list_directory({ path: '/' });\nif ('read_fil' in fs) await fs.read_fil({});",
        "await fs.list_directory({ path: '/' });\ntry { await fs.read_fil({}) } catch {}",
    ] {
        assert!(run(&gateway, source).await.logs.is_empty(), "{source}");
    }
    assert_eq!(stub.calls.load(Ordering::SeqCst), 4);
}

/// A server inside this process that starts once all of several have been started.
fn meeting(servers: usize) -> (Gateway, Arc<AtomicUsize>) {
    let (barrier, begun) = (Arc::new(Barrier::new(servers)), Arc::new(AtomicUsize::new(0)));
    let mut built_ins = BuiltIns::new();
    let mut specs = Vec::new();
    for name in ["one", "two", "three"] {
        let (barrier, begun, stub) = (barrier.clone(), begun.clone(), stub());
        built_ins = built_ins.with(name, move |stream| {
            let (barrier, begun, stub) = (barrier.clone(), begun.clone(), stub.clone());
            async move {
                begun.fetch_add(1, Ordering::SeqCst);
                barrier.wait().await;
                stub.serve(stream).await;
            }
        });
        specs.push(ServerSpec::new(name, Transport::BuiltIn(name.to_owned())));
    }
    let toolbox = Toolbox::new(specs, built_ins, Options::new("belljar-tests", "0"));
    (Gateway::new(Arc::new(toolbox), sandbox().clone(), Limits::default()), begun)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_servers_of_certain_calls_are_started_together_and_none_whose_name_merely_stands_there() {
    let (gateway, begun) = meeting(2);
    let source = "// one two three\nconst a = await one.list_directory({ path: 'a' });\n\
        if (a === 5) await globalThis.three.list_directory({ path: 'b' });\nreturn (await two.list_directory({ path: 'c' })) && 'fine'";
    let outcome = run(&gateway, source).await;
    assert_eq!(outcome.result.expect("each waits for the other").to_value().unwrap(), json!("fine"));
    assert_eq!(begun.load(Ordering::SeqCst), 2, "the third is not needed");
}

#[tokio::test]
async fn what_a_script_may_survive_or_may_never_reach_is_left_to_the_run() {
    for source in [
        "try { await fs.read_fil({}) } catch { return 'fine' }",
        "try { await fs.write_file({ path: 'b' }) } catch { return 'fine' }",
        "if (Date.now() < 5) await fs.read_fil({});\nreturn 'fine'",
        "if ('read_fil' in fs) { await fs.read_fil({}) }\nreturn 'fine'",
        "if (Date.now() > 5) return 'fine';\nawait fs.read_fil({})",
        "await fs.write_file({ path: 'b' }).catch(() => 1);\nreturn 'fine'",
        "await Promise.allSettled([fs.write_file({ path: 'b' })]);\nreturn 'fine'",
        "const never = async () => { await fs.read_fil({}) };\nreturn 'fine'",
        "for (const path of []) await fs.read_fil({ path });\nreturn 'fine'",
        "const work = (fs) => fs.read_fil({});\nawait work({ read_fil() {} });\nreturn 'fine'",
    ] {
        let outcome = run(&files().1, source).await;
        assert_eq!(outcome.result.expect(source).to_value().unwrap(), json!("fine"), "{source}");
    }
}

#[tokio::test]
async fn a_tool_that_is_denied_whatever_its_arguments_stops_a_script_before_its_first_call() {
    let rules = "default = 'allow'\n[[rule]]\nid = 'no-moves'\ntools = 'fs.move_file'\nthen = 'deny'\nwhy = 'stay'\n";
    let policy = Policy::parse(rules, &absolute_folder).unwrap_or_else(|problems| panic!("{problems}"));
    let stub = stub();
    let gateway = gateway_with_rules(&[("fs", stub.clone())], Arc::new(policy));
    let source = "await fs.read_file({ path: 'a' });\nawait fs.move_file({ source: 'a', destination: 'b' })";
    let error = run(&gateway, source).await.result.unwrap_err();
    assert_eq!((error.kind, error.line), (ErrorKind::Plan, Some(2)), "{error:#?}");
    assert_eq!(error.hint.as_deref(), Some("fs.move_file is denied by rule 'no-moves' of the owner: stay"));
    assert_eq!(stub.calls.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_script_that_was_not_run_is_repeated_exactly_and_so_is_one_whose_calls_were_checked() {
    let gateway = files().1.with_recording(ByteSize::mib(1));
    for source in ["await fs.write_file({ path: 'b' })", "return await fs.read_file({ path: 'b' })"] {
        let outcome = run(&gateway, source).await;
        let Some(Recorded::Whole(bytes)) = &outcome.recording else { panic!("{outcome:#?}") };
        let recording = Recording::read(bytes.clone()).expect("a recording");
        let replay = gateway.replay(&recording).await.unwrap_or_else(|error| panic!("{source}\n{error}"));
        assert_eq!((&replay.result, replay.usage.fuel), (&outcome.result, outcome.usage.fuel), "{source}");
    }
}

#[test]
fn what_a_server_has_now_stops_a_script_and_no_list_that_an_earlier_process_kept() {
    let terminal = Terminal::new();
    let list = terminal.file("tools.json", "");
    let server = format!("[servers.kid]\ncommand = '{}'\nargs = ['listed', '{}']\n", child().display(), list.display());
    let config = terminal.file("belljar.toml", server);
    let lists = |tool: &str, argument: &str| {
        let properties = json!({ argument: { "type": "string" } });
        let schema = json!({ "type": "object", "properties": properties, "required": [argument] });
        terminal.file("tools.json", json!([{ "name": tool, "inputSchema": schema }]).to_string());
    };
    let runs = |code: &str| terminal.belljar(&["run", "--code", code, "--config", config.to_str().unwrap()]);
    // The second has a tool that the list on disk lacks, the third an argument that it would
    // refuse.
    for (tool, argument) in [("read", "path"), ("fetch", "path"), ("fetch", "url")] {
        lists(tool, argument);
        let answer = runs(&format!("return await kid.{tool}({{ {argument}: 'x' }})"));
        assert_eq!((answer.code, answer.stdout.trim()), (0, "done"), "{answer:?}");
    }
    // A tool that the server no longer has does.
    lists("send", "url");
    let answer = runs("await kid.send({ path: 'x' })");
    assert!(answer.code == 1 && answer.stderr.contains("arguments.url: expected string, found nothing"), "{answer:?}");
    let answer = runs("await kid.fetch({ url: 'x' })");
    assert!(answer.code == 1 && answer.stderr.contains("kid.fetch is not a function: there is no"), "{answer:?}");
}
