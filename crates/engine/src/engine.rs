//! Runs a script, in this process or in another.

use std::sync::Arc;

use belljar_model::{ErrorKind, Limits, Outcome, RunError};
use belljar_sandbox::{GoingOn, Load, Program, Recording, ReplayError, Run, RunRequest, Runner, Sandbox, Tools};
use futures::future::BoxFuture;

use crate::ProcessEngine;

/// Runs scripts. It is cheap to clone: all clones share one engine.
#[derive(Clone)]
#[non_exhaustive]
pub enum Engine {
    /// A sandbox in this process.
    Here(Arc<Sandbox>),
    /// A sandbox in a confined process of its own, on Unix.
    Apart(Arc<ProcessEngine>),
}

impl Engine {
    /// Runs a script. The run begins when the result is awaited.
    pub fn run(&self, program: impl Into<Program>) -> Run<'_, Self> {
        Run::new(self, program)
    }

    /// How much of the engine's capacity its live runs take. `None` for an engine in a process of
    /// its own, which does not report it.
    pub fn load(&self) -> Option<Load> {
        match self {
            Self::Here(sandbox) => Some(sandbox.load()),
            Self::Apart(_) => None,
        }
    }

    /// Whether a run can be put aside while it waits for people.
    pub fn can_put_aside(&self) -> bool {
        match self {
            Self::Here(_) => true,
            Self::Apart(_) => false,
        }
    }

    /// Resumes a run that was put aside, as [`Sandbox::resume`] does.
    ///
    /// # Errors
    /// [`ReplayError`], if the run did not reach the point where it was put aside. No tool was
    /// called then.
    ///
    /// # Cancellation
    /// As [`Run`].
    pub async fn resume(
        &self,
        recording: &Recording,
        going_on: GoingOn,
        ceiling: &Limits,
        tools: Arc<dyn Tools>,
        cancelled: impl Future<Output = ()> + Send,
    ) -> Result<Outcome, ReplayError> {
        match self {
            Self::Here(sandbox) => sandbox.resume(recording, going_on, ceiling, tools, cancelled).await,
            Self::Apart(_) => {
                let text = "a run that was put aside cannot go on in a separate process";
                Err(ReplayError::Run(RunError::new(ErrorKind::Config, text).with_hint("set process = false in [runs]")))
            }
        }
    }

    /// Repeats a recorded run, within the limits of the caller.
    ///
    /// # Errors
    /// [`ReplayError`]: the first difference, or why nothing was replayed.
    ///
    /// # Cancellation
    /// Dropping the future ends the replay.
    pub async fn replay(&self, recording: &Recording, ceiling: &Limits) -> Result<Outcome, ReplayError> {
        match self {
            Self::Here(sandbox) => sandbox.replay(recording, ceiling).await,
            Self::Apart(process) => process.replay(recording, ceiling).await,
        }
    }

    /// Runs another script against the answers of a recorded run.
    ///
    /// # Errors
    /// As [`Engine::replay`]. The script's own failure is in the outcome.
    ///
    /// # Cancellation
    /// Dropping the future ends the run.
    pub async fn rehearse(
        &self,
        source: &str,
        recording: &Recording,
        ceiling: &Limits,
    ) -> Result<Outcome, ReplayError> {
        match self {
            Self::Here(sandbox) => sandbox.rehearse(source, recording, ceiling).await,
            Self::Apart(process) => process.rehearse(source, recording, ceiling).await,
        }
    }
}

impl Runner for Engine {
    fn begin<'a>(&'a self, request: RunRequest<'a>) -> BoxFuture<'a, Outcome> {
        match self {
            Self::Here(sandbox) => sandbox.begin(request),
            Self::Apart(process) => process.begin(request),
        }
    }
}

impl From<Arc<Sandbox>> for Engine {
    fn from(sandbox: Arc<Sandbox>) -> Self {
        Self::Here(sandbox)
    }
}

impl From<Arc<ProcessEngine>> for Engine {
    fn from(process: Arc<ProcessEngine>) -> Self {
        Self::Apart(process)
    }
}
