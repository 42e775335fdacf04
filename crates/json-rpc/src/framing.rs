//! Reads a client's lines, and keeps none beyond the longest that is allowed.
//!
//! tokio's line codec would do, except that after a line that it rejects it leaves the data behind
//! that line until more is sent: a request in the same chunk would get no answer.

use std::io;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

/// The size of one read: the capacity of a pipe.
const PIECE_BYTES: usize = 64 << 10;

/// Reads lines that are bounded before they are kept.
#[derive(Debug)]
pub struct Lines<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    longest: usize,
    /// Whether the rest of an overlong line is being skipped.
    is_passing_over: bool,
}

/// The content of a line.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// Its text, without the line break.
    Text(String),
    /// It is longer than allowed. This is reported before the line ends.
    TooLong,
    /// It is not UTF-8.
    NoText,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Reads lines of at most `longest` bytes.
    pub fn new(input: R, longest: usize) -> Self {
        let input = BufReader::with_capacity(PIECE_BYTES, input);
        Self { input, line: Vec::new(), longest, is_passing_over: false }
    }

    /// The next line, or `None` at the end.
    ///
    /// # Errors
    /// What the system says of `input`.
    ///
    /// # Cancellation
    /// Nothing is lost: the part of a line that was read is kept here.
    pub async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let piece = self.input.fill_buf().await?;
            if piece.is_empty() {
                // The last line may have no line break.
                return Ok((!self.line.is_empty()).then(|| self.take()));
            }
            let (piece, read, is_whole) = match piece.iter().position(|byte| *byte == b'\n') {
                Some(end) => (piece.get(..end).unwrap_or_default(), end.saturating_add(1), true),
                None => (piece, piece.len(), false),
            };
            let was_passing_over = self.is_passing_over;
            let is_too_long = !was_passing_over && self.line.len().saturating_add(piece.len()) > self.longest;
            if !was_passing_over && !is_too_long {
                self.line.extend_from_slice(piece);
            }
            self.input.consume(read);
            self.is_passing_over = (was_passing_over || is_too_long) && !is_whole;
            if is_too_long {
                self.line = Vec::new();
                return Ok(Some(Line::TooLong));
            }
            if is_whole && !was_passing_over {
                return Ok(Some(self.take()));
            }
        }
    }

    fn take(&mut self) -> Line {
        let mut line = std::mem::take(&mut self.line);
        if line.ends_with(b"\r") {
            line.pop();
        }
        String::from_utf8(line).map_or(Line::NoText, Line::Text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines_of(text: &[u8]) -> Vec<Line> {
        // Pieces of one, two and three bytes, and all at once.
        let mut seen = Vec::new();
        for size in [1, 2, 3, text.len().max(1)] {
            let input = tokio_util::io::StreamReader::new(futures::stream::iter(
                text.chunks(size).map(|piece| Ok::<_, io::Error>(tokio_util::bytes::Bytes::copy_from_slice(piece))),
            ));
            let (mut lines, mut read) = (Lines::new(input, 5), Vec::new());
            while let Some(line) = lines.next().await.expect("no error") {
                read.push(line);
            }
            seen.push(read);
        }
        assert!(seen.iter().all(|read| Some(read) == seen.first()), "{seen:?}");
        seen.remove(0)
    }

    #[tokio::test]
    async fn lines_are_read_whole_and_none_is_kept_that_is_too_long() {
        let text = |text: &str| Line::Text(text.to_owned());
        assert_eq!(lines_of(b"").await, []);
        assert_eq!(lines_of(b"a\r\n\nbcdef\nx").await, [text("a"), text(""), text("bcdef"), text("x")]);
        assert_eq!(
            lines_of(b"123456\n\xff\n123456789\nok\n1234567").await,
            [Line::TooLong, Line::NoText, Line::TooLong, text("ok"), Line::TooLong]
        );
    }
}
