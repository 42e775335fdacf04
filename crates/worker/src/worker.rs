//! The parent's side of a worker process.

use std::{process::ExitStatus, time::Duration};

use tokio::{
    io::AsyncReadExt as _,
    process::{Child, ChildStderr, ChildStdin, ChildStdout},
    time::timeout,
};

use crate::{FrameError, FrameReader, FrameWriter, StartError, WorkerProgram, start::start};

/// The most bytes of a worker's stderr that are examined after it has ended.
const STDERR_BYTES: u64 = 4096;
/// How long a worker that has closed its pipes may take to end.
const END: Duration = Duration::from_secs(1);

/// A worker process. Dropping it kills the process.
#[derive(Debug)]
pub struct Worker {
    process: WorkerProcess,
    requests: FrameWriter<ChildStdin>,
    answers: FrameReader<ChildStdout>,
    /// Whether each request has been answered. Otherwise it is unclear what the next frame belongs
    /// to.
    is_in_step: bool,
}

/// The process itself, apart from its pipes. Dropping it kills the process.
#[derive(Debug)]
pub struct WorkerProcess {
    child: Child,
    stderr: Option<ChildStderr>,
}

/// Why a worker gave no answer. It cannot be used again.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// An answer was still missing when the time was over.
    #[error("the worker process had not answered after {limit:?}")]
    TimedOut {
        /// The time limit.
        limit: Duration,
    },
    /// The process has ended: a limit, a signal, or its own fault.
    #[error("the worker process has ended without an answer{}", .status.map(|status| format!(" ({status})")).unwrap_or_default())]
    Ended {
        /// How it ended, if the system says so.
        status: Option<ExitStatus>,
        /// The first bytes of its stderr.
        stderr: String,
    },
    /// The request or the answer is longer than a frame may be.
    #[error(transparent)]
    Frame(FrameError),
    /// An earlier request was abandoned or failed.
    #[error("the worker process has not answered an earlier request")]
    OutOfStep,
}

impl Worker {
    /// Starts a worker whose answers have at most `max_answer` bytes.
    ///
    /// # Errors
    /// The system refuses to start the program. The program's own errors show in the first answer.
    ///
    /// # Cancellation
    /// The process is killed.
    pub async fn start(program: &WorkerProgram, max_answer: usize) -> Result<Self, StartError> {
        let mut child = start(program).await?;
        let pipes = (child.stdin.take(), child.stdout.take());
        let (Some(stdin), Some(stdout)) = pipes else {
            return Err(no_pipes(program));
        };
        let stderr = child.stderr.take();
        Ok(Self {
            process: WorkerProcess { child, stderr },
            requests: FrameWriter::new(stdin),
            answers: FrameReader::new(stdout, max_answer),
            is_in_step: true,
        })
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    /// There is no answer: the worker must be dropped.
    ///
    /// # Cancellation
    /// The worker cannot be used again, and must be dropped.
    pub async fn ask(&mut self, request: &[u8], limit: Duration) -> Result<Vec<u8>, AskError> {
        if !std::mem::replace(&mut self.is_in_step, false) {
            return Err(AskError::OutOfStep);
        }
        let answered = timeout(limit, exchange(&mut self.requests, &mut self.answers, request)).await;
        match answered {
            Ok(Ok(Exchange { answer: Some(answer), all_written })) => {
                self.is_in_step = all_written;
                Ok(answer)
            }
            Ok(Err(error @ FrameError::TooLong { .. })) => Err(AskError::Frame(error)),
            Ok(Ok(Exchange { answer: None, .. }) | Err(FrameError::Io(_))) => {
                let (status, stderr) = self.process.ended().await;
                Err(AskError::Ended { status, stderr })
            }
            Err(_) => Err(AskError::TimedOut { limit }),
        }
    }

    /// Whether it can be used.
    pub fn is_in_step(&self) -> bool {
        self.is_in_step
    }

    /// Its pid, while it is running.
    pub fn id(&self) -> Option<u32> {
        self.process.id()
    }

    /// The process and its two pipes, for callers that exchange more than one answer for each
    /// request.
    pub fn into_parts(self) -> (WorkerProcess, FrameWriter<ChildStdin>, FrameReader<ChildStdout>) {
        (self.process, self.requests, self.answers)
    }
}

/// Our ends of a worker's pipes.
#[derive(Debug)]
pub struct WorkerPipes {
    /// What it reads.
    pub stdin: ChildStdin,
    /// What it writes.
    pub stdout: ChildStdout,
    /// Its stderr. If nobody reads it, the worker blocks.
    pub stderr: ChildStderr,
}

impl WorkerProcess {
    /// Starts a worker that does not exchange one answer for each request.
    ///
    /// # Errors
    /// The system refuses to start the program.
    ///
    /// # Cancellation
    /// The process is killed.
    pub async fn start(program: &WorkerProgram) -> Result<(Self, WorkerPipes), StartError> {
        let mut child = start(program).await?;
        match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
            (Some(stdin), Some(stdout), Some(stderr)) => {
                Ok((Self { child, stderr: None }, WorkerPipes { stdin, stdout, stderr }))
            }
            _ => Err(no_pipes(program)),
        }
    }

    /// Kills the process, unless it has ended by itself.
    pub fn kill(&mut self) {
        // A process that has just ended needs no signal.
        let _ = self.child.start_kill();
    }

    /// Its pid, while it is running.
    pub fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// How a process that has closed its pipes ended, and the first bytes of its stderr. It is
    /// killed if it continues. Without a status, even that has not ended it yet.
    pub async fn ended(&mut self) -> (Option<ExitStatus>, String) {
        let mut complaint = Vec::new();
        if let Some(stderr) = self.stderr.take() {
            // What was read by then is reported.
            let _ = timeout(END, stderr.take(STDERR_BYTES).read_to_end(&mut complaint)).await;
        }
        let status = match timeout(END, self.child.wait()).await {
            Ok(status) => status.ok(),
            Err(_) => {
                // A process that has just ended by itself needs no signal.
                let _ = self.child.start_kill();
                // A process that is blocked in a system call ends when that does, which may never
                // happen.
                timeout(END, self.child.wait()).await.ok().and_then(Result::ok)
            }
        };
        (status, String::from_utf8_lossy(&complaint).into_owned())
    }
}

fn no_pipes(program: &WorkerProgram) -> StartError {
    let source = std::io::Error::other("it has no pipes");
    StartError::CannotExecute { program: program.program.clone(), source }
}

struct Exchange {
    answer: Option<Vec<u8>>,
    all_written: bool,
}

/// Writes the request while the answer is awaited: a worker that refuses early does not read all of
/// it.
async fn exchange(
    requests: &mut FrameWriter<ChildStdin>,
    answers: &mut FrameReader<ChildStdout>,
    request: &[u8],
) -> Result<Exchange, FrameError> {
    let mut answer = std::pin::pin!(answers.receive());
    let written = tokio::select! {
        written = requests.send(request) => written,
        answer = &mut answer => return Ok(Exchange { answer: answer?, all_written: false }),
    };
    match written {
        Err(error @ FrameError::TooLong { .. }) => Err(error),
        // The answer shows why it does not read all of it.
        Err(FrameError::Io(_)) => Ok(Exchange { answer: answer.await?, all_written: false }),
        Ok(()) => Ok(Exchange { answer: answer.await?, all_written: true }),
    }
}
