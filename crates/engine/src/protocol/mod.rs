//! The messages between the gateway and the engine's process.
//!
//! Frames go both ways over two pipes: a header of [`frame::HEADER_BYTES`] (the body's length, the
//! kind, the run), then the body. A body is a sequence of fields: numbers as little-endian bytes,
//! texts with their length in front ([`bytes`]).
//!
//! The two directions differ. The process trusts the gateway. The gateway trusts nothing: if there
//! is a hole in the WebAssembly engine, an attacker may be writing these messages. So every length
//! is checked before anything is allocated ([`bounds::bound`]), tools are given by their index
//! among the run's granted tools, and whatever does not follow the rules ends the process.

pub(crate) mod bounds;
pub(crate) mod bytes;
pub(crate) mod frame;
pub(crate) mod from_worker;
pub(crate) mod outbox;
pub(crate) mod replayed;
pub(crate) mod to_worker;

/// Why a frame is malformed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Malformed {
    #[error("a field ends after the frame does")]
    Short,
    #[error("something follows the last field")]
    Long,
    #[error("a text is not UTF-8")]
    Text,
    #[error("a tag has a value that means nothing")]
    Tag,
    #[error("a count or a length is over its limit")]
    Limit,
    #[error("a JSON text is not one, or not within its bounds")]
    Json,
}
