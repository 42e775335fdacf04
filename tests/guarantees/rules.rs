//! The owner's rules judge every call, whichever way it comes, before anything is sent.

use std::sync::{Arc, atomic::Ordering};

use belljar_gateway::Gateway;
use belljar_ledger::Asker;
use belljar_model::{ByteSize, ErrorKind, LimitsPatch, Outcome, Recorded, Verdict};
use belljar_policy::{Policy, absolute_folder};
use belljar_sandbox::Recording;
use serde_json::{Value, json};

use crate::{
    stub_server::{Stub, gateway_with_rules},
    support::Terminal,
};

const RULES: &str = "default = 'allow'\n\
    [[rule]]\nid = 'no-moves'\ntools = 'fs.move_file'\nthen = 'deny'\nwhy = 'files stay where they are'\n\
    [[rule]]\nid = 'out'\ntools = 'fs.write_file'\nargs.path = { not_under = '/out' }\nthen = 'deny'\nwhy = 'write below /out'\n\
    [[rule]]\nid = 'big'\ntools = 'fs.write_file'\nargs.content = { longer_than = 10 }\nthen = 'ask'\n\
    [[rule]]\nid = 'ci'\ntools = 'fs.create_directory'\nprincipal = 'ci'\nthen = 'deny'\n\
    [[rule]]\nid = 'safe'\ntools = 'fs.list_directory'\nprofile = 'safe'\nthen = 'deny'\n";

fn files(rules: &str) -> (Stub, Gateway) {
    let stub = Stub::new(
        Stub::real_tools("filesystem"),
        |_, arguments| json!({ "content": [], "structuredContent": { "got": arguments } }),
    );
    let policy = Policy::parse(rules, &absolute_folder).unwrap_or_else(|problems| panic!("{problems}"));
    let gateway = gateway_with_rules(&[("fs", stub.clone())], Arc::new(policy));
    (stub, gateway)
}

async fn run(gateway: &Gateway, source: &str) -> Outcome {
    gateway.execute(source.to_owned(), &LimitsPatch::default()).await
}

async fn value(gateway: &Gateway, source: &str) -> Value {
    match run(gateway, source).await.result {
        Ok(value) => value.to_value().unwrap(),
        Err(error) => panic!("{source}\nfailed: {error:#?}"),
    }
}

#[tokio::test]
async fn a_call_that_rules_deny_is_an_error_that_can_be_caught_and_never_reaches_the_child() {
    let (stub, gateway) = files(RULES);
    let source = "try { await fs.write_file({ path: '/etc/passwd', content: 'x' }); } catch (error) {\n\
        return [error instanceof PolicyError, error instanceof ToolError, error.name, error.rule, error.why, error.server, error.tool, error.hint ?? null, error.message];\n}";
    assert_eq!(
        value(&gateway, source).await,
        json!([
            true,
            false,
            "PolicyError",
            "out",
            "write below /out",
            "fs",
            "write_file",
            null,
            "fs.write_file is denied by rule 'out' of the owner: write below /out"
        ])
    );
    // What is only asked for a person is denied too, and says so.
    let outcome = run(&gateway, "await fs.write_file({ path: '/out/x', content: 'long enough to ask' })").await;
    let error = outcome.result.unwrap_err();
    assert_eq!((error.kind, error.line), (ErrorKind::Denied, Some(1)), "{error:#?}");
    assert!(error.message.contains("rule 'big' of the owner asks a person first, and there is nobody"), "{error:#?}");
    assert_eq!(error.hint, None);
    assert_eq!(stub.calls.load(Ordering::SeqCst), 0);
    let call = &outcome.calls[0];
    assert_eq!((call.ok, call.verdict, call.rule.as_deref()), (false, Some(Verdict::Ask), Some("big")));
}

#[tokio::test]
async fn a_policy_error_says_what_the_owner_says_and_is_repeated_by_a_replay() {
    let (stub, gateway) = files(RULES);
    let gateway = gateway.with_recording(ByteSize::mib(1));
    let source = "const told = e => [e.verdict, e.rule, e.why ?? null, Object.keys(e), String(e), e.stack.split('\\n')[0]];\n\
        const all = [];\n\
        for (const path of ['/etc/x', '/out/x']) {\n\
            try { await fs.write_file({ path, content: 'long enough to ask' }) } catch (e) { all.push(told(e)) }\n\
        }\n\
        return all;";
    let outcome = run(&gateway, source).await;
    let said = outcome.result.clone().unwrap().to_value().unwrap();
    let denied = "PolicyError: fs.write_file is denied by rule 'out' of the owner: write below /out";
    let keys = json!(["server", "tool", "verdict", "rule", "why"]);
    assert_eq!(said[0], json!(["deny", "out", "write below /out", keys, denied, denied]));
    assert_eq!((&said[1][0], &said[1][1], &said[1][2]), (&json!("ask"), &json!("big"), &Value::Null), "{said:#}");
    let Some(Recorded::Whole(bytes)) = outcome.recording else { panic!("{outcome:#?}") };
    let replayed = gateway.replay(&Recording::read(bytes).unwrap()).await.unwrap();
    assert_eq!(replayed.result.unwrap().to_value().unwrap(), said);
    assert_eq!(replayed.usage.fuel, outcome.usage.fuel);
    assert_eq!(stub.calls.load(Ordering::SeqCst), 0);
    // What a script has put in the place of the class, or a rule of no name, changes nothing of what is told.
    let source =
        "globalThis.PolicyError = null; await fs.write_file({ path: '/etc/undefined', content: undefined ?? 'x' })";
    let error = run(&gateway, source).await.result.unwrap_err();
    assert_eq!((error.kind, error.hint), (ErrorKind::Denied, None));
    let (_, closed) = files("default = 'deny'\n[[rule]]\nid = 'a'\nargs.path = { is = '/a' }\nthen = 'allow'\n");
    let source =
        "try { await fs.read_text_file({ path: '/b' }) } catch (e) { return [e.verdict, e.rule, e.why, e.message] }";
    let said = value(&closed, source).await;
    assert_eq!(said, json!(["deny", null, null, "fs.read_text_file is denied by the owner's rules"]));
}

#[tokio::test]
async fn the_outcome_says_of_each_call_what_rules_said() {
    let (stub, gateway) = files(RULES);
    let source = "await fs.write_file({ path: '/out/a', content: 'x' });\n\
        await fs.write_file({ path: '/etc/a', content: 'x' }).catch(() => 0);\n\
        await Promise.all([fs.read_text_file({ path: '/a' }), fs.write_file({ path: '/out/b', content: 'y' })]); 1";
    let outcome = run(&gateway, source).await;
    assert!(outcome.is_ok(), "{outcome:#?}");
    let said: Vec<_> =
        outcome.calls.iter().map(|call| (call.tool.as_str(), call.verdict, call.rule.as_deref())).collect();
    assert_eq!(said[0], ("write_file", Some(Verdict::Allow), None));
    assert_eq!(said[1], ("write_file", Some(Verdict::Deny), Some("out")));
    assert!(said[2..].iter().all(|(_, verdict, _)| *verdict == Some(Verdict::Allow)), "{said:?}");
    assert_eq!(stub.calls.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn every_way_to_a_call_is_judged() {
    let (stub, gateway) = files(RULES);
    for source in [
        "await fs.write_file({ path: '/etc/a', content: 'x' })",
        "await fs['write_file']({ path: '/etc/a', content: 'x' })",
        "await tools.call('fs.write_file', { path: '/etc/a', content: 'x' })",
        "await tools.raw('fs.write_file', { path: '/etc/a', content: 'x' })",
        "const { write_file } = fs; await write_file({ path: '/out/../etc/a', content: 'x' })",
        // The name that stands last counts, for the rules as for the child.
        "await fs.write_file(JSON.parse('{\"path\": \"/out/a\", \"content\": \"x\", \"path\": \"/etc/a\"}'))",
    ] {
        let outcome = run(&gateway, source).await;
        let error = outcome.result.expect_err(source);
        assert!(error.message.contains("denied by rule 'out' of the owner"), "{source}\n{error:#?}");
    }
    let arguments = json!({ "path": "/etc/a", "content": "x" });
    let limit = std::time::Duration::from_secs(10);
    let path = "fs.write_file".parse().unwrap();
    let answer = gateway.toolbox().call(&path, arguments.as_object().unwrap().clone(), limit).await;
    assert_eq!(answer.error.unwrap().kind, ErrorKind::Denied);
    assert_eq!(stub.calls.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn what_is_denied_whatever_its_arguments_is_seen_nowhere_and_named_when_asked_for() {
    let (stub, gateway) = files(RULES);
    let source = "const found = (await tools.search('move a file')).map(tool => tool.path);\n\
        return [Object.keys(fs).includes('move_file'), (await tools.list('fs')).some(tool => tool.path === 'fs.move_file'),\n\
            found.includes('fs.move_file'), Object.keys(fs).includes('write_file')]";
    assert_eq!(value(&gateway, source).await, json!([false, false, false, true]));
    let denied = "fs.move_file is denied by rule 'no-moves' of the owner: files stay where they are";
    let error = run(&gateway, "await fs.move_file({ source: 'a', destination: 'b' })").await.result.unwrap_err();
    assert_eq!(error.hint.as_deref(), Some(denied), "{error:#?}");
    let source = "try { await tools.describe('fs.move_file') } catch (error) { return error.message }";
    assert_eq!(value(&gateway, source).await, json!(denied));
    let path = "fs.move_file".parse().unwrap();
    let answer = gateway.toolbox().call(&path, serde_json::Map::new(), std::time::Duration::from_secs(10)).await;
    let error = answer.error.unwrap();
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Denied, denied));
    assert_eq!(stub.calls.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn rules_know_the_principal_and_the_profile() {
    let (stub, gateway) = files(RULES);
    let make = "await fs.create_directory({ path: '/a' }); 1";
    let ci = gateway.with_asker(Asker::new(Some("ci"), Some("owner")));
    assert!(run(&ci, make).await.result.unwrap_err().message.contains("rule 'ci'"));
    // What a client calls itself counts for nothing.
    let other = gateway.with_asker(Asker::new(Some("ada"), Some("ci")));
    assert!(run(&other, make).await.is_ok() && run(&gateway, make).await.is_ok());
    let list = "await fs.list_directory({ path: '/a' }); 1";
    let error = run(&gateway.with_profile("safe"), list).await.result.unwrap_err();
    assert!(error.message.contains("rule 'safe'"), "{error:#?}");
    assert!(run(&gateway.with_profile("other"), list).await.is_ok() && run(&gateway, list).await.is_ok());
    assert_eq!(stub.calls.load(Ordering::SeqCst), 4);
}

#[tokio::test]
async fn hints_of_a_server_that_is_not_trusted_open_nothing() {
    let (stub, gateway) = files("default = { read_only = 'allow', mutating = 'deny', external = 'deny' }\n");
    let outcome = run(&gateway, "await fs.read_text_file({ path: '/a' })").await;
    assert!(outcome.result.is_err(), "the tool says that it only reads, and nobody trusts its word");
    assert_eq!(stub.calls.load(Ordering::SeqCst), 0);
}

#[test]
fn rules_beside_the_configuration_count_for_every_command_and_a_mistake_ends_it() {
    let terminal = Terminal::new();
    let config = terminal.file("belljar.toml", "[servers.demo]\nbuiltin = 'demo'\n");
    let config = config.to_str().unwrap();
    let doctor = terminal.belljar(&["doctor", "--config", config]);
    assert!(doctor.stdout.contains("every call of every tool is allowed"), "{doctor:?}");

    terminal.file("policy.toml", "default = 'allow'\n[[rule]]\nid = 'none'\ntools = 'demo.*'\nthen = 'deny'\n");
    let request = json!({ "intent": "QUERY", "action": "demo.list_issues", "params": {} }).to_string();
    let request = terminal.file("request.json", request);
    for arguments in [
        vec!["call", "demo.list_issues", "--no-daemon", "--config", config],
        vec!["run", "--code", "await demo.list_issues({})", "--no-daemon", "--config", config],
        vec!["request", request.to_str().unwrap(), "--no-daemon", "--config", config],
    ] {
        let answer = terminal.belljar(&arguments);
        let all = format!("{}{}", answer.stdout, answer.stderr);
        assert!(answer.code != 0 && all.contains("rule 'none' of the owner"), "{arguments:?}\n{answer:?}");
    }
    let doctor = terminal.belljar(&["doctor", "--config", config]);
    assert!(doctor.stdout.contains("policy.toml, 1 rule"), "{doctor:?}");

    terminal.file("policy.toml", "default = 'allow'\n[[rule]]\nid = 'x'\ntool = 'demo.*'\nthen = 'deny'\n");
    let answer = terminal.belljar(&["call", "demo.list_issues", "--no-daemon", "--config", config]);
    assert_eq!(answer.code, 2, "{answer:?}");
    assert!(
        answer.stderr.contains("policy.toml:4:1: unknown key 'tool' in rule 'x': did you mean 'tools'?"),
        "{answer:?}"
    );

    terminal.file("belljar.toml", "[policy]\nfile = 'gone.toml'\n[servers.demo]\nbuiltin = 'demo'\n");
    let answer = terminal.belljar(&["call", "demo.list_issues", "--no-daemon", "--config", config]);
    assert_eq!(answer.code, 2, "{answer:?}");
    assert!(answer.stderr.contains("gone.toml: there is no such file"), "{answer:?}");
}
