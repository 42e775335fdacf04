//! What carries messages: each is one line, or one frame.

use std::io;

use belljar_json_rpc::{Line, Lines};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};

/// Where messages come from.
pub trait Source: Send {
    /// The next message, or `None` at the end. A longer message than
    /// [`MAX_LINE_BYTES`](crate::MAX_LINE_BYTES) must not be kept.
    ///
    /// # Errors
    /// The connection is broken.
    ///
    /// # Cancellation
    /// If the future is dropped, no message is lost.
    fn next(&mut self) -> impl Future<Output = io::Result<Option<Line>>> + Send;
}

/// Where messages go.
pub trait Sink: Send {
    /// Writes all messages that wait. It returns once the operating system has them.
    ///
    /// # Errors
    /// The connection is broken.
    fn write(&mut self, messages: &[String]) -> impl Future<Output = io::Result<()>> + Send;

    /// Tells the other end that nothing more will be written, if the carrier can.
    ///
    /// # Errors
    /// The connection is broken.
    fn close(&mut self) -> impl Future<Output = io::Result<()>> + Send {
        std::future::ready(Ok(()))
    }
}

impl<R: AsyncRead + Unpin + Send> Source for Lines<R> {
    fn next(&mut self) -> impl Future<Output = io::Result<Option<Line>>> + Send {
        Self::next(self)
    }
}

/// Writes messages as lines.
#[derive(Debug)]
pub struct LineSink<W> {
    output: W,
    buffer: Vec<u8>,
}

/// The capacity that the buffer keeps between writes: some thousand calls.
const KEPT_BYTES: usize = 1 << 20;

impl<W> LineSink<W> {
    /// Writes to `output`.
    pub fn new(output: W) -> Self {
        Self { output, buffer: Vec::new() }
    }
}

impl<W: AsyncWrite + Unpin + Send> Sink for LineSink<W> {
    async fn write(&mut self, messages: &[String]) -> io::Result<()> {
        self.buffer.clear();
        for message in messages {
            self.buffer.extend_from_slice(message.as_bytes());
            self.buffer.push(b'\n');
        }
        self.output.write_all(&self.buffer).await?;
        self.output.flush().await?;
        self.buffer.clear();
        self.buffer.shrink_to(KEPT_BYTES);
        Ok(())
    }
}
