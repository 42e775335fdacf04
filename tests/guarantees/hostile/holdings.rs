//! What a run makes the host hold in memory: arguments of waiting calls, and answers that arrive
//! while the script computes. Lines 111 and 112 of the catalogue.

use std::{
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use belljar_gateway::{Gateway, Toolbox};
use belljar_model::{ByteSize, Effect, ErrorKind, Limits, Outcome, ServerSpec, StdioCommand, Transport};
use belljar_sandbox::{Image, Program, Sandbox, SandboxOptions, ToolSet};
use belljar_upstream::{BuiltIns, Options};
use cap_std::{ambient_authority, fs::Dir};
use serde_json::{Value, json};

use crate::{
    stub_server::{Stub, text},
    support,
};

/// Memory of the process besides the budget: two trees of large arguments, one message of a child,
/// and what allocators keep.
const MARGIN: u64 = 192 << 20;

/// A server that never answers `hang`, and answers `large` with this many bytes.
const CHILD: &str = r#"
const send = (id, result) => process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":${result}}\n`);
const tool = (name) => ({ name, inputSchema: { type: "object" } });
const handle = ({ id, method, params }) => {
  if (method === "initialize")
    return send(id, JSON.stringify({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "held", version: "1" } }));
  if (method === "tools/list") return send(id, JSON.stringify({ tools: [tool("hang"), tool("large")] }));
  if (method !== "tools/call" || params.name === "hang") return;
  send(id, `{"content":[{"type":"text","text":"${"x".repeat(params.arguments.bytes)}"}]}`);
};
let input = [];
process.stdin.on("data", (data) => {
  for (let at; (at = data.indexOf(10)) >= 0; data = data.subarray(at + 1)) {
    const line = Buffer.concat([...input.splice(0), data.subarray(0, at)]);
    handle(JSON.parse(line));
  }
  input.push(data);
});
"#;

/// A gateway over servers, whose sandbox has a folder for answers that find no room in memory.
struct Held {
    gateway: Gateway,
    _folder: tempfile::TempDir,
}

impl Held {
    fn new(specs: Vec<ServerSpec>, built_ins: BuiltIns) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut options = Options::new("belljar-tests", "0");
        options.environment = std::env::var("PATH").map(|path| ("PATH".to_owned(), path)).into_iter().collect();
        let toolbox = Arc::new(Toolbox::new(specs, built_ins, options));
        Self { gateway: Gateway::new(toolbox, Arc::new(sandbox(&folder)), Limits::default()), _folder: folder }
    }

    fn with_child() -> Self {
        let (command, args) = ("node".to_owned(), vec!["-e".to_owned(), CHILD.to_owned()]);
        let command = StdioCommand { command, args, env: Default::default(), cwd: None, sandbox: None };
        Self::new(vec![ServerSpec::new("box", Transport::Stdio(command))], BuiltIns::new())
    }

    async fn run(&self, source: &str, limits: &Limits) -> Outcome {
        self.gateway.with_limits(limits.clone()).execute(source.to_owned()).await
    }
}

fn sandbox(folder: &tempfile::TempDir) -> Sandbox {
    let folder = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
    Sandbox::new(&Image::embedded(), SandboxOptions::default()).unwrap().with_overflow(folder)
}

fn value(outcome: &Outcome) -> Value {
    match &outcome.result {
        Ok(value) => value.to_value().unwrap(),
        Err(error) => panic!("{error:#?}"),
    }
}

/// This process's peak memory.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

/// Other tests of this process use memory, so it is measured in its own process.
fn alone(test: &str) {
    let alone = Command::new(std::env::current_exe().unwrap())
        .args([&format!("hostile::holdings::{test}"), "--exact", "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&alone.stdout).into_owned() + &String::from_utf8_lossy(&alone.stderr);
    assert!(alone.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
pub(crate) fn a_thousand_calls_that_wait_with_a_megabyte_each_hold_no_more_than_the_budget() {
    alone("a_thousand_calls_wait");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "wants a process of its own: the test above gives it one"]
async fn a_thousand_calls_wait() {
    let held = Held::with_child();
    let limits = Limits { call: Duration::from_secs(6), ..Limits::default() };
    value(&held.run("return await box.large({ bytes: 1 }).then(text => text.length)", &limits).await);
    let before = peak();
    // The first ones make the largest trees, and would take some four hundred megabytes.
    let source = "
        const zeros = { a: Array(524000).fill(0) }, letters = { a: 'x'.repeat(1_048_000) };
        const ends = { waited: 0, refused: 0 }, messages = new Set();
        await Promise.all(Array.from({ length: 1000 }, (_, i) => box.hang(i < 6 ? zeros : letters).catch((e) => {
            const refused = e instanceof ToolError && e.message.includes('max_held');
            ends[refused ? 'refused' : 'waited']++;
            if (refused) messages.add(e.message);
        })));
        return { ...ends, message: [...messages][0] }";
    let outcome = held.run(source, &limits).await;
    let ends = value(&outcome);
    let growth = peak() - before;
    let (waited, refused) = (ends["waited"].as_u64().unwrap(), ends["refused"].as_u64().unwrap());
    println!("{waited} calls waited, {refused} were refused; the process grew by {growth} bytes; {:?}", outcome.usage);
    assert_eq!((waited, refused), (64, 936), "{ends}");
    let message = ends["message"].as_str().unwrap();
    assert!(message.contains("arguments have 1048008 bytes") && message.contains("67108864"), "{message}");
    // A call that was not made is not counted, and has no record.
    assert_eq!((outcome.usage.tool_calls, outcome.calls.len()), (64, 64));
    let budget = limits.max_held.as_u64();
    assert!(outcome.usage.peak_held_bytes.is_some_and(|held| held > budget / 2 && held <= budget), "{outcome:#?}");
    let most = budget + outcome.usage.peak_memory_bytes.unwrap() + MARGIN;
    assert!(growth <= most, "the process grew by {growth} bytes, and {most} are accounted for");
}

#[test]
pub(crate) fn answers_that_come_while_a_script_computes_stay_within_the_budget_and_all_arrive() {
    alone("answers_pile_up");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "wants a process of its own: the test above gives it one"]
async fn answers_pile_up() {
    const BYTES: u64 = 4_900_000;
    const ANSWERS: u64 = 80;
    // There are no trees.
    const MARGIN: u64 = 128 << 20;
    let held = Held::with_child();
    let limits = Limits {
        max_held: ByteSize::mib(16),
        call: Duration::from_secs(120),
        compute: Duration::from_secs(100),
        ..Limits::default()
    };
    value(&held.run("return await box.large({ bytes: 1 }).then(text => text.length)", &limits).await);
    let before = peak();
    let source = format!(
        "let total = 0;
         const all = Array.from({{ length: {ANSWERS} }}, () => box.large({{ bytes: {BYTES} }}).then(text => {{ total += text.length }}));
         for (const end = Date.now() + 12_000; Date.now() < end;);
         await Promise.all(all);
         return total"
    );
    let outcome = held.run(&source, &limits).await;
    assert_eq!(value(&outcome), json!(BYTES * ANSWERS));
    let growth = peak() - before;
    println!("{ANSWERS} answers of {BYTES} bytes: the process grew by {growth} bytes; {:?}", outcome.usage);
    let most = limits.max_held.as_u64() + outcome.usage.peak_memory_bytes.unwrap() + MARGIN;
    assert!(
        growth <= most && most < BYTES * ANSWERS,
        "the process grew by {growth} bytes, and {most} are accounted for"
    );
}

/// A server whose answers have the requested size, and come after the requested time.
fn late(times: u64) -> ToolSet {
    ToolSet::new().with("box", "late", Effect::ReadOnly, move |arguments| async move {
        let number = |name: &str| arguments.get(name).and_then(Value::as_u64).unwrap_or_default();
        let (wait, bytes) = (Duration::from_millis(number("ms") * times), usize::try_from(number("bytes")).unwrap());
        drop(arguments);
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        Ok(json!("x".repeat(bytes)))
    })
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn which_calls_find_no_room_depends_on_the_script_and_not_on_when_answers_come() {
    let limits = Limits { max_held: ByteSize::b(1_000_000), ..Limits::default() };
    let source = "
        const pad = 'x'.repeat(300_000);
        const call = (ms) => box.late({ ms, bytes: 400_000, pad }).then(text => text.length, e => e.message);
        const first = await Promise.all([4, 0, 3, 0, 2].map(call));
        for (let i = 0; i < 1e5; i++);
        const waiting = [1, 0, 2].map(call);
        await waiting[1];
        const more = await Promise.all([0, 1].map(call));
        return [first, await Promise.all(waiting), more]";
    let folder = tempfile::tempdir().unwrap();
    let sandbox = sandbox(&folder);
    let run = async |program: Program, times: u64| {
        sandbox.run(program.with_seed([7; 32])).limits(&limits).tools(Arc::new(late(times))).await
    };
    let slow = run(Program::new(source), 9).await;
    let ends = value(&slow);
    let is_refused = |end: &Value| end.as_str().is_some_and(|message| message.contains("max_held is 1000000"));
    let first: Vec<bool> = ends[0].as_array().unwrap().iter().map(is_refused).collect();
    assert_eq!(first, [false, false, false, true, true], "{ends}");
    // Immediate or late: with the same order of answers it is the same run.
    for times in [0, 5] {
        let again = run(Program::new(source).with_order(slow.order.clone()), times).await;
        assert_eq!(value(&again), ends);
        assert_eq!(again.usage.fuel, slow.usage.fuel);
    }
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn a_refused_call_that_is_not_caught_ends_the_run_with_the_limit() {
    let limits = Limits { max_held: ByteSize::kib(10), ..Limits::default() };
    let outcome =
        support::run_with("await box.echo({ a: 'x'.repeat(20_000) })", &limits, Arc::new(support::tools())).await;
    let error = outcome.result.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Tool, "{error:#?}");
    let limit = error.limit.as_ref().unwrap();
    assert_eq!((limit.name.as_str(), limit.max, limit.used), ("max_held", 10_240, 20_008));
    assert!(error.hint.as_ref().is_some_and(|hint| hint.contains("smaller groups")), "{error:#?}");
    assert!(outcome.calls.is_empty() && outcome.usage.tool_calls == 0);
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn a_recorded_order_is_followed_whatever_has_to_be_held_for_it() {
    let limits = Limits { max_held: ByteSize::b(250_000), ..Limits::default() };
    let source = "return await Promise.all(Array.from({ length: 40 }, () => box.late({ bytes: 100_000 }).then(text => text.length)))";
    let folder = tempfile::tempdir().unwrap();
    let with_file = sandbox(&folder);
    for sandbox in [&with_file, support::sandbox()] {
        let first = sandbox.run(Program::new(source)).limits(&limits).tools(Arc::new(late(1))).await;
        assert_eq!(value(&first), json!(vec![100_000; 40]));
        let reversed: Vec<u64> = first.order.iter().rev().copied().collect();
        let program = Program::new(source).with_order(reversed.clone());
        let again = sandbox.run(program).limits(&limits).tools(Arc::new(late(1))).await;
        assert_eq!((value(&again), &again.order), (json!(vec![100_000; 40]), &reversed));
    }
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn other_runs_and_calls_of_the_same_child_go_on_while_answers_pile_up() {
    let tools = json!([{ "name": "large", "inputSchema": { "type": "object" } }]);
    let answered = Arc::new(AtomicUsize::new(0));
    let count = answered.clone();
    let stub = Stub::new(tools, move |_, arguments| {
        count.fetch_add(1, Ordering::SeqCst);
        text(&"x".repeat(usize::try_from(arguments["bytes"].as_u64().unwrap()).unwrap()))
    });
    let built_ins = BuiltIns::new().with("box", move |stream| stub.clone().serve(stream));
    let spec = ServerSpec::new("box", Transport::BuiltIn("box".to_owned()));
    let held = Held::new(vec![spec], built_ins);
    let limits = Limits { max_held: ByteSize::mib(1), compute: Duration::from_secs(100), ..Limits::default() };
    let busy = held.run("for (let i = 0; i < 30; i++) box.large({ bytes: 400_000 }); for (;;);", &limits);
    let other = async {
        while answered.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        // This call is behind the thirty others, at a server that answers one at a time.
        held.run("return (await box.large({ bytes: 7 })).length", &Limits::default()).await
    };
    tokio::select! {
        biased;
        outcome = other => assert_eq!(value(&outcome), json!(7)),
        outcome = busy => panic!("the other run waited for this one: {outcome:#?}"),
    }
}
