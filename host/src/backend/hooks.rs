//! What the daemon does for the hooks of coding agents: it remembers what agents were told, and
//! starts servers before they are needed.

use belljar_daemon::{
    DaemonError, codes,
    requests::{AskHook, HookAnswer, Warm, Warmed},
};
use belljar_upstream::{ServerState, Upstream};

use super::generations::Generations;

/// The most servers that one request starts.
const MAX_SERVERS: usize = 64;

/// Whether a rule says something now.
pub(super) fn answer(generations: &Generations, asked: &AskHook) -> HookAnswer {
    let current = generations.current();
    // No agent is pointed to a server that cannot be used, and then the rule does not count as
    // said.
    let is_usable = asked.server.as_deref().is_none_or(|server| is_usable(current.setup.toolbox.upstream(), server));
    HookAnswer { say: is_usable && asked.key.is_none_or(|key| generations.is_said_first(key)) }
}

/// Whether the server runs, or would be started.
fn is_usable(upstream: &Upstream, server: &str) -> bool {
    let is_down = |state| matches!(state, ServerState::Failing | ServerState::Open | ServerState::Stopping);
    let status = upstream.status();
    let mut instances = status.iter().filter(|status| status.name == server).peekable();
    upstream.names().any(|name| name == server)
        && (instances.peek().is_none() || instances.any(|status| !is_down(status.state)))
}

/// Starts servers without waiting for them.
pub(super) fn warm(generations: &Generations, asked: &Warm) -> Result<Warmed, DaemonError> {
    if asked.servers.len() > MAX_SERVERS {
        let message = format!("at most {MAX_SERVERS} servers can be started at once");
        return Err(DaemonError::new(codes::INVALID_PARAMS, message));
    }
    let current = generations.current();
    let upstream = current.setup.toolbox.upstream();
    upstream.begin_warm();
    let known: Vec<&String> =
        asked.servers.iter().filter(|server| upstream.names().any(|name| name == *server)).collect();
    known.iter().for_each(|server| upstream.begin(server));
    Ok(Warmed { known: known.len() })
}
