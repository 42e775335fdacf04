//! One warm process behind every command: it keeps its servers' state, is started once, and leaves
//! nothing behind.

use std::{
    io::{BufRead as _, Read as _, Write as _},
    os::unix::{fs::PermissionsExt as _, net::UnixListener},
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use belljar_testkit::{is_gone_within, is_running};
use serde_json::{Value, json};

use crate::{
    approvals_by_command::Person,
    cancellation::AMPLE,
    dead_children::{child, stubborn},
    real_servers::{memory, node, python},
    support::{Answer, Terminal, on_a_terminal, repository},
};

/// How long a process may take to end after it was told to.
const MOMENT: Duration = Duration::from_secs(10);

/// A terminal whose commands share a daemon, which ends with it.
pub(crate) struct Shell {
    pub(crate) terminal: Terminal,
    config: PathBuf,
}

impl Shell {
    pub(crate) fn new(servers: &Value) -> Self {
        Self::of(Terminal::with_daemon(), servers)
    }

    /// One at this terminal.
    pub(crate) fn of(terminal: Terminal, servers: &Value) -> Self {
        let shell = Self { config: terminal.folder.path().join("mcp.json"), terminal };
        shell.configure(servers);
        shell
    }

    fn configure(&self, servers: &Value) {
        self.terminal.file("mcp.json", json!({ "mcpServers": servers }).to_string());
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.terminal.command(arguments);
        command.args(["--config", self.config.to_str().unwrap()]);
        command
    }

    pub(crate) fn belljar(&self, arguments: &[&str]) -> Answer {
        Answer::of(self.command(arguments).output().unwrap())
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        self.belljar(&[arguments, &["--json"]].concat()).json()
    }

    /// Starts a command and does not wait for it.
    fn begin(&self, arguments: &[&str]) -> Child {
        self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    pub(crate) fn daemon_pid(&self) -> u32 {
        let status = self.json(&["daemon", "status"]);
        u32::try_from(status["pid"].as_u64().unwrap_or_else(|| panic!("{status:#}"))).unwrap()
    }

    /// Waits until the daemon has this many runs.
    fn wait_for_running(&self, runs: u32) {
        let deadline = Instant::now() + AMPLE;
        while self.json(&["daemon", "status"])["running"] != runs {
            assert!(Instant::now() < deadline, "there are not {runs} runs");
            thread::yield_now();
        }
    }

    pub(crate) fn server(&self, name: &str) -> Value {
        let servers = self.json(&["servers"]);
        let servers = servers["servers"].as_array().unwrap_or_else(|| panic!("{servers:#}"));
        servers.iter().find(|server| server["name"] == name).unwrap().clone()
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        // A failing test must not leave a daemon behind either.
        self.belljar(&["daemon", "stop"]);
    }
}

pub(crate) fn echo() -> Value {
    json!({ "kid": { "command": child(), "args": ["echo"] } })
}

fn signal(pid: u32, name: &str) {
    assert!(Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status().unwrap().success());
}

#[test]
fn what_one_command_stores_in_a_server_another_finds_there() {
    let terminal = Terminal::with_daemon();
    let shell = Shell::new(&json!({ "memory": memory(&terminal.folder.path().join("memory.jsonl")) }));
    let entity =
        json!({ "entities": [{ "name": "ada", "entityType": "person", "observations": ["wrote a program"] }] });
    let stored = shell.json(&["call", "memory.create_entities", "--input", &entity.to_string()]);
    assert_eq!(stored["ok"], true, "{stored:#}");
    let first = shell.server("memory");
    let found =
        shell.json(&["run", "--code", "(await memory.search_nodes({ query: 'ada' })).entities[0].observations"]);
    assert_eq!((&found["ok"], &found["value"]), (&json!(true), &json!(["wrote a program"])), "{found:#}");
    let second = shell.server("memory");
    assert_eq!((&first["pid"], &second["restarts"]), (&second["pid"], &json!(0)), "{first:#} {second:#}");
}

#[test]
fn what_one_command_writes_into_a_database_another_reads_by_the_same_server() {
    let terminal = Terminal::with_daemon();
    let file = terminal.folder.path().join("engines.db");
    let shell = Shell::new(&json!({ "sqlite": python("mcp-server-sqlite", &["--db-path", file.to_str().unwrap()]) }));
    let create = json!({ "query": "CREATE TABLE engines (name TEXT)" }).to_string();
    assert_eq!(shell.json(&["call", "sqlite.create_table", "--input", &create])["ok"], true);
    let insert = json!({ "query": "INSERT INTO engines VALUES ('difference')" }).to_string();
    assert_eq!(shell.json(&["call", "sqlite.write_query", "--input", &insert])["ok"], true);
    let first = shell.server("sqlite");
    let read = "JSON.stringify(await sqlite.read_query({ query: 'SELECT name FROM engines' })).includes('difference')";
    let found = shell.json(&["run", "--code", read]);
    assert_eq!((&found["ok"], &found["value"]), (&json!(true), &json!(true)), "{found:#}");
    let second = shell.server("sqlite");
    assert_eq!((&first["pid"], &second["restarts"]), (&second["pid"], &json!(0)), "{first:#} {second:#}");
}

#[test]
fn commands_that_come_at_once_start_one_daemon_and_one_child() {
    let shell = Shell::new(&echo());
    let call = ["call", "kid.echo", "--input", "{\"text\": \"x\"}", "--json"];
    let children: Vec<Child> = (0..10).map(|_| shell.begin(&call)).collect();
    for child in children {
        let answer = Answer::of(child.wait_with_output().unwrap());
        assert_eq!((answer.code, &answer.json()["ok"]), (0, &json!(true)), "{answer:#?}");
    }
    let daemon = shell.daemon_pid();
    let found = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let pid: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
        let command = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let command = String::from_utf8_lossy(&command).into_owned();
        let is_ours = command.contains("daemon\0run") && command.contains(shell.config.to_str()?);
        is_ours.then_some(pid)
    });
    assert_eq!(found.collect::<Vec<_>>(), [daemon]);
    let kid = shell.server("kid");
    assert_eq!((&kid["calls"], &kid["restarts"]), (&json!(10), &json!(0)), "{kid:#}");
}

#[test]
fn every_call_of_many_processes_is_answered_by_one_child() {
    // The bench uses more processes.
    const PROCESSES: usize = 8;
    const CALLS: usize = 10;
    let shell = Shell::new(&echo());
    thread::scope(|scope| {
        for process in 0..PROCESSES {
            let shell = &shell;
            scope.spawn(move || {
                for number in 0..CALLS {
                    let text = format!("{process}/{number}");
                    let input = json!({ "text": text }).to_string();
                    let answer = shell.json(&["call", "kid.echo", "--input", &input]);
                    assert_eq!(answer["ok"], true, "{answer:#}");
                    assert!(answer["value"].to_string().contains(&text), "{answer:#}");
                }
            });
        }
    });
    let kid = shell.server("kid");
    assert_eq!((&kid["calls"], &kid["restarts"]), (&json!(PROCESSES * CALLS), &json!(0)), "{kid:#}");
}

#[test]
fn who_waits_at_a_terminal_sees_what_starts_in_the_daemon() {
    let terminal = Terminal::with_daemon();
    let go = terminal.folder.path().join("go");
    let slow = format!("while [ ! -e '{}' ]; do sleep 0.05; done; exec {} echo", go.display(), child().display());
    let shell = Shell::of(terminal, &json!({ "kid": { "command": "sh", "args": ["-c", slow] } }));
    let call = shell.command(&["call", "kid.echo", "--input", "{\"text\": \"there\"}"]);
    let mut person = Person::at_one_of_kind("xterm", &call);
    person.sees("starting kid");
    std::fs::write(&go, "").unwrap();
    let (code, shown) = person.ends();
    assert!(code == 0 && shown.contains("there"), "{shown}");
    // Nothing starts any more, so nothing is shown; and without a terminal nothing is ever shown.
    let second = on_a_terminal(&call, "");
    assert!(!second.stdout.contains("starting") && second.stdout.contains("there"), "{second:#?}");
    shell.belljar(&["daemon", "stop"]);
    let piped = shell.belljar(&["call", "kid.echo", "--input", "{\"text\": \"there\"}"]);
    assert!(!piped.stderr.contains("starting") && piped.stdout.contains("there"), "{piped:#?}");
}

#[test]
fn a_killed_daemon_is_a_typed_error_at_once_and_the_next_command_works() {
    let terminal = Terminal::with_daemon();
    let (stubborn, pids) = stubborn(&terminal, "pids");
    let mut servers = echo();
    servers["stubborn"] = stubborn;
    let shell = Shell::new(&servers);
    let daemon = {
        shell.json(&["servers"]);
        shell.daemon_pid()
    };
    // A script that waits for ever, once it has reported that it runs.
    let waiting = shell.begin(&[
        "run",
        "--json",
        "--code",
        "await kid.echo({ text: 'x' }); await new Promise((r) => setTimeout(r, 1e9))",
    ]);
    while shell.server("kid")["calls"] != 1 {
        thread::yield_now();
    }
    signal(daemon, "KILL");
    let answer = Answer::of(waiting.wait_with_output().unwrap());
    let error = answer.json()["error"].clone();
    assert_eq!((answer.code, &error["kind"]), (3, &json!("internal")), "{answer:#?}");
    assert!(error["message"].as_str().unwrap().contains("the daemon ended before it had answered"), "{error:#}");
    // The children are not hurried: they have the time of a normal shutdown.
    pids.assert_gone_within(MOMENT);
    let next = shell.json(&["call", "kid.echo", "--input", "{\"text\": \"again\"}"]);
    assert_eq!(next["ok"], true, "{next:#}");
    assert_ne!(shell.daemon_pid(), daemon);
}

#[test]
fn a_changed_configuration_replaces_the_daemon_when_what_runs_has_ended() {
    let shell = Shell::new(&echo());
    shell.json(&["call", "kid.echo", "--input", "{\"text\": \"x\"}"]);
    let first = shell.daemon_pid();
    let running = shell.begin(&["run", "--json", "--code", "await new Promise((r) => setTimeout(r, 5_000)); 'ended'"]);
    shell.wait_for_running(1);
    let mut servers = echo();
    servers["other"] = servers["kid"].clone();
    shell.configure(&servers);
    let answer = shell.belljar(&["call", "other.echo", "--input", "{\"text\": \"x\"}", "--json"]);
    assert_eq!(answer.json()["ok"], true, "{answer:#?}");
    assert!(answer.stderr.contains("the configuration has changed"), "{answer:#?}");
    let ended = Answer::of(running.wait_with_output().unwrap());
    assert_eq!((ended.code, &ended.json()["value"]), (0, &json!("ended")), "{ended:#?}");
    assert!(is_gone_within(first, MOMENT));
    assert_ne!(shell.daemon_pid(), first);
}

#[test]
fn a_reload_keeps_the_daemon_and_what_runs_in_it() {
    let shell = Shell::new(&echo());
    shell.json(&["call", "kid.echo", "--input", "{\"text\": \"x\"}"]);
    let first = shell.daemon_pid();
    let endless = "for (;;) { await kid.echo({ text: 'x' }); await new Promise((r) => setTimeout(r, 100)) }";
    let mut running = shell.begin(&["run", "--json", "--code", endless]);
    shell.wait_for_running(1);
    let mut servers = echo();
    servers["other"] = servers["kid"].clone();
    shell.configure(&servers);
    assert_eq!(shell.json(&["daemon", "reload"]), json!({ "servers": 2, "need_restart": [] }));
    let answer = shell.belljar(&["call", "other.echo", "--input", "{\"text\": \"x\"}", "--json"]);
    assert_eq!((answer.json()["ok"].clone(), answer.stderr.as_str()), (json!(true), ""), "{answer:#?}");
    assert_eq!(shell.daemon_pid(), first);
    assert_eq!(running.try_wait().unwrap(), None, "the run goes on");
    shell.terminal.file("mcp.json", r#"{"mcpServers": {"kid": {}}}"#);
    let wrong = shell.belljar(&["daemon", "reload"]);
    assert_eq!(wrong.code, 2, "{wrong:#?}");
    shell.configure(&servers);
    assert_eq!(shell.daemon_pid(), first);
    signal(running.id(), "INT");
    let ended = Answer::of(running.wait_with_output().unwrap()).json();
    assert_eq!(ended["error"]["kind"], "cancelled", "{ended:#}");
}

#[test]
fn a_secret_that_changes_in_the_environment_has_a_daemon_of_its_own() {
    let servers =
        json!({ "kid": { "command": child(), "args": ["echo"], "env": { "TOKEN": "${BELLJAR_TEST_TOKEN}" } } });
    let shell = Shell::new(&servers);
    let pid = |token: &str| {
        let output = shell.command(&["daemon", "start", "--json"]).env("BELLJAR_TEST_TOKEN", token).output().unwrap();
        Answer::of(output).json()["pid"].clone()
    };
    let (one, other) = (pid("one"), pid("other"));
    assert_ne!(one, other);
    assert_eq!((pid("one"), pid("other")), (one, other));
    for token in ["one", "other"] {
        let stopped = shell.command(&["daemon", "stop"]).env("BELLJAR_TEST_TOKEN", token).output().unwrap();
        assert!(stopped.status.success());
    }
}

#[test]
fn a_client_that_is_killed_cancels_what_it_had_running() {
    let shell = Shell::new(&echo());
    let endless = "await kid.echo({ text: 'x' }); for (;;) await new Promise((r) => setTimeout(r, 10))";
    let mut client = shell.begin(&["run", "--code", endless]);
    shell.wait_for_running(1);
    client.kill().unwrap();
    client.wait().unwrap();
    shell.wait_for_running(0);
}

#[test]
fn an_interrupted_command_says_what_its_run_had_done() {
    let shell = Shell::new(&echo());
    let endless =
        "console.log('begun'); await kid.echo({ text: 'x' }); for (;;) await new Promise((r) => setTimeout(r, 10))";
    let client = shell.begin(&["run", "--json", "--code", endless]);
    while shell.server("kid")["calls"] != 1 {
        thread::yield_now();
    }
    signal(client.id(), "INT");
    let answer = Answer::of(client.wait_with_output().unwrap());
    let outcome = answer.json();
    assert_eq!((answer.code, &outcome["error"]["kind"]), (1, &json!("cancelled")), "{answer:#?}");
    assert_eq!((&outcome["logs"][0]["text"], &outcome["calls"][0]["tool"]), (&json!("begun"), &json!("echo")));
}

#[test]
fn no_daemon_starts_none_and_without_a_configuration_none_is_needed() {
    let shell = Shell::new(&echo());
    let answer = shell.json(&["call", "kid.echo", "--input", "{\"text\": \"x\"}", "--no-daemon"]);
    assert_eq!(answer["ok"], true, "{answer:#}");
    let demo = shell.terminal.belljar(&["run", "--json", "--code", "(await demo.list_projects({})).projects.length"]);
    assert_eq!(demo.code, 0, "{demo:#?}");
    for answer in
        [shell.belljar(&["daemon", "status", "--json"]), shell.terminal.belljar(&["daemon", "status", "--json"])]
    {
        assert_eq!((answer.code, &answer.json()["running"]), (1, &json!(false)), "{answer:#?}");
    }
    let stop = shell.belljar(&["daemon", "stop", "--json"]);
    assert_eq!((stop.code, &stop.json()["stopped"]), (0, &json!(false)));
}

#[test]
fn the_socket_is_its_owners_alone_and_one_that_a_dead_daemon_left_is_replaced() {
    let shell = Shell::new(&echo());
    let status = shell.json(&["daemon", "start"]);
    let socket = PathBuf::from(status["socket"].as_str().unwrap());
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&socket), mode(socket.parent().unwrap())), (0o600, 0o700));
    let log = PathBuf::from(status["log"].as_str().unwrap());
    assert_eq!(mode(&log), 0o600);
    let pid = shell.daemon_pid();
    signal(pid, "KILL");
    assert!(is_gone_within(pid, MOMENT));
    assert!(socket.exists());
    assert_eq!(shell.json(&["call", "kid.echo", "--input", "{\"text\": \"x\"}"])["ok"], true);
    assert!(is_running(shell.daemon_pid()));
}

#[test]
fn a_place_where_no_socket_can_be_is_said_with_what_to_do() {
    let shell = Shell::new(&echo());
    let long = shell.terminal.folder.path().join("x".repeat(100));
    let open = shell.terminal.folder.path().join("open");
    std::fs::create_dir_all(open.join("belljar")).unwrap();
    std::fs::set_permissions(open.join("belljar"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let taken = shell.terminal.folder.path().join("taken");
    std::fs::create_dir(&taken).unwrap();
    std::fs::write(taken.join("belljar"), "").unwrap();
    for (folder, message, hint) in [
        (&long, "the limit of the system is", "set XDG_RUNTIME_DIR to a shorter path"),
        (&open, "may be entered by others (mode 0755)", "chmod 700"),
        (&taken, "", "--no-daemon"),
    ] {
        // Neither the user's own state nor the temporary folder can hold a socket, so no place is
        // left.
        let mut command = shell.command(&["daemon", "status"]);
        command.env("XDG_RUNTIME_DIR", folder).env("XDG_STATE_HOME", &long).env("TMPDIR", &long);
        let answer = Answer::of(command.output().unwrap());
        assert_eq!(answer.code, 2, "{answer:#?}");
        assert!(answer.stderr.contains(message) && answer.stderr.contains(hint), "{answer:#?}");
        // If there is another place, that is used, and the reason reported.
        let answer = Answer::of(shell.command(&["daemon", "status"]).env("XDG_RUNTIME_DIR", folder).output().unwrap());
        assert_eq!(answer.code, 1, "{answer:#?}");
        assert!(answer.stderr.contains(message) && answer.stderr.contains("/state/belljar/run instead"), "{answer:#?}");
    }
}

#[test]
fn something_else_on_the_socket_is_no_daemon() {
    let shell = Shell::new(&echo());
    let socket = PathBuf::from(shell.json(&["daemon", "status"])["socket"].as_str().unwrap());
    let listener = UnixListener::bind(&socket).unwrap();
    let impostor = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 1024]);
        let _ = stream.write_all(b"220 mail.example.com ESMTP\n");
    });
    let answer = shell.belljar(&["call", "kid.echo"]);
    impostor.join().unwrap();
    assert_eq!(answer.code, 3, "{answer:#?}");
    assert!(answer.stderr.contains("cannot be understood") && answer.stderr.contains("--no-daemon"), "{answer:#?}");
    std::fs::remove_file(&socket).unwrap();
}

#[test]
fn a_daemon_of_a_newer_protocol_is_named_with_what_to_do_and_left_alone() {
    let shell = Shell::new(&echo());
    let socket = PathBuf::from(shell.json(&["daemon", "status"])["socket"].as_str().unwrap());
    let listener = UnixListener::bind(&socket).unwrap();
    let newer = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut lines = std::io::BufReader::new(stream.try_clone().unwrap()).lines();
        let hello: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        let message = "the client speaks version 1 of the protocol, and the daemon 7";
        let answer = json!({ "jsonrpc": "2.0", "id": hello["id"], "error": {
            "code": -32002, "message": message, "data": { "hint": "use the same belljar for both, or end the daemon: kill 7" }
        } });
        writeln!(stream, "{answer}").unwrap();
        // The client asks for nothing more: it does not stop a daemon that it does not understand.
        (hello, lines.next().is_none())
    });
    let answer = shell.belljar(&["call", "kid.echo", "--json"]);
    let (hello, was_left_alone) = newer.join().unwrap();
    assert_eq!((&hello["method"], &hello["params"]["protocol"]), (&json!("hello"), &json!(1)));
    assert!(was_left_alone);
    assert_eq!(answer.code, 3, "{answer:#?}");
    let error = &answer.json()["error"];
    assert!(error["message"].as_str().unwrap().contains("the daemon 7"), "{error:#}");
    assert!(error["hint"].as_str().unwrap().contains("kill 7"), "{error:#}");
    std::fs::remove_file(&socket).unwrap();
}

#[test]
fn a_full_disk_costs_the_daemon_its_log_and_no_call() {
    let shell = Shell::new(&echo());
    // Processes started here cannot write to files, which simulates a full disk.
    let full = |arguments: &[&str]| {
        let command = shell.command(arguments);
        let mut full = Command::new("sh");
        full.args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "sh"]).arg(command.get_program());
        full.args(command.get_args()).envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        full.current_dir(command.get_current_dir().unwrap());
        Answer::of(full.output().unwrap())
    };
    let started = full(&["daemon", "start", "--json"]);
    assert_eq!(started.code, 0, "{started:#?}");
    for text in ["one", "two"] {
        let input = json!({ "text": text }).to_string();
        let answer = full(&["call", "kid.echo", "--input", &input, "--json"]);
        assert_eq!((answer.code, &answer.json()["value"]["text"]), (0, &json!(text)), "{answer:#?}");
    }
    let log = PathBuf::from(started.json()["log"].as_str().unwrap());
    assert_eq!(std::fs::metadata(log).unwrap().len(), 0);
    let kid = shell.server("kid");
    assert_eq!((&kid["calls"], &kid["restarts"]), (&json!(2), &json!(0)), "{kid:#}");
}

#[test]
fn other_programs_can_talk_to_it() {
    let terminal = Terminal::with_daemon();
    let status = terminal.belljar(&["daemon", "start", "--json"]).json();
    let socket = status["socket"].as_str().unwrap();
    for (program, example) in [("python3", "client.py"), (node(), "client.mjs")] {
        let example = repository().join("examples/daemon").join(example);
        let output = Command::new(program).arg(&example).arg(socket).output().unwrap();
        let answer = Answer::of(output);
        assert_eq!(answer.code, 0, "{answer:#?}");
        let title = "call: Memory of the tile server doubles every week";
        for line in ["demo: ready, 7 tools", title, "execute: "] {
            assert!(answer.stdout.contains(line), "{answer:#?}");
        }
    }
    assert_eq!(terminal.belljar(&["daemon", "stop"]).code, 0);
}

#[test]
fn the_configuration_says_how_long_it_stays_without_a_client() {
    for (idle, expected) in
        [("[daemon]\nidle = \"2h\"", json!(7200)), ("[daemon]\nidle = \"never\"", Value::Null), ("", json!(1800))]
    {
        let terminal = Terminal::with_daemon();
        let config = terminal.file("belljar.toml", format!("{idle}\n[servers.demo]\nbuiltin = \"demo\"\n"));
        let config = config.to_str().unwrap();
        let status = terminal.belljar(&["daemon", "start", "--json", "--config", config]).json();
        assert_eq!(terminal.belljar(&["daemon", "stop", "--config", config]).code, 0);
        assert_eq!(status["idle_s"], expected, "{status:#}");
    }
}

#[test]
fn a_client_of_serve_can_share_the_daemon_and_raises_no_limit() {
    let shell = Shell::new(&echo());
    let first = shell.json(&["call", "kid.echo", "--input", "{\"text\": \"x\"}"]);
    assert_eq!(first["ok"], true, "{first:#}");
    let mut server = shell.begin_fed(&["serve", "--daemon"]);
    server.ask(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" }
    } }));
    server.tell(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let mut call = |id: u32, tool: &str, arguments: Value| {
        server.ask(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": tool, "arguments": arguments } }))["result"]
            .clone()
    };
    let ran = call(2, "execute_code", json!({ "code": "(await kid.echo({ text: 'y' })).text" }));
    assert_eq!((&ran["isError"], &ran["structuredContent"]["value"]), (&json!(false), &json!("y")), "{ran:#}");
    let found = call(3, "search_docs", json!({ "query": "echo" }));
    assert_eq!(found["structuredContent"]["results"][0]["path"], "kid.echo", "{found:#}");
    let refused = call(4, "execute_code", json!({ "code": "1", "limits": { "timeout": "9h" } }));
    assert_eq!(refused["isError"], true, "{refused:#}");
    assert!(refused["content"][0]["text"].as_str().unwrap().contains("timeout"), "{refused:#}");
    let failed = call(5, "execute_code", json!({ "code": "throw new Error('on purpose')" }));
    assert_eq!((&failed["isError"], &failed["structuredContent"]["ok"]), (&json!(true), &json!(false)), "{failed:#}");
    drop(server);
    let kid = shell.server("kid");
    assert_eq!((&kid["calls"], &kid["restarts"]), (&json!(2), &json!(0)), "{kid:#}");
}

#[test]
fn what_a_child_asks_is_asked_of_the_client_of_serve_and_its_answer_goes_back() {
    let shell = Shell::new(&json!({ "kid": { "command": child(), "args": ["probe"], "asks": ["sampling"] } }));
    let mut server = shell.begin_fed(&["serve"]);
    server.ask(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": { "sampling": {} }, "clientInfo": { "name": "test", "version": "1" }
    } }));
    server.tell(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let code = "const messages = [{ role: 'user', content: { type: 'text', text: 'who wrote it?' } }]; \
        (await kid.ask({ method: 'sampling/createMessage', params: { messages, maxTokens: 9 } })).result.content.text";
    let question = server.ask(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "execute_code", "arguments": { "code": code }
    } }));
    assert_eq!(question["method"], "sampling/createMessage", "{question:#}");
    assert_eq!(question["params"]["messages"][0]["content"]["text"], "who wrote it?", "{question:#}");
    let content = json!({ "type": "text", "text": "Ada" });
    let answer = server.ask(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": {
        "role": "assistant", "content": content, "model": "somebody's"
    } }));
    assert_eq!(
        (&answer["id"], &answer["result"]["structuredContent"]["value"]),
        (&json!(2), &json!("Ada")),
        "{answer:#}"
    );
}

/// In the revision without sessions a server sends no requests. A client that supports tasks finds
/// the question in the task.
#[test]
fn what_a_child_asks_is_in_the_task_of_its_run_where_the_client_takes_no_requests() {
    let shell = Shell::new(&json!({ "kid": { "command": child(), "args": ["probe"], "asks": ["sampling"] } }));
    let mut server = shell.begin_fed(&["serve"]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {
            "sampling": {}, "extensions": { "io.modelcontextprotocol/tasks": {} }
        },
    });
    let mut ask = |id: u32, method: &str, mut params: Value| {
        params["_meta"] = meta.clone();
        server.ask(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))["result"].take()
    };
    let code = "const messages = [{ role: 'user', content: { type: 'text', text: 'who wrote it?' } }]; \
        (await kid.ask({ method: 'sampling/createMessage', params: { messages, maxTokens: 9 } })).result.content.text";
    // It becomes a task when it asks, however little time has passed.
    let created = ask(1, "tools/call", json!({ "name": "execute_code", "arguments": { "code": code } }));
    let id = created["taskId"].as_str().unwrap_or_else(|| panic!("{created:#}"));
    let mut task = ask(2, "tasks/get", json!({ "taskId": id }));
    let asked = Instant::now();
    while task["status"] == "working" {
        assert!(asked.elapsed() < AMPLE, "{task:#}");
        task = ask(2, "tasks/get", json!({ "taskId": id }));
    }
    assert_eq!(task["status"], "input_required", "{task:#}");
    let (key, question) = task["inputRequests"].as_object().unwrap().iter().next().unwrap();
    assert_eq!(question["method"], "sampling/createMessage", "{task:#}");
    assert_eq!(question["params"]["messages"][0]["content"]["text"], "who wrote it?", "{task:#}");
    let content = json!({ "type": "text", "text": "Ada" });
    let answers = json!({ key: { "role": "assistant", "content": content, "model": "somebody's" } });
    ask(3, "tasks/update", json!({ "taskId": id, "inputResponses": answers }));
    let ended =
        (4..).map(|number| ask(number, "tasks/get", json!({ "taskId": id }))).find(|task| task["status"] != "working");
    let ended = ended.unwrap();
    assert_eq!(ended["result"]["structuredContent"]["value"], "Ada", "{ended:#}");
}

/// A command with a line-based dialogue. It ends with its stdin.
pub(crate) struct Talk {
    process: Child,
    answers: std::io::BufReader<std::process::ChildStdout>,
}

impl Talk {
    pub(crate) fn tell(&mut self, message: &Value) {
        writeln!(self.process.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    pub(crate) fn ask(&mut self, request: &Value) -> Value {
        self.tell(request);
        self.hear()
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        self.process.wait().unwrap();
    }
}

impl Shell {
    pub(crate) fn begin_fed(&self, arguments: &[&str]) -> Talk {
        let mut command = self.command(arguments);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let answers = std::io::BufReader::new(process.stdout.take().unwrap());
        Talk { process, answers }
    }
}
