//! A hook always answers in its client's form and with exit code 0; what it says comes only from
//! the owner's rules.
//!
//! What clients send and accept is in `tests/hooks`, one file per client, written according to
//! their makers' documentation.

use std::{
    fs,
    io::Write as _,
    path::PathBuf,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    context_cost::tokens,
    dead_children::child,
    support::{Answer, Terminal, repository},
};

const CLIENTS: [&str; 6] = ["claude-code", "codex", "vscode", "copilot", "cursor", "gemini"];
/// How long something may take that happens in the background.
const MOMENT: Duration = Duration::from_secs(30);

/// What a client sends, and the form in which it takes answers.
struct Fixture {
    client: &'static str,
    form: Value,
}

impl Fixture {
    fn of(client: &'static str) -> Self {
        let text = fs::read_to_string(repository().join(format!("tests/hooks/{client}.json"))).unwrap();
        Self { client, form: serde_json::from_str(&text).unwrap() }
    }

    fn event(&self, what: &str) -> &str {
        self.form[format!("{what}_event")].as_str().unwrap()
    }

    /// What it sends before a search.
    fn search(&self, session: &str, pattern: &str) -> Vec<u8> {
        self.form["before"].to_string().replace("SESSION", session).replace("PATTERN", pattern).into_bytes()
    }

    /// The answer in this form; if the client has no such form, it is told to go on.
    fn answer(&self, form: &str, text: &str) -> Value {
        match &self.form[form] {
            Value::Null => json!({}),
            form => serde_json::from_str(&form.to_string().replace("\"TEXT\"", &json!(text).to_string())).unwrap(),
        }
    }
}

/// An owner with rules, whose daemon ends with them.
pub(crate) struct Owner {
    pub(crate) terminal: Terminal,
    wait: &'static str,
}

impl Owner {
    pub(crate) fn new(rules: &str, servers: &str) -> Self {
        let owner = Self { terminal: Terminal::with_daemon(), wait: "30s" };
        owner.configure(rules, servers);
        owner
    }

    /// An owner with a rule that leads every search for a class to a server that echoes.
    fn of_searches(mode: &str) -> Self {
        Self::new(&rule(mode), &echo())
    }

    fn configure(&self, rules: &str, servers: &str) -> PathBuf {
        self.terminal.file("own.toml", format!("{rules}\n{servers}"))
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.terminal.command(arguments);
        command.arg("--config").arg(self.terminal.folder.path().join("own.toml"));
        command
    }

    pub(crate) fn belljar(&self, arguments: &[&str]) -> Answer {
        Answer::of(self.command(arguments).output().unwrap())
    }

    pub(crate) fn start_daemon(&self) -> u64 {
        let started = self.belljar(&["daemon", "start", "--json"]);
        assert_eq!(started.code, 0, "{started:#?}");
        started.json()["pid"].as_u64().unwrap()
    }

    /// What a hook answers: in any case one JSON object and exit code 0.
    pub(crate) fn hook(&self, client: &str, event: &str, input: &[u8]) -> Value {
        let mut hook = self.command(&["hook", client, event, "--wait", self.wait]);
        let mut hook = hook.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // What it answers is judged, whether or not it read all of this.
        let _ = hook.stdin.take().unwrap().write_all(input);
        let answer = Answer::of(hook.wait_with_output().unwrap());
        assert_eq!(answer.code, 0, "{client} {event}: {answer:#?}");
        let answer = answer.json();
        assert!(answer.is_object(), "{client} {event}: {answer}");
        answer
    }

    fn search(&self, fixture: &Fixture, session: &str, pattern: &str) -> Value {
        self.hook(fixture.client, fixture.event("before"), &fixture.search(session, pattern))
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // A test that fails must not leave a daemon behind either.
        self.belljar(&["daemon", "stop"]);
    }
}

fn rule(mode: &str) -> String {
    format!(
        "[[hook]]\ntools = 'Grep|Bash|grep_search|grep|search_file_content'\npaths = ['src/']\npatterns = ['class ']\n\
         say = 'kid.echo({{text: {{name}}}})'\nmode = '{mode}'\n"
    )
}

fn echo() -> String {
    format!("[servers.kid]\ncommand = '{}'\nargs = ['echo']\n", child().display())
}

fn signal(pid: u64, name: &str) {
    assert!(Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status().unwrap().success());
}

/// Waits until something that happens in the background is the case.
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < MOMENT, "{what}: not within {MOMENT:?}");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_denial_names_the_exact_call_and_comes_once_for_each_input() {
    let owner = Owner::of_searches("deny");
    owner.start_daemon();
    for client in CLIENTS {
        let fixture = Fixture::of(client);
        let reason = "Not called yet. In its place, run in belljar's execute_code: kid.echo({text: \"Asset\"}) If that \
                      cannot do it, repeat the same call, which then passes.";
        let first = owner.search(&fixture, client, "class Asset");
        assert_eq!(first, fixture.answer("denied", reason), "{client}");
        assert_eq!(owner.search(&fixture, client, "class Asset"), json!({}), "{client} is denied the same call twice");
        let other = owner.search(&fixture, client, "class Other");
        assert_eq!(other, fixture.answer("denied", &reason.replace("Asset", "Other")), "{client}");
        assert_eq!(owner.search(&fixture, client, "func Asset"), json!({}), "{client} is denied what no rule fits");
    }
}

#[test]
fn an_agent_is_told_once_a_session_where_its_client_can_be_told() {
    let owner = Owner::of_searches("tell");
    owner.start_daemon();
    for client in CLIENTS {
        let fixture = Fixture::of(client);
        let text = "In place of this call, belljar's execute_code can run: kid.echo({text: \"Asset\"})";
        for session in ["one", "two"] {
            let session = format!("{session} of {client}");
            assert_eq!(owner.search(&fixture, &session, "class Asset"), fixture.answer("told", text), "{client}");
            assert_eq!(owner.search(&fixture, &session, "class Other"), json!({}), "{client} is told twice");
        }
    }
}

#[test]
fn a_rule_that_enforces_denies_each_time_while_its_server_can_be_used() {
    let owner = Owner::new("", "");
    let works = owner.terminal.folder.path().join("works");
    let script = format!("test -e '{}' && exec '{}' echo", works.display(), child().display());
    let server = format!("[servers.kid]\ncommand = 'sh'\nargs = ['-c', \"\"\"{script}\"\"\"]\n");
    owner.configure(&rule("enforce"), &server);
    owner.start_daemon();
    let fixtures: Vec<Fixture> = CLIENTS.into_iter().map(Fixture::of).collect();
    let reason = "Not called. In its place, run in belljar's execute_code: kid.echo({text: \"Asset\"})";
    let state = || owner.belljar(&["servers", "--json"]).json()["servers"][0]["state"].clone();
    assert_ne!(state(), "ready");
    for fixture in &fixtures {
        assert_eq!(owner.search(fixture, "s", "class Asset"), json!({}), "{}", fixture.client);
    }
    fs::write(&works, "").unwrap();
    wait_until("the server works again", || state() == "ready");
    for fixture in fixtures.iter().chain(&fixtures) {
        let answer = owner.search(fixture, "s", "class Asset");
        assert_eq!(answer, fixture.answer("denied", reason), "{}", fixture.client);
    }
    owner.configure(&rule("enforce"), &format!("{server}disabled = true\n"));
    owner.start_daemon();
    for fixture in &fixtures {
        assert_eq!(
            owner.search(fixture, "s", "class Asset"),
            json!({}),
            "{} is led to what is not there",
            fixture.client
        );
    }
}

#[test]
fn without_a_daemon_or_with_one_that_is_stuck_every_call_goes_on() {
    let mut owner = Owner::of_searches("enforce");
    let fixtures: Vec<Fixture> = CLIENTS.into_iter().map(Fixture::of).collect();
    let all = |owner: &Owner| -> Vec<Value> {
        fixtures.iter().map(|fixture| owner.search(fixture, "s", "class Asset")).collect()
    };
    assert!(all(&owner).iter().all(|answer| *answer == json!({})), "no daemon runs");
    let daemon = owner.start_daemon();
    assert!(all(&owner).iter().all(|answer| *answer != json!({})), "a daemon runs");
    owner.wait = "200ms";
    signal(daemon, "STOP");
    let stuck = all(&owner);
    let claude = Fixture::of("claude-code");
    let start = owner.hook("claude-code", "SessionStart", claude.form["start"].to_string().as_bytes());
    signal(daemon, "CONT");
    let expected = "belljar: execute_code runs JavaScript over kid; search_docs finds their tools.";
    assert_eq!(start, claude.answer("introduced", expected), "a session begins all the same");
    assert!(stuck.iter().all(|answer| *answer == json!({})), "{stuck:?}");
}

#[test]
fn whatever_is_sent_and_however_the_hook_is_called_the_answer_is_to_go_on() {
    let owner = Owner::of_searches("enforce");
    owner.start_daemon();
    let huge =
        format!("{{\"tool_name\": \"Grep\", \"tool_input\": {{\"pattern\": \"class {}\"}}}}", "x".repeat(4 << 20));
    let deep = "[".repeat(100_000);
    let inputs =
        ["", "no JSON", "{}", "[]", "{\"tool_name\": 3}", "{\"tool_name\": \"Grep\", \"tool_input\": []}", &huge];
    let inputs: Vec<&[u8]> =
        inputs.into_iter().map(str::as_bytes).chain([deep.as_bytes(), b"\0", b"\xff\xfe"]).collect();
    for client in CLIENTS.into_iter().chain(["auto", "nobody", "--quiet"]) {
        for input in &inputs {
            assert_eq!(owner.hook(client, "PreToolUse", input), json!({}), "{client}");
        }
        assert_eq!(owner.hook(client, "SessionEnd", b"{}"), json!({}), "{client}");
    }
    let claude = Fixture::of("claude-code");
    assert_ne!(owner.search(&claude, "s", "class Asset"), json!({}));
    // The client does not read the answer, and sends nothing the next time.
    let mut hook = owner.command(&["hook", "claude-code", "PreToolUse"]);
    let mut hook = hook.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    drop(hook.stdout.take());
    drop(hook.stdin.take());
    assert!(hook.wait().unwrap().success());
    let mut hook = owner.command(&["hook", "claude-code", "PreToolUse"]);
    let mut hook = hook.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let never_closed = hook.stdin.take();
    assert_eq!(Answer::of(hook.wait_with_output().unwrap()).json(), json!({}));
    drop(never_closed);
    // A configuration with a mistake, and none.
    owner.terminal.file("own.toml", "[[hook]]\nmode = 'wall'\n");
    assert_eq!(owner.search(&claude, "s", "class Asset"), json!({}));
    fs::remove_file(owner.terminal.folder.path().join("own.toml")).unwrap();
    assert_eq!(owner.search(&claude, "s", "class Asset"), json!({}));
    owner.configure("", "");
}

#[test]
fn a_hook_that_guesses_its_client_answers_as_the_one_that_was_told() {
    let owner = Owner::of_searches("enforce");
    owner.start_daemon();
    for fixture in CLIENTS.into_iter().map(Fixture::of) {
        let input = fixture.search("s", "class Asset");
        let told = owner.hook(fixture.client, fixture.event("before"), &input);
        assert_ne!(told, json!({}), "{}", fixture.client);
        assert_eq!(owner.hook("auto", fixture.event("before"), &input), told, "{}", fixture.client);
        let start = fixture.form["start"].to_string();
        let told = owner.hook(fixture.client, fixture.event("start"), start.as_bytes());
        assert_eq!(owner.hook("auto", fixture.event("start"), start.as_bytes()), told, "{}", fixture.client);
    }
}

#[test]
fn rules_come_from_the_owners_file_and_never_from_the_folder() {
    let terminal = Terminal::with_daemon();
    terminal.file("belljar.toml", format!("{}{}", rule("enforce"), echo()));
    terminal.file(".mcp.json", "{\"mcpServers\": {}}");
    let claude = Fixture::of("claude-code");
    for (event, input) in [
        ("PreToolUse", claude.search("s", "class Asset")),
        ("SessionStart", claude.form["start"].to_string().into_bytes()),
    ] {
        let mut hook = terminal.command(&["hook", "claude-code", event]);
        let mut hook = hook.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        hook.stdin.take().unwrap().write_all(&input).unwrap();
        let answer = Answer::of(hook.wait_with_output().unwrap());
        assert_eq!(answer.code, 0, "{answer:#?}");
        assert!(!answer.stdout.contains("kid"), "{answer:#?}");
    }
    assert_ne!(terminal.belljar(&["daemon", "status"]).code, 0, "a daemon was started");
}

#[test]
fn a_session_begins_with_one_sentence_and_its_servers_are_started() {
    let owner = Owner::new("", "");
    let started = |name: &str| owner.terminal.folder.path().join(name);
    let server = |name: &str, more: &str| {
        let script = format!("echo >> '{}'; exec '{}' echo", started(name).display(), child().display());
        format!("[servers.{name}]\ncommand = 'sh'\nargs = ['-c', \"\"\"{script}\"\"\"]\n{more}\n")
    };
    let rules = format!("{}[[hook]]\ntools = 'Read'\npaths = ['gone/']\nsay = 'other.echo({{path}})'\n", rule("tell"));
    let servers = format!("{}{}{}", server("kid", ""), server("other", ""), server("hot", "warm = true"));
    owner.configure(&rules, &servers);
    fs::create_dir(owner.terminal.folder.path().join("src")).unwrap();
    let folder = owner.terminal.folder.path().to_str().unwrap();
    let expected = "belljar: execute_code runs JavaScript over kid, other, hot; search_docs finds their tools.";
    for fixture in CLIENTS.into_iter().map(Fixture::of) {
        let start = fixture.form["start"].to_string().replace("/work/app", folder);
        // The first one starts the daemon too.
        let answer = owner.hook(fixture.client, fixture.event("start"), start.as_bytes());
        assert_eq!(answer, fixture.answer("introduced", expected), "{}", fixture.client);
    }
    wait_until("a daemon runs", || owner.belljar(&["daemon", "status"]).code == 0);
    wait_until("the server of this folder's rule runs", || {
        // A daemon that took long to start was not asked by the hook that started it.
        let claude = Fixture::of("claude-code");
        let start = claude.form["start"].to_string().replace("/work/app", folder);
        owner.hook("claude-code", "SessionStart", start.as_bytes());
        started("kid").exists()
    });
    wait_until("the server that is kept warm runs", || started("hot").exists());
    assert!(!started("other").exists(), "the rule of another folder started its server");
}

#[test]
fn the_sentence_at_the_start_of_a_session_takes_at_most_60_tokens() {
    let claude = Fixture::of("claude-code");
    let start = claude.form["start"].to_string();
    let mut sentences = Vec::new();
    for (count, name) in
        [(1, "s"), (3, "filesystem"), (40, "q"), (40, "x9-_z7"), (64, "a-server-with-quite-a-long-name-")]
    {
        let servers: String =
            (0..count).map(|number| format!("[servers.{name}{number}]\ncommand = 'true'\n")).collect();
        let owner = Owner::new("", &servers);
        let answer = owner.hook("claude-code", "SessionStart", start.as_bytes());
        sentences.push(answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned());
    }
    let counted = tokens(&sentences);
    println!("{:?}", counted.iter().zip(&sentences).collect::<Vec<_>>());
    assert!(counted.iter().all(|tokens| (10..=60).contains(tokens)), "{counted:?} {sentences:?}");
}

#[test]
fn an_agent_that_would_approve_its_own_call_is_told_that_this_is_not_its_to_do() {
    let owner = Owner::new("", "");
    let claude = Fixture::of("claude-code");
    let run = |command: &str| {
        let mut input = claude.form["before"].clone();
        input["tool_name"] = "Bash".into();
        input["tool_input"] = json!({ "command": command });
        owner.hook("claude-code", "PreToolUse", input.to_string().as_bytes())
    };
    let answer = run("cd /tmp && belljar approve a_0fx3 --yes");
    let reason = answer["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap();
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny");
    assert!(!reason.contains("belljar") && !reason.contains("approve") && !reason.contains("a_0fx3"), "{reason}");
    assert_eq!(run("belljar run x.js"), json!({}));
}

#[test]
fn a_rehearsal_shows_what_each_rule_would_say_to_a_transcript() {
    let rules = format!("{}{}", rule("deny"), "[[hook]]\ntools = 'Read'\nsay = 'kid.echo({text: {path}})'\n");
    let owner = Owner::new(&rules, &echo());
    let claude = Fixture::of("claude-code");
    let search = String::from_utf8(claude.search("s", "class Asset")).unwrap();
    let read = json!({ "type": "assistant", "sessionId": "s", "cwd": "/work/app", "message": { "content": [
        { "type": "text", "text": "I read \u{1b}[2J it." },
        { "type": "tool_use", "name": "Read", "input": { "file_path": "/work/app/src/a\u{202e}.ts" } },
        { "type": "tool_use", "name": "Edit", "input": { "file_path": "/work/app/src/a.ts" } },
    ] } });
    let transcript = owner.terminal.file("calls.jsonl", format!("{search}\n{read}\n\n{{}}\n{search}\n{read}\n"));
    let transcript = transcript.to_str().unwrap();
    let report = owner.belljar(&["hook", "test", transcript, "--json"]);
    assert_eq!(report.code, 0, "{report:#?}");
    let says = |text: &str| format!("kid.echo({{text: \"{text}\"}})");
    let call = |line, tool: &str, rule, answer: &str, says: Option<String>| json!({ "line": line, "tool": tool, "rule": rule, "answer": answer, "says": says });
    let expected = json!({
        "calls": [
            call(1, "Grep", Some(1), "deny", Some(says("Asset"))),
            call(2, "Read", Some(2), "tell", Some(says("src/a\\u202e.ts"))),
            call(2, "Edit", None, "pass", None),
            call(5, "Grep", Some(1), "pass", None),
            call(6, "Read", Some(2), "pass", None),
            call(6, "Edit", None, "pass", None),
        ],
        "rules": [
            { "rule": 1, "mode": "deny", "fits": 2, "says": 1 },
            { "rule": 2, "mode": "tell", "fits": 2, "says": 1 },
        ],
        "other_lines": 1,
    });
    assert_eq!(report.json(), expected);
    let shown = owner.belljar(&["hook", "test", transcript]);
    assert!(shown.stdout.contains("1: Grep: rule 1, deny: kid.echo({text: \"Asset\"})\n"), "{shown:#?}");
    assert!(shown.stdout.contains("rule 2 (tell): fits 2 calls, says something to 1\n"), "{shown:#?}");
    assert!(!shown.stdout.contains('\u{202e}') && shown.stderr.contains("not a tool call: 1 line\n"), "{shown:#?}");
    for wrong in [&["hook", "test", "gone.jsonl"][..], &["hook", "test", transcript, "--client", "nobody"]] {
        assert_eq!(owner.belljar(wrong).code, 2, "{wrong:?}");
    }
    assert_ne!(owner.belljar(&["daemon", "status"]).code, 0, "a rehearsal started a daemon");
}
