//! What the second wall costs: the same runs in this process and in a confined one, in turn: `cargo
//! bench --workspace --bench apart`.
//!
//! The bench is its own engine process: it starts itself in that role.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    missing_docs,
    reason = "a measure prints, and fails where it cannot"
)]

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    const ROLE: &str = "__engine";
    if std::env::args_os().nth(1).is_some_and(|argument| argument == ROLE) {
        return belljar_engine::serve(std::env::args_os().skip(2), &belljar_sandbox::Image::embedded());
    }
    measures::all(ROLE);
    std::process::ExitCode::SUCCESS
}

#[cfg(not(unix))]
fn main() {
    println!("there is no such process here");
}

#[cfg(unix)]
mod measures {
    use std::{
        process::Stdio,
        sync::Arc,
        time::{Duration, Instant},
    };

    use belljar_engine::{Engine, ProcessEngine};
    use belljar_measures::{many_tools, two_tools};
    use belljar_model::{ByteSize, Limits};
    use belljar_sandbox::{Image, Program, Sandbox, SandboxOptions, ToolSet, Tools};
    use belljar_worker::WorkerProgram;
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        process::Command,
    };

    /// Runs before the first that counts.
    const WARM_UP: usize = 200;
    /// Roughly the bytes of a call and its answer on the pipe.
    const MESSAGE: [u8; 64] = [0; 64];
    /// Messages for the lower bound.
    const MESSAGES: u32 = 20_000;

    /// What is run, how often, and how many calls its time is divided by.
    struct Case {
        name: &'static str,
        source: &'static str,
        tools: Arc<dyn Tools>,
        rounds: usize,
        calls: u32,
    }

    pub(super) fn all(role: &str) {
        // The gateway runs in a multi-threaded runtime, so this does too.
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let sandbox = Sandbox::new(&Image::embedded(), SandboxOptions::default()).unwrap();
            let program = std::env::current_exe().unwrap();
            let program = WorkerProgram { program, arguments: vec![role.into()] };
            let begun = Instant::now();
            let process = ProcessEngine::start(program, SandboxOptions::default()).await.unwrap();
            println!("started, confined and ready: {:.1} ms", begun.elapsed().as_secs_f64() * 1e3);
            let engines = [Engine::from(Arc::new(sandbox)), Engine::from(Arc::new(process))];
            println!("{:44} {:>10} {:>10} {:>10}", "median, µs", "here", "apart", "more");
            for case in cases() {
                let [here, apart] = medians(&engines, &case).await;
                let more = apart.saturating_sub(here);
                println!("{:44} {:>10.1} {:>10.1} {:>10.1}", case.name, micros(here), micros(apart), micros(more));
            }
            let floor = micros(tokio::spawn(there_and_back()).await.unwrap());
            println!("{:44} {:>10} {:>10} {floor:>10.1}", "the floor: a message to `cat` and back", "", "");
        });
    }

    /// The median time of two pipes and two wake-ups, without any code of belljar on the other
    /// side.
    async fn there_and_back() -> Duration {
        let mut other = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (mut to, mut from) = (other.stdin.take().unwrap(), other.stdout.take().unwrap());
        let mut message = MESSAGE;
        let mut times = Vec::new();
        for _ in 0..MESSAGES {
            let begun = Instant::now();
            to.write_all(&message).await.unwrap();
            from.read_exact(&mut message).await.unwrap();
            times.push(begun.elapsed());
        }
        drop(to);
        other.wait().await.unwrap();
        median(times)
    }

    fn median(mut times: Vec<Duration>) -> Duration {
        times.sort_unstable();
        times.get(times.len() / 2).copied().unwrap_or_default()
    }

    fn cases() -> Vec<Case> {
        let case = |name, source, tools, rounds, calls| Case { name, source, tools, rounds, calls };
        let sequential = "for (let i = 0; i < 1000; i++) await box.echo({ i })";
        let at_once = "await Promise.all(Array.from({ length: 1000 }, (_, i) => box.echo({ i })))";
        vec![
            case("a run of 1+1", "1+1", Arc::new(ToolSet::new()), 4_000, 1),
            case("a run over 1,000 tools that calls one", "await box0.tool0({ a: 1 })", many_tools(1_000), 1_000, 1),
            case("a call, of 1,000 one after the other", sequential, two_tools(), 60, 1_000),
            case("a call, of 1,000 at once", at_once, two_tools(), 60, 1_000),
            case(
                "a call with 1 MB of arguments and result",
                "const text = 'x'.repeat(1_000_000); for (let i = 0; i < 10; i++) await box.echo({ text })",
                two_tools(),
                20,
                10,
            ),
        ]
    }

    /// The medians of both engines, which take turns.
    async fn medians(engines: &[Engine; 2], case: &Case) -> [Duration; 2] {
        let mut times = [Vec::new(), Vec::new()];
        let warm_up = WARM_UP.min(case.rounds / 5);
        for round in 0..case.rounds + warm_up {
            for (engine, times) in engines.iter().zip(&mut times) {
                let (engine, tools, program) = (engine.clone(), case.tools.clone(), Program::new(case.source));
                // On a thread of the runtime, like a request.
                let took = tokio::spawn(async move {
                    let limits = Limits { max_calls: 100_000, max_output: ByteSize::mib(16), ..Limits::default() };
                    let begun = Instant::now();
                    let outcome = engine.run(program).limits(&limits).tools(tools).await;
                    let took = begun.elapsed();
                    assert!(outcome.is_ok(), "{:?}", outcome.result);
                    took
                });
                let took = took.await.unwrap();
                if round >= warm_up {
                    times.push(took / case.calls);
                }
            }
        }
        times.map(median)
    }

    fn micros(time: Duration) -> f64 {
        time.as_secs_f64() * 1e6
    }
}
