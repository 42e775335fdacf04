//! A spinner on a terminal's stderr while children start.

use std::{io::IsTerminal as _, time::Duration};

use belljar_upstream::{ServerState, ServerStatus, Upstream};
use indicatif::{ProgressBar, ProgressStyle};
use tokio::{sync::broadcast::error::RecvError, task::JoinHandle};

use crate::output::{self, visible_line};

/// Follows the states of the children until it is ended.
pub(crate) struct Progress(Option<JoinHandle<()>>);

/// Starts to show which children are starting, if anybody is there to see it.
pub(crate) fn show(upstream: &Upstream) -> Progress {
    if output::is_quiet() || !std::io::stderr().is_terminal() {
        return Progress(None);
    }
    let mut events = upstream.subscribe();
    Progress(Some(tokio::spawn(async move {
        let mut spinner = Spinner::default();
        loop {
            match events.recv().await {
                Ok(status) => spinner.update(&status),
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => break,
            }
        }
    })))
}

impl Progress {
    /// Takes the spinner away.
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
    fn update(&mut self, status: &ServerStatus) {
        self.starting.retain(|name| *name != status.name);
        if status.state == ServerState::Starting {
            self.starting.push(visible_line(&status.name).into_owned());
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
