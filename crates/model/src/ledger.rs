//! The owner's settings for the ledger of runs.

use std::{fmt, str::FromStr};

use bytesize::ByteSize;

/// How much of each run is kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LedgerLevel {
    /// Nothing.
    Off,
    /// When it ran, how it ended, and for each call its tool, effect, sizes, times and keyed
    /// digests, but no value.
    #[default]
    Calls,
    /// The same, and everything that the run took in, so that it can be replayed.
    Recordings,
}

impl LedgerLevel {
    /// Every level, from the least to the most.
    pub const ALL: [Self; 3] = [Self::Off, Self::Calls, Self::Recordings];

    /// The name used in configurations and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Calls => "calls",
            Self::Recordings => "recordings",
        }
    }
}

impl fmt::Display for LedgerLevel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A name that is none of the levels.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown level '{name}': it is one of off, calls, recordings")]
pub struct UnknownLevel {
    /// What was given.
    pub name: String,
}

impl FromStr for LedgerLevel {
    type Err = UnknownLevel;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|level| level.as_str() == name).ok_or_else(|| UnknownLevel { name: name.to_owned() })
    }
}

/// The `[ledger]` of a configuration.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LedgerSettings {
    /// How much of each run is kept. `calls` by default: it shows what happened, and no value is on
    /// the disk.
    pub level: LedgerLevel,
    /// Whether nothing is run when the ledger cannot be written. Otherwise there is a warning.
    pub required: bool,
    /// Whether a call that may change something waits until its intent is on the disk itself.
    /// Otherwise the ledger survives a killed process, but may lose the last moments before a power
    /// cut. Waiting delays each such call by some milliseconds.
    pub fsync: bool,
    /// The most bytes of the recording of one run. 16 MiB by default: three of the largest answers,
    /// or thousands of small ones. Beyond that the recording ends, but not the run.
    pub max_recording: ByteSize,
    /// How long runs are kept.
    pub keep: LedgerKeep,
    /// What the ledger leaves out of the recordings that it keeps.
    pub redact: Vec<RedactRule>,
}

/// Parts of arguments and answers that are not kept.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RedactRule {
    /// The tools, by their paths; a `*` stands for any characters.
    pub tools: String,
    /// The parts: JSON pointers, in which `*` stands for every member or element.
    pub pointers: Vec<String>,
}

impl RedactRule {
    /// Whether the rule applies to this tool.
    pub fn matches(&self, path: &str) -> bool {
        let mut pieces = self.tools.split('*');
        let first = pieces.next().unwrap_or_default();
        let Some(mut rest) = path.strip_prefix(first) else { return false };
        let mut pieces: Vec<&str> = pieces.collect();
        let Some(last) = pieces.pop() else { return rest.is_empty() };
        for piece in pieces {
            match rest.split_once(piece) {
                Some((_, after)) => rest = after,
                None => return false,
            }
        }
        rest.ends_with(last)
    }
}

impl Default for LedgerSettings {
    fn default() -> Self {
        Self {
            level: LedgerLevel::default(),
            required: false,
            fsync: false,
            max_recording: ByteSize::mib(16),
            keep: LedgerKeep::default(),
            redact: Vec::new(),
        }
    }
}

/// How long runs are kept: older ones, and beyond the size the oldest, are forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LedgerKeep {
    /// Days. 30 by default: mistakes are usually investigated within a month.
    pub days: u32,
    /// Bytes of the ledger's file. 256 MiB by default: half a million runs at level `calls`, or
    /// some thousand recordings.
    pub bytes: ByteSize,
}

impl Default for LedgerKeep {
    fn default() -> Self {
        Self { days: 30, bytes: ByteSize::mib(256) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        let matches =
            |tools: &str, path: &str| RedactRule { tools: tools.to_owned(), pointers: Vec::new() }.matches(path);
        for (tools, path) in [
            ("fs.read", "fs.read"),
            ("*", "fs.read"),
            ("fs.*", "fs.read"),
            ("*.get_*", "gmail.get_mail"),
            ("a*b*c", "abbc"),
        ] {
            assert!(matches(tools, path), "{tools} {path}");
        }
        for (tools, path) in [
            ("fs.read", "fs.read_file"),
            ("fs.*", "fss.read"),
            ("*.get", "gmail.get_mail"),
            ("a*b*bc", "abc"),
            ("", "a"),
        ] {
            assert!(!matches(tools, path), "{tools} {path}");
        }
    }
}
