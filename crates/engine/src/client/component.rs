//! A component that others built, in a confined process of its own.
//!
//! The process reads the component, reports its imports, compiles it on request, and runs it. It is
//! never trusted: the reported imports decide only which tools the run is granted, and each call is
//! checked against that here, like the calls of scripts.

use std::{os::unix::process::ExitStatusExt as _, sync::Arc, time::Duration};

use belljar_foreign::{Imports, MAX_COMPONENT_BYTES, Refusal};
use belljar_model::{ByteSize, ErrorKind, Limits, Outcome, RunError};
use belljar_sandbox::{
    Recording, ReplayError, RunRequest, SandboxOptions,
    apart::{self, Keeper},
};
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
use crate::{
    memory,
    protocol::to_worker::{self, Replay},
};

/// A step of a process before it runs anything, and how long it may take.
struct Step {
    done: &'static str,
    doing: &'static str,
    limit: Duration,
}

/// A component is read and validated.
const READ: Step = Step { done: "read", doing: "reading", limit: Duration::from_secs(20) };
/// A component is compiled. One with CPython takes some twenty seconds on two busy cores.
const COMPILE: Step = Step { done: "compiled", doing: "compiling", limit: Duration::from_secs(120) };

/// The signals that end a process that takes more memory than it may: its own, if the system
/// refuses to map more, and that of the system, if it is in a memory cgroup.
const ABORTED: i32 = 6;
const KILLED: i32 = 9;

/// A process that has read a component, but has not run any of it. Dropping it ends the process.
pub struct ComponentProcess {
    process: WorkerProcess,
    connection: Arc<Connection>,
    from: Receiver,
    tasks: JoinSet<()>,
    group: Option<MemoryGroup>,
    options: SandboxOptions,
    imports: Imports,
}

/// Why there is no process for a component.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ComponentError {
    /// The process cannot be started.
    #[error("the process for the component cannot be started: {0}")]
    Start(#[from] StartError),
    /// The system cannot provide the walls, or the process has failed.
    #[error("the process for the component cannot be set up: {0}")]
    SetUp(String),
    /// The component cannot be run.
    #[error("{0}")]
    Refused(RunError),
}

impl ComponentError {
    /// The error for a run that is refused because of this.
    pub fn error(self) -> RunError {
        match self {
            Self::Refused(error) => error,
            other => RunError::new(ErrorKind::Internal, other.to_string())
                .with_hint("belljar doctor says what is missing for processes that run what nobody reviewed"),
        }
    }
}

impl ComponentProcess {
    /// Starts a process and has it read a component. `program` must run in the role in which it
    /// calls [`serve_component`](crate::serve_component).
    ///
    /// # Errors
    /// [`ComponentError`], if the process cannot be set up, or the component cannot be run.
    ///
    /// # Cancellation
    /// Dropping the future kills the process.
    pub async fn start(program: &WorkerProgram, file: &[u8], limits: &Limits) -> Result<Self, ComponentError> {
        if file.len() > MAX_COMPONENT_BYTES {
            let refusal = Refusal::TooLarge { used: file.len(), limit: MAX_COMPONENT_BYTES };
            return Err(ComponentError::Refused(refusal.error()));
        }
        let broken = |error: std::io::Error| ComponentError::SetUp(error.to_string());
        let (mut process, pipes) = WorkerProcess::start(program).await?;
        let to = pipes.stdin.into_owned_fd().and_then(Sender::from_owned_fd).map_err(broken)?;
        let mut from = pipes.stdout.into_owned_fd().and_then(Receiver::from_owned_fd).map_err(broken)?;
        let mut tasks = JoinSet::new();
        tasks.spawn(log(pipes.stderr));
        let options = options(limits);
        let (_, group) = bound_memory(&process, &options).await;
        let connection = Connection::new(to, &options);
        let mut first = to_worker::hello(&options);
        first.extend(to_worker::component(file));
        let greeted = timeout(READ.limit, connection.greet(first, &mut from)).await;
        match said(greeted, &READ, &mut process, &options).await? {
            Greeting::Imports(imports) => {
                Ok(Self { process, connection, from, tasks, group, options, imports: *imports })
            }
            Greeting::Failed(reason) => Err(failed(&reason)),
            Greeting::Ready => Err(ComponentError::SetUp("it was ready before it had read the component".to_owned())),
        }
    }

    /// What the component imports, according to the process.
    pub fn imports(&self) -> &Imports {
        &self.imports
    }

    /// Compiles the component in its process, and runs it. The program's source is an
    /// [`Order`](belljar_foreign::Order), as JSON.
    ///
    /// # Cancellation
    /// Dropping the future ends the process, and aborts its calls.
    pub async fn run(self, request: RunRequest<'_>) -> Outcome {
        let RunRequest { program, limits, tools, mut cancelled } = request;
        let compiled = tokio::select! {
            compiled = self.compiled() => compiled,
            () = &mut cancelled => {
                return Outcome::refused(RunError::new(ErrorKind::Cancelled, "the run was cancelled"));
            }
        };
        let (connection, serving) = match compiled {
            Ok(compiled) => compiled,
            Err(error) => return Outcome::refused(error.error()),
        };
        let keeper = Keeper::new(limits.max_held, None);
        let outcome = connection.run(&program, &limits, tools, keeper, limits.timeout, cancelled).await;
        drop(serving);
        outcome.unwrap_or_else(|| {
            Outcome::refused(ComponentError::SetUp("it ended before the run could begin".to_owned()).error())
        })
    }

    /// Compiles the component in its process, and repeats a recorded run of it. The process's
    /// result is not trusted: the outcome is compared with the recording here.
    ///
    /// # Errors
    /// [`ReplayError`]: the first difference, or why nothing was replayed.
    ///
    /// # Cancellation
    /// Dropping the future ends the process.
    pub async fn replay(self, recording: &Recording, ceiling: &Limits) -> Result<Outcome, ReplayError> {
        let limits = apart::replay_limits(recording, ceiling)?;
        let (connection, serving) = self.compiled().await.map_err(|error| ReplayError::Run(error.error()))?;
        let replay = Replay { source: None, ceiling: ceiling.clone(), recording: recording.bytes() };
        let replayed = connection.replay(&replay, recording, &limits, ceiling.timeout).await;
        drop(serving);
        replayed.unwrap_or_else(|| {
            let lost = ComponentError::SetUp("it ended before the replay could begin".to_owned());
            Err(ReplayError::Run(lost.error()))
        })
    }

    /// The connection to the process, once it has compiled the component.
    async fn compiled(self) -> Result<(Arc<Connection>, Ended), ComponentError> {
        let Self { mut process, connection, mut from, tasks, group, options, .. } = self;
        let compiled = timeout(COMPILE.limit, connection.greet(to_worker::compile(), &mut from)).await;
        match said(compiled, &COMPILE, &mut process, &options).await? {
            Greeting::Ready => {}
            Greeting::Failed(reason) => return Err(failed(&reason)),
            Greeting::Imports(_) => return Err(ComponentError::SetUp("it speaks twice of its imports".to_owned())),
        }
        let serving = Ended(serve(process, connection.clone(), from, tasks, group));
        Ok((connection, serving))
    }
}

/// Ends the task that serves a process, and with it the process.
struct Ended(tokio::task::AbortHandle);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// What a process reports after a step with a component, or why it reports nothing.
async fn said(
    greeted: Result<Result<Greeting, Lost>, tokio::time::error::Elapsed>,
    step: &Step,
    process: &mut WorkerProcess,
    options: &SandboxOptions,
) -> Result<Greeting, ComponentError> {
    let refused =
        |text| ComponentError::Refused(RunError::new(ErrorKind::Usage, text).with_hint("build it with less in it"));
    match greeted {
        Ok(Ok(greeting)) => Ok(greeting),
        Ok(Err(lost @ Lost::Ended(_))) => {
            let status = process.ended().await.0;
            let most = match status.and_then(|status| status.signal()) {
                Some(ABORTED) => memory::most_mapped_by_component(options),
                Some(KILLED) => memory::most_taken(options),
                _ => {
                    let how = status.map(|status| format!(" ({status})")).unwrap_or_default();
                    return Err(ComponentError::SetUp(format!("{lost}{how}")));
                }
            };
            let (doing, most) = (step.doing, ByteSize(most).display().iec());
            Err(refused(format!("{doing} the component took more memory than it may: {most}")))
        }
        Ok(Err(lost)) => Err(ComponentError::SetUp(lost.to_string())),
        Err(_) => Err(refused(format!("the component was not {} within {} s", step.done, step.limit.as_secs()))),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of a component whose process ends in this way before it has read it.
    async fn refused(way: &str) -> RunError {
        let program = WorkerProgram { program: "/bin/sh".into(), arguments: vec!["-c".into(), way.into()] };
        let started = ComponentProcess::start(&program, b"(component)", &Limits::default()).await;
        started.map(|_| ()).expect_err("it has ended").error()
    }

    #[tokio::test]
    async fn too_much_memory_is_the_components_fault_and_any_other_end_of_its_process_is_not() {
        for signal in ["ABRT", "KILL"] {
            let error = refused(&format!("kill -{signal} $$")).await;
            assert_eq!(error.kind, ErrorKind::Usage, "{signal}: {error:?}");
            assert!(error.message.starts_with("reading the component took more memory than it may: "), "{error:?}");
        }
        for (way, says) in [("exit 3", "exit status: 3"), ("kill -SEGV $$", "SIGSEGV")] {
            let error = refused(way).await;
            assert_eq!(error.kind, ErrorKind::Internal, "{way}: {error:?}");
            assert!(error.message.contains(says), "{error:?}");
        }
    }
}
