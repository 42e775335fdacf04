//! What belljar's runs are doing, for those who observe them.
//!
//! There is a single stream of run events, and everything here is derived from it, so that two
//! views cannot disagree. `metrics` turns it into counters and histograms, with `labels` to bound
//! their names, `histogram`, and `exposition` to write them. `live` turns it into the runs of this
//! moment. `listener` is the task that listens. `traces`, with the feature `otlp`, makes spans from
//! the same events, and sends them.
//!
//! Nothing here delays a run: a listener that is too slow loses events, and counts how many.
//! Whatever must not be lost is in the ledger, and does not come from here.

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
