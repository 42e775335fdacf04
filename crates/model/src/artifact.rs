//! Artifacts: what a run leaves for later runs because it is too large to be shown.

use std::{fmt, str::FromStr, sync::Arc};

use bytesize::ByteSize;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::digits::{self, LENGTH};

const PREFIX: &str = "a_";

/// The id of an artifact: `a_` and 64 random bits, so that it cannot be guessed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArtifactId(u64);

impl ArtifactId {
    /// The id made of these bits, which the caller draws at random.
    pub fn from_bits(bits: u64) -> Self {
        Self(bits)
    }

    /// Its bits.
    pub fn bits(self) -> u64 {
        self.0
    }
}

impl fmt::Display for ArtifactId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(PREFIX)?;
        digits::write(formatter, self.0)
    }
}

impl fmt::Debug for ArtifactId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{self}")
    }
}

/// A text that is not the id of an artifact.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "an artifact's id is a_ and {LENGTH} digits and small letters, as artifacts.list() and belljar artifacts list show it"
)]
pub struct ArtifactIdError;

impl FromStr for ArtifactId {
    type Err = ArtifactIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.strip_prefix(PREFIX).and_then(digits::read).map(Self).ok_or(ArtifactIdError)
    }
}

impl Serialize for ArtifactId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ArtifactId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

/// A name under which an artifact was saved.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArtifactName(Arc<str>);

/// A text that cannot be the name of an artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArtifactNameError {
    /// It is empty.
    #[error("an artifact's name is empty: use one or more characters")]
    Empty,
    /// It is too long.
    #[error("an artifact's name has {used} bytes; the limit is {} bytes", ArtifactName::MAX_BYTES)]
    TooLong {
        /// Its length.
        used: usize,
    },
    /// It has characters that are not shown.
    #[error(
        "an artifact's name has line breaks or other control characters: use letters, digits, spaces and punctuation"
    )]
    Control,
    /// It looks like an id.
    #[error("an artifact's name has the form of an id: use another name")]
    LikeAnId,
}

impl ArtifactName {
    /// The longest name, in bytes.
    pub const MAX_BYTES: usize = 256;

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ArtifactName {
    type Err = ArtifactNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.is_empty() {
            return Err(ArtifactNameError::Empty);
        }
        if text.len() > Self::MAX_BYTES {
            return Err(ArtifactNameError::TooLong { used: text.len() });
        }
        if text.chars().any(char::is_control) {
            return Err(ArtifactNameError::Control);
        }
        if text.parse::<ArtifactId>().is_ok() {
            return Err(ArtifactNameError::LikeAnId);
        }
        Ok(Self(text.into()))
    }
}

impl fmt::Display for ArtifactName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Serialize for ArtifactName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// How a script or a person names an artifact: by its id, or by the name under which it was saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArtifactRef {
    /// By its id.
    Id(ArtifactId),
    /// By its name.
    Name(ArtifactName),
}

impl FromStr for ArtifactRef {
    type Err = ArtifactNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.parse() {
            Ok(id) => Ok(Self::Id(id)),
            Err(ArtifactIdError) => text.parse().map(Self::Name),
        }
    }
}

impl fmt::Display for ArtifactRef {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(formatter),
            Self::Name(name) => name.fmt(formatter),
        }
    }
}

/// What an artifact's content is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactKind {
    /// A JSON text.
    Value,
    /// A text.
    Text,
    /// Bytes, such as those of an image. They are not searched.
    Blob,
}

impl ArtifactKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Value, Self::Text, Self::Blob];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Value => "value",
            Self::Text => "text",
            Self::Blob => "blob",
        }
    }
}

/// The `[artifacts]` of a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ArtifactSettings {
    /// Whether there are artifacts. Otherwise scripts have no `artifacts`, and nothing is stored.
    pub enabled: bool,
    /// The largest value that an answer to a model shows in full, in bytes of JSON. 16 KiB by
    /// default: some four thousand tokens.
    pub inline: ByteSize,
    /// The most bytes of one artifact. 16 MiB by default: as much as one answer of a tool.
    pub max_artifact: ByteSize,
    /// The most bytes of all artifacts of one principal, in all workspaces. 1 GiB by default: a
    /// thousand large results, and with their index no more than a few GiB of the disk. Beyond it,
    /// the least recently used ones are removed.
    pub max_bytes: ByteSize,
    /// Days since its last use after which an artifact is removed. 7 by default: work that lasts
    /// longer uses it again.
    pub days: u32,
}

impl ArtifactSettings {
    /// The highest value of `max_artifact`: to read an artifact in full is to have it in memory.
    pub const LARGEST: ByteSize = ByteSize::mib(256);
}

impl Default for ArtifactSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            inline: ByteSize::kib(16),
            max_artifact: ByteSize::mib(16),
            max_bytes: ByteSize::gib(1),
            days: 7,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_back_and_nothing_else_is_one() {
        for bits in [0, 1, 31, 32, u64::MAX, 0x0123_4567_89ab_cdef] {
            let id = ArtifactId::from_bits(bits);
            assert_eq!(id.to_string().parse(), Ok(id));
            assert_eq!(id.to_string().parse(), Ok(ArtifactRef::Id(id)));
        }
        for text in ["", "a_", "r_fzzzzzzzzzzzz", "a_gzzzzzzzzzzzz", "a_fzzzzzzzzzzzzz", "a_FZZZZZZZZZZZZ"] {
            assert_eq!(text.parse::<ArtifactId>(), Err(ArtifactIdError), "{text}");
        }
    }

    #[test]
    fn a_name_is_bounded_and_is_never_taken_for_an_id() {
        let long = "n".repeat(ArtifactName::MAX_BYTES);
        for name in ["pages", "a_", "Ergebnisse 2026/11", "\u{6771}\u{4eac}", long.as_str()] {
            assert_eq!(name.parse::<ArtifactName>().expect("a name").as_str(), name);
            assert!(matches!(name.parse(), Ok(ArtifactRef::Name(_))), "{name}");
        }
        assert_eq!("".parse::<ArtifactName>(), Err(ArtifactNameError::Empty));
        assert_eq!(format!("{long}n").parse::<ArtifactName>(), Err(ArtifactNameError::TooLong { used: 257 }));
        assert_eq!("two\nlines".parse::<ArtifactName>(), Err(ArtifactNameError::Control));
        assert_eq!("nul\0".parse::<ArtifactName>(), Err(ArtifactNameError::Control));
        let id = ArtifactId::from_bits(7).to_string();
        assert_eq!(id.parse::<ArtifactName>(), Err(ArtifactNameError::LikeAnId));
    }
}
