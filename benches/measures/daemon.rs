//! What the daemon costs: `cargo bench --workspace --bench daemon`.
//!
//! - `belljar call` on a warm child, and `belljar run` of a script without tools, each from `exec`
//!   to the exit of the process, through the daemon. Next to them, the same call timed inside the
//!   daemon, and the time of a process that does nothing.
//! - A thousand calls from 32 processes at a time: how many are answered, and by how many children.
//! - `kill -9` of the daemon while a call waits: how long until the caller has its error.
//!
//! The child is the echoing one of `crates/testkit`. It measures the release binaries, which must
//! have been built: `cargo build --release --workspace --bins`.

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, reason = "a bench that cannot go on has failed")]

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Instant,
};

use belljar_testkit::child_binary;
use serde_json::{Value, json};

const ROUNDS: usize = 300;
const CALLS: usize = 1_000;
const PROCESSES: usize = 32;
const KILLS: usize = 10;

fn main() {
    let home = tempfile::tempdir().unwrap();
    let shell = Shell::new(home.path());
    let call = ["call", "kid.echo", "--input", "{\"text\": \"a line of text\"}"];
    // The daemon and the child exist from here on.
    assert!(shell.command(&call).status().unwrap().success());

    println!("from exec to exit, through the daemon, ms:");
    row("belljar --version", &shell, &["--version"]);
    row("belljar call, a warm child", &shell, &call);
    row("belljar run --code 1+1", &shell, &["run", "--code", "1+1"]);
    let inside = shell.json(&["run", "--code", TIMED])["value"].as_f64().unwrap() / f64::from(INSIDE);
    println!("  {:40} {inside:8.3}", "the same call, inside the daemon");

    let before = shell.child();
    let (answered, begun) = (AtomicUsize::new(0), Instant::now());
    let begun_calls = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..PROCESSES {
            scope.spawn(|| {
                while begun_calls.fetch_add(1, Ordering::Relaxed) < CALLS {
                    let output = shell.command(&call).stdout(Stdio::piped()).output().unwrap();
                    if output.status.success() && output.stdout.windows(14).any(|part| part == b"a line of text") {
                        answered.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let seconds = begun.elapsed().as_secs_f64();
    let after = shell.child();
    let is_same = before["pid"] == after["pid"] && after["restarts"] == json!(0);
    println!("{CALLS} calls, {PROCESSES} processes at a time:");
    println!("  answered {} of {CALLS} in {seconds:.1} s", answered.load(Ordering::Relaxed));
    println!("  by {}", if is_same { "one child" } else { "more than one child" });

    println!("kill -9 of the daemon while a call waits, ms until the caller has its error:");
    let mut times: Vec<f64> = (0..KILLS).map(|_| shell.kill()).collect();
    times.sort_by(f64::total_cmp);
    println!("  median {:.1}, worst {:.1}, of {KILLS}", times[times.len() / 2], times[times.len() - 1]);
    shell.command(&["daemon", "stop"]).status().unwrap();
}

/// Sequential calls inside the daemon, and their total in milliseconds: the clocks in there have
/// millisecond resolution.
const INSIDE: u16 = 500;
const TIMED: &str = "const begun = performance.now(); \
    for (let i = 0; i < 500; i++) await kid.echo({ text: 'a line of text' }); performance.now() - begun";

/// Commands that share a daemon and one child.
struct Shell {
    binary: PathBuf,
    home: PathBuf,
    config: PathBuf,
}

impl Shell {
    fn new(home: &Path) -> Self {
        let child = child_binary().expect("cargo build --release --workspace --bins");
        let binary = child.with_file_name(format!("belljar{}", std::env::consts::EXE_SUFFIX));
        assert!(binary.exists(), "{} is missing: cargo build --release --workspace --bins", binary.display());
        let config = home.join("belljar.toml");
        // Stateful: it is not replaced after a thousand calls.
        let child = json!(child);
        std::fs::write(&config, format!("[servers.kid]\ncommand = {child}\nargs = [\"echo\"]\nstateful = true\n"))
            .unwrap();
        Self { binary, home: home.to_owned(), config }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(arguments).current_dir(&self.home).env("HOME", &self.home).env("XDG_RUNTIME_DIR", &self.home);
        command.env("BELLJAR_CONFIG", &self.config).env_remove("BELLJAR_NO_DAEMON").env_remove("XDG_STATE_HOME");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.command(arguments).arg("--json").stdout(Stdio::piped()).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn child(&self) -> Value {
        self.json(&["servers"])["servers"][0].clone()
    }

    /// Kills the daemon while a call waits, and returns the milliseconds until the caller has ended
    /// with an error.
    fn kill(&self) -> f64 {
        let mut waiting = self.command(&["call", "kid.slow", "--input", "{\"ms\": 20000}"]).spawn().unwrap();
        while self.json(&["daemon", "status"])["running"] != json!(1) {
            thread::yield_now();
        }
        let pid = self.json(&["daemon", "status"])["pid"].to_string();
        let begun = Instant::now();
        assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
        assert!(!waiting.wait().unwrap().success());
        let time = begun.elapsed().as_secs_f64() * 1e3;
        assert!(
            self.command(&["call", "kid.echo", "--input", "{\"text\": \"again\"}"]).status().unwrap().success(),
            "the next command works"
        );
        time
    }
}

fn row(what: &str, shell: &Shell, arguments: &[&str]) {
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let begun = Instant::now();
            assert!(shell.command(arguments).status().unwrap().success());
            begun.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let of = |percent: usize| times[times.len() * percent / 100];
    println!("  {what:40} {:8.2}  (p10 {:.2}, p90 {:.2}, {ROUNDS} rounds)", of(50), of(10), of(90));
}
