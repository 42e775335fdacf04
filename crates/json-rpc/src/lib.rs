//! JSON-RPC 2.0 as belljar's own protocols speak it: `framing` reads bounded lines, `message` has
//! ids, errors and their codes.
//!
//! The protocols themselves are elsewhere: that of the daemon's socket in `belljar-daemon`, that of
//! `belljar host` in `belljar-host-protocol`. This crate knows no method.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod framing;
mod message;

pub use framing::{Line, Lines};
pub use message::{Advice, Error, Id, MAX_LINE_BYTES, codes, response};
