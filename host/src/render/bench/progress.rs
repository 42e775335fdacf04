//! A progress bar on a terminal's stderr.

use std::{io::IsTerminal as _, time::Duration};

use belljar_measures::Step;
use indicatif::{ProgressBar, ProgressStyle};

use crate::output;

/// The bar, if there is a terminal.
pub(crate) struct Progress(Option<ProgressBar>);

/// Moves the bar.
pub(crate) struct Told(Option<ProgressBar>);

pub(crate) fn show() -> Progress {
    if output::is_quiet() || !std::io::stderr().is_terminal() {
        return Progress(None);
    }
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("{spinner:.cyan} [{bar:24.cyan/dim}] {msg} {elapsed:.dim}") {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.enable_steady_tick(Duration::from_millis(120));
    Progress(Some(bar))
}

impl Progress {
    pub(crate) fn told(&self) -> Told {
        Told(self.0.clone())
    }

    /// Removes the bar.
    pub(crate) fn end(self) {
        if let Some(bar) = self.0 {
            bar.finish_and_clear();
        }
    }
}

impl Told {
    pub(crate) fn step(&self, step: Step) {
        if let Some(bar) = &self.0 {
            bar.set_length(step.of);
            bar.set_position(step.done);
            bar.set_message(step.what);
        }
    }
}
