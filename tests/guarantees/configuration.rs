//! Where the configuration comes from, that errors in it have clear messages, and that its secrets
//! stay secret.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::{
    dead_children::child,
    support::{Answer, Terminal},
};

/// A configuration with only the demo, under this name.
fn demo_named(name: &str) -> String {
    format!("[servers.{name}]\nbuiltin = 'demo'\n")
}

/// The user's own configuration.
fn own(terminal: &Terminal, text: &str) -> PathBuf {
    std::fs::create_dir_all(terminal.folder.path().join("belljar")).unwrap();
    terminal.file("belljar/belljar.toml", text)
}

/// The names of the configured servers.
fn names(answer: &Answer) -> Vec<String> {
    let answer = answer.json();
    let servers = answer["servers"].as_array().unwrap_or_else(|| panic!("{answer:#}"));
    servers.iter().map(|server| server["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_option_comes_before_the_variable_before_the_users_own_file_before_the_demo() {
    for (flag, variable, has_own, expected) in [
        (true, Some("variable.toml"), true, "by_flag"),
        (false, Some("variable.toml"), true, "by_variable"),
        (false, Some(""), true, "own"),
        (false, None, true, "own"),
        (true, None, false, "by_flag"),
        (false, Some("variable.toml"), false, "by_variable"),
        (false, None, false, "demo"),
    ] {
        let terminal = Terminal::new();
        terminal.file("flag.toml", demo_named("by_flag"));
        terminal.file("variable.toml", demo_named("by_variable"));
        if has_own {
            own(&terminal, &demo_named("own"));
        }
        let mut command = terminal.command(&["servers", "--json"]);
        if flag {
            command.args(["--config", "flag.toml"]);
        }
        if let Some(path) = variable {
            command.env("BELLJAR_CONFIG", path);
        }
        let answer = Answer::of(command.output().unwrap());
        assert_eq!(names(&answer), [expected], "--config {flag}, $BELLJAR_CONFIG {variable:?}, own {has_own}");
        assert_eq!(answer.stderr, "");
    }
}

#[test]
fn the_users_own_file_is_in_the_home_where_no_other_place_is_set() {
    let terminal = Terminal::new();
    std::fs::create_dir_all(terminal.folder.path().join(".config/belljar")).unwrap();
    terminal.file(".config/belljar/belljar.toml", demo_named("at_home"));
    // A relative path counts as not set, according to the XDG specification.
    for place in [None, Some("elsewhere"), Some("")] {
        let mut command = terminal.command(&["servers", "--json"]);
        command.env_remove("XDG_CONFIG_HOME");
        if let Some(place) = place {
            command.env("XDG_CONFIG_HOME", place);
        }
        assert_eq!(names(&Answer::of(command.output().unwrap())), ["at_home"], "{place:?}");
    }
}

#[test]
fn a_configuration_in_the_current_folder_is_named_and_neither_loaded_nor_read() {
    for name in ["belljar.toml", ".mcp.json"] {
        let terminal = Terminal::new();
        let started = terminal.folder.path().join("started");
        let server = json!({ "command": "sh", "args": ["-c", ": > \"$0\"", started] });
        let text = match name {
            "belljar.toml" => format!("[servers.near]\ncommand = 'sh'\nargs = ['-c', ': > {}']\n", started.display()),
            _ => json!({ "mcpServers": { "near": server } }).to_string(),
        };
        terminal.file(name, &text);
        let answer = terminal.belljar(&["servers", "--json"]);
        assert_eq!(answer.code, 0, "{answer:#?}");
        assert_eq!(names(&answer), ["demo"]);
        assert!(answer.stderr.contains(&format!("--config {name}")), "{answer:#?}");
        assert!(answer.stderr.contains("was not loaded"), "{answer:#?}");
        assert!(!started.exists(), "a program of {name} was started unasked");

        // Naming it loads it, which shows that it could have started its program.
        let answer = terminal.belljar(&["servers", "--json", "--config", name]);
        assert_eq!(names(&answer), ["near"]);
        assert!(!answer.stderr.contains("was not loaded"), "{answer:#?}");
        assert!(started.exists());

        // A file that is not loaded cannot be wrong, and is not mentioned to a user who has chosen
        // another.
        terminal.file(name, "\u{0}no configuration");
        assert_eq!(terminal.belljar(&["run", "--code", "1"]).code, 0);
        let other = terminal.file("other.toml", demo_named("other"));
        let answer = terminal.belljar(&["servers", "--json", "--config", other.to_str().unwrap()]);
        assert_eq!((names(&answer), answer.stderr.as_str()), (vec!["other".to_owned()], ""));
    }
}

#[test]
fn a_wrong_configuration_is_refused_with_its_place_and_what_to_do() {
    for (name, text, complaint) in [
        ("a.toml", "[servers.fs]\ncommand = \"x\"\nargs = [\n", ":3:9: not valid TOML: unclosed array"),
        ("a.json", "{\"mcpServers\": {\n  \"fs\": {\"command\" \"x\"}\n}}", ":2:20: not valid JSON: "),
        (
            "a.toml",
            "[servers.fs]\ncomand = \"x\"\n",
            ":2:1: unknown key 'comand' in server 'fs': did you mean 'command'?",
        ),
        ("a.toml", "[limits]\ntimeuot = \"5s\"\n", ":2:1: unknown key 'timeuot'"),
        ("a.toml", "[limits]\nmemory = \"lots\"\n", ":2:10: 'limits.memory' must be "),
        (
            "a.toml",
            "[servers.fs]\ncommand = \"x\"\nargs = [\"${BELLJAR_TEST_UNSET}\"]\n",
            ":3:9: variable 'BELLJAR_TEST_UNSET' is not set, and 'args[0]' of server 'fs' needs it: set it, or write a default",
        ),
        (
            "a.toml",
            "[servers.fs]\ncommand = \"x\"\n[servers.fs]\ncommand = \"y\"\n",
            ":3:10: 'fs' is defined twice: rename one, or remove it",
        ),
        (
            "a.json",
            "{\"mcpServers\": {\"fs\": {\"command\": \"x\"},\n\"fs\": {\"command\": \"y\"}}}",
            ":2:1: 'fs' is defined twice: rename one, or remove it",
        ),
        ("a.json", "{\"mcpServer\": {}}", ":1:2: no servers in it: expected {\"mcpServers\": "),
        ("a.toml", "[servers.fs]\n", ":1:10: server 'fs' needs one of 'command', 'url' and 'builtin'"),
    ] {
        let terminal = Terminal::new();
        terminal.file(name, text);
        let answer = terminal.belljar(&["servers", "--json", "--config", name]);
        assert_refused(&answer, complaint, text);
    }
}

#[test]
fn a_configuration_that_is_not_there_or_no_text_is_refused() {
    let terminal = Terminal::new();
    terminal.file("latin1.toml", b"# caf\xe9\n");
    let folder = terminal.folder.path().to_str().unwrap();
    for (path, complaint) in [
        ("missing.toml", "missing.toml: there is no such file: check the path"),
        ("missing/folder.json", "missing/folder.json: there is no such file: check the path"),
        (folder, "this is not a regular file: give the path of the configuration file itself"),
        ("latin1.toml", "latin1.toml: the file is not UTF-8 from byte 5 on"),
        ("/dev/null", "/dev/null: this is not a regular file"),
    ] {
        assert_refused(&terminal.belljar(&["servers", "--json", "--config", path]), complaint, path);
        // Only --config was named just now; the variable names a file as well.
        let mut command = terminal.command(&["servers", "--json"]);
        assert_refused(&Answer::of(command.env("BELLJAR_CONFIG", path).output().unwrap()), complaint, path);
    }
}

/// Exit code 2, and one object of the kind `config` on stdout.
fn assert_refused(answer: &Answer, complaint: &str, what: &str) {
    assert_eq!(answer.code, 2, "{what}: {answer:#?}");
    let outcome = answer.json();
    assert_eq!(outcome["ok"], false);
    assert_eq!(outcome["error"]["kind"], "config", "{what}: {outcome:#}");
    let message = outcome["error"]["message"].as_str().unwrap();
    assert!(message.contains(complaint), "{what}: {message}\nshould contain: {complaint}");
    assert_eq!(answer.stderr, "", "{what}");
}

#[test]
fn every_command_refuses_a_wrong_configuration_before_it_does_anything() {
    let terminal = Terminal::new();
    let complaint = "a.toml:1:2: unknown key 'server': did you mean 'servers'?";
    terminal.file("a.toml", "[server.fs]\n");
    for arguments in [
        ["run", "--code", "console.log('ran')"].as_slice(),
        &["search"],
        &["call", "fs.read_file"],
        &["servers"],
        &["serve"],
    ] {
        let with_config = [arguments, &["--config", "a.toml"]].concat();
        let answer = terminal.belljar(&with_config);
        assert_eq!((answer.code, answer.stdout.as_str()), (2, ""), "{arguments:?}: {answer:#?}");
        assert_eq!(answer.stderr, format!("error: {complaint}\n"), "{arguments:?}");
        if arguments != ["serve"] {
            let answer = terminal.belljar(&[with_config.as_slice(), &["--json"]].concat());
            assert_refused(&answer, complaint, &format!("{arguments:?}"));
        }
    }
}

/// A client's file, with what clients write around the servers.
fn client_file() -> Value {
    json!({
        "globalShortcut": "Ctrl+Space",
        "mcpServers": {
            "kid": {
                "command": child(),
                "args": ["probe"],
                "env": { "GREETING": "hello ${BELLJAR_TEST_NAME:-you}", "PLACE": "${BELLJAR_TEST_PLACE}" },
                "alwaysAllow": ["environment"]
            },
            "unused": { "command": "belljar-no-such-command", "disabled": true }
        }
    })
}

#[test]
fn the_file_of_an_mcp_client_works_as_it_is() {
    let terminal = Terminal::new();
    terminal.file("claude_desktop_config.json", client_file().to_string());
    let belljar = |arguments: &[&str]| {
        let mut command = terminal.command(arguments);
        command.args(["--json", "--config", "claude_desktop_config.json"]);
        Answer::of(command.env("BELLJAR_TEST_PLACE", "world").env("BELLJAR_TEST_SECRET", "hunter2").output().unwrap())
    };
    assert_eq!(names(&belljar(&["servers"])), ["kid"]);
    let environment = belljar(&["run", "--code", "await kid.environment({})"]).json()["value"].take();
    assert_eq!(environment["GREETING"], "hello you", "{environment:#}");
    assert_eq!(environment["PLACE"], "world", "{environment:#}");
    // A child gets the variables of its configuration and those that locate programs, but no others
    // of belljar.
    let variables = environment.as_object().unwrap();
    assert!(variables.contains_key("PATH") && variables.contains_key("HOME"), "{environment:#}");
    assert!(!variables.keys().any(|name| name.starts_with("BELLJAR") || name.starts_with("CARGO")), "{environment:#}");
}

#[test]
fn limits_of_the_configuration_hold_and_the_command_line_is_the_owners_own() {
    let terminal = Terminal::new();
    let config = terminal.file("belljar.toml", format!("[limits]\nmax_calls = 1\n{}", demo_named("demo")));
    let run = ["run", "--json", "--config", config.to_str().unwrap(), "--code"];
    let code = "await demo.list_projects(); await demo.list_projects(); return 'both'";
    let refused = terminal.belljar(&[run.as_slice(), &[code]].concat()).json();
    assert_eq!(refused["error"]["limit"]["name"], "max_calls", "{refused:#}");
    let raised = terminal.belljar(&[run.as_slice(), &[code, "--max-calls", "2"]].concat()).json();
    assert_eq!(raised["value"], "both", "{raised:#}");
}

const SECRET: &str = "hunter2-of-the-owner";

#[test]
fn a_secret_of_the_configuration_is_in_no_output() {
    let terminal = Terminal::new();
    let env = json!({ "TOKEN": "${BELLJAR_TEST_SECRET}", "LITERAL": SECRET });
    let with = |command: Value, arguments: &[&str]| json!({ "command": command, "args": arguments, "env": env });
    let servers = json!({
        "exits": with(json!(child()), &["exit"]),
        "nowhere": with(json!("belljar-no-such-command"), &[]),
        "refuses": with(json!(child()), &["refuse"]),
        "crashes": with(json!(child()), &["crash-on-call"]),
        // Nobody listens there.
        "remote": {
            "url": format!("http://me:{SECRET}@127.0.0.1:1/{SECRET}?{SECRET}"),
            "headers": { "Authorization": format!("Bearer {SECRET}") },
        },
        "filed": { "command": child(), "args": ["exit"], "envFile": "secrets.env" },
    });
    terminal.file("secrets.env", format!("TOKEN={SECRET}\n"));
    terminal.file("mcp.json", json!({ "mcpServers": servers }).to_string());
    let code =
        "await Promise.all([exits, nowhere, refuses, crashes, remote].map((server) => server.echo({}).catch(() => 0)));
                await crashes.echo({})";
    for arguments in [
        ["servers"].as_slice(),
        &["search"],
        &["search", "echo", "--detail", "full"],
        &["call", "exits.echo"],
        &["call", "crashes.echo"],
        &["run", "--code", code],
    ] {
        for (json, log) in [(&[][..], None), (&["--json"], None), (&[], Some("trace"))] {
            let mut command = terminal.command(&[arguments, json, &["-vv", "--config", "mcp.json"]].concat());
            if let Some(log) = log {
                command.env("BELLJAR_LOG", log);
            }
            let answer = Answer::of(command.env("BELLJAR_TEST_SECRET", SECRET).output().unwrap());
            let Answer { stdout, stderr, .. } = &answer;
            assert!(!stdout.contains(SECRET) && !stderr.contains(SECRET), "{arguments:?}: {answer:#?}");
            // There was a message about the failing servers.
            assert!(stderr.contains("not started") || stderr.contains("died"), "{arguments:?}: {answer:#?}");
        }
    }
}

#[test]
fn the_complaint_about_a_wrong_configuration_quotes_no_value() {
    let terminal = Terminal::new();
    for (name, text) in [
        ("a.toml", "[servers.fs]\ncommand = \"x\"\nenv = { TOKEN = \"SECRET\"\nargs = []\n"),
        ("a.toml", "[servers.fs]\ncommand = \"x\"\nenv = { TOKEN = SECRET }\n"),
        ("a.toml", "[servers.fs]\ncommand = \"x\"\nenv = { TOKEN = \"SECRET }\n"),
        ("a.toml", "[servers.fs]\ncommand = \"x\"\nenv = \"SECRET\"\n"),
        ("a.toml", "[servers.fs]\ncommand = \"x\"\nenv = [\"SECRET\"]\n"),
        ("a.toml", "[servers.fs]\nurl = \"https://x\"\nheaders = { A = \"SECRET\\n\" }\n"),
        ("a.toml", "[servers.fs]\nurl = \"SECRET\"\n"),
        ("a.toml", "[servers.fs]\ncommand = \"x\"\nstart_timeout = \"SECRET\"\n"),
        ("a.json", "{\"mcpServers\": {\"fs\": {\"command\": \"x\", \"env\": {\"TOKEN\": \"SECRET\" \"x\"}}}}"),
        ("a.json", "{\"mcpServers\": {\"fs\": {\"command\": \"x\", \"env\": {\"TOKEN\": SECRET}}}}"),
        ("a.json", "{\"mcpServers\": {\"fs\": {\"command\": \"x\", \"env\": {\"TOKEN\": \"SECRET}}}}"),
        ("a.json", "{\"mcpServers\": {\"fs\": {\"command\": \"x\", \"env\": {\"TOKEN\": [\"SECRET\"]}}}}"),
    ] {
        terminal.file(name, text.replace("SECRET", SECRET));
        for json in [&[][..], &["--json"]] {
            let answer = terminal.belljar(&[&["servers", "--config", name], json].concat());
            assert_eq!(answer.code, 2, "{text}: {answer:#?}");
            assert!(!answer.stdout.contains(SECRET) && !answer.stderr.contains(SECRET), "{text}: {answer:#?}");
        }
    }
}

#[test]
fn import_shows_what_it_would_take_and_writes_only_when_told_to() {
    let terminal = Terminal::new();
    let mut file = client_file();
    file["mcpServers"]["kid"]["env"] = json!({ "TOKEN": SECRET, "OTHER": "${input:my-key}" });
    file["mcpServers"]["belljar"] = json!({ "command": "belljar", "args": ["serve", SECRET] });
    std::fs::create_dir_all(terminal.folder.path().join(".cursor")).unwrap();
    terminal.file(".cursor/mcp.json", file.to_string());
    let target = terminal.folder.path().join("belljar/belljar.toml");

    let shown = terminal.belljar(&["import"]);
    assert_eq!(shown.code, 0, "{shown:#?}");
    for part in [
        "Cursor: ",
        "take  kid: ",
        " probe\n",
        "env: TOKEN=[redacted] OTHER='${MY_KEY}'",
        "left out: 'alwaysAllow'",
        "set the variable MY_KEY",
        "leave unused: it is disabled there",
        "leave belljar: it is belljar itself",
    ] {
        assert!(shown.stdout.contains(part), "{part} is missing: {shown:#?}");
    }
    assert!(shown.stderr.contains("nothing was written"), "{shown:#?}");
    let told = terminal.belljar(&["import", "--json"]);
    let found = &told.json()["found"][0];
    assert_eq!((&found["client"], &told.json()["written"]), (&json!("Cursor"), &json!(0)), "{told:#?}");
    let kid = found["servers"].as_array().unwrap().iter().find(|server| server["from"] == "kid").unwrap();
    assert_eq!((&kid["take"], &kid["unset"]), (&json!(true), &json!(["MY_KEY"])), "{told:#?}");
    assert!(!target.exists());

    let written = terminal.belljar(&["import", "--from", "cursor", "--write", "-vv"]);
    assert_eq!(written.code, 0, "{written:#?}");
    assert!(std::fs::read_to_string(&target).unwrap().contains(SECRET));
    // What was written works, and a second import finds nothing new.
    let mut command = terminal.command(&["servers", "--json"]);
    assert_eq!(names(&Answer::of(command.env("MY_KEY", SECRET).output().unwrap())), ["kid"]);
    let again = terminal.belljar(&["import", "--write"]);
    assert!(again.stdout.contains("leave kid: the name is that of another server in belljar.toml"), "{again:#?}");
    for answer in [&shown, &told, &written, &again] {
        assert!(!answer.stdout.contains(SECRET) && !answer.stderr.contains(SECRET), "{answer:#?}");
    }
}

#[test]
fn import_refuses_what_it_cannot_read_and_never_writes_to_a_clients_file() {
    let terminal = Terminal::new();
    terminal.file("mcp.json", client_file().to_string());
    for (arguments, complaint) in [
        (["import", "--from", "missing.json"].as_slice(), "missing.json: there is no such file"),
        (
            &["import", "--from", "mcp.json", "--write", "--config", "mcp.json"],
            "a client's own file is never written to",
        ),
    ] {
        let answer = terminal.belljar(arguments);
        assert_eq!((answer.code, answer.stdout.as_str()), (2, ""), "{answer:#?}");
        assert!(answer.stderr.contains(complaint), "{answer:#?}");
    }
}
