//! `belljar install` changes one entry in a client's file, shows it first, and can remove it again.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::{
    http::{Served, result},
    support::{Terminal, belljar, on_a_terminal},
};

const CLIENTS: [(&str, &str, &str); 4] = [
    ("claude-code", ".claude.json", "mcpServers"),
    ("claude-desktop", "Claude/claude_desktop_config.json", "mcpServers"),
    ("cursor", ".cursor/mcp.json", "mcpServers"),
    ("vscode", "Code/User/mcp.json", "servers"),
];

fn write(terminal: &Terminal, file: &str, text: &str) {
    let path = terminal.folder.path().join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn read(terminal: &Terminal, file: &str) -> String {
    std::fs::read_to_string(terminal.folder.path().join(file)).unwrap()
}

#[test]
fn every_client_gets_an_entry_that_starts_this_program() {
    for (client, file, key) in CLIENTS {
        let terminal = Terminal::new();
        let answer = terminal.belljar(&["install", client, "--yes"]);
        assert_eq!(answer.code, 0, "{answer:#?}");
        let entry: Value = serde_json::from_str(&read(&terminal, file)).unwrap();
        let entry = &entry[key]["belljar"];
        assert_eq!((&entry["command"], &entry["args"]), (&json!(belljar()), &json!(["serve"])), "{client}");
        assert_eq!(entry.get("type"), (client == "vscode").then(|| json!("stdio")).as_ref());
        let again = terminal.belljar(&["install", client, "--yes"]);
        assert!(again.stdout.contains("nothing to change"), "{again:#?}");
    }
}

#[test]
fn the_change_is_shown_and_not_made_without_consent() {
    let terminal = Terminal::new();
    let text = "{\n  // mine\n  \"mcpServers\": {\n    \"fs\": { \"command\": \"x\" }\n  }\n}\n";
    write(&terminal, ".cursor/mcp.json", text);
    let answer = terminal.belljar(&["install", "cursor"]);
    assert_eq!(answer.code, 1, "{answer:#?}");
    assert!(answer.stdout.contains("+ mcpServers.belljar: {\"command\":"), "{answer:#?}");
    assert!(answer.stderr.contains("--yes"), "{answer:#?}");
    assert_eq!(read(&terminal, ".cursor/mcp.json"), text);
}

#[test]
pub(crate) fn only_belljars_own_entry_is_shown_and_its_secrets_are_masked() {
    const SECRET: &str = "sesame-of-the-owner";
    let terminal = Terminal::new();
    // All on one line, like a client that minifies its file.
    let text = json!({
        "oauthAccount": { "token": SECRET },
        "mcpServers": {
            "fs": { "command": "x", "env": { "KEY": SECRET } },
            "belljar": { "command": "old", "args": ["serve", "--token", SECRET], "env": { "A": SECRET } }
        }
    });
    write(&terminal, ".claude.json", &text.to_string());
    for arguments in [&["install", "claude-code"][..], &["install", "claude-code", "--undo"]] {
        for json in [&[][..], &["--json"]] {
            let answer = terminal.belljar(&[arguments, json].concat());
            assert_eq!(answer.code, 1, "{answer:#?}");
            assert!(answer.stdout.contains("mcpServers.belljar"), "{answer:#?}");
            assert!(
                answer.stdout.contains(r#"["serve","--token","[redacted]"],"env":{"A":"[redacted]"}"#),
                "{answer:#?}"
            );
            for private in [SECRET, "oauthAccount", "\"fs\""] {
                assert!(!answer.stdout.contains(private) && !answer.stderr.contains(private), "{answer:#?}");
            }
        }
    }
    assert_eq!(read(&terminal, ".claude.json"), text.to_string());
}

#[test]
fn what_else_is_in_the_file_stays_a_copy_is_kept_and_undo_takes_out_the_entry_alone() {
    let terminal = Terminal::new();
    let text =
        "{\n  // mine\n  \"theme\": \"dark\",\n  \"mcpServers\": {\n    \"fs\": { \"command\": \"x\" }\n  }\n}\n";
    write(&terminal, ".claude.json", text);
    let config = terminal.file("team.toml", "");
    assert_eq!(terminal.belljar(&["install", "claude-code", "--yes", "--config", config.to_str().unwrap()]).code, 0);
    let longer = read(&terminal, ".claude.json");
    assert!(longer.contains("// mine") && longer.contains("team.toml"), "{longer}");
    assert_eq!(read(&terminal, ".claude.json.before-belljar-1"), text);
    // The client has written something else in the meantime.
    write(&terminal, ".claude.json", &longer.replace("dark", "light"));
    assert_eq!(terminal.belljar(&["install", "claude-code", "--undo", "--yes"]).code, 0);
    let back = read(&terminal, ".claude.json");
    assert!(back.contains("\"theme\": \"light\"") && back.contains("// mine") && back.contains("\"fs\""), "{back}");
    assert!(!back.contains("belljar"), "{back}");
}

#[test]
fn a_file_that_cannot_be_understood_is_not_touched() {
    for text in ["{\"mcpServers\": ", "[]", "{\"mcpServers\": 3}", &"[".repeat(100_000)] {
        for undo in [&["--yes"][..], &["--yes", "--undo"]] {
            let terminal = Terminal::new();
            write(&terminal, ".cursor/mcp.json", text);
            let answer = terminal.belljar(&[&["install", "cursor"], undo].concat());
            let is_harmless = undo.len() == 2 && text.ends_with("3}");
            assert_eq!(answer.code, if is_harmless { 0 } else { 2 }, "{answer:#?}");
            assert_eq!(read(&terminal, ".cursor/mcp.json"), text);
        }
    }
}

#[test]
fn a_person_at_a_terminal_is_asked_and_only_yes_writes() {
    for (answer, code, is_written) in [("y\n", 0, true), ("Yes\n", 0, true), ("n\n", 1, false), ("\n", 1, false)] {
        let terminal = Terminal::new();
        let asked = on_a_terminal(&terminal.command(&["install", "cursor"]), answer);
        assert!(asked.stdout.contains("write it? [y/N]"), "{answer:?}: {asked:#?}");
        assert_eq!(asked.code, code, "{answer:?}: {asked:#?}");
        assert_eq!(terminal.folder.path().join(".cursor/mcp.json").exists(), is_written, "{answer:?}: {asked:#?}");
    }
}

#[test]
fn programs_read_what_would_change_and_whether_it_was_written() {
    let terminal = Terminal::new();
    let asked = terminal.belljar(&["install", "cursor", "--json"]);
    let told = asked.json();
    assert_eq!((asked.code, &told["written"]), (1, &json!(false)), "{asked:#?}");
    assert!(told["file"].as_str().unwrap().ends_with(".cursor/mcp.json"), "{told:#}");
    let entry = json!({ "command": belljar(), "args": ["serve"] });
    assert_eq!(told["changes"], json!([{ "entry": "mcpServers.belljar", "from": null, "to": entry }]), "{told:#}");
    let written = terminal.belljar(&["install", "cursor", "--json", "--yes"]);
    assert_eq!((written.code, &written.json()["written"]), (0, &json!(true)), "{written:#?}");
    let again = terminal.belljar(&["install", "cursor", "--json", "--yes"]);
    let told = again.json();
    assert_eq!((again.code, &told["written"], &told["changes"]), (0, &json!(false), &json!([])), "{again:#?}");
}

/// The owner's configuration lets programs agree in their place.
fn let_programs_agree(terminal: &Terminal) {
    write(terminal, "belljar/belljar.toml", "[approvals]\nallow_yes = true\n");
}

#[test]
fn an_entry_over_http_has_a_token_of_its_own_that_is_shown_nowhere_and_its_file_is_the_owners_alone() {
    const URL: &str = "http://127.0.0.1:8765/mcp";
    for (client, file, key) in CLIENTS.into_iter().filter(|(client, ..)| *client != "claude-desktop") {
        let terminal = Terminal::new();
        write(&terminal, file, "{\n  // mine\n}\n");
        let path = terminal.folder.path().join(file);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let asked = terminal.belljar(&["install", client, "--http"]);
        assert_eq!(asked.code, 2, "{asked:#?}");
        assert!(asked.stdout.contains(r#""headers":{"Authorization":"[redacted]"}"#), "{asked:#?}");
        // A token is made only for an owner who agrees, as with `belljar token add`.
        let asked = terminal.belljar(&["install", client, "--http", "--yes"]);
        assert!(asked.code == 2 && asked.stderr.contains("a person has to confirm"), "{asked:#?}");
        assert_eq!(terminal.belljar(&["token", "list", "--json"]).json()["tokens"], json!([]), "nobody agreed");
        let_programs_agree(&terminal);

        let written = terminal.belljar(&["install", client, "--http", "--yes"]);
        assert_eq!(written.code, 0, "{written:#?}");
        let text = read(&terminal, file);
        assert!(text.contains("// mine"), "{text}");
        let entry: Value = serde_json::from_str(&text.replace("// mine", "")).unwrap();
        let entry = &entry[key]["belljar"];
        assert_eq!((&entry["url"], entry.get("command")), (&json!(URL), None), "{client}");
        assert_eq!(entry.get("type"), (client != "cursor").then(|| json!("http")).as_ref());
        let token = entry["headers"]["Authorization"].as_str().unwrap().strip_prefix("Bearer belljar_").unwrap();
        assert!(!written.stdout.contains(token) && !written.stderr.contains(token), "{written:#?}");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let tokens = terminal.belljar(&["token", "list", "--json"]).json();
        assert_eq!(tokens["tokens"][0]["name"], client);
        assert_eq!(tokens["tokens"][0]["scopes"], json!(["search", "run"]));

        let again = terminal.belljar(&["install", client, "--http", "--yes"]);
        assert!(again.code == 0 && again.stdout.contains("nothing to change"), "{again:#?}");
        let served = Served::of(terminal, &[]);
        let ran = result(served.run(&format!("belljar_{token}"), "1 + 1"));
        assert_eq!(ran["structuredContent"]["value"], 2, "{ran:#}");
    }
}

#[test]
fn an_entry_over_http_that_cannot_be_had_or_would_not_be_safe_is_refused_and_makes_no_token() {
    let terminal = Terminal::new();
    let_programs_agree(&terminal);
    for (arguments, words) in [
        (&["install", "claude-desktop", "--http"][..], "can only have programs"),
        (&["install", "cursor", "--http", "http://mcp.example/mcp"], "not be safe"),
        (&["install", "cursor", "--http", "https://me@mcp.example/mcp"], "not be safe"),
        (&["install", "cursor", "--http", "--token-name", "a b"], "cannot be the name of a token"),
    ] {
        let refused = terminal.belljar(&[arguments, &["--yes"]].concat());
        assert!(refused.code == 2 && refused.stderr.contains(words), "{refused:#?}");
    }
    assert_eq!(terminal.belljar(&["token", "list", "--json"]).json()["tokens"], json!([]));
    assert!(!terminal.folder.path().join(".cursor").exists());

    assert_eq!(terminal.belljar(&["token", "add", "cursor", "--yes"]).code, 0);
    let taken = terminal.belljar(&["install", "cursor", "--http", "--yes"]);
    assert!(taken.code == 2 && taken.stderr.contains("--token-name"), "{taken:#?}");
    let other = ["install", "cursor", "--http", "--yes", "--token-name", "desk", "--scope", "run:read-only"];
    assert_eq!(terminal.belljar(&other).code, 0);
    let tokens = terminal.belljar(&["token", "list", "--json"]).json();
    assert_eq!(tokens["tokens"][1]["scopes"], json!(["run:read-only"]), "{tokens:#}");
    // A file that cannot be parsed stays unchanged, and no token is made for it.
    write(&terminal, "Code/User/mcp.json", "{");
    assert_eq!(terminal.belljar(&["install", "vscode", "--http", "--yes"]).code, 2);
    assert_eq!(terminal.belljar(&["token", "list", "--json"]).json()["tokens"].as_array().unwrap().len(), 2);
}
