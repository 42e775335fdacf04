//! The bytes of a child as bounded messages.
//!
//! - `lines`, `headers`: the two ways in which messages are told apart; `messages`: one or the
//!   other, or what came whole
//! - `scan`: the id of a message that is too long to be read
//! - `wire`: what rmcp speaks over; `gate`: holds an answer back until its caller takes it

pub(crate) mod gate;
mod headers;
pub(crate) mod lines;
pub(crate) mod messages;
pub(crate) mod scan;
pub(crate) mod wire;
