//! Runs a checkout of test262 in the sandbox and in stock Boa built natively: `cargo bench
//! --workspace --bench conformance -- PATH [FILTER]`.
//!
//! It prints how many tests pass in each, and every test that stock Boa passes and the sandbox does
//! not: on stderr as soon as it is known (together with those that pass in neither), and again at
//! the end. Those are defects, unless they are in `known.txt`, with a reason; with any other, it
//! fails. Each test runs once, in sloppy mode unless it requires strict mode, through an indirect
//! `eval`: the sandbox has no other way to run a script as the suite requires. Modules are left
//! out.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::exit,
    missing_docs,
    reason = "a developer's tool: what cannot go on has failed"
)]

mod suite;

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use belljar_model::{ByteSize, Limits};
use belljar_sandbox::{Image, Program, Sandbox, SandboxOptions};
use boa_engine::{Context, Source, js_string};
use parking_lot::Mutex;
use suite::{Suite, Test};
use tokio::runtime::Builder;

/// Deep recursion in the suite needs more than a thread has by default.
const STACK: usize = 256 * 1024 * 1024;
/// How many tests there are between progress messages.
const STRIDE: usize = 1_000;
/// The iterations that stock Boa may loop: it has no other limit.
const MAX_LOOPS: u64 = 20_000_000;

/// What the suite expects of its host, as far as both engines support it.
const HOST: &str = "
var __said = '';
var print = (text) => { __said += text + '\\n'; };
var $262 = {
    global: globalThis,
    evalScript: (text) => (0, eval)(text),
    gc() {},
    detachArrayBuffer(buffer) { buffer.transfer(); },
    createRealm() { throw new Error('there is one realm'); },
    agent: { start() { throw new Error('there is one agent'); } },
};
";

/// Tests that fail here and not in stock Boa, with the reason: a path or its prefix, a tab, the
/// reason.
const KNOWN: &str = include_str!("known.txt");

/// A script that evaluates a test and reports how it ended.
fn script(test: &Test) -> String {
    let literal = |text: &str| {
        let literal = serde_json::to_string(text).unwrap();
        literal.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
    };
    // The host's part is evaluated on its own, before the test: the directive of a strict test
    // counts only at the start of its source.
    let (host, source) = (literal(HOST), literal(&test.source));
    format!(
        "((0, eval)({host}), (function () {{ try {{ (0, eval)({source}); return 'ended'; }} \
         catch (error) {{ return 'threw ' + (error && error.constructor && error.constructor.name); }} }})())"
    )
}

/// Whether a test with this end and this output passed.
fn passed(test: &Test, ended: &str, said: &str) -> bool {
    match &test.error {
        Some(error) => ended.strip_prefix("threw ") == Some(error),
        None if test.is_async => ended == "ended" && said.contains("Test262:AsyncTestComplete"),
        None => ended == "ended",
    }
}

fn passes_in_stock(test: &Test) -> bool {
    let run = || {
        let mut context = Context::default();
        context.runtime_limits_mut().set_loop_iteration_limit(MAX_LOOPS);
        let ended = context.eval(Source::from_bytes(&script(test))).ok()?.as_string()?.to_std_string_lossy();
        // A job that throws makes its test incomplete.
        let _ = context.run_jobs();
        let said = context.global_object().get(js_string!("__said"), &mut context).ok();
        let said = said.and_then(|said| said.as_string()).map(|said| said.to_std_string_lossy()).unwrap_or_default();
        Some(passed(test, &ended, &said))
    };
    catch_unwind(AssertUnwindSafe(run)).ok().flatten().unwrap_or(false)
}

struct Jar {
    runtime: tokio::runtime::Runtime,
    sandbox: Arc<Sandbox>,
    limits: Limits,
}

impl Jar {
    fn passes(&self, test: &Test) -> bool {
        // The code around the test uses no global that a test may remove, and no promise whose
        // constructor a test may observe.
        let mut source = format!("const all = globalThis, later = setTimeout;\nconst ended = {};\n", script(test));
        if test.is_async {
            source.push_str("await { then(resolve) { later(resolve, 1); } };\n");
        }
        source.push_str("return [ended, `${all.__said}`];");
        let outcome = self.runtime.block_on(self.sandbox.run(Program::new(&source)).limits(&self.limits).into_future());
        let Ok(value) = outcome.result else { return false };
        let Ok((ended, said)) = serde_json::from_str::<(String, String)>(value.as_str()) else { return false };
        passed(test, &ended, &said)
    }
}

#[derive(Default)]
struct Report {
    tests: usize,
    ours: usize,
    stock: usize,
    left_out: usize,
    /// Tests and passes below each folder of the first two levels.
    folders: BTreeMap<String, [usize; 3]>,
    lost: Vec<String>,
    won: usize,
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let Some(root) = arguments.next() else {
        println!("the path of a checkout of test262 is missing: cargo bench --workspace --bench conformance -- PATH");
        std::process::exit(2);
    };
    let root = PathBuf::from(root);
    let paths = Suite::new(&root).paths(&arguments.next().unwrap_or_default());
    let sandbox = Arc::new(Sandbox::new(&Image::embedded(), SandboxOptions::default()).unwrap());
    let (next, report) = (AtomicUsize::new(0), Mutex::new(Report::default()));
    // A panic in stock Boa is a failed test.
    std::panic::set_hook(Box::new(|_| {}));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            let worker = || work(&root, &paths, &next, &report, sandbox.clone());
            std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, worker).unwrap();
        }
    });
    let _ = std::panic::take_hook();
    print(&report.into_inner());
}

fn work(root: &Path, paths: &[PathBuf], next: &AtomicUsize, report: &Mutex<Report>, sandbox: Arc<Sandbox>) {
    let jar = Jar {
        runtime: Builder::new_current_thread().enable_all().build().unwrap(),
        sandbox,
        limits: Limits { memory: ByteSize::mib(512), compute: Duration::from_secs(20), ..Limits::default() },
    };
    let mut suite = Suite::new(root);
    while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
        let Some(test) = suite.read(path) else {
            report.lock().left_out += 1;
            continue;
        };
        let (stock, ours) = (passes_in_stock(&test), jar.passes(&test));
        let mut report = report.lock();
        report.tests += 1;
        report.ours += usize::from(ours);
        report.stock += usize::from(stock);
        let folder = test.path.split('/').take(2).collect::<Vec<_>>().join("/");
        let counts = report.folders.entry(folder).or_default();
        counts[0] += 1;
        counts[1] += usize::from(ours);
        counts[2] += usize::from(stock);
        if report.tests.is_multiple_of(STRIDE) {
            eprintln!("{} of {} tests, {} lost", report.tests, paths.len(), report.lost.len());
        }
        match (stock, ours) {
            (true, false) => {
                eprintln!("lost: {}", test.path);
                report.lost.push(test.path);
            }
            (false, true) => report.won += 1,
            (false, false) => eprintln!("in neither: {}", test.path),
            (true, true) => {}
        }
    }
}

fn print(report: &Report) {
    println!("{:<44} {:>7} {:>9} {:>9}", "folder", "tests", "the jar", "stock Boa");
    for (folder, [tests, ours, stock]) in &report.folders {
        println!("{folder:<44} {tests:>7} {ours:>9} {stock:>9}");
    }
    let percent = |count: usize| 100.0 * count as f64 / report.tests.max(1) as f64;
    println!(
        "\n{} tests, {} left out: the jar passes {} ({:.2} %), stock Boa {} ({:.2} %); {} pass in the jar alone",
        report.tests,
        report.left_out,
        report.ours,
        percent(report.ours),
        report.stock,
        percent(report.stock),
        report.won
    );
    let known: Vec<&str> =
        KNOWN.lines().filter_map(|line| line.split('\t').next()).filter(|path| !path.is_empty()).collect();
    let mut lost: Vec<&String> =
        report.lost.iter().filter(|path| !known.iter().any(|known| path.starts_with(known))).collect();
    lost.sort();
    println!(
        "{} pass in stock Boa alone, {} of them for reasons that known.txt does not have:",
        report.lost.len(),
        lost.len()
    );
    for path in &lost {
        println!("  {path}");
    }
    if !lost.is_empty() {
        std::process::exit(1);
    }
}
