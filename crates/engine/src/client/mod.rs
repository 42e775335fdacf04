//! The gateway's side: it starts the engine's process, talks to it, and replaces it when it has
//! ended.
//!
//! `connection.rs` is the connection to one process, `runs.rs` has its runs, and `run.rs` is one of
//! them. `run/answers.rs` sends answers to it, `allowance.rs` decides which of them are sent
//! unasked, and `watching.rs` checks what listeners hear of it. `lost.rs` says why a process is
//! gone, and `serving.rs` then ends its runs.

mod allowance;
mod component;
mod connection;
#[cfg(any(test, fuzzing))]
#[cfg_attr(test, allow(unreachable_pub, reason = "public for the fuzzer alone"))]
pub(crate) mod fuzzing;
mod lost;
mod recording;
mod run;
mod runs;
mod serving;
#[cfg(test)]
mod tests;
mod watching;

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use belljar_model::{ByteSize, ErrorKind, Limits, Outcome, RunError};
use belljar_sandbox::{
    Program, Recording, ReplayError, Run, RunRequest, Runner, SandboxOptions,
    apart::{self, Keeper},
};
use belljar_worker::{MemoryGroup, StartError, WorkerProcess, WorkerProgram};
use cap_std::fs::Dir;
use futures::{FutureExt as _, future::BoxFuture};
use parking_lot::Mutex;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader},
    net::unix::pipe::{Receiver, Sender},
    process::ChildStderr,
    task::{AbortHandle, JoinSet, spawn_blocking},
    time::timeout,
};

pub use self::component::{ComponentError, ComponentProcess};
use self::{
    connection::{Connection, Greeting},
    lost::Lost,
    serving::Serving,
};
use crate::{
    memory,
    protocol::to_worker::{self, Replay},
};

/// How long a process may take until it is ready. It takes milliseconds, unless its machine code
/// must be compiled.
const START: Duration = Duration::from_secs(60);
/// How often a process may be started within [`STARTS_WITHIN`]. A script that crashes it also ends
/// the other runs in it, so after this many starts there is a pause.
const MAX_STARTS: usize = 5;
const STARTS_WITHIN: Duration = Duration::from_secs(60);
/// Lines of the process's stderr that are logged, and bytes of each. A healthy process writes
/// little.
const MAX_LOG_LINES: usize = 200;
const MAX_LOG_LINE: u64 = 2048;

/// Runs scripts in a confined process, which is started again when it has ended. Dropping it ends
/// the process.
pub struct ProcessEngine {
    program: WorkerProgram,
    options: SandboxOptions,
    /// The folder for files in which answers wait when there is no room in memory.
    overflow: Option<Arc<Dir>>,
    /// The holder of this starts the next one.
    starting: tokio::sync::Mutex<()>,
    state: Mutex<WorkerState>,
}

#[derive(Default)]
struct WorkerState {
    current: Option<Process>,
    starts: VecDeque<Instant>,
}

struct Process {
    connection: Arc<Connection>,
    pid: Option<u32>,
    memory: MemoryBound,
    serving: AbortHandle,
}

/// What bounds the memory of the process, in addition to the limits of its runs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemoryBound {
    /// A memory cgroup of its own: the system ends the process if it exceeds that.
    Group {
        /// The most that it can use.
        max: ByteSize,
    },
    /// A limit on what it can map (`RLIMIT_DATA`), which is coarser, since mapped memory need not
    /// be used.
    Mapped {
        /// The most that it can map.
        max: ByteSize,
        /// Why the process has no cgroup.
        reason: String,
    },
}

/// Why an engine cannot be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The process cannot be started.
    #[error("the engine's process cannot be started: {0}")]
    Start(#[from] StartError),
    /// The process was started, but the system cannot provide the walls, or the engine cannot be
    /// set up.
    #[error("the engine's process cannot be set up: {0}")]
    SetUp(String),
    /// The process has ended too often.
    #[error("the engine's process has ended {MAX_STARTS} times within {STARTS_WITHIN:?}; it is started again in {0:?}")]
    TooOften(Duration),
}

impl ProcessEngine {
    /// Starts the process. `program` must run in the role in which it calls
    /// [`serve`](crate::serve).
    ///
    /// # Errors
    /// [`EngineError`], also if the system cannot provide all of the walls: an engine is never
    /// started with fewer.
    pub async fn start(program: WorkerProgram, options: SandboxOptions) -> Result<Self, EngineError> {
        let engine =
            Self { program, options, overflow: None, starting: tokio::sync::Mutex::default(), state: Mutex::default() };
        engine.connection().await?;
        Ok(engine)
    }

    /// The same engine with a folder for files in which answers wait, as in
    /// [`Sandbox::with_overflow`]. They are written and read on this side, since the process has no
    /// files.
    ///
    /// [`Sandbox::with_overflow`]: belljar_sandbox::Sandbox::with_overflow
    #[must_use]
    pub fn with_overflow(mut self, folder: Dir) -> Self {
        self.overflow = Some(Arc::new(folder));
        self
    }

    /// The process id, while there is a process.
    pub fn pid(&self) -> Option<u32> {
        self.state
            .lock()
            .current
            .as_ref()
            .filter(|process| process.connection.is_alive())
            .and_then(|process| process.pid)
    }

    /// What bounds the memory of the process, while there is one.
    pub fn memory_bound(&self) -> Option<MemoryBound> {
        self.state.lock().current.as_ref().map(|process| process.memory.clone())
    }

    /// Runs a script, as [`Sandbox::run`](belljar_sandbox::Sandbox::run) does. If the process ends
    /// during the run, the run ends with an error of the kind `internal`, and its outcome has the
    /// calls that it had made.
    pub fn run(&self, program: impl Into<Program>) -> Run<'_, Self> {
        Run::new(self, program)
    }

    async fn outcome_of(&self, request: RunRequest<'_>) -> Outcome {
        let RunRequest { program, limits, tools, mut cancelled } = request;
        let limits = &*limits;
        let patience = limits.timeout.saturating_add(self.options.queue_timeout);
        loop {
            let connection = tokio::select! {
                connection = self.connection() => connection,
                () = &mut cancelled => {
                    return Outcome::refused(RunError::new(ErrorKind::Cancelled, "the run was cancelled"));
                }
            };
            let connection = match connection {
                Ok(connection) => connection,
                Err(fault) => return Outcome::refused(refusal(&fault)),
            };
            // A process that ended before it got the run is replaced, within the bound on starts.
            let keeper = Keeper::new(limits.max_held, self.overflow.clone());
            let run = connection.run(&program, limits, tools.clone(), keeper, patience, &mut cancelled);
            if let Some(outcome) = run.await {
                return outcome;
            }
        }
    }

    /// Repeats a recorded run in the process, as
    /// [`Sandbox::replay`](belljar_sandbox::Sandbox::replay) does. The process's result is not
    /// trusted: the outcome is compared with the recording here.
    ///
    /// # Errors
    /// [`ReplayError`]: the first difference, or why nothing was replayed.
    ///
    /// # Cancellation
    /// Dropping the future ends the replay.
    pub async fn replay(&self, recording: &Recording, ceiling: &Limits) -> Result<Outcome, ReplayError> {
        self.stood_in(None, recording, ceiling).await
    }

    /// Runs another script against the answers of a recorded run, as
    /// [`Sandbox::rehearse`](belljar_sandbox::Sandbox::rehearse) does.
    ///
    /// # Errors
    /// [`ReplayError`], if there is no outcome.
    ///
    /// # Cancellation
    /// Dropping the future ends the run.
    pub async fn rehearse(
        &self,
        source: &str,
        recording: &Recording,
        ceiling: &Limits,
    ) -> Result<Outcome, ReplayError> {
        self.stood_in(Some(source), recording, ceiling).await
    }

    async fn stood_in(
        &self,
        source: Option<&str>,
        recording: &Recording,
        ceiling: &Limits,
    ) -> Result<Outcome, ReplayError> {
        let limits = apart::replay_limits(recording, ceiling)?;
        let patience = ceiling.timeout.saturating_add(self.options.queue_timeout);
        let replay = Replay { source, ceiling: ceiling.clone(), recording: recording.bytes() };
        loop {
            let connection = self.connection().await.map_err(|fault| ReplayError::Run(refusal(&fault)))?;
            if let Some(replayed) = connection.replay(&replay, recording, &limits, patience).await {
                return replayed;
            }
        }
    }

    /// The connection to the process, which is started if there is none.
    async fn connection(&self) -> Result<Arc<Connection>, EngineError> {
        if let Some(connection) = self.current() {
            return Ok(connection);
        }
        let _turn = self.starting.lock().await;
        if let Some(connection) = self.current() {
            return Ok(connection);
        }
        self.note_start()?;
        let process = timeout(START, begin(&self.program, &self.options)).await;
        let process = process.map_err(|_| EngineError::SetUp(format!("it was not ready after {START:?}")))??;
        let connection = process.connection.clone();
        self.state.lock().current = Some(process);
        Ok(connection)
    }

    fn current(&self) -> Option<Arc<Connection>> {
        let state = self.state.lock();
        let process = state.current.as_ref()?;
        process.connection.is_alive().then(|| process.connection.clone())
    }

    fn note_start(&self) -> Result<(), EngineError> {
        let mut state = self.state.lock();
        let now = Instant::now();
        state.starts.retain(|start| now.duration_since(*start) < STARTS_WITHIN);
        if state.starts.len() >= MAX_STARTS
            && let Some(first) = state.starts.front()
        {
            return Err(EngineError::TooOften(STARTS_WITHIN.saturating_sub(now.duration_since(*first))));
        }
        state.starts.push_back(now);
        Ok(())
    }
}

impl Runner for ProcessEngine {
    fn begin<'a>(&'a self, request: RunRequest<'a>) -> BoxFuture<'a, Outcome> {
        self.outcome_of(request).boxed()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The task owns the process, which is killed when it is dropped.
        self.serving.abort();
    }
}

fn refusal(fault: &EngineError) -> RunError {
    let error = RunError::new(ErrorKind::Internal, fault.to_string());
    match fault {
        EngineError::TooOften(left) => error
            .with_hint(
                "belljar's log says why it ended; without [runs] process = true, scripts run in belljar's own process",
            )
            .with_retry_after(*left),
        _ => error.with_hint(
            "belljar doctor says what is missing; [runs] process in the configuration asks for this process",
        ),
    }
}

/// Starts a process, and waits until its engine and its walls are ready.
async fn begin(program: &WorkerProgram, options: &SandboxOptions) -> Result<Process, EngineError> {
    let (mut process, pipes) = WorkerProcess::start(program).await?;
    let broken = |error: std::io::Error| EngineError::SetUp(error.to_string());
    let to = pipes.stdin.into_owned_fd().and_then(Sender::from_owned_fd).map_err(broken)?;
    let mut from = pipes.stdout.into_owned_fd().and_then(Receiver::from_owned_fd).map_err(broken)?;
    let mut tasks = JoinSet::new();
    tasks.spawn(log(pipes.stderr));
    let (memory, group) = bound_memory(&process, options).await;
    let connection = Connection::new(to, options);
    match connection.greet(to_worker::hello(options), &mut from).await {
        Ok(Greeting::Ready) => {}
        // Only the process of a component reports these.
        Ok(Greeting::Imports(_)) => return Err(EngineError::SetUp("it speaks of a component".to_owned())),
        Ok(Greeting::Failed(reason)) => return Err(EngineError::SetUp(reason)),
        Err(lost) => {
            let how = process.ended().await.0.map(|status| format!(" ({status})")).unwrap_or_default();
            return Err(EngineError::SetUp(format!("{lost}{how}")));
        }
    }
    let pid = process.id();
    let serving = serve(process, connection.clone(), from, tasks, group);
    Ok(Process { connection, pid, memory, serving })
}

/// Serves a process that is ready, until it ends or breaks a rule.
fn serve(
    mut process: WorkerProcess,
    connection: Arc<Connection>,
    from: Receiver,
    tasks: JoinSet<()>,
    group: Option<MemoryGroup>,
) -> AbortHandle {
    let pid = process.id();
    let guard = Serving::new(connection.clone(), pid);
    let serving = tokio::spawn(async move {
        let guard = guard;
        let (_logging, _group) = (tasks, group);
        let lost = connection.serve(from).await;
        if !matches!(lost, Lost::Ended(_)) {
            process.kill();
        }
        let (status, _) = process.ended().await;
        let lost = match (lost, status) {
            (Lost::Ended(_), Some(status)) => Lost::Ended(status.to_string()),
            (lost, _) => lost,
        };
        guard.end(lost);
    });
    serving.abort_handle()
}

/// Puts the process into a memory cgroup, if possible, before it has used any memory. The process
/// limits its mappings itself.
async fn bound_memory(process: &WorkerProcess, options: &SandboxOptions) -> (MemoryBound, Option<MemoryGroup>) {
    let max = memory::most_taken(options);
    let joined = match process.id() {
        Some(pid) => spawn_blocking(move || MemoryGroup::join(pid, max).map_err(|reason| reason.to_string())).await,
        None => Ok(Err("the process has ended".to_owned())),
    };
    match joined.unwrap_or_else(|error| Err(error.to_string())) {
        Ok(group) => {
            tracing::debug!("the engine's process has a memory cgroup: {}", group.folder().display());
            (MemoryBound::Group { max: ByteSize(max) }, Some(group))
        }
        Err(reason) => {
            tracing::debug!("the engine's process has no memory cgroup: {reason}");
            (MemoryBound::Mapped { max: ByteSize(memory::most_mapped(options)), reason }, None)
        }
    }
}

/// Logs the process's stderr within bounds, and skips the rest.
async fn log(stderr: ChildStderr) {
    let mut stderr = BufReader::new(stderr);
    for _ in 0..MAX_LOG_LINES {
        let mut line = Vec::new();
        match (&mut stderr).take(MAX_LOG_LINE).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let line = String::from_utf8_lossy(&line);
        tracing::warn!("the engine's process says: {}", line.trim_end().escape_debug());
    }
    tracing::warn!("the engine's process says more, which is not logged");
    let _ = tokio::io::copy(&mut stderr, &mut tokio::io::sink()).await;
}
