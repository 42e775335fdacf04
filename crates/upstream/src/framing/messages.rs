//! Whole messages of a child, in either framing.

use std::io;

use belljar_model::Framing;
use rmcp::model::RequestId;
use tokio::{io::AsyncRead, sync::mpsc};

use crate::framing::{
    headers::Headers,
    lines::{Line, Lines},
};

/// A message that came whole from elsewhere.
#[derive(Debug)]
pub(crate) enum Frame {
    /// Its text.
    Whole(Vec<u8>),
    /// It was too long and was discarded. If it answered a request, this is the request's id.
    TooLong(Option<RequestId>),
}

/// The source of a child's messages.
#[derive(Debug)]
pub(crate) enum Messages<R> {
    Lines(Lines<R>),
    Headers(Headers<R>),
    Frames { incoming: mpsc::Receiver<Frame>, last: Vec<u8> },
}

impl<R: AsyncRead + Unpin> Messages<R> {
    /// Reads messages of at most `limit` bytes.
    pub(crate) fn new(reader: R, framing: Framing, limit: usize) -> Self {
        match framing {
            Framing::Lines => Self::Lines(Lines::new(reader, limit)),
            Framing::ContentLength => Self::Headers(Headers::new(reader, limit)),
        }
    }

    /// Reads the next message. `None` is the end.
    ///
    /// # Cancellation
    /// Nothing is lost.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Line>> {
        match self {
            Self::Lines(lines) => lines.next().await,
            Self::Headers(headers) => headers.next().await,
            Self::Frames { incoming, last } => Ok(incoming.recv().await.map(|frame| match frame {
                Frame::Whole(text) => {
                    *last = text;
                    Line::Whole
                }
                Frame::TooLong(id) => Line::TooLong(id),
            })),
        }
    }

    /// The text of the last [`Line::Whole`].
    pub(crate) fn text(&self) -> &[u8] {
        match self {
            Self::Lines(lines) => lines.text(),
            Self::Headers(headers) => headers.text(),
            Self::Frames { last, .. } => last,
        }
    }
}
