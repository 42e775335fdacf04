//! What a run makes two processes hold in memory, if scripts have their own process, and what that
//! process can use: the second wall's part of `holdings`.

use std::{process::Command, sync::Arc, time::Duration};

use belljar_engine::{MemoryBound, ProcessEngine};
use belljar_gateway::{Gateway, Toolbox};
use belljar_model::{ByteSize, Effect, ErrorKind, Limits, Outcome, ServerSpec, StdioCommand, Transport};
use belljar_sandbox::{Program, SandboxOptions, ToolSet};
use belljar_upstream::{BuiltIns, Options};
use belljar_worker::WorkerProgram;
use cap_std::{ambient_authority, fs::Dir};
use serde_json::{Value, json};

use crate::support::belljar;

async fn engine(options: SandboxOptions) -> ProcessEngine {
    let program = WorkerProgram { program: belljar().to_owned(), arguments: vec!["__engine".into()] };
    ProcessEngine::start(program, options).await.unwrap_or_else(|fault| panic!("{fault}"))
}

fn dir(folder: &tempfile::TempDir) -> Dir {
    Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap()
}

fn value(outcome: &Outcome) -> Value {
    outcome.result.as_ref().unwrap_or_else(|error| panic!("{error:#?}")).to_value().unwrap()
}

/// The peak memory of a process.
fn peak(process: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

/// A server that answers `large` with this many bytes.
const CHILD: &str = r#"
const send = (id, result) => process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":${result}}\n`);
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize")
    return send(id, JSON.stringify({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "held", version: "1" } }));
  if (method === "tools/list") return send(id, JSON.stringify({ tools: [{ name: "large", inputSchema: { type: "object" } }] }));
  if (method === "tools/call") send(id, `{"content":[{"type":"text","text":"${"x".repeat(params.arguments.bytes)}"}]}`);
});
"#;

#[test]
pub(crate) fn answers_that_pile_up_stay_within_the_budget_on_both_sides_of_the_pipe() {
    // Other tests of this process use memory, so it is measured in its own process.
    let alone = Command::new(std::env::current_exe().unwrap())
        .args(["hostile::second_wall_memory::answers_pile_up", "--exact", "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&alone.stdout).into_owned() + &String::from_utf8_lossy(&alone.stderr);
    assert!(alone.status.success() && said.contains("1 passed"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "wants a process of its own: the test above gives it one"]
async fn answers_pile_up() {
    const BYTES: u64 = 4_900_000;
    const ANSWERS: u64 = 80;
    // One message of the child, frames on their way, what allocators keep.
    const MARGIN: u64 = 128 << 20;
    let folder = tempfile::tempdir().unwrap();
    let engine = Arc::new(engine(SandboxOptions::default()).await.with_overflow(dir(&folder)));
    let worker = engine.pid().unwrap().to_string();
    let mut options = Options::new("belljar-tests", "0");
    options.environment = std::env::var("PATH").map(|path| ("PATH".to_owned(), path)).into_iter().collect();
    let (command, args) = ("node".to_owned(), vec!["-e".to_owned(), CHILD.to_owned()]);
    let command = StdioCommand { command, args, env: Default::default(), cwd: None, sandbox: None };
    let specs = vec![ServerSpec::new("box", Transport::Stdio(command))];
    let toolbox = Arc::new(Toolbox::new(specs, BuiltIns::new(), options));
    let limits = Limits {
        max_held: ByteSize::mib(16),
        call: Duration::from_secs(120),
        compute: Duration::from_secs(100),
        ..Limits::default()
    };
    let gateway = Gateway::new(toolbox, engine, Limits::default());
    let run = async |source: String| gateway.with_limits(limits.clone()).execute(source).await;
    value(&run("return await box.large({ bytes: 1 }).then(text => text.length)".to_owned()).await);
    let before = (peak("self"), peak(&worker));
    let outcome = run(format!(
        "let total = 0;
         const all = Array.from({{ length: {ANSWERS} }}, () => box.large({{ bytes: {BYTES} }}).then(text => {{ total += text.length }}));
         for (const end = Date.now() + 12_000; Date.now() < end;);
         await Promise.all(all);
         return total"
    ))
    .await;
    assert_eq!(value(&outcome), json!(BYTES * ANSWERS));
    let growth = (peak("self") - before.0, peak(&worker) - before.1);
    println!("{ANSWERS} answers of {BYTES} bytes: the processes grew by {growth:?} bytes; {:?}", outcome.usage);
    let here = limits.max_held.as_u64() + MARGIN;
    let there = limits.max_held.as_u64() + outcome.usage.peak_memory_bytes.unwrap() + MARGIN;
    assert!(here < BYTES * ANSWERS && there < BYTES * ANSWERS);
    assert!(growth.0 <= here, "belljar grew by {} bytes, and {here} are accounted for", growth.0);
    assert!(growth.1 <= there, "the engine's process grew by {} bytes, and {there} are accounted for", growth.1);
    // On either side: the budget, what is on its way to the file, and one answer that is larger
    // than the rest of the budget.
    let held = outcome.usage.peak_held_bytes.unwrap();
    assert!(held > limits.max_held.as_u64() && held <= 2 * (limits.max_held.as_u64() + (8 << 20)), "{held}");
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn every_answer_reaches_the_script_in_any_recorded_order_however_little_may_be_held() {
    let limits = Limits { max_held: ByteSize::b(250_000), ..Limits::default() };
    let tools = || {
        let text = "x".repeat(100_000);
        ToolSet::new().with("box", "late", Effect::ReadOnly, move |_| std::future::ready(Ok(json!(text))))
    };
    let source = "return await Promise.all(Array.from({ length: 40 }, () => box.late({}).then(text => text.length)))";
    let folder = tempfile::tempdir().unwrap();
    let with_file = engine(SandboxOptions::default()).await.with_overflow(dir(&folder));
    let without = engine(SandboxOptions::default()).await;
    for engine in [&with_file, &without] {
        let run = async |program: Program| {
            let ended = engine.run(program).limits(&limits).tools(Arc::new(tools())).into_future();
            tokio::time::timeout(Duration::from_secs(60), ended).await.expect("no answer is held back without end")
        };
        let first = run(Program::new(source)).await;
        assert_eq!(value(&first), json!(vec![100_000; 40]));
        let reversed: Vec<u64> = first.order.iter().rev().copied().collect();
        let again = run(Program::new(source).with_order(reversed.clone())).await;
        assert_eq!((value(&again), &again.order), (json!(vec![100_000; 40]), &reversed));
        assert!(again.calls.len() == 40 && again.calls.iter().all(|call| call.ok));
    }
}

#[tokio::test(flavor = "multi_thread")]
pub(crate) async fn the_system_bounds_the_memory_of_the_engines_process() {
    let options = SandboxOptions { max_live: 8, live_memory: ByteSize::gib(1), ..SandboxOptions::default() };
    // However busy the machine is.
    let options = SandboxOptions { queue_timeout: Duration::from_secs(600), ..options };
    let engine = Arc::new(engine(options).await);
    let pid = engine.pid().unwrap();
    let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
    let mapped = limits.lines().find(|line| line.starts_with("Max data size")).unwrap();
    let mapped: u64 = mapped.split_whitespace().nth(3).unwrap().parse().unwrap();
    // A run may have 4 GiB whatever `live_memory` says, and every slot keeps the memory of its last
    // run.
    assert!((8 << 30..12 << 30).contains(&mapped), "{mapped}");
    match engine.memory_bound().expect("there is a process") {
        MemoryBound::Group { max } => assert!((4 << 30..6 << 30).contains(&max.as_u64()), "{max}"),
        MemoryBound::Mapped { max, reason } => assert!(max.as_u64() == mapped && !reason.is_empty(), "{max}: {reason}"),
        other => panic!("{other:?}"),
    }
    // Runs with maximum memory use go through all of its slots, twice.
    let hoard = "const all = []; for (;;) all.push('x'.repeat(1000) + all.length)";
    let runs = (0..16).map(|_| {
        let engine = engine.clone();
        tokio::spawn(async move {
            let limits = Limits { memory: ByteSize::mib(32), ..Limits::default() };
            engine.run(Program::new(hoard)).limits(&limits).await
        })
    });
    for outcome in futures::future::join_all(runs).await {
        let outcome = outcome.unwrap();
        assert_eq!(outcome.result.as_ref().unwrap_err().kind, ErrorKind::Memory, "{outcome:#?}");
    }
    assert_eq!(engine.pid(), Some(pid));
}
