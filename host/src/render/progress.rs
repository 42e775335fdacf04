//! A spinner on a terminal's stderr while children start.

use std::{io::IsTerminal as _, time::Duration};

use belljar_daemon::{DaemonClient, requests::Servers};
use belljar_upstream::{ServerState, Upstream};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Deserialize;
use tokio::{
    sync::broadcast::error::RecvError,
    task::JoinHandle,
    time::{MissedTickBehavior, interval},
};

use crate::output::{self, visible_line};

/// How long to wait before asking a daemon what is starting there. A faster answer needs no
/// spinner.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Follows the states of the children until it is ended.
pub(crate) struct Progress(Option<JoinHandle<()>>);

/// Shows which children are starting, if there is a terminal.
pub(crate) fn show(upstream: &Upstream) -> Progress {
    if !is_seen() {
        return Progress(None);
    }
    let mut events = upstream.subscribe();
    Progress(Some(tokio::spawn(async move {
        let mut spinner = Spinner::default();
        loop {
            match events.recv().await {
                Ok(status) => spinner.update(&status.name, status.state),
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => break,
            }
        }
    })))
}

/// The same for the children of a daemon, while `client` waits for its answer.
pub(crate) fn show_of_daemon(client: &DaemonClient) -> Progress {
    if !is_seen() {
        return Progress(None);
    }
    let address = client.address().clone();
    Progress(Some(tokio::spawn(async move {
        let mut ticks = interval(LOOK_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // The first comes at once.
        ticks.tick().await;
        ticks.tick().await;
        // Errors are reported on the other connection.
        let Ok(Some(mut looking)) = DaemonClient::connect(&address).await else { return };
        let mut spinner = Spinner::default();
        while let Ok(states) = looking.ask(&Servers::default()).await {
            let Ok(Seen { servers }) = serde_json::from_str(states.get()) else { return };
            servers.iter().for_each(|server| spinner.update(&server.name, server.state));
            ticks.tick().await;
        }
    })))
}

/// The shown parts of a daemon's report on its children.
#[derive(Deserialize)]
struct Seen {
    servers: Vec<SeenServer>,
}

#[derive(Deserialize)]
struct SeenServer {
    name: String,
    state: ServerState,
}

fn is_seen() -> bool {
    !output::is_quiet() && std::io::stderr().is_terminal()
}

impl Progress {
    /// Removes the spinner.
    pub(crate) async fn end(self) {
        if let Some(task) = self.0 {
            task.abort();
            // The spinner is gone from the terminal once its task is.
            let _ = task.await;
        }
    }
}

#[derive(Default)]
struct Spinner {
    starting: Vec<String>,
    bar: Option<ProgressBar>,
}

impl Spinner {
    fn update(&mut self, server: &str, state: ServerState) {
        let server = visible_line(server);
        let at = self.starting.iter().position(|name| *name == server);
        match (state, at) {
            (ServerState::Starting, None) => self.starting.push(server.into_owned()),
            (ServerState::Starting, Some(_)) | (_, None) => {}
            (_, Some(at)) => drop(self.starting.remove(at)),
        }
        if self.starting.is_empty() {
            self.clear();
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner:.cyan} starting {msg} {elapsed:.dim}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(80));
            bar
        });
        bar.set_message(self.starting.join(", "));
    }

    fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.clear();
    }
}
