//! Child servers that inspect belljar and their supervisor, or attack them: line 115 of the
//! catalogue and the part about processes of line 123.
//!
//! Root may read every process, so belljar runs as an ordinary user here.

use std::{
    fs::{self, File},
    io::{BufRead as _, BufReader, Write as _},
    os::unix::{
        fs::{MetadataExt as _, chown},
        process::CommandExt as _,
    },
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use belljar_testkit::is_gone_within;
use serde_json::{Value, json};

use crate::{
    cancellation::{AMPLE, written},
    dead_children::child,
    support::{Answer, Terminal, belljar},
};

/// The user that root becomes: nobody.
const ORDINARY: u32 = 65_534;

/// A terminal of an ordinary user, with the child server `spy`.
struct Ordinary {
    terminal: Terminal,
    program: PathBuf,
    spy: PathBuf,
}

impl Ordinary {
    fn new(terminal: Terminal) -> Self {
        let folder = terminal.folder.path();
        // Others may not be able to read the build folder.
        let programs = folder.join("programs");
        fs::create_dir(&programs).unwrap();
        let copy = |from: &Path| {
            let to = programs.join(from.file_name().unwrap());
            // Another process writes the copy: programs started by other tests could inherit a
            // descriptor of this one, and a program that is open for writing cannot be started.
            let copied = || Command::new("cp").arg(from).arg(&to).status().unwrap().success();
            assert!(fs::hard_link(from, &to).is_ok() || copied(), "{}", from.display());
            to
        };
        let (program, spy) = (copy(belljar()), copy(child()));
        if fs::metadata(folder).unwrap().uid() == 0 {
            chown(folder, Some(ORDINARY), Some(ORDINARY)).unwrap();
        }
        let user = Self { terminal, program, spy };
        user.configure(&json!({ "command": user.spy, "args": ["spy"] }));
        user
    }

    /// Writes the configuration that starts the spy.
    fn configure(&self, spy: &Value) {
        let file = self.terminal.file("mcp.json", json!({ "mcpServers": { "spy": spy } }).to_string());
        let folder = fs::metadata(self.terminal.folder.path()).unwrap();
        chown(file, Some(folder.uid()), Some(folder.gid())).unwrap();
    }

    /// As the user that owns the folder.
    fn as_the_user(&self, mut command: Command, like: &Command) -> Command {
        for (name, value) in like.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let folder = fs::metadata(self.terminal.folder.path()).unwrap();
        // Everybody may become who they already are.
        command.uid(folder.uid()).gid(folder.gid()).current_dir(self.terminal.folder.path());
        command
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).args(["--config", "mcp.json"]);
        self.as_the_user(command, &self.terminal.command(&[]))
    }

    /// What a script returns.
    fn value(&self, command: &mut Command) -> Value {
        let answer = Answer::of(command.output().unwrap());
        assert_eq!(answer.code, 0, "{answer:#?}");
        answer.json()["value"].take()
    }

    fn run(&self, script: &str) -> Value {
        self.value(&mut self.command(&["run", "--json", "--code", script]))
    }
}

/// `belljar serve`, and a client of it.
struct Server {
    process: Child,
    stdin: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    last: u64,
}

impl Server {
    fn start(mut command: Command) -> Self {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (stdin, stdout) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        let mut server = Self { process, stdin: Some(stdin), answers: BufReader::new(stdout), last: 0 };
        let client = json!({ "name": "tests", "version": "0" });
        server.request(
            "initialize",
            &json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client }),
        );
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        server
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.last += 1;
        let id = self.last;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let mut line = String::new();
            assert_ne!(self.answers.read_line(&mut line).unwrap(), 0, "the server has ended");
            let mut message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == id {
                return message["result"].take();
            }
        }
    }

    /// The outcome of a script.
    fn run(&mut self, script: &str) -> Value {
        let params = json!({ "name": "execute_code", "arguments": { "code": script } });
        self.request("tools/call", &params)["structuredContent"].take()
    }

    /// Ends it as a client does, and waits for its end.
    fn end(mut self) {
        drop(self.stdin.take());
        let deadline = Instant::now() + AMPLE;
        while self.process.try_wait().unwrap().is_none() {
            assert!(Instant::now() < deadline, "the server did not end with its client");
            thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

const WAYS: [&str; 4] = ["environ", "maps", "mem", "fd"];

#[test]
pub(crate) fn a_child_cannot_read_the_environment_or_memory_of_belljar_or_its_supervisor() {
    let user = Ordinary::new(Terminal::new());
    let above = user.run("return await spy.above()");
    for who in ["supervisor", "belljar"] {
        for way in WAYS {
            let went = above[who][way].as_str().unwrap();
            assert!(went.contains("denied"), "{way} of the {who}: {above:#}");
        }
    }
    // If the owner opens belljar for a debugger, a child can read it. So the attempts above were
    // real.
    let mut command = user.command(&["run", "--json", "--code", "return await spy.above()"]);
    let above = user.value(command.env("BELLJAR_DEBUGGABLE", "1"));
    assert_eq!(above["belljar"]["environ"], "read", "{above:#}");
    assert_ne!(above["supervisor"]["environ"], "read", "{above:#}");
}

#[test]
pub(crate) fn a_child_is_started_as_any_program_is() {
    let user = Ordinary::new(Terminal::new());
    let started = user.run("return await spy.status()");
    let status = &started["status"];
    // Helpers of Chromium and of rootless Docker gain privileges; debuggers inspect what they
    // debug.
    assert_eq!((&status["NoNewPrivs"], &status["Seccomp"]), (&json!("0"), &json!("0")), "{started:#}");
    assert_eq!(started["dumpable"], true, "{started:#}");
    assert_eq!(status["SigBlk"].as_str().unwrap().trim_matches('0'), "", "{started:#}");
    // A shell shows which signals are ignored: belljar and the spy ignore SIGPIPE themselves, like
    // all Rust programs.
    let told = user.terminal.folder.path().join("status");
    let script = "cat /proc/$$/status > \"$1\"; exec \"$0\" spy";
    user.configure(&json!({ "command": "/bin/sh", "args": ["-c", script, user.spy, told] }));
    user.run("return await spy.status()");
    let (of_child, own) = (ignored(&written(&told)), ignored(&written(Path::new("/proc/self/status"))));
    // Signals that belljar itself handles are as they were before belljar: fewer may be ignored
    // here.
    assert_eq!(of_child & !PIPE & !own, 0, "it ignores what nobody told belljar to ignore");
    assert_eq!(of_child & PIPE, 0, "a child that writes to a closed pipe is to end");
}

const PIPE: u64 = 1 << 12;

/// The ignored signals of a process: those with a name, since the C library reserves others.
fn ignored(status: &str) -> u64 {
    const NAMED: u64 = (1 << 31) - 1;
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap() & NAMED
}

#[test]
pub(crate) fn slots_are_reset_as_fast_in_a_hidden_process_of_an_ordinary_user() {
    let user = Ordinary::new(Terminal::new());
    let log_of = |debuggable: &str| {
        let mut command = user.command(&["run", "-vv", "--code", "1 + 1"]);
        let answer = Answer::of(command.env("BELLJAR_DEBUGGABLE", debuggable).output().unwrap());
        let line = answer.stderr.lines().find(|line| line.contains("slots are reset")).map(str::to_owned);
        line.unwrap_or_else(|| panic!("{answer:#?}"))
    };
    // By the page map, if the kernel supports that: Linux 6.7 and later.
    assert_eq!(log_of("0"), log_of("1"));
}

#[test]
pub(crate) fn neither_a_child_nor_the_daemon_holds_what_belljar_inherited() {
    let user = Ordinary::new(Terminal::with_daemon());
    // Like a shell with one command at a time: descriptor 9 is a file with a lock, which belljar
    // inherits.
    let locked = |arguments: &[&str]| {
        let mut shell = Command::new("sh");
        shell.args(["-c", "exec 9>lock; flock --nonblock 9 || exit 9; \"$0\" \"$@\""]).arg(&user.program);
        shell.args(arguments).args(["--config", "mcp.json"]);
        user.as_the_user(shell, &user.terminal.command(&[]))
    };
    let held = user.value(&mut locked(&["run", "--json", "--code", "return await spy.descriptors()"]));
    let is_free = File::open(user.terminal.folder.path().join("lock")).unwrap().try_lock();
    let status = user.command(&["daemon", "status", "--json"]).output().unwrap();
    let stopped = user.command(&["daemon", "stop"]).status().unwrap();
    assert_eq!(held["descriptors"], json!({}));
    assert!(Answer::of(status).json()["pid"].is_u64(), "the daemon outlives the command");
    assert!(is_free.is_ok(), "the daemon or the child holds the caller's lock: {is_free:?}");
    assert!(stopped.success());
}

#[test]
pub(crate) fn a_child_that_kills_its_supervisor_is_ended_with_the_helpers_that_left_it() {
    let user = Ordinary::new(Terminal::new());
    let mut server = Server::start(user.command(&["serve"]));
    let struck = strike(&user, &mut server, "KILL");
    // belljar stays alive, and ends them now, not only when it ends itself.
    struck.assert_gone();
    let deadline = Instant::now() + AMPLE;
    while !dead_children_of(server.process.id()).is_empty() {
        assert!(Instant::now() < deadline, "belljar does not bury what it adopted");
        thread::sleep(Duration::from_millis(5));
    }
    // Another life of the child serves the next call.
    let next = server.run("return await spy.descriptors()");
    assert_eq!(next["ok"], true, "{next:#}");
}

#[test]
pub(crate) fn a_child_that_stops_its_supervisor_is_ended_with_belljar_all_the_same() {
    let user = Ordinary::new(Terminal::new());
    let mut server = Server::start(user.command(&["serve"]));
    let struck = strike(&user, &mut server, "STOP");
    server.end();
    struck.assert_gone();
}

/// The processes left by a child that attacks its supervisor.
struct Struck {
    pids: Vec<u32>,
}

impl Struck {
    fn assert_gone(&self) {
        for pid in &self.pids {
            assert!(is_gone_within(*pid, AMPLE), "the process {pid} was left behind");
        }
    }
}

/// Makes the child send a signal to its supervisor.
fn strike(user: &Ordinary, server: &mut Server, signal: &str) -> Struck {
    let file = user.terminal.folder.path().join("struck");
    let arguments = json!({ "file": file, "signal": signal });
    // It may be ended before it has answered.
    let ended =
        server.run(&format!("return await spy.strike({arguments}).then(() => true, e => e instanceof ToolError)"));
    assert_eq!(ended["value"], true, "{ended:#}");
    let said: Value = serde_json::from_str(&written(&file)).unwrap();
    assert_ne!(said["joined"], "belljar's group");
    Struck {
        pids: said["pids"]
            .as_array()
            .unwrap()
            .iter()
            .map(|pid| u32::try_from(pid.as_u64().unwrap()).unwrap())
            .collect(),
    }
}

/// The zombies of a process.
fn dead_children_of(parent: u32) -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let is_dead = |pid: &u32| {
        let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().take(2).collect();
        fields == ["Z", parent.to_string().as_str()]
    };
    entries.filter(is_dead).collect()
}
