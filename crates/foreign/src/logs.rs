//! Whatever a component writes to stdout and stderr becomes the logs of its run, within the run's
//! limits.

use std::sync::Arc;

use belljar_model::{Limits, LogEntry, LogLevel, RunStep};
use belljar_sandbox::Tools;
use bytes::Bytes;
use parking_lot::Mutex;
use wasmtime_wasi::{
    async_trait,
    cli::{IsTerminal, StdoutStream},
    p2::{OutputStream, Pollable, StreamResult},
};

/// The most bytes that may be written at once: more than a pipe takes, but little to keep.
const MAX_WRITE: usize = 64 * 1024;
/// The longest line of one entry. A longer line becomes several entries.
const MAX_LINE: usize = 16 * 1024;

/// The logs of a run. Clones share them.
#[derive(Clone)]
pub(crate) struct Logs(Arc<Shared>);

struct Shared {
    max_bytes: u64,
    max_lines: u64,
    tools: Arc<dyn Tools>,
    written: Mutex<Written>,
}

#[derive(Default)]
struct Written {
    entries: Vec<LogEntry>,
    bytes: u64,
    is_cut: bool,
    /// The incomplete lines of stdout and of stderr.
    lines: [Vec<u8>; 2],
}

/// What was written.
pub(crate) struct Ended {
    pub(crate) entries: Vec<LogEntry>,
    pub(crate) bytes: u64,
    pub(crate) lines: u64,
}

impl Logs {
    pub(crate) fn new(limits: &Limits, tools: Arc<dyn Tools>) -> Self {
        let (max_bytes, max_lines) = (limits.max_logs.as_u64(), limits.max_log_lines);
        Self(Arc::new(Shared { max_bytes, max_lines, tools, written: Mutex::default() }))
    }

    pub(crate) fn stdout(&self) -> Stream {
        Stream { logs: self.clone(), is_error: false }
    }

    pub(crate) fn stderr(&self) -> Stream {
        Stream { logs: self.clone(), is_error: true }
    }

    /// All logs, including the last line if it was not ended by a line break.
    pub(crate) fn end(&self) -> Ended {
        let mut written = self.0.written.lock();
        for is_error in [false, true] {
            self.end_line(&mut written, is_error);
        }
        let entries = std::mem::take(&mut written.entries);
        let lines = (entries.len() as u64).saturating_sub(u64::from(written.is_cut));
        Ended { entries, bytes: written.bytes, lines }
    }

    fn write(&self, is_error: bool, mut bytes: &[u8]) {
        let mut written = self.0.written.lock();
        while !bytes.is_empty() && !written.is_cut {
            let line = &mut written.lines[usize::from(is_error)];
            let room = MAX_LINE.saturating_sub(line.len());
            let end = bytes.iter().take(room).position(|byte| *byte == b'\n');
            let taken = end.unwrap_or(room.min(bytes.len()));
            line.extend_from_slice(bytes.get(..taken).unwrap_or_default());
            let is_full = line.len() >= MAX_LINE;
            bytes = bytes.get(taken + usize::from(end.is_some())..).unwrap_or_default();
            if end.is_some() {
                self.keep(&mut written, is_error);
            } else if is_full {
                self.end_line(&mut written, is_error);
            }
        }
    }

    /// Keeps a line, unless it is empty.
    fn end_line(&self, written: &mut Written, is_error: bool) {
        if !written.lines[usize::from(is_error)].is_empty() && !written.is_cut {
            self.keep(written, is_error);
        }
    }

    fn keep(&self, written: &mut Written, is_error: bool) {
        let line = std::mem::take(&mut written.lines[usize::from(is_error)]);
        let level = if is_error { LogLevel::Error } else { LogLevel::Log };
        let mut text = String::from_utf8_lossy(&line).into_owned();
        let left = usize::try_from(self.0.max_bytes.saturating_sub(written.bytes)).unwrap_or(usize::MAX);
        let has_line = (written.entries.len() as u64) < self.0.max_lines;
        let is_whole = has_line && text.len() <= left;
        if has_line {
            let mut end = text.len().min(left);
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            text.truncate(end);
            if is_whole || !text.is_empty() {
                written.bytes += text.len() as u64;
                if self.0.tools.is_watched() {
                    self.0.tools.observe(RunStep::log(level, &text));
                }
                written.entries.push(LogEntry { level, text });
            }
        }
        if !is_whole {
            written.is_cut = true;
            let (bytes, lines) = (self.0.max_bytes, self.0.max_lines);
            let text = format!("[the logs reached their limit of {bytes} bytes or {lines} lines; the rest is cut]");
            written.entries.push(LogEntry { level: LogLevel::Warn, text });
        }
    }
}

/// stdout or stderr.
pub(crate) struct Stream {
    logs: Logs,
    is_error: bool,
}

impl IsTerminal for Stream {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Stream {
    fn async_stream(&self) -> Box<dyn tokio::io::AsyncWrite + Send + Sync> {
        // Only used by WASI 0.3, which is not linked.
        Box::new(tokio::io::sink())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(Self { logs: self.logs.clone(), is_error: self.is_error })
    }
}

#[async_trait]
impl Pollable for Stream {
    async fn ready(&mut self) {}
}

impl OutputStream for Stream {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.logs.write(self.is_error, &bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(MAX_WRITE)
    }
}
