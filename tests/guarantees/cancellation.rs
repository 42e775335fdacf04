//! A command that is told to end does so promptly, reports what had happened, and leaves no child
//! behind.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    path::Path,
    process::{Child, ChildStdin, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    dead_children::{child, stubborn},
    support::{Answer, Terminal},
};

/// More than anything working takes, even on a busy machine; less than any time limit that a test
/// does not set.
pub(crate) const AMPLE: Duration = Duration::from_secs(20);

/// Waits for a file that another process writes, and returns its text.
pub(crate) fn written(path: &Path) -> String {
    const STEP: Duration = Duration::from_millis(2);
    let deadline = Instant::now() + AMPLE;
    loop {
        match std::fs::read_to_string(path) {
            Ok(text) => return text,
            Err(error) => assert!(Instant::now() < deadline, "{} was never written: {error}", path.display()),
        }
        thread::sleep(STEP);
    }
}

/// Starts a command with pipes.
pub(crate) fn started(terminal: &Terminal, arguments: &[&str]) -> Child {
    let pipes = [Stdio::piped(), Stdio::piped(), Stdio::piped()];
    let [stdin, stdout, stderr] = pipes;
    terminal.command(arguments).stdin(stdin).stdout(stdout).stderr(stderr).spawn().unwrap()
}

/// The output of a command that must end by itself, and soon. It is read meanwhile, since a pipe
/// may hold no more than a page. The command's stdin stays open if it was open.
pub(crate) fn ended(mut command: Child) -> Answer {
    let (id, stdin) = (command.id(), command.stdin.take());
    let (say, said) = channel();
    let reading = thread::spawn(move || say.send(command.wait_with_output().unwrap()));
    let answer = said.recv_timeout(AMPLE).map(Answer::of).unwrap_or_else(|_| {
        send("KILL", id);
        panic!("it did not end: {:#?}", Answer::of(said.recv().unwrap()))
    });
    reading.join().unwrap().unwrap();
    drop(stdin);
    answer
}

/// The output of a server whose stdin is closed once it has sent this many answers. Closed before,
/// it would have only some seconds for what is still under way.
pub(crate) fn ended_after(answers: usize, mut server: Child, stdin: ChildStdin) -> Answer {
    let (mut stdout, mut stderr) = (BufReader::new(server.stdout.take().unwrap()), server.stderr.take().unwrap());
    let logging = thread::spawn(move || {
        let mut log = String::new();
        stderr.read_to_string(&mut log).unwrap();
        log
    });
    // A server that does not answer is killed, which ends its output.
    let (id, (over, is_over)) = (server.id(), channel::<()>());
    thread::spawn(move || {
        if is_over.recv_timeout(3 * AMPLE) == Err(RecvTimeoutError::Timeout) {
            send("KILL", id);
        }
    });
    let (mut said, mut answered) = (String::new(), 0);
    while answered < answers {
        let start = said.len();
        assert!(stdout.read_line(&mut said).unwrap() > 0, "it ended after {answered} answers: {said}");
        let message: Value = serde_json::from_str(&said[start..]).unwrap();
        answered += usize::from(message.get("method").is_none());
    }
    drop(stdin);
    stdout.read_to_string(&mut said).unwrap();
    drop(over);
    let code = server.wait().unwrap().code().unwrap_or(-1);
    Answer { code, stdout: said, stderr: logging.join().unwrap() }
}

/// Sends a signal such as `INT`.
pub(crate) fn signal(process: &Child, name: &str) {
    send(name, process.id());
}

/// The same to any process, by its pid.
pub(crate) fn send(name: &str, pid: u32) {
    let pid = pid.to_string();
    let sent = std::process::Command::new("sh").args(["-c", "kill -s \"$0\" \"$1\"", name, &pid]).status().unwrap();
    assert!(sent.success(), "SIG{name} cannot be sent");
}

/// A server that writes `file` when one of its tools is called, so that a test knows that a script
/// has reached that call.
///
/// Its child exits on the call, which therefore fails.
pub(crate) fn milestone(file: &Path) -> Value {
    json!({ "command": "sh", "args": ["-c", "\"$0\" crash-on-call; : > \"$1\"", child(), file] })
}

#[test]
pub(crate) fn an_interrupted_run_ends_promptly_and_keeps_what_it_had_logged_and_called() {
    let ends = [
        ("await here.echo({}).catch(() => {}); while (true) {}", None),
        ("await Promise.all([kid.slow({ ms: 600_000 }), here.echo({}).catch(() => {})])", Some("slow")),
    ];
    for (end, unanswered) in ends {
        for name in ["INT", "TERM"] {
            let terminal = Terminal::new();
            let here = terminal.folder.path().join("here");
            let servers = json!({ "kid": { "command": child(), "args": ["echo"] }, "here": milestone(&here) });
            let config = terminal.file("mcp.json", json!({ "mcpServers": servers }).to_string());
            let script = format!("await kid.echo({{ n: 1 }}); console.log(\"before\"); {end}");
            let run =
                started(&terminal, &["run", "--json", "--config", config.to_str().unwrap(), "--code", script.as_str()]);
            written(&here);
            signal(&run, name);
            let answer = ended(run);

            let outcome = answer.json();
            assert_eq!(answer.code, 1, "{answer:#?}");
            assert_eq!(outcome["ok"], false, "{outcome:#}");
            assert_eq!(outcome["error"]["kind"], "cancelled", "{outcome:#}");
            assert_eq!(outcome["error"]["recoverable"], false, "{outcome:#}");
            assert_eq!(outcome["logs"], json!([{ "level": "log", "text": "before" }]), "{outcome:#}");
            let calls = outcome["calls"].as_array().unwrap();
            assert_eq!((&calls[0]["tool"], &calls[0]["ok"]), (&json!("echo"), &json!(true)), "{outcome:#}");
            let cut_off = calls.iter().find(|call| call["tool"] == "slow");
            assert_eq!(cut_off.map(|call| call["tool"].as_str().unwrap()), unanswered, "{outcome:#}");
            if let Some(call) = cut_off {
                assert_eq!(call["ok"], false);
                assert!(call["error"].as_str().unwrap().contains("may have taken effect"), "{outcome:#}");
            }
        }
    }
}

#[test]
fn an_interrupted_command_says_so_in_its_own_words() {
    // A call of a server that never answers can only be interrupted.
    for arguments in [["search", "--json"].as_slice(), &["call", "mute.x", "--json"], &["call", "mute.x"]] {
        let terminal = Terminal::new();
        let here = terminal.folder.path().join("here");
        let mute = json!({ "command": "sh", "args": ["-c", ": > \"$1\"; exec \"$0\" mute", child(), here] });
        let config = terminal.file("mcp.json", json!({ "mcpServers": { "mute": mute } }).to_string());
        let arguments = [arguments, &["--config", config.to_str().unwrap()]].concat();
        let command = started(&terminal, &arguments);
        written(&here);
        signal(&command, "INT");
        let answer = ended(command);
        assert_eq!(answer.code, 1, "{answer:#?}");
        if arguments.contains(&"--json") {
            assert_eq!(answer.json()["error"]["kind"], "cancelled", "{answer:#?}");
        } else {
            assert_eq!(answer.stdout, "");
            assert!(answer.stderr.contains("interrupted"), "{answer:#?}");
        }
    }
}

/// `belljar serve` and the client's ends of its pipes.
struct Session {
    process: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Session {
    /// Connected and greeted.
    fn open(terminal: &Terminal, config: &Path) -> Self {
        let mut process = started(terminal, &["serve", "--config", config.to_str().unwrap()]);
        let (stdin, stdout) = (process.stdin.take(), process.stdout.take().unwrap());
        let (sender, lines) = channel();
        // Ends with the pipe, or when nobody listens any more.
        thread::spawn(move || BufReader::new(stdout).lines().try_for_each(|line| sender.send(line.unwrap())));
        let mut session = Self { process, stdin, lines };
        let client = json!({ "name": "a client", "version": "0" });
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
        session.send(json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }));
        assert_eq!(session.answer(1)["serverInfo"]["name"], "belljar");
        session.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        session
    }

    fn send(&mut self, message: Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Asks for a run of `code`.
    fn execute(&mut self, id: u64, code: &str) {
        let call = json!({ "name": "execute_code", "arguments": { "code": code } });
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call }));
    }

    /// The result of a request.
    fn answer(&self, id: u64) -> Value {
        loop {
            let message: Value = serde_json::from_str(&self.lines.recv_timeout(AMPLE).unwrap()).unwrap();
            if message["id"] == id {
                assert!(message["error"].is_null(), "{message:#}");
                return message["result"].clone();
            }
        }
    }
}

#[test]
pub(crate) fn a_server_ends_with_its_client_or_on_a_signal_and_leaves_no_child_behind() {
    const WAITS: &str = "await Promise.all([kid.slow({ ms: 600_000 }), here.echo({}).catch(() => {})])";
    const LOOPS: &str = "await here.echo({}).catch(() => {}); while (true) {}";
    let ends = [
        (None, None),
        (None, Some(WAITS)),
        (Some("TERM"), None),
        (Some("TERM"), Some(LOOPS)),
        (Some("INT"), None),
        (Some("INT"), Some(WAITS)),
    ];
    // A stubborn child takes its time to end, so all of them end concurrently.
    thread::scope(|scope| {
        for (name, code) in ends {
            scope.spawn(move || {
                let terminal = Terminal::new();
                let here = terminal.folder.path().join("here");
                let (kid, pids) = stubborn(&terminal, "pids");
                let servers = json!({ "kid": kid, "here": milestone(&here) });
                let config = terminal.file("mcp.json", json!({ "mcpServers": servers }).to_string());
                let mut session = Session::open(&terminal, &config);
                session.execute(2, "return await kid.echo({ n: 1 })");
                assert_eq!(session.answer(2)["structuredContent"]["value"], json!({ "n": 1 }));
                if let Some(code) = code {
                    session.execute(3, code);
                    written(&here);
                }
                match name {
                    None => drop(session.stdin.take()),
                    Some(name) => signal(&session.process, name),
                }
                let answer = ended(session.process);
                assert_eq!(answer.code, 0, "{name:?} {code:?}: {answer:#?}");
                pids.assert_gone();
            });
        }
    });
}

#[test]
fn a_client_that_goes_away_without_a_word_is_no_failure() {
    let terminal = Terminal::new();
    let mut server = started(&terminal, &["serve"]);
    drop(server.stdin.take());
    let answer = ended(server);
    assert_eq!((answer.code, answer.stdout.as_str(), answer.stderr.as_str()), (0, "", ""));
}
