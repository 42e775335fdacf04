//! The page, used by a script in belljar over a server that drives a browser.

use std::path::Path;

use serde_json::{Value, json};

use super::{Opening, Owner, pays, runs};
use crate::{
    real_servers::{installed, node},
    support::Terminal,
};

/// Debian's browser, which the other tests of the page start too.
const CHROMIUM: &str = "/usr/bin/chromium";

/// What is approved is clicked as a person would click it: the list, the call itself, the decision.
const SCRIPT: &str = r##"
const look = () => playwright.browser_snapshot({});
/** The reference of a button that can be pressed, as soon as there is one. */
const button = async (name) => {
  for (;;) {
    const line = (await look()).split("\n").find((line) => line.includes(`button "${name}"`) && !line.includes("[disabled]"));
    const found = /\[ref=(\w+)\]/.exec(line ?? "");
    if (found) return found[1];
  }
};
const press = async (name) => playwright.browser_click({ element: name, target: await button(name) });
await playwright.browser_navigate({ url: ADDRESS });
await playwright.browser_wait_for({ text: "live" });
const waiting = await look();
await playwright.browser_navigate({ url: ADDRESS.split("#")[0] + "#/approvals" });
await playwright.browser_wait_for({ text: "kid.pay" });
const listed = await look();
await press("Approve…");
await playwright.browser_wait_for({ text: "Send this call?" });
const shown = await look();
await press("Approve and send");
await playwright.browser_wait_for({ text: "Approved." });
await press("Close");
await playwright.browser_wait_for({ text: "Nothing waits for you" });
await playwright.browser_close({});
return { waiting, listed, shown };
"##;

#[test]
fn a_script_of_belljars_clicks_an_approval_through_by_a_server_that_drives_a_browser() {
    assert!(Path::new(CHROMIUM).exists(), "chromium is missing: apt-get install chromium");
    let owner = Owner::new();
    assert_eq!(owner.run(&pays("82000")).code, 4);
    let run = runs(&owner, "resting", 1).remove(0);
    let mut opening = Opening::of(&owner);
    let (address, ticket) = opening.leads_to();
    // Another belljar, as an agent has it.
    let agent = Terminal::new();
    let driver = json!({
        "command": node(),
        "args": [
            installed("@playwright/mcp/cli.js"), "--headless", "--isolated", "--no-sandbox", "--executable-path", CHROMIUM,
            "--timeout-action", "60000",
        ],
        "cwd": agent.folder.path(),
    });
    let config = agent.file("mcp.json", json!({ "mcpServers": { "playwright": driver } }).to_string());
    let script = SCRIPT.replace("ADDRESS", &json!(format!("http://{address}/#{ticket}")).to_string());
    let arguments = ["run", "--json", "--timeout", "300s", "--config", config.to_str().unwrap(), "--code", &script];
    let outcome = agent.belljar(&arguments).json();
    assert_eq!(outcome["ok"], true, "{outcome:#}");
    assert_eq!(opening.ends(), 0);
    let text = |name: &str| outcome["value"][name].as_str().unwrap_or_default().to_owned();
    assert!(text("waiting").contains(&run), "{}", text("waiting"));
    assert!(text("listed").contains("Deny…") && text("shown").contains("82000"), "{}", text("shown"));
    let resumed = owner.belljar(&["resume", &run]);
    assert!(resumed.code == 0 && resumed.stdout.contains("82000"), "{resumed:?}");
    let calls: Value = owner.terminal.belljar(&["runs", "show", &run, "--json"]).json()["calls"].take();
    assert_eq!((&calls[1]["tool"], &calls[1]["decided_by"]), (&json!("pay"), &json!("page")), "{calls:#}");
}
