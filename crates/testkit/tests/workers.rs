//! What `belljar-worker` guarantees about worker processes.

#![cfg(unix)]

use std::{
    io::{BufRead as _, BufReader},
    os::unix::process::ExitStatusExt as _,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use belljar_testkit::is_gone_within;
use belljar_worker::{AskError, FrameError, StartError, Worker, WorkerProgram};

/// More than anything working takes, even on a busy machine.
const AMPLE: Duration = Duration::from_secs(20);
const MAX_ANSWER: usize = 4 * 1024 * 1024;

fn program() -> WorkerProgram {
    WorkerProgram { program: env!("CARGO_BIN_EXE_belljar-testkit-child").into(), arguments: vec!["worker".into()] }
}

async fn worker() -> Worker {
    Worker::start(&program(), MAX_ANSWER).await.expect("it starts")
}

#[tokio::test]
async fn a_warm_worker_answers_one_request_after_the_other() {
    let mut worker = worker().await;
    for text in ["one", "", &"three".repeat(100_000)] {
        let answer = worker.ask(format!("echo {text}").as_bytes(), AMPLE).await.expect("an answer");
        assert!(answer == text.as_bytes(), "{} bytes of {}", answer.len(), text.len());
    }
}

#[tokio::test]
async fn a_worker_that_does_not_answer_in_time_is_killed() {
    let mut worker = worker().await;
    let id = worker.id().expect("it runs");
    let answer = worker.ask(b"sleep", Duration::from_millis(50)).await;
    assert!(matches!(answer, Err(AskError::TimedOut { .. })), "{answer:?}");
    let answer = worker.ask(b"echo late", AMPLE).await;
    assert!(matches!(answer, Err(AskError::OutOfStep)), "{answer:?}");
    drop(worker);
    assert!(is_gone_within(id, AMPLE));
}

#[tokio::test]
async fn a_request_that_is_given_up_leaves_its_worker_unfit_for_another() {
    let mut worker = worker().await;
    let given_up = tokio::time::timeout(Duration::from_millis(50), worker.ask(b"sleep", AMPLE)).await;
    assert!(given_up.is_err() && !worker.is_in_step());
}

#[tokio::test]
async fn a_worker_that_takes_more_processor_time_than_a_request_has_is_ended_by_the_system() {
    let mut worker = worker().await;
    let answer = worker.ask(b"burn 60000", AMPLE).await;
    let Err(AskError::Ended { status: Some(status), .. }) = answer else { panic!("{answer:?}") };
    assert_eq!(status.signal(), Some(nix::sys::signal::Signal::SIGXCPU as i32));
}

#[tokio::test]
async fn each_request_has_processor_time_of_its_own() {
    let mut worker = worker().await;
    for _ in 0..4 {
        worker.ask(b"burn 700", AMPLE).await.expect("less than its second");
    }
}

#[tokio::test]
async fn a_worker_that_fills_its_memory_ends_and_says_why() {
    let answer = worker().await.ask(b"fill", AMPLE).await;
    let Err(AskError::Ended { status: Some(_), stderr }) = answer else { panic!("{answer:?}") };
    assert!(stderr.contains("memory allocation"), "{stderr}");
}

#[tokio::test]
async fn a_worker_that_ends_by_itself_is_told_from_one_that_answers() {
    let answer = worker().await.ask(b"nonsense", AMPLE).await;
    let Err(AskError::Ended { status: Some(status), stderr }) = answer else { panic!("{answer:?}") };
    assert_eq!((status.code(), stderr.as_str()), (Some(1), "what is 'nonsense'?\n"));
}

#[tokio::test]
async fn frames_that_are_too_long_are_refused_on_both_sides() {
    let answer = worker().await.ask(format!("long {}", MAX_ANSWER + 1).as_bytes(), AMPLE).await;
    assert!(matches!(answer, Err(AskError::Frame(FrameError::TooLong { .. }))), "{answer:?}");
    // A worker with a request that is too large ends before it has read it.
    let answer = worker().await.ask(&vec![b'x'; 2 * 1024 * 1024], AMPLE).await;
    assert!(matches!(answer, Err(AskError::Ended { .. })), "{answer:?}");
}

#[tokio::test]
#[cfg(target_os = "linux")]
async fn a_worker_has_no_environment_no_inherited_files_and_no_way_to_privileges() {
    // Without the close-on-exec flag, every process that is started here inherits it.
    let careless = nix::unistd::dup(std::io::stdout()).expect("stdout can be doubled");
    let answer = worker().await.ask(b"rights", AMPLE).await.expect("an answer");
    drop(careless);
    assert_eq!(String::from_utf8_lossy(&answer), "open 0, variables 0, no new privileges Ok(true), dumpable Ok(false)");
}

#[tokio::test]
async fn a_program_that_is_not_there_is_an_error() {
    let program = WorkerProgram { program: "/nowhere".into(), arguments: Vec::new() };
    let started = Worker::start(&program, 0).await;
    assert!(matches!(started, Err(StartError::CannotExecute { .. })), "{started:?}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_worker_dies_with_the_process_that_started_it_however_that_ends() {
    let mut parent = Command::new(&program().program)
        .arg("keep-worker")
        .stdout(Stdio::piped())
        .spawn()
        .expect("the testkit's own program");
    let mut line = String::new();
    BufReader::new(parent.stdout.take().expect("it was asked for")).read_line(&mut line).expect("a line");
    let worker = line.trim().parse().expect("the worker's number");
    parent.kill().expect("it can be killed");
    parent.wait().expect("it is dead");
    assert!(is_gone_within(worker, AMPLE));
}

#[test]
fn a_worker_outlives_the_thread_that_asked_for_it() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let handle = runtime.handle().clone();
    let mut worker = thread::spawn(move || handle.block_on(worker())).join().expect("it starts");
    let answer = runtime.block_on(worker.ask(b"echo still here", AMPLE)).expect("an answer");
    assert_eq!(answer, b"still here");
}
