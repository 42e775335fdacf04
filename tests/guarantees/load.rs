//! More clients than belljar has room for: each run is made once, and nothing is lost, even if
//! belljar is killed.
//!
//! The full measurement is a bench: `cargo bench --workspace --bench http`.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use belljar_benches::http::{Endpoint, load};
use serde_json::json;

use crate::{
    dead_children::child,
    http::{Served, result, started, token},
    killed_anywhere::wait_for_servers,
    support::Terminal,
};

const CLIENTS: usize = 100;
const RUNS: usize = 4;

/// A server with a child that leaves a line in a file for each call, and with room for a few runs.
fn served(max_live: u32, max_queued: u32) -> (Served, PathBuf) {
    served_at(Terminal::new(), max_live, max_queued)
}

fn served_at(terminal: Terminal, max_live: u32, max_queued: u32) -> (Served, PathBuf) {
    let marks = terminal.folder.path().join("marks");
    let config = terminal.file(
        "belljar.toml",
        format!(
            "[runs]\nmax_live = {max_live}\nmax_queued = {max_queued}\n\
             [servers.tally]\ncommand = {:?}\nargs = ['tally', {marks:?}]\nshare = 'owner'\n",
            child()
        ),
    );
    (Served::of(terminal, &["--config", config.to_str().unwrap()]), marks)
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

fn script(client: usize, run: usize) -> (String, serde_json::Value) {
    let name = format!("{client}-{run}");
    (format!("await tally.mark({{ text: '{name}' }}); return '{name}'"), json!(name))
}

/// How often each mark occurs.
fn marks(file: &Path) -> BTreeMap<String, usize> {
    let mut marks = BTreeMap::new();
    for line in std::fs::read_to_string(file).unwrap_or_default().lines() {
        *marks.entry(line.to_owned()).or_default() += 1;
    }
    marks
}

#[test]
fn of_more_clients_than_there_is_room_for_each_run_is_made_once_and_answered() {
    let (served, file) = served(4, 8);
    let endpoint = Endpoint { address: served.address, token: served.token.clone() };
    let load = runtime().block_on(load(&endpoint, CLIENTS, RUNS, script));
    assert!(load.lost.is_empty(), "{:#?}", load.lost);
    assert_eq!(load.answered.len(), CLIENTS * RUNS);
    assert!(load.busy > 0, "there was room for all, and nobody had to ask again");
    let marks = marks(&file);
    assert_eq!(marks.len(), CLIENTS * RUNS);
    assert!(marks.values().all(|times| *times == 1), "{marks:#?}");
}

#[test]
fn a_run_of_one_principal_does_not_wait_for_all_those_that_another_has_queued() {
    const QUEUED: usize = 10;
    let terminal = Terminal::new();
    let bob = token(&terminal, &["add", "bob"]);
    let (served, file) = served_at(terminal, 1, 64);
    let flood: Vec<_> = (0..QUEUED)
        .map(|run| {
            let code = "await new Promise((done) => setTimeout(done, 800)); await tally.mark({ text: 'ann' })";
            served.run(&served.token, &format!("{code}; return {run}"))
        })
        .collect();
    let begun = Instant::now();
    while marks(&file).is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(60), "nothing runs");
        thread::sleep(Duration::from_millis(10));
    }
    let answer = result(served.run(&bob, "await tally.mark({ text: 'bob' }); return 'through'"));
    assert_eq!(answer["structuredContent"]["value"], "through", "{answer:#}");
    let before = marks(&file)["ann"];
    assert!(before < QUEUED / 2, "{before} of {QUEUED} went first");
    for run in flood {
        assert_eq!(result(run)["structuredContent"]["ok"], true);
    }
    assert_eq!(marks(&file), [("ann".to_owned(), QUEUED), ("bob".to_owned(), 1)].into());
}

#[test]
fn a_server_that_is_killed_under_load_runs_nothing_twice_and_says_what_it_had_begun() {
    let (mut served, file) = served(4, 8);
    let endpoint = Endpoint { address: served.address, token: served.token.clone() };
    // Each client goes on until its connection breaks.
    let loading = thread::spawn(move || {
        runtime().block_on(load(&endpoint, 24, 10_000, |client, run| {
            let (code, value) = script(client, run);
            (format!("{code} + (await new Promise((done) => setTimeout(() => done(''), 30)))"), value)
        }))
    });
    let begun = Instant::now();
    while marks(&file).len() < 40 {
        assert!(begun.elapsed() < Duration::from_secs(60), "nothing runs");
        thread::sleep(Duration::from_millis(10));
    }
    served.child.kill().unwrap();
    served.child.wait().unwrap();
    let load = loading.join().unwrap();
    wait_for_servers(&file);
    let before = marks(&file);
    assert!(before.values().all(|times| *times == 1), "{before:#?}");
    // What was answered had happened.
    assert!(!load.answered.is_empty() && load.answered.len() <= before.len());

    let config = served.terminal.folder.path().join("belljar.toml");
    let arguments = ["--config", config.to_str().unwrap()];
    (served.child, served.address, served.said) = started(&served.terminal, &arguments);
    assert_eq!(served.value("await tally.mark({ text: 'after' }); return 1"), 1);
    let mut after = marks(&file);
    assert_eq!(after.remove("after"), Some(1));
    assert_eq!(after, before, "nothing was done again by itself");
    let runs = served.terminal.belljar(&["runs", "--json", "--limit", "100"]).json();
    let interrupted = runs["runs"].as_array().unwrap().iter().filter(|run| run["state"] == "interrupted").count();
    // A client has one at a time.
    assert!((1..=24).contains(&interrupted), "{interrupted}: {runs:#}");
}
