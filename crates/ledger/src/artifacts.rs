//! Artifacts: what a run leaves for later runs of the same holder, because it is too large to be
//! shown.

use std::{
    collections::BTreeSet,
    ops::Range,
    sync::Arc,
    time::{Duration, SystemTime},
};

use belljar_model::{ArtifactId, ArtifactKind, ArtifactName, ArtifactRef, ArtifactSettings, JsonText, RunId};
use futures::future::BoxFuture;
use serde::{Serialize, Serializer, ser::SerializeStruct as _};

use crate::{error::LedgerError, holder::Holder, query::milliseconds};

/// The most bytes that one read returns.
pub const MAX_READ: u64 = 1024 * 1024;
/// The most entries on one page of a list.
pub const MAX_LISTED: u32 = 1000;
/// The most passages that one search finds.
pub const MAX_HITS: u32 = 100;
/// The longest text that is searched for, in bytes.
pub const MAX_WORDS_BYTES: usize = 1024;
/// The most words that are searched for at once.
pub const MAX_WORDS: usize = 16;
/// The most artifacts that one search can be limited to.
pub const MAX_WITHIN: usize = 100;
/// The most labels of one artifact, and the longest label in bytes.
pub const MAX_LABELS: usize = 64;

/// What is stored.
#[derive(Debug, Clone)]
pub struct NewArtifact {
    /// The content.
    pub content: Content,
    /// The name to save it under. A name is unique within its holder: saving again replaces the
    /// artifact that had the name, which can then no longer be found.
    pub name: Option<ArtifactName>,
    /// The media type, such as `image/png`, if it is known.
    pub mime: Option<String>,
    /// The run that stores it.
    pub run: Option<RunId>,
    /// The labels of the owner's rules that the run carries.
    pub labels: Vec<String>,
}

/// An artifact's content.
#[derive(Debug, Clone)]
pub enum Content {
    /// A JSON text.
    Value(JsonText),
    /// A text.
    Text(Arc<str>),
    /// Bytes.
    Blob(Arc<[u8]>),
}

impl Content {
    /// The kind of content.
    pub fn kind(&self) -> ArtifactKind {
        match self {
            Self::Value(_) => ArtifactKind::Value,
            Self::Text(_) => ArtifactKind::Text,
            Self::Blob(_) => ArtifactKind::Blob,
        }
    }

    /// The bytes of the content.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Value(json) => json.as_str().as_bytes(),
            Self::Text(text) => text.as_bytes(),
            Self::Blob(bytes) => bytes,
        }
    }
}

/// The result of storing an artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Stored {
    /// Its id.
    pub id: ArtifactId,
    /// Its length.
    pub bytes: u64,
    /// Whether it replaced one of the same name.
    pub replaced: bool,
    /// How many of the principal's other artifacts were removed to make room for it: the least
    /// recently used ones.
    pub evicted: u64,
    /// The bytes of those that were removed.
    pub evicted_bytes: u64,
}

/// An artifact, without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactEntry {
    /// Its id.
    pub id: ArtifactId,
    /// The name under which it was saved.
    pub name: Option<ArtifactName>,
    /// Its kind.
    pub kind: ArtifactKind,
    /// Its media type, if it is known.
    pub mime: Option<String>,
    /// Its length.
    pub bytes: u64,
    /// The run that stored it.
    pub run: Option<RunId>,
    /// The labels that the run carried.
    pub labels: Vec<String>,
    /// When it was stored.
    pub at: SystemTime,
    /// When it was last used, to within an hour.
    pub used: SystemTime,
    /// Bytes at its end that a search does not find, because it has too many parts.
    pub unsearched_bytes: u64,
}

impl Serialize for ArtifactEntry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("ArtifactEntry", 10)?;
        object.serialize_field("id", &self.id)?;
        object.serialize_field("name", &self.name)?;
        object.serialize_field("kind", &self.kind)?;
        object.serialize_field("mime", &self.mime)?;
        object.serialize_field("bytes", &self.bytes)?;
        object.serialize_field("run", &self.run)?;
        object.serialize_field("labels", &self.labels)?;
        object.serialize_field("at_ms", &milliseconds(self.at))?;
        object.serialize_field("used_ms", &milliseconds(self.used))?;
        object.serialize_field("unsearched_bytes", &self.unsearched_bytes)?;
        object.end()
    }
}

/// What is searched for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    /// Words, or parts of words with three or more characters. No character has a special meaning.
    pub words: String,
    /// The artifacts to search; if the list is empty, all of the holder's.
    pub within: Vec<ArtifactRef>,
    /// How many passages are wanted, up to [`MAX_HITS`].
    pub limit: u32,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Found {
    /// The passages, the best first.
    pub hits: Vec<Hit>,
    /// How many artifacts could not be searched yet, because they were stored only just now.
    pub pending: u64,
}

/// A passage that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hit {
    /// The artifact.
    pub artifact: ArtifactId,
    /// Where it is in the artifact's JSON, as a JSON pointer; empty in a text. If several small
    /// parts form one passage, this is the place of the first.
    pub pointer: String,
    /// The passage: JSON, or, in a text, up to 600 bytes around the words.
    pub text: String,
    /// How well it matches, from 0 to 3: above 2, it has all the words; above 1, it has all of them
    /// as parts of words; otherwise it has some of them.
    pub score: f64,
}

/// A holder's artifacts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HolderTotals {
    /// The holder.
    pub holder: Holder,
    /// How many artifacts the holder has.
    pub artifacts: u64,
    /// The bytes of those artifacts.
    pub bytes: u64,
    /// When one of them was last used.
    pub used: SystemTime,
}

/// Why an artifact cannot be stored, read or found.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ArtifactError {
    /// It is too large.
    #[error("the artifact has {used} bytes; the limit is {limit} ([artifacts] max_artifact)")]
    TooLarge {
        /// Its length.
        used: u64,
        /// The limit.
        limit: u64,
    },
    /// It alone is larger than all of a principal's artifacts may be together.
    #[error("the artifact takes {used} bytes; all artifacts together may take {limit} ([artifacts] max_bytes)")]
    NoRoom {
        /// The room that it takes.
        used: u64,
        /// The limit.
        limit: u64,
    },
    /// Its media type or labels are too long.
    #[error("the {what} of an artifact has {used}; the limit is {limit}")]
    Described {
        /// Which of them.
        what: &'static str,
        /// The actual amount.
        used: usize,
        /// The limit.
        limit: usize,
    },
    /// There is nothing to search for.
    #[error("there is no word to search for: use letters or digits")]
    NoWords,
    /// The text to search for is too long.
    #[error("the text to search for has {used} {unit}; the limit is {limit}")]
    TooManyWords {
        /// The actual amount.
        used: usize,
        /// The limit.
        limit: usize,
        /// The unit of both.
        unit: &'static str,
    },
    /// The search is limited to too many artifacts.
    #[error("a search is confined to {used} artifacts; the limit is {limit}")]
    TooManyWithin {
        /// How many.
        used: usize,
        /// The limit.
        limit: usize,
    },
    /// The search is limited to an artifact that does not exist.
    #[error("there is no artifact {0}")]
    NotThere(ArtifactRef),
    /// The search took too long.
    #[error("the search took longer than {} s: search for rarer words, or in fewer artifacts", limit.as_secs())]
    TooBroad {
        /// How long it may take.
        limit: Duration,
    },
    /// The file cannot be used.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

impl ArtifactError {
    /// What can be done about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "store parts of it, or let the owner raise [artifacts] max_artifact",
            Self::NoRoom { .. } => "store parts of it, or let the owner raise [artifacts] max_bytes",
            Self::Described { .. } => "use shorter and fewer ones",
            Self::NoWords | Self::TooManyWords { .. } => "search for a few words",
            Self::TooManyWithin { .. } => "search in all artifacts, or in fewer",
            Self::NotThere(_) => "artifacts.list() has the ids and names of all that are there",
            Self::TooBroad { .. } => "rarer words are found faster",
            Self::Ledger(error) => error.hint(),
        }
    }
}

/// Where artifacts are kept.
///
/// To one holder, another holder's artifacts do not exist: the id of such an artifact gets the same
/// answer as an id that was never used.
pub trait Artifacts: Send + Sync + 'static {
    /// Stores an artifact, and waits until it is kept. Others are removed if it needs their room.
    fn store(&self, holder: Holder, artifact: NewArtifact) -> BoxFuture<'_, Result<Stored, ArtifactError>>;

    /// A holder's artifacts, latest first: those stored before `before`, or the first page. At most
    /// [`MAX_LISTED`] at a time.
    fn list(
        &self,
        holder: Holder,
        before: Option<ArtifactId>,
        limit: u32,
    ) -> BoxFuture<'_, Result<Vec<ArtifactEntry>, ArtifactError>>;

    /// One artifact, without its content.
    fn entry(&self, holder: Holder, which: ArtifactRef) -> BoxFuture<'_, Result<Option<ArtifactEntry>, ArtifactError>>;

    /// The labels of all artifacts of a holder together.
    fn labels(&self, holder: Holder) -> BoxFuture<'_, Result<BTreeSet<String>, ArtifactError>>;

    /// Bytes of an artifact's content: the part of the range that exists, and at most [`MAX_READ`].
    /// `None` if the artifact does not exist.
    fn read(
        &self,
        holder: Holder,
        id: ArtifactId,
        range: Range<u64>,
    ) -> BoxFuture<'_, Result<Option<Vec<u8>>, ArtifactError>>;

    /// Finds passages. Everything that was stored before is found: if its index is not finished,
    /// this waits for it, up to a limit.
    fn search(&self, holder: Holder, search: Search) -> BoxFuture<'_, Result<Found, ArtifactError>>;

    /// Removes artifacts, and returns how many of them existed.
    fn remove(&self, holder: Holder, which: Vec<ArtifactRef>) -> BoxFuture<'_, Result<u64, ArtifactError>>;

    /// Removes all artifacts of a holder, and returns how many there were.
    fn remove_all(&self, holder: Holder) -> BoxFuture<'_, Result<u64, ArtifactError>>;

    /// All holders and how much they have. Only for the owner.
    fn totals(&self) -> BoxFuture<'_, Result<Vec<HolderTotals>, ArtifactError>>;

    /// The whole content of an artifact; `None` if it does not exist, or is removed meanwhile.
    fn whole(&self, holder: Holder, id: ArtifactId) -> BoxFuture<'_, Result<Option<Vec<u8>>, ArtifactError>> {
        Box::pin(async move {
            let Some(entry) = self.entry(holder.clone(), ArtifactRef::Id(id)).await? else { return Ok(None) };
            // The size that the file claims is not trusted until the bytes have been read.
            let mut whole = Vec::new();
            let bytes = entry.bytes.min(ArtifactSettings::LARGEST.as_u64());
            while (whole.len() as u64) < bytes {
                let from = whole.len() as u64;
                match self.read(holder.clone(), id, from..bytes).await? {
                    Some(piece) if !piece.is_empty() => whole.extend_from_slice(&piece),
                    _ => return Ok(None),
                }
            }
            Ok(Some(whole))
        })
    }
}
