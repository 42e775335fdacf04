//! The page on which an owner sees what belljar does, and decides about calls.
//!
//! `server` listens on the loopback; `embedded` is the same page on another server. `front` takes
//! each request in the same order: where it goes and comes from, whose it is, what it wants, which
//! `reading` reads. `sessions` has the tickets, tokens and confirmations
//! that say whose it is; `files` the page itself, which has no build step; `answer` what every
//! answer says to a browser; `stream` what happens meanwhile. `source` is where all that is shown
//! comes from.
//!
//! It never makes HTML of anything: a browser gets JSON, and the page's scripts make text of it. It
//! asks no other machine.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod answer;
mod embedded;
mod files;
mod front;
mod reading;
mod server;
mod sessions;
mod source;
mod stream;
#[cfg(test)]
mod tests_source;

pub use embedded::{Bearer, EmbeddedPage};
pub use server::{PageHandle, PageServer};
pub use sessions::TICKET_LIVES;
pub use source::{Asked, Decided, Export, NotShown, RunsAsked, SearchAsked, Source, Task, WrittenCall};
