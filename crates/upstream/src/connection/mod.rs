//! What is said over a connection, and by whom it may be said.
//!
//! - `link`: what must end with a connection, and how one is made of each transport
//! - `requests`: requests with their time limits; `in_flight`: the calls that have no answer yet;
//!   `listing`: tool lists
//! - `client`: what belljar is to a child; `client_requests`: whose client a child may ask;
//!   `question`: what it may be asked; `input_required`: questions in place of a result
//! - `protocol_revision`: whether a server is greeted with `initialize` or `server/discover`

pub(crate) mod client;
pub(crate) mod client_requests;
pub(crate) mod in_flight;
pub(crate) mod input_required;
pub(crate) mod link;
pub(crate) mod listing;
pub(crate) mod protocol_revision;
mod question;
pub(crate) mod requests;
