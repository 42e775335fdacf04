//! The queue of spans, and the task that sends them.

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use opentelemetry_otlp::SpanExporter;
use opentelemetry_sdk::trace::{SpanData, SpanExporter as _};
use parking_lot::Mutex;
use tokio::{
    sync::Notify,
    task::spawn_blocking,
    time::{timeout, timeout_at},
};
use tracing::{Dispatch, instrument::WithSubscriber as _};

use super::{
    SpanCounts, TraceSettings, content,
    rejected::{Rejection, Rejections},
};

/// How often the log reports lost spans.
const SAY_EVERY: Duration = Duration::from_secs(60);

/// The most bytes of content in all spans that wait. More is left out of its span.
const MAX_CONTENT: usize = 16 << 20;

/// The most bytes of content in one message. Collectors accept 4 MiB over gRPC.
const MAX_BATCH_CONTENT: usize = 1 << 20;

/// Spans that wait to be sent.
pub(super) struct Queue {
    state: Mutex<QueueState>,
    changed: Notify,
    max: usize,
    max_batch: usize,
}

#[derive(Default)]
struct QueueState {
    spans: VecDeque<SpanData>,
    /// Bytes of the content of their calls.
    content: usize,
    /// The number of spans that are being sent.
    under_way: usize,
    is_closed: bool,
    counts: SpanCounts,
}

impl QueueState {
    fn batch(&mut self, max: usize) -> Vec<SpanData> {
        let (mut batch, mut carried) = (Vec::new(), 0);
        while carried < MAX_BATCH_CONTENT
            && batch.len() < max
            && let Some(span) = self.spans.pop_front()
        {
            carried += content::bytes_of(&span);
            batch.push(span);
        }
        self.content = self.content.saturating_sub(carried);
        batch
    }
}

impl Queue {
    pub(super) fn new(settings: &TraceSettings) -> Self {
        let (max, max_batch) = (settings.max_queue, settings.max_batch);
        Self { state: Mutex::default(), changed: Notify::new(), max, max_batch }
    }

    /// Adds a span if there is room for it.
    pub(super) fn push(&self, span: SpanData) {
        self.push_below(self.max, span);
    }

    /// Adds a span caused by a child, unless half of the room is taken.
    pub(super) fn push_of_child(&self, span: SpanData) {
        self.push_below(self.max.div_ceil(2), span);
    }

    fn push_below(&self, max: usize, mut span: SpanData) {
        let mut state = self.state.lock();
        if state.spans.len() >= max {
            state.counts.lost += 1;
            return;
        }
        let (before, bytes) = (state.content, content::bytes_of(&span));
        match before.saturating_add(bytes) {
            content if content <= MAX_CONTENT => state.content = content,
            _ => content::take_out(&mut span),
        }
        state.spans.push_back(span);
        let is_full = before < MAX_BATCH_CONTENT && state.content >= MAX_BATCH_CONTENT;
        let has_news = state.spans.len() == 1 || state.spans.len() == self.max_batch || is_full;
        drop(state);
        if has_news {
            self.changed.notify_one();
        }
    }

    /// Counts spans that were never made.
    pub(super) fn lose(&self, spans: u64) {
        if spans == 0 {
            return;
        }
        let mut state = self.state.lock();
        state.counts.lost = state.counts.lost.saturating_add(spans);
    }

    pub(super) fn counts(&self) -> SpanCounts {
        self.state.lock().counts
    }

    /// There will be no more spans.
    pub(super) fn close(&self) {
        self.state.lock().is_closed = true;
        self.changed.notify_one();
    }

    /// Counts all spans that have not been sent as lost, and returns how many there are.
    pub(super) fn abandoned(&self) -> u64 {
        let mut state = self.state.lock();
        let left = (state.spans.len() + std::mem::take(&mut state.under_way)) as u64;
        state.spans.clear();
        state.content = 0;
        state.counts.lost = state.counts.lost.saturating_add(left);
        left
    }

    /// The next spans to send: as many as fit into one message, or those that are there when the
    /// first of them has waited for `delay`. `None` when there are none and no more can come.
    async fn batch(&self, delay: Duration) -> Option<Vec<SpanData>> {
        let mut first: Option<tokio::time::Instant> = None;
        loop {
            {
                let mut state = self.state.lock();
                let waiting = state.spans.len();
                if waiting == 0 && state.is_closed {
                    return None;
                }
                let is_time = first.is_some_and(|first| first.elapsed() >= delay);
                let is_full = waiting >= self.max_batch || state.content >= MAX_BATCH_CONTENT;
                if is_full || (waiting > 0 && (state.is_closed || is_time)) {
                    let batch = state.batch(self.max_batch);
                    state.under_way = batch.len();
                    return Some(batch);
                }
                if waiting > 0 && first.is_none() {
                    first = Some(tokio::time::Instant::now());
                }
            }
            match first {
                // The timeout only means that the delay is over.
                Some(first) => {
                    let _ = timeout_at(first + delay, self.changed.notified()).await;
                }
                None => self.changed.notified().await,
            }
        }
    }

    /// Handles the end of a message, of whose spans the collector reports this many as rejected.
    /// Returns how many are lost.
    fn ended(&self, is_sent: bool, rejected: u64) -> u64 {
        let mut state = self.state.lock();
        let spans = std::mem::take(&mut state.under_way) as u64;
        let lost = if is_sent { rejected.min(spans) } else { spans };
        state.counts.lost = state.counts.lost.saturating_add(lost);
        state.counts.sent = state.counts.sent.saturating_add(spans - lost);
        lost
    }
}

/// Sends all spans of the queue, until it is closed and empty.
pub(super) async fn send_all(settings: TraceSettings, queue: Arc<Queue>) {
    let mut exporter: Option<Result<SpanExporter, String>> = None;
    let mut log = LossLog::default();
    let rejections = Rejections::default();
    let heard = Dispatch::new(rejections.clone());
    while let Some(batch) = queue.batch(settings.delay).await {
        // Most commands trace nothing, and need no client.
        if exporter.is_none() {
            let settings = settings.clone();
            // This reads the system's certificates.
            let made = spawn_blocking(move || settings.exporter()).await;
            exporter = Some(made.unwrap_or_else(|error| Err(error.to_string())));
        }
        let Some(exporter) = &exporter else { continue };
        let spans = batch.len();
        let sent = match exporter {
            Ok(exporter) => match timeout(settings.export, exporter.export(batch).with_subscriber(heard.clone())).await
            {
                Ok(sent) => sent.map_err(|error| error.to_string()),
                Err(_) => Err(format!("it did not answer within {:?}", settings.export)),
            },
            Err(error) => Err(error.clone()),
        };
        let rejection = rejections.take();
        let lost = queue.ended(sent.is_ok(), rejection.as_ref().map_or(0, |rejection| rejection.spans));
        let said = match (&sent, &rejection) {
            // The error may contain the address, with a key after the question mark.
            (Err(error), _) => Some(format!("spans are not sent: {}", error.split('?').next().unwrap_or_default())),
            (Ok(()), Some(Rejection { message, .. })) => Some(match lost {
                0 => format!("the collector of spans says: {message}"),
                _ => format!("the collector rejected {lost} of {spans} spans: {message}"),
            }),
            (Ok(()), None) => None,
        };
        log.say(queue.counts().lost, said);
    }
}

/// Logs that spans are lost, and why, at most once a minute.
#[derive(Default)]
struct LossLog {
    said: Option<Instant>,
    /// How many of the lost spans were already logged.
    lost: u64,
}

impl LossLog {
    /// Reports that this many spans are lost by now, with what is known about the last message.
    fn say(&mut self, lost: u64, said: Option<String>) {
        let has_news = said.is_some() || lost > self.lost;
        if !has_news || self.said.is_some_and(|said| said.elapsed() < SAY_EVERY) {
            return;
        }
        (self.said, self.lost) = (Some(Instant::now()), lost);
        let said = said.unwrap_or_else(|| "there are more spans than are sent".to_owned());
        tracing::warn!("{} ({lost} spans lost so far)", belljar_model::display::line(&said));
    }
}
