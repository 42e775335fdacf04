//! What is generated from the command line's definition names every command.

use std::process::Command;

use crate::support::Terminal;

const COMMANDS: [&str; 10] =
    ["run", "call", "search", "servers", "request", "policy", "doctor", "bench", "install", "daemon"];

#[test]
fn the_completions_of_each_shell_know_every_command() {
    let terminal = Terminal::new();
    for shell in ["bash", "zsh", "fish"] {
        let answer = terminal.belljar(&["completions", shell]);
        assert_eq!(answer.code, 0, "{answer:#?}");
        for command in COMMANDS {
            assert!(answer.stdout.contains(command), "{shell} does not know {command}");
        }
    }
    assert_eq!(terminal.belljar(&["completions", "tcsh"]).code, 2);
}

#[test]
fn bash_completes_a_command_and_its_options() {
    let terminal = Terminal::new();
    let script = terminal.file("belljar.bash", terminal.belljar(&["completions", "bash"]).stdout);
    let complete = |words: &str| {
        let line = format!(
            "source {}; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _belljar belljar \"${{COMP_WORDS[-1]}}\" x; echo \"${{COMPREPLY[@]}}\"",
            script.display()
        );
        let output = Command::new("bash").args(["-c", &line]).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    assert_eq!(complete("belljar doc"), "doctor");
    assert_eq!(complete("belljar call --sel"), "--select");
}

#[test]
fn there_is_a_manual_page_for_every_command() {
    let terminal = Terminal::new();
    let page = terminal.belljar(&["man"]);
    assert!(page.code == 0 && page.stdout.contains(".TH belljar 1"), "{page:#?}");
    let folder = terminal.folder.path().join("man1");
    assert_eq!(terminal.belljar(&["man", folder.to_str().unwrap()]).code, 0);
    for command in COMMANDS {
        let page = std::fs::read_to_string(folder.join(format!("belljar-{command}.1"))).unwrap();
        assert!(page.contains(".SH SYNOPSIS"), "{page}");
    }
    assert!(folder.join("belljar-daemon-status.1").exists());
    assert!(!folder.join("belljar-daemon-run.1").exists(), "what is hidden has no page");
}
