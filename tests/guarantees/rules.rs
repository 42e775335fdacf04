//! The owner's rules judge every call, whichever way it comes, before anything is sent.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    process::Stdio,
    sync::{Arc, atomic::Ordering},
};

use belljar_gateway::Gateway;
use belljar_ledger::Asker;
use belljar_model::{ByteSize, ErrorKind, PathRules, Recorded, Verdict};
use belljar_policy::{Policy, absolute_folder};
use belljar_sandbox::Recording;
use serde_json::{Value, json};

use crate::{
    stub_server::{Stub, gateway_of_with_rules, gateway_with_rules, run, value},
    support::{Terminal, repository},
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
    // If nobody can be asked, the call is denied too, and the message says so.
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
    // If a script replaces the class, or a rule has no name, the message is still the same.
    let source =
        "globalThis.PolicyError = null; await fs.write_file({ path: '/etc/undefined', content: undefined ?? 'x' })";
    let error = run(&gateway, source).await.result.unwrap_err();
    assert_eq!((error.kind, error.hint), (ErrorKind::Denied, None));
    let (_, closed) = files("default = 'deny'\n[[rule]]\nid = 'a'\nargs.path = { is = '/a' }\nthen = 'allow'\n");
    let source =
        "try { await fs.read_text_file({ path: '/b' }) } catch (e) { return [e.verdict, e.rule, e.why, e.message] }";
    let said = value(&closed, source).await;
    assert_eq!(said, json!(["deny", null, null, "fs.read_text_file is denied by the default of the owner's rules"]));
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
        // The last of two equal names counts, for the rules as for the child.
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
    // A client's claimed name has no effect.
    let other = gateway.with_asker(Asker::new(Some("ada"), Some("ci")));
    assert!(run(&other, make).await.is_ok() && run(&gateway, make).await.is_ok());
    let list = "await fs.list_directory({ path: '/a' }); 1";
    let error = run(&gateway.with_profile("safe"), list).await.result.unwrap_err();
    assert!(error.message.contains("rule 'safe'"), "{error:#?}");
    assert!(run(&gateway.with_profile("other"), list).await.is_ok() && run(&gateway, list).await.is_ok());
    assert_eq!(stub.calls.load(Ordering::SeqCst), 4);
}

#[tokio::test]
async fn calls_are_judged_by_the_time_at_which_they_are_made() {
    let (stub, gateway) = files("default = 'allow'\n[[rule]]\nid = 'always'\nhours = 'mon-sun'\nthen = 'deny'\n");
    let list = "await fs.list_directory({ path: '/a' }); 1";
    assert!(run(&gateway, list).await.result.unwrap_err().message.contains("rule 'always'"));
    assert_eq!(stub.calls.load(Ordering::SeqCst), 0);
    // One of the two halves of a day is now.
    let halves = "default = 'deny'\n[[rule]]\nid = 'first'\nhours = '00:00-12:00'\nthen = 'allow'\n\
        [[rule]]\nid = 'second'\nhours = '12:00-24:00'\nthen = 'allow'\n";
    let outcome = run(&files(halves).1, list).await;
    let rule = outcome.calls[0].rule.as_deref();
    assert!(outcome.is_ok() && matches!(rule, Some("first" | "second")), "{outcome:#?}");
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

#[cfg(unix)]
#[tokio::test]
async fn no_way_of_writing_a_path_leads_past_a_rule() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    for name in ["out/deep", "secret"] {
        fs::create_dir_all(root.join(name)).unwrap();
    }
    fs::create_dir_all(root.join("out/caf\u{e9}")).unwrap();
    symlink(root.join("secret"), root.join("out/link")).unwrap();
    symlink("../../secret", root.join("out/deep/relative_link")).unwrap();
    let out = root.join("out");
    let rules = format!(
        "default = 'deny'\n[[rule]]\nid = 'out'\ntools = 'fs.read_text_file'\nargs.path = {{ under = {out:?} }}\nthen = 'allow'\n\
        [[rule]]\nid = 'writes'\ntools = 'fs.create_directory'\nthen = 'allow'\n\
        [[rule]]\nid = 'not-out'\ntools = 'fs.create_directory'\nargs.path = {{ not_under = {out:?} }}\nthen = 'deny'\n"
    );
    let (stub, gateway) = files(&rules);
    let out = out.to_str().unwrap();
    let attacks = [
        format!("{out}/../secret/x"),
        format!("{out}/deep/../../secret/x"),
        format!("{out}/./../secret/x"),
        format!("{out}//..//secret/x"),
        format!("{out}/link/x"),
        format!("{out}/link"),
        format!("{out}/deep/relative_link/x"),
        format!("{out}/%2e%2e/secret/x"),
        format!("{out}/..%2fsecret/x"),
        format!("{out}/..\\secret\\x"),
        format!("{out}/x\0/../../secret"),
        format!("{out}/x\n"),
        format!("{out}/x."),
        format!("{out}/x "),
        format!("{out}/... /x"),
        format!("{out}-secret/x"),
        format!("{out}x"),
        out.to_uppercase(),
        format!("{}/OUT/x", root.display()),
        format!("file://{out}/x"),
        format!("~{out}/x"),
        format!("{out}/$HOME/x"),
        "out/x".to_owned(),
        String::new(),
        root.join("secret/x").to_str().unwrap().to_owned(),
        "/".to_owned(),
    ];
    let passed = async |tool: &str, paths: &[String]| {
        let source = format!(
            "const passed = [];\nfor (const path of {}) await fs.{tool}({{ path }}).then(() => passed.push(path), e => {{ if (!(e instanceof PolicyError)) throw e }});\n\
            return passed",
            json!(paths)
        );
        value(&gateway, &source).await
    };
    for tool in ["read_text_file", "create_directory"] {
        assert_eq!(passed(tool, &attacks).await, json!([]), "{tool}");
    }
    assert_eq!(stub.calls.load(Ordering::SeqCst), 0);
    let meant = ["x", "deep/new/x", "./deep//x", "caf\u{e9}/x", "cafe\u{301}/x"].map(|name| format!("{out}/{name}"));
    for tool in ["read_text_file", "create_directory"] {
        assert_eq!(passed(tool, &meant).await, json!(meant), "{tool}");
    }
    // The folder of a rule that does not exist yet: another spelling of its name may be the same
    // folder to a server.
    let missing = root.join("new/caf\u{e9}");
    let rules = format!(
        "default = 'allow'\n[[rule]]\nid = 'new'\ntools = 'fs.*'\nargs.path = {{ under = {missing:?} }}\nthen = 'deny'\n"
    );
    let (stub, gateway) = files(&rules);
    for path in ["new/cafe\u{301}/x", "NEW/caf\u{e9}/x", "new/caf\u{e9}/x"] {
        let source = format!("await fs.read_text_file({{ path: {:?} }})", root.join(path));
        assert_eq!(run(&gateway, &source).await.result.unwrap_err().kind, ErrorKind::Denied, "{path}");
    }
    assert_eq!(stub.calls.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_name_in_another_case_leads_past_no_rule() {
    let schema =
        json!({ "type": "object", "properties": { "path": { "type": "string" } }, "additionalProperties": true });
    // How servers written in Go read arguments: ignoring the case of names, and the last one
    // counts.
    let stub = Stub::new(json!([{ "name": "save", "inputSchema": schema }]), |_, arguments| {
        let folded = arguments.as_object().unwrap().iter().map(|(name, value)| (name.to_lowercase(), value.clone()));
        json!({ "content": [], "structuredContent": Value::from_iter(folded) })
    });
    let rules = "default = 'allow'\n\
        [[rule]]\nid = 'out'\ntools = 'go.save'\nargs.path = { not_under = '/out' }\nthen = 'deny'\n\
        [[rule]]\nid = 'force'\ntools = 'go.save'\nargs.force = { present = true }\nthen = 'deny'\n\
        [[rule]]\nid = 'each'\ntools = 'go.save'\nargs.\"files[].name\" = { is = 'x' }\nthen = 'deny'\n";
    let policy = Policy::parse(rules, &absolute_folder).unwrap_or_else(|problems| panic!("{problems}"));
    let gateway = gateway_with_rules(&[("go", stub.clone())], Arc::new(policy));
    for (arguments, rule) in [
        ("{ path: '/out/a', PATH: '/etc/passwd' }", "out"),
        ("{ PATH: '/etc/passwd', path: '/out/a' }", "out"),
        ("{ path: '/out/a', FORCE: true }", "force"),
        ("{ path: '/out/a', files: [{ name: 'y', Name: 'x' }] }", "each"),
    ] {
        let error = run(&gateway, &format!("await go.save({arguments})")).await.result.expect_err(arguments);
        assert!(error.message.contains(&format!("denied by rule '{rule}'")), "{arguments}\n{error:#?}");
    }
    assert_eq!(stub.calls.load(Ordering::SeqCst), 0);
    let saved = "return await go.save({ path: '/out/a', other: 1, files: [{ name: 'y' }] })";
    assert_eq!(value(&gateway, saved).await["path"], json!("/out/a"));
}

#[cfg(unix)]
#[tokio::test]
async fn rules_judge_the_path_that_is_sent_where_belljar_resolves_it() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir_all(root.join(".git/hooks")).unwrap();
    fs::create_dir_all(root.join("out")).unwrap();
    std::os::unix::fs::symlink(root.join(".git"), root.join("out/tidy")).unwrap();
    let rules = format!(
        "default = 'allow'\n[[rule]]\nid = 'git'\ntools = 'fs.read_text_file'\nargs.path = {{ matches = '.*/\\.git/.*' }}\nthen = 'deny'\n\
        [[rule]]\nid = 'moves'\ntools = 'fs.move_file'\nargs.destination = {{ not_under = {root:?} }}\nthen = 'deny'\n"
    );
    let policy = Policy::parse(&rules, &absolute_folder).unwrap_or_else(|problems| panic!("{problems}"));
    let stub = Stub::new(
        Stub::real_tools("filesystem"),
        |_, arguments| json!({ "content": [], "structuredContent": { "got": arguments } }),
    );
    let gateway = gateway_of_with_rules(&[("fs", stub.clone())], Arc::new(policy), None, |spec| {
        let arguments = vec!["path".to_owned()];
        spec.life.paths = Some(PathRules { arguments, roots: vec![root.clone()], ..PathRules::default() });
    });
    for (call, rule) in [
        ("fs.read_text_file({ path: 'out/tidy/config' })", "git"),
        // belljar does not resolve this one, so the server chooses what it is relative to.
        ("fs.move_file({ source: 'a', destination: 'out/x' })", "moves"),
    ] {
        let error = run(&gateway, &format!("await {call}")).await.result.expect_err(call);
        assert!(error.message.contains(&format!("denied by rule '{rule}'")), "{call}\n{error:#?}");
    }
    let outside = run(&gateway, "await fs.read_text_file({ path: '/etc/passwd' })").await.result.unwrap_err();
    assert!(outside.message.contains("outside of what the owner allows"), "{outside:#?}");
    assert_eq!(stub.calls.load(Ordering::SeqCst), 0);
    let sent = value(&gateway, "return (await fs.read_text_file({ path: 'out/./x' })).got.path").await;
    assert_eq!(sent, json!(root.join("out/x")));
}

/// Calls are sent to children in two files, and both send only the result of the one place that
/// judges.
#[test]
fn nothing_sends_a_call_but_what_has_had_it_judged() {
    let root = repository();
    let mut senders = Vec::new();
    let mut folders: Vec<_> = fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.push(root.join("host"));
    // The owner's configured calls are not judged; measurements use the code below the gateway.
    folders.retain(|folder| !["upstream", "measures", "testkit"].iter().any(|name| folder.ends_with(name)));
    let mut looked_at = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                looked_at += 1;
                let text = fs::read_to_string(&path).unwrap();
                let sends = text.matches(".call_text(").count()
                    + text.matches("upstream().call(").count()
                    + text.matches("upstream.call(").count();
                if sends > 0 {
                    let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
                    senders.push((name, sends, text.matches(".checked(").count()));
                }
            }
        }
    }
    senders.sort();
    let expected =
        ["crates/gateway/src/grant.rs", "crates/gateway/src/measure.rs", "crates/gateway/src/single_call.rs"];
    assert!(looked_at > 200, "{looked_at} files");
    assert_eq!(senders, expected.map(|name| (name.to_owned(), 1, 1)));
}

#[test]
fn no_door_of_belljar_leads_past_the_rules() {
    let terminal = Terminal::with_daemon();
    let config = terminal.file("belljar.toml", "[servers.demo]\nbuiltin = 'demo'\n");
    let confined = terminal.file(
        "confined.toml",
        "[policy]\nfile = 'policy.toml'\n[runs]\nprocess = true\n[servers.demo]\nbuiltin = 'demo'\n",
    );
    let (config, confined) = (config.to_str().unwrap(), confined.to_str().unwrap());
    // Not a denial of every call: the tool is visible, and each call of it is judged.
    terminal.file(
        "policy.toml",
        "default = 'allow'\n[[rule]]\nid = 'none'\ntools = 'demo.*'\nargs.project = { absent = true }\nthen = 'deny'\n",
    );
    let script = "await demo.list_issues({})";
    let request = json!({ "intent": "QUERY", "action": "demo.list_issues", "params": {} }).to_string();
    let request = terminal.file("request.json", request);
    let request = request.to_str().unwrap();
    let mut doors = vec![
        vec!["call", "demo.list_issues", "--config", config],
        vec!["run", "--code", script, "--config", config],
        vec!["request", request, "--config", config],
        vec!["call", "demo.list_issues", "--no-daemon", "--config", config],
        vec!["run", "--code", script, "--no-daemon", "--config", config],
        vec!["request", request, "--no-daemon", "--config", config],
    ];
    if cfg!(target_os = "linux") {
        doors.push(vec!["run", "--code", script, "--no-daemon", "--config", confined]);
    }
    for arguments in doors {
        let answer = terminal.belljar(&arguments);
        let all = format!("{}{}", answer.stdout, answer.stderr);
        assert!(answer.code != 0 && all.contains("rule 'none' of the owner"), "{arguments:?}\n{answer:?}");
    }
    for arguments in [vec!["serve", "--config", config], vec!["serve", "--daemon", "--config", config]] {
        let answer = served(&terminal, &arguments, script);
        assert!(answer.to_string().contains("rule 'none' of the owner"), "{arguments:?}\n{answer:#}");
    }
    assert_eq!(terminal.belljar(&["daemon", "stop", "--config", config]).code, 0);
}

/// What a client of `belljar serve` gets for a script.
fn served(terminal: &Terminal, arguments: &[&str], script: &str) -> Value {
    let mut command = terminal.command(arguments);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
    for message in [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "execute_code", "arguments": { "code": script } } }),
    ] {
        writeln!(input, "{message}").unwrap();
    }
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let answers = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let answer = answers.into_iter().find(|answer| answer["id"] == 2).unwrap();
    drop(input);
    child.wait().unwrap();
    answer
}
