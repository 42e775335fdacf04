//! A rule can require an earlier call, or have something counted first. Its verdict depends on
//! that, and fails closed.

use std::sync::Arc;

use belljar_gateway::{Approvals, Gateway, RunLedger};
use belljar_ledger::{Asker, Options, SqliteLedger};
use belljar_model::{ByteSize, LedgerKeep, LedgerLevel, Recorded};
use belljar_policy::{Policy, absolute_folder};
use belljar_sandbox::Recording;
use parking_lot::Mutex;
use serde_json::json;
use tempfile::TempDir;

use crate::{
    approvals::House,
    dead_children::child,
    stub_server::{Stub, gateway_that_trusts, run, text, value},
    support::Terminal,
};

const GATED: &str = "default = 'allow'\n\
    [[rule]]\nid = 'look-first'\ntools = 'code.rename'\nafter = 'code.references'\nsame = 'symbol'\nthen = 'deny'\nwhy = 'look first'\n";

const MEASURED: &str = "default = 'allow'\n\
    [[rule]]\nid = 'wide'\ntools = 'code.rename'\n\
    measure = { tool = 'code.references', arguments = { symbol = '{symbol}' }, count = '/references', max = 2 }\nthen = 'ask'\n\
    [[rule]]\nid = 'private'\ntools = 'code.references'\nargs.symbol = { is = 'secret' }\nthen = 'deny'\n";

/// `references` finds as many as its argument has letters, and fails for `none`; each call is
/// recorded.
fn code() -> (Stub, Arc<Mutex<Vec<String>>>) {
    let schema =
        json!({ "type": "object", "properties": { "symbol": { "type": "string" }, "note": { "type": "string" } } });
    let tool = |name: &str, reads: bool| json!({ "name": name, "inputSchema": schema, "annotations": { "readOnlyHint": reads } });
    let called = Arc::new(Mutex::new(Vec::new()));
    let notes = called.clone();
    let stub = Stub::new(
        json!([tool("references", true), tool("rename", false), tool("drop", false)]),
        move |tool, arguments| {
            let symbol = arguments["symbol"].as_str().unwrap_or("-");
            notes.lock().push(format!("{tool} {symbol}"));
            match (tool, symbol) {
                ("references", "none") => {
                    json!({ "content": [{ "type": "text", "text": "there is no such symbol" }], "isError": true })
                }
                ("references", _) => {
                    json!({ "content": [], "structuredContent": { "references": vec![1; symbol.len()] } })
                }
                _ => text("done"),
            }
        },
    );
    (stub, called)
}

fn house(rules: &str, folder: Option<&TempDir>) -> (Gateway, Arc<Mutex<Vec<String>>>) {
    let (stub, called) = code();
    let policy = Arc::new(Policy::parse(rules, &absolute_folder).unwrap_or_else(|problems| panic!("{problems}")));
    let options = Options { fsync: false, keep: LedgerKeep::default() };
    let kept = folder.map(|folder| RunLedger {
        ledger: Arc::new(SqliteLedger::new(Some(folder.path()), options)),
        required: false,
        level: LedgerLevel::Calls,
        max_recording: ByteSize::mib(1),
        redact: Arc::default(),
    });
    (gateway_that_trusts(&[("code", stub)], policy, kept), called)
}

const RENAME: &str = "const rename = (symbol, note = '') => code.rename({ symbol, note }).then(() => 'done', e => `${e.verdict} by ${e.rule}`);\n";

#[tokio::test]
async fn a_call_passes_once_another_has_succeeded_with_the_same_value() {
    let (gateway, called) = house(GATED, None);
    let source = format!(
        "{RENAME}const all = [await rename('f')];\n\
        await code.references({{ symbol: 'none' }}).catch(() => 0);\n\
        all.push(await rename('none'));\n\
        await code.references({{ symbol: 'f' }});\n\
        all.push(await rename('f'), await rename('g'), await code.rename({{}}).catch(e => e.rule));\n\
        return all"
    );
    let closed = "deny by look-first";
    assert_eq!(value(&gateway, &source).await, json!([closed, closed, "done", closed, "look-first"]));
    // Each run begins anew.
    assert_eq!(value(&gateway, &format!("{RENAME}return await rename('f')")).await, closed);
    assert_eq!(*called.lock(), ["references none", "references f", "rename f"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_begun_before_the_answer_was_handed_over_does_not_pass_and_a_replay_decides_the_same() {
    let (gateway, called) = house(GATED, None);
    let gateway = gateway.with_recording(ByteSize::mib(4));
    // Checking what is renamed first takes longer than the answer of the other call.
    let source = format!(
        "{RENAME}const looked = code.references({{ symbol: 'f' }});\n\
        const early = rename('f', 'x'.repeat(200_000));\n\
        await looked;\n\
        return [await early, await rename('f')]"
    );
    for _ in 0..10 {
        let outcome = run(&gateway, &source).await;
        let said = outcome.result.clone().unwrap().to_value().unwrap();
        assert_eq!(said, json!(["deny by look-first", "done"]));
        let sent = called.lock().len();
        let Some(Recorded::Whole(bytes)) = outcome.recording else { panic!("{outcome:#?}") };
        let replayed = gateway.replay(&Recording::read(bytes).unwrap()).await.unwrap();
        assert_eq!(replayed.result.unwrap().to_value().unwrap(), said);
        assert_eq!((replayed.usage.fuel, called.lock().len()), (outcome.usage.fuel, sent));
    }
}

#[tokio::test]
async fn an_earlier_run_of_the_principal_counts_as_long_as_the_rule_says() {
    let folder = tempfile::tempdir().unwrap();
    let rules = GATED.replace("same = 'symbol'", "same = 'symbol'\nwithin = '30m'");
    let (gateway, _) = house(&rules, Some(&folder));
    let (ada, bob) = (Asker::new(Some("ada"), None), Asker::new(Some("bob"), None));
    let rename = format!("{RENAME}return await rename('f')");
    let ada_s = gateway.with_asker(ada.clone());
    assert_eq!(value(&ada_s, &rename).await, "deny by look-first");
    value(&ada_s, "await code.references({ symbol: 'f' }); 1").await;
    assert_eq!(value(&ada_s, &rename).await, "done");
    assert_eq!(value(&gateway.with_asker(bob), &rename).await, "deny by look-first");
    assert_eq!(value(&ada_s, &format!("{RENAME}return await rename('g')")).await, "deny by look-first");
    let (other, _) = house(&rules, Some(&folder));
    assert_eq!(value(&other.with_asker(ada), &rename).await, "done", "in another process");
    let ledger = rusqlite::Connection::open(folder.path().join("ledger.db")).unwrap();
    ledger.execute("UPDATE passed SET at_ms = at_ms - 1800001", ()).unwrap();
    assert_eq!(value(&ada_s, &rename).await, "deny by look-first");
    // Without a ledger, nothing is known about other runs.
    let (alone, _) = house(&rules, None);
    let source = format!(
        "{RENAME}const before = await rename('f'); await code.references({{ symbol: 'f' }}); return [before, await rename('f')]"
    );
    assert_eq!(value(&alone, &source).await, json!(["deny by look-first", "done"]));
}

#[tokio::test]
async fn a_count_is_taken_first_and_decides_and_fails_closed() {
    let folder = tempfile::tempdir().unwrap();
    let (gateway, called) = house(MEASURED, Some(&folder));
    let gateway = gateway.with_recording(ByteSize::mib(1));
    let source = format!(
        "{RENAME}const all = []; for (const symbol of ['ab', 'abc', 'none', 'secret']) all.push(await rename(symbol)); return all"
    );
    let outcome = run(&gateway, &source).await;
    let said = outcome.result.clone().unwrap().to_value().unwrap();
    // Two pass, three do not; a failing or denied call gives no count.
    assert_eq!(said, json!(["done", "ask by wide", "ask by wide", "ask by wide"]));
    let expected = ["references ab", "rename ab", "references abc", "references none"];
    assert_eq!(*called.lock(), expected);
    assert_eq!(outcome.calls.len(), 4, "those of the script");
    let Some(Recorded::Whole(bytes)) = outcome.recording else { panic!("{outcome:#?}") };
    let replayed = gateway.replay(&Recording::read(bytes).unwrap()).await.unwrap();
    assert_eq!(replayed.result.unwrap().to_value().unwrap(), said);
    assert_eq!(called.lock().len(), expected.len(), "a replay counts nothing");
    // A single call is counted, too.
    let limit = std::time::Duration::from_secs(10);
    for (symbol, ok) in [("ab", true), ("abc", false)] {
        let (path, arguments) = ("code.rename".parse().unwrap(), json!({ "symbol": symbol }));
        let answer = gateway.toolbox().call(&path, arguments.as_object().unwrap().clone(), limit).await;
        assert_eq!(answer.ok, ok, "{answer:#?}");
    }
    // The ledger also has the calls that were made for the run.
    gateway.toolbox().shutdown().await;
    let ledger = rusqlite::Connection::open(folder.path().join("ledger.db")).unwrap();
    let kept: i64 =
        ledger.query_row("SELECT count(*) FROM calls WHERE number >= 4294967296", (), |row| row.get(0)).unwrap();
    assert_eq!(kept, 3);
}

#[tokio::test]
async fn what_may_do_more_than_read_is_not_called_to_count_and_no_count_counts_for_another() {
    let acts = MEASURED.replace("tool = 'code.references'", "tool = 'code.drop'");
    let (gateway, called) = house(&acts, None);
    assert_eq!(value(&gateway, &format!("{RENAME}return await rename('ab')")).await, "ask by wide");
    assert_eq!(*called.lock(), Vec::<String>::new());
    // If a rule wants the measuring tool itself measured, this ends, and nothing is counted.
    let circle = "default = 'allow'\n[[rule]]\nid = 'wide'\nmeasure = { tool = 'code.references', arguments = { symbol = 'ab' }, count = '/references', max = 2 }\nthen = 'ask'\n";
    let (gateway, called) = house(circle, None);
    assert_eq!(value(&gateway, &format!("{RENAME}return await rename('ab')")).await, "ask by wide");
    assert_eq!(*called.lock(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_approves_sees_the_count() {
    let folder = tempfile::tempdir().unwrap();
    let (gateway, called) =
        house(&MEASURED.replace("then = 'ask'", "then = 'ask'\nwhy = 'many places'"), Some(&folder));
    let approvals = Approvals {
        desk: None,
        by_command: true,
        allow_yes: false,
        wait: std::time::Duration::from_secs(60),
        hold: std::time::Duration::from_secs(60),
        max_resting: belljar_model::ByteSize::mib(1),
    };
    let gateway = gateway.with_approvals(approvals);
    let run = tokio::spawn(async move { run(&gateway, &format!("{RENAME}return await rename('abc')")).await });
    let owner = SqliteLedger::new(Some(folder.path()), Options { fsync: false, keep: LedgerKeep::default() });
    let question = House::asked(&owner).await;
    assert_eq!(question.why.as_deref(), Some("many places (code.references counts 3, at most 2 pass)"));
    House::approve(&owner, question.id).await;
    assert_eq!(run.await.unwrap().result.unwrap().to_value().unwrap(), "done");
    assert_eq!(called.lock().last().unwrap(), "rename abc");
}

#[test]
fn a_measure_that_acts_or_is_not_there_is_a_mistake_and_explain_takes_what_is_assumed() {
    let terminal = Terminal::new();
    let tools = ["list", "get", "update"].map(|name| json!({ "name": name, "inputSchema": { "type": "object" } }));
    let file = terminal.file("tools.json", json!(tools).to_string());
    let text = format!(
        "[servers.demo]\ncommand = {:?}\nargs = ['listed', {file:?}]\neffects = {{ list = 'read_only', update = 'mutating' }}\n",
        child().to_str().unwrap()
    );
    let config = terminal.file("belljar.toml", text);
    let config = config.to_str().unwrap();
    let rules = |tool: &str| {
        format!(
            "default = 'allow'\n[[rule]]\nid = 'wide'\ntools = 'demo.update'\n\
            measure = {{ tool = '{tool}', count = '', max = 2 }}\nafter = 'demo.get'\nsame = 'id'\nthen = 'ask'\n"
        )
    };
    assert_eq!(terminal.belljar(&["servers", "--no-daemon", "--config", config]).code, 0);
    for (tool, said) in [
        ("demo.update", "policy.toml:5:20: demo.update counts as mutating: a tool to measure with must only read"),
        ("deno.list", "policy.toml:5:20: no server is called 'deno': did you mean 'demo'?"),
    ] {
        terminal.file("policy.toml", rules(tool));
        let answer = terminal.belljar(&["policy", "check", "--config", config]);
        let all = format!("{}{}", answer.stdout, answer.stderr).replace("error: ", "");
        assert!(answer.code == 2 && all.contains(said), "{said}\n{answer:#?}");
    }
    terminal.file("policy.toml", rules("demo.list"));
    let explain = |more: &[&str]| {
        let arguments = ["policy", "explain", "demo.update", "--input", "{\"id\": 3}", "--config", config];
        terminal.belljar(&[&arguments[..], more].concat())
    };
    for (more, said) in [
        (&[][..], "unknown: measure demo.list max 2, seen no count\nask by 'wide'\n"),
        (
            &["--measured", "3"],
            "  met: after [demo.get] with the same id, seen none that succeeded\n  met: measure demo.list max 2, seen 3\nask by 'wide'\n",
        ),
        (&["--measured", "2"], "  not met: measure demo.list max 2, seen 2\nallow by default\n"),
        (
            &["--after", "wide"],
            "  not met: after [demo.get] with the same id, seen one that succeeded\nallow by default\n",
        ),
    ] {
        let answer = explain(more);
        assert!(answer.code == 0 && answer.stdout.ends_with(said), "{said}\n{answer:#?}");
    }
    let answer = explain(&["--after", "wode"]);
    assert!(answer.code == 2 && answer.stderr.contains("no rule 'wode' asks for an earlier call"), "{answer:#?}");
}
