//! A connection whose client must keep reading.
//!
//! What a client does not read waits in its session, and blocks the session's other messages. So a
//! client that reads nothing for long loses its connection.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Instant, Sleep, sleep},
};

/// A connection that fails when nothing could be written for so long.
pub struct Patient<S> {
    stream: S,
    patience: Duration,
    /// Since when the client has read nothing although data waits for it.
    waiting: bool,
    timer: Pin<Box<Sleep>>,
}

impl<S> Patient<S> {
    /// A connection whose client may read nothing for so long.
    pub fn new(stream: S, patience: Duration) -> Self {
        Self { stream, patience, waiting: false, timer: Box::pin(sleep(patience)) }
    }

    /// Passes on the result of a write, or a timeout if it has been pending for too long.
    fn judge<T>(&mut self, written: Poll<io::Result<T>>, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.waiting = false;
            return written;
        }
        if !self.waiting {
            self.waiting = true;
            self.timer.as_mut().reset(Instant::now() + self.patience);
        }
        ready!(self.timer.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client reads nothing")))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judge(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.judge(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.judge(flushed, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(context);
        self.judge(shut, context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_client_that_reads_nothing_loses_its_connection_and_one_that_reads_slowly_does_not() {
        let patience = Duration::from_secs(30);
        let (client, server) = duplex(10);
        let mut server = Patient::new(server, patience);
        let began = Instant::now();
        let fault = server.write_all(&[0; 100]).await.expect_err("nobody reads");
        assert_eq!((fault.kind(), began.elapsed()), (io::ErrorKind::TimedOut, patience));
        drop(client);

        let (mut client, server) = duplex(10);
        let mut server = Patient::new(server, patience);
        let reading = async {
            let mut byte = [0];
            for _ in 0..100 {
                tokio::time::sleep(patience - Duration::from_secs(1)).await;
                client.read_exact(&mut byte).await.expect("there is more");
            }
        };
        let (written, ()) = tokio::join!(server.write_all(&[0; 100]), reading);
        written.expect("it is read");
    }
}
