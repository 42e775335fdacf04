//! The bytes of a child as bounded messages.
//!
//! - `lines`, `headers`: the two framings; `messages`: either of them, or whole messages
//! - `scan`: the id of a message that is too long to be read
//! - `wire`: the transport for rmcp; `gate`: holds an answer back until its caller takes it

pub(crate) mod gate;
mod headers;
pub(crate) mod lines;
pub(crate) mod messages;
pub(crate) mod scan;
pub(crate) mod wire;
