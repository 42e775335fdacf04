//! A child's stderr: always drained, passed on to `tracing`, with its end kept for error messages,
//! and with the secrets of its configuration masked.
//!
//! A pipe that nobody reads blocks its writer, and an inherited terminal is set to non-blocking by
//! some children, which breaks its other users.

use std::{collections::VecDeque, sync::Arc};

use belljar_model::Redactor;
use parking_lot::Mutex;
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    time::Instant,
};

use crate::{limits, pace::LinePace, redaction::redacted_line};

/// The last lines that a child wrote to stderr.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tail(Arc<Mutex<VecDeque<String>>>);

impl Tail {
    /// The lines, oldest first.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().iter().cloned().collect()
    }

    fn push(&self, line: String) {
        let mut lines = self.0.lock();
        lines.push_back(line);
        while lines.len() > limits::STDERR_LINES || lines.iter().map(String::len).sum::<usize>() > limits::STDERR_BYTES
        {
            lines.pop_front();
        }
    }
}

/// Reads `stderr` to its end, line by line.
pub(crate) async fn drain(server: Arc<str>, mut stderr: impl AsyncRead + Unpin, tail: Tail, redactor: Arc<Redactor>) {
    let mut buffer = vec![0; 8 * 1024];
    let mut line = Vec::new();
    let mut pace = LinePace::new(Instant::now());
    loop {
        let read = match stderr.read(&mut buffer).await {
            Ok(0) | Err(_) => break,
            Ok(read) => read,
        };
        for piece in buffer.get(..read).unwrap_or_default().split_inclusive(|byte| *byte == b'\n') {
            // Data beyond the limit is read to recognise a secret that begins before it.
            let room = (limits::STDERR_LINE_BYTES + Redactor::REACH).saturating_sub(line.len());
            line.extend(piece.iter().take(room));
            if piece.ends_with(b"\n") {
                pass_on(&server, &redactor, &line, &tail, &mut pace);
                line.clear();
            }
        }
    }
    pass_on(&server, &redactor, &line, &tail, &mut pace);
    tell_left_out(&server, pace.left_out());
}

fn pass_on(server: &str, redactor: &Redactor, line: &[u8], tail: &Tail, pace: &mut LinePace) {
    let line = redacted_line(&String::from_utf8_lossy(line), limits::STDERR_LINE_BYTES, redactor);
    if !line.is_empty() {
        if let Some(left_out) = pace.admit(Instant::now()) {
            tell_left_out(server, left_out);
            tracing::info!(target: "belljar::child", server, "{line}");
        }
        tail.push(line);
    }
}

fn tell_left_out(server: &str, lines: u64) {
    if lines > 0 {
        tracing::info!(target: "belljar::child", server, "{lines} lines left out: it writes too many to stderr");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn tail_of(text: &[u8]) -> Vec<String> {
        let tail = Tail::default();
        drain("test".into(), text, tail.clone(), Arc::new(Redactor::new(["sesame-open"]))).await;
        tail.lines()
    }

    #[tokio::test]
    async fn the_last_lines_are_kept_within_bounds() {
        let many: String = (0..100).map(|number| format!("line {number}\n")).collect();
        let tail = tail_of(many.as_bytes()).await;
        assert_eq!((tail.len(), tail.last().map(String::as_str)), (limits::STDERR_LINES, Some("line 99")));
        let long = "x".repeat(100_000);
        let tail = tail_of(format!("{long}\n{long}\n{long}\n{long}\n{long}\nend").as_bytes()).await;
        assert!(tail.iter().map(String::len).sum::<usize>() <= limits::STDERR_BYTES);
        assert_eq!(tail.last().map(String::as_str), Some("end"));
        assert_eq!(tail_of(b"\xff\xfe \x1b[31mred\n\n").await, ["\u{fffd}\u{fffd} red"]);
    }

    #[tokio::test]
    async fn secrets_are_masked_wherever_a_line_is_cut() {
        assert_eq!(tail_of(b"key sesame\x1b[31m-open\nx").await, ["key [redacted]", "x"]);
        for before in limits::STDERR_LINE_BYTES - 15..limits::STDERR_LINE_BYTES + 5 {
            let tail = tail_of(format!("{}sesame-open{}", ".".repeat(before), "x".repeat(5_000)).as_bytes()).await;
            assert!(!tail.concat().contains("se"), "{before}: {tail:?}");
        }
    }
}
