//! belljar as an MCP server: two tools, whatever the number of children.
//!
//! `server` answers the protocol's requests, and has a `Backend` do what is asked, here or in the
//! daemon. `requests` is what the two tools take, `execute` how a run is carried out, `requester`
//! who asks for it, and `scopes` what their token is good for.
//!
//! `wire` is the connection to the client and bounds what it may have in flight; `over_http` is
//! another way to the same server, `authorization` whose tokens are taken there. `definitions` is
//! what a model reads of the tools, `answer` what it gets of a run, `progress` what a client hears
//! of a long one, which `seen` keeps. `client` passes on what children ask. `asking` says who can
//! be asked about calls, and how: `elicitation` by requests to the client, `rounds` in place of an
//! answer, with what `request_state` seals.

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
mod rounds;
mod scopes;
mod seen;
mod server;
mod wire;

pub(crate) use over_http::OverHttp;
pub(crate) use server::Server;
pub(crate) use wire::Wire;
