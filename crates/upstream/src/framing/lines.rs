//! Lines of bounded length from a stream, without ever holding more than the bound.

use std::io;

use rmcp::model::RequestId;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

use crate::framing::scan::IdScan;

/// One line was read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// It is in [`Lines::text`], without its line break.
    Whole,
    /// It was too long and was discarded. If it answered a request, this is the request's id.
    TooLong(Option<RequestId>),
}

/// Reads lines of at most a given length.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    reader: BufReader<R>,
    limit: usize,
    line: Vec<u8>,
    is_complete: bool,
    overflow: Option<IdScan>,
}

/// A buffer that a large answer has grown is freed when it is larger than this.
const KEPT_CAPACITY: usize = 256 * 1024;

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(reader: R, limit: usize) -> Self {
        let reader = BufReader::with_capacity(64 * 1024, reader);
        Self { reader, limit, line: Vec::new(), is_complete: false, overflow: None }
    }

    /// The text of the last [`Line::Whole`].
    pub(crate) fn text(&self) -> &[u8] {
        &self.line
    }

    /// Reads the next line. `None` is the end of the stream; a last line without a line break
    /// counts as a line.
    ///
    /// # Cancellation
    /// Nothing is lost: a line begun is continued by the next call.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Line>> {
        if self.is_complete {
            self.is_complete = false;
            self.line.clear();
            self.line.shrink_to(KEPT_CAPACITY);
        }
        loop {
            let available = self.reader.fill_buf().await?;
            let is_end = available.is_empty();
            let line_break = available.iter().position(|byte| *byte == b'\n');
            let piece = available.get(..line_break.unwrap_or(available.len())).unwrap_or_default();
            if let Some(scan) = &mut self.overflow {
                scan.feed(piece);
            } else if self.line.len() + piece.len() > self.limit {
                let mut scan = IdScan::default();
                scan.feed(&self.line);
                scan.feed(piece);
                self.overflow = Some(scan);
                self.line = Vec::new();
            } else {
                self.line.extend_from_slice(piece);
            }
            let consumed = piece.len() + usize::from(line_break.is_some());
            self.reader.consume(consumed);
            if is_end && self.line.is_empty() && self.overflow.is_none() {
                return Ok(None);
            }
            if is_end || line_break.is_some() {
                self.is_complete = true;
                return Ok(Some(match self.overflow.take() {
                    Some(scan) => Line::TooLong(scan.answered()),
                    None => Line::Whole,
                }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_line_beyond_the_limit_is_dropped_and_the_next_is_read() {
        let long = format!(r#"{{"id":5,"result":"{}"}}"#, "x".repeat(200_000));
        let text = format!("first\n\n{long}\nlast");
        let mut lines = Lines::new(text.as_bytes(), 100);
        let mut seen = Vec::new();
        while let Some(line) = lines.next().await.expect("memory can be read") {
            seen.push((line, String::from_utf8_lossy(lines.text()).into_owned()));
        }
        let whole = |text: &str| (Line::Whole, text.to_owned());
        let dropped = (Line::TooLong(Some(RequestId::Number(5))), String::new());
        assert_eq!(seen, [whole("first"), whole(""), dropped, whole("last")]);
    }

    #[tokio::test]
    async fn a_cancelled_read_loses_nothing() {
        use tokio::io::AsyncWriteExt;
        let (mut writer, reader) = tokio::io::duplex(16);
        let mut lines = Lines::new(reader, 100);
        writer.write_all(b"half ").await.expect("there is room");
        assert!(futures::poll!(Box::pin(lines.next())).is_pending());
        writer.write_all(b"line\n").await.expect("there is room");
        assert_eq!(lines.next().await.expect("a line"), Some(Line::Whole));
        assert_eq!(lines.text(), b"half line");
    }
}
