//! A run that its owner cancels on the page.

use std::{
    path::Path,
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{Browser, Owner, runs, state_of};
use crate::support::Answer;

/// A server whose only tool never answers. It records that its call was cancelled.
const STILL: &str = r"
require(`node:readline`).createInterface({ input: process.stdin }).on(`line`, (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === `notifications/cancelled`) require(`node:fs`).appendFileSync(process.argv[1], `cancelled\n`);
  if (id === undefined || method === `tools/call`) return;
  const results = { initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: `still`, version: `1` } },
    'tools/list': { tools: [{ name: `wait`, inputSchema: { type: `object` } }] } };
  console.log(JSON.stringify({ jsonrpc: `2.0`, id, result: results[method] ?? {} }));
});
";
const WAITS: &str = "console.log('it waits'); await still.wait({}); return 1";

/// An owner with that server, which writes into this folder.
fn owner(folder: &Path) -> Owner {
    let heard = folder.join("heard").display().to_string();
    Owner::with(&format!("[servers.still]\ncommand = 'node'\nargs = ['--eval', '''{STILL}''', '--', '{heard}']\n"))
}

/// A command that goes on until its run is cancelled.
fn begun(owner: &Owner, arguments: &[&str]) -> Child {
    let mut command = owner.terminal.command(&[arguments, &["--json", "--config", &owner.config]].concat());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn ended(child: Child) -> Answer {
    Answer::of(child.wait_with_output().unwrap())
}

/// Opens the view of the only live run, once it has sent its call.
fn looks_at(browser: &mut Browser, owner: &Owner) -> String {
    let run = runs(owner, "running", 1).remove(0);
    browser.value(&format!("location.hash = '#/run/{run}'"));
    browser.until(&format!("document.querySelector('h1')?.innerText === {run:?}"));
    browser.until("document.querySelector('details.call')?.innerText.includes('sent')");
    run
}

fn cancels(browser: &mut Browser) {
    browser.press("[data-key=cancel]");
    browser.until("document.querySelector('dialog[open]')?.innerText.includes('1 call has no answer yet')");
    browser.press("dialog[open] #decide");
    browser
        .until("!document.querySelector('dialog') && document.querySelector('.title .state')?.innerText === 'failed'");
    browser.until("document.querySelector('.facts')?.innerText.includes('cancelled') && !document.querySelector('[data-key=cancel]')");
}

/// A call in the ledger of which nobody knows whether it took effect.
fn lost_call(owner: &Owner, run: &str) -> Value {
    let start = Instant::now();
    loop {
        let kept = state_of(owner, run);
        if kept["state"] != "running" {
            assert_eq!((&kept["state"], &kept["error"]), (&json!("failed"), &json!("cancelled")), "{kept:#}");
            assert_eq!(kept["unanswered"], 1, "{kept:#}");
            return kept["calls"][0].clone();
        }
        assert!(start.elapsed() < Duration::from_secs(60), "{kept:#}");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_run_or_call_is_cancelled_from_its_page_and_who_asked_for_it_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let owner = owner(folder.path());
    let mut browser = Browser::new();
    browser.becomes(1440, 900, "light");
    owner.opens(&mut browser);
    let waiting = begun(&owner, &["run", "--code", WAITS]);
    let run = looks_at(&mut browser, &owner);
    // A look is not a cancellation.
    browser.press("[data-key=cancel]");
    browser.press("dialog[open] .buttons button:not(#decide)");
    browser.until("!document.querySelector('dialog')");
    assert_eq!(state_of(&owner, &run)["state"], "running");
    cancels(&mut browser);
    let answer = ended(waiting);
    let told = answer.json();
    assert_eq!((answer.code, &told["error"]["kind"], &told["run"]), (1, &json!("cancelled"), &json!(run)), "{told:#}");
    assert!(told["error"]["hint"].as_str().unwrap().contains("belljar's owner cancelled it"), "{told:#}");
    // What it did until then is told too.
    assert_eq!((&told["logs"][0]["text"], &told["calls"][0]["tool"]), (&json!("it waits"), &json!("wait")), "{told:#}");
    assert_eq!(lost_call(&owner, &run)["tool"], "wait");

    let waiting = begun(&owner, &["call", "still.wait"]);
    let run = looks_at(&mut browser, &owner);
    cancels(&mut browser);
    let told = ended(waiting).json();
    assert_eq!((&told["ok"], &told["error"]["kind"]), (&json!(false), &json!("cancelled")), "{told:#}");
    assert_eq!(lost_call(&owner, &run)["tool"], "wait");
    // Both calls were cancelled at their server.
    let start = Instant::now();
    while std::fs::read_to_string(folder.path().join("heard")).unwrap_or_default() != "cancelled\ncancelled\n" {
        assert!(start.elapsed() < Duration::from_secs(60), "the server did not hear of both");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_call_that_waits_when_its_run_is_cancelled_is_shown_as_not_sent() {
    let folder = tempfile::tempdir().unwrap();
    let owner = owner(folder.path());
    let mut browser = Browser::new();
    browser.becomes(1440, 900, "light");
    owner.opens(&mut browser);
    // A run with a call that was sent is not put aside.
    let waiting = begun(&owner, &["run", "--code", "await Promise.all([kid.pay({ amount: 1 }), still.wait({})])"]);
    let run = runs(&owner, "running", 1).remove(0);
    browser.value(&format!("location.hash = '#/run/{run}'"));
    let call = |tool: &str| {
        format!("[...document.querySelectorAll('details.call')].find((call) => call.innerText.includes('{tool}'))")
    };
    browser.until(&format!("{}.innerText.includes('waits for you')", call("kid.pay")));
    browser.until(&format!("{}.innerText.includes('sent')", call("still.wait")));
    cancels(&mut browser);
    assert_eq!(ended(waiting).json()["error"]["kind"], "cancelled");
    browser.until(&format!("{}.innerText.includes('not sent')", call("kid.pay")));
    assert_eq!(browser.value(&format!("!!{}.querySelector('.is-open')", call("kid.pay"))), false);
    assert_eq!(browser.value("document.querySelector('main').innerText.includes('waits for you')"), false);
    browser.value("location.hash = '#/approvals'");
    browser.until("document.body.innerText.includes('Nothing waits for you')");
}

#[test]
fn a_run_that_goes_on_says_whether_it_is_queued_and_offers_nothing_that_takes_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let heard = folder.path().join("heard").display().to_string();
    let owner = Owner::with(&format!(
        "[servers.still]\ncommand = 'node'\nargs = ['--eval', '''{STILL}''', '--', '{heard}']\n[runs]\nmax_live = 1\nqueue_timeout = '10m'\n"
    ));
    let mut browser = Browser::new();
    browser.becomes(1440, 900, "light");
    owner.opens(&mut browser);
    let first = begun(&owner, &["run", "--code", WAITS]);
    browser.until("document.querySelector('a.run')?.innerText.includes('running')");
    let second = begun(&owner, &["run", "--code", "return 2"]);
    browser.until("document.querySelectorAll('a.run').length === 2");
    browser.until("document.querySelector('a.run .state').innerText === 'queued'");
    let states = "[...document.querySelectorAll('a.run .state')].map((state) => state.innerText)";
    assert_eq!(browser.value(states), json!(["queued", "running"]));
    let run = browser.value("document.querySelector('a.run').dataset.key").as_str().unwrap().to_owned();
    browser.value(&format!("location.hash = '#/run/{run}'"));
    browser.until("document.querySelector('.title .state')?.innerText === 'queued'");
    let main = browser.value("document.querySelector('main').innerText");
    let main = main.as_str().unwrap();
    assert!(main.contains(" so far") && main.contains("kept when it has ended"), "{main}");
    assert!(main.contains("It has called nothing yet"), "{main}");
    let offered = "[...document.querySelectorAll('main button')].map((button) => button.innerText)";
    assert_eq!(browser.value(offered), json!(["Cancel the run…"]));
    // Its time goes on although nothing happens.
    browser.until("parseInt(document.querySelector('[data-since]').innerText) >= 3");
    // When the first is over, it has its slot, and its end brings the rest.
    let running = runs(&owner, "running", 2);
    let other = running.iter().find(|known| **known != run).unwrap();
    browser.value(&format!("location.hash = '#/run/{other}'"));
    browser.until("document.querySelector('details.call')?.innerText.includes('sent')");
    cancels(&mut browser);
    assert_eq!((ended(first).code, ended(second).code), (1, 0));
    browser.value(&format!("location.hash = '#/run/{run}'"));
    browser.until("document.querySelector('.title .state')?.innerText === 'ok' && [...document.querySelectorAll('main button')].some((button) => button.innerText === 'Replay')");
    assert_eq!(browser.value("!!document.querySelector('[data-since]')"), false);
}

#[test]
fn only_a_run_that_goes_on_in_the_process_of_the_page_is_cancelled_there() {
    let folder = tempfile::tempdir().unwrap();
    let owner = owner(folder.path());
    let mut browser = Browser::new();
    browser.becomes(1440, 900, "light");
    owner.opens(&mut browser);
    let mut elsewhere = begun(&owner, &["run", "--no-daemon", "--code", WAITS]);
    let run = looks_at(&mut browser, &owner);
    assert_eq!(browser.value("!!document.querySelector('[data-key=cancel]')"), false);
    let asked = |run: &str| {
        format!(
            "import('./api.js').then(({{ post }}) => post('api/runs/{run}/cancel')).then(String, (error) => `${{error.status}} ${{error.message}}`)"
        )
    };
    let refused = browser.value(&asked(&run));
    assert_eq!(refused, format!("409 nothing is cancelled: {run} has ended, or runs in another process"));
    assert_eq!(state_of(&owner, &run)["state"], "running");
    assert_eq!(browser.value(&asked("r_nothing")), "404 there is no run r_nothing");
    elsewhere.kill().unwrap();
    elsewhere.wait().unwrap();
}
