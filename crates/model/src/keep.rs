//! The owner's settings for values that live on between runs.

use bytesize::ByteSize;

/// The `[keep]` of a configuration.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KeepSettings {
    /// Whether scripts have kept values. Otherwise the name `keep` does not exist.
    pub enabled: bool,
    /// Bytes of all values of one principal in one workspace, as JSON, with their names. 8 MiB: a
    /// run can hold them all, several times.
    pub max_bytes: ByteSize,
    /// Values of one principal in one workspace. 256: more of them belong into one that is a table.
    pub max_keys: u32,
    /// Days after which a value is forgotten that no run has read or written. 7: work that is
    /// picked up after a weekend finds its values.
    pub days: u32,
}

impl KeepSettings {
    /// The most bytes that `max_bytes` can be: a value crosses in one piece.
    pub const MOST_BYTES: ByteSize = ByteSize::mib(64);
    /// The most that `max_keys` can be.
    pub const MOST_KEYS: u32 = 10_000;
}

impl Default for KeepSettings {
    fn default() -> Self {
        Self { enabled: true, max_bytes: ByteSize::mib(8), max_keys: 256, days: 7 }
    }
}
