//! The messages of a connection, and who may send them.
//!
//! - `link`: the resources of a connection, and how one is made for each transport
//! - `requests`: requests with their time limits; `in_flight`: the calls that have no answer yet;
//!   `listing`: tool lists
//! - `client`: belljar as the client of a child; `client_requests`: whose client a child may ask;
//!   `question`: what it may be asked; `input_required`: questions instead of a result;
//!   `answering`: reports these requests
//! - `protocol_revision`: whether a server is greeted with `initialize` or `server/discover`

pub(crate) mod answering;
pub(crate) mod client;
pub(crate) mod client_requests;
pub(crate) mod in_flight;
pub(crate) mod input_required;
pub(crate) mod link;
pub(crate) mod listing;
pub(crate) mod protocol_revision;
mod question;
pub(crate) mod requests;
