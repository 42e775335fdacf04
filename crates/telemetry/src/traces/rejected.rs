//! What a collector reports about spans that it did not accept, in an answer that is otherwise a
//! success.
//!
//! OTLP calls this `partial_success`. For both protocols, the library that sends only writes it to
//! its own log, so this module listens to that log while a message is being sent.

use std::sync::Arc;

use parking_lot::Mutex;
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    level_filters::LevelFilter,
    span::{Attributes, Id, Record},
};

/// The names of the library's events, in version 0.33.
const EVENTS: [&str; 2] = ["HttpTraceClient.PartialSuccess", "TonicTracesClient.PartialSuccess"];

/// The most bytes of a collector's message.
const MAX_MESSAGE: usize = 1000;

/// What a collector reported.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Rejection {
    /// How many spans it claims to have rejected; the caller must not believe more than were sent.
    pub(super) spans: u64,
    /// The beginning of its message.
    pub(super) message: String,
}

/// Listens for such reports. Other log messages from the sending code are dropped.
#[derive(Clone, Default)]
pub(super) struct Rejections(Arc<Mutex<Option<Rejection>>>);

impl Rejections {
    /// The latest report since the last call.
    pub(super) fn take(&self) -> Option<Rejection> {
        self.0.lock().take()
    }
}

impl Subscriber for Rejections {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && EVENTS.contains(&metadata.name())
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::WARN)
    }

    fn event(&self, event: &Event<'_>) {
        let mut said = Rejection::default();
        event.record(&mut said);
        *self.0.lock() = Some(said);
    }

    // No span is enabled.
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

impl Visit for Rejection {
    fn record_i64(&mut self, field: &Field, value: i64) {
        if field.name() == "rejected_spans" {
            self.spans = u64::try_from(value).unwrap_or(0);
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "error_message" {
            let end = value.floor_char_boundary(MAX_MESSAGE);
            self.message = value.get(..end).unwrap_or_default().to_owned();
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}
