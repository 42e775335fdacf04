//! The ledger of runs: what is kept of each run, what is not, and what survives a killed process, a
//! damaged file and a missing folder.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    cancellation::{AMPLE, started},
    dead_children::child,
    support::Terminal,
};

const SECRET: &str = "a title that nobody else may read";

pub(crate) fn state(terminal: &Terminal) -> PathBuf {
    terminal.folder.path().join(".local/state/belljar")
}

/// The runs that `belljar runs` lists.
fn runs(terminal: &Terminal, arguments: &[&str]) -> Vec<Value> {
    let answer = terminal.belljar(&[&["runs", "--json"], arguments].concat());
    assert_eq!(answer.code, 0, "{answer:#?}");
    answer.json()["runs"].as_array().unwrap().clone()
}

pub(crate) fn shown(terminal: &Terminal, run: &Value) -> Value {
    let answer = terminal.belljar(&["runs", "show", run.as_str().unwrap(), "--json"]);
    assert_eq!(answer.code, 0, "{answer:#?}");
    answer.json()
}

/// All bytes below a folder.
pub(crate) fn bytes_below(folder: &Path) -> Vec<u8> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { bytes_below(&path) } else { fs::read(&path).unwrap() }).collect()
}

pub(crate) fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn a_run_is_listed_with_its_calls_and_no_value_of_it_is_on_the_disk() {
    let terminal = Terminal::new();
    let create =
        format!("await demo.create_issue({{ project: 'atlas', title: '{SECRET}' }}); await demo.list_projects({{}});");
    let outcome = terminal.belljar(&["run", "--json", "--code", &create]).json();
    assert_eq!(outcome["ok"], true, "{outcome:#}");
    let failed = terminal.belljar(&["run", "--json", "--code", &format!("null.{}", SECRET.replace(' ', "_"))]).json();
    let called = terminal.belljar(&["call", "demo.list_projects", "--json"]).json();

    let all = runs(&terminal, &[]);
    let names: Vec<&Value> = all.iter().map(|run| &run["run"]).collect();
    assert_eq!(names, [&called["run"], &failed["run"], &outcome["run"]], "{all:#?}");
    assert_eq!(all.iter().map(|run| run["state"].as_str().unwrap()).collect::<Vec<_>>(), ["ok", "failed", "ok"]);
    assert_eq!(all.iter().map(|run| run["origin"].as_str().unwrap()).collect::<Vec<_>>(), ["call", "run", "run"]);
    assert_eq!(all[1]["error"], "exception");

    let run = shown(&terminal, &outcome["run"]);
    assert_eq!(run["fuel"], outcome["usage"]["fuel"]);
    assert_eq!(run["source_bytes"], json!(create.len()));
    let calls = run["calls"].as_array().unwrap();
    let said = |name: &str| calls.iter().map(|call| call[name].as_str().unwrap()).collect::<Vec<_>>();
    assert_eq!(said("tool"), ["create_issue", "list_projects"]);
    assert_eq!(said("effect"), ["mutating", "read_only"]);
    assert_eq!(said("state"), ["ok", "ok"]);
    assert!(calls.iter().all(|call| call["arguments_digest"].as_str().unwrap().len() == 32), "{calls:#?}");

    let only = |arguments: &[&str]| runs(&terminal, arguments).len();
    assert_eq!(only(&["--failed"]), 1);
    assert_eq!(only(&["--tool", "demo"]), 2);
    assert_eq!(only(&["--tool", "demo.create_issue"]), 1);
    assert_eq!(only(&["--effect", "external"]), 0);
    assert_eq!(only(&["--since", "1h", "--limit", "2"]), 2);
    assert_eq!(only(&["--since", "2999-01-01"]), 0);

    let table = terminal.belljar(&["runs"]).stdout;
    assert!(table.contains("RUN") && table.contains(names[0].as_str().unwrap()), "{table}");
    // A unique prefix of a name suffices.
    let (whole, start) = (names[0].as_str().unwrap(), &names[0].as_str().unwrap()[..8]);
    let by_start = terminal.belljar(&["runs", "show", start, "--json"]);
    assert_eq!((by_start.code, &by_start.json()["run"]), (0, names[0]), "{by_start:#?}");
    let none = terminal.belljar(&[
        "runs",
        "show",
        &format!("{}{}", start, if whole[8..].starts_with('0') { '1' } else { '0' }),
    ]);
    assert_eq!((none.code, none.stderr.contains("has no run")), (1, true), "{none:#?}");
    let wrong = terminal.belljar(&["runs", "show", "nothing"]);
    assert_eq!((wrong.code, wrong.stderr.contains("r_ and 13 digits")), (2, true), "{wrong:#?}");
    let unknown = terminal.belljar(&["runs", "show", "r_0000000000000"]);
    assert_eq!((unknown.code, unknown.stderr.contains("has no run")), (1, true), "{unknown:#?}");

    let kept = bytes_below(&state(&terminal));
    assert!(holds(&kept, "create_issue"), "this is where it is kept");
    for value in [SECRET, &SECRET.replace(' ', "_")] {
        assert!(!holds(&kept, value), "'{value}' is on the disk");
    }
}

#[test]
fn a_ledger_that_is_off_leaves_nothing() {
    let terminal = Terminal::new();
    terminal.file("belljar.toml", "[ledger]\nlevel = 'off'\n[servers.demo]\nbuiltin = 'demo'\n");
    let outcome = terminal.belljar(&["run", "--config", "belljar.toml", "--json", "--code", "1 + 1"]).json();
    assert_eq!(outcome["value"], 2);
    assert!(outcome["run"].as_str().unwrap().starts_with("r_"), "{outcome:#}");
    assert!(!state(&terminal).join("ledger.db").exists());
    assert!(runs(&terminal, &[]).is_empty());
    let listed = terminal.belljar(&["runs"]);
    assert_eq!((listed.code, listed.stderr.as_str()), (0, "the ledger has no runs\n"), "{listed:#?}");
    let shown = terminal.belljar(&["runs", "show", outcome["run"].as_str().unwrap()]);
    assert_eq!((shown.code, shown.stderr.contains("has no run")), (1, true), "{shown:#?}");
    assert_eq!(terminal.belljar(&["runs", "purge", "--all", "--json"]).json()["purged"], 0);
    assert!(!state(&terminal).join("ledger.db").exists());
}

#[test]
fn a_beginning_of_more_than_one_name_is_refused() {
    let terminal = Terminal::new();
    // Of seventeen names, two begin with the same of the sixteen digits.
    for _ in 0..17 {
        assert_eq!(terminal.belljar(&["run", "--code", "1"]).code, 0);
    }
    let answers = (0..16).map(|digit| terminal.belljar(&["runs", "show", &format!("r_{digit:x}")]));
    let refused: Vec<_> = answers.filter(|answer| answer.code == 2).collect();
    assert!(!refused.is_empty());
    assert!(refused.iter().all(|answer| answer.stderr.contains("more than one run's name")), "{refused:#?}");
}

#[test]
fn a_run_whose_process_was_killed_is_interrupted_and_its_call_may_have_happened() {
    let terminal = Terminal::new();
    let config = format!("[servers.hangs]\ncommand = '{}'\nargs = ['hang-call']\n", child().display());
    terminal.file("belljar.toml", config);
    let script = "await hangs[Object.keys(hangs)[0]]({})";
    let mut run = started(&terminal, &["run", "--config", "belljar.toml", "--code", script]);
    let deadline = Instant::now() + AMPLE;
    let running = loop {
        match runs(&terminal, &[]).into_iter().next() {
            Some(running) if running["unanswered"] == 1 => break running,
            other => assert!(Instant::now() < deadline, "the call was not written before it was sent: {other:?}"),
        }
        thread::sleep(Duration::from_millis(5));
    };
    assert_eq!(running["state"], "running");
    run.kill().unwrap();
    run.wait().unwrap();
    let interrupted = shown(&terminal, &running["run"]);
    assert_eq!(interrupted["state"], "interrupted");
    assert_eq!(interrupted["calls"][0]["state"], "sent");
    assert_eq!(interrupted["calls"][0]["trusted_effect"], "external");
    let told = terminal.belljar(&["runs", "show", running["run"].as_str().unwrap()]).stdout;
    assert!(told.contains("it may have taken effect"), "{told}");
    // Another process that writes records that permanently.
    terminal.belljar(&["run", "--code", "1"]);
    assert_eq!(runs(&terminal, &["--failed"])[0]["state"], "interrupted");
}

#[test]
fn scripts_run_with_a_warning_where_the_ledger_cannot_be_written_and_not_where_it_is_required() {
    let damaged = Terminal::new();
    fs::create_dir_all(state(&damaged)).unwrap();
    fs::write(state(&damaged).join("ledger.db"), "this is no database at all ".repeat(100)).unwrap();
    let without = Terminal::new();
    fs::create_dir_all(without.folder.path().join(".local")).unwrap();
    without.file(".local/state", "a file is where the folder would be");
    for (terminal, what) in [(damaged, "is damaged"), (without, "cannot be")] {
        let call = "await demo.create_issue({ project: 'atlas', title: 'x' }); 2";
        let answer = terminal.belljar(&["run", "--code", call]);
        assert_eq!((answer.code, answer.stdout.as_str()), (0, "2\n"), "{answer:#?}");
        assert!(answer.stderr.contains(what), "{answer:#?}");

        terminal.file("belljar.toml", "[ledger]\nrequired = true\n[servers.demo]\nbuiltin = 'demo'\n");
        let refused = terminal.belljar(&["run", "--config", "belljar.toml", "--json", "--code", call]);
        assert_eq!((refused.code, refused.json()["error"]["kind"].as_str()), (2, Some("config")), "{refused:#?}");
        assert!(
            refused.json()["error"]["message"].as_str().unwrap().contains("the script was not run"),
            "{refused:#?}"
        );
    }
}

#[test]
fn a_run_that_is_kept_whole_is_replayed_exported_compared_and_forgotten() {
    let terminal = Terminal::new();
    let script =
        "const seen = [Date.now(), Math.random()]; seen.push((await demo.get_issue({ id: 40 })).title); return seen;";
    let run = |script: &str| terminal.belljar(&["run", "--ledger", "recordings", "--json", "--code", script]).json();
    let outcome = run(script);
    let name = outcome["run"].as_str().unwrap();
    let shown = shown(&terminal, &outcome["run"]);
    assert_eq!((&shown["recording"], &shown["source"]), (&json!("replayable"), &json!(script)));
    assert_eq!(shown["crossings"][0]["kind"], "arguments");
    assert_eq!(shown["crossings"][0]["text"], r#"{"id":40}"#);

    let replayed = terminal.belljar(&["replay", name, "--json"]);
    assert_eq!((replayed.code, &replayed.json()["value"]), (0, &outcome["value"]), "{replayed:#?}");
    let exported = terminal.belljar(&["runs", "export", name, "-o", "run.belljar"]);
    assert_eq!(exported.code, 0, "{exported:#?}");
    let replayed = terminal.belljar(&["replay", "run.belljar", "--json"]);
    assert_eq!((replayed.code, &replayed.json()["value"]), (0, &outcome["value"]), "{replayed:#?}");

    // As a fixture, on stdout or in a file, exact or loose.
    let text = terminal.belljar(&["runs", "export", name, "--fixture"]);
    assert_eq!(
        (text.code, text.stdout.starts_with(r#"{"fixture":{"version":1,"match":"exact"}}"#)),
        (0, true),
        "{text:#?}"
    );
    let tests = [("exact.belljar.jsonl", &[][..]), ("loose.belljar.jsonl", &["--loose"])];
    for (file, more) in tests {
        let made = terminal.belljar(&[&["runs", "export", name, "--fixture", "-o", file], more].concat());
        assert_eq!((made.code, made.stderr.contains("belljar test")), (0, true), "{made:#?}");
    }
    assert_eq!(fs::read_to_string(terminal.folder.path().join(tests[0].0)).unwrap(), text.stdout);
    let tested = terminal.belljar(&["test", tests[0].0, tests[1].0]);
    assert_eq!((tested.code, tested.stdout.contains("2 passed, 0 failed")), (0, true), "{tested:#?}");
    let again = terminal.belljar(&["runs", "export", name, "-o", "run.belljar"]);
    assert_eq!((again.code, again.stderr.contains("a file of this name exists")), (2, true), "{again:#?}");

    let (one, same) =
        (run("(await demo.get_issue({ id: 40 })).title"), run("(await demo.get_issue({ id: 40 })).title"));
    let other = run("(await demo.get_issue({ id: 41 })).title");
    let diff = |one: &Value, other: &Value| {
        let answer =
            terminal.belljar(&["runs", "diff", one["run"].as_str().unwrap(), other["run"].as_str().unwrap(), "--json"]);
        (answer.code, answer.json()["difference"]["what"].clone())
    };
    assert_eq!(diff(&one, &same), (0, Value::Null));
    assert_eq!(diff(&one, &other), (1, json!("source")));

    let plain = terminal.belljar(&["run", "--json", "--code", "1"]).json();
    let none = terminal.belljar(&["replay", plain["run"].as_str().unwrap()]);
    assert_eq!((none.code, none.stderr.contains("--ledger recordings")), (2, true), "{none:#?}");

    let purged = |arguments: &[&str]| {
        terminal.belljar(&[&["runs", "purge", "--json"], arguments].concat()).json()["purged"].clone()
    };
    assert_eq!(purged(&[]), 0);
    assert_eq!(purged(&[name]), 1);
    assert_eq!(purged(&["--before", "1h"]), 0);
    assert_eq!(purged(&["--all"]), 4);
    assert!(runs(&terminal, &[]).is_empty());
    assert!(!holds(&bytes_below(&state(&terminal)), "Math.random"), "what was purged is still there");
}

#[test]
fn an_argument_that_the_owner_names_gets_a_key_made_of_run_and_call() {
    let terminal = Terminal::new();
    terminal.file("belljar.toml", "[servers.demo]\nbuiltin = 'demo'\nidempotency = { create_issue = 'body' }\n");
    let script = "const keys = [];
        for (const body of [undefined, 'of the script']) {
            keys.push((await demo.get_issue({ id: (await demo.create_issue({ project: 'atlas', title: 't', body })).id })).body);
        }
        return keys;";
    let keys = |outcome: &Value| -> Vec<String> {
        assert_eq!(outcome["ok"], true, "{outcome:#}");
        serde_json::from_value(outcome["value"].clone()).unwrap()
    };
    let run = || keys(&terminal.belljar(&["run", "--config", "belljar.toml", "--json", "--code", script]).json());
    let (first, second) = (run(), run());
    let all: std::collections::BTreeSet<&String> = first.iter().chain(&second).collect();
    assert_eq!(all.len(), 4, "no two calls have the same key: {all:?}");
    assert!(all.iter().all(|key| key.len() == 32 && key.bytes().all(|digit| digit.is_ascii_hexdigit())), "{all:?}");
}

/// The result for a client of `serve` with this name.
fn run_by_client(terminal: &Terminal, serve: &[&str], client: &Value, code: &str) -> Value {
    let mut server = terminal.command(serve).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    let call = json!({ "name": "execute_code", "arguments": { "code": code } });
    let mut stdin = server.stdin.take().unwrap();
    for message in [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call }),
    ] {
        writeln!(stdin, "{message}").unwrap();
    }
    let lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let mut messages = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let answer = messages.find(|message| message["id"] == 2).expect("an answer");
    drop(stdin);
    server.wait().unwrap();
    answer["result"]["structuredContent"].clone()
}

#[test]
fn whoever_asks_for_a_run_is_in_the_ledger_and_cannot_draw_on_the_terminal() {
    let terminal = Terminal::with_daemon();
    terminal.file("belljar.toml", "[servers.demo]\nbuiltin = 'demo'\n");
    let client = json!({ "name": "code\u{1b}[31mpad", "version": "2.1" });
    let long = json!({ "name": "n".repeat(100_000), "version": "" });
    let here = ["serve", "--config", "belljar.toml"];
    let there = ["serve", "--daemon", "--config", "belljar.toml"];
    let names = [(&here[..], &client), (&there, &client), (&here, &long)].map(|(serve, client)| {
        let outcome = run_by_client(&terminal, serve, client, "1");
        assert_eq!(outcome["value"], 1, "{outcome:#}");
        outcome["run"].clone()
    });
    let plain = terminal.belljar(&["run", "--config", "belljar.toml", "--json", "--code", "1"]).json()["run"].clone();
    assert_eq!(terminal.belljar(&["daemon", "stop", "--config", "belljar.toml"]).code, 0);
    for name in &names[..2] {
        let run = shown(&terminal, name);
        assert_eq!((&run["origin"], &run["client"]), (&json!("serve"), &json!("code\u{1b}[31mpad 2.1")), "{run:#}");
        let told = terminal.belljar(&["runs", "show", name.as_str().unwrap()]).stdout;
        assert!(told.contains("pad 2.1)") && !told.contains('\u{1b}'), "{told}");
    }
    assert_eq!(shown(&terminal, &names[2])["client"].as_str().unwrap().len(), 120);
    let owners = shown(&terminal, &plain);
    assert_eq!((&owners["client"], &owners["principal"]), (&Value::Null, &Value::Null), "{owners:#}");
}

#[test]
fn a_run_in_the_daemon_is_kept_as_one_without_it() {
    let terminal = Terminal::with_daemon();
    terminal.file("belljar.toml", "[servers.demo]\nbuiltin = 'demo'\n");
    let run = |more: &[&str]| {
        let command = ["run", "--config", "belljar.toml", "--json", "--code", "(await demo.get_issue({ id: 40 })).id"];
        let answer = terminal.belljar(&[&command, more].concat());
        assert_eq!(answer.code, 0, "{answer:#?}");
        answer.json()["run"].as_str().unwrap().to_owned()
    };
    let names = [run(&["--ledger", "recordings"]), run(&["--no-daemon", "--ledger", "recordings"])];
    let stopped = terminal.belljar(&["daemon", "stop", "--config", "belljar.toml"]);
    assert_eq!(stopped.code, 0, "{stopped:#?}");
    let kept = names.each_ref().map(|name| shown(&terminal, &json!(name)));
    for name in ["origin", "state", "fuel", "source_digest", "recording"] {
        assert_eq!(kept[0][name], kept[1][name], "{name}");
    }
    assert_eq!(kept[0]["recording"], "replayable");
    let of_calls = |run: &Value| {
        run["calls"].as_array().unwrap().iter().map(|call| call["answer_digest"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(of_calls(&kept[0]), of_calls(&kept[1]));
    let diff = terminal.belljar(&["runs", "diff", &names[0], &names[1]]);
    assert_eq!(diff.code, 0, "{diff:#?}");
}
