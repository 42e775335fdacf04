//! A rule can say how many calls it lets pass, and it lets the first ones of a script pass.

use std::sync::{Arc, atomic::Ordering};

use belljar_gateway::Gateway;
use belljar_ledger::Asker;
use belljar_policy::{Policy, absolute_folder};
use serde_json::{Value, json};

use crate::{
    approvals::House,
    dead_children::child,
    stub_server::{Stub, gateway_with_rules, run, text, value},
    support::Terminal,
};

fn shop(rules: &str) -> (Stub, Gateway) {
    let schema = json!({ "type": "object", "properties": { "n": { "type": "number" }, "note": { "type": "string" } } });
    let tools = ["pay", "look"].map(|name| json!({ "name": name, "inputSchema": schema }));
    let stub = Stub::new(json!(tools), |_, _| text("done"));
    let policy = Policy::parse(rules, &absolute_folder).unwrap_or_else(|problems| panic!("{problems}"));
    let gateway = gateway_with_rules(&[("shop", stub.clone())], Arc::new(policy));
    (stub, gateway)
}

const TWENTY: &str = "default = 'allow'\n[[rule]]\nid = 'twenty'\ntools = 'shop.pay'\nat_most = '20/run'\nthen = 'deny'\n\
    [[rule]]\nid = 'negative'\ntools = 'shop.pay'\nargs.n = { max = -1 }\nthen = 'deny'\n";

#[tokio::test(flavor = "multi_thread")]
async fn the_first_calls_of_a_script_pass_in_its_own_order() {
    let (stub, gateway) = shop(TWENTY);
    // Every third call is so large that its check takes a thread, and longer than that of the next
    // call.
    let source = "const calls = Array.from({ length: 30 }, (_, n) => shop.pay({ n, note: n % 3 ? '' : 'x'.repeat(200_000) })\n\
        .then(() => n, e => e.rule));\n\
        return await Promise.all(calls)";
    for _ in 0..5 {
        let passed = value(&gateway, source).await;
        let expected: Vec<Value> = (0..30).map(|n| if n < 20 { json!(n) } else { json!("twenty") }).collect();
        assert_eq!(passed, json!(expected));
    }
    assert_eq!(stub.calls.load(Ordering::SeqCst), 100);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_denied_or_refused_otherwise_does_not_count() {
    let (stub, gateway) = shop(TWENTY);
    let source = "const rules = new Set();\n\
        for (let n = 0; n < 60; n++) await shop.pay({ n: n % 2 ? n : -n - 1 }).catch(e => rules.add(e.rule));\n\
        for (let n = 0; n < 10; n++) await shop.pay({ n: 'text' }).catch(e => rules.add(e.name));\n\
        for (let n = 0; n < 10; n++) await shop.look({ n });\n\
        return [...rules].sort()";
    assert_eq!(value(&gateway, source).await, json!(["TypeError", "negative", "twenty"]));
    assert_eq!(stub.calls.load(Ordering::SeqCst), 20 + 10);
}

#[tokio::test]
async fn a_rule_that_allows_so_many_leaves_the_rest_to_the_rules_behind_it() {
    let (stub, gateway) = shop(
        "default = 'deny'\n[[rule]]\nid = 'few'\nargs.n = { max = 10 }\nat_most = '2/run'\nthen = 'allow'\n\
        [[rule]]\nid = 'three'\nat_most = '3/run'\nthen = 'allow'\n",
    );
    let source = "const passed = [];\n\
        for (const n of [1, 50, 2, 3, 4, 5]) await shop.pay({ n }).then(() => passed.push(n), () => passed.push(null));\n\
        return passed";
    let outcome = run(&gateway, source).await;
    assert_eq!(outcome.result.unwrap().to_value().unwrap(), json!([1, 50, 2, 3, 4, null]));
    let rules: Vec<_> = outcome.calls.iter().map(|call| call.rule.as_deref()).collect();
    assert_eq!(rules, [Some("few"), Some("three"), Some("few"), Some("three"), Some("three"), None]);
    assert_eq!(stub.calls.load(Ordering::SeqCst), 5);
}

#[tokio::test]
async fn where_nobody_can_count_a_rule_fails_closed() {
    let pay = "try { await shop.pay({ n: 1 }); return 'passed' } catch (e) { return e.rule ?? null }";
    let (_, gateway) = shop("default = 'deny'\n[[rule]]\nid = 'a'\nat_most = '9/day'\nthen = 'allow'\n");
    assert_eq!(value(&gateway, pay).await, Value::Null);
    let (stub, gateway) = shop("default = 'allow'\n[[rule]]\nid = 'a'\nat_most = '9/hour'\nthen = 'deny'\n");
    assert_eq!(value(&gateway.with_asker(Asker::new(Some("ada"), None)), pay).await, "a");
    assert_eq!(stub.calls.load(Ordering::SeqCst), 0);
}

#[test]
fn calls_of_a_day_are_counted_over_all_processes() {
    let terminal = Terminal::new();
    let config = terminal.file("belljar.toml", "[servers.demo]\nbuiltin = 'demo'\n");
    let config = config.to_str().unwrap();
    let rules = "default = 'allow'\n[[rule]]\nid = 'three'\ntools = 'demo.list_*'\nat_most = '3/day'\nthen = 'deny'\n";
    terminal.file("policy.toml", rules);
    let codes: Vec<i32> = (0..5)
        .map(|_| terminal.belljar(&["call", "demo.list_issues", "--no-daemon", "--config", config]).code)
        .collect();
    assert_eq!(codes, [0, 0, 0, 1, 1]);
    // The run's calls count together, and calls that the rule does not match go on.
    let source = "await demo.list_projects({}).catch(e => e.rule)";
    let answer = terminal.belljar(&["run", "--code", source, "--no-daemon", "--config", config]);
    assert!(answer.code == 0 && answer.stdout.contains("three"), "{answer:#?}");
    let source = "await demo.get_issue({ id: 1 }); 'passed'";
    let answer = terminal.belljar(&["run", "--code", source, "--no-daemon", "--config", config]);
    assert!(answer.code == 0 && answer.stdout.contains("passed"), "{answer:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_that_asks_does_so_from_the_next_call_on() {
    let rules = "default = 'allow'\n[[rule]]\nid = 'two'\ntools = 'fs.write_file'\nat_most = '2/run'\nthen = 'ask'\n";
    let house = House::new(rules, std::time::Duration::from_secs(600));
    let source = "const all = []; for (const path of ['/1', '/2', '/3', '/4']) {\n\
        await fs.write_file({ path, content: '' }).then(() => all.push(path), e => all.push(e.rule)) }\n\
        return all";
    let run = house.start(source);
    let question = house.questions(1).await.remove(0);
    assert_eq!(house.sent(), ["/1", "/2"], "two pass unasked");
    house.decide(question.id, true).await.unwrap();
    let question = loop {
        let next = house.questions(1).await.remove(0);
        if next.id != question.id {
            break next;
        }
    };
    house.decide(question.id, false).await.unwrap();
    assert_eq!(run.await.unwrap().result.unwrap().to_value().unwrap(), json!(["/1", "/2", "/3", "two"]));
    assert_eq!(house.sent(), ["/1", "/2", "/3"]);
}

#[cfg(target_os = "linux")]
#[test]
fn in_a_process_for_scripts_long_arguments_count_in_their_order_too() {
    let terminal = Terminal::new();
    let text = format!(
        "[runs]\nprocess = true\n[servers.kid]\ncommand = {:?}\nargs = [\"echo\"]\n",
        child().to_str().unwrap()
    );
    let config = terminal.file("belljar.toml", text);
    let rules = "default = 'allow'\n[[rule]]\nid = 'ten'\ntools = 'kid.echo'\nat_most = '10/run'\nthen = 'deny'\n";
    terminal.file("policy.toml", rules);
    // Calls above 16 KiB get a task of their own before they are judged.
    let source = "const calls = Array.from({ length: 20 }, (_, n) => kid.echo({ text: 'x'.repeat(n % 3 ? 1 : 60_000) })\n\
        .then(() => n, e => e.rule));\n\
        return (await Promise.all(calls)).join(' ')";
    for _ in 0..5 {
        let run = ["run", "--code", source, "--no-daemon", "--config", config.to_str().unwrap()];
        let answer = terminal.belljar(&run);
        let expected = format!("0 1 2 3 4 5 6 7 8 9{}", " ten".repeat(10));
        assert!(answer.code == 0 && answer.stdout.contains(&expected), "{answer:#?}");
    }
}
