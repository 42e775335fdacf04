//! A rule that would have no effect is found before it is needed: by `belljar policy`, and by the
//! checks when rules are read.

use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use belljar_gateway::Gateway;
use belljar_model::{EffectRules, ToolDefinition, ToolPath};
use belljar_policy::{Assumed, Call, Caller, Places, Policy, ServerTools, absolute_folder};
use serde_json::{Value, json};

use crate::{
    dead_children::child,
    stub_server::{Stub, gateway_with_rules, text},
    support::{Answer, Terminal, repository},
};

/// Policies with one common mistake each.
const TYPOS: usize = 19;

fn corpus(folder: &str) -> PathBuf {
    repository().join("tests/policies").join(folder)
}

/// The tools of real servers, by the names that the corpus gives them.
fn real_lists() -> Vec<(&'static str, Vec<ToolDefinition>)> {
    let tools = |server: &str| match Stub::real_tools(server) {
        Value::Array(tools) => tools.into_iter().map(|tool| ToolDefinition::from_json(tool).unwrap()).collect(),
        other => panic!("{other}"),
    };
    vec![("fs", tools("filesystem")), ("git", tools("git"))]
}

fn snapshots(folder: &Path) -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(folder);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings
}

/// Compares each text with its file, and reports all that differ.
fn compare(folder: &Path, texts: impl IntoIterator<Item = (String, String)>) {
    let settings = snapshots(folder);
    let mut others = Vec::new();
    for (name, text) in texts {
        let compare = || settings.bind(|| insta::assert_snapshot!(name.as_str(), text));
        if catch_unwind(AssertUnwindSafe(compare)).is_err() {
            others.push(format!("--- {name}\n{text}\n"));
        }
    }
    assert!(others.is_empty(), "{} texts are others\n{}", others.len(), others.join("\n"));
}

#[test]
fn a_policy_with_a_typo_is_refused_with_its_place() {
    let (folder, lists, effects) = (corpus("typos"), real_lists(), EffectRules::default());
    let servers: Vec<ServerTools<'_>> =
        lists.iter().map(|(name, tools)| ServerTools { name, effects: &effects, tools: Some(tools) }).collect();
    let mut files: Vec<PathBuf> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    assert_eq!(files.len(), TYPOS);
    let said = |file: &PathBuf| {
        let read = Policy::parse(&fs::read_to_string(file).unwrap(), &absolute_folder);
        let said = match read {
            Err(problems) => problems.to_string(),
            Ok(policy) => {
                let found = policy.compare(&servers);
                let mistakes = found.mistakes.iter().map(|mistake| mistake.problem.to_string());
                let warnings = found.warnings.iter().map(|problem| format!("warning: {problem}"));
                mistakes.chain(warnings).collect::<Vec<_>>().join("\n")
            }
        };
        assert!(said.contains("line "), "nothing is said of {}", file.display());
        (file.file_stem().unwrap().to_str().unwrap().to_owned(), said)
    };
    compare(&folder, files.iter().map(said));
}

/// Paths are in the folders whose names they begin with, and `..` makes everything unknown.
struct ByName;

impl Places for ByName {
    fn is_under(&self, _: &str, path: &str, folders: &[PathBuf]) -> Option<bool> {
        (!path.contains("..")).then(|| folders.iter().any(|folder| Path::new(path).starts_with(folder)))
    }
}

#[test]
fn an_explanation_says_of_each_rule_what_was_met_and_what_was_seen() {
    let folder = corpus("explain");
    let policy = fs::read_to_string(folder.join("policy.toml")).unwrap();
    let policy = Arc::new(Policy::parse(&policy, &absolute_folder).unwrap());
    let calls: Vec<Value> = serde_json::from_str(&fs::read_to_string(folder.join("calls.json")).unwrap()).unwrap();
    let explained = calls.iter().map(|call| {
        let path: ToolPath = call["call"].as_str().unwrap().parse().unwrap();
        let trusted = EffectRules::default().trusted(&ToolDefinition::unknown(path.tool()));
        let tool = policy.for_tool(&path, trusted);
        let caller = Caller {
            principal: Some(call["principal"].as_str().unwrap_or("owner")),
            profile: call["profile"].as_str(),
        };
        let labels = call["carries"].as_str().map(|name| policy.label(name).unwrap()).unwrap_or_default();
        let arguments = call["args"].as_object().unwrap();
        let call_of =
            Call { caller, arguments, places: &ByName, history: &Assumed { labels, ..Assumed::default() }, at: None };
        let explanation = tool.explain(&call_of);
        assert_eq!(explanation.decision, tool.decide(&call_of), "{call}");
        (call["name"].as_str().unwrap().to_owned(), format!("{path} {}\n{explanation}", call["args"]))
    });
    compare(&folder, explained.collect::<Vec<_>>());
}

const RULES: &str = "default = \"allow\"\n\n[[rule]]\nid = \"short\"\ntools = \"kid.slow\"\nargs.ms = { max = 5 }\n\
    then = \"allow\"\n\n[[rule]]\nid = \"long\"\ntools = \"kid.slow\"\nargs.ms = { min = 6 }\nthen = \"deny\"\nwhy = \"too long\"\n\n";

struct Kid {
    terminal: Terminal,
    config: String,
}

impl Kid {
    fn new() -> Self {
        let terminal = Terminal::new();
        let text = format!(
            "[servers.kid]\ncommand = {:?}\nargs = [\"echo\"]\n[servers.demo]\nbuiltin = \"demo\"\n",
            child().to_str().unwrap()
        );
        let config = terminal.file("belljar.toml", text).to_str().unwrap().to_owned();
        Self { terminal, config }
    }

    fn rules(&self, text: &str) {
        self.terminal.file("policy.toml", text);
    }

    fn belljar(&self, arguments: &[&str]) -> Answer {
        let mut all = arguments.to_vec();
        all.extend(["--config", &self.config]);
        self.terminal.belljar(&all)
    }
}

#[test]
fn check_says_all_that_is_wrong_and_what_it_could_not_look_at() {
    let kid = Kid::new();
    let answer = kid.belljar(&["policy", "check"]);
    assert_eq!((answer.code, answer.stdout.trim()), (0, "there are no rules: every call of every tool is allowed"));

    kid.rules(RULES);
    let found = kid.belljar(&["policy", "check", "--json"]).json();
    assert_eq!((&found["ok"], &found["rules"], &found["unknown"]), (&json!(true), &json!(2), &json!(["kid"])));
    assert_eq!(kid.belljar(&["servers"]).code, 0);
    let answer = kid.belljar(&["policy", "check"]);
    assert!(
        answer.code == 0 && answer.stdout.ends_with("policy.toml: 2 rules, 0 tests: nothing is wrong\n"),
        "{answer:#?}"
    );

    kid.rules(&format!(
        "{RULES}[[rule]]\nid = 'x'\ntools = ['kid.solw', 'kidd.*']\nargs.a = {{ min = 2 }}\nthen = 'deny'\n"
    ));
    let answer = kid.belljar(&["policy", "check"]);
    assert_eq!(answer.code, 2, "{answer:#?}");
    assert!(
        answer.stdout.contains("policy.toml:18:22: error: no server is called 'kidd': did you mean 'kid'?"),
        "{answer:#?}"
    );
    assert!(
        answer.stdout.contains("policy.toml:18:10: warning: kid lists no tool 'solw': did you mean 'slow'?"),
        "{answer:#?}"
    );
    assert!(answer.stdout.ends_with("policy.toml: 3 rules, 0 tests: 1 mistake, 1 warning\n"), "{answer:#?}");
    let found = kid.belljar(&["policy", "check", "--json"]).json();
    assert_eq!((&found["mistakes"][0]["line"], &found["mistakes"][0]["column"]), (&json!(18), &json!(22)), "{found:#}");

    kid.rules("default = 'allow'\nrules = 3\n");
    let found = kid.belljar(&["policy", "check", "--json"]).json();
    assert_eq!((&found["ok"], &found["mistakes"][0]["line"]), (&json!(false), &json!(2)), "{found:#}");
}

#[test]
fn test_runs_the_tests_of_the_file_and_its_exit_code_says_what_came_of_them() {
    let kid = Kid::new();
    let row =
        |ms: u32, expect: &str| format!("[[test]]\ncall = 'kid.slow'\nargs = {{ ms = {ms} }}\nexpect = '{expect}'\n");
    kid.rules(&format!("{RULES}{}{}", row(3, "allow by short"), row(9, "deny by long")));
    let answer = kid.belljar(&["policy", "test"]);
    assert_eq!((answer.code, answer.stdout.as_str()), (0, "2 tests, 0 failed\n"), "{answer:#?}");
    kid.rules(&format!("{RULES}{}{}", row(3, "allow by short"), row(9, "allow")));
    let answer = kid.belljar(&["policy", "test"]);
    assert_eq!(answer.code, 1, "{answer:#?}");
    assert!(answer.stdout.contains("policy.toml:20:1: failed: kid.slow: expected allow, but:"), "{answer:#?}");
    assert!(answer.stdout.contains("deny by 'long': too long"), "{answer:#?}");
    let found = kid.belljar(&["policy", "test", "--json"]).json();
    assert_eq!((&found["tests"][0]["ok"], &found["tests"][1]["ok"]), (&json!(true), &json!(false)), "{found:#}");
}

#[test]
fn explain_says_why_and_calls_nothing() {
    let kid = Kid::new();
    kid.rules(RULES);
    let answer = kid.belljar(&["policy", "explain", "kid.slow", "--input", "{\"ms\": 9}"]);
    assert_eq!(
        (answer.code, answer.stdout.as_str()),
        (
            0,
            "kid.slow counts as external, and may destroy something\ndeny 'long' (line 9): matches\n  met: ms min 6, seen 9\n\
             deny by 'long': too long\n"
        ),
        "{answer:#?}"
    );
    let found = kid.belljar(&["policy", "explain", "kid.slow", "--json"]).json();
    assert_eq!((&found["verdict"], &found["rule"]), (&json!("deny"), &json!("long")), "{found:#}");
    assert_eq!(found["steps"][0]["conditions"][0]["met"], Value::Null, "{found:#}");
    kid.rules("default = 'allow'\n[[rule]]\nid = 'night'\ntools = 'kid.*'\nhours = '22:00-06:00'\nthen = 'deny'\n");
    for (at, verdict) in [("mon 23:00", "deny"), ("tue 05:59", "deny"), ("tue 06:00", "allow")] {
        let found = kid.belljar(&["policy", "explain", "kid.slow", "--json", "--at", at]).json();
        assert_eq!((&found["verdict"], &found["steps"][0]["conditions"][0]["seen"]), (&json!(verdict), &json!(at)));
    }
    assert_eq!(kid.belljar(&["policy", "explain", "kid.slow", "--at", "noon"]).code, 2);
    let answer = kid.belljar(&["policy", "explain", "kdi.slow"]);
    assert!(answer.code == 2 && answer.stderr.contains("did you mean 'kid'?"), "{answer:#?}");
}

#[test]
fn a_mistake_against_a_list_on_disk_ends_a_command_and_one_that_came_later_concerns_its_server_alone() {
    let kid = Kid::new();
    assert_eq!(kid.belljar(&["servers"]).code, 0);
    kid.rules(&format!(
        "{RULES}[[rule]]\nid = 'x'\ntools = 'kid.slow'\nargs.mss = {{ present = true }}\nthen = 'deny'\n"
    ));
    for arguments in [vec!["call", "demo.list_issues"], vec!["run", "--code", "1"], vec!["call", "kid.slow"]] {
        let answer = kid.belljar(&arguments);
        assert_eq!(answer.code, 2, "{answer:#?}");
        let expected = "policy.toml:19:6: kid.slow has no argument 'mss': did you mean 'ms'?";
        assert!(answer.stderr.contains(expected), "{answer:#?}");
    }
    // From now on the list is newer than the rules, as when a server has changed.
    assert_eq!(kid.belljar(&["servers"]).code, 0);
    assert_eq!(kid.belljar(&["call", "demo.list_issues"]).code, 0);
    let answer = kid.belljar(&["call", "kid.slow", "--input", "{\"ms\": 1}"]);
    assert!(answer.code == 1 && answer.stderr.contains("kid.slow is denied by rule 'x' of the owner"), "{answer:#?}");
    assert!(answer.stderr.contains("line 19, column 6: kid.slow has no argument 'mss'"), "it is told: {answer:#?}");
    assert_eq!(kid.belljar(&["call", "kid.echo", "--input", "{}"]).code, 0, "no rule names it");
    let doctor = kid.belljar(&["doctor"]);
    assert_eq!(doctor.code, 1, "{doctor:#?}");
    assert!(
        doctor.stdout.contains("bad   rules") && doctor.stdout.contains("policy.toml:19:6: kid.slow has no"),
        "{doctor:#?}"
    );
    assert_eq!(kid.belljar(&["policy", "check"]).code, 2);
}

#[tokio::test]
async fn what_a_server_changes_makes_its_own_rules_fail_closed_and_no_others() {
    let list = |argument: &str| {
        let schema = json!({ "type": "object", "properties": { argument: { "type": "boolean" } } });
        json!([{ "name": "drop", "inputSchema": schema }, { "name": "change", "inputSchema": { "type": "object" } }])
    };
    let changed = list("overwrite");
    let first = Stub::new(list("force"), move |tool, _| match tool {
        "change" => json!({ "content": [], "tools": changed.clone() }),
        _ => text("dropped"),
    });
    let other = Stub::new(list("force"), |_, _| text("dropped"));
    let rules = "default = 'allow'\n[[rule]]\nid = 'force'\ntools = ['a.drop', 'b.drop']\n\
        args.force = { present = true }\nthen = 'deny'\n";
    let policy = Arc::new(Policy::parse(rules, &absolute_folder).unwrap());
    let gateway = gateway_with_rules(&[("a", first.clone()), ("b", other)], policy);
    assert_eq!(error(&gateway, "await a.drop({}); await b.drop({})").await, None);
    assert!(error(&gateway, "await a.drop({ force: true })").await.unwrap().contains("rule 'force'"));
    assert_eq!(error(&gateway, "await a.change({})").await, None);
    listed(&gateway, "overwrite").await;
    // The rule does not know 'overwrite', and does not treat a call without 'force' as harmless.
    assert!(error(&gateway, "await a.drop({ overwrite: true })").await.unwrap().contains("rule 'force'"));
    assert!(error(&gateway, "await a.drop({})").await.unwrap().contains("rule 'force'"));
    assert_eq!(error(&gateway, "await b.drop({}); await a.change({})").await, None);
    assert_eq!(first.calls.load(Ordering::SeqCst), 3);
}

/// Waits until the toolbox knows that a tool of `a` has this argument.
async fn listed(gateway: &Gateway, argument: &str) {
    let source = "return (await tools.describe('a.drop')).declaration";
    let is_known = async || {
        let outcome = gateway.execute(source.to_owned()).await;
        outcome.result.is_ok_and(|declaration| declaration.as_str().contains(argument))
    };
    for _ in 0..500 {
        if is_known().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the new list of tools never came");
}

async fn error(gateway: &Gateway, source: &str) -> Option<String> {
    let outcome = gateway.execute(source.to_owned()).await;
    outcome.result.err().map(|error| error.message)
}
