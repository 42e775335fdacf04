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

/// Bytes that one read gives at most.
pub const MAX_READ: u64 = 1024 * 1024;
/// Entries that one page of a list has at most.
pub const MAX_LISTED: u32 = 1000;
/// Passages that one search finds at most.
pub const MAX_HITS: u32 = 100;
/// The longest text that is searched for, in bytes.
pub const MAX_WORDS_BYTES: usize = 1024;
/// The most words that are searched for at once.
pub const MAX_WORDS: usize = 16;
/// Artifacts that one search can be confined to.
pub const MAX_WITHIN: usize = 100;
/// Labels of one artifact, and the longest label in bytes.
pub const MAX_LABELS: usize = 64;

/// What is stored.
#[derive(Debug, Clone)]
pub struct NewArtifact {
    /// The content.
    pub content: Content,
    /// The name to save it under. A name is unique within its holder: saving again replaces what
    /// had it, which then has no name and can no longer be found.
    pub name: Option<ArtifactName>,
    /// The media type, where it is known, such as `image/png`.
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
    /// What it is.
    pub fn kind(&self) -> ArtifactKind {
        match self {
            Self::Value(_) => ArtifactKind::Value,
            Self::Text(_) => ArtifactKind::Text,
            Self::Blob(_) => ArtifactKind::Blob,
        }
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Value(json) => json.as_str().as_bytes(),
            Self::Text(text) => text.as_bytes(),
            Self::Blob(bytes) => bytes,
        }
    }
}

/// What became of storing an artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Stored {
    /// Its id.
    pub id: ArtifactId,
    /// Its length.
    pub bytes: u64,
    /// Whether it replaced one of the same name.
    pub replaced: bool,
    /// How many others of the principal were removed to make room for it: those that were not used
    /// for the longest time.
    pub evicted: u64,
    /// The bytes of those.
    pub evicted_bytes: u64,
}

/// An artifact, without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactEntry {
    /// Its id.
    pub id: ArtifactId,
    /// The name under which it was saved.
    pub name: Option<ArtifactName>,
    /// What it is.
    pub kind: ArtifactKind,
    /// Its media type, where that is known.
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
    /// Words, and pieces of words of three or more characters. No character has a meaning of its
    /// own.
    pub words: String,
    /// The artifacts to search; all of the holder if there is none.
    pub within: Vec<ArtifactRef>,
    /// How many passages are wanted, up to [`MAX_HITS`].
    pub limit: u32,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Found {
    /// The passages, the best first.
    pub hits: Vec<Hit>,
    /// Artifacts that could not be searched yet, since they were stored only now.
    pub pending: u64,
}

/// A passage that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hit {
    /// The artifact.
    pub artifact: ArtifactId,
    /// Where it is in the artifact's JSON, as a JSON pointer; empty in a text. Of several small
    /// parts that make one passage, it is that of the first.
    pub pointer: String,
    /// The passage: JSON, or of a text what is around the words, up to 600 bytes.
    pub text: String,
    /// How well it matches, from 0 to 3: above 2, all words are in it; above 1, all are in it as
    /// parts of words; else some are.
    pub score: f64,
}

/// A holder's artifacts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HolderTotals {
    /// The holder.
    pub holder: Holder,
    /// How many artifacts they have.
    pub artifacts: u64,
    /// The bytes of those.
    pub bytes: u64,
    /// When the latest use of one was.
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
    /// It alone is more than all of a principal's artifacts may be.
    #[error("the artifact takes {used} bytes; all artifacts together may take {limit} ([artifacts] max_bytes)")]
    NoRoom {
        /// What it takes.
        used: u64,
        /// The limit.
        limit: u64,
    },
    /// Its media type or labels are too long.
    #[error("the {what} of an artifact has {used}; the limit is {limit}")]
    Described {
        /// Which.
        what: &'static str,
        /// How much it is.
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
        /// How much it is.
        used: usize,
        /// The limit.
        limit: usize,
        /// Of what.
        unit: &'static str,
    },
    /// The search is confined to too many artifacts.
    #[error("a search is confined to {used} artifacts; the limit is {limit}")]
    TooManyWithin {
        /// How many.
        used: usize,
        /// The limit.
        limit: usize,
    },
    /// The search is confined to an artifact that is not there.
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
/// What one holder has is not there for another: the id of another's artifact is answered as one
/// that never was.
pub trait Artifacts: Send + Sync + 'static {
    /// Stores an artifact, and waits until it is kept. If others must go for it, they go.
    fn store(&self, holder: Holder, artifact: NewArtifact) -> BoxFuture<'_, Result<Stored, ArtifactError>>;

    /// A holder's artifacts, the latest first: those stored before `before`, or the first ones. At
    /// most [`MAX_LISTED`] at a time.
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

    /// Bytes of an artifact's content: those of the range that there are, and at most [`MAX_READ`].
    /// `None` if the artifact is not there.
    fn read(
        &self,
        holder: Holder,
        id: ArtifactId,
        range: Range<u64>,
    ) -> BoxFuture<'_, Result<Option<Vec<u8>>, ArtifactError>>;

    /// Finds passages. What was stored before is found: if its index is not finished, this waits
    /// for it, up to a bound.
    fn search(&self, holder: Holder, search: Search) -> BoxFuture<'_, Result<Found, ArtifactError>>;

    /// Removes artifacts, and returns how many of them were there.
    fn remove(&self, holder: Holder, which: Vec<ArtifactRef>) -> BoxFuture<'_, Result<u64, ArtifactError>>;

    /// Removes all artifacts of a holder, and returns how many there were.
    fn remove_all(&self, holder: Holder) -> BoxFuture<'_, Result<u64, ArtifactError>>;

    /// All holders and how much they have. Only for the owner.
    fn totals(&self) -> BoxFuture<'_, Result<Vec<HolderTotals>, ArtifactError>>;

    /// The whole content of an artifact; `None` if it is not there, or is removed meanwhile.
    fn whole(&self, holder: Holder, id: ArtifactId) -> BoxFuture<'_, Result<Option<Vec<u8>>, ArtifactError>> {
        Box::pin(async move {
            let Some(entry) = self.entry(holder.clone(), ArtifactRef::Id(id)).await? else { return Ok(None) };
            // What a file claims is not believed before it is there.
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
