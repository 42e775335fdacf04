//! belljar as an MCP server: two tools, whatever the number of children.
//!
//! `server` answers the protocol's requests, and has a `Backend` execute them, here or in the
//! daemon. `requests` has the arguments of the two tools, `execute` executes a run, `requester` is
//! who asks for it, and `scopes` checks their token.
//!
//! `wire` is the connection to the client and bounds what it may have in flight; `over_http` is
//! another way to the same server, `socket` one of the places where it listens, and `authorization`
//! its authorization server. `definitions` is what a model reads about the tools, `answer` its
//! result of a run, `progress` what a client hears of a long one, collected by `seen`. `workspace`
//! is the workspace of a client, `resources` what it reads of artifacts. `client` passes on
//! questions of children. `asking` decides who can be asked about calls, and how: `elicitation` by
//! requests to the client, `rounds` in place of an answer, with the state that `request_state`
//! seals.

mod answer;
mod asking;
mod authorization;
mod client;
pub(crate) mod definitions;
mod elicitation;
mod execute;
mod over_http;
mod progress;
mod request_state;
mod requester;
mod requests;
mod resources;
mod rounds;
mod scopes;
mod seen;
mod server;
mod socket;
mod wire;
mod workspace;

pub(crate) use over_http::OverHttp;
pub(crate) use server::Server;
pub(crate) use wire::Wire;
pub(crate) use workspace::WorkspaceChoice;
