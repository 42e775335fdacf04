//! What can be done in the views of tools, rules and runs, and what they show.

use serde_json::{Value, json};

use super::{Owner, browser::Browser, owner::HOSTILE, pays, runs, sends, state_of, tool_at};

/// Writes into a field as a person does.
fn types(browser: &mut Browser, selector: &str, text: &str) {
    browser.until(&format!("!!document.querySelector({selector:?})"));
    browser.value(&format!("document.querySelector({selector:?}).value = {}", json!(text)));
}

/// Presses the button with these words.
fn presses(browser: &mut Browser, words: &str) {
    let found = format!("[...document.querySelectorAll('main button')].find((at) => at.textContent === {words:?})");
    browser.until(&format!("!!{found}"));
    browser.value(&format!("{found}.click()"));
}

fn shows(browser: &mut Browser, words: &str) {
    browser.until(&format!("document.body.innerText.includes({})", json!(words)));
}

#[test]
fn a_call_that_is_written_on_the_page_is_judged_and_made_as_belljar_call_makes_it() {
    let owner = Owner::new();
    let mut browser = Browser::new();
    browser.becomes(1440, 900, "light");
    owner.opens(&mut browser);
    // What a tool needs is there to be filled in.
    browser.value("location.hash = '#/tool/demo.get_issue'");
    browser.until("document.querySelector('#arguments')?.value.includes('\"id\": 0')");
    types(&mut browser, "#arguments", "{\"id\": 1}");
    presses(&mut browser, "Call…");
    browser.until("document.querySelector('dialog[open] .arguments')?.innerText.includes('\"id\": 1')");
    // A look is not a call.
    browser.press("dialog .buttons button:not(#decide)");
    browser.until("!document.querySelector('dialog')");
    assert_eq!(owner.terminal.belljar(&["runs", "--json"]).json()["runs"], json!([]));
    presses(&mut browser, "Call…");
    sends(&mut browser);
    browser.until("document.querySelector('.answer pre')?.innerText.includes('\"id\": 1')");
    let called = owner.belljar(&["call", "demo.get_issue", "--input", "{\"id\": 1}", "--json"]).json();
    let shown = browser.value("document.querySelector('.answer pre').textContent");
    let shown: Value = serde_json::from_str(shown.as_str().unwrap()).unwrap();
    assert_eq!(shown, called["value"]);
    let kept = runs(&owner, "ok", 2).iter().map(|run| state_of(&owner, run)["origin"].take()).collect::<Vec<_>>();
    assert_eq!(kept, ["call", "call"]);

    // What the rules deny or ask about is not called, and says why, as the command does.
    let is_explained = owner.belljar(&[
        "policy",
        "explain",
        "demo.update_issue",
        "--input",
        "{\"id\":3,\"state\":\"open\"}",
        "--json",
    ]);
    assert_eq!(is_explained.json()["rule"], "never");
    browser.value("location.hash = '#/tool/demo.update_issue'");
    browser.until("document.querySelector('h1')?.innerText === 'demo.update_issue'");
    types(&mut browser, "#arguments", "{\"id\": 3, \"state\": \"open\"}");
    presses(&mut browser, "What the rules say");
    browser.until("document.querySelector('.decision')?.innerText === 'denies by rule never'");
    presses(&mut browser, "Call…");
    sends(&mut browser);
    browser.until("document.querySelector('.answer')?.innerText.includes('denied')");
    types(&mut browser, "#arguments", "{\"id\": 3, \"state\": \"closed\"}");
    presses(&mut browser, "Call…");
    sends(&mut browser);
    browser.until("document.querySelector('.answer')?.innerText.includes('terminal-only')");
    types(&mut browser, "#arguments", "[1]");
    presses(&mut browser, "Call…");
    shows(&mut browser, "JSON, but not an object");

    // A search finds what a model finds, in the words that it reads.
    browser.value("location.hash = '#/tools'");
    types(&mut browser, "#query", "close an issue");
    presses(&mut browser, "Search");
    browser.until("document.querySelectorAll('.found a.tool-row').length > 0");
    let read = browser.value("document.querySelector('.found pre').textContent");
    let told = owner.belljar(&["search", "close an issue"]).stdout;
    assert_eq!(read.as_str().unwrap().trim_end(), told.trim_end());
}

#[test]
fn rules_are_shown_as_they_were_written_with_what_they_decided() {
    let owner = Owner::new();
    owner.run("await demo.update_issue({ id: 3, state: 'open' }).catch(() => 0); await demo.update_issue({ id: 4, state: 'open' }).catch(() => 0)");
    let mut browser = Browser::new();
    owner.opens(&mut browser);
    browser.value("location.hash = '#/rules'");
    browser.until("[...document.querySelectorAll('.rule')].find((at) => at.innerText.includes('never'))?.innerText.includes('2 hits')");
    let written = "[...document.querySelectorAll('.rule')].find((at) => at.textContent.includes('never')).querySelector('pre').textContent";
    let written = browser.value(written);
    assert_eq!(
        written,
        "[[rule]]\nid = 'never'\ntools = 'demo.update_issue'\nargs.state = { in = ['open'] }\nthen = 'deny'"
    );
    types(&mut browser, "#path", "kid.pay");
    types(&mut browser, "#input", "{\"amount\": 1}");
    presses(&mut browser, "Explain");
    browser.until("document.querySelector('.decision')?.innerText.startsWith('asks by rule money')");
    types(&mut browser, "#path", "nobody.pay");
    presses(&mut browser, "Explain");
    shows(&mut browser, "no server is called 'nobody'");
}

#[test]
fn a_run_is_repeated_exported_and_compared_from_its_page() {
    let owner = Owner::new();
    let script = |issue: u32| {
        format!("const {{ id }} = await demo.get_issue({{ id: {issue} }}); console.log({}); return id", json!(HOSTILE))
    };
    assert_eq!((owner.run(&script(1)).code, owner.run(&script(2)).code), (0, 0));
    let kept = runs(&owner, "ok", 2);
    let (second, first) = (&kept[0], &kept[1]);
    let mut browser = Browser::new();
    browser.becomes(1440, 900, "light");
    owner.opens(&mut browser);
    browser.value(&format!("location.hash = '#/run/{first}'"));
    presses(&mut browser, "Replay");
    shows(&mut browser, "Repeated exactly");
    assert_eq!(browser.value("document.querySelector('.answer pre').textContent"), "1");
    // What is saved is the same as what the commands print.
    browser.value("window.saved = []; URL.createObjectURL = (blob) => { window.saved.push(blob); return 'blob:none'; }; HTMLAnchorElement.prototype.click = function () { window.saved.push(this.download); }");
    presses(&mut browser, "Export as JSON");
    browser.until("window.saved.length === 2");
    let text = browser.value("window.saved[0].text()");
    let text: Value = serde_json::from_str(text.as_str().unwrap()).unwrap();
    assert_eq!(text, owner.terminal.belljar(&["runs", "show", first, "--json"]).json());
    assert_eq!(browser.value("window.saved[1]"), format!("{first}.json"));
    presses(&mut browser, "Export the recording");
    browser.until("window.saved.length === 4");
    let file = owner.terminal.folder.path().join("exported");
    assert_eq!(owner.belljar(&["runs", "export", first, "-o", file.to_str().unwrap()]).code, 0);
    let hex = "window.saved[2].arrayBuffer().then((bytes) => [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join(''))";
    let saved = browser.value(hex);
    let expected: String = std::fs::read(&file).unwrap().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(saved, expected);

    browser.until(&format!("!!document.querySelector('#other option[value=\"{second}\"]')"));
    browser.value(&format!("const other = document.querySelector('#other'); other.value = '{second}'; other.dispatchEvent(new Event('change'))"));
    shows(&mut browser, "They differ first in the source");
    shows(&mut browser, "The texts are on the pages of both runs.");
    let differing = "[...document.querySelectorAll('tbody tr.differs')].map((row) => row.innerText.split(/\\s/)[0])";
    assert_eq!(browser.value(differing).as_array().unwrap().last(), Some(&json!("0")), "the call differs");
    browser.value(&format!("location.hash = '#/compare/{first}/{first}'"));
    shows(&mut browser, "They are equal");
    // A run without a recording says what would keep one.
    assert_eq!(owner.belljar(&["run", "--ledger", "calls", "--code", "1"]).code, 0);
    let plain = &runs(&owner, "ok", 3)[0];
    browser.value(&format!("location.hash = '#/run/{plain}'"));
    presses(&mut browser, "Replay");
    shows(&mut browser, "has no recording");
}

#[test]
fn a_tool_shows_its_observed_result_and_the_rules_for_it() {
    let owner = Owner::new();
    assert_eq!(owner.run("await kid.look({}); await kid.look({})").code, 0);
    let mut browser = Browser::new();
    owner.opens(&mut browser);
    let address = tool_at(&mut browser, "kid.look");
    browser.value(&format!("location.hash = {address:?}"));
    shows(&mut browser, "its shape is from 2 calls");
    let told = owner.belljar(&["search", "kid.look", "--detail", "full", "--json"]).json();
    let declaration = browser.value("document.querySelector('[data-key=declaration]').textContent");
    assert_eq!(declaration, told["results"][0]["declaration"]);
}

#[test]
fn a_server_that_does_not_start_holds_up_no_other_view_and_is_not_started_again_by_looking() {
    let owner = Owner::with(
        "[servers.slow]\ncommand = 'node'\nargs = ['--eval', 'setInterval(() => 0, 1000)']\nstart_timeout = '600s'\n",
    );
    assert_eq!(owner.run(&pays("1")).code, 4);
    let mut browser = Browser::new();
    browser.becomes(1440, 900, "light");
    owner.opens(&mut browser);
    browser.value("location.hash = '#/server/slow'");
    shows(&mut browser, "Asking belljar");
    browser.value("location.hash = '#/approvals'");
    browser.until("!!document.querySelector('.question button.approve')");
    browser.value("location.hash = '#/tools'");
    browser.until("[...document.querySelectorAll('.server')].some((at) => at.innerText.includes('slow') && at.innerText.includes('starting'))");
    // A server that fails at once is asked once, however long its view is open.
    browser.value("location.hash = '#/server/dead'");
    shows(&mut browser, "set TOKEN");
    browser.value("window.looks = 0; const before = fetch; window.fetch = (...asked) => { if (String(asked[0]).includes('api/tools')) window.looks += 1; else if (String(asked[0]).includes('api/waiting')) window.looked = (window.looked ?? 0) + 1; return before(...asked); }");
    browser.until("window.looked > 1");
    assert_eq!(browser.value("window.looks"), 0);
}

#[test]
fn what_a_person_has_written_stays_when_belljar_does_not_answer_for_a_while() {
    let owner = Owner::new();
    let mut browser = Browser::new();
    owner.opens(&mut browser);
    browser.value("location.hash = '#/rules'");
    types(&mut browser, "#path", "kid.pay");
    browser.value("window.real = fetch; window.fetch = () => Promise.reject(new TypeError('gone'))");
    shows(&mut browser, "Not up to date");
    assert_eq!(browser.value("document.querySelector('#path').value"), "kid.pay");
    browser.value("window.fetch = window.real");
    browser.until("document.getElementById('fault').hidden");
    assert_eq!(browser.value("document.querySelector('#path').value"), "kid.pay");
}

#[test]
fn runs_are_filtered_on_the_page_as_on_the_command_line() {
    let owner = Owner::new();
    assert_eq!((owner.run("1").code, owner.run(&pays("1")).code, owner.belljar(&["call", "kid.look"]).code), (0, 4, 0));
    runs(&owner, "ok", 2);
    let mut browser = Browser::new();
    browser.becomes(1440, 900, "light");
    owner.opens(&mut browser);
    browser.until("document.querySelectorAll('a.run').length === 3");
    let mut listed = |arguments: &[&str], client: &str, waiting: bool| {
        browser.value(&format!(
            "{{ const client = document.querySelector('#client'); client.value = {client:?}; client.dispatchEvent(new Event('input')); \
             const box = document.querySelector('[data-key=waiting]'); box.checked = {waiting}; box.dispatchEvent(new Event('change')); }}"
        ));
        let told = owner.terminal.belljar(&[&["runs", "--json"], arguments].concat()).json()["runs"].take();
        let named: Vec<&Value> = told.as_array().unwrap().iter().map(|run| &run["run"]).collect();
        let shown = "JSON.stringify([...document.querySelectorAll('a.run')].map((row) => row.dataset.key))";
        browser.until(&format!("{shown} === {}", json!(json!(named).to_string())));
        named.len()
    };
    assert_eq!(listed(&["--client", "CAL"], "CAL", false), 1);
    assert_eq!(listed(&["--waiting"], "", true), 1);
    assert_eq!(listed(&["--waiting", "--client", "call"], "call", true), 0);
    assert_eq!(listed(&["--client", "nobody"], "nobody", false), 0);
    assert_eq!(listed(&[], "", false), 3);
}
