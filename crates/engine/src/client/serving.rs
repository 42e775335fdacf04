//! Guarantees that runs do not outlive the task that serves their process.

use std::{sync::Arc, thread};

use super::{connection::Connection, lost::Lost};

/// Held by the task that serves a process. Dropping it ends the process's runs, even if the task
/// panics or is aborted: otherwise they would wait forever.
pub(super) struct Serving {
    connection: Arc<Connection>,
    pid: Option<u32>,
    ended: Option<Lost>,
}

impl Serving {
    pub(super) fn new(connection: Arc<Connection>, pid: Option<u32>) -> Self {
        Self { connection, pid, ended: None }
    }

    /// The process has ended.
    pub(super) fn end(mut self, lost: Lost) {
        self.ended = Some(lost);
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let panicked = || thread::panicking().then(|| Lost::Ended("belljar's task that served it panicked".to_owned()));
        let lost = self.ended.take().or_else(|| self.connection.lost()).or_else(panicked);
        match &lost {
            Some(lost) => tracing::error!(self.pid, "{lost}; it is started again for the next run"),
            // The engine was dropped, and its process with it.
            None => tracing::debug!(self.pid, "the engine's process is no longer needed"),
        }
        self.connection.lose_all(&lost.unwrap_or_else(|| Lost::Ended("its engine was dropped".to_owned())));
    }
}
