//! Values that a holder keeps from one run to the next.
//!
//! They are stored in the same file as the ledger, but separately: this store keeps what scripts
//! assign, and knows nothing about runs except the name of the last one that wrote a value.

use std::time::{Duration, SystemTime};

use belljar_model::{ByteSize, RunId};
use futures::future::BoxFuture;

use crate::{Holder, LedgerError};

/// The most bytes of the name of a kept value.
pub const MAX_KEPT_NAME: usize = 256;

/// The most workspaces in which one principal may have kept values, and in which the owner may. A
/// client chooses the names of workspaces, and each workspace has its own room.
pub const MAX_WORKSPACES: (u32, u32) = (64, 1024);

/// How much a holder may keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeepBounds {
    /// The most bytes of all values and their names.
    pub max_bytes: ByteSize,
    /// The most values.
    pub max_keys: u32,
    /// How long a value is kept after this use if nobody reads or writes it again.
    pub age: Duration,
}

/// A kept value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptValue {
    /// JSON, as it was written. The file may contain anything, so whoever uses the text must check
    /// it.
    pub text: String,
    /// Identifies the write that made it. No other value of any holder has or ever had the same
    /// version.
    pub version: i64,
    /// The labels that it was written with.
    pub labels: Vec<String>,
}

/// What is known about a kept value without reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptEntry {
    /// Its name.
    pub name: String,
    /// The bytes of its text.
    pub bytes: u64,
    /// The labels that it was written with.
    pub labels: Vec<String>,
    /// When it was written.
    pub changed: SystemTime,
    /// When it was last read or written, to within an hour.
    pub touched: SystemTime,
    /// The run that wrote it.
    pub run: RunId,
}

/// What a change replaces, as far as its author knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replaces {
    /// This version, or no value.
    Version(Option<i64>),
    /// Whatever was there at this time.
    AsOf(SystemTime),
}

/// A change to a kept value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeepChange {
    /// Its name.
    pub name: String,
    /// The new value, as JSON; `None` forgets the value.
    pub text: Option<String>,
    /// What it replaces.
    pub replaces: Replaces,
}

/// The author of changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeepAuthor {
    /// The holder of the values.
    pub holder: Holder,
    /// The run.
    pub run: RunId,
    /// The labels that it carries.
    pub labels: Vec<String>,
}

/// The result of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Changed {
    /// The change was made.
    Made {
        /// The new version; `None` if the value was forgotten.
        version: Option<i64>,
        /// Whether another run had changed the value meanwhile; its change is then lost.
        over_another: bool,
    },
    /// There is no room for the value.
    NoRoom(NoRoom),
}

/// The result of a change that was to be made only if nobody else had made one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Swapped {
    /// The change was made; this is the new version.
    Made(i64),
    /// Another run was faster; this is the current value.
    Other(Option<KeptValue>),
    /// There is no room for the value.
    NoRoom(NoRoom),
}

/// Why a value is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoRoom {
    /// There would be too many bytes.
    #[error(
        "it has {bytes} bytes with its name, for which there is no room: all kept values of this workspace may have {max}; delete what is no longer needed, or keep less of it"
    )]
    Bytes {
        /// Its bytes.
        bytes: u64,
        /// How many bytes are free. A script is not told this, because it reveals how much others
        /// have kept.
        free: u64,
        /// The limit.
        max: u64,
    },
    /// There are too many values.
    #[error("this workspace has {max} kept values, the limit; delete what is no longer needed")]
    Keys {
        /// The limit.
        max: u32,
    },
    /// There are too many workspaces.
    #[error("there are kept values in {max} workspaces, the limit; they are forgotten when nobody uses them any more")]
    Workspaces {
        /// The limit.
        max: u32,
    },
}

/// The total of all kept values of all holders.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KeepTotals {
    /// How many values there are.
    pub values: u64,
    /// The bytes of those values.
    pub bytes: u64,
    /// How many holders have kept values.
    pub holders: u64,
}

/// A store of kept values, shared by all processes of a user.
///
/// A value that nobody has used for longer than the bounds of its last use allow no longer exists.
pub trait Keeps: Send + Sync + 'static {
    /// A holder's value of this name. Reading it restarts its age.
    fn kept(
        &self,
        holder: Holder,
        name: String,
        bounds: KeepBounds,
    ) -> BoxFuture<'_, Result<Option<KeptValue>, LedgerError>>;

    /// The kept values of a holder, by name.
    fn kept_entries(&self, holder: Holder, bounds: KeepBounds) -> BoxFuture<'_, Result<Vec<KeptEntry>, LedgerError>>;

    /// Makes changes, in their order and all in one transaction, and returns the result of each.
    /// Changes that free room are made first.
    fn change_kept(
        &self,
        author: KeepAuthor,
        changes: Vec<KeepChange>,
        bounds: KeepBounds,
    ) -> BoxFuture<'_, Result<Vec<Changed>, LedgerError>>;

    /// Replaces a value, given its name and the new text, if it still has this version. If two
    /// callers have the same version, even in different processes, only one of them replaces it.
    fn swap_kept(
        &self,
        author: KeepAuthor,
        value: (String, String),
        version: Option<i64>,
        bounds: KeepBounds,
    ) -> BoxFuture<'_, Result<Swapped, LedgerError>>;

    /// Forgets a value, or all values of a holder, and overwrites them in the file together with
    /// their earlier versions. Returns how many there were.
    fn forget_kept(&self, holder: Holder, name: Option<String>) -> BoxFuture<'_, Result<u64, LedgerError>>;

    /// The totals of all holders.
    fn kept_totals(&self) -> BoxFuture<'_, Result<KeepTotals, LedgerError>>;
}
