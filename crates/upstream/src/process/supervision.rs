//! A supervisor as seen by belljar, and its reports on its child. See
//! [`supervisor`](crate::process::supervisor).

use std::{os::unix::process::ExitStatusExt as _, process::ExitStatus};

use tokio::{
    io::{AsyncBufReadExt as _, BufReader, Take},
    net::unix::pipe::Receiver,
};

use crate::process::{orphans::Known, supervisor::report};

/// The size of all reports of a supervisor, in bytes, with room to spare.
pub(super) const REPORT_BYTES: u64 = 256;

/// A supervisor, and what it reports about its child.
#[derive(Debug)]
pub(super) struct Supervision {
    /// Until it has been waited for.
    pub(super) known: Option<Known>,
    pub(super) lines: BufReader<Take<Receiver>>,
    pub(super) child: Option<u32>,
    pub(super) status: Option<ExitStatus>,
}

impl Supervision {
    /// The child's pid.
    pub(super) fn child(&self) -> Option<u32> {
        self.child
    }

    /// Waits for the supervisor. Returns how the child ended, if it was reported.
    ///
    /// # Cancellation
    /// A partly read line is lost, and the status with it.
    pub(super) async fn ended(&mut self) -> Option<ExitStatus> {
        self.known = None;
        if self.status.is_none() {
            let (word, number) = line(&mut self.lines).await?;
            self.status = (word == report::STATUS).then(|| ExitStatus::from_raw(number));
        }
        self.status
    }

    /// Whether the supervisor ended without reporting the child's end. It reports that once it has
    /// ended everything below itself, so otherwise it was killed, most likely by the child.
    pub(super) fn was_broken_off(&self) -> bool {
        self.status.is_none()
    }
}

/// A line of a report: a word and a number.
pub(super) async fn line(lines: &mut BufReader<Take<Receiver>>) -> Option<(String, i32)> {
    let mut line = String::new();
    lines.read_line(&mut line).await.ok()?;
    let (word, number) = line.trim_end().split_once(' ')?;
    Some((word.to_owned(), number.parse().ok()?))
}
