//! What an agent is told. The rules decide what is said, and the daemon whether it is said now.

use std::{path::Path, time::Duration};

use belljar_daemon::{
    DaemonClient as Daemon,
    requests::{AskHook, HookAnswer, Warm},
};
use belljar_hooks::{Decision, NOT_YOURS, SessionStart, ToolUse};
use belljar_model::HookRule;

use crate::{
    daemon::{self, Place},
    environment,
    setup::Loaded,
};

/// How long the beginning of a session waits for a new daemon. A daemon that takes longer still
/// starts.
const START: Duration = Duration::from_secs(2);

/// What is said before a tool call. The configuration is read only if it is needed.
pub(super) async fn before_tool(
    loaded: impl FnOnce() -> Result<Loaded, String>,
    call: &ToolUse,
    wait: Duration,
) -> Result<Decision, String> {
    if belljar_hooks::is_the_owners(call) {
        return Ok(Decision::Deny(NOT_YOURS.to_owned()));
    }
    let loaded = loaded()?;
    let Some(fit) = belljar_hooks::fitting(&loaded.config.hooks, call).next() else { return Ok(Decision::Pass) };
    let question = AskHook { key: fit.key, server: fit.rule.server.clone() };
    let asking = async {
        let mut daemon = running(&loaded).await?.ok_or("no daemon is running")?;
        daemon.ask(&question).await.map_err(|fault| fault.to_string())
    };
    // Only the daemon knows what was said already, and whether the server that the rule leads to
    // can be used.
    match tokio::time::timeout(wait, asking).await {
        Ok(answer) => Ok(match answer? {
            HookAnswer { say: true } => fit.decision(),
            HookAnswer { say: false } => Decision::Pass,
        }),
        Err(_) => Err(format!("the daemon has not answered for {} ms", wait.as_millis())),
    }
}

/// What is said when a session begins. The servers that it will need are started meanwhile.
pub(super) async fn session_start(loaded: &Loaded, session: &SessionStart) -> Decision {
    let folder = session.folder.as_deref().map(Path::new);
    let is_for = |rule: &&HookRule| {
        rule.paths.is_empty()
            || folder.is_some_and(|folder| rule.paths.iter().any(|path| is_in(Path::new(path), folder)))
    };
    let mut servers: Vec<String> =
        loaded.config.hooks.iter().filter(is_for).filter_map(|rule| rule.server.clone()).collect();
    servers.sort();
    servers.dedup();
    let warming = async {
        let mut daemon = match running(loaded).await? {
            Some(daemon) => daemon,
            None if environment::without_daemon() || loaded.config.hooks.is_empty() => return Ok(()),
            // Without a daemon, no rule could say anything in this session.
            None => {
                let place = Place::of(loaded).map_err(|failure| failure.told().0)?;
                daemon::start_at(&place, loaded).await.map_err(|failure| failure.told().0)?
            }
        };
        daemon.ask(&Warm { servers }).await.map(drop).map_err(|fault| fault.to_string())
    };
    match tokio::time::timeout(START, warming).await {
        Ok(Ok(())) => {}
        Ok(Err(why)) => super::complain(&why),
        Err(_) => super::complain(&format!("the daemon has not started for {} s", START.as_secs())),
    }
    let names = loaded.config.servers.iter().map(|server| server.name.as_str());
    belljar_hooks::introduction(names).map_or(Decision::Pass, Decision::Tell)
}

/// Whether a rule's path is, or may be, in the folder in which an agent works.
fn is_in(path: &Path, folder: &Path) -> bool {
    if path.is_absolute() {
        return folder.starts_with(path) || path.starts_with(folder);
    }
    folder.join(path).exists()
}

/// The running daemon, whichever configuration it has read.
async fn running(loaded: &Loaded) -> Result<Option<Daemon>, String> {
    if environment::without_daemon() {
        return Ok(None);
    }
    let place = Place::of(loaded).map_err(|failure| failure.told().0)?;
    Daemon::connect(&place.address).await.map_err(|fault| fault.to_string())
}
