//! Frames: a length of four bytes, little-endian, followed by that many bytes.
//!
//! A reader has a limit, and refuses a longer frame before it allocates memory for it. Memory grows
//! with the bytes that have really come.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// Bytes of a frame's length.
pub(crate) const HEADER_BYTES: usize = 4;

/// Why a frame could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// It is longer than its reader, or the format, allows.
    #[error("the frame has {used} bytes; the limit is {limit}")]
    TooLong {
        /// Its length in bytes.
        used: usize,
        /// The most bytes that are allowed.
        limit: usize,
    },
    /// The other side is gone, or the pipe failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Writes frames.
#[derive(Debug)]
pub struct FrameWriter<W> {
    to: W,
}

impl<W: AsyncWrite + Unpin> FrameWriter<W> {
    /// A writer of frames into `to`.
    pub fn new(to: W) -> Self {
        Self { to }
    }

    /// Writes one frame.
    ///
    /// # Errors
    /// A frame that is too long for its header, or a pipe that fails.
    ///
    /// # Cancellation
    /// A part of the frame may have been written, so nothing can follow it.
    pub async fn send(&mut self, frame: &[u8]) -> Result<(), FrameError> {
        self.to.write_all(&header(frame)?).await?;
        self.to.write_all(frame).await?;
        Ok(self.to.flush().await?)
    }
}

/// Reads frames of at most so many bytes.
#[derive(Debug)]
pub struct FrameReader<R> {
    from: R,
    max_bytes: usize,
}

impl<R: AsyncRead + Unpin> FrameReader<R> {
    /// A reader of frames of at most `max_bytes` from `from`.
    pub fn new(from: R, max_bytes: usize) -> Self {
        Self { from, max_bytes }
    }

    /// The next frame, or `None` when the other side has closed its end between two frames.
    ///
    /// # Errors
    /// A frame that is too long or ends early, or a pipe that fails.
    ///
    /// # Cancellation
    /// A partly read frame is lost, and nothing after it can be understood.
    pub async fn receive(&mut self) -> Result<Option<Vec<u8>>, FrameError> {
        let mut header = Vec::with_capacity(HEADER_BYTES);
        (&mut self.from).take(HEADER_BYTES as u64).read_to_end(&mut header).await?;
        let Some(length) = length(&header, self.max_bytes)? else { return Ok(None) };
        let mut frame = Vec::new();
        (&mut self.from).take(length as u64).read_to_end(&mut frame).await?;
        complete(frame, length).map(Some)
    }
}

/// The header of a frame.
pub(crate) fn header(frame: &[u8]) -> Result<[u8; HEADER_BYTES], FrameError> {
    let length = u32::try_from(frame.len());
    let too_long = |_| FrameError::TooLong { used: frame.len(), limit: u32::MAX as usize };
    length.map(u32::to_le_bytes).map_err(too_long)
}

/// The length in a header, or `None` if nothing came.
pub(crate) fn length(header: &[u8], limit: usize) -> Result<Option<usize>, FrameError> {
    if header.is_empty() {
        return Ok(None);
    }
    let bytes: [u8; HEADER_BYTES] = header.try_into().map_err(|_| cut_short())?;
    let used = usize::try_from(u32::from_le_bytes(bytes)).unwrap_or(usize::MAX);
    if used > limit { Err(FrameError::TooLong { used, limit }) } else { Ok(Some(used)) }
}

/// The frame, if all of it came.
pub(crate) fn complete(frame: Vec<u8>, length: usize) -> Result<Vec<u8>, FrameError> {
    if frame.len() == length { Ok(frame) } else { Err(cut_short()) }
}

fn cut_short() -> FrameError {
    FrameError::Io(io::Error::new(io::ErrorKind::UnexpectedEof, "the frame ends early"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn frames_are_read_as_they_were_written_until_the_end() {
        let mut bytes = Vec::new();
        for frame in [&b"one"[..], b"", b"three"] {
            FrameWriter::new(&mut bytes).send(frame).await.expect("memory takes all");
        }
        let mut reader = FrameReader::new(bytes.as_slice(), 5);
        for frame in [&b"one"[..], b"", b"three"] {
            assert_eq!(reader.receive().await.expect("a frame").as_deref(), Some(frame));
        }
        assert_eq!(reader.receive().await.expect("the end"), None);
    }

    #[tokio::test]
    async fn a_frame_that_claims_too_much_is_refused_and_takes_no_memory() {
        let claims_all = u32::MAX.to_le_bytes();
        let refused = FrameReader::new(claims_all.as_slice(), 100).receive().await;
        assert!(matches!(refused, Err(FrameError::TooLong { used: 4_294_967_295, limit: 100 })), "{refused:?}");
        // Within the limit, memory is allocated for what arrives.
        let cut_short = FrameReader::new(claims_all.as_slice(), usize::MAX).receive().await;
        assert!(matches!(cut_short, Err(FrameError::Io(_))), "{cut_short:?}");
    }

    #[tokio::test]
    async fn a_frame_that_ends_early_is_an_error() {
        for bytes in [&[1_u8, 0][..], &[2, 0, 0, 0, b'x']] {
            let cut_short = FrameReader::new(bytes, 100).receive().await;
            assert!(matches!(cut_short, Err(FrameError::Io(_))), "{bytes:?}: {cut_short:?}");
        }
    }
}
