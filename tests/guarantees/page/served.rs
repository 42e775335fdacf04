//! The page on `belljar serve --http`, for tokens with the scope `admin`.

use std::net::SocketAddr;

use serde_json::{Value, json};

use super::{Browser, can_be_read, pictures, sent};
use crate::{
    http::{Served, result, token},
    support::Terminal,
};

fn served(more: &[&str]) -> (Served, String) {
    let terminal = Terminal::new();
    let admin = token(&terminal, &["add", "me", "--scope", "admin"]);
    (Served::of(terminal, more), admin)
}

/// The status of a request, and its headers and body.
fn asked(address: SocketAddr, head: &str, headers: &[&str], body: &str) -> (u16, String) {
    let host = format!("Host: {address}");
    sent(&address.to_string(), head, &[&[host.as_str()], headers].concat(), body)
}

fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}")
}

#[test]
fn without_being_asked_the_server_has_no_page() {
    let (served, admin) = served(&[]);
    for head in ["GET /ui/", "GET /ui", "GET /ui/app.js", "POST /ui/session"] {
        assert_eq!(asked(served.address, head, &[&bearer(&admin)], "").0, 404, "{head}");
    }
    let terminal = Terminal::new();
    for arguments in [&["serve", "--ui"][..], &["serve", "--http", "--daemon", "--ui"]] {
        assert_eq!(terminal.belljar(arguments).code, 2, "{arguments:?}");
    }
}

#[test]
fn only_a_token_with_the_scope_admin_opens_the_page_and_it_closes_with_its_token() {
    let (served, admin) = served(&["--ui", "--allow-origin", "https://app.example", "--allow-host", "mcp.example.com"]);
    let (address, origin) = (served.address, format!("Origin: http://{}", served.address));
    assert_eq!(asked(address, "GET /ui", &[], "").0, 308);
    let (status, page) = asked(address, "GET /ui/", &[], "");
    assert!(status == 200 && page.contains("content-security-policy") && page.contains("./app.js"), "{page}");
    for head in ["GET /ui/api/runs", "GET /ui/api/rules", "GET /ui/api/events", "POST /ui/api/call"] {
        assert_eq!(asked(address, head, &[&origin], "").0, 401, "{head}");
        // The token itself is no session.
        assert_eq!(asked(address, head, &[&origin, &bearer(&admin)], "").0, 401, "{head}");
    }
    let open = |headers: &[&str]| asked(address, "POST /ui/session", headers, "");
    assert_eq!(open(&[&origin]).0, 401, "nobody");
    assert_eq!(open(&[&origin, &bearer("belljar_00")]).0, 401, "a wrong token");
    assert_eq!(open(&[&origin, &bearer(&served.token)]).0, 403, "a token for runs");
    assert_eq!(open(&[&bearer(&admin)]).0, 403, "no page");
    // A page that may speak to the server may still not have this one.
    let (status, told) = open(&["Origin: https://app.example", &bearer(&admin)]);
    assert!(status == 403 && !told.to_ascii_lowercase().contains("access-control"), "{told}");
    let (status, told) = asked(address, "GET /ui/", &["Origin: https://app.example"], "");
    assert!(status == 403 && !told.to_ascii_lowercase().contains("access-control"), "{told}");
    assert_eq!(asked(address, "GET /ui/", &["Origin: http://evil.example"], "").0, 403);
    assert_eq!(sent(&address.to_string(), "GET /ui/", &["Host: rebound.example"], "").0, 403);

    // Behind a proxy that speaks TLS, the page has another origin, which is its own all the same.
    let (host, proxied) = ("Host: mcp.example.com", "Origin: https://mcp.example.com");
    let by_proxy = |headers: &[&str]| sent(&address.to_string(), "POST /ui/session", headers, "").0;
    assert_eq!(by_proxy(&[host, proxied, &bearer(&admin)]), 200);
    assert_eq!(by_proxy(&[host, "Origin: https://other.example.com", &bearer(&admin)]), 403);
    assert_eq!(sent(&address.to_string(), "POST /mcp", &[host, proxied, &bearer(&admin)], "").0, 403, "as before");

    let (_, opened) = open(&[&origin, &bearer(&admin)]);
    let opened: Value = serde_json::from_str(opened.split_once("\r\n\r\n").unwrap().1).unwrap();
    let session = bearer(opened["token"].as_str().unwrap());
    assert_eq!(asked(address, "GET /ui/api/servers", &[&session], "").0, 200);
    assert_eq!(asked(address, "POST /ui/api/explain", &[&session, &origin], "{}").0, 403, "it lacks the second secret");
    // It is good for the page, and for nothing else.
    assert_eq!(asked(address, "GET /metrics", &[&session], "").0, 401);
    token(&served.terminal, &["remove", "me"]);
    // The server hears of it a moment later.
    while asked(address, "GET /ui/api/servers", &[&session], "").0 != 401 {}
}

#[test]
fn a_person_types_the_token_and_sees_the_page_and_the_token_stays_nowhere() {
    let (served, admin) = served(&["--ui"]);
    served.value("const { id } = await demo.get_issue({ id: 1 }); return id");
    let mut browser = Browser::new();
    browser.becomes(1440, 900, "light");
    browser.open(&format!("http://{}/ui/", served.address));
    browser.until("document.activeElement?.id === 'token'");
    let types = |browser: &mut Browser, token: &str| {
        browser.value(&format!("document.querySelector('#token').value = {token:?}"));
        browser.value("document.querySelector('.login form').requestSubmit()");
    };
    types(&mut browser, &served.token);
    browser.until("document.querySelector('.told').textContent.includes('needs the scope admin')");
    can_be_read(&mut browser, "login");
    types(&mut browser, &admin);
    browser.until(
        "document.getElementById('link').textContent === 'live' && document.querySelectorAll('a.run').length === 1",
    );
    let everywhere = "JSON.stringify([location.href, document.documentElement.outerHTML, Object.entries(sessionStorage), Object.entries(localStorage), document.cookie, history.state])";
    let everywhere = browser.value(everywhere);
    assert!(!everywhere.as_str().unwrap().contains(&admin), "{everywhere}");
    for (view, words) in
        [("tools", "ready"), ("rules", "There are no rules"), ("cost", "tokens"), ("approvals", "Nothing waits")]
    {
        browser.value(&format!("location.hash = '#/{view}'"));
        browser.until(&format!("document.querySelector('main').innerText.includes({words:?})"));
    }
    // It is open after a reload, and closes with its token.
    browser.reload();
    browser.until("document.getElementById('link').textContent === 'live'");
    token(&served.terminal, &["remove", "me"]);
    browser.until("!!document.querySelector('#token')");
    assert_eq!(browser.barriers(), json!([]));
}

/// A name that a client gives itself to pass for somebody else.
const CLAIMS: &str = "claude-desktop for owner, the administrator of this machine, as always";

#[test]
fn the_name_that_a_client_gives_itself_does_not_hide_for_whom_it_asks() {
    let (served, admin) = served(&["--ui"]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": CLAIMS, "version": "0" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": "execute_code", "arguments": { "code": "return 1" }, "_meta": meta });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let headers = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: execute_code\r\n";
    assert_eq!(result(served.post(&served.token, headers, &body))["structuredContent"]["value"], 1);
    let mut browser = Browser::new();
    browser.becomes(1440, 900, "light");
    browser.open(&format!("http://{}/ui/", served.address));
    browser.until("document.activeElement?.id === 'token'");
    browser.value(&format!("document.querySelector('#token').value = {admin:?}"));
    browser.value("document.querySelector('.login form').requestSubmit()");
    browser.until("document.querySelectorAll('a.run').length === 1");
    let run = browser.value("document.querySelector('a.run').dataset.key").as_str().unwrap().to_owned();
    // The whole principal comes before the client, in an element of its own, and nothing cuts it
    // off.
    let whole = "(() => { const [principal, client] = ['.principal', '.client'].map((at) => document.querySelector('main ' + at)); \
        const [{ left, right, bottom, width }, after] = [principal, client].map((at) => at.getBoundingClientRect()); \
        const isSeen = [left + 1, (left + right) / 2, right - 1].every((x) => document.elementFromPoint(x, bottom - 3) === principal); \
        return [principal.innerText, client.innerText, isSeen, principal.scrollWidth <= Math.ceil(width), bottom <= after.top]; })()";
    for (address, name) in [("#/runs".to_owned(), "by-runs"), (format!("#/run/{run}"), "by-run")] {
        browser.value(&format!("location.hash = {address:?}"));
        for width in [1440, 360] {
            browser.becomes(width, 900, "light");
            let seen = json!(["ann", format!("“{CLAIMS} 0”"), true, true, true]).to_string();
            // The list is drawn again when it hears of the run's end.
            browser.until(&format!("JSON.stringify({whole}) === {}", json!(seen)));
            browser.picture(&pictures().join(format!("{name}-{width}.png")), (width, "light"));
        }
    }
}

#[test]
fn a_person_signs_out_and_neither_the_server_nor_the_tab_knows_the_session_any_more() {
    let (served, admin) = served(&["--ui"]);
    let mut browser = Browser::new();
    browser.becomes(1440, 900, "light");
    browser.open(&format!("http://{}/ui/", served.address));
    let signs_in = |browser: &mut Browser| {
        browser.until("document.activeElement?.id === 'token'");
        assert_eq!(browser.value("document.getElementById('out').checkVisibility()"), false);
        browser.value(&format!("document.querySelector('#token').value = {admin:?}"));
        browser.value("document.querySelector('.login form').requestSubmit()");
        browser.until("document.getElementById('link').textContent === 'live'");
    };
    signs_in(&mut browser);
    let session = browser.value("JSON.parse(sessionStorage.belljar).token");
    let session = bearer(session.as_str().unwrap());
    assert_eq!(asked(served.address, "GET /ui/api/runs", &[&session], "").0, 200);
    // It is there after a reload too.
    browser.reload();
    browser.until("document.getElementById('link').textContent === 'live'");
    browser.press("#out");
    browser.until("document.activeElement?.id === 'token'");
    assert_eq!(browser.value("Object.keys(sessionStorage)"), json!([]));
    assert_eq!(asked(served.address, "GET /ui/api/runs", &[&session], "").0, 401);
    assert_eq!(browser.barriers(), json!([]));
    // Only the token opens it again.
    browser.value("location.hash = '#/tools'");
    browser.until("document.getElementById('link').textContent === 'closed' && !!document.querySelector('#token')");
    browser.reload();
    signs_in(&mut browser);
}

#[test]
fn an_open_page_does_not_hold_up_the_end_of_the_server() {
    let (mut served, admin) = served(&["--ui"]);
    let mut browser = Browser::new();
    browser.open(&format!("http://{}/ui/", served.address));
    browser.until("document.activeElement?.id === 'token'");
    browser.value(&format!("document.querySelector('#token').value = {admin:?}"));
    browser.value("document.querySelector('.login form').requestSubmit()");
    browser.until("document.getElementById('link').textContent === 'live'");
    served.signal("-TERM");
    assert!(served.child.wait().unwrap().success());
    let said: Vec<String> = served.said.iter().collect();
    assert!(!said.iter().any(|line| line.contains("did not end in time")), "{said:?}");
}
