//! A worker process that does what its requests say, mainly to itself; and a parent that keeps one.

use std::{
    hint::black_box,
    io, thread,
    time::{Duration, Instant},
};

use belljar_worker::{Bounds, Role, Worker, WorkerProgram};

use crate::protocol::Output;

/// Small enough that a test fills it at once.
const MEMORY: u64 = 512 * 1024 * 1024;
const DESCRIPTORS: u64 = 16;
const PROCESSOR_TIME: Duration = Duration::from_secs(1);
const MAX_REQUEST: usize = 1024 * 1024;

/// Answers until there are no more requests.
pub(crate) fn worker(parent: &str) -> io::Result<()> {
    let bounds = Bounds { memory: Some(MEMORY), descriptors: Some(DESCRIPTORS), processor_time: Some(PROCESSOR_TIME) };
    let mut role = Role::begin([parent.into()].into_iter(), bounds, MAX_REQUEST).map_err(io::Error::other)?;
    while let Some(request) = role.receive().map_err(io::Error::other)? {
        let answer = answer(&String::from_utf8_lossy(&request))?;
        role.send(&answer).map_err(io::Error::other)?;
    }
    Ok(())
}

fn answer(request: &str) -> io::Result<Vec<u8>> {
    let (word, rest) = request.split_once(' ').unwrap_or((request, ""));
    match word {
        "echo" => Ok(rest.into()),
        "long" => Ok(vec![b'x'; rest.parse().map_err(io::Error::other)?]),
        "burn" => {
            let (begun, limit) = (Instant::now(), Duration::from_millis(rest.parse().map_err(io::Error::other)?));
            while begun.elapsed() < limit {
                black_box(begun);
            }
            Ok(Vec::new())
        }
        "sleep" => loop {
            thread::sleep(Duration::from_secs(1000));
        },
        "fill" => {
            let mut held = Vec::new();
            loop {
                held.push(black_box(vec![1_u8; 1024 * 1024]));
            }
        }
        #[cfg(target_os = "linux")]
        "rights" => Ok(rights().into_bytes()),
        _ => Err(io::Error::other(format!("what is '{word}'?"))),
    }
}

/// What this process still has, on one line.
#[cfg(target_os = "linux")]
fn rights() -> String {
    use nix::sys::prctl;
    // Checks whether a descriptor is open by closing it.
    let open = (3..1024).filter(|number| nix::unistd::close(*number).is_ok()).count();
    let variables = std::env::vars_os().count();
    let (no_new_privileges, dumpable) = (prctl::get_no_new_privs(), prctl::get_dumpable());
    format!("open {open}, variables {variables}, no new privileges {no_new_privileges:?}, dumpable {dumpable:?}")
}

/// Starts a worker, keeps it busy, prints its pid on stdout, and stays.
pub(crate) fn keep() -> io::Result<()> {
    let program = WorkerProgram { program: std::env::current_exe()?, arguments: vec!["worker".into()] };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut worker = Worker::start(&program, 0).await.map_err(io::Error::other)?;
        // It has taken on its role when it has answered.
        worker.ask(b"echo ", Duration::from_secs(20)).await.map_err(io::Error::other)?;
        Output::default().line(&worker.id().unwrap_or(0).to_string())?;
        let _ = worker.ask(b"sleep", Duration::MAX).await;
        Ok(())
    })
}
