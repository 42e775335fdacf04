//! The owner's page: what it shows, how it is read, and who may see it and decide there.

mod browser;
mod cancelled;
mod dogfood;
mod many;
mod owner;
mod served;
mod views;

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    os::unix::fs::PermissionsExt as _,
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

use browser::Browser;
use owner::{HOSTILE, Opening, Owner};
use serde_json::{Value, json};

use crate::support::Answer;

/// A run of many calls, concurrent and sequential, with everything hostile.
fn busy() -> String {
    let hostile = json!(HOSTILE);
    format!(
        "const named = kid[{hostile}];\nconsole.log({hostile});\nconsole.warn('slow');\n\
         await Promise.all([1, 2, 3].map((at) => named({{ at, text: {hostile} }})));\n\
         for (let at = 0; at < 8; at++) await demo.list_issues({{ limit: 2 }});\nreturn 'done'"
    )
}

/// A script that fails at its third line, after a denied call.
const FAILS: &str = "const issues = await demo.list_issues({ limit: 1 });\nawait demo.update_issue({ id: 3, state: 'open' }).catch(() => 0);\nissues.missing.name\nreturn 1";

/// A script that waits for a decision about a payment.
fn pays(amount: &str) -> String {
    format!("await kid.look({{}}); return await kid.pay({{ amount: {amount}, to: {} }})", json!(HOSTILE))
}

fn state_of(owner: &Owner, run: &str) -> Value {
    owner.terminal.belljar(&["runs", "show", run, "--json"]).json()
}

/// The names of the runs in a state, once there are this many. Runs that only read are written
/// together with others, up to a second after their end.
fn runs(owner: &Owner, state: &str, count: usize) -> Vec<String> {
    let start = Instant::now();
    loop {
        let runs = owner.terminal.belljar(&["runs", "--json"]).json()["runs"].take();
        let of_state = runs.as_array().unwrap().iter().filter(|run| run["state"] == state);
        let named: Vec<_> = of_state.map(|run| run["run"].as_str().unwrap().to_owned()).collect();
        if named.len() >= count {
            return named;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "not {count} runs are {state}: {runs:#}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Elements that extend beyond the window, and are neither clipped nor scrolled by a parent.
const WIDER: &str = "[...document.querySelectorAll('body *')].filter((at) => { \
    if (at.getBoundingClientRect().right <= innerWidth + 1 || at.matches('.skip')) return false; \
    for (let within = at; within !== document.body; within = within.parentElement) \
        if (getComputedStyle(within).overflowX !== 'visible') return false; \
    return true; }).map((at) => at.className || at.tagName)";

/// Looks at a view at each width in both themes, and keeps its pictures for people.
fn can_be_read(browser: &mut Browser, view: &str) {
    for scheme in ["light", "dark"] {
        for width in [360, 800, 1440] {
            browser.becomes(width, 900, scheme);
            let wide = browser.value(WIDER);
            assert_eq!(wide, json!([]), "{view} {width} {scheme}");
            let fits = "document.scrollingElement.scrollWidth <= innerWidth && document.querySelector('main').innerText.length > 120";
            assert_eq!(browser.value(fits), true, "{view} {width} {scheme}");
            let path = pictures().join(format!("{view}-{width}-{scheme}.png"));
            let emptiest = browser.picture(&path, (width, scheme)).emptiest();
            assert!(emptiest < 240, "{view} {width} {scheme}: {emptiest} lines without text");
            assert_eq!(browser.barriers(), json!([]), "{view} {width} {scheme}");
        }
    }
}

fn pictures() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("page")
}

#[test]
fn every_view_can_be_read_at_each_width_in_both_themes_by_eyes_keyboards_and_screen_readers() {
    let owner = Owner::new();
    let mut browser = Browser::new();
    browser.becomes(1440, 900, "light");
    owner.opens(&mut browser);
    browser.until("document.body.innerText.includes('No runs yet')");
    assert_eq!(browser.barriers(), json!([]));
    assert_eq!(browser.value("document.getElementById('out').checkVisibility()"), false, "nobody has signed in");
    assert_eq!(owner.run(&busy()).code, 0);
    assert_eq!(owner.run(FAILS).code, 1);
    assert_eq!(owner.run(&pays("82000")).code, 4);
    assert_eq!(owner.belljar(&["servers"]).code, 0, "it starts those that can be started");
    // All of it appears without a reload.
    browser.until("document.querySelectorAll('a.run').length === 3 && !!document.querySelector('.state-waits')");
    let (ok, failed) = (runs(&owner, "ok", 1).remove(0), runs(&owner, "failed", 1).remove(0));
    let views = [
        ("runs", "#/runs".to_owned(), vec!["waits for you", "exception", "11 calls", "2 calls"]),
        ("run", format!("#/run/{ok}"), vec!["demo.list_issues", "Budgets", "Fuel", "const named", "slow", "reads"]),
        ("failed", format!("#/run/{failed}"), vec!["failed here", "issues.missing.name", "denied", "at line 3"]),
        ("approvals", "#/approvals".to_owned(), vec!["kid.pay", "82000", "money", "Approve…", "Deny…"]),
        (
            "tools",
            "#/tools".to_owned(),
            vec!["demo", "kid", "dead", "Last error", "To fix it", "1.2.3", "p95", "ready"],
        ),
        ("server", "#/server/demo".to_owned(), vec!["demo.list_issues", "7 tools", "reads"]),
        ("tool", "#/tool/demo.update_issue".to_owned(), vec!["Declaration", "never", "terminal-only", "Try a call"]),
        ("rules", "#/rules".to_owned(), vec!["policy.toml", "money", "never", "1 hit", "terminal-only", "external"]),
        ("cost", "#/cost".to_owned(), vec!["tokens", "belljar's two", "Runs over time", "95 of 100"]),
        ("compare", format!("#/compare/{ok}/{failed}"), vec!["They differ first in the source", "Fuel", "differs"]),
    ];
    for (view, address, words) in views {
        browser.value(&format!("location.hash = {address:?}"));
        for word in &words {
            browser.until(&format!("document.querySelector('main').innerText.includes({word:?})"));
        }
        can_be_read(&mut browser, view);
        assert_eq!(browser.value("document.activeElement.id"), "main", "{view}");
    }
    let paint = browser.value("performance.getEntriesByName('first-contentful-paint')[0].startTime");
    eprintln!("first contentful paint after {paint} ms");
    assert!(paint.as_f64().unwrap() > 0.0);
}

#[test]
fn nothing_of_a_child_or_a_script_becomes_markup() {
    let owner = Owner::new();
    assert_eq!(owner.run(&busy()).code, 0);
    assert_eq!(owner.run(&pays("1")).code, 4);
    let mut browser = Browser::new();
    browser.becomes(1440, 900, "light");
    owner.opens(&mut browser);
    let shown = "document.querySelector('main').textContent.includes('<img src=x onerror=\"window.hit=1\"><script>window.hit=1</script>\\\\u{202e}&lt;b&gt;')";
    let hostile = format!("kid.{HOSTILE}");
    let one = &runs(&owner, "ok", 1)[0];
    // Each with what only this view has.
    let addresses = [
        (format!("#/run/{one}"), "details.call"),
        ("#/approvals".to_owned(), ".question .arguments"),
        ("#/tools".to_owned(), ".question.server"),
        ("#/server/kid".to_owned(), "a.tool-row"),
        (tool_at(&mut browser, &hostile), "[data-key=declaration]"),
        ("#/rules".to_owned(), ".rules .hits"),
        (format!("#/compare/{one}/{}", runs(&owner, "resting", 1)[0]), "table.beside"),
    ];
    for (address, own) in addresses {
        // Nothing of the previous view may pass for this one.
        browser.value("document.querySelector('main').replaceChildren()");
        browser.value(&format!("location.hash = {address:?}"));
        browser.until(&format!("!!document.querySelector({own:?})"));
        browser.value("document.querySelectorAll('details').forEach((details) => (details.open = true))");
        browser.until(shown);
        let made = "document.querySelectorAll('main img, main script, main b').length + (window.hit ?? 0)";
        assert_eq!(browser.value(made), 0, "{address}");
        // Nor is there anything that changes the direction of the page's own words.
        assert_eq!(browser.value("document.body.innerText.includes('\\u202e')"), false, "{address}");
    }
    browser.value("location.hash = '#/approvals'");
    browser.press(".question button.approve");
    browser.until("!!document.querySelector('dialog[open] #decide')");
    assert_eq!(browser.value("document.querySelectorAll('dialog img, dialog script').length + (window.hit ?? 0)"), 0);
    // A script that got into the page could not run either.
    let inline = "new Promise((end) => { addEventListener('securitypolicyviolation', (event) => end(event.effectiveDirective)); \
                  const made = document.createElement('div'); try { made.innerHTML = '<b>x</b>'; end('made'); } catch { } })";
    assert_eq!(browser.value(inline), "require-trusted-types-for");
}

/// The address of a tool, as the page makes it.
fn tool_at(browser: &mut Browser, path: &str) -> String {
    let made = browser.value(&format!("'#/tool/' + encodeURIComponent({})", json!(path)));
    made.as_str().unwrap().to_owned()
}

/// A person reads a call to its end, and has it sent.
fn sends(browser: &mut Browser) {
    browser.until("!!document.querySelector('dialog[open] #decide')");
    browser.value("document.querySelector('dialog .end').scrollIntoView()");
    browser.press("dialog[open] #decide:not([disabled])");
}

/// A dialog whose text is longer than the window is at its beginning, and sends nothing until
/// somebody has scrolled to its end.
fn is_read_first(browser: &mut Browser) {
    browser.until("!!document.querySelector('dialog[open] #decide')");
    // An observer is notified once the end is visible on the screen.
    let seen = "new Promise((told) => new IntersectionObserver(([end]) => told(end.isIntersecting)).observe(document.querySelector('dialog .end')))";
    assert_eq!(browser.value(seen), false, "the end is on the screen");
    let at = "[document.querySelector('dialog').scrollTop, document.activeElement.tagName, document.querySelector('#decide').disabled]";
    assert_eq!(browser.value(at), json!([0, "H2", true]));
    browser.value("document.querySelector('dialog').scrollTop = 300; new Promise((end) => setTimeout(end, 2000))");
    assert_eq!(browser.value("document.querySelector('#decide').disabled"), true, "its end was not on the screen");
    browser.value("document.querySelector('dialog .end').scrollIntoView()");
    browser.until("!document.querySelector('#decide').disabled");
}

#[test]
fn a_long_call_is_sent_only_after_somebody_has_scrolled_to_its_end() {
    let owner = Owner::new();
    let mut browser = Browser::new();
    browser.becomes(1440, 1000, "light");
    owner.opens(&mut browser);
    assert_eq!(owner.run("await kid.pay({ lines: Array.from({ length: 400 }, (_, at) => `line ${at}`) })").code, 4);
    browser.value("location.hash = '#/approvals'");
    browser.press("button.approve");
    is_read_first(&mut browser);
    browser.press("dialog .buttons button:not(#decide)");
    // So is one that is written on the page.
    browser.value("location.hash = '#/tool/kid.look'");
    browser.until("!!document.querySelector('#arguments')");
    browser.value("document.querySelector('#arguments').value = JSON.stringify({ lines: Array.from({ length: 400 }, (_, at) => `line ${at}`) })");
    browser.press(".try button.approve");
    is_read_first(&mut browser);
    browser.press("dialog .buttons button:not(#decide)");
    // A short one has its end on the screen at once.
    browser.value("document.querySelector('#arguments').value = '{}'");
    browser.press(".try button.approve");
    browser.press("dialog[open] #decide:not([disabled])");
    browser.until("!document.querySelector('dialog') && !!document.querySelector('.answer pre')");
}

#[test]
fn a_call_that_waits_is_decided_on_the_page_exactly_as_it_was_shown_there() {
    let owner = Owner::new();
    let mut browser = Browser::new();
    owner.opens(&mut browser);
    browser.value("location.hash = '#/approvals'");
    browser.until("document.body.innerText.includes('Nothing waits for you')");
    assert_eq!(owner.run(&pays("82000")).code, 4);
    let run = runs(&owner, "resting", 1).remove(0);
    browser.press("button.approve");
    browser.until("document.querySelector('dialog[open] .arguments')?.innerText.includes('\"amount\": 82000')");
    // A look is not a decision, and neither is going away.
    browser.press("dialog .buttons button:not(#decide)");
    browser.until("!document.querySelector('dialog')");
    assert_eq!(owner.terminal.belljar(&["approvals", "--json"]).json()["approvals"].as_array().unwrap().len(), 1);
    browser.press("button.approve");
    sends(&mut browser);
    browser.until("document.querySelector('dialog .told')?.textContent.startsWith('Approved')");
    browser.press("dialog .buttons button");
    browser.until(
        "document.body.innerText.includes('Nothing waits for you') && document.getElementById('waiting').hidden",
    );
    let resumed = owner.belljar(&["resume", &run]);
    assert!(resumed.code == 0 && resumed.stdout.contains("82000"), "{resumed:?}");
    let calls = state_of(&owner, &run)["calls"].take();
    assert_eq!((&calls[1]["tool"], &calls[1]["decided_by"]), (&json!("pay"), &json!("page")), "{calls:#}");

    // Denied, the call is not sent.
    assert_eq!(owner.run(&pays("2")).code, 4);
    let run = runs(&owner, "resting", 1).remove(0);
    browser.press("button.deny");
    browser.press("dialog[open] #decide");
    browser.until("document.querySelector('dialog .told')?.textContent.startsWith('Denied')");
    assert_eq!(owner.belljar(&["resume", &run]).code, 1);
    browser.press("dialog .buttons button");

    // Questions that another person has decided meanwhile, or that the rule keeps from the page,
    // are not decided.
    assert_eq!(owner.run(&pays("3")).code, 4);
    let run = runs(&owner, "resting", 1).remove(0);
    browser.press("button.approve");
    browser.until("!!document.querySelector('dialog[open] #decide')");
    assert_eq!(owner.belljar(&["runs", "purge", &run]).code, 0);
    sends(&mut browser);
    browser.until("document.querySelector('dialog .told')?.textContent.includes('does not wait any more')");
    browser.press("dialog .buttons button");
    assert_eq!(owner.run("await demo.update_issue({ id: 3, state: 'closed' })").code, 4);
    browser.until("document.body.innerText.includes('its rule does not name the page')");
    assert_eq!(browser.value("document.querySelectorAll('button.approve').length"), 0);
}

#[test]
fn a_run_of_a_thousand_calls_is_shown_whole_and_while_it_goes_on() {
    let owner = Owner::new();
    let mut browser = Browser::new();
    browser.becomes(1440, 900, "light");
    owner.opens(&mut browser);
    let many = "for (let at = 0; at < 999; at++) await demo.get_issue({ id: 1 }); console.log('all but one'); await kid.look({})";
    assert_eq!(owner.run(many).code, 0);
    browser.until("document.querySelectorAll('a.run').length === 1");
    browser.press("a.run");
    browser.until(
        "document.querySelectorAll('details.call').length === 1000 && document.body.innerText.includes('all but one')",
    );
    // What is inside is made when it is opened.
    assert_eq!(browser.value("document.querySelectorAll('.inside > *').length"), 0);
    browser.value("document.querySelectorAll('details.call')[500].open = true");
    browser.until("document.querySelectorAll('.inside')[500].textContent.includes('\"id\":')");
}

/// A browser that is faster than `xdg-open`, which stays until the file is gone.
#[cfg(target_os = "linux")]
const BROWSER: &str = r#"#!/usr/bin/env node
const fs = require("node:fs");
const [, address, ticket] = /url=(http:[^#]*)#([0-9a-f]*)/.exec(fs.readFileSync(process.argv[2], "utf8"));
const origin = address.slice(0, -1);
fetch(`${address}session`, { method: "POST", headers: { origin }, body: JSON.stringify({ ticket }) }).then(() => {
  const look = () => fs.existsSync(process.argv[2]) && setTimeout(look, 20);
  look();
});
"#;

#[cfg(target_os = "linux")]
#[test]
fn a_browser_may_open_the_page_at_once_and_stay_in_the_foreground_of_what_started_it() {
    let owner = Owner::new();
    let program = owner.terminal.file("bin/xdg-open", BROWSER);
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut command = owner.terminal.command(&["ui", "--json", "--config", &owner.config]);
    let answer = Answer::of(command.env("PATH", path).output().unwrap());
    assert_eq!((answer.code, &answer.json()["opened"]), (0, &json!(true)), "{answer:?}");
    // Where there is none, that is an error at once, and nothing is left.
    let mut command = owner.terminal.command(&["ui", "--config", &owner.config]);
    let answer = Answer::of(command.env("PATH", "/nonexistent").output().unwrap());
    assert!(answer.code == 2 && answer.stderr.contains("--no-open"), "{answer:?}");
    let left = std::fs::read_dir(owner.terminal.folder.path().join(".local/state/belljar")).unwrap();
    assert!(!left.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with("open-")));
}

/// The status of a request, as any program on this machine can send it.
fn sent(address: &str, head: &str, headers: &[&str], body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    let length = body.len();
    write!(stream, "{head} HTTP/1.1\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    (answer[9..12].parse().unwrap(), answer)
}

#[test]
fn who_has_no_ticket_sees_nothing_and_a_ticket_is_good_once() {
    let owner = Owner::new();
    let mut opening = Opening::of(&owner);
    let mode = std::fs::metadata(&opening.file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let (address, ticket) = opening.leads_to();
    let host = format!("Host: {address}");
    let origin = format!("Origin: http://{address}");
    for path in ["/api/runs", "/api/approvals", "/api/events", "/metrics"] {
        assert_eq!(sent(&address, &format!("GET {path}"), &[&host], "").0, 401, "{path}");
        assert_eq!(sent(&address, &format!("GET {path}"), &["Host: rebound.example"], "").0, 403, "{path}");
    }
    let body = json!({ "ticket": ticket }).to_string();
    assert_eq!(sent(&address, "POST /session", &[&host], &body).0, 403, "no page has no origin");
    assert_eq!(sent(&address, "POST /session", &[&host, "Origin: null"], &body).0, 403);
    let (status, answer) = sent(&address, "POST /session", &[&host, &origin], &body);
    assert_eq!((status, opening.ends()), (200, 0), "{answer}");
    assert!(!std::fs::exists(&opening.file).unwrap(), "the file is removed");
    assert_eq!(sent(&address, "POST /session", &[&host, &origin], &body).0, 403, "it is used up");
    let secrets: Value = serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap();
    let token = format!("Authorization: Bearer {}", secrets["token"].as_str().unwrap());
    assert_eq!(sent(&address, "GET /api/runs", &[&host, &token], "").0, 200);
    let (status, metrics) = sent(&address, "GET /metrics", &[&host, &token], "");
    assert!(status == 200 && metrics.contains("belljar_runs_live 0"), "{metrics}");
    assert_eq!(sent(&address, "GET /api/runs", &[&host, &token, "Origin: http://evil.example"], "").0, 403);
    // A ticket that is never used is gone with its file when the command is ended.
    let mut given_up = Opening::of(&owner);
    given_up.interrupt();
    assert_eq!((given_up.ends(), std::fs::exists(&given_up.file).unwrap()), (1, false));
}
