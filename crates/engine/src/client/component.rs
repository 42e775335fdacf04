//! A component that others built, in a confined process of its own.
//!
//! The process reads the component, says what it imports, compiles it when that is wanted, and runs
//! it. It is never trusted: what it says of imports decides only which tools the run is granted,
//! and each call is held against that here, as the calls of scripts are.

use std::{sync::Arc, time::Duration};

use belljar_foreign::{Imports, MAX_COMPONENT_BYTES, Refusal};
use belljar_model::{ErrorKind, Limits, Outcome, RunError};
use belljar_sandbox::{RunRequest, SandboxOptions, apart::Keeper};
use belljar_worker::{MemoryGroup, StartError, WorkerProcess, WorkerProgram};
use tokio::{
    net::unix::pipe::{Receiver, Sender},
    task::JoinSet,
    time::timeout,
};

use super::{
    bound_memory,
    connection::{Connection, Greeting},
    log,
    lost::Lost,
    serve,
};
use crate::protocol::to_worker;

/// How long a component may be read and validated.
const READ: Duration = Duration::from_secs(20);
/// How long it may be compiled: one of CPython takes some twenty seconds on two busy cores.
const COMPILE: Duration = Duration::from_secs(120);

/// A process that has read a component, and has run nothing of it. Dropping it ends the process.
pub struct ComponentProcess {
    process: WorkerProcess,
    connection: Arc<Connection>,
    from: Receiver,
    tasks: JoinSet<()>,
    group: Option<MemoryGroup>,
    imports: Imports,
}

/// Why a component has no process.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ComponentError {
    /// The process cannot be started.
    #[error("the process for the component cannot be started: {0}")]
    Start(#[from] StartError),
    /// The system cannot provide its walls, or it has failed.
    #[error("the process for the component cannot be set up: {0}")]
    SetUp(String),
    /// The component is not one that can be run.
    #[error("{0}")]
    Refused(RunError),
}

impl ComponentError {
    /// The error of a run that was refused for this.
    pub fn error(self) -> RunError {
        match self {
            Self::Refused(error) => error,
            other => RunError::new(ErrorKind::Internal, other.to_string())
                .with_hint("belljar doctor says what is missing for processes that run what nobody reviewed"),
        }
    }
}

impl ComponentProcess {
    /// Starts a process and has it read a component: `program` in the role in which it calls
    /// [`serve_component`](crate::serve_component).
    ///
    /// # Errors
    /// [`ComponentError`].
    ///
    /// # Cancellation
    /// The process is killed.
    pub async fn start(program: &WorkerProgram, file: &[u8], limits: &Limits) -> Result<Self, ComponentError> {
        if file.len() > MAX_COMPONENT_BYTES {
            let refusal = Refusal::TooLarge { used: file.len(), limit: MAX_COMPONENT_BYTES };
            return Err(ComponentError::Refused(refusal.error()));
        }
        let broken = |error: std::io::Error| ComponentError::SetUp(error.to_string());
        let (process, pipes) = WorkerProcess::start(program).await?;
        let to = pipes.stdin.into_owned_fd().and_then(Sender::from_owned_fd).map_err(broken)?;
        let mut from = pipes.stdout.into_owned_fd().and_then(Receiver::from_owned_fd).map_err(broken)?;
        let mut tasks = JoinSet::new();
        tasks.spawn(log(pipes.stderr));
        let options = options(limits);
        let (_, group) = bound_memory(&process, &options).await;
        let connection = Connection::new(to, &options);
        let mut first = to_worker::hello(&options);
        first.extend(to_worker::component(file));
        let greeted = timeout(READ, connection.greet(first, &mut from)).await;
        match said(greeted, "was not read", READ)? {
            Greeting::Imports(imports) => Ok(Self { process, connection, from, tasks, group, imports: *imports }),
            Greeting::Failed(reason) => Err(failed(&reason)),
            Greeting::Ready => Err(ComponentError::SetUp("it was ready before it had read the component".to_owned())),
        }
    }

    /// What the component imports, as the process says.
    pub fn imports(&self) -> &Imports {
        &self.imports
    }

    /// Has the component compiled, and runs it. The program's source is the text of an
    /// [`Order`](belljar_foreign::Order).
    ///
    /// # Cancellation
    /// Dropping the future ends the process, and aborts its calls.
    pub async fn run(self, request: RunRequest<'_>) -> Outcome {
        let Self { process, connection, mut from, tasks, group, .. } = self;
        let RunRequest { program, limits, tools, mut cancelled } = request;
        let compiled = tokio::select! {
            greeted = timeout(COMPILE, connection.greet(to_worker::compile(), &mut from)) => greeted,
            () = &mut cancelled => {
                return Outcome::refused(RunError::new(ErrorKind::Cancelled, "the run was cancelled"));
            }
        };
        match said(compiled, "was not compiled", COMPILE) {
            Ok(Greeting::Ready) => {}
            Ok(Greeting::Failed(reason)) => return Outcome::refused(failed(&reason).error()),
            Ok(Greeting::Imports(_)) => {
                return Outcome::refused(ComponentError::SetUp("it speaks twice of its imports".to_owned()).error());
            }
            Err(error) => return Outcome::refused(error.error()),
        }
        let serving = Ended(serve(process, connection.clone(), from, tasks, group));
        let keeper = Keeper::new(limits.max_held, None);
        let outcome = connection.run(&program, &limits, tools, keeper, limits.timeout, cancelled).await;
        drop(serving);
        outcome.unwrap_or_else(|| {
            Outcome::refused(ComponentError::SetUp("it ended before the run could begin".to_owned()).error())
        })
    }
}

/// Ends the task that serves a process, and with it the process.
struct Ended(tokio::task::AbortHandle);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn said(
    greeted: Result<Result<Greeting, Lost>, tokio::time::error::Elapsed>,
    what: &str,
    limit: Duration,
) -> Result<Greeting, ComponentError> {
    match greeted {
        Ok(Ok(greeting)) => Ok(greeting),
        // The system ends a process that takes more memory than it may.
        Ok(Err(lost)) => Err(ComponentError::SetUp(lost.to_string())),
        Err(_) => {
            let text = format!("the component {what} within {} s", limit.as_secs());
            let error = RunError::new(ErrorKind::Usage, text).with_hint("build it with less in it");
            Err(ComponentError::Refused(error))
        }
    }
}

/// The refusal that a process reports: its kind, its message and its hint.
fn failed(reason: &str) -> ComponentError {
    match Refusal::reported(reason) {
        Some(error) => ComponentError::Refused(error),
        None => ComponentError::SetUp(reason.to_owned()),
    }
}

/// The options of an engine for one run with these limits.
fn options(limits: &Limits) -> SandboxOptions {
    SandboxOptions { max_live: 1, max_queued: 0, live_memory: limits.memory, ..SandboxOptions::default() }
}
