//! Who may raise a limit. The owner may, at the command line and by a request to the daemon, which
//! answers nobody else. Who asks through belljar's MCP server is a model, and who has a principal
//! is one of many: they may ask for less, and for no more.

use std::time::Duration;

use belljar_daemon::requests::{Call, Execute, Origin};
use belljar_gateway::Gateway;
use belljar_model::{Limits, LimitsPatch};

/// The gateway with the limits that this run gets, and what it is still to ask that gateway for.
pub(super) fn of_run(gateway: Gateway, configured: &Limits, asked: &Execute) -> (Gateway, LimitsPatch) {
    let is_owner = asked.principal.is_none() && asked.origin != Origin::Serve;
    match is_owner {
        true => (gateway.with_limits(raised(&asked.limits, configured)), LimitsPatch::default()),
        // The gateway refuses what is beyond its own.
        false => (gateway, asked.limits.clone()),
    }
}

/// How long a single call may take. Only the owner asks for those.
pub(super) fn of_call(asked: &Call, configured: &Limits) -> Duration {
    asked.timeout_ms.map_or(configured.call, Duration::from_millis)
}

/// What the owner asks for in the place of what is configured.
pub(crate) fn raised(asked: &LimitsPatch, configured: &Limits) -> Limits {
    asked.over(configured)
}
