//! What the HTTP front costs, and how belljar handles many clients: `cargo bench --workspace
//! --bench http`.
//!
//! - One `tools/call` of `return 1` over the loopback, beyond the run itself: the time until its
//!   answer arrives, less the run's own time in the outcome. The same over stdin and stdout, in
//!   turn.
//! - Requests per second over HTTP and over stdin and stdout, equally many at a time, in turn.
//! - 500 clients that make 20 runs each, more than there are slots and places in the queue: each
//!   run leaves a line in a file. It prints how many lines there are, and how long the clients
//!   waited for their answers.
//!
//! It measures the binaries of its own profile, which must have been built: `cargo build --release
//! --workspace --bins` (or without `--release` for `--profile dev`).

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, reason = "a bench that cannot go on has failed")]

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use belljar_benches::http::{Endpoint, load, percentile};
use belljar_testkit::child_binary;
use serde_json::{Value, json};

const ROUNDS: usize = 2_000;
const AT_A_TIME: usize = 8;
const SPAN: Duration = Duration::from_secs(5);
const TURNS: usize = 3;
const CLIENTS: usize = 500;
const RUNS: usize = 20;
const SCRIPT: &str = "return 1";

fn main() {
    let home = tempfile::tempdir().unwrap();
    let shell = Shell::new(home.path());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (served, endpoint) = shell.serve_http();
    let mut pipe = shell.serve_stdio();

    let (mut over_http, mut over_pipe) = (Vec::new(), Vec::new());
    let mut connection = runtime.block_on(endpoint.connect()).unwrap();
    // In turn, so that both have the same machine; the first ones are not counted.
    for round in 0..ROUNDS + ROUNDS / 10 {
        let begun = Instant::now();
        let outcome = runtime.block_on(connection.run(SCRIPT)).unwrap();
        let of_http = Times::of(begun, &outcome);
        let begun = Instant::now();
        let outcome = pipe.run(SCRIPT);
        let of_pipe = Times::of(begun, &outcome);
        if round >= ROUNDS / 10 {
            over_http.push(of_http);
            over_pipe.push(of_pipe);
        }
    }
    println!("one call of `{SCRIPT}` at a time, µs, {ROUNDS} rounds in turn:");
    row("HTTP, loopback", &over_http);
    row("stdin and stdout", &over_pipe);

    println!("calls a second, {AT_A_TIME} at a time, {TURNS} turns of {} s each:", SPAN.as_secs());
    for _ in 0..TURNS {
        let http = runtime.block_on(rate(&endpoint));
        let stdio = pipe.rate();
        println!("  HTTP {http:>6.0}    stdin and stdout {stdio:>6.0}    {:.2} of it", http / stdio);
    }
    drop((pipe, connection));

    let begun = Instant::now();
    let all = runtime.block_on(load(&endpoint, CLIENTS, RUNS, |client, run| {
        let name = format!("{client}-{run}");
        (format!("await tally.mark({{ text: '{name}' }}); return '{name}'"), json!(name))
    }));
    let took = begun.elapsed().as_secs_f64();
    let marks = shell.marks();
    let twice = marks.values().filter(|times| **times > 1).count();
    println!("{CLIENTS} clients, {RUNS} runs each, one call of a tool in each:");
    println!(
        "  answered {} of {} in {took:.1} s ({:.0} a second)",
        all.answered.len(),
        CLIENTS * RUNS,
        all.answered.len() as f64 / took
    );
    println!("  lost {}, made twice {twice}, made {} in all", all.lost.len(), marks.len());
    println!("  told that belljar is busy, waited as told, and asked again: {} times", all.busy);
    let [half, most] = [50, 99].map(|of_hundred| percentile(&all.answered, of_hundred).as_secs_f64());
    println!("  answered after, waiting included: p50 {half:.2} s, p99 {most:.2} s, p99 over p50 {:.1}", most / half);
    drop(served);
    assert!(all.lost.is_empty(), "{:#?}", all.lost.first());
}

/// Microseconds of one call: the total, and the part outside the run.
#[derive(Clone, Copy)]
struct Times {
    all: f64,
    above: f64,
}

impl Times {
    fn of(begun: Instant, outcome: &Value) -> Self {
        let all = begun.elapsed().as_secs_f64() * 1e6;
        assert_eq!(outcome["value"], 1, "{outcome:#}");
        Self { all, above: all - outcome["usage"]["wall_ms"].as_f64().unwrap() * 1e3 }
    }
}

fn row(what: &str, times: &[Times]) {
    let of = |part: fn(&Times) -> f64, percent: usize| {
        let mut sorted: Vec<f64> = times.iter().map(part).collect();
        sorted.sort_by(f64::total_cmp);
        sorted[sorted.len() * percent / 100]
    };
    let all: fn(&Times) -> f64 = |times| times.all;
    let above: fn(&Times) -> f64 = |times| times.above;
    println!(
        "  {what:18} above the run: median {:6.0}, p99 {:6.0}   in all: median {:6.0}, p99 {:6.0}",
        of(above, 50),
        of(above, 99),
        of(all, 50),
        of(all, 99)
    );
}

/// Calls per second over HTTP.
async fn rate(endpoint: &Endpoint) -> f64 {
    let (made, end) = (Arc::new(AtomicUsize::new(0)), Instant::now() + SPAN);
    let mut working = tokio::task::JoinSet::new();
    for _ in 0..AT_A_TIME {
        let (made, endpoint) = (made.clone(), endpoint.clone());
        working.spawn(async move {
            let mut connection = endpoint.connect().await.unwrap();
            while Instant::now() < end {
                assert_eq!(connection.run(SCRIPT).await.unwrap()["value"], 1);
                made.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    working.join_all().await;
    made.load(Ordering::Relaxed) as f64 / SPAN.as_secs_f64()
}

/// The folder in which belljar is started.
struct Shell {
    binary: PathBuf,
    home: PathBuf,
}

impl Shell {
    fn new(home: &Path) -> Self {
        let child = child_binary().expect("cargo build --release --workspace --bins");
        let binary = child.with_file_name(format!("belljar{}", std::env::consts::EXE_SUFFIX));
        assert!(binary.exists(), "{} is missing: cargo build --release --workspace --bins", binary.display());
        let config = format!(
            "[approvals]\nallow_yes = true\n[servers.tally]\ncommand = {child:?}\nargs = [\"tally\", {:?}]\nwarm = true\n",
            home.join("marks")
        );
        std::fs::write(home.join("belljar.toml"), config).unwrap();
        println!("{}", binary.display());
        Self { binary, home: home.to_owned() }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(arguments).current_dir(&self.home).env("HOME", &self.home).env_remove("XDG_STATE_HOME");
        command.env("BELLJAR_CONFIG", self.home.join("belljar.toml")).env("BELLJAR_NO_DAEMON", "1");
        command
    }

    fn serve_http(&self) -> (Killed, Endpoint) {
        let token = self.command(&["token", "add", "bench", "--yes"]).output().unwrap();
        assert!(token.status.success(), "{token:?}");
        let token = String::from_utf8(token.stdout).unwrap().trim().to_owned();
        let mut child = self.command(&["serve", "--http", "127.0.0.1:0"]).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        let address = lines.find_map(|line| {
            line.strip_prefix("serving MCP at http://")?.strip_suffix("/mcp").map(|address| address.parse().unwrap())
        });
        // Its pipe must not be closed, nor full.
        std::thread::spawn(move || lines.for_each(drop));
        (Killed(child), Endpoint { address: address.unwrap(), token })
    }

    fn serve_stdio(&self) -> Pipe {
        let mut child = self.command(&["serve"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut pipe = Pipe { _child: Killed(child), input, output, id: 0 };
        let info = json!({ "name": "bench", "version": "0" });
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info });
        pipe.say(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }));
        pipe.hear();
        pipe.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        pipe
    }

    /// How often each mark occurs.
    fn marks(&self) -> BTreeMap<String, usize> {
        let mut marks = BTreeMap::new();
        for line in std::fs::read_to_string(self.home.join("marks")).unwrap_or_default().lines() {
            *marks.entry(line.to_owned()).or_default() += 1;
        }
        marks
    }
}

/// A process that ends with the bench.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // A process that has already ended cannot be killed.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A client at stdin and stdout.
struct Pipe {
    _child: Killed,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    id: u64,
}

impl Pipe {
    fn say(&mut self, message: &Value) {
        use std::io::Write as _;
        self.input.write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn ask(&mut self, code: &str) {
        self.id += 1;
        let params = json!({ "name": "execute_code", "arguments": { "code": code } });
        self.say(&json!({ "jsonrpc": "2.0", "id": self.id, "method": "tools/call", "params": params }));
    }

    fn run(&mut self, code: &str) -> Value {
        self.ask(code);
        self.hear()["result"]["structuredContent"].take()
    }

    /// Calls per second.
    fn rate(&mut self) -> f64 {
        let end = Instant::now() + SPAN;
        let (mut made, mut waiting) = (0_usize, 0_usize);
        while Instant::now() < end || waiting > 0 {
            while waiting < AT_A_TIME && Instant::now() < end {
                self.ask(SCRIPT);
                waiting += 1;
            }
            assert_eq!(self.hear()["result"]["structuredContent"]["value"], 1);
            (made, waiting) = (made + 1, waiting - 1);
        }
        made as f64 / SPAN.as_secs_f64()
    }
}
