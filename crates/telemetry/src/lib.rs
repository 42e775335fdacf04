//! What belljar's runs do, for those who watch.
//!
//! There is one stream of run events, and everything here is made of it, so that two views cannot
//! disagree. `metrics` folds it into counters and histograms, with `labels` to bound their names,
//! `histogram`, and `exposition` to write them. `live` folds it into the runs of this moment.
//! `listener` is the task that listens. `traces`, with the feature `otlp`, makes spans of the same
//! events, and sends them.
//!
//! Nothing here holds up a run: a listener that is too slow loses events, and counts how many. What
//! must survive is in the ledger and does not come from here.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod exposition;
mod histogram;
mod labels;
mod listener;
mod live;
mod metrics;
#[cfg(feature = "otlp")]
mod traces;

pub use exposition::CONTENT_TYPE;
pub use listener::{Telemetry, Update};
pub use live::{LiveCall, LiveLog, LiveRun};
pub use metrics::{Gauges, Room};
#[cfg(feature = "otlp")]
pub use traces::{SpanCounts, TraceSettings, TraceSettingsError, Traces, Variables};
