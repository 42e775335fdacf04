//! The owner's settings for values that live on between runs.

use bytesize::ByteSize;

/// The `[keep]` of a configuration.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KeepSettings {
    /// Whether scripts can keep values. Otherwise the name `keep` does not exist.
    pub enabled: bool,
    /// The most bytes of all values of one principal in one workspace, as JSON, with their names. 8
    /// MiB by default: a run can hold them all several times.
    pub max_bytes: ByteSize,
    /// The most values of one principal in one workspace. 256 by default: more should be one value,
    /// such as a table.
    pub max_keys: u32,
    /// Days after which a value is forgotten if no run has read or written it. 7 by default: work
    /// that is continued after a weekend finds its values.
    pub days: u32,
}

impl KeepSettings {
    /// The highest value of `max_bytes`: a kept value crosses in one piece.
    pub const MOST_BYTES: ByteSize = ByteSize::mib(64);
    /// The highest value of `max_keys`.
    pub const MOST_KEYS: u32 = 10_000;
}

impl Default for KeepSettings {
    fn default() -> Self {
        Self { enabled: true, max_bytes: ByteSize::mib(8), max_keys: 256, days: 7 }
    }
}
