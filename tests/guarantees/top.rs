//! `belljar top` on a real terminal: what it shows, and that it gives the terminal back.

use std::{
    io::{Read as _, Write as _},
    process::{Child, Command, Stdio},
};

use serde_json::json;

use crate::{
    daemon::{Shell, echo},
    support::{belljar, in_a_terminal},
};

/// Sizes the terminal, names the process, runs the command, and shows how the terminal is then.
const ON_A_TERMINAL: &str =
    "stty rows $0 cols $1; shift; sh -c 'echo \"process $$.\"; exec \"$@\"' sh \"$@\"; echo \"code $?\"; stty -a";

/// A daemon that has run something since it was first looked at.
fn looked_at() -> (Shell, String) {
    let shell = Shell::new(&echo());
    assert_eq!(shell.belljar(&["run", "--code", "1"]).code, 0);
    assert_eq!(shell.belljar(&["top", "--json"]).code, 0);
    let run = shell.json(&["run", "--code", "await kid.echo({ text: 'x' }); return 1"]);
    (shell, run["run"].as_str().unwrap().to_owned())
}

/// A person in front of the terminal.
struct Person {
    script: Child,
    screen: vt100::Parser,
    seen: Vec<u8>,
}

impl Person {
    fn at(shell: &Shell, rows: u16, columns: u16) -> Self {
        let top = shell.command(&["top"]);
        let mut command = Command::new("sh");
        command.args(["-c", ON_A_TERMINAL, &rows.to_string(), &columns.to_string()]);
        command.arg(belljar()).args(top.get_args()).current_dir(top.get_current_dir().unwrap());
        for (name, value) in top.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let mut script = in_a_terminal(&command, "xterm");
        let script = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        Self { script, screen: vt100::Parser::new(rows, columns, 0), seen: Vec::new() }
    }

    /// Reads until this is on the screen.
    fn sees(&mut self, text: &str) {
        let stdout = self.script.stdout.as_mut().unwrap();
        while !self.screen.screen().contents().contains(text) {
            let mut bytes = [0; 1024];
            let read = stdout.read(&mut bytes).unwrap();
            assert!(read > 0, "it ended without {text:?}:\n{}", self.screen.screen().contents());
            self.screen.process(&bytes[..read]);
            self.seen.extend_from_slice(&bytes[..read]);
        }
    }

    fn presses(&mut self, keys: &str) {
        self.script.stdin.as_mut().unwrap().write_all(keys.as_bytes()).unwrap();
    }

    /// The process that shows it.
    fn process(&self) -> String {
        let seen = String::from_utf8_lossy(&self.seen);
        seen.split_once("process ").unwrap().1.split_once('.').unwrap().0.to_owned()
    }

    /// Reads to the end, and checks that the terminal is as it was before.
    ///
    /// The code is looked for in what was written: what follows it fills a small screen, and pushes
    /// it off.
    fn has_it_back(mut self) {
        let mut rest = Vec::new();
        self.script.stdout.as_mut().unwrap().read_to_end(&mut rest).unwrap();
        self.screen.process(&rest);
        self.seen.extend_from_slice(&rest);
        let (screen, seen) = (self.screen.screen(), String::from_utf8_lossy(&self.seen));
        assert!(!screen.alternate_screen() && !screen.hide_cursor(), "{}", screen.contents());
        let (_, after) = seen.rsplit_once("code 0").unwrap_or_else(|| panic!("it ended without \"code 0\":\n{seen}"));
        assert!(after.contains(" icanon") && !after.contains("-icanon") && !after.contains("-echo "), "{after}");
        self.script.wait().unwrap();
    }
}

#[test]
fn runs_and_their_calls_are_shown_live_at_both_sizes_and_q_gives_the_terminal_back() {
    for (rows, columns) in [(24, 80), (10, 40)] {
        let (shell, run) = looked_at();
        let mut person = Person::at(&shell, rows, columns);
        person.sees(&run);
        person.presses("\r");
        person.sees("kid.echo");
        person.presses("\u{1b}");
        person.sees("Enter: its calls");
        // A run that begins while somebody watches.
        let next = shell.json(&["run", "--code", "2"]);
        person.sees(next["run"].as_str().unwrap());
        person.presses("q");
        person.has_it_back();
    }
}

#[test]
fn ctrl_c_and_a_signal_give_the_terminal_back() {
    let (shell, run) = looked_at();
    let mut person = Person::at(&shell, 24, 80);
    person.sees(&run);
    person.presses("\u{3}");
    person.has_it_back();

    let mut person = Person::at(&shell, 24, 80);
    person.sees(&run);
    assert!(Command::new("kill").args(["-TERM", &person.process()]).status().unwrap().success());
    person.has_it_back();
}

#[test]
fn without_a_terminal_there_is_one_moment_and_without_a_daemon_none_is_started() {
    let (shell, run) = looked_at();
    let answer = shell.belljar(&["top"]);
    assert!(answer.code == 0 && answer.stdout.contains(&run), "{answer:?}");
    assert!(answer.stdout.starts_with("0 running, 0 queued, 0 wait for you\nkid ready"), "{answer:?}");
    assert!(answer.stderr.contains("there is no terminal here"), "{answer:?}");
    let asked = shell.json(&["top"]);
    assert_eq!((&asked["runs"][0]["run"], &asked["waiting"]), (&json!(run), &json!(0)));
    let shell = Shell::new(&echo());
    let answer = shell.belljar(&["top"]);
    assert!(
        answer.code == 1 && answer.stdout.is_empty() && answer.stderr.contains("no daemon is running"),
        "{answer:?}"
    );
}
