//! What is too large to be shown is kept, for scripts of the same holder only: previews over MCP,
//! `artifacts` in scripts, resources, files and their handles.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use belljar_approvals::{By, Change, Channel, Decision};
use belljar_gateway::{Approvals, ArtifactStore, Asker, Gateway, Holder, RunLedger, report};
use belljar_ledger::{Ledger as _, Options, QuestionFilter, SqliteLedger};
use belljar_model::{
    ArtifactSettings, ByteSize, ErrorKind, KeptOf, LedgerKeep, LedgerLevel, Limits, LimitsPatch, Media, Outcome,
    Recorded,
};
use belljar_policy::{Policy, absolute_folder};
use belljar_recording::{Entry, Question};
use belljar_sandbox::Recording;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    context_cost::Client,
    http::{Served, messages, rest, result, token},
    stub_server::{Stub, gateway, run, text, toolbox_of, value},
    support::{Terminal, sandbox},
};

/// A store and a ledger in this folder, as a separate process would have them.
fn ledger(folder: &TempDir) -> SqliteLedger {
    SqliteLedger::new(Some(folder.path()), Options { fsync: false, keep: LedgerKeep::default() })
}

fn holder(principal: Option<&str>, workspace: &str) -> Holder {
    Holder { principal: principal.map(Arc::from), workspace: workspace.into() }
}

/// A gateway of the owner with artifacts in this folder.
fn office_with(folder: &TempDir, stubs: &[(&str, Stub)], rules: Option<&str>) -> Gateway {
    let ledger = ledger(folder);
    let settings = ArtifactSettings::default();
    let artifacts = ArtifactStore { store: Arc::new(ledger.artifacts(settings)), settings };
    let kept = RunLedger {
        ledger: Arc::new(ledger),
        required: false,
        level: LedgerLevel::Recordings,
        max_recording: ByteSize::mib(32),
        redact: Arc::default(),
    };
    let toolbox = toolbox_of(stubs, Vec::new(), |_| {}).with_ledger(kept).with_artifacts(artifacts);
    let specs: Vec<_> = stubs
        .iter()
        .map(|(name, _)| {
            let transport = belljar_model::Transport::BuiltIn((*name).to_owned());
            belljar_model::ServerSpec::new(*name, transport)
        })
        .collect();
    let toolbox = match rules {
        Some(rules) => {
            let policy = Policy::parse(rules, &absolute_folder).unwrap_or_else(|problems| panic!("{problems}"));
            toolbox.with_policy(Arc::new(policy), &specs)
        }
        None => toolbox,
    };
    Gateway::new(Arc::new(toolbox), sandbox().clone(), Limits::default()).with_holder(holder(None, "/work"))
}

fn office(folder: &TempDir) -> Gateway {
    office_with(folder, &[], None)
}

fn kept(outcome: &Outcome, of: KeptOf) -> String {
    let part = outcome.kept.iter().find(|part| part.of == of).unwrap_or_else(|| panic!("{outcome:#?}"));
    part.id.unwrap_or_else(|| panic!("{part:?}")).to_string()
}

fn recording(outcome: &Outcome) -> Recording {
    let Some(Recorded::Whole(bytes)) = &outcome.recording else { panic!("{outcome:#?}") };
    Recording::read(bytes.clone()).unwrap()
}

/// The questions about artifacts in a recording.
fn questions(recording: &Recording) -> usize {
    let is_one = |entry: &Entry<'_>| matches!(entry, Entry::Catalog { question: Question::Artifacts(_), .. });
    recording.entries().filter(is_one).count()
}

const ROWS: &str = "Array.from({ length: 5_000 }, (_, id) => ({ id, name: 'row ' + id, note: id === 4321 ? 'the needle is here' : 'hay' }))";

#[test]
fn a_client_gets_a_preview_of_what_is_large_and_a_later_process_has_all_of_it() {
    for more in [&[][..], &["--daemon"]] {
        let terminal = if more.is_empty() { Terminal::new() } else { Terminal::with_daemon() };
        let execute = |code: &str| Client::connect(&terminal, more).call("execute_code", json!({ "code": code }));
        let answer = execute(&format!("return {{ rows: {ROWS}, more: 1 }}"));
        let outcome = &answer["structuredContent"];
        assert_eq!(outcome["ok"], json!(true), "{answer:#}");
        let preview = &outcome["value"];
        assert_eq!(preview["rows"].as_array().unwrap().len(), 4, "{answer:#}");
        assert_eq!((&preview["rows"][0]["name"], &preview["more"]), (&json!("row 0"), &json!(1)), "{answer:#}");
        let id = outcome["artifact"]["id"].as_str().unwrap();
        assert!(outcome["artifact"]["bytes"].as_u64().unwrap() > 200_000, "{answer:#}");
        let shown = answer["content"][0]["text"].as_str().unwrap();
        assert!(shown.contains(&format!("artifacts.get(\"{id}\")")) && shown.contains("artifacts.search("), "{shown}");
        assert!(shown.len() < 6_000, "{} bytes are shown", shown.len());
        // In another process, since each client starts one; with a daemon, that is another request.
        let read = format!(
            "const rows = (await artifacts.get({id:?})).rows;\n\
             const [hit] = await artifacts.search('needle', {{ in: {id:?}, limit: 3 }});\n\
             return [rows.length, rows[4321].note, hit.artifact === {id:?}, hit.pointer, hit.text.includes('needle'), hit.score > 0]"
        );
        let answer = execute(&read);
        let said = &answer["structuredContent"]["value"];
        assert_eq!(said, &json!([5_000, "the needle is here", true, said[3], true, true]), "{answer:#}");
        assert!(said[3].as_str().unwrap().starts_with("/rows/4321"), "{said:#}");
        assert!(answer["structuredContent"].get("artifact").is_none(), "what is small is whole: {answer:#}");
        if !more.is_empty() {
            assert_eq!(terminal.belljar(&["daemon", "stop"]).code, 0);
        }
    }
}

#[tokio::test]
async fn megabytes_of_a_tool_become_two_lines_now_and_are_searched_runs_later() {
    let folder = tempfile::tempdir().unwrap();
    let page: String = (0..60_000).map(|line| format!("line {line} of the log: all is well\n")).collect();
    let page =
        page.replace("line 41234 of the log: all is well", "line 41234 of the log: connection refused by 10.0.0.7");
    let fetch = Stub::new(json!([{ "name": "page", "inputSchema": { "type": "object" } }]), move |_, _| text(&page));
    let office = office_with(&folder, &[("web", fetch)], None).with_previews();
    let first = run(
        &office,
        "const page = await web.page({}); const { id, bytes } = await artifacts.save('log', page); return [id, bytes > 2e6, page.split('\\n')[0]]",
    )
    .await;
    assert!(first.kept.is_empty(), "{first:#?}");
    let said = first.result.unwrap().to_value().unwrap();
    assert_eq!((&said[1], &said[2]), (&json!(true), &json!("line 0 of the log: all is well")));
    for _ in 0..10 {
        assert_eq!(value(&office, "return 1").await, 1);
    }
    // As another process would.
    let later = office_with(&folder, &[], None);
    // A search waits for the index of what was stored before, up to a bound.
    let is_found = "return (await artifacts.search('connection refused', { in: 'log', limit: 1 })).length";
    while value(&later, is_found).await != json!(1) {}
    let found = value(
        &later,
        "const [hit] = await artifacts.search('connection refused', { in: 'log', limit: 1 });\n\
         const whole = await artifacts.get('log');\n\
         const at = whole.indexOf('connection');\n\
         return [hit.text.includes('10.0.0.7'), hit.artifact, await artifacts.text('log', { from: at, to: at + 18 }), whole.length]",
    )
    .await;
    assert_eq!((&found[0], &found[1], &found[2]), (&json!(true), &said[0], &json!("connection refused")), "{found:#}");
}

#[tokio::test]
async fn all_five_functions_work_and_are_repeated_exactly_by_a_replay_that_stores_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let office = office(&folder).with_recording(ByteSize::mib(8));
    let source = "const saved = await artifacts.save('notes', { a: ['eins', 'zwei'], b: 'gr\\u00fc\\u00df dich \\u{1f600}' });\n\
        const text = await artifacts.save('text', 'first line\\nsecond line');\n\
        const listed = (await artifacts.list()).map(({ name, kind, bytes }) => [name, kind, bytes]).sort();\n\
        const none = await artifacts.get('nowhere').catch(e => [e.name, e.message, typeof e.hint]);\n\
        return [saved.name, await artifacts.get('notes'), await artifacts.get(saved.id), await artifacts.get(text),\n\
            await artifacts.text('text', { from: 6, to: 10 }), await artifacts.text('text'), await artifacts.text('notes', { to: 5 }),\n\
            (await artifacts.search('zwei')).map(hit => [hit.artifact === saved.id, hit.pointer, hit.text]), listed, none]";
    let outcome = run(&office, source).await;
    let said = outcome.result.clone().unwrap_or_else(|error| panic!("{error:#?}")).to_value().unwrap();
    let notes = json!({ "a": ["eins", "zwei"], "b": "grüß dich 😀" });
    assert_eq!((&said[0], &said[1], &said[2]), (&json!("notes"), &notes, &notes));
    assert_eq!((&said[3], &said[4]), (&json!("first line\nsecond line"), &json!("line")), "{said:#}");
    assert_eq!((&said[5], &said[6]), (&json!("first line\nsecond line"), &json!("{\"a\":")), "{said:#}");
    assert_eq!((&said[7][0][0], said[7].as_array().unwrap().len()), (&json!(true), 1), "{said:#}");
    assert_eq!(said[8][0][0], "notes", "{said:#}");
    assert_eq!(said[8][1], json!(["text", "text", 22]), "{said:#}");
    assert_eq!((&said[9][0], &said[9][2]), (&json!("TypeError"), &json!("string")), "{said:#}");

    let recording = recording(&outcome);
    assert_eq!(questions(&recording), 11);
    assert_eq!(value(&office, "return (await artifacts.list()).length").await, 2);
    // Where there are no artifacts at all, and where there are some.
    for replaying in [gateway(&[], Vec::new()), office.clone()] {
        let replayed = replaying.replay(&recording).await.unwrap();
        assert_eq!(replayed.result.unwrap().to_value().unwrap(), said);
        assert_eq!(replayed.usage.fuel, outcome.usage.fuel);
    }
    assert_eq!(value(&office, "return (await artifacts.list()).length").await, 2);
    // Another script gets what was recorded, and nothing else.
    let rehearsed = office
        .rehearse(
            "return [await artifacts.get('notes'), await artifacts.get('text').catch(e => e.message)]",
            &recording,
        )
        .await;
    let rehearsed = rehearsed.unwrap().result.unwrap().to_value().unwrap();
    assert_eq!(rehearsed[0], notes);
    assert!(rehearsed[1].as_str().unwrap().contains("the recording has no answer"), "{rehearsed:#}");
}

#[tokio::test]
async fn wrong_arguments_are_type_errors_that_say_what_to_try_and_ask_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let office = office(&folder).with_recording(ByteSize::mib(8));
    for source in [
        "artifacts.get()",
        "artifacts.get(5)",
        "artifacts.get('')",
        "artifacts.search()",
        "artifacts.search('')",
        "artifacts.search(['a'])",
        "artifacts.search('a', 'id')",
        "artifacts.search('a', { in: 5 })",
        "artifacts.search('a', { limit: 'many' })",
        "artifacts.save()",
        "artifacts.save('a')",
        "artifacts.save('a', undefined)",
        "artifacts.save('a', () => 1)",
        "artifacts.save('a', Symbol('x'))",
        "artifacts.save('a', artifacts.list())",
        "artifacts.save(1, 2)",
        "artifacts.text('a', 3)",
        "artifacts.text('a', { from: -1 })",
        "artifacts.text('a', { from: 1.5 })",
        "artifacts.text('a', { to: 'end' })",
    ] {
        let outcome = run(&office, &format!("const asked = {source};\nconst isPromise = asked instanceof Promise;\nreturn await asked.then(() => 'no error', e => [isPromise, e.name, typeof e.hint, e instanceof TypeError])")).await;
        let said = outcome.result.clone().unwrap().to_value().unwrap();
        assert_eq!(said, json!([true, "TypeError", "string", true]), "{source}");
        let asked = if source.contains("artifacts.list()") { 1 } else { 0 };
        assert_eq!(questions(&recording(&outcome)), asked, "{source}");
    }
    // Errors found by the host are reported in the same way, with the line of the script.
    for source in [
        "artifacts.get('a_0000000000001')",
        "artifacts.get('x\\n')",
        "artifacts.search('?!', {})",
        "artifacts.save('a_0000000000001', 1)",
    ] {
        let error = run(&office, &format!("\nawait {source}")).await.result.expect_err(source);
        assert_eq!((error.kind, error.line), (ErrorKind::Exception, Some(2)), "{source}: {error:#?}");
        assert!(error.message.starts_with("TypeError: ") && error.hint.is_some(), "{source}: {error:#?}");
    }
    let error =
        run(&office, "const cycle = {}; cycle.me = cycle; await artifacts.save('a', cycle)").await.result.unwrap_err();
    assert!(error.message.contains("TypeError"), "{error:#?}");
}

#[tokio::test]
async fn principals_and_workspaces_see_nothing_of_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let all = office(&folder);
    let (ann, bob) = (all.with_holder(holder(Some("ann"), "/w")), all.with_holder(holder(Some("bob"), "/w")));
    let id = value(&ann, "return (await artifacts.save('secret', ['the needle'])).id").await;
    let look = format!(
        "return [await artifacts.get({id}).catch(e => e.message), await artifacts.get('secret').catch(e => e.name),\n\
           await artifacts.text({id}).catch(e => e.name), await artifacts.list(), await artifacts.search('needle'),\n\
           await artifacts.search('needle', {{ in: {id} }}).catch(e => e.name)]"
    );
    let never = value(&bob, "return await artifacts.get('a_0123456789abc').catch(e => e.message)").await;
    for other in [&bob, &all, &ann.with_holder(holder(Some("ann"), "/other"))] {
        let seen = value(other, &look).await;
        let expected = never.as_str().unwrap().replace("a_0123456789abc", id.as_str().unwrap());
        assert_eq!(seen, json!([expected, "TypeError", "TypeError", [], [], "TypeError"]));
    }
    assert_eq!(value(&ann, "return await artifacts.get('secret')").await, json!(["the needle"]));
    // A value with somebody else's handle shows nothing of it.
    let shown =
        value(&bob, &format!("return {{ type: 'image', artifact: {id}, mimeType: 'image/png', bytes: 3 }}")).await;
    assert_eq!(shown["artifact"], id);
}

#[test]
fn two_tokens_have_artifacts_and_resources_of_their_own() {
    let terminal = Terminal::new();
    let bob = token(&terminal, &["add", "bob"]);
    let served = Served::of(terminal, &[]);
    let answer = result(served.run(&served.token, &format!("return {ROWS}")));
    let id = answer["structuredContent"]["artifact"]["id"].as_str().unwrap_or_else(|| panic!("{answer:#}")).to_owned();
    let uri = format!("belljar://artifacts/{id}");
    let of = |token: &str, code: &str| result(served.run(token, code))["structuredContent"]["value"].take();
    let look = format!(
        "return [await artifacts.get({id:?}).then(all => all.length, e => e.name), (await artifacts.list()).length]"
    );
    assert_eq!(of(&served.token, &look), json!([5_000, 1]));
    assert_eq!(of(&bob, &look), json!(["TypeError", 0]));
    let read =
        |token: &str| messages(&rest(served.send(token, "resources/read", &uri, json!({ "uri": uri })))).pop().unwrap();
    let rows: Value =
        serde_json::from_str(read(&served.token)["result"]["contents"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(rows.as_array().unwrap().len(), 5_000);
    let refused = read(&bob);
    assert!(
        refused.get("result").is_none() && refused["error"]["message"].as_str().unwrap().contains("no such artifact"),
        "{refused:#}"
    );
    let listed = |token: &str| {
        result(served.send(token, "resources/list", "", json!({})))["resources"].as_array().unwrap().len()
    };
    assert_eq!((listed(&served.token), listed(&bob)), (1, 0));
}

#[test]
fn resources_are_paged_and_are_there_only_where_artifacts_are() {
    let terminal = Terminal::new();
    let mut client = Client::connect(&terminal, &[]);
    let code = "const ids = []; for (let i = 0; i < 105; i++) ids.push((await artifacts.save('n' + i, 'text ' + i)).id); return ids";
    let ids = client.call("execute_code", json!({ "code": code }))["structuredContent"]["value"].take();
    let first = client.ask("resources/list", json!({}));
    assert_eq!(first["resources"].as_array().unwrap().len(), 100, "{first:#}");
    let second = client.ask("resources/list", json!({ "cursor": first["nextCursor"] }));
    assert_eq!(second["resources"].as_array().unwrap().len(), 5, "{second:#}");
    assert!(second.get("nextCursor").is_none_or(Value::is_null), "{second:#}");
    let newest = &first["resources"][0];
    assert_eq!(
        (&newest["name"], &newest["mimeType"], &newest["size"]),
        (&json!("n104"), &json!("text/plain"), &json!(8))
    );
    let uri = format!("belljar://artifacts/{}", ids[104].as_str().unwrap());
    assert_eq!(newest["uri"], uri);
    let read = client.ask("resources/read", json!({ "uri": uri }));
    assert_eq!(read["contents"][0]["text"], "text 104", "{read:#}");
    let template = client.ask("resources/templates/list", json!({}));
    assert_eq!(template["resourceTemplates"][0]["uriTemplate"], "belljar://artifacts/{id}");
    for uri in [
        "belljar://artifacts/n104",
        "belljar://artifacts/",
        "file:///etc/passwd",
        "belljar://artifacts/a_0000000000001",
    ] {
        assert!(client.ask("resources/read", json!({ "uri": uri })).is_null(), "{uri}");
    }
    // The same applies to a server that has the daemon do the work, from the moment when its owner
    // says so.
    let config = terminal.file("changing.toml", "");
    let mut client = Client::connect(&terminal, &["--daemon", "--config", config.to_str().unwrap()]);
    assert!(client.ask("resources/list", json!({}))["resources"].is_array());
    terminal.file("changing.toml", "[artifacts]\nenabled = false\n");
    assert!(client.ask("resources/list", json!({})).is_null());
    let config = terminal.file("off.toml", "[artifacts]\nenabled = false\n");
    let without = terminal.file("ledger.toml", "[ledger]\nlevel = 'off'\n");
    for config in [config, without] {
        let mut client = Client::connect(&terminal, &["--config", config.to_str().unwrap()]);
        assert!(client.ask("resources/list", json!({})).is_null());
        let answer = client.call("execute_code", json!({ "code": "return [typeof artifacts, 'x'.repeat(20_000)]" }));
        let shown = answer["content"][0]["text"].as_str().unwrap();
        assert!(shown.starts_with("[\"undefined\",\"xxx") && shown.len() > 20_000, "it is shown whole, as before");
    }
}

#[tokio::test]
async fn labels_are_kept_with_an_artifact_and_come_back_with_it() {
    let rules = "default = 'allow'\n[labels]\nprivate = ['crm.*']\n\
        [[rule]]\nid = 'stays'\ntools = 'web.*'\ncarries = 'private'\nthen = 'deny'\nwhy = 'customers stay here'\n";
    let tool = |name: &str| json!([{ "name": name, "inputSchema": { "type": "object" } }]);
    let stubs = || {
        [("crm", Stub::new(tool("get"), |_, _| text("ada"))), ("web", Stub::new(tool("post"), |_, _| text("posted")))]
    };
    let folder = tempfile::tempdir().unwrap();
    let office = || office_with(&folder, &stubs(), Some(rules));
    assert_eq!(
        value(
            &office(),
            "await artifacts.save('plain', 'weather'); await artifacts.save('customers', await crm.get({})); return 1"
        )
        .await,
        1
    );
    // The label belongs to what was saved after the answer.
    let post = "const post = () => web.post({}).then(() => 'posted', e => e.rule ?? e.message);\n";
    for (read, expected) in [
        ("await artifacts.get('plain')", "posted"),
        ("await artifacts.get('nowhere').catch(() => 0)", "posted"),
        ("await artifacts.search('weather', { in: 'plain' })", "posted"),
        ("await artifacts.get('customers')", "stays"),
        ("await artifacts.text('customers', { to: 0 })", "stays"),
        ("await artifacts.search('ada')", "stays"),
        // That a word is missing says something about what was searched.
        ("await artifacts.search('nobody', { in: 'customers' })", "stays"),
        ("await artifacts.search('nobody')", "stays"),
        ("await artifacts.search('nobody', { in: 'plain' })", "posted"),
        ("await artifacts.list()", "stays"),
    ] {
        let said =
            value(&office(), &format!("{post}const before = await post(); {read}; return [before, await post()]"))
                .await;
        assert_eq!(said, json!(["posted", expected]), "{read}");
    }
    // It is passed on to what is made from it, and to the value of a run that is kept as an
    // artifact.
    value(&office(), "await artifacts.save('copy', (await artifacts.get('customers')).toUpperCase())").await;
    assert_eq!(value(&office(), &format!("{post}await artifacts.get('copy'); return await post()")).await, "stays");
    let large = run(&office().with_previews(), "return (await crm.get({})).repeat(10_000)").await;
    let id = kept(&large, KeptOf::Value);
    assert_eq!(value(&office(), &format!("{post}await artifacts.get({id:?}); return await post()")).await, "stays");
    // Rules that do not know the label keep it.
    let others = "default = 'allow'\n[labels]\nother = ['none.*']\n[[rule]]\nid = 'o'\ntools = 'web.*'\ncarries = 'other'\nthen = 'deny'\n";
    let elsewhere = office_with(&folder, &stubs(), Some(others));
    value(&elsewhere, "await artifacts.save('again', await artifacts.get('customers'))").await;
    assert_eq!(value(&office(), &format!("{post}await artifacts.get('again'); return await post()")).await, "stays");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_waited_for_the_owner_goes_on_with_its_labels_and_its_artifacts() {
    let rules = "default = 'allow'\n[labels]\nprivate = ['crm.*']\n[[rule]]\nid = 'asks'\ntools = 'web.ask'\nthen = 'ask'\n\
        [[rule]]\nid = 'stays'\ntools = 'web.post'\ncarries = 'private'\nthen = 'deny'\n";
    let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
    let stubs = [
        ("crm", Stub::new(json!([tool("get")]), |_, _| text("ada"))),
        ("web", Stub::new(json!([tool("ask"), tool("post")]), |_, _| text("done"))),
    ];
    let folder = tempfile::tempdir().unwrap();
    let (wait, hold, max_resting) = (Duration::from_secs(600), Duration::ZERO, ByteSize::mib(64));
    let approvals = Approvals { desk: None, by_command: true, allow_yes: false, wait, hold, max_resting };
    let office = || office_with(&folder, &stubs, Some(rules)).with_approvals(approvals);
    value(&office(), "await artifacts.save('customers', await crm.get({}))").await;
    let source = "const before = await artifacts.get('customers'); await web.ask({});\n\
        return [before, await web.post({}).catch(e => e.rule), await artifacts.text('customers', { to: 2 })]";
    let waits = run(&office(), source).await;
    assert_eq!(waits.result.unwrap_err().kind, ErrorKind::Approval);
    let owner = ledger(&folder);
    let open = QuestionFilter { open: true, ..QuestionFilter::default() };
    let question = owner.questions(open).await.unwrap().remove(0).question.id;
    let decision = Decision { approve: true, by: By::Owner, channel: Channel::Command, at: SystemTime::now() };
    owner.change_question(Change::Decide(question, decision)).await.unwrap().unwrap();
    let outcome = office().resume(waits.run.unwrap()).await;
    assert_eq!(outcome.result.unwrap().to_value().unwrap(), json!(["ada", "stays", "ad"]));
}

#[tokio::test]
async fn a_principal_who_reads_a_labelled_artifact_is_remembered() {
    let rules = "default = 'allow'\n[labels]\nmemory = '1h'\nprivate = ['crm.*']\n\
        [[rule]]\nid = 'stays'\ntools = 'web.*'\ncarries = 'private'\nthen = 'deny'\n";
    let tool = |name: &str| json!([{ "name": name, "inputSchema": { "type": "object" } }]);
    let stubs =
        [("crm", Stub::new(tool("get"), |_, _| text("ada"))), ("web", Stub::new(tool("post"), |_, _| text("posted")))];
    let folder = tempfile::tempdir().unwrap();
    let office = office_with(&folder, &stubs, Some(rules));
    // Two names that share one holder: the rules distinguish askers.
    let of = |name: &str| office.with_asker(Asker::new(Some(name), None));
    value(&of("ada"), "await artifacts.save('customers', await crm.get({}))").await;
    let post = "return await web.post({}).then(() => 'posted', e => e.rule ?? e.message)";
    assert_eq!(value(&of("bob"), post).await, "posted");
    value(&of("bob"), "await artifacts.get('customers')").await;
    assert_eq!(value(&of("bob"), post).await, "stays");
}

#[tokio::test]
async fn where_nothing_can_be_kept_the_run_succeeds_and_the_preview_says_so() {
    let folder = tempfile::tempdir().unwrap();
    // A database cannot be created here.
    std::fs::create_dir(folder.path().join("ledger.db")).unwrap();
    let office = office(&folder).with_previews();
    let outcome = run(&office, &format!("console.log('x'.repeat(100_000)); return {ROWS}")).await;
    assert!(outcome.is_ok(), "{:#?}", outcome.result);
    let part = outcome.kept.iter().find(|part| part.of == KeptOf::Value).unwrap();
    assert!(part.id.is_none() && part.not_kept.is_some() && part.bytes > 200_000, "{part:?}");
    let shown = report(&outcome);
    assert!(shown.contains("was not kept: ") && shown.contains("… 4,997 more"), "{shown}");
    assert!(
        shown.contains("logs") && outcome.kept.iter().any(|part| part.of == KeptOf::Logs && part.id.is_none()),
        "{shown}"
    );
    let said = value(&office, "return await artifacts.save('a', 1).catch(e => [e.name, typeof e.hint])").await;
    assert_eq!(said, json!(["Error", "string"]));
    assert_eq!(value(&office, "return await artifacts.get('a').catch(e => e.name)").await, "Error");
}

#[tokio::test]
async fn logs_that_are_cut_are_kept_whole_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let office = office(&folder).with_previews();
    let outcome = run(&office, "for (let i = 0; i < 2_000; i++) console.log('entry ' + i + ' ' + 'x'.repeat(100)); console.warn('the end'); return 7").await;
    assert_eq!(outcome.result.as_ref().unwrap().as_str(), "7");
    let shown: usize = outcome.logs.iter().map(|entry| entry.text.len()).sum();
    assert!(shown < 66_000, "{shown}");
    let cut = outcome.logs.last().unwrap();
    assert!(cut.text.contains("of 2001 entries are left out here"), "{cut:?}");
    let id = kept(&outcome, KeptOf::Logs);
    assert!(report(&outcome).contains(&format!("artifacts.text(\"{id}\")")), "{}", report(&outcome));
    let all = value(&office, &format!("const all = (await artifacts.get({id:?})).split('\\n'); return [all.length, all[1_999].slice(0, 11), all[2_000]]")).await;
    assert_eq!(all, json!([2_002, "entry 1999 ", "[warn] the end"]));
    // A script that fails has logs too.
    let failed =
        run(&office, "for (let i = 0; i < 2_000; i++) console.log('x'.repeat(100)); throw new Error('no')").await;
    assert_eq!(failed.result.as_ref().unwrap_err().kind, ErrorKind::Exception);
    kept(&failed, KeptOf::Logs);
    // What fits is shown, as without artifacts.
    let short = run(&office, "console.log('x'.repeat(60_000)); return 1").await;
    assert!(short.kept.is_empty(), "{short:#?}");
}

#[tokio::test]
async fn a_client_that_asks_for_less_gets_less_and_commands_get_all() {
    let folder = tempfile::tempdir().unwrap();
    let office = office(&folder);
    let source = "return 'x'.repeat(300_000)";
    // Beyond `max_output`, which is 256 KiB.
    let error = run(&office, source).await.result.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Output);
    assert_eq!(value(&office, "return 'x'.repeat(200_000)").await.as_str().unwrap().len(), 200_000);
    let previews = office.with_previews();
    let outcome = run(&previews, source).await;
    assert_eq!(outcome.kept.len(), 1, "{outcome:#?}");
    let asked = LimitsPatch { max_output: Some(ByteSize::kib(100)), ..LimitsPatch::default() };
    let error = previews.execute(source.to_owned()).limits(&asked).await.result.unwrap_err();
    assert_eq!((error.kind, error.limit.unwrap().max), (ErrorKind::Output, 100 * 1024));
    // Beyond what may leave the jar at all.
    let error = run(&previews, "return 'x'.repeat(17 * 1024 * 1024)").await.result.unwrap_err();
    assert_eq!((error.kind, error.limit.unwrap().max), (ErrorKind::Output, 16 * 1024 * 1024));
    let error = run(&office, "await artifacts.save('large', 'x'.repeat(17 * 1024 * 1024))").await.result.unwrap_err();
    assert!(error.message.contains("TypeError") && error.message.contains("16777216"), "{error:#?}");
    // A recording of a large value is replayed, and has all of it.
    let outcome = run(&previews.with_recording(ByteSize::mib(8)), source).await;
    let replayed = previews.replay(&recording(&outcome)).await.unwrap();
    assert_eq!(replayed.result.unwrap().as_str().len(), 300_002);
}

#[tokio::test]
async fn a_file_in_an_answer_is_kept_and_its_handle_shows_it_again() {
    let block = json!({ "type": "image", "data": "iVBO".repeat(1_000), "mimeType": "image/png" });
    let content = json!([{ "type": "text", "text": "a shot" }, block]);
    let camera = Stub::new(
        json!([{ "name": "shoot", "inputSchema": { "type": "object" } }]),
        move |_, _| json!({ "content": content }),
    );
    let folder = tempfile::tempdir().unwrap();
    let office = office_with(&folder, &[("camera", camera)], None);
    let first = run(&office.with_previews(), "return (await camera.shoot())[1]").await;
    let media = |outcome: &Outcome| outcome.media.iter().cloned().map(Media::into_block).collect::<Vec<_>>();
    assert_eq!(media(&first), std::slice::from_ref(&block));
    let id = kept(&first, KeptOf::Media(1));
    assert!(report(&first).contains(&format!("artifacts.get(\"{id}\")")), "{}", report(&first));
    // The script holds a handle, and whoever gets its value gets the file.
    let later = run(&office, &format!("const shot = await artifacts.get({id:?}); console.log(JSON.stringify(shot).length < 200); return {{ of: 'later', shot }}")).await;
    assert_eq!(media(&later), std::slice::from_ref(&block), "{later:#?}");
    assert_eq!(
        later.result.unwrap().to_value().unwrap(),
        json!({ "of": "later", "shot": "[image 1: image/png, 2.9 KiB]" })
    );
    assert_eq!(later.logs[0].text, "true");
    let handle = value(&office, &format!("const handle = await artifacts.get({id:?}); return [handle.type, handle.mimeType, handle.bytes, handle.artifact]")).await;
    assert_eq!(handle, json!(["image", "image/png", 3_000, id]));
    // Its bytes enter the jar only for a script that wants them.
    let data = block["data"].as_str().unwrap();
    for (from, to) in [(0, 4_000), (0, 4), (1, 2), (3, 9), (3_999, 5_000), (4_000, 4_001), (9, 3)] {
        let part = value(&office, &format!("return await artifacts.text({id:?}, {{ from: {from}, to: {to} }})")).await;
        assert_eq!(part, data.get(from..to.min(4_000)).unwrap_or_default(), "{from}..{to}");
    }
    assert_eq!(value(&office, &format!("return await artifacts.text({id:?})")).await, *data);
    // However often it is returned, the file comes once.
    let often = format!("return Array(1000).fill(await artifacts.get({id:?}))");
    let often = run(&office, &often).await;
    assert_eq!(media(&often), std::slice::from_ref(&block));
    assert_eq!(often.result.unwrap().to_value().unwrap()[999]["artifact"], json!(id));
    // A handle of an artifact that does not exist stays as it is.
    let gone =
        value(&office, "return { type: 'image', artifact: 'a_0000000000001', mimeType: 'image/png', bytes: 1 }").await;
    assert_eq!(gone["artifact"], "a_0000000000001");
}

#[tokio::test]
async fn the_files_of_a_tools_result_stay_outside_of_the_jar() {
    let (data, reel) = ("iVBO".repeat(100_000), "AAAB".repeat(100_000));
    let block = json!({ "type": "image", "data": data, "mimeType": "image/png" });
    let icon = json!({ "type": "image", "data": "iVBO", "mimeType": "image/png" });
    let film = json!({ "type": "resource", "resource": { "uri": "file:///film", "blob": reel } });
    let content = json!([block, icon, film.clone()]);
    let camera = Stub::new(
        json!([{ "name": "shoot", "inputSchema": { "type": "object" } }]),
        move |_, _| json!({ "content": content, "_meta": { "exact": 1 } }),
    );
    let folder = tempfile::tempdir().unwrap();
    let office = office_with(&folder, &[("camera", camera.clone())], None).with_recording(ByteSize::mib(8));
    let source = "const blocks = await camera.shoot();
        console.log(JSON.stringify(blocks).length < 500, blocks[1].data, blocks[2].uri, Object.keys(blocks[0]).sort().join());
        return { shot: blocks[0], film: blocks[2] }";
    let outcome = run(&office.with_previews(), source).await;
    assert_eq!(outcome.logs[0].text, "true iVBO file:///film artifact,bytes,mimeType,type", "{outcome:#?}");
    // Whoever gets the value gets the files, which are kept once.
    let media: Vec<_> = outcome.media.iter().cloned().map(Media::into_block).collect();
    assert_eq!((media.len(), &media[0]), (2, &block));
    assert_eq!(media[1], film);
    let ids = [kept(&outcome, KeptOf::Media(1)), kept(&outcome, KeptOf::Media(2))];
    let listed = value(&office, "return (await artifacts.list()).map(({ id, kind }) => `${kind} ${id}`).sort()").await;
    let mut expected = ids.each_ref().map(|id| format!("blob {id}"));
    expected.sort();
    assert_eq!(listed, json!(expected));
    // They are not in the recording, and the replay sees the same handles.
    let recording = recording(&outcome);
    let Some(Recorded::Whole(bytes)) = &outcome.recording else { panic!("{outcome:#?}") };
    assert!(bytes.len() < 20_000, "{}", bytes.len());
    let replayed = office.replay(&recording).await.unwrap();
    assert_eq!((&replayed.logs, replayed.usage.fuel), (&outcome.logs, outcome.usage.fuel));
    // The raw result has handles, too, and keeps everything else.
    let raw = value(
        &office,
        "const raw = await tools.raw('camera.shoot', {}); return [typeof raw.content[0].artifact, raw._meta.exact]",
    )
    .await;
    assert_eq!(raw, json!(["string", 1]));
    // Without artifacts, the script has the bytes.
    let plain =
        value(&gateway(&[("camera", camera)], Vec::new()), "return (await camera.shoot())[0].data.length").await;
    assert_eq!(plain, 400_000);
}

/// A camera whose pictures differ, and what a script gets from each in a loop.
fn pictures(schema: &Value, bytes: usize) -> Stub {
    let taken = std::sync::atomic::AtomicUsize::new(0);
    Stub::new(json!([{ "name": "shoot", "inputSchema": schema }]), move |_, _| {
        let number = taken.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let data = format!("{number:04}").repeat(bytes / 3);
        json!({ "content": [{ "type": "image", "data": data, "mimeType": "image/png" }] })
    })
}

#[tokio::test]
async fn a_server_fills_only_so_much_of_the_artifacts_with_the_files_of_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let office = office_with(&folder, &[("camera", pictures(&json!({ "type": "object" }), 15_000))], None);
    let source = "const kinds = { handle: 0, data: 0 };
        for (let i = 0; i < 105; i++) { const [shot] = await camera.shoot(); kinds[shot.data ? 'data' : 'handle']++ }
        return kinds";
    let outcome = run(&office, source).await;
    assert_eq!(outcome.result.as_ref().unwrap().to_value().unwrap(), json!({ "handle": 100, "data": 5 }));
    assert!(outcome.logs.iter().any(|entry| entry.text.contains("at most 100 files")), "{:#?}", outcome.logs);
    // The same file is kept once, and not at all if its script gets something else.
    let folder = tempfile::tempdir().unwrap();
    let block = json!({ "type": "image", "data": "iVBO".repeat(10_000), "mimeType": "image/png" });
    let structured = json!({ "content": [block], "structuredContent": { "a": 1 } });
    let plain = json!({ "content": [block] });
    let tools = json!([
        { "name": "same", "inputSchema": { "type": "object" } }, { "name": "structured", "inputSchema": { "type": "object" } },
    ]);
    let same = Stub::new(tools, move |tool, _| if tool == "same" { plain.clone() } else { structured.clone() });
    let office = office_with(&folder, &[("camera", same)], None);
    let source = "const ids = new Set(); for (let i = 0; i < 5; i++) ids.add((await camera.same())[0].artifact);
        return [ids.size, await camera.structured(), (await artifacts.list()).length]";
    assert_eq!(value(&office, source).await, json!([1, { "a": 1 }, 1]));
}

#[tokio::test]
async fn files_of_answers_that_are_to_be_hidden_are_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let tools = json!([{ "name": "shoot", "inputSchema": { "type": "object" },
        "outputSchema": { "type": "object", "properties": { "pin": { "type": "string", "writeOnly": true } } } }]);
    let content = json!([{ "type": "image", "data": "iVBO".repeat(10_000), "mimeType": "image/png" }]);
    let camera = Stub::new(tools, move |_, _| json!({ "content": content, "structuredContent": null }));
    let office = office_with(&folder, &[("camera", camera)], None);
    let source = "return [(await camera.shoot())[0].data.length, (await artifacts.list()).length]";
    assert_eq!(value(&office, source).await, json!([40_000, 0]));
}

#[tokio::test]
async fn a_file_that_cannot_be_kept_is_in_the_result_as_before() {
    let data = "iVBO".repeat(10_000);
    let content = json!([{ "type": "image", "data": data, "mimeType": "image/png" }]);
    let camera = Stub::new(
        json!([{ "name": "shoot", "inputSchema": { "type": "object" } }]),
        move |_, _| json!({ "content": content }),
    );
    let folder = tempfile::tempdir().unwrap();
    // A database cannot be created here.
    std::fs::create_dir(folder.path().join("ledger.db")).unwrap();
    let office = office_with(&folder, &[("camera", camera)], None);
    assert_eq!(value(&office, "return (await camera.shoot())[0].data.length").await, 40_000);
}

#[tokio::test]
async fn a_run_that_touches_none_of_it_asks_nothing_and_a_server_of_that_name_hides_it() {
    let folder = tempfile::tempdir().unwrap();
    let office = office(&folder).with_recording(ByteSize::mib(8)).with_previews();
    let outcome = run(&office, "return 1 + 1").await;
    assert_eq!((questions(&recording(&outcome)), outcome.kept.len()), (0, 0));
    assert!(!folder.path().join("artifacts").exists());
    let own = Stub::new(json!([{ "name": "get", "inputSchema": { "type": "object" } }]), |_, _| text("the server's"));
    let hidden = office_with(&folder, &[("artifacts", own)], None);
    let said = value(&hidden, "return [await artifacts.get({}), 'save' in artifacts]").await;
    assert_eq!(said, json!(["the server's", false]));
    // Without a holder, as in a library's runs, nothing is kept between runs.
    assert_eq!(value(&gateway(&[], Vec::new()), "return typeof artifacts").await, "undefined");
    assert_eq!(value(&office.with_ledger_level(LedgerLevel::Off), "return typeof artifacts").await, "undefined");
}

#[test]
fn a_confined_process_asks_in_the_same_way() {
    let terminal = Terminal::new();
    let config = terminal.file("belljar.toml", "[runs]\nprocess = true\n[servers.demo]\nbuiltin = 'demo'\n");
    let belljar =
        |code: &str| terminal.belljar(&["run", "--json", "--config", config.to_str().unwrap(), "--code", code]).json();
    let saved = belljar("return (await artifacts.save('large', 'x'.repeat(3_000_000) + ' needle')).bytes");
    assert_eq!(saved["value"], 3_000_007, "{saved:#}");
    let read = belljar(
        "const all = await artifacts.get('large'); let hit;\n\
         while (!hit) [hit] = await artifacts.search('needle');\n\
         return [all.length, hit.text.length > 0, await artifacts.text('large', { from: 3_000_001 }), await artifacts.get('none').catch(e => [e.name, typeof e.hint])]",
    );
    assert_eq!(read["value"], json!([3_000_007, true, "needle", ["TypeError", "string"]]), "{read:#}");
    let mut client = Client::connect(&terminal, &["--config", config.to_str().unwrap()]);
    let answer = client.call("execute_code", json!({ "code": format!("return {ROWS}") }));
    assert!(answer["structuredContent"]["artifact"]["id"].is_string(), "{answer:#}");
}
