//! `belljar install CLIENT --hooks` writes working hooks into a client's settings, beside those of
//! others, and removes them again.

use std::{
    fs,
    io::Write as _,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use crate::support::{Answer, Terminal, belljar};

/// Each client, its file, its events, and where the command is in an entry.
const CLIENTS: [(&str, &str, [&str; 2], &str); 6] = [
    ("claude-code", ".claude/settings.json", ["PreToolUse", "SessionStart"], "/hooks/0/command"),
    ("codex", ".codex/hooks.json", ["PreToolUse", "SessionStart"], "/hooks/0/command"),
    ("vscode", ".copilot/hooks/belljar.json", ["preToolUse", "sessionStart"], "/bash"),
    ("copilot", ".copilot/hooks/belljar.json", ["preToolUse", "sessionStart"], "/bash"),
    ("cursor", ".cursor/hooks.json", ["preToolUse", "sessionStart"], "/command"),
    ("gemini", ".gemini/settings.json", ["BeforeTool", "SessionStart"], "/hooks/0/command"),
];

fn write(terminal: &Terminal, file: &str, text: &str) {
    let path = terminal.folder.path().join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn read(terminal: &Terminal, file: &str) -> String {
    fs::read_to_string(terminal.folder.path().join(file)).unwrap()
}

fn parsed(terminal: &Terminal, file: &str) -> Value {
    serde_json::from_str(&read(terminal, file)).unwrap()
}

#[test]
fn every_client_gets_hooks_that_its_shell_can_run() {
    for (client, file, events, command) in CLIENTS {
        let terminal = Terminal::new();
        let config = terminal.file("the owner's.toml", "[[hook]]\ntools = 'X'\nsay = 'x'\n");
        let arguments = ["install", client, "--hooks", "--yes", "--config", config.to_str().unwrap()];
        let answer = terminal.belljar(&arguments);
        assert_eq!(answer.code, 0, "{answer:#?}");
        let settings = parsed(&terminal, file);
        let is_versioned = matches!(client, "vscode" | "copilot" | "cursor");
        assert_eq!(settings.get("version"), is_versioned.then(|| json!(1)).as_ref(), "{client}");
        for event in events {
            let entries = settings["hooks"][event].as_array().unwrap();
            assert_eq!(entries.len(), 1, "{client}: {settings:#}");
            let command = entries[0].pointer(command).unwrap().as_str().unwrap();
            let mut hook = Command::new("sh");
            hook.args(["-c", command]).current_dir(terminal.folder.path()).env("HOME", terminal.folder.path());
            hook.env("BELLJAR_NO_DAEMON", "1").env_remove("BELLJAR_CONFIG");
            let mut hook = hook.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            let input = json!({ "cwd": "/", "tool_name": "Read", "tool_input": {} }).to_string();
            let _ = hook.stdin.take().unwrap().write_all(input.as_bytes());
            let answer = Answer::of(hook.wait_with_output().unwrap());
            assert_eq!((answer.code, answer.stderr.as_str()), (0, ""), "{client} {event}: {answer:#?}");
            assert!(answer.json().is_object(), "{client} {event}: {answer:#?}");
        }
        let again = terminal.belljar(&arguments);
        assert!(again.stdout.contains("nothing to change"), "{again:#?}");
    }
}

#[test]
fn hooks_of_others_and_all_else_stay_and_undo_takes_out_belljars_alone() {
    for (client, file, [before, start], _) in CLIENTS {
        let terminal = Terminal::new();
        let text = format!(
            "{{\n  // mine\n  \"theme\": \"dark\",\n  \"hooks\": {{\n    \"{before}\": [\n      {{ \"command\": \"guard\", \
             \"matcher\": \"Bash\" }}, // odd\n    ],\n    \"Stop\": []\n  }}\n}}\n"
        );
        write(&terminal, file, &text);
        let asked = terminal.belljar(&["install", client, "--hooks"]);
        assert_eq!((asked.code, read(&terminal, file)), (1, text.clone()), "{asked:#?}");
        assert!(asked.stdout.contains(&format!("+ hooks.{before}: ")) && asked.stderr.contains("--yes"), "{asked:#?}");
        assert!(!asked.stdout.contains("guard"), "{asked:#?}");
        assert_eq!(terminal.belljar(&["install", client, "--hooks", "--yes"]).code, 0);
        let longer = read(&terminal, file);
        for kept in ["// mine", "\"theme\": \"dark\"", "\"guard\"", "// odd", "\"Stop\": []", start] {
            assert!(longer.contains(kept), "{client}: {kept} is not in {longer}");
        }
        assert_eq!(read(&terminal, &format!("{file}.before-belljar-1")), text);
        assert_eq!(terminal.belljar(&["install", client, "--hooks", "--undo", "--yes"]).code, 0);
        let back = read(&terminal, file);
        for kept in ["// mine", "\"theme\": \"dark\"", "\"guard\"", "// odd", "\"Stop\": []"] {
            assert!(back.contains(kept), "{client}: {kept} is not in {back}");
        }
        assert!(!back.contains("belljar") && !back.contains(start), "{client}: {back}");
        let again = terminal.belljar(&["install", client, "--hooks", "--undo", "--yes"]);
        assert!(again.stdout.contains("nothing to change"), "{again:#?}");
    }
}

#[test]
fn programs_read_which_hooks_would_change() {
    let terminal = Terminal::new();
    let asked = terminal.belljar(&["install", "claude-code", "--hooks", "--json"]);
    let told = asked.json();
    assert_eq!((asked.code, &told["written"]), (1, &json!(false)), "{asked:#?}");
    let command = |event| format!("{} hook claude-code {event}", belljar().display());
    let change = |event| json!({ "entry": format!("hooks.{event}"), "from": [], "to": command(event) });
    assert_eq!(told["changes"], json!([change("PreToolUse"), change("SessionStart")]), "{told:#}");
    assert!(!terminal.folder.path().join(".claude").exists(), "something was written");
}

#[test]
fn what_cannot_have_hooks_or_cannot_be_understood_is_refused_and_not_touched() {
    let terminal = Terminal::new();
    write(&terminal, ".claude/settings.json", "{\"hooks\": [3]}");
    for (arguments, code) in [
        (&["install", "claude-code", "--hooks", "--yes"][..], 2),
        (&["install", "claude-desktop", "--hooks", "--yes"], 2),
        (&["install", "codex", "--yes"], 2),
        (&["install", "gemini", "--http", "--hooks"], 2),
    ] {
        let answer = terminal.belljar(arguments);
        assert_eq!(answer.code, code, "{arguments:?}: {answer:#?}");
    }
    assert_eq!(read(&terminal, ".claude/settings.json"), "{\"hooks\": [3]}");
}
