//! An owner with a daemon, runs of every kind, and the page in a browser.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
};

use super::browser::Browser;
use crate::support::{Answer, Terminal};

/// What a hostile name, argument, answer, log text, reason and client contain: markup that would
/// run, and characters that change the direction of the text after them.
pub(super) const HOSTILE: &str = "<img src=x onerror=\"window.hit=1\"><script>window.hit=1</script>\u{202e}&lt;b&gt;";

/// A child server with a tool of that name, which answers with it.
const CHILD: &str = r#"
import { createInterface } from "node:readline";
const hostile = "HOSTILE";
const read = { annotations: { readOnlyHint: true }, inputSchema: { type: "object" } };
const tools = [{ name: hostile, description: hostile, ...read }, { name: "look", ...read }, { name: "pay", inputSchema: { type: "object" } }];
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const results = {
    initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: hostile, version: "1.2.3 " + hostile } },
    "tools/list": { tools },
    "tools/call": { content: [{ type: "text", text: hostile + JSON.stringify(params?.arguments) }], isError: params?.arguments?.fail === true },
  };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, result: results[method] ?? {} }));
}
"#;

pub(super) struct Owner {
    pub(super) terminal: Terminal,
    pub(super) config: String,
}

impl Owner {
    pub(super) fn new() -> Self {
        Self::with("")
    }

    /// With more servers.
    pub(super) fn with(more: &str) -> Self {
        let terminal = Terminal::with_daemon();
        let quoted = HOSTILE.replace('"', "\\\"").replace("</script>", "<\\/script>");
        let child = terminal.file("child.mjs", CHILD.replace("HOSTILE", &quoted));
        let config = format!(
            "[ledger]\nlevel = 'recordings'\n[servers.kid]\ncommand = 'node'\nargs = ['{}']\ntrust_hints = true\n\
             [servers.demo]\nbuiltin = 'demo'\n\
             [servers.dead]\ncommand = 'node'\nargs = ['--eval', 'console.error(`no token: set TOKEN`); process.exit(1)']\n",
            child.display()
        );
        let config = terminal.file("belljar.toml", config + more).to_str().unwrap().to_owned();
        let why = HOSTILE.replace('"', "\\\"");
        let rules = format!(
            "default = 'allow'\n[[rule]]\nid = 'money'\ntools = 'kid.pay'\nthen = 'ask'\nwhy = \"{why}\"\n\
             [[rule]]\nid = 'terminal-only'\ntools = 'demo.update_issue'\nthen = 'ask'\nask = {{ who = ['cli'] }}\n\
             [[rule]]\nid = 'never'\ntools = 'demo.update_issue'\nargs.state = {{ in = ['open'] }}\nthen = 'deny'\n"
        );
        terminal.file("policy.toml", rules);
        Self { terminal, config }
    }

    pub(super) fn belljar(&self, arguments: &[&str]) -> Answer {
        self.terminal.belljar(&[arguments, &["--config", &self.config]].concat())
    }

    /// Runs a script, whatever becomes of it.
    pub(super) fn run(&self, code: &str) -> Answer {
        self.belljar(&["run", "--code", code])
    }

    /// Opens the page, and returns the file that led there.
    pub(super) fn opens(&self, browser: &mut Browser) -> String {
        let mut opening = Opening::of(self);
        browser.open(&format!("file://{}", opening.file));
        browser.until("location.protocol === 'http:' && document.getElementById('link').textContent === 'live'");
        assert_eq!(opening.ends(), 0);
        opening.file.clone()
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // A failing test must not leave a daemon behind either.
        self.belljar(&["daemon", "stop"]);
    }
}

/// `belljar ui`, which waits until the page is open.
pub(super) struct Opening {
    child: Child,
    pub(super) file: String,
}

impl Opening {
    pub(super) fn of(owner: &Owner) -> Self {
        let mut command = owner.terminal.command(&["ui", "--no-open", "--config", &owner.config]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let file = BufReader::new(child.stdout.take().unwrap()).lines().next().expect("it names a file").unwrap();
        Self { child, file }
    }

    /// As Ctrl-C does.
    pub(super) fn interrupt(&self) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    }

    /// Its exit code.
    pub(super) fn ends(&mut self) -> i32 {
        self.child.wait().unwrap().code().unwrap()
    }

    /// Where the file leads: the address of the page, and the ticket.
    pub(super) fn leads_to(&self) -> (String, String) {
        let text = std::fs::read_to_string(&self.file).unwrap();
        let url = text.split_once("url=http://").unwrap().1.split_once('"').unwrap().0;
        let (address, ticket) = url.split_once("/#").unwrap();
        (address.to_owned(), ticket.to_owned())
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
