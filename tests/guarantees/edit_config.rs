//! `belljar add` and `remove` change one server and nothing else.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::support::{Answer, Terminal};

const TEXT: &str = "# mine\n[limits]\ntimeout = \"30s\" # short\n\n# the tracker\n[servers.demo]\nbuiltin = \"demo\"\n";

fn edit(terminal: &Terminal, arguments: &[&str]) -> Answer {
    let config = terminal.folder.path().join("belljar.toml");
    let (options, command) = match arguments.iter().position(|argument| *argument == "--") {
        Some(position) => arguments.split_at(position),
        None => (arguments, &[][..]),
    };
    terminal.belljar(&[options, &["--config", config.to_str().unwrap()], command].concat())
}

fn text(terminal: &Terminal) -> String {
    std::fs::read_to_string(terminal.folder.path().join("belljar.toml")).unwrap()
}

#[test]
fn a_server_that_is_added_can_be_called_and_removed_and_the_rest_is_as_it_was() {
    let terminal = Terminal::new();
    terminal.file("belljar.toml", TEXT);
    let child = crate::dead_children::child().to_str().unwrap();
    let added = edit(&terminal, &["add", "kid", "--stateful", "--warm", "--env", "A=${HOME}", "--", child, "echo"]);
    assert_eq!(added.code, 0, "{added:#?}");
    let rest = text(&terminal).strip_prefix(TEXT).unwrap().to_owned();
    assert_eq!(
        rest,
        format!(
            "\n[servers.kid]\ncommand = \"{child}\"\nargs = [\"echo\"]\nenv = {{ A = \"${{HOME}}\" }}\nstateful = true\nwarm = true\n"
        )
    );
    let called = edit(&terminal, &["call", "kid.echo", "--input", "{\"text\": \"x\"}", "--json"]);
    assert_eq!(called.json()["ok"], true, "{called:#?}");
    let removed = edit(&terminal, &["remove", "kid", "--json"]).json();
    assert_eq!((text(&terminal).as_str(), &removed["removed"]), (TEXT, &json!("kid")));
    // Each previous version is kept.
    assert_eq!(std::fs::read_to_string(terminal.folder.path().join("belljar.toml.before-edit-1")).unwrap(), TEXT);
    assert!(std::fs::read_to_string(removed["copy"].as_str().unwrap()).unwrap().contains("[servers.kid]"));
    assert_eq!(edit(&terminal, &["remove", "demo"]).code, 0);
    assert_eq!(text(&terminal), "# mine\n[limits]\ntimeout = \"30s\" # short\n");
}

#[test]
fn the_first_server_makes_the_file_which_only_its_owner_can_read() {
    let terminal = Terminal::new();
    let added =
        terminal.belljar(&["add", "docs", "--url", "https://x.example/mcp", "--header", "Authorization: Bearer ${T}"]);
    assert_eq!(added.code, 0, "{added:#?}");
    let path = terminal.folder.path().join("belljar/belljar.toml");
    assert_eq!(
        std::fs::read_to_string(&path).unwrap(),
        "[servers.docs]\nurl = \"https://x.example/mcp\"\nheaders = { Authorization = \"Bearer ${T}\" }\n"
    );
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn what_cannot_be_changed_is_refused_and_nothing_is_written() {
    for (before, arguments, message) in [
        (TEXT, &["add", "demo", "--", "x"][..], "there is a server 'demo' already"),
        (TEXT, &["add", "a.b", "--", "x"], "server name 'a.b'"),
        (TEXT, &["add", "", "--", "x"], "server name ''"),
        (TEXT, &["add", "x"], "a server is a command or a url"),
        (TEXT, &["add", "x", "--url", "not a url"], "url"),
        (TEXT, &["add", "x", "--url", "http://x", "--", "y"], "cannot be used with"),
        (TEXT, &["add", "x", "--header", "A: b", "--", "y"], "--url"),
        (TEXT, &["remove", "dmeo"], "did you mean demo"),
        (TEXT, &["remove", "other"], "there is no server 'other'"),
        ("[servers", &["add", "x", "--", "y"], "not valid TOML"),
        ("[servers", &["remove", "x"], "not valid TOML"),
        ("servers = { a = { command = 'x' }, b = { command = 'y' } }\n", &["remove", "a"], "by hand"),
        ("servers = { a = { command = 'x' } }\n", &["add", "b", "--", "y"], "by hand"),
    ] {
        let terminal = Terminal::new();
        terminal.file("belljar.toml", before);
        let answer = edit(&terminal, arguments);
        assert_eq!(answer.code, 2, "{arguments:?}: {answer:#?}");
        assert!(answer.stderr.contains(message), "{arguments:?}: {answer:#?}");
        assert_eq!(text(&terminal), before);
        let files = std::fs::read_dir(terminal.folder.path()).unwrap().count();
        assert_eq!(files, 1, "{arguments:?} left something behind");
    }
}

#[test]
fn a_clients_file_is_not_changed() {
    let terminal = Terminal::new();
    let path = terminal.file("mcp.json", "{\"mcpServers\": {}}");
    let answer = terminal.belljar(&["add", "x", "--config", path.to_str().unwrap(), "--", "y"]);
    assert_eq!(answer.code, 2, "{answer:#?}");
    assert!(answer.stderr.contains("which only that client changes"), "{answer:#?}");
}
