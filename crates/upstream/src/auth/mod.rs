//! Logins at remote servers, by OAuth 2.1. rmcp does discovery, registration and PKCE; this module
//! stores tokens, makes the requests, and ensures that no two processes renew a token at the same
//! time. (`documents` makes the same requests for belljar's own clients: those of the authorization
//! server that signs their tokens.)
//!
//! Tokens are in a file that only its owner can read. A system keyring would prompt the user, or be
//! unavailable, when nobody is at the screen, since an MCP client starts belljar. On Linux it is
//! also a separate program. No token appears in a message or a log. Everything is sent over https
//! or to this machine.

mod callback;
mod documents;
mod http;
mod login;
pub(crate) mod scope;
mod store;
mod token;

pub use documents::{DocumentError, Documents};
pub use login::{LoginError, Pending, begin};
pub(crate) use token::Login;
