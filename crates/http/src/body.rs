//! Reads a request's body, with bounds on its size, its time, and the size of its parsed form.

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};

use crate::{
    Limits,
    shape::{Shape, VALUE_BYTES},
    shares::{Full, Share},
};

/// The deepest nesting of lists and tables. serde_json reads 127 levels, and rmcp reports deeper
/// JSON as an unsupported media type.
pub(crate) const MAX_DEPTH: usize = 100;

/// Why a body was not read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    TooLarge,
    TooSlow,
    TooManyValues,
    TooDeep,
    NoRoom(Full),
    Broken,
}

/// Reads a body. Its share accounts for the bytes and for the parsed form.
pub(crate) async fn read(body: Incoming, limits: &Limits, share: &mut Share) -> Result<Bytes, Unread> {
    let bytes = tokio::time::timeout(limits.body, read_all(body, limits, share));
    let bytes = bytes.await.unwrap_or(Err(Unread::TooSlow))?;
    let Shape { values, depth } = Shape::of(&bytes);
    if values > limits.body_values {
        return Err(Unread::TooManyValues);
    }
    if depth > MAX_DEPTH {
        return Err(Unread::TooDeep);
    }
    share.take(values.saturating_mul(VALUE_BYTES)).map_err(Unread::NoRoom)?;
    Ok(bytes)
}

async fn read_all(mut body: Incoming, limits: &Limits, share: &mut Share) -> Result<Bytes, Unread> {
    let most = u64::try_from(limits.body_bytes).unwrap_or(u64::MAX);
    if body.size_hint().lower() > most {
        return Err(Unread::TooLarge);
    }
    let mut bytes = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| Unread::Broken)?.into_data() else { continue };
        if bytes.len() + data.len() > limits.body_bytes {
            return Err(Unread::TooLarge);
        }
        // Room is taken as the bytes arrive, not as they are announced.
        share.take(data.len()).map_err(Unread::NoRoom)?;
        bytes.extend_from_slice(&data);
    }
    Ok(bytes.freeze())
}
