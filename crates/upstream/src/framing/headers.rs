//! Messages with a `Content-Length` header before each, without ever holding more than the bound.
//!
//! Text between the messages that is not a header is skipped, like noise between lines.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

use crate::framing::{lines::Line, scan::IdScan};

/// The longest header line that is examined.
const HEADER_BYTES: usize = 1024;

/// Reads messages of at most a given length.
#[derive(Debug)]
pub(crate) struct Headers<R> {
    reader: BufReader<R>,
    limit: usize,
    header: Vec<u8>,
    length: Option<usize>,
    body: Vec<u8>,
    step: Step,
}

#[derive(Debug)]
enum Step {
    Headers,
    Body { missing: usize },
    Skipped { missing: usize, scan: IdScan },
    Complete,
}

impl<R: AsyncRead + Unpin> Headers<R> {
    pub(crate) fn new(reader: R, limit: usize) -> Self {
        let reader = BufReader::with_capacity(64 * 1024, reader);
        Self { reader, limit, header: Vec::new(), length: None, body: Vec::new(), step: Step::Headers }
    }

    /// The text of the last [`Line::Whole`].
    pub(crate) fn text(&self) -> &[u8] {
        &self.body
    }

    /// Reads the next message. `None` is the end of the stream, even in the middle of a message.
    ///
    /// # Cancellation
    /// Nothing is lost: a message begun is continued by the next call.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Line>> {
        if let Step::Complete = self.step {
            (self.step, self.body) = (Step::Headers, Vec::new());
        }
        loop {
            match &mut self.step {
                Step::Body { missing: 0 } => {
                    self.step = Step::Complete;
                    return Ok(Some(Line::Whole));
                }
                Step::Skipped { missing: 0, scan } => {
                    let id = std::mem::take(scan).answered();
                    self.step = Step::Complete;
                    return Ok(Some(Line::TooLong(id)));
                }
                _ => {}
            }
            let available = self.reader.fill_buf().await?;
            if available.is_empty() {
                return Ok(None);
            }
            let consumed = match &mut self.step {
                Step::Body { missing } => {
                    let piece = available.get(..available.len().min(*missing)).unwrap_or_default();
                    self.body.extend_from_slice(piece);
                    *missing -= piece.len();
                    piece.len()
                }
                Step::Skipped { missing, scan } => {
                    let piece = available.get(..available.len().min(*missing)).unwrap_or_default();
                    scan.feed(piece);
                    *missing -= piece.len();
                    piece.len()
                }
                Step::Headers | Step::Complete => {
                    let line_break = available.iter().position(|byte| *byte == b'\n');
                    let piece = available.get(..line_break.unwrap_or(available.len())).unwrap_or_default();
                    let room = HEADER_BYTES.saturating_sub(self.header.len());
                    self.header.extend(piece.iter().take(room));
                    let consumed = piece.len() + usize::from(line_break.is_some());
                    if line_break.is_some() {
                        self.step = end_of_header(&self.header, &mut self.length, self.limit);
                        self.header.clear();
                    }
                    consumed
                }
            };
            self.reader.consume(consumed);
        }
    }
}

fn end_of_header(line: &[u8], length: &mut Option<usize>, limit: usize) -> Step {
    let line = line.trim_ascii();
    if line.is_empty() {
        return match length.take() {
            Some(missing) if missing <= limit => Step::Body { missing },
            Some(missing) => Step::Skipped { missing, scan: IdScan::default() },
            None => Step::Headers,
        };
    }
    let header = std::str::from_utf8(line).ok().and_then(|line| line.split_once(':'));
    if let Some((name, value)) = header
        && name.trim().eq_ignore_ascii_case("content-length")
        && let Ok(value) = value.trim().parse()
    {
        *length = Some(value);
    }
    Step::Headers
}

#[cfg(test)]
mod tests {
    use rmcp::model::RequestId;

    use super::*;

    #[tokio::test]
    async fn messages_are_told_apart_by_their_length_whatever_is_between_them() {
        let long = format!(r#"{{"id":5,"result":"{}"}}"#, "x".repeat(100_000));
        let text = format!(
            "noise\n\nContent-Length: 7\r\n\r\n{{\n\"a\":1Content-Type: x\r\ncontent-length:2\r\n\r\n{{}}Content-Length: {}\r\n\r\n{long}\
             Content-Length: 5\r\n\r\nlast!Content-Length: 9\r\n\r\ncut",
            long.len()
        );
        // In pieces as small as a pipe may return.
        let (mut writer, reader) = tokio::io::duplex(3);
        tokio::spawn(async move { tokio::io::AsyncWriteExt::write_all(&mut writer, text.as_bytes()).await });
        let mut messages = Headers::new(reader, 1_000);
        let mut seen = Vec::new();
        while let Some(line) = messages.next().await.expect("memory can be read") {
            seen.push((line, String::from_utf8_lossy(messages.text()).into_owned()));
        }
        let whole = |text: &str| (Line::Whole, text.to_owned());
        let dropped = (Line::TooLong(Some(RequestId::Number(5))), String::new());
        assert_eq!(seen, [whole("{\n\"a\":1"), whole("{}"), dropped, whole("last!")]);
    }
}
