//! A run carries the labels of its answers, and rules can depend on them.

use std::sync::{Arc, atomic::Ordering};

use belljar_gateway::{Gateway, RunLedger};
use belljar_ledger::{Asker, Options, SqliteLedger};
use belljar_model::{ByteSize, LedgerKeep, LedgerLevel, Recorded};
use belljar_policy::{Policy, absolute_folder};
use belljar_sandbox::Recording;
use serde_json::json;
use tempfile::TempDir;

use crate::{
    stub_server::{Stub, gateway_with_rules, gateway_with_rules_and_ledger, run, text, value},
    support::Terminal,
};

const RULES: &str = "default = 'allow'\n[labels]\nprivate = ['crm.*']\n\
    [[rule]]\nid = 'stays'\ntools = 'web.*'\ncarries = 'private'\nthen = 'deny'\nwhy = 'customers stay here'\n\
    [[rule]]\nid = 'no-bob'\ntools = 'crm.*'\nargs.name = { is = 'bob' }\nthen = 'deny'\n";

/// `crm.get` answers at once, `crm.fail` reports a failure, `web.post` accepts anything.
fn servers() -> (Stub, Stub) {
    let schema =
        json!({ "type": "object", "properties": { "name": { "type": "string" }, "note": { "type": "string" } } });
    let tool = |name: &str| json!({ "name": name, "inputSchema": schema });
    let crm = Stub::new(json!([tool("get"), tool("fail")]), |tool, _| match tool {
        "fail" => json!({ "content": [{ "type": "text", "text": "no customer ada@example.org" }], "isError": true }),
        _ => text("ada@example.org"),
    });
    (crm, Stub::new(json!([tool("post")]), |_, _| text("posted")))
}

fn policy(rules: &str) -> Arc<Policy> {
    Arc::new(Policy::parse(rules, &absolute_folder).unwrap_or_else(|problems| panic!("{problems}")))
}

fn office(rules: &str) -> (Stub, Gateway) {
    let (crm, web) = servers();
    let gateway = gateway_with_rules(&[("crm", crm), ("web", web.clone())], policy(rules));
    (web, gateway)
}

/// The same, with a ledger in this folder.
fn office_with_ledger(rules: &str, folder: &TempDir) -> (Stub, Gateway) {
    let (crm, web) = servers();
    let options = Options { fsync: false, keep: LedgerKeep::default() };
    let kept = RunLedger {
        ledger: Arc::new(SqliteLedger::new(Some(folder.path()), options)),
        required: false,
        level: LedgerLevel::Calls,
        max_recording: ByteSize::mib(1),
        redact: Arc::default(),
    };
    (web.clone(), gateway_with_rules_and_ledger(&[("crm", crm), ("web", web)], policy(rules), kept))
}

const POST: &str = "const post = (note = '') => web.post({ note }).then(() => 'posted', e => e.rule ?? e.message);\n";

#[tokio::test]
async fn a_run_carries_a_label_from_the_answer_on_to_its_end() {
    let (web, gateway) = office(RULES);
    let source = format!(
        "{POST}const all = [await post()];\n\
        await crm.get({{ name: 'bob' }}).catch(() => all.push('denied'));\n\
        all.push(await post());\n\
        await crm.get({{ name: 'ada' }});\n\
        all.push(await post());\n\
        await new Promise(done => setTimeout(done, 5));\n\
        all.push(await tools.raw('web.post', {{}}).catch(e => [e.name, e.rule, e.why]));\n\
        return all"
    );
    let stays = json!(["PolicyError", "stays", "customers stay here"]);
    // A denied call has no labels.
    assert_eq!(value(&gateway, &source).await, json!(["posted", "denied", "posted", "stays", stays]));
    // Without a memory each run begins anew.
    assert_eq!(value(&gateway, &format!("{POST}return await post()")).await, "posted");
    assert_eq!(web.calls.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn what_a_tool_says_of_its_failure_is_an_answer_too() {
    let (web, gateway) = office(RULES);
    let source = format!("{POST}await crm.fail({{ name: 'ada' }}).catch(() => 0); return await post()");
    assert_eq!(value(&gateway, &source).await, "stays");
    assert_eq!(web.calls.load(Ordering::SeqCst), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_begun_before_the_answer_was_handed_over_does_not_carry_it() {
    let folder = tempfile::tempdir().unwrap();
    // Even with a memory, a run's own labels never come from the ledger.
    let memory = RULES.replace("[labels]\n", "[labels]\nmemory = '1h'\n");
    // Checking what is posted first takes longer than the answer of the other call.
    let source = format!(
        "{POST}const asked = crm.get({{ name: 'ada' }});\n\
        const early = [post('x'.repeat(200_000)), post(), post('y'.repeat(100_000))];\n\
        await asked;\n\
        return [...await Promise.all(early), await post()]"
    );
    let alone = office(RULES);
    for _ in 0..10 {
        assert_eq!(value(&alone.1, &source).await, json!(["posted", "posted", "posted", "stays"]));
    }
    for at in 0..10 {
        let ada = Asker::new(Some(&format!("ada-{at}")), None);
        let (_, gateway) = office_with_ledger(&memory, &folder);
        let said = value(&gateway.with_asker(ada), &source).await;
        assert_eq!(said, json!(["posted", "posted", "posted", "stays"]));
    }
    assert_eq!(alone.0.calls.load(Ordering::SeqCst), 30);
}

#[tokio::test]
async fn a_replay_of_such_a_run_is_the_same_and_calls_nothing() {
    let (web, gateway) = office(RULES);
    let gateway = gateway.with_recording(ByteSize::mib(1));
    let source =
        format!("{POST}const before = post(); await crm.get({{ name: 'ada' }}); return [await before, await post()]");
    let outcome = run(&gateway, &source).await;
    let said = outcome.result.clone().unwrap().to_value().unwrap();
    assert_eq!(said, json!(["posted", "stays"]));
    let Some(Recorded::Whole(bytes)) = outcome.recording else { panic!("{outcome:#?}") };
    let replayed = gateway.replay(&Recording::read(bytes).unwrap()).await.unwrap();
    assert_eq!(replayed.result.unwrap().to_value().unwrap(), said);
    assert_eq!(replayed.usage.fuel, outcome.usage.fuel);
    assert_eq!(web.calls.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_principal_carries_what_their_runs_did_as_long_as_the_owner_says() {
    let folder = tempfile::tempdir().unwrap();
    let rules = RULES.replace("[labels]\n", "[labels]\nmemory = '1h'\n");
    let (web, gateway) = office_with_ledger(&rules, &folder);
    let (ada, bob) = (Asker::new(Some("ada"), None), Asker::new(Some("bob"), None));
    let post = format!("{POST}return await post()");
    assert_eq!(value(&gateway.with_asker(ada.clone()), &post).await, "posted");
    value(&gateway.with_asker(ada.clone()), "await crm.get({ name: 'ada' })").await;
    assert_eq!(value(&gateway.with_asker(ada.clone()), &post).await, "stays");
    assert_eq!(value(&gateway.with_asker(bob), &post).await, "posted");
    // In another process, whatever the first one kept in memory.
    let (_, other) = office_with_ledger(&rules, &folder);
    assert_eq!(value(&other.with_asker(ada.clone()), &post).await, "stays");
    // A rule about another label, and one without a memory.
    let without = office_with_ledger(RULES, &folder).1;
    assert_eq!(value(&without.with_asker(ada.clone()), &post).await, "posted");
    let long_ago = rusqlite::Connection::open(folder.path().join("ledger.db")).unwrap();
    long_ago.execute("UPDATE labelled SET at_ms = at_ms - 3600001", ()).unwrap();
    assert_eq!(value(&gateway.with_asker(ada), &post).await, "posted");
    assert_eq!(web.calls.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn where_nobody_can_remember_an_answer_is_withheld_and_the_rule_fails_closed() {
    let rules = RULES.replace("[labels]\n", "[labels]\nmemory = '1h'\n");
    let (web, gateway) = office(&rules);
    let source = format!("{POST}return [await crm.get({{ name: 'ada' }}).catch(e => e.message), await post()]");
    let said = value(&gateway, &source).await;
    assert!(said[0].as_str().unwrap().contains("the call was made, and its answer is withheld"), "{said:#}");
    assert_eq!(said[1], "stays");
    assert_eq!(web.calls.load(Ordering::SeqCst), 0);
}

#[test]
fn commands_and_processes_for_scripts_carry_labels_too() {
    let terminal = Terminal::new();
    let more = "[servers.demo]\nbuiltin = 'demo'\n";
    let config = terminal.file("belljar.toml", more);
    let confined =
        terminal.file("confined.toml", format!("[policy]\nfile = 'policy.toml'\n[runs]\nprocess = true\n{more}"));
    let (config, confined) = (config.to_str().unwrap(), confined.to_str().unwrap());
    let rules = "default = 'allow'\n[labels]\nread = 'demo.list_issues'\n\
        [[rule]]\nid = 'after'\ntools = 'demo.list_projects'\ncarries = 'read'\nthen = 'deny'\n";
    terminal.file("policy.toml", rules);
    let source = "const all = []; const look = () => demo.list_projects({}).then(() => all.push('seen'), e => all.push(e.rule));\n\
        await look(); await demo.list_issues({}); await look(); all.join(' ')";
    let mut configs = vec![config];
    if cfg!(target_os = "linux") {
        configs.push(confined);
    }
    for config in configs {
        let answer = terminal.belljar(&["run", "--code", source, "--no-daemon", "--config", config]);
        assert!(answer.code == 0 && answer.stdout.contains("seen after"), "{config}\n{answer:#?}");
    }
    // A single call carries nothing, unless there is a memory.
    let look = ["call", "demo.list_projects", "--no-daemon", "--config", config];
    let list = ["call", "demo.list_issues", "--no-daemon", "--config", config];
    assert_eq!([terminal.belljar(&list).code, terminal.belljar(&look).code], [0, 0]);
    terminal.file("policy.toml", rules.replace("[labels]\n", "[labels]\nmemory = '1h'\n"));
    assert_eq!([terminal.belljar(&look).code, terminal.belljar(&list).code], [0, 0]);
    let answer = terminal.belljar(&look);
    assert!(
        answer.code != 0 && format!("{}{}", answer.stdout, answer.stderr).contains("rule 'after' of the owner"),
        "{answer:#?}"
    );
    let explain = ["policy", "explain", "demo.list_projects", "--config", config, "--carries"];
    let answer = terminal.belljar(&[&explain[..], &["read"]].concat());
    assert!(answer.code == 0 && answer.stdout.ends_with("deny by 'after'\n"), "{answer:#?}");
    let answer = terminal.belljar(&[&explain[..], &["raed"]].concat());
    assert!(
        answer.code == 2 && format!("{}{}", answer.stdout, answer.stderr).contains("no label is called 'raed'"),
        "{answer:#?}"
    );
}
