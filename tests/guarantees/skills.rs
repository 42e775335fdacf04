//! The owner's named scripts: found, checked, judged and recorded like tools, and run in the jar of
//! the script that calls them.

use std::{
    path::Path,
    sync::{Arc, mpsc},
    time::Duration,
};

use belljar_gateway::{Gateway, SkillFolder, Skills, Toolbox};
use belljar_model::{ByteSize, ErrorKind, Limits, Outcome, Recorded, RunError, ServerSpec, Transport};
use belljar_policy::{Policy, absolute_folder};
use belljar_sandbox::{Effect, Image, Recording, Sandbox, SandboxOptions, ToolSet};
use belljar_upstream::{BuiltIns, Options};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::{
    approvals_by_command::{asking, waiting},
    host_protocol::Host,
    stub_server::{Stub, run, value},
    support::{Answer, Terminal, sandbox},
};

const COUNT: &str = "/** Counts the files of a folder. */\n\
    export default async (args: { path: string; deep?: boolean; kind?: 'all' | 'text' }) => {\n\
    \x20 const { got } = await fs.list_directory({ path: args.path });\n\
    \x20 return { path: got.path, args, made: new Map([[1, 2]]) };\n\
    };\n";

/// A folder with scripts.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        files.iter().for_each(|(name, text)| folder.put(name, text));
        folder
    }

    fn put(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).unwrap();
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn toolbox(&self, policy: Option<&str>) -> Toolbox {
        self.toolbox_answering(
            policy,
            |_, arguments| json!({ "content": [], "structuredContent": { "got": arguments } }),
        )
    }

    fn toolbox_answering(
        &self,
        policy: Option<&str>,
        answer: impl Fn(&str, &Value) -> Value + Send + Sync + 'static,
    ) -> Toolbox {
        let stub = Stub::new(Stub::real_tools("filesystem"), answer);
        let built_ins = BuiltIns::new().with("fs", move |stream| stub.clone().serve(stream));
        let specs = vec![ServerSpec::new("fs", Transport::BuiltIn("fs".to_owned()))];
        let toolbox = Toolbox::new(specs.clone(), built_ins, Options::new("belljar-tests", "0"));
        let folders = vec![SkillFolder { path: self.path().to_owned(), is_named: true }];
        let toolbox = toolbox.with_skills(Skills::new(folders));
        match policy {
            Some(rules) => {
                let policy = Policy::parse(rules, &absolute_folder).unwrap_or_else(|problems| panic!("{problems}"));
                toolbox.with_policy(Arc::new(policy), &specs)
            }
            None => toolbox,
        }
    }

    fn gateway(&self) -> Gateway {
        self.gateway_with(Limits::default())
    }

    fn gateway_with(&self, limits: Limits) -> Gateway {
        Gateway::new(Arc::new(self.toolbox(None)), sandbox().clone(), limits)
    }

    fn gateway_by_rules(&self, rules: &str) -> Gateway {
        Gateway::new(Arc::new(self.toolbox(Some(rules))), sandbox().clone(), Limits::default())
    }
}

async fn error(gateway: &Gateway, source: &str) -> RunError {
    run(gateway, source).await.result.expect_err(source)
}

fn recording(outcome: &Outcome) -> Recording {
    let Some(Recorded::Whole(bytes)) = &outcome.recording else { panic!("{outcome:#?}") };
    Recording::read(bytes.clone()).unwrap()
}

#[tokio::test]
async fn a_script_with_a_name_is_found_by_its_comment_and_says_whose_it_is() {
    let folder = Folder::new(&[("count-files.ts", COUNT)]);
    let gateway = folder.gateway();
    let found = value(
        &gateway,
        "const found = await tools.search('count files of a folder'); const described = await tools.describe('skills.count_files');\n\
         return [found[0], (await tools.list('skills')).map((each) => each.path), described, Object.keys(skills)]",
    )
    .await;
    assert_eq!(found[0]["path"], "skills.count-files", "{found:#}");
    let declaration = found[0]["declaration"].as_str().unwrap();
    assert!(declaration.contains("script of the owner"), "{declaration}");
    assert!(declaration.contains("deep?: boolean") && declaration.contains("\"all\" | \"text\""), "{declaration}");
    assert_eq!(found[1], json!(["skills.count-files"]));
    assert_eq!(found[2]["effect"], "read_only");
    assert!(found[2]["description"].as_str().unwrap().contains("A script of belljar's owner"), "{found:#}");
    assert_eq!(found[2]["inputSchema"]["required"], json!(["path"]));
    assert_eq!(found[2]["inputSchema"]["properties"]["kind"], json!({ "enum": ["all", "text"] }));
    assert_eq!(found[2].get("source"), None, "its text would only fill a context");
    assert_eq!(found[3], json!(["count_files", "count-files"]));
}

#[tokio::test]
async fn a_script_with_a_name_runs_in_the_jar_of_its_caller_with_what_was_checked() {
    let folder = Folder::new(&[
        ("count.ts", COUNT),
        (
            "own.js",
            "globalThis.mark = 1;\nlet calls = 0;\nexport default function () { 'x'; calls++; return [calls, this === undefined, typeof args]; }\n",
        ),
    ]);
    let gateway = folder.gateway();
    let outcome = run(
        &gateway,
        "const args = { path: '/a', get deep() { return true; } };\n\
         const found = await skills.count(args);\n\
         return [found.path, found.args, found.args === args, found.made instanceof Map, await skills.own(), await tools.call('skills.own'), globalThis.mark]",
    )
    .await;
    let got = outcome.result.unwrap_or_else(|error| panic!("{error:#?}")).to_value().unwrap();
    let args = json!({ "path": "/a", "deep": true });
    assert_eq!(got, json!(["/a", args, false, true, [1, true, "undefined"], [2, true, "undefined"], 1]));
    let calls: Vec<String> = outcome.calls.iter().map(|call| format!("{}.{}", call.server, call.tool)).collect();
    assert_eq!(calls, ["skills.count", "fs.list_directory", "skills.own", "skills.own"]);
}

#[tokio::test]
async fn arguments_of_a_wrong_type_are_refused_with_the_hint_that_a_tool_would_bring() {
    let folder = Folder::new(&[("count.ts", COUNT)]);
    let gateway = folder.gateway();
    // It is certain before the run, or else found at the call.
    for (source, kind) in [
        ("await skills.count({ path: 3 })", ErrorKind::Plan),
        ("const path = [3][0]; await skills.count({ path })", ErrorKind::Exception),
    ] {
        let error = error(&gateway, source).await;
        assert_eq!(error.kind, kind, "{error:#?}");
        assert!(error.message.contains("skills.count: arguments.path: expected string, found number"), "{error:#?}");
        assert!(error.hint.as_ref().unwrap().contains("skills.count(args: { path: string"), "{error:#?}");
    }
    let error = error(&gateway, "await skills.cuont({ path: 'a' })").await;
    assert!(error.hint.as_ref().unwrap().contains("did you mean skills.count?"), "{error:#?}");
}

#[tokio::test]
async fn what_a_script_with_a_name_throws_names_its_file_and_the_place_of_the_call() {
    let inner = "export default async (args: { n: number }) => {\n  await null;\n  return null.length;\n};\n";
    let outer = "export default async () => {\n  return await skills.inner({ n: 1 });\n};\n";
    let folder = Folder::new(&[("inner.ts", inner), ("outer.ts", outer)]);
    let gateway = folder.gateway();
    let error = error(&gateway, "const a = 1;\n  await skills.outer();").await;
    assert_eq!((error.kind, error.line, error.column), (ErrorKind::Exception, Some(2), Some(16)), "{error:#?}");
    assert!(error.message.contains("TypeError") && error.message.contains("(in skills/inner.ts:3:"), "{error:#?}");
    let stack = error.stack.unwrap();
    let places: Vec<&str> = stack.lines().map(|line| line.rsplit_once('(').unwrap().1).collect();
    assert!(
        places[0].starts_with("skills/inner.ts:3:")
            && places[1].starts_with("skills/outer.ts:2:")
            && places[2].starts_with("script:2:"),
        "{stack}"
    );
    // The script can catch it, as its own.
    let caught =
        "try { await skills.inner({ n: 1 }) } catch (error) { return [error instanceof TypeError, error.stack] }";
    let caught = value(&gateway, caught).await;
    assert_eq!(caught[0], true);
    assert!(caught[1].as_str().unwrap().contains("skills/inner.ts:3:"), "{caught}");
}

#[tokio::test]
async fn a_script_with_a_name_that_never_ends_ends_the_run_by_its_limit() {
    let folder = Folder::new(&[("endless.ts", "export default () => {\n  let n = 0;\n  for (;;) n++;\n};\n")]);
    let gateway = folder.gateway_with(Limits { fuel: 200_000_000, ..Limits::default() });
    let error = error(&gateway, "const a = 1;\nawait skills.endless();").await;
    assert_eq!((error.kind, error.line), (ErrorKind::Fuel, Some(2)), "{error:#?}");
    assert!(error.message.contains("(at skills/endless.ts:3:"), "{error:#?}");
}

#[tokio::test]
async fn rules_judge_what_a_script_with_a_name_calls_and_the_script_itself() {
    let remove = "export default async () => await fs.move_file({ source: '/a', destination: '/b' });\n";
    let folder = Folder::new(&[("remove.ts", remove), ("count.ts", COUNT)]);
    let gateway = folder.gateway_by_rules(
        "default = 'allow'\n[[rule]]\nid = 'no-moves'\ntools = 'fs.move_file'\nargs.source = { is = '/a' }\nthen = 'deny'\n\
         [[rule]]\nid = 'uncounted'\ntools = 'skills.count'\nargs.path = { is = '/secret' }\nthen = 'deny'\n",
    );
    let outcome = run(&gateway, "await skills.remove()").await;
    let error = outcome.result.expect_err("the rules deny it");
    assert_eq!(error.kind, ErrorKind::Denied, "{error:#?}");
    assert!(error.message.contains("'no-moves'") && error.message.contains("skills/remove.ts:1:"), "{error:#?}");
    assert_eq!(outcome.calls.last().unwrap().rule.as_deref(), Some("no-moves"));
    let path = "const path = ['/secret'][0]; await skills.count({ path })";
    let denied = run(&gateway, path).await.result.expect_err("the rules deny it");
    assert!(denied.message.contains("'uncounted'"), "{denied:#?}");
    assert!(run(&gateway, "await skills.count({ path: '/a' })").await.result.is_ok());
}

#[tokio::test]
async fn one_that_cannot_be_called_hides_no_other_and_says_why() {
    let folder = Folder::new(&[
        ("count.ts", COUNT),
        ("syntax.ts", "export default async () => {\n  const = 1;\n};\n"),
        ("typed.ts", "export default async (args: {\n  when: Date;\n}) => 1;\n"),
        ("nothing.ts", "export const a = 1;\n"),
        ("untyped.js", "export default (args) => args;\n"),
        (
            "written.js",
            "/** Gives back.\n * @schema {\"type\": \"object\", \"properties\": {\"a\": {\"type\": \"number\"}}} */\nexport default (args) => args.a;\n",
        ),
        ("doubled.ts", "export default async (args: { a: string; a: number }) => 1;\n"),
        ("written_wrong.js", "/** @schema {\"type\": \"wrong\"} */\nexport default (args) => args.a;\n"),
        ("UPPER.ts", COUNT),
    ]);
    let gateway = folder.gateway();
    let listed = gateway.toolbox().listed_skills().await;
    let state = |name: &str| listed.skills.iter().find(|skill| skill.name == name).unwrap();
    assert_eq!(
        listed.skills.iter().filter(|skill| skill.ok).map(|skill| &*skill.name).collect::<Vec<_>>(),
        ["count", "written"]
    );
    assert_eq!(listed.problems.len(), 1, "{listed:#?}");
    for (name, said) in [
        ("syntax", "skills/syntax.ts:2:"),
        ("typed", "skills/typed.ts:2:9: SyntaxError: the type Date is not declared in this file"),
        ("nothing", "its default export is not a function"),
        ("untyped", "skills/untyped.js:1:17: SyntaxError: the parameter has no type"),
        ("doubled", "skills/doubled.ts:1:42: SyntaxError: this member stands here twice"),
        ("written_wrong", "its schema cannot be used to check arguments"),
    ] {
        let why = state(name).error.as_deref().unwrap_or_else(|| panic!("{name} can be called"));
        assert!(why.contains(said), "{name}: {why}");
        let described = value(&gateway, &format!("(await tools.describe('skills.{name}')).description")).await;
        assert!(described.as_str().unwrap().contains(said), "{described}");
        let error = error(&gateway, &format!("await skills.{name}()")).await;
        assert!(error.message.contains(said), "{error:#?}");
    }
    assert_eq!(
        value(&gateway, "[await skills.written({ a: 3 }), (await skills.count({ path: '/' })).path]").await,
        json!([3, "/"])
    );
}

#[tokio::test]
async fn every_type_that_is_promised_has_its_schema() {
    let text = "type Label = 'a' | 'b';\ninterface Where { line: number; /** From 1. */ column?: number }\n\
        export default async function all(args: {\n  s: string; n: number; b: boolean; z: null; l: Label; one: 3 | -1 | true;\n\
        list: string[]; more: Array<Where>; still: readonly number[]; map: Record<string, boolean>;\n\
        open: { [name: string]: number }; either: string | null; 'quoted-name'?: (number) | string[] }\n\
        ): Promise<{ done: boolean }> { return { done: true }; }\n";
    let folder = Folder::new(&[("all.ts", text)]);
    let described = value(&folder.gateway(), "await tools.describe('skills.all')").await;
    let place = json!({ "type": "object", "properties": { "line": { "type": "number" }, "column": { "description": "From 1.", "type": "number" } },
        "required": ["line"], "additionalProperties": false });
    let expected = json!({
        "s": { "type": "string" }, "n": { "type": "number" }, "b": { "type": "boolean" }, "z": { "type": "null" },
        "l": { "enum": ["a", "b"] }, "one": { "enum": [3, -1, true] },
        "list": { "type": "array", "items": { "type": "string" } }, "more": { "type": "array", "items": place },
        "still": { "type": "array", "items": { "type": "number" } },
        "map": { "type": "object", "additionalProperties": { "type": "boolean" } },
        "open": { "type": "object", "properties": {}, "additionalProperties": { "type": "number" } },
        "either": { "anyOf": [{ "type": "string" }, { "type": "null" }] },
        "quoted-name": { "anyOf": [{ "type": "number" }, { "type": "array", "items": { "type": "string" } }] },
    });
    assert_eq!(described["inputSchema"]["properties"], expected, "{described:#}");
    assert_eq!(described["outputSchema"]["properties"], json!({ "done": { "type": "boolean" } }));
    for (of, said) in [
        ("any", "the type any"),
        ("unknown", "the type unknown"),
        ("[string]", "a tuple"),
        ("Partial<{ a: 1 }>", "the type Partial"),
        ("() => void", "a function"),
        ("Again", "no type may hold itself"),
        ("bigint", "the type bigint"),
    ] {
        folder
            .put("all.ts", &format!("type Again = {{ more: Again[] }};\nexport default (args: {{ a: {of} }}) => 1;\n"));
        let why = error(&folder.gateway(), "await skills.all({ a: 1 })").await.message;
        assert!(why.contains(said) && why.contains("skills/all.ts:"), "{of}: {why}");
    }
}

#[tokio::test]
async fn scripts_with_names_call_each_other_and_a_circle_is_refused_with_its_way() {
    let folder = Folder::new(&[
        (
            "twice.ts",
            "export default async (args: { n: number }) => (await skills.add({ a: args.n, b: args.n })) + (await skills['add']({ a: 0, b: 0 }));\n",
        ),
        ("add.ts", "export default (args: { a: number; b: number }) => args.a + args.b;\n"),
        // A script whose alias is another's name is not found by it.
        ("open-issues.ts", "export default async () => await skills.c();\n"),
        ("open_issues.ts", "export default () => 5;\n"),
        ("c.ts", "export default async () => await skills.open_issues();\n"),
        ("a.ts", "export default async () => await skills.b();\n"),
        ("b.ts", "export default async () => await skills.a();\n"),
        (
            "by_text.ts",
            "export default async (args: { name: string }) => { await null; return await skills[args.name]({ name: 'by_text' }); };\n",
        ),
        (
            "other.ts",
            "export default async (args: { name: string }) => await tools.call('skills.' + args.name, { name: 'other' });\n",
        ),
    ]);
    let gateway = folder.gateway();
    assert_eq!(value(&gateway, "Promise.all([skills.twice({ n: 2 }), skills.twice({ n: 3 })])").await, json!([4, 6]));
    assert_eq!(value(&gateway, "await skills['open-issues']()").await, 5);
    let shown = error(&gateway, "await skills.a()").await;
    assert!(shown.message.contains("skills.a → skills.b → skills.a"), "{shown:#?}");
    let hidden = error(&gateway, "await skills.by_text({ name: 'other' })").await;
    assert_eq!(hidden.kind, ErrorKind::Exception, "{hidden:#?}");
    assert!(hidden.message.contains("skills.by_text → skills.other → skills.by_text"), "{hidden:#?}");
    let itself = error(&gateway, "await skills.by_text({ name: 'by_text' })").await;
    assert!(itself.message.contains("skills.by_text → skills.by_text"), "{itself:#?}");
}

#[tokio::test]
async fn a_run_is_repeated_with_the_text_of_then_after_the_file_was_changed() {
    let folder = Folder::new(&[("count.ts", COUNT)]);
    let gateway = folder.gateway().with_recording(ByteSize::mib(1));
    let source =
        "const all = []; for (const path of ['/a', '/b']) all.push((await skills.count({ path })).path); return all";
    let outcome = run(&gateway, source).await;
    assert_eq!(outcome.result.as_ref().unwrap().as_str(), r#"["/a","/b"]"#);
    folder.put("count.ts", "export default async () => ({ path: 'changed' });\n");
    let recording = recording(&outcome);
    let again = gateway.replay(&recording).await.unwrap();
    assert_eq!((again.result, again.usage.fuel), (outcome.result, outcome.usage.fuel));
    std::fs::remove_file(folder.path().join("count.ts")).unwrap();
    assert!(gateway.replay(&recording).await.is_ok());
    folder.put("count.ts", "export default async (args: { path: string }) => ({ path: 'changed' });\n");
    assert_eq!(value(&gateway, source).await, json!(["changed", "changed"]), "a change needs no restart");
}

#[tokio::test]
async fn a_sandbox_with_one_slot_reads_scripts_with_names_before_it_is_taken() {
    let folder = Folder::new(&[("count.ts", COUNT)]);
    let options = SandboxOptions { max_live: 1, ..SandboxOptions::default() };
    let sandbox = Arc::new(Sandbox::new(&Image::embedded(), options).unwrap());
    let gateway = Gateway::new(Arc::new(folder.toolbox(None)), sandbox, Limits::default());
    assert_eq!(value(&gateway, "(await skills.count({ path: '/a' })).path").await, "/a");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_has_those_that_there_were_when_it_began_whatever_becomes_of_their_files() {
    let folder = Folder::new(&[("count.ts", COUNT), ("late.ts", "export default (args: { a: Date }) => 1;\n")]);
    let (asks, asked) = mpsc::channel();
    let (go, goes_on) = mpsc::channel::<()>();
    let goes_on = Mutex::new(goes_on);
    let toolbox = folder.toolbox_answering(None, move |_, arguments| {
        if arguments["path"] == "gate" {
            asks.send(()).unwrap();
            goes_on.lock().recv().unwrap();
        }
        json!({ "content": [], "structuredContent": { "got": arguments } })
    });
    let gateway = Gateway::new(Arc::new(toolbox), sandbox().clone(), Limits::default());
    let source = "const late = async () => { try { return await skills.late({ a: 1 }) } catch (error) { return error.message } };\n\
        const first = await late();\nawait fs.list_directory({ path: 'gate' });\n\
        return [first, (await skills.count({ path: '/' })).path, await late()]";
    let running = tokio::spawn({
        let gateway = gateway.clone();
        async move { value(&gateway, source).await }
    });
    tokio::task::spawn_blocking(move || asked.recv().unwrap()).await.unwrap();
    std::fs::remove_file(folder.path().join("count.ts")).unwrap();
    folder.put("late.ts", "export default (args: { a: number }) => args.a;\n");
    assert_eq!(value(&gateway, "return ['count' in skills, await skills.late({ a: 1 })]").await, json!([false, 1]));
    go.send(()).unwrap();
    let got = running.await.unwrap();
    assert!(got[0].as_str().unwrap().contains("the type Date") && got[2] == got[0], "{got:#}");
    assert_eq!(got[1], "/");
}

#[tokio::test]
async fn rules_that_ask_for_an_earlier_call_do_not_take_one_of_these_for_it() {
    let folder = Folder::new(&[("check.ts", "export default () => 1;\n")]);
    let rules = "default = 'allow'\n[[rule]]\nid = 'looked'\ntools = 'fs.list_directory'\nafter = 'skills.check'\nthen = 'deny'\n";
    let gateway = folder.gateway_by_rules(rules);
    let error = error(&gateway, "await skills.check(); await fs.list_directory({ path: '/' })").await;
    assert!(error.message.contains("looked"), "{error:#?}");
}

#[tokio::test]
async fn a_run_that_is_cancelled_does_not_wait_until_they_are_read() {
    let folder = Folder::new(&[("one.ts", COUNT), ("two.ts", COUNT)]);
    let held = |queue_timeout| {
        let options = SandboxOptions { max_live: 1, queue_timeout, ..SandboxOptions::default() };
        Arc::new(Sandbox::new(&Image::embedded(), options).unwrap())
    };
    let gateway_over =
        |sandbox: &Arc<Sandbox>| Gateway::new(Arc::new(folder.toolbox(None)), sandbox.clone(), Limits::default());
    // Another run has the only slot, and keeps it.
    let sandbox = held(Duration::from_secs(3_600));
    let (has_it, began) = tokio::sync::oneshot::channel();
    let has_it = Mutex::new(Some(has_it));
    let tools = ToolSet::new().with("other", "began", Effect::ReadOnly, move |_| {
        has_it.lock().take().map(|has_it| has_it.send(()));
        std::future::pending::<Result<Value, String>>()
    });
    let keeps = sandbox.run("await other.began({})").tools(Arc::new(tools));
    let cancelled = async {
        began.await.unwrap();
        let outcome = gateway_over(&sandbox).execute("1").cancel_on(std::future::ready(())).await;
        assert_eq!(outcome.result.unwrap_err().kind, ErrorKind::Cancelled);
    };
    tokio::select! {
        outcome = keeps => panic!("{outcome:#?}"),
        () = cancelled => {}
    }
}

#[cfg(unix)]
#[tokio::test]
async fn links_and_what_is_too_large_are_refused_and_nothing_else_with_them() {
    let folder = Folder::new(&[("count.ts", COUNT), ("large.ts", &format!("{COUNT}//{}", "x".repeat(64 * 1024)))]);
    let elsewhere = Folder::new(&[("secret.ts", "export default () => 'secret';\n")]);
    std::os::unix::fs::symlink(elsewhere.path().join("secret.ts"), folder.path().join("link.ts")).unwrap();
    std::fs::create_dir(folder.path().join("folder.ts")).unwrap();
    let gateway = folder.gateway();
    for (name, said) in
        [("large", "has more than 65536 bytes"), ("link", "it is a link"), ("folder", "it is not a file")]
    {
        let error = error(&gateway, &format!("await skills.{name}()")).await;
        assert!(error.message.contains(said), "{error:#?}");
    }
    assert_eq!(value(&gateway, "(await skills.count({ path: '/a' })).path").await, "/a");
    for number in 0..17 {
        folder.put(&format!("big{number}.ts"), &format!("{COUNT}//{}", "x".repeat(63 * 1024)));
    }
    let error = error(&gateway, "await skills.count({ path: '/a' })").await;
    assert!(error.message.contains("together have more than 1048576 bytes"), "{error:#?}");
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let listed = gateway.toolbox().listed_skills().await;
    assert!(listed.skills.is_empty() && listed.problems[0].contains("other users may write"), "{listed:#?}");
    // Nor is one that others could replace.
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    let open = tempfile::tempdir().unwrap();
    std::fs::create_dir(open.path().join("theirs")).unwrap();
    std::fs::rename(folder.path().join("count.ts"), open.path().join("theirs/count.ts")).unwrap();
    std::fs::set_permissions(open.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let skills = Skills::new(vec![SkillFolder { path: open.path().join("theirs"), is_named: true }]);
    let toolbox = Toolbox::new(Vec::new(), BuiltIns::new(), Options::new("belljar-tests", "0")).with_skills(skills);
    let gateway = Gateway::new(Arc::new(toolbox), sandbox().clone(), Limits::default());
    let listed = gateway.toolbox().listed_skills().await;
    assert!(listed.skills.is_empty() && listed.problems[0].contains("other users may write"), "{listed:#?}");
}

#[tokio::test]
async fn the_script_with_a_name_that_a_limit_ended_is_the_one_that_ran() {
    let count = "export default async (args: { most: number }) => {\n  let n = 0;\n  while (n < args.most) n++;\n};\n";
    let folder = Folder::new(&[("one.ts", count), ("other.ts", count)]);
    let gateway = folder.gateway_with(Limits { fuel: 200_000_000, ..Limits::default() });
    for (source, file) in [
        ("await Promise.all([skills.one({ most: 9000 }), skills.other({ most: 1e15 })])", "skills/other.ts:3"),
        // What was reported about the script in between does not hide where it goes on.
        (
            "await skills.one({ most: 9000 });\nfor (let n = 0; n < 9000; n++);\nawait skills.one({ most: 1e15 })",
            "skills/one.ts:3",
        ),
    ] {
        let error = error(&gateway, source).await;
        assert_eq!(error.kind, ErrorKind::Fuel, "{error:#?}");
        assert!(format!("{error:?}").contains(file), "{file}: {error:#?}");
    }
}

#[test]
fn the_owner_lists_checks_runs_and_saves_scripts_with_names() {
    let terminal = Terminal::new();
    terminal.file("belljar.toml", "[approvals]\nallow_yes = true\n[servers.demo]\nbuiltin = 'demo'\n");
    let belljar = |arguments: &[&str]| terminal.belljar(&[arguments, &["--config", "belljar.toml"]].concat());
    let script = "#!/usr/bin/env belljar\nconst { projects } = await demo.list_projects({});\nprojects.length";
    let outcome = belljar(&["run", "--json", "--ledger", "recordings", "--code", script]).json();
    let name = outcome["run"].as_str().unwrap();

    let saved = belljar(&["skills", "save", "projects", "--run", name, "--yes"]);
    assert_eq!(saved.code, 0, "{saved:#?}");
    let text = std::fs::read_to_string(terminal.folder.path().join("skills/projects.ts")).unwrap();
    assert!(text.contains("export default async () => {") && text.contains("return projects.length"), "{text}");
    let again = belljar(&["skills", "save", "projects", "--run", name, "--yes"]);
    assert_eq!((again.code, again.stderr.contains("--force")), (2, true), "{again:#?}");
    assert_eq!(belljar(&["skills", "save", "projects", "--run", name, "--yes", "--force"]).code, 0);
    let folder = terminal.folder.path().join("skills");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "nothing unfinished is left");
    terminal.file("skills/projects.js", "export default () => 1;\n");
    let hidden = belljar(&["skills", "save", "projects", "--run", name, "--yes", "--force"]);
    assert_eq!((hidden.code, hidden.stderr.contains("projects.js has this name")), (2, true), "{hidden:#?}");
    std::fs::remove_file(folder.join("projects.js")).unwrap();
    terminal.file("team/triage.ts", "export default () => 'theirs';\n");
    let more = "[skills]\nfolders = ['team']\n[approvals]\nallow_yes = true\n[servers.demo]\nbuiltin = 'demo'\n";
    terminal.file("belljar.toml", more);
    let theirs = belljar(&["skills", "save", "triage", "--run", name, "--yes"]);
    assert_eq!((theirs.code, theirs.stderr.contains("team/triage.ts has this name")), (2, true), "{theirs:#?}");
    assert_eq!(belljar(&["skills", "save", "constructor", "--run", name, "--yes"]).code, 2);
    std::fs::remove_dir_all(terminal.folder.path().join("team")).unwrap();
    terminal.file("belljar.toml", "[approvals]\nallow_yes = true\n[servers.demo]\nbuiltin = 'demo'\n");
    let unasked = belljar(&["skills", "save", "other", "--run", name]);
    assert_eq!((unasked.code, unasked.stderr.contains("terminal")), (2, true), "{unasked:#?}");
    let outside = belljar(&["skills", "save", "../other", "--run", name, "--yes"]);
    assert_eq!(outside.code, 2, "{outside:#?}");

    let ran = belljar(&["skills", "run", "projects", "--json"]).json();
    assert_eq!(ran["value"], outcome["value"], "{ran:#}");
    let fenced = "Here it is:\n\n```ts\nasync (args) => 1\n```\n";
    let outcome = belljar(&["run", "--json", "--ledger", "recordings", "--code", fenced]).json();
    let refused = belljar(&["skills", "save", "fenced", "--run", outcome["run"].as_str().unwrap(), "--yes"]);
    assert_eq!(refused.code, 0, "{refused:#?}");
    let text = std::fs::read_to_string(terminal.folder.path().join("skills/fenced.ts")).unwrap();
    assert!(text.ends_with("export default async (args) => 1\n"), "{text}");

    let checked = belljar(&["skills", "check", "--json"]);
    assert_eq!(checked.code, 1, "{checked:#?}");
    let checked = checked.json();
    let is_ok: Vec<(&str, bool)> = checked["skills"]
        .as_array()
        .unwrap()
        .iter()
        .map(|skill| (skill["name"].as_str().unwrap(), skill["ok"].as_bool().unwrap()))
        .collect();
    assert_eq!(is_ok, [("fenced", false), ("projects", true)]);
    assert_eq!(belljar(&["skills", "check", "projects"]).code, 0);
    let missing = belljar(&["skills", "check", "project"]);
    assert_eq!((missing.code, missing.stderr.contains("did you mean projects?")), (2, true), "{missing:#?}");
    let listed = belljar(&["skills", "list"]);
    assert!(listed.stdout.contains("skills.projects()"), "{listed:#?}");
    let found = belljar(&["search", "projects", "--json"]).json();
    assert!(found["results"].as_array().unwrap().iter().any(|each| each["path"] == "skills.projects"), "{found:#}");
    let called = belljar(&["call", "skills.projects", "--json"]).json();
    assert!(called["error"]["hint"].as_str().unwrap().contains("belljar skills run projects"), "{called:#}");
}

const CLOSES: &str = "/** Closes an issue. */\n\
    export default async (args: { id: number }) => {\n\
    \x20 const issue = await demo.update_issue({ id: args.id, state: 'closed' });\n\
    \x20 return issue.state;\n\
    };\n";

/// The outcome of a run that waits for a decision inside `skills.close`, and is resumed in another
/// process after `change` was applied to the folder of scripts.
fn gone_on(code: &str, change: impl Fn(&Path)) -> Value {
    let (terminal, config) = asking("[approvals]\nallow_yes = true\nhold = '1ms'\n");
    terminal.file("skills/close.ts", CLOSES);
    terminal.file("skills/leaf.ts", "export default () => 1;\n");
    let run = |arguments: &[&str]| {
        Answer::of(terminal.command(&[arguments, &["--no-daemon", "--config", &config]].concat()).output().unwrap())
    };
    let waits = run(&["run", "--code", code]);
    assert_eq!(waits.code, 4, "{waits:?}");
    let name = waits.stderr.split("belljar resume ").nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    let id = waiting(&terminal)["id"].take();
    assert_eq!(terminal.belljar(&["approve", id.as_str().unwrap(), "--yes"]).code, 0);
    change(&terminal.folder.path().join("skills"));
    run(&["resume", &name, "--json"]).json()
}

#[test]
fn a_run_that_waits_for_a_decision_inside_one_goes_on_there_with_what_it_has_of_them() {
    let code = "const leaf = await skills.leaf();\nreturn [leaf, await skills.close({ id: 3 }), await skills.leaf()]";
    let changed = |skills: &Path| {
        std::fs::write(skills.join("close.ts"), CLOSES.replace("issue.state;", "'changed';")).unwrap();
        std::fs::write(skills.join("leaf.ts"), "export default () => 2;\n").unwrap();
    };
    let broken = |skills: &Path| std::fs::write(skills.join("leaf.ts"), "export default").unwrap();
    let gone = |skills: &Path| std::fs::remove_file(skills.join("leaf.ts")).unwrap();
    let all_gone = |skills: &Path| std::fs::remove_dir_all(skills).unwrap();
    for change in [&changed as &dyn Fn(&Path), &broken, &gone, &all_gone] {
        let outcome = gone_on(code, change);
        assert_eq!(outcome["value"], json!([1, "closed", 1]), "{outcome:#}");
        let calls = outcome["calls"].as_array().unwrap().iter();
        let calls: Vec<&str> = calls.map(|call| call["tool"].as_str().unwrap()).collect();
        assert_eq!(calls, ["leaf", "close", "update_issue", "leaf"]);
    }
    // It does not get scripts that it has not used before.
    let code = "await skills.close({ id: 3 });\nreturn await skills.leaf()";
    for change in [&broken as &dyn Fn(&Path), &gone] {
        let outcome = gone_on(code, change);
        let message = outcome["error"]["message"].as_str().unwrap_or_else(|| panic!("{outcome:#}"));
        assert!(message.contains("skills.leaf was not there, or could not be called"), "{message}");
    }
}

#[test]
fn a_run_in_a_process_of_its_own_has_them_too() {
    let terminal = Terminal::new();
    terminal.file("belljar.toml", "[runs]\nprocess = true\n[servers.demo]\nbuiltin = 'demo'\n");
    terminal.file("skills/close.ts", CLOSES);
    terminal.file("skills/throws.ts", "export default () => {\n  throw new RangeError('too far');\n};\n");
    let run = |code: &str| terminal.belljar(&["run", "--config", "belljar.toml", "--json", "--code", code]).json();
    assert_eq!(run("await skills.close({ id: 3 })")["value"], "closed");
    let thrown = run("await skills.throws()");
    assert!(thrown["error"]["message"].as_str().unwrap().contains("(in skills/throws.ts:2:9)"), "{thrown:#}");
}

#[test]
fn a_program_whose_host_names_them_has_them_with_the_tools_that_it_names() {
    let terminal = Terminal::new();
    terminal.file("belljar.toml", "[servers.demo]\nbuiltin = 'demo'\n");
    terminal.file("skills/close.ts", CLOSES);
    let (mut host, _) = Host::greeted(&terminal, &["--config", "belljar.toml"]);
    let code = "return await skills.close({ id: 3 })";
    for own in [json!(true), json!(["skills", "demo"]), json!(["skills.close", "demo.update_issue"])] {
        let outcome = host.outcome(json!({ "code": code, "belljar": own }));
        assert_eq!(outcome["value"], "closed", "{outcome:#}");
    }
    // It calls on behalf of its caller, and brings no tools of its own.
    let outcome = host.outcome(json!({ "code": code, "belljar": ["skills.close"] }));
    assert!(outcome["error"]["message"].as_str().unwrap().contains("demo is not defined"), "{outcome:#}");
    assert_eq!(host.outcome(json!({ "code": "typeof skills" }))["value"], "undefined");
    let refused = host.run(json!({ "code": "1", "belljar": ["skills.closes"] }));
    assert!(refused["error"]["message"].as_str().unwrap().contains("did you mean 'close'?"), "{refused}");
}

#[test]
fn without_a_folder_there_is_no_name_for_scripts() {
    let terminal = Terminal::new();
    terminal.file("belljar.toml", "[servers.demo]\nbuiltin = 'demo'\n");
    let typed = terminal.belljar(&["run", "--config", "belljar.toml", "--json", "--code", "typeof skills"]).json();
    assert_eq!(typed["value"], Value::from("undefined"), "{typed:#}");
}
