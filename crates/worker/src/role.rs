//! The child's side: a process in its role.

use std::{
    ffi::OsString,
    io::{self, Read as _, Write as _},
};

use crate::{
    Bounds, FrameError,
    frames::{HEADER_BYTES, complete, header, length},
};

/// A process in its role, which reads requests from stdin and writes answers to stdout.
#[derive(Debug)]
pub struct Role {
    bounds: Bounds,
    max_request: usize,
}

/// Why a process cannot take on its role, and must end.
#[derive(Debug, thiserror::Error)]
pub enum BeginError {
    /// It was not started as a worker.
    #[error("belljar starts this by itself")]
    NotAWorker,
    /// The process that started it is gone.
    #[error("the process that wanted this one has ended")]
    Orphaned,
    /// The system refuses a limit.
    #[error("the system refuses to bound this process: {0}")]
    Refused(#[from] io::Error),
}

impl Role {
    /// Gives up what the role does not need. Must be called first, before there is another thread
    /// or an open file.
    ///
    /// `arguments` are those after [`WorkerProgram::arguments`](crate::WorkerProgram::arguments).
    /// Requests have at most `max_request` bytes.
    ///
    /// # Errors
    /// The process was not started as a worker, or cannot be bounded. It must end.
    pub fn begin(
        arguments: impl Iterator<Item = OsString>,
        bounds: Bounds,
        max_request: usize,
    ) -> Result<Self, BeginError> {
        Self::begin_after(arguments, bounds, max_request, || {})
    }

    /// The same for a role that needs an open file: `prepare` opens it, after inherited files were
    /// closed and before the process is bounded and hidden from others.
    ///
    /// # Errors
    /// As [`Role::begin`].
    pub fn begin_after(
        mut arguments: impl Iterator<Item = OsString>,
        bounds: Bounds,
        max_request: usize,
        prepare: impl FnOnce(),
    ) -> Result<Self, BeginError> {
        let parent: Option<u32> = arguments.next().and_then(|argument| argument.to_str()?.parse().ok());
        bounds.apply(parent.ok_or(BeginError::NotAWorker)?, prepare)?;
        Ok(Self { bounds, max_request })
    }

    /// Waits for the next request, and grants the processor time for it. `None` when there will be
    /// no more.
    ///
    /// # Errors
    /// The request is too long or ends early, or the pipe fails: the process must end.
    pub fn receive(&mut self) -> Result<Option<Vec<u8>>, FrameError> {
        let mut stdin = io::stdin().lock();
        let mut header = Vec::with_capacity(HEADER_BYTES);
        (&mut stdin).take(HEADER_BYTES as u64).read_to_end(&mut header)?;
        let Some(length) = length(&header, self.max_request)? else { return Ok(None) };
        self.bounds.grant_processor_time()?;
        let mut frame = Vec::new();
        stdin.take(length as u64).read_to_end(&mut frame)?;
        complete(frame, length).map(Some)
    }

    /// Writes one answer.
    ///
    /// # Errors
    /// The answer is longer than any frame, or nobody reads: the process must end.
    pub fn send(&mut self, answer: &[u8]) -> Result<(), FrameError> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(&header(answer)?)?;
        stdout.write_all(answer)?;
        Ok(stdout.flush()?)
    }
}
