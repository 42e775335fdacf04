//! Decides who may raise a limit. The owner may, on the command line and in a request to the
//! daemon, which serves nobody else. A client of belljar's MCP server is a model, and a principal
//! is one of many: they may only lower limits.

use std::time::Duration;

use belljar_daemon::requests::{Call, Execute, Origin};
use belljar_gateway::Gateway;
use belljar_model::{Limits, LimitsPatch};

/// The gateway with this run's limits, and the limits still to request from it.
pub(super) fn of_run(gateway: Gateway, configured: &Limits, asked: &Execute) -> (Gateway, LimitsPatch) {
    let is_owner = asked.principal.is_none() && asked.origin != Origin::Serve;
    match is_owner {
        true => (gateway.with_limits(raised(&asked.limits, configured)), LimitsPatch::default()),
        // The gateway refuses anything above its own.
        false => (gateway, asked.limits.clone()),
    }
}

/// How long a single call may take. Only the owner can set that.
pub(super) fn of_call(asked: &Call, configured: &Limits) -> Duration {
    asked.timeout_ms.map_or(configured.call, Duration::from_millis)
}

/// The limits that the owner requests instead of the configured ones.
pub(crate) fn raised(asked: &LimitsPatch, configured: &Limits) -> Limits {
    asked.over(configured)
}
