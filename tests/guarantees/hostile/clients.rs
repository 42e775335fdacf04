//! Clients of `belljar serve` that write without end, write lines without end, or never read: what
//! they can make belljar hold is bounded, and an honest request afterwards is answered as usual.

use std::{
    collections::HashSet,
    fs,
    io::{BufRead as _, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    cancellation::AMPLE,
    daemon::{Shell, echo},
    support::Terminal,
};

/// The most memory for a hostile client: as many live runs as it may have requests in flight, with
/// some MiB each, and two of the longest lines. Without bounds the first of these tests takes
/// gigabytes.
const ROOM: u64 = 192 << 20;

/// A client of `belljar serve` after the handshake and one script: by then belljar has allocated
/// what it always needs.
pub(super) struct Client {
    /// `None` while another thread writes.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    server: Server,
    peak: u64,
}

/// The process, killed with its test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Client {
    pub(super) fn connected(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = command.spawn().unwrap();
        let (input, output) = (server.stdin.take(), BufReader::new(server.stdout.take().unwrap()));
        let mut client = Self { input, output, server: Server(server), peak: 0 };
        let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "hostile", "version": "1" } });
        client.say(&json!({ "jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": params }));
        assert_eq!(client.hear()["result"]["serverInfo"]["name"], "belljar");
        client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client.is_served();
        client.peak = peak_memory(&client.server.0);
        client
    }

    fn say(&mut self, message: &Value) {
        say(self.input.as_mut().unwrap(), message);
    }

    fn say_bytes(&mut self, bytes: &[u8]) {
        self.input.as_mut().unwrap().write_all(bytes).unwrap();
    }

    fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        assert!(!line.is_empty(), "belljar has hung up");
        serde_json::from_str(&line).unwrap()
    }

    /// The answer to this request; others may come before it.
    fn answer_to(&mut self, id: &str) -> Value {
        loop {
            let answer = self.hear();
            if answer["id"] == id {
                return answer;
            }
        }
    }

    /// An honest request is answered.
    fn is_served(&mut self) {
        self.say(&execute("honest", "6 * 7"));
        let answer = self.answer_to("honest");
        assert_eq!(answer["result"]["structuredContent"]["value"], 42, "{answer:#}");
    }

    /// Memory that was used until now does not count.
    pub(super) fn begins_to_be_measured(&mut self) {
        self.peak = peak_memory(&self.server.0);
    }

    /// The outcome of a script.
    pub(super) fn outcome(&mut self, code: &str, limits: &Value) -> Value {
        let mut request = execute("script", code);
        request["params"]["arguments"]["limits"] = limits.clone();
        self.say(&request);
        self.answer_to("script")["result"]["structuredContent"].take()
    }

    /// The value of a script that must succeed.
    pub(super) fn value(&mut self, code: &str) -> Value {
        let mut outcome = self.outcome(code, &json!({}));
        assert_eq!(outcome["ok"], true, "{outcome:#}");
        outcome["value"].take()
    }

    pub(super) fn has_cost_little(&self) {
        let cost = peak_memory(&self.server.0).saturating_sub(self.peak);
        assert!(cost < ROOM, "belljar's memory rose by {} MiB", cost >> 20);
    }
}

fn say(input: &mut impl Write, message: &Value) {
    input.write_all(format!("{message}\n").as_bytes()).unwrap();
}

fn execute(id: impl Into<Value>, code: &str) -> Value {
    let params = json!({ "name": "execute_code", "arguments": { "code": code } });
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": "tools/call", "params": params })
}

/// The peak memory of a process.
fn peak_memory(process: &Child) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

/// Waits until a count does not change for a second, or has reached `end`.
fn settled(count: &AtomicUsize, end: usize) -> usize {
    const STEP: Duration = Duration::from_millis(20);
    const STILL: Duration = Duration::from_secs(1);
    let (mut last, mut since) = (count.load(Ordering::Relaxed), Instant::now());
    while since.elapsed() < STILL && last < end {
        thread::sleep(STEP);
        let now = count.load(Ordering::Relaxed);
        if now != last {
            (last, since) = (now, Instant::now());
        }
    }
    last
}

/// Sends this many requests and reads nothing until no more can be sent; then reads all answers.
fn writes_without_reading(serve: Command, requests: usize) {
    let mut client = Client::connected(serve);
    let mut input = client.input.take().unwrap();
    let said = Arc::new(AtomicUsize::new(0));
    let counted = said.clone();
    let writer = thread::spawn(move || {
        for id in 0..requests {
            say(&mut input, &execute(id, "1 + 1"));
            counted.fetch_add(1, Ordering::Relaxed);
        }
        input
    });
    let taken = settled(&said, requests);
    assert!(taken < requests / 2, "{taken} requests were taken from a client that takes no answer");

    client.has_cost_little();
    let (mut answered, mut served, mut busy) = (HashSet::new(), 0, 0);
    while answered.len() < requests {
        let answer = client.hear();
        assert!(answered.insert(answer["id"].as_u64().unwrap()), "answered twice: {answer:#}");
        let outcome = &answer["result"]["structuredContent"];
        match outcome["error"]["kind"].as_str() {
            None if outcome["value"] == 2 => served += 1,
            Some("busy") => busy += 1,
            _ => panic!("neither served nor busy: {answer:#}"),
        }
    }
    assert!(served > 0 && busy > 0, "{served} were served, and {busy} were told that belljar is busy");
    client.input = Some(writer.join().unwrap());
    client.has_cost_little();
    client.is_served();
}

#[test]
pub(crate) fn a_client_that_writes_and_never_reads_is_not_read_from_and_costs_no_memory() {
    let terminal = Terminal::new();
    writes_without_reading(terminal.command(&["serve"]), 100_000);
}

#[test]
pub(crate) fn the_bounds_of_a_client_hold_when_the_daemon_does_the_work() {
    let shell = Shell::new(&echo());
    writes_without_reading(shell.command(&["serve", "--daemon"]), 5_000);
}

#[test]
pub(crate) fn a_client_with_all_its_requests_in_flight_can_still_cancel_them() {
    let terminal = Terminal::new();
    let mut client = Client::connected(terminal.command(&["serve"]));
    // Some of these run, the others queue; none would end by itself before the test gives up.
    const FOREVER: &str = "await new Promise((resolve) => setTimeout(resolve, 100_000))";
    for id in 0..64 {
        client.say(&execute(id, FOREVER));
    }
    client.say(&execute("one more", "1"));
    let refused = client.answer_to("one more");
    let error = &refused["result"]["structuredContent"]["error"];
    assert_eq!(
        (&error["kind"], &error["limit"]["name"]),
        (&json!("busy"), &json!("requests_in_flight")),
        "{refused:#}"
    );
    assert_eq!(error["recoverable"], true, "{refused:#}");

    for id in 0..64 {
        let params = json!({ "requestId": id });
        client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }));
    }
    // A run that was cancelled takes a moment to end.
    let deadline = Instant::now() + AMPLE;
    loop {
        client.say(&execute("again", "6 * 7"));
        let outcome = client.answer_to("again")["result"]["structuredContent"].take();
        if outcome["value"] == 42 {
            break;
        }
        assert_eq!(outcome["error"]["kind"], "busy", "{outcome:#}");
        assert!(Instant::now() < deadline, "cancelled requests count as in flight for ever");
    }
}

#[test]
pub(crate) fn a_line_of_any_length_is_refused_and_not_kept() {
    let terminal = Terminal::new();
    let mut client = Client::connected(terminal.command(&["serve"]));
    // For belljar, which is still reading it, this line never ends.
    let piece = vec![b'x'; 1 << 20];
    for _ in 0..256 {
        client.say_bytes(&piece);
    }
    client.has_cost_little();
    client.say_bytes(b"\n");
    let answer = client.hear();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&Value::Null, &json!(-32003)), "{answer:#}");

    // A line that is short enough, but would be a tree of eight million values.
    let list = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{{\"x\":[0{}]}}}}\n",
        ",0".repeat(8_000_000)
    );
    client.say_bytes(list.as_bytes());
    let answer = client.hear();
    assert!(answer["error"]["message"].as_str().unwrap().contains("more than 100000 values"), "{answer:#}");
    client.is_served();
    client.has_cost_little();
}

#[test]
pub(crate) fn a_million_notifications_cost_nothing_and_delay_nobody_for_long() {
    let terminal = Terminal::new();
    let mut client = Client::connected(terminal.command(&["serve"]));
    let notes = [
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" }),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": "nobody's" } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": { "progressToken": 1, "progress": 1 } }),
    ];
    let thousand = notes.iter().cycle().take(1_000).map(|note| format!("{note}\n")).collect::<String>();
    for _ in 0..1_000 {
        client.say_bytes(thousand.as_bytes());
    }
    client.is_served();
    client.has_cost_little();
}
