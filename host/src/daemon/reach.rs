//! A command's connection to its daemon: the running one, a new one, or none.

use belljar_daemon::{DaemonClient, RequestError, requests::Stop, start};
use tokio::process::Command;

use super::{
    Place,
    faults::{failed, not_started, unreachable},
};
use crate::{arguments::NoDaemon, environment, failure::Failure, output, setup::Loaded};

/// Connects to the daemon of `loaded`. A daemon of another version, or with an older configuration,
/// is replaced after its running requests have ended. If there is none, it is started if the
/// configuration names servers; the built-in demo does not need one.
pub(crate) async fn reach(loaded: &Loaded, choice: NoDaemon) -> Result<Option<DaemonClient>, Failure> {
    if choice.no_daemon || environment::without_daemon() {
        return Ok(None);
    }
    reach_in_any_case(loaded).await
}

/// The same for a command about the daemon itself.
pub(crate) async fn reach_in_any_case(loaded: &Loaded) -> Result<Option<DaemonClient>, Failure> {
    let place = Place::of(loaded)?;
    match DaemonClient::connect(&place.address).await.map_err(unreachable)? {
        Some(client) if client.hello().fingerprint == place.fingerprint => return Ok(Some(client)),
        Some(client) => {
            let what = if client.hello().version == env!("CARGO_PKG_VERSION") {
                "the configuration has changed"
            } else {
                "belljar has changed"
            };
            output::note(format_args!("{what}: the daemon is replaced when its running requests have ended"));
            stop(client).await?;
        }
        None if loaded.path.is_none() => return Ok(None),
        None => {}
    }
    start_at(&place, loaded).await.map(Some)
}

/// Starts the daemon of `loaded`, or connects to the running one.
pub(crate) async fn start_at(place: &Place, loaded: &Loaded) -> Result<DaemonClient, Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::internal(format!("belljar's own program cannot be found: {error}")))?;
    let mut command = Command::new(program);
    command.args(["daemon", "run"]);
    if let Some(path) = &loaded.path {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        command.arg("--config").arg(path);
    }
    // Not the folder of the first caller: servers without a folder would get a different one each
    // time.
    if let Some(folder) = loaded.folder() {
        command.current_dir(folder);
    }
    start(&place.address, command).await.map_err(not_started)
}

/// Tells a daemon to end, and waits until its running requests have ended.
pub(crate) async fn stop(mut client: DaemonClient) -> Result<(), Failure> {
    match client.ask(&Stop {}).await {
        // If it has hung up, it was ending already.
        Ok(_) | Err(RequestError::Ended { .. } | RequestError::Io(_)) => Ok(()),
        Err(fault) => Err(failed(fault)),
    }
}
