//! Logins at remote servers, by OAuth 2.1: discovery, registration and PKCE are rmcp's; what is
//! here is where tokens are kept, how requests are made, and that no two processes renew a token at
//! the same time. (`documents` makes the same requests for belljar's own clients: those of the
//! authorization server that signs their tokens.)
//!
//! Tokens are in a file that its owner alone can read. A system keyring would ask its user, or not
//! be there, at a moment when nobody sits before the screen, since an MCP client starts belljar;
//! and on Linux it is another program's. No token is in a message or a log. Nothing is sent but
//! over https or to this machine.

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
