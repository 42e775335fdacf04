//! The page on which an owner sees what belljar does, and decides about calls.
//!
//! `server` listens on the loopback; `embedded` is the same page on another server. `front` handles
//! each request in the same order: where it goes and comes from, who sent it, and what it wants,
//! which `reading` reads. `sessions` has the tickets, tokens and confirmations that identify the
//! sender; `files` has the page itself, which has no build step; `answer` has the headers of every
//! answer; `stream` sends updates. Everything that is shown comes from a `source`.
//!
//! This crate never generates HTML: a browser gets JSON, and the page's scripts turn it into text.
//! It sends no requests to other machines.

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
