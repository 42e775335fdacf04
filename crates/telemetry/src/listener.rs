//! The task that listens, and what it knows.

use std::sync::Arc;

use belljar_gateway::{RunEvents, Watched};
use belljar_model::{RunEvent, RunId};
use belljar_upstream::ServerStatus;
use parking_lot::Mutex;
use serde::Serialize;
use tokio::sync::broadcast;

use crate::{
    live::{LiveRun, LiveView},
    metrics::{Gauges, Metrics},
};

/// How many updates a view may be behind. A slower view loses older updates, and is told how many.
const UPDATES: usize = 2048;

/// What observers are told.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Update {
    /// An event of a run.
    Run(Arc<RunEvent>),
    /// A child changed its state.
    Child(Arc<ServerStatus>),
    /// Events were lost before they arrived here.
    Lost {
        /// How many.
        events: u64,
    },
}

/// What is known about the runs of this process.
pub struct Telemetry {
    metrics: Mutex<Metrics>,
    /// `None` until somebody wants to see runs.
    live: Mutex<Option<LiveView>>,
    updates: broadcast::Sender<Update>,
}

impl Default for Telemetry {
    fn default() -> Self {
        Self { metrics: Mutex::default(), live: Mutex::default(), updates: broadcast::channel(UPDATES).0 }
    }
}

impl Telemetry {
    /// Listens until no more events can come.
    pub async fn listen(self: Arc<Self>, mut events: RunEvents) {
        while let Some(watched) = events.next().await {
            self.take(watched, || events.live());
        }
    }

    /// The same if some of the runs report their events elsewhere: `live` returns all live runs.
    pub async fn listen_among(self: Arc<Self>, mut events: RunEvents, live: impl Fn() -> Vec<RunId>) {
        while let Some(watched) = events.next().await {
            self.take(watched, &live);
        }
    }

    fn take(&self, watched: Watched, live: impl Fn() -> Vec<RunId>) {
        self.metrics.lock().take(&watched, &live);
        if let Some(view) = &mut *self.live.lock() {
            match &watched {
                Watched::Event(event) => view.take(event),
                Watched::Lost(_) => view.keep_live(&live()),
                Watched::Child(_) => {}
            }
        }
        if self.updates.receiver_count() > 0 {
            let update = match watched {
                Watched::Event(event) => Update::Run(Arc::new(event)),
                Watched::Child(status) => Update::Child(Arc::new(status)),
                Watched::Lost(events) => Update::Lost { events },
            };
            // The last view may be gone by now.
            let _ = self.updates.send(update);
        }
    }

    /// The metrics, in Prometheus' text format.
    pub fn metrics(&self, gauges: &Gauges) -> String {
        self.metrics.lock().text(gauges)
    }

    /// Keeps track of runs from now on, for [`run`](Self::run) and [`runs`](Self::runs).
    pub fn watch_runs(&self) {
        self.live.lock().get_or_insert_default();
    }

    /// A run that is live, or was until recently.
    pub fn run(&self, run: RunId) -> Option<LiveRun> {
        self.live.lock().as_ref()?.run(run)
    }

    /// These runs, latest first, without their calls and logs.
    pub fn runs(&self) -> Vec<LiveRun> {
        self.live.lock().as_ref().map(LiveView::runs).unwrap_or_default()
    }

    /// The updates from now on.
    pub fn updates(&self) -> broadcast::Receiver<Update> {
        self.updates.subscribe()
    }
}
