//! Starts a daemon: exactly once, however many commands need one, and detached from any terminal.

use std::{process::Stdio, time::Duration};

use serde::{Deserialize, Serialize};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    process::Command,
    time::timeout,
};

use crate::{Address, ConnectError, DaemonClient, Lock, LockError, platform};

/// How long another command may take to start the daemon that this one also needs.
const PATIENCE_FOR_OTHERS: Duration = Duration::from_secs(120);
/// How long a new daemon may take until it listens. Its predecessor may still be busy.
const PATIENCE_FOR_IT: Duration = Duration::from_secs(100);
/// The longest readiness line.
const MAX_READINESS_BYTES: u64 = 64 << 10;

/// The one line that a daemon writes to its standard output, for the command that started it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Readiness {
    /// It listens.
    Ready,
    /// It cannot listen: what happened, and what to try.
    Failed {
        /// What happened.
        message: String,
        /// What to try.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hint: Option<String>,
    },
}

/// Why no daemon could be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// Another command has been starting one for too long.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// There is a daemon, but it cannot be used.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The program cannot be started.
    #[error("the daemon cannot be started: {0}")]
    Spawn(#[from] std::io::Error),
    /// It ended, and reported why.
    #[error("the daemon did not start: {message}")]
    Failed {
        /// What happened.
        message: String,
        /// What to try.
        hint: Option<String>,
    },
    /// It ended, or reports nothing.
    #[error("the daemon did not start: {0}")]
    Silent(&'static str),
}

/// Connects to the daemon at `address`, and starts it with `program` if none listens.
///
/// If several commands do this at once, one starts the daemon and the others wait. A lock decides
/// which one; the system releases it if its holder dies. `program` must [`detach`](crate::detach),
/// listen, and then write [`Readiness`] to its standard output.
///
/// # Errors
/// [`StartError`], with the daemon's message if it wrote one.
pub async fn start(address: &Address, program: Command) -> Result<DaemonClient, StartError> {
    if let Some(client) = DaemonClient::connect(address).await? {
        return Ok(client);
    }
    let starting = Lock::acquire(&address.starting(), PATIENCE_FOR_OTHERS).await?;
    // Another command may have started it while we waited for the lock.
    if let Some(client) = DaemonClient::connect(address).await? {
        return Ok(client);
    }
    match timeout(PATIENCE_FOR_IT, spawn(program)).await {
        Ok(Ok(Readiness::Ready)) => {}
        Ok(Ok(Readiness::Failed { message, hint })) => return Err(StartError::Failed { message, hint }),
        Ok(Err(fault)) => return Err(fault),
        Err(_) => return Err(StartError::Silent("it has not said that it listens; its log may say why")),
    }
    let client = DaemonClient::connect(address).await?;
    drop(starting);
    client.ok_or(StartError::Silent("it said that it listens, and ended at once; its log may say why"))
}

async fn spawn(mut program: Command) -> Result<Readiness, StartError> {
    program.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = platform::launch(&mut program)?;
    let Some(said) = child.stdout.take() else { return Err(StartError::Silent("it has no standard output")) };
    let mut line = String::new();
    BufReader::new(said.take(MAX_READINESS_BYTES)).read_line(&mut line).await?;
    serde_json::from_str(&line).map_err(|_| StartError::Silent("it ended without a message; its log may say why"))
}

impl Readiness {
    /// Writes this for the waiting command.
    pub async fn say(&self) {
        let line = serde_json::to_string(self).unwrap_or_default();
        let mut stdout = tokio::io::stdout();
        // Even if the command no longer waits, it has started us.
        let _ = stdout.write_all(format!("{line}\n").as_bytes()).await;
        let _ = stdout.flush().await;
    }
}
