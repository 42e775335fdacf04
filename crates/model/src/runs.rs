//! The configuration of how many runs there may be at once.

use std::{num::NonZeroU32, time::Duration};

use bytesize::ByteSize;
use serde::Deserialize;

use crate::limits::optional;

/// The owner's settings for how many runs there may be; unset ones have the sandbox's default.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RunsPatch {
    /// How many runs may be live at once, whether they compute or wait for tools.
    pub max_live: Option<NonZeroU32>,
    /// The memory limits of all live runs together.
    pub live_memory: Option<ByteSize>,
    /// How many runs may compute at once.
    pub max_computing: Option<NonZeroU32>,
    /// How many runs may queue.
    pub max_queued: Option<u32>,
    /// Whether scripts run in a confined process of their own.
    pub process: Option<bool>,
    /// How long a run may queue.
    #[serde(deserialize_with = "optional")]
    pub queue_timeout: Option<Duration>,
}

impl RunsPatch {
    /// All names, for messages.
    pub const NAMES: [&'static str; 6] =
        ["max_live", "live_memory", "max_computing", "max_queued", "queue_timeout", "process"];
}
