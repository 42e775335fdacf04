//! The frames of a WebSocket as messages of the host protocol, and how such a connection is closed.
//!
//! A client whose connection is closed gets a code of RFC 6455 as the reason. It is written after
//! the last answers, and the client has time to read it.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use belljar_host_protocol::{Ends, Line, Sink, Source};
use bytes::Bytes;
use futures::{SinkExt as _, StreamExt as _, stream::SplitSink, stream::SplitStream};
use parking_lot::Mutex;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf},
    sync::Mutex as AsyncMutex,
    time::timeout,
};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        Error, Message,
        error::ProtocolError,
        protocol::{CloseFrame, Role, WebSocketConfig, frame::coding::CloseCode},
    },
};

/// A client that has sent no frame for this long is sent a ping, and has as long again to answer.
const SILENCE: Duration = Duration::from_secs(60);
/// How long a client has to read why its connection is closed. It may still be writing meanwhile.
const LAST_READ: Duration = Duration::from_secs(2);
/// The most bytes that it may still write, which nobody reads.
const UNREAD_BYTES: usize = 64 << 20;
/// How many of those bytes are read at once.
const CHUNK: usize = 16 << 10;

/// A connection that has become a WebSocket.
pub(crate) struct Opened<S> {
    pub(crate) frames: Frames<S>,
    pub(crate) sink: FrameSink<S>,
    pub(crate) closing: Closing,
    pub(crate) stream: Shared<S>,
}

/// Makes a connection a WebSocket, whose messages have at most this many bytes.
pub(crate) async fn opened<S: AsyncRead + AsyncWrite + Unpin + Send>(stream: S, most: usize, ends: Ends) -> Opened<S> {
    let mut config = WebSocketConfig::default();
    config.max_message_size = Some(most);
    config.max_frame_size = Some(most);
    let (stream, closing) = (Shared(Arc::new(Mutex::new(stream))), Closing::default());
    let socket = WebSocketStream::from_raw_socket(stream.clone(), Role::Server, Some(config)).await;
    let (output, input) = socket.split();
    let output = Arc::new(AsyncMutex::new(output));
    let frames = Frames { input, output: output.clone(), closing: closing.clone() };
    Opened { frames, sink: FrameSink { output, closing: closing.clone(), ends }, closing, stream }
}

/// Lets the client read why the connection is closed. If a system closes a connection that still
/// has unread data, the other side may lose what it has not read yet.
pub(crate) async fn let_read<S: AsyncRead + AsyncWrite + Unpin>(mut stream: Shared<S>) {
    let unread = async {
        stream.shutdown().await?;
        let (mut chunk, mut left) = (vec![0; CHUNK], UNREAD_BYTES);
        while left > 0 {
            match stream.read(&mut chunk).await? {
                0 => break,
                read => left = left.saturating_sub(read),
            }
        }
        Ok::<_, io::Error>(())
    };
    match timeout(LAST_READ, unread).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::debug!("a WebSocket broke while it was closed: {error}"),
        Err(_) => tracing::debug!("a client did not hang up after its WebSocket was closed"),
    }
}

/// Why a connection is closed; `None` while it is open, or if there is no reason to give.
#[derive(Debug, Clone, Default)]
pub(crate) struct Closing(Arc<Mutex<Option<(CloseCode, &'static str)>>>);

impl Closing {
    /// Sets the reason. Only the first one counts.
    pub(crate) fn because(&self, code: CloseCode, reason: &'static str) {
        self.0.lock().get_or_insert((code, reason));
    }

    /// Whether a reason was given.
    pub(crate) fn is_said(&self) -> bool {
        self.0.lock().is_some()
    }

    fn frame(&self) -> Option<CloseFrame> {
        self.0.lock().map(|(code, reason)| CloseFrame { code, reason: reason.into() })
    }
}

/// Writes frames: messages, and the pings that ask whether the client is there.
type Output<S> = Arc<AsyncMutex<SplitSink<WebSocketStream<Shared<S>>, Message>>>;

/// The frames of a client.
pub(crate) struct Frames<S> {
    input: SplitStream<WebSocketStream<Shared<S>>>,
    output: Output<S>,
    closing: Closing,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Frames<S> {
    /// The next frame, or `None` at the end, or when the client is silent and does not answer a
    /// ping: a machine that is gone would otherwise keep its place.
    async fn frame(&mut self) -> Option<Result<Message, Error>> {
        if let Ok(frame) = timeout(SILENCE, self.input.next()).await {
            return frame;
        }
        let output = self.output.clone();
        let asked_and_answered = async {
            output.lock().await.send(Message::Ping(Bytes::new())).await.ok()?;
            self.input.next().await
        };
        timeout(SILENCE, asked_and_answered).await.ok().flatten()
    }

    /// Sends the close frame that answers the client's own. The library has prepared it, but only
    /// sends it with the next frame, and there is none, since nothing may follow a close.
    async fn answer_close(&self) {
        let answered = async { answer_close(&mut *self.output.lock().await).await };
        if timeout(LAST_READ, answered).await.is_err() {
            tracing::debug!("a client that closed its WebSocket did not read the answer");
        }
    }
}

async fn answer_close(output: &mut (impl futures::Sink<Message, Error = Error> + Unpin)) {
    if let Err(error) = output.flush().await {
        tracing::debug!("a WebSocket broke while its client closed it: {error}");
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Source for &mut Frames<S> {
    async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            match self.frame().await {
                None | Some(Err(Error::ConnectionClosed)) => return Ok(None),
                Some(Ok(Message::Close(_))) => {
                    self.answer_close().await;
                    return Ok(None);
                }
                Some(Ok(Message::Text(text))) => return Ok(Some(Line::Text(text.as_str().to_owned()))),
                Some(Ok(Message::Binary(_))) => {
                    self.closing.because(CloseCode::Unsupported, "a message is a text frame");
                    return Ok(None);
                }
                // The library answers pings.
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {}
                Some(Err(error)) => {
                    match &error {
                        Error::Capacity(_) => self.closing.because(CloseCode::Size, "a message is too long"),
                        Error::Utf8(_) => self.closing.because(CloseCode::Invalid, "a text frame is not UTF-8"),
                        Error::Protocol(_) => self.closing.because(CloseCode::Protocol, "a frame is malformed"),
                        // The connection is broken: the client could not be told.
                        _ => {}
                    }
                    return Err(io::Error::other(error));
                }
            }
        }
    }
}

/// Sends frames to a client.
pub(crate) struct FrameSink<S> {
    output: Output<S>,
    closing: Closing,
    ends: Ends,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Sink for FrameSink<S> {
    async fn write(&mut self, messages: &[String]) -> io::Result<()> {
        let mut output = self.output.lock().await;
        let written = async {
            for message in messages {
                output.feed(Message::text(message.as_str())).await?;
            }
            output.flush().await
        }
        .await;
        if let Err(Error::Protocol(ProtocolError::SendAfterClosing)) = &written {
            // The client has closed the connection meanwhile.
            answer_close(&mut *output).await;
        }
        written.map_err(io::Error::other)
    }

    async fn close(&mut self) -> io::Result<()> {
        if self.ends.draining.is_cancelled() || self.ends.now.is_cancelled() {
            self.closing.because(CloseCode::Away, "belljar is ending");
        }
        let mut output = self.output.lock().await;
        let closed = match self.closing.frame() {
            Some(frame) => output.send(Message::Close(Some(frame))).await,
            None => output.close().await,
        };
        closed.map_err(io::Error::other)
    }
}

/// A connection that can still be read when its WebSocket no longer reads anything.
pub(crate) struct Shared<S>(Arc<Mutex<S>>);

impl<S> Clone for Shared<S> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Shared<S> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0.lock()).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Shared<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.0.lock()).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0.lock()).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0.lock()).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame of a client, with a mask of zeros.
    fn frame(opcode: u8, payload: &[u8]) -> Vec<u8> {
        let length = u8::try_from(payload.len()).expect("a short one");
        [&[0x80 | opcode, 0x80 | length, 0, 0, 0, 0], payload].concat()
    }

    #[tokio::test]
    async fn a_client_is_told_by_a_code_why_its_connection_is_closed() {
        let too_long = [&[0x81, 0xff][..], &2048_u64.to_be_bytes(), &[0; 4]].concat();
        for (sent, code) in
            [(too_long, 1009), (frame(1, &[0xff, 0xfe]), 1007), (frame(2, b"bytes"), 1003), (frame(7, b""), 1002)]
        {
            let (ours, mut theirs) = tokio::io::duplex(1 << 12);
            let Opened { mut frames, mut sink, closing, .. } = opened(ours, 1 << 10, Ends::default()).await;
            theirs.write_all(&sent).await.expect("it reads");
            let read = (&mut frames).next().await;
            assert!(!matches!(read, Ok(Some(_))), "{code}: {read:?}");
            // The last answers are still sent.
            sink.write(&["{}".to_owned()]).await.expect("it writes");
            sink.close().await.expect("it writes");
            assert!(closing.is_said());
            let mut head = [0; 4];
            theirs.read_exact(&mut head).await.expect("a message");
            assert_eq!(head, [0x81, 2, b'{', b'}']);
            theirs.read_exact(&mut head).await.expect("the end");
            assert_eq!((head[0], u16::from_be_bytes([head[2], head[3]])), (0x88, code));
        }
    }

    #[tokio::test]
    async fn a_client_that_closes_is_answered_also_when_something_is_still_to_be_said() {
        for is_read_first in [true, false] {
            let (ours, mut theirs) = tokio::io::duplex(1 << 12);
            let Opened { mut frames, mut sink, closing, .. } = opened(ours, 1 << 10, Ends::default()).await;
            theirs.write_all(&frame(8, &1000_u16.to_be_bytes())).await.expect("it reads");
            if is_read_first {
                assert!(matches!((&mut frames).next().await, Ok(None)));
            } else {
                assert!(matches!(frames.frame().await, Some(Ok(Message::Close(_)))), "it is not answered yet");
            }
            sink.write(&["{}".to_owned()]).await.expect_err("nothing may follow");
            drop((frames, sink));
            let mut told = Vec::new();
            theirs.read_to_end(&mut told).await.expect("an end");
            assert_eq!(told, [&[0x88, 2][..], &1000_u16.to_be_bytes()].concat());
            assert!(!closing.is_said(), "it was the client who closed it");
        }
    }

    #[tokio::test]
    async fn a_server_that_ends_says_so_and_a_client_that_hung_up_is_told_nothing() {
        for (is_ending, code) in [(true, Some(1001)), (false, None)] {
            let (ours, mut theirs) = tokio::io::duplex(1 << 12);
            let ends = Ends::default();
            let Opened { mut sink, .. } = opened(ours, 1 << 10, ends.clone()).await;
            if is_ending {
                ends.draining.cancel();
            }
            sink.close().await.expect("it writes");
            let mut head = [0; 2];
            theirs.read_exact(&mut head).await.expect("the end");
            let mut rest = vec![0; head[1].into()];
            theirs.read_exact(&mut rest).await.expect("the end");
            let told = rest.first_chunk().map(|code| u16::from_be_bytes(*code));
            assert_eq!((head[0], told), (0x88, code));
        }
    }

    // The clock advances only when no task is ready.
    #[tokio::test(start_paused = true)]
    async fn a_client_that_is_silent_is_asked_and_given_up_if_it_does_not_answer() {
        for answers in [true, false] {
            let (ours, theirs) = tokio::io::duplex(1 << 10);
            let mut server = opened(ours, 1 << 10, Ends::default()).await;
            let mut client = WebSocketStream::from_raw_socket(theirs, Role::Client, None).await;
            let reading = tokio::spawn(async move { (&mut server.frames).next().await });
            if answers {
                // The library answers a ping when it is read.
                assert!(matches!(client.next().await, Some(Ok(Message::Ping(_)))));
                client.send(Message::text("here")).await.expect("it reads");
            }
            let line = reading.await.expect("no panic").expect("no error");
            assert_eq!(line.is_some(), answers);
        }
    }
}
