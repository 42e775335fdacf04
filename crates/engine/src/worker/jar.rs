//! What runs in this process: scripts, or one component.

use belljar_model::{ErrorKind, Limits, Outcome, RunError};
use belljar_sandbox::{Recording, ReplayError, Runner, Sandbox};
use futures::future::BoxFuture;

use crate::protocol::to_worker;

/// Something that runs what the gateway sends.
pub(super) trait Jar: Runner + Send + Sync + 'static {
    /// Repeats a recorded run, whose frame has this body.
    fn replay<'a>(&'a self, body: &'a [u8]) -> BoxFuture<'a, Result<Outcome, ReplayError>>;
}

impl Jar for Sandbox {
    fn replay<'a>(&'a self, body: &'a [u8]) -> BoxFuture<'a, Result<Outcome, ReplayError>> {
        Box::pin(replay(body, self))
    }
}

/// The recorded run to repeat.
pub(super) struct Replay<'a> {
    /// Another script, if it is to run in place of the recorded one.
    pub(super) source: Option<&'a str>,
    pub(super) ceiling: Limits,
    pub(super) recording: Recording,
}

/// Reads the body of such a frame.
pub(super) fn parsed(body: &[u8]) -> Result<Replay<'_>, ReplayError> {
    let unread = |reason: String| ReplayError::Run(RunError::new(ErrorKind::Internal, reason));
    let to_worker::Replay { source, ceiling, recording } =
        to_worker::parse_replay(body).map_err(|error| unread(error.to_string()))?;
    let recording = Recording::read(recording).map_err(|error| unread(error.to_string()))?;
    Ok(Replay { source, ceiling, recording })
}

async fn replay(body: &[u8], sandbox: &Sandbox) -> Result<Outcome, ReplayError> {
    let Replay { source, ceiling, recording } = parsed(body)?;
    match source {
        Some(source) => sandbox.rehearse(source, &recording, &ceiling).await,
        None => sandbox.replay_script(&recording, &ceiling).await,
    }
}
