//! An MCP server over HTTP: both protocol revisions on `/mcp`, in front of rmcp's streamable HTTP.
//!
//! rmcp speaks the protocol. This crate adds what it leaves open: who may connect (`tokens` for
//! tokens that the owner made, `oauth` for those of an authorization server, `guesses`), from which
//! pages (`origin`, `cors`), how many sessions there may be, whom they belong to and how long they
//! last (`sessions`), how many connections and requests may be open and how slow a client may be
//! (`belljar-connections`, `shares`), what a body may contain (`body`, `shape`), and how everything
//! ends (`server`). `refusal` has the answers to rejected requests. `front` defines the order in
//! which a request is handled, and `message` reads the parts of a message that are needed before
//! rmcp reads it. `tasks` keeps calls that outlive their request, for the handlers of this front
//! and of any other. `host` serves another protocol of belljar at the same address, over
//! WebSockets, and `ui` a page for people.
//!
//! This crate knows nothing about tools. It never passes a client's token on, and never trusts a
//! header that a proxy could have set.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod admission;
mod answer;
mod asked_once;
mod body;
mod cors;
mod frames;
mod front;
mod guesses;
mod host;
mod message;
mod metrics;
mod oauth;
mod options;
mod origin;
mod refusal;
mod server;
mod sessions;
mod shape;
mod shares;
mod tasks;
#[cfg(test)]
mod tests;
mod tokens;
mod ui;
mod validity;

pub use admission::{Admission, Principal};
pub use asked_once::AskedOnce;
pub use host::Runners;
pub use metrics::{Metrics, MetricsText};
pub use oauth::{Document, Documents, Need, NotAUrl, OAuthOptions, ResourceServer};
pub use options::{Limits, Options};
pub use server::{Listener, Server};
pub use tasks::{Asks, Call, Ending, Owner, Status, TaskLimits, Tasks};
pub use tokens::{NewToken, Scope, Token, TokenError, Tokens};
pub use ui::{Page, PageAnswer, PageRequest, StillValid};
