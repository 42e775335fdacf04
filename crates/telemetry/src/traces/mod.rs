//! Traces: the spans of requests, runs and calls, sent to a collector with OTLP.
//!
//! A listener makes spans from a toolbox's events (`fold.rs`); requests that no run answers are
//! reported one by one (`requests.rs`). Names and attributes of spans follow OpenTelemetry's
//! conventions for GenAI and MCP. The spans wait in one bounded queue for the task that sends them
//! (`send.rs`, with `rejected.rs` for spans that a collector does not accept); the content of calls
//! has its own bounds (`content.rs`). Where and how spans are sent is configured by the environment
//! variables that all programs with OpenTelemetry use (`settings.rs`).
//!
//! A run never waits for any of this: a span for which there is no room is dropped, and counted.

mod content;
mod fold;
mod rejected;
mod requests;
mod send;
mod settings;

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use belljar_gateway::{RunEvents, Sampling, Watched};
use belljar_model::{ErrorKind, RequestFailure, RequestTrace};
use belljar_upstream::ChildRequest;
use parking_lot::Mutex;
use tokio::{runtime::Handle, sync::watch, task::JoinSet, time::timeout};

use self::{fold::Spans, send::Queue};

pub use self::settings::{TraceSettings, TraceSettingsError, Variables};

/// How long a process that ends may wait for its last spans.
const FINISH: Duration = Duration::from_secs(2);

/// Traces the runs of a process.
pub struct Traces {
    settings: TraceSettings,
    queue: Arc<Queue>,
    tasks: Mutex<Tasks>,
    /// Whether the process is ending.
    ending: watch::Sender<bool>,
}

#[derive(Default)]
struct Tasks {
    listening: JoinSet<()>,
    /// The task that sends, once there is something to listen to.
    sending: JoinSet<()>,
}

/// What happened to the spans of this process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SpanCounts {
    /// Spans that a collector accepted.
    pub sent: u64,
    /// Spans that were lost: there was no room for them, or the collector did not accept them.
    pub lost: u64,
}

impl Traces {
    /// Traces runs according to these settings.
    pub fn new(settings: TraceSettings) -> Self {
        let queue = Arc::new(Queue::new(&settings));
        Self { settings, queue, tasks: Mutex::default(), ending: watch::Sender::new(false) }
    }

    /// Decides which traces are recorded, for the toolboxes whose events are listened to.
    pub fn sampling(&self) -> Arc<dyn Sampling> {
        Arc::new(self.settings.sampler.clone())
    }

    /// Makes spans from these events, which come from [`Toolbox::traced_events`], until there are
    /// no more. It needs a runtime.
    ///
    /// [`Toolbox::traced_events`]: belljar_gateway::Toolbox::traced_events
    pub fn listen(&self, events: RunEvents) {
        let mut tasks = self.tasks.lock();
        while tasks.listening.try_join_next().is_some() {}
        tasks.listening.spawn(listen(events, self.queue.clone(), self.ending.subscribe()));
        self.send(&mut tasks);
    }

    /// Reports the end of a client's request that no run has answered. It needs a runtime.
    pub fn client_request(&self, request: &RequestTrace, began: SystemTime, failure: Option<RequestFailure>) {
        if let Some(span) = requests::of_client(&self.settings.sampler, request, began, failure) {
            self.give(|queue| queue.push(span));
        }
    }

    /// Reports the end of a search: the request that asked for it, if there was one, and the kind
    /// of error, if it failed. It needs a runtime.
    pub fn search(&self, request: Option<&RequestTrace>, began: SystemTime, failed: Option<ErrorKind>) {
        if let Some(span) = requests::of_search(&self.settings.sampler, request, began, failed) {
            self.give(|queue| queue.push(span));
        }
    }

    /// Reports that a child's request was answered or refused. Such spans may take only half of the
    /// queue, because a child may send as many requests as it likes.
    pub fn child_request(&self, request: &ChildRequest) {
        if let Some(span) = requests::of_child(&self.settings.sampler, request) {
            self.give(|queue| queue.push_of_child(span));
        }
    }

    fn give(&self, give: impl FnOnce(&Queue)) {
        // If there is no runtime any more, nothing is sent.
        let is_over = *self.ending.borrow() || Handle::try_current().is_err();
        if is_over {
            return self.queue.lose(1);
        }
        give(&self.queue);
        self.send(&mut self.tasks.lock());
    }

    fn send(&self, tasks: &mut Tasks) {
        // A sender that has panicked is replaced.
        while tasks.sending.try_join_next().is_some() {}
        if tasks.sending.is_empty() {
            tasks.sending.spawn(send::send_all(self.settings.clone(), self.queue.clone()));
        }
    }

    /// What has happened to the spans so far.
    pub fn counts(&self) -> SpanCounts {
        self.queue.counts()
    }

    /// Sends the spans of everything that has happened so far, and ends. It takes at most two
    /// seconds.
    pub async fn finish(&self) {
        let Tasks { mut listening, mut sending } = std::mem::take(&mut *self.tasks.lock());
        self.ending.send_replace(true);
        let ended = async {
            while listening.join_next().await.is_some() {}
            self.queue.close();
            while sending.join_next().await.is_some() {}
        };
        let is_late = timeout(FINISH, ended).await.is_err();
        let lost = self.queue.abandoned();
        if is_late && lost > 0 {
            tracing::warn!("{lost} spans were not sent: the collector did not take them within {FINISH:?}");
        }
    }
}

async fn listen(mut events: RunEvents, queue: Arc<Queue>, mut ending: watch::Receiver<bool>) {
    let mut spans = Spans::of(events.servers().clone());
    let take = |spans: &mut Spans, watched: Watched, events: &RunEvents| match watched {
        Watched::Event(event) => queue.lose(spans.take(event, &mut |span| queue.push(span))),
        Watched::Lost(_) => queue.lose(spans.lose(&events.live())),
        Watched::Child(_) => {}
    };
    loop {
        tokio::select! {
            watched = events.next() => match watched {
                Some(watched) => take(&mut spans, watched, &events),
                None => break,
            },
            _ = ending.wait_for(|is_ending| *is_ending) => break,
        }
    }
    while let Some(watched) = events.next_waiting() {
        take(&mut spans, watched, &events);
    }
    // Runs that had not ended when the process did.
    queue.lose(spans.left());
}
