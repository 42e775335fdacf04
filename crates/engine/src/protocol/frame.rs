//! Frames: a header and a body.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt as _};

/// Body length (4), kind (1), run (8).
pub(crate) const HEADER_BYTES: usize = 13;

/// A frame's header, before its body is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) length: u32,
    pub(crate) kind: u8,
    /// The run that it belongs to; 0 for none.
    pub(crate) run: u64,
}

/// A frame with this body.
#[cfg(test)]
pub(crate) fn frame(kind: u8, run: u64, body: &[u8]) -> Vec<u8> {
    super::bytes::Writer::frame(kind, run, body.len()).raw(body).finish_frame()
}

impl Header {
    pub(crate) fn parse(bytes: [u8; HEADER_BYTES]) -> Self {
        let [l0, l1, l2, l3, kind, r0, r1, r2, r3, r4, r5, r6, r7] = bytes;
        Self {
            length: u32::from_le_bytes([l0, l1, l2, l3]),
            kind,
            run: u64::from_le_bytes([r0, r1, r2, r3, r4, r5, r6, r7]),
        }
    }

    /// The next header, or `None` if the other side has closed the pipe.
    ///
    /// # Cancellation
    /// Bytes may be lost: after dropping this, do not read on.
    pub(crate) async fn read(from: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<Self>> {
        let mut bytes = [0; HEADER_BYTES];
        match from.read_exact(&mut bytes).await {
            Ok(_) => Ok(Some(Self::parse(bytes))),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Its body. The caller has accepted its length.
    pub(crate) async fn body(&self, from: &mut (impl AsyncRead + Unpin)) -> io::Result<Vec<u8>> {
        let mut body = vec![0; self.length as usize];
        from.read_exact(&mut body).await?;
        Ok(body)
    }

    /// Skips its body.
    pub(crate) async fn skip(&self, from: &mut (impl AsyncRead + Unpin)) -> io::Result<()> {
        let mut body = from.take(u64::from(self.length));
        let skipped = tokio::io::copy(&mut body, &mut tokio::io::sink()).await?;
        if skipped == u64::from(self.length) { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}
