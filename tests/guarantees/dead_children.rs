//! A child server that is dead, dies or never started affects nothing else, and every caller is
//! told why.

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
    thread,
    time::{Duration, Instant},
};

use belljar_testkit::{child_binary, is_gone_within, is_running};
use serde_json::{Value, json};

use crate::{
    cancellation::{AMPLE, ended, milestone, signal, started, written},
    support::{Answer, Terminal, belljar},
};

/// A command for which the kernel lacks something.
#[cfg(target_os = "linux")]
pub(crate) fn without(missing: &str, whole: &Command) -> Command {
    let mut command = Command::new(child());
    command.args(["without", missing]).arg(whole.get_program()).args(whole.get_args());
    command.current_dir(whole.get_current_dir().unwrap());
    for (name, value) in whole.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

/// The child server that misbehaves as its arguments say.
pub(crate) fn child() -> &'static Path {
    static CHILD: OnceLock<PathBuf> = OnceLock::new();
    CHILD.get_or_init(|| {
        // Builds all binaries, including this one.
        belljar();
        child_binary().expect("the workspace's binaries were built, and this is one of them")
    })
}

/// A configured child that ignores the end of its input and SIGTERM, as does its helper.
pub(crate) fn stubborn(terminal: &Terminal, file: &str) -> (Value, Pids) {
    let file = terminal.folder.path().join(file);
    (json!({ "command": child(), "args": ["stubborn", file] }), Pids(file))
}

/// The file in which a child writes its pids.
pub(crate) struct Pids(PathBuf);

impl Pids {
    fn all(&self) -> Vec<u32> {
        written(&self.0).split_whitespace().map(|pid| pid.parse().unwrap()).collect()
    }

    /// Asserts that they have ended, after whoever started them has ended.
    pub(crate) fn assert_gone(&self) {
        // Killed processes may need a moment more to be gone.
        self.assert_gone_within(AMPLE);
    }

    pub(crate) fn assert_gone_within(&self, limit: Duration) {
        for pid in self.all() {
            assert!(is_gone_within(pid, limit), "the process {pid} was left behind");
        }
    }
}

/// Writes a configuration with these servers and gives its path.
fn config(terminal: &Terminal, servers: Value) -> String {
    terminal.file("mcp.json", json!({ "mcpServers": servers }).to_string()).to_str().unwrap().to_owned()
}

/// Servers that cannot be started, with the expected message: the reason and what to try.
fn dead() -> Vec<(&'static str, Value, &'static str, &'static str)> {
    vec![
        (
            "nowhere",
            json!({ "command": "belljar-no-such-command" }),
            "the command 'belljar-no-such-command' was not found",
            "is installed",
        ),
        (
            "exits",
            json!({ "command": child(), "args": ["exit"] }),
            "exited during its start (exit status: 3); its stderr ended with: cannot start: the variable EXAMPLE_TOKEN is \
             not set",
            "run the command by hand",
        ),
        (
            "mute",
            json!({ "command": child(), "args": ["mute"], "start_timeout": "1s" }),
            "did not answer initialize within 1s of its start",
            "raise its start_timeout (now 1s)",
        ),
        (
            "refuses",
            json!({ "command": child(), "args": ["refuse"] }),
            "a licence is needed",
            "check that the command starts an MCP server",
        ),
        (
            "homeless",
            json!({ "command": child(), "args": ["echo"], "cwd": "/belljar/no/such/folder" }),
            "the working directory '/belljar/no/such/folder' does not exist",
            "create the folder",
        ),
        ("folder", json!({ "command": "/" }), "the command '/' cannot be executed", "marked as executable"),
        ("remote", json!({ "url": "http://127.0.0.1:1/mcp" }), "cannot be reached", "'url' is right"),
    ]
}

/// All of the dead servers, and one that is alive.
fn dead_and_alive(terminal: &Terminal) -> String {
    let mut servers: serde_json::Map<_, _> =
        dead().into_iter().map(|(name, server, ..)| (name.to_owned(), server)).collect();
    servers.insert("alive".to_owned(), json!({ "command": child(), "args": ["echo"] }));
    config(terminal, servers.into())
}

#[test]
fn servers_names_each_dead_child_with_its_reason_and_what_to_try() {
    let terminal = Terminal::new();
    let config = dead_and_alive(&terminal);
    let begun = Instant::now();
    let answer = terminal.belljar(&["servers", "--json", "--config", &config]);
    let took = begun.elapsed();
    assert_eq!(answer.code, 0, "{answer:#?}");
    let answer = answer.json();
    let servers = answer["servers"].as_array().unwrap();
    for (server, (name, _, reason, hint)) in servers.iter().zip(dead()) {
        assert_eq!(server["name"], name);
        assert_eq!(server["state"], "failing", "{server:#}");
        assert!(server["last_error"].as_str().unwrap().contains(reason), "{server:#}");
        assert!(server["hint"].as_str().unwrap().contains(hint), "{server:#}");
        assert!(server.get("tools").is_none() && server.get("pid").is_none(), "{server:#}");
    }
    let alive = &servers[dead().len()];
    assert_eq!((&alive["state"], &alive["tools"]), (&json!("ready"), &json!(3)), "{alive:#}");
    // The default would be twenty seconds.
    assert!(took < Duration::from_secs(15), "a start_timeout of 1s was not kept: {took:?}");

    let table = terminal.belljar(&["servers", "--config", &config]).stdout;
    for (name, _, reason, hint) in dead() {
        for text in [name, reason, hint] {
            assert!(table.contains(text), "{text} is not in\n{table}");
        }
    }
}

#[test]
fn a_search_names_the_unavailable_servers_with_their_reasons_and_finds_the_tools_of_the_others() {
    let terminal = Terminal::new();
    let config = dead_and_alive(&terminal);
    let answer = terminal.belljar(&["search", "gives its arguments back", "--json", "--config", &config]);
    assert_eq!(answer.code, 0, "{answer:#?}");
    let answer = answer.json();
    assert_eq!(answer["results"][0]["path"], "alive.echo", "{answer:#}");
    let unavailable = answer["unavailable"].as_array().unwrap();
    assert_eq!(unavailable.len(), dead().len());
    for (server, (name, _, reason, hint)) in unavailable.iter().zip(dead()) {
        assert_eq!(server["server"], name);
        assert!(server["reason"].as_str().unwrap().contains(reason), "{server:#}");
        assert!(server["hint"].as_str().unwrap().contains(hint), "{server:#}");
    }

    let text = terminal.belljar(&["search", "gives its arguments back", "--config", &config]).stdout;
    assert!(text.contains("alive.echo"), "{text}");
    let names: Vec<_> = dead().iter().map(|(name, ..)| *name).collect();
    assert!(
        text.contains(&format!("Unavailable: {} (search with server for the reason).", names.join(", "))),
        "{text}"
    );
    let (name, _, reason, hint) = dead().remove(0);
    let asked = terminal.belljar(&["search", "gives its arguments back", "--server", name, "--config", &config]);
    let text = asked.stdout;
    assert!(text.contains(&format!("Unavailable: {name}: {reason}")) && text.contains(hint), "{text}");
}

#[test]
fn a_script_can_catch_why_a_server_is_dead_and_go_on_with_the_others() {
    let terminal = Terminal::new();
    let config = dead_and_alive(&terminal);
    let names: Vec<&str> = dead().iter().map(|(name, ..)| *name).collect();
    let script = format!(
        "const caught = await Promise.all([{}].map(async (server) => {{
           try {{ return await server.anything({{}}); }}
           catch (error) {{
             return {{ is: error instanceof ToolError, server: error.server, tool: error.tool, message: error.message }};
           }}
         }}));
         return {{ caught, alive: await alive.echo({{ n: 1 }}) }};",
        names.join(", ")
    );
    let answer = terminal.belljar(&["run", "--json", "--config", &config, "--code", &script]);
    assert_eq!(answer.code, 0, "{answer:#?}");
    let value = answer.json()["value"].take();
    assert_eq!(value["alive"], json!({ "n": 1 }));
    for (caught, (name, _, reason, _)) in value["caught"].as_array().unwrap().iter().zip(dead()) {
        assert_eq!(caught["is"], true, "{caught:#}");
        assert_eq!((&caught["server"], &caught["tool"]), (&json!(name), &json!("anything")));
        let message = caught["message"].as_str().unwrap();
        assert!(message.contains(&format!("server '{name}' is not available")), "{message}");
        assert!(message.contains(reason), "{message}");
    }
}

#[test]
fn a_dead_server_that_nobody_catches_ends_the_run_as_a_tool_error_that_says_why() {
    let terminal = Terminal::new();
    let config = dead_and_alive(&terminal);
    let reason = "the command 'belljar-no-such-command' was not found";
    let run = ["run", "--config", &config, "--code", "await alive.echo({});\nawait nowhere.anything({})"];

    let answer = terminal.belljar(&[run.as_slice(), &["--json"]].concat());
    assert_eq!(answer.code, 1, "{answer:#?}");
    let outcome = answer.json();
    assert_eq!(outcome["error"]["kind"], "tool", "{outcome:#}");
    assert!(outcome["error"]["message"].as_str().unwrap().contains(reason), "{outcome:#}");
    assert_eq!(outcome["error"]["line"], 2, "{outcome:#}");
    assert_eq!(outcome["calls"][0]["server"], "alive", "{outcome:#}");

    for arguments in [run.as_slice(), &["call", "nowhere.anything", "--config", &config]] {
        let answer = terminal.belljar(arguments);
        assert_eq!((answer.code, answer.stdout.as_str()), (1, ""), "{answer:#?}");
        assert!(answer.stderr.contains(reason), "{answer:#?}");
    }
}

#[test]
pub(crate) fn a_child_that_crashes_during_a_call_fails_that_call_alone_and_serves_the_next_one() {
    let terminal = Terminal::new();
    let crashed = terminal.folder.path().join("crashed");
    // Crashes in its first life, and is healthy from then on.
    let command = "if [ -e \"$1\" ]; then exec \"$0\" echo; fi; : > \"$1\"; exec \"$0\" crash-on-call";
    let frail = json!({ "command": "sh", "args": ["-c", command, child(), crashed] });
    let other = json!({ "command": child(), "args": ["echo"] });
    let config = config(&terminal, json!({ "frail": frail, "other": other }));
    let script = "
        const slow = other.slow({ ms: 100 });
        const caught = await frail.echo({ n: 1 }).catch((error) => [error instanceof ToolError, error.message, error.hint]);
        return { caught, again: await frail.echo({ n: 2 }), slow: await slow };";
    let answer = terminal.belljar(&["run", "--json", "--config", &config, "--code", script]);
    assert_eq!(answer.code, 0, "{answer:#?}");
    let outcome = answer.json();
    let value = &outcome["value"];
    assert_eq!(value["caught"][0], true, "{outcome:#}");
    let message = value["caught"][1].as_str().unwrap();
    assert!(message.contains("server 'frail' died during the call (exit status: 7;"), "{message}");
    assert!(message.contains("panicked in echo"), "{message}");
    assert!(value["caught"][2].as_str().unwrap().contains("starts the server again"), "{outcome:#}");
    assert_eq!(value["again"], json!({ "n": 2 }));
    assert_eq!(value["slow"], "slept");
    let failed: Vec<_> = outcome["calls"].as_array().unwrap().iter().filter(|call| call["ok"] == false).collect();
    assert_eq!(failed.len(), 1, "{outcome:#}");
    assert_eq!(failed[0]["server"], "frail");
}

#[test]
fn every_call_after_a_crash_has_a_life_of_its_own_however_soon_it_comes() {
    // Fewer than open the circuit: each wait is twice as long as the previous one.
    const CALLS: usize = 4;
    let terminal = Terminal::new();
    let lives = terminal.folder.path().join("lives");
    let command = "echo life >> \"$1\"; exec \"$0\" crash-on-call";
    let config = config(&terminal, json!({ "frail": { "command": "sh", "args": ["-c", command, child(), lives] } }));
    let script = format!(
        "const told = [];
         for (let n = 0; n < {CALLS}; n++) await frail.echo({{}}).catch((error) => told.push(error.message));
         return told;"
    );
    let answer = terminal.belljar(&["run", "--json", "--config", &config, "--code", &script]);
    let value = answer.json()["value"].take();
    let told = value.as_array().unwrap();
    assert!(told.iter().all(|message| message.as_str().unwrap().contains("exit status: 7")), "{value:#}");
    assert_eq!((told.len(), written(&lives).lines().count()), (CALLS, CALLS), "a call was sent to a dead child");
}

#[test]
pub(crate) fn a_call_that_is_never_answered_is_given_up_after_its_own_limit() {
    let terminal = Terminal::new();
    let servers =
        format!("[limits]\ncall = '300ms'\n[servers.hangs]\ncommand = '{}'\nargs = ['hang-call']\n", child().display());
    let config = terminal.file("belljar.toml", servers);
    let code = "await hangs.echo({}).catch((error) => error.message)";
    let answer = terminal.belljar(&["run", "--json", "--config", config.to_str().unwrap(), "--code", code]);
    assert_eq!(answer.code, 0, "{answer:#?}");
    let message = answer.json()["value"].take();
    assert!(message.as_str().unwrap().contains("did not answer within 300ms"), "{message}");
}

#[test]
pub(crate) fn nothing_that_a_child_says_reaches_a_terminal_raw() {
    let terminal = Terminal::new();
    let command = "printf '\\033[2Jgone \\302\\2331mbold \\342\\200\\256turned\\n' >&2; exit 1";
    let config = config(&terminal, json!({ "rude": { "command": "sh", "args": ["-c", command] } }));
    for arguments in [
        ["servers"].as_slice(),
        &["servers", "--json"],
        &["search", "x"],
        &["search", "x", "--json"],
        &["call", "rude.x"],
        &["run", "--code", "await rude.x()"],
        &["run", "--json", "--code", "await rude.x()"],
    ] {
        let answer = terminal.belljar(&[arguments, &["-vv", "--config", &config]].concat());
        let Answer { stdout, stderr, .. } = &answer;
        for output in [stdout, stderr] {
            let is_raw = |character: char| {
                (character.is_control() && !matches!(character, '\n' | '\t')) || character == '\u{202e}'
            };
            assert!(!output.contains(is_raw), "{arguments:?}: {output:?}");
        }
        assert!(stderr.contains("gone"), "{arguments:?} does not show the child's words: {answer:#?}");
    }
}

#[test]
fn nothing_of_a_child_is_left_when_a_command_has_ended_however_it_did() {
    // A stubborn child takes its time to end, so all of them end concurrently.
    thread::scope(|scope| {
        for (arguments, code) in [
            (["servers"].as_slice(), 0),
            (&["search", "echo"], 0),
            (&["call", "kid.echo"], 0),
            (&["run", "--code", "await kid.echo({})"], 0),
            (&["run", "--code", "await kid.echo({}); throw new Error('on purpose')"], 1),
            (&["run", "--timeout", "10s", "--compute", "2s", "--code", "await kid.echo({}); while (true) {}"], 1),
        ] {
            scope.spawn(move || {
                let terminal = Terminal::new();
                let (kid, pids) = stubborn(&terminal, "pids");
                let config = config(&terminal, json!({ "kid": kid }));
                let answer = terminal.belljar(&[arguments, &["--config", &config]].concat());
                assert_eq!(answer.code, code, "{arguments:?}: {answer:#?}");
                pids.assert_gone();
            });
        }
    });
}

#[test]
fn nothing_of_a_child_is_left_when_a_run_is_interrupted_in_the_middle_of_a_call() {
    let terminal = Terminal::new();
    let here = terminal.folder.path().join("here");
    let (kid, pids) = stubborn(&terminal, "pids");
    let config = config(&terminal, json!({ "kid": kid, "here": milestone(&here) }));
    let code = "await Promise.all([kid.slow({ ms: 600_000 }), here.echo({}).catch(() => {})])";
    let run = started(&terminal, &["run", "--json", "--config", &config, "--code", code]);
    written(&here);
    let running = pids.all();
    assert_eq!(running.len(), 2);
    assert!(running.iter().all(|pid| is_running(*pid)), "the child and its helper must run by now");
    signal(&run, "INT");
    let answer = ended(run);
    assert_eq!(answer.json()["error"]["kind"], "cancelled", "{answer:#?}");
    pids.assert_gone();
}
