//! Values that live on between the runs of a holder.
//!
//! A store beside the ledger, in the same file: it keeps what scripts assign, and knows nothing of
//! runs but the name of the last one that wrote a value.

use std::time::{Duration, SystemTime};

use belljar_model::{ByteSize, RunId};
use futures::future::BoxFuture;

use crate::{Holder, LedgerError};

/// Bytes of the name of a kept value.
pub const MAX_KEPT_NAME: usize = 256;

/// Workspaces in which one principal may have kept values, and the owner: a client chooses their
/// names, and each has room of its own.
pub const MAX_WORKSPACES: (u32, u32) = (64, 1024);

/// What a holder may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeepBounds {
    /// Bytes of all values and their names.
    pub max_bytes: ByteSize,
    /// Values.
    pub max_keys: u32,
    /// How long a value is kept after this use, if nobody reads or writes it again.
    pub age: Duration,
}

/// A kept value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptValue {
    /// JSON, as it was written. The file may hold anything: whoever uses it checks it.
    pub text: String,
    /// Which writing it is. No other value of any holder has or had the same.
    pub version: i64,
    /// The labels that it was written with.
    pub labels: Vec<String>,
}

/// What is known of a kept value without reading it.
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
    /// When it was last read or written, within an hour.
    pub touched: SystemTime,
    /// The run that wrote it.
    pub run: RunId,
}

/// What a change replaces, as far as whoever makes it knows.
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
    /// The value from now on, as JSON; `None` forgets it.
    pub text: Option<String>,
    /// What it replaces.
    pub replaces: Replaces,
}

/// Who makes changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeepAuthor {
    /// Whose values they are.
    pub holder: Holder,
    /// The run.
    pub run: RunId,
    /// The labels that it carries.
    pub labels: Vec<String>,
}

/// What became of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Changed {
    /// It is made.
    Made {
        /// The new version; `None` if the value was forgotten.
        version: Option<i64>,
        /// Whether another run had changed the value meanwhile: its change is lost.
        over_another: bool,
    },
    /// There is no room for it.
    NoRoom(NoRoom),
}

/// What became of a change that was to be made only if nobody else had made one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Swapped {
    /// It is made: the new version.
    Made(i64),
    /// Another run was faster: the value as it is now.
    Other(Option<KeptValue>),
    /// There is no room for it.
    NoRoom(NoRoom),
}

/// Why a value is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoRoom {
    /// With it, there would be too many bytes.
    #[error(
        "it has {bytes} bytes with its name, for which there is no room: all kept values of this workspace may have {max}; delete what is no longer needed, or keep less of it"
    )]
    Bytes {
        /// Its bytes.
        bytes: u64,
        /// What is free. A script is not told: it says how much others have kept.
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

/// All kept values of all holders.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KeepTotals {
    /// How many.
    pub values: u64,
    /// Their bytes.
    pub bytes: u64,
    /// How many holders have some.
    pub holders: u64,
}

/// A store of kept values, for all processes of a user together.
///
/// Values that nobody has used for longer than the bounds of their last use say are not there.
pub trait Keeps: Send + Sync + 'static {
    /// A holder's value of this name, whose age begins anew.
    fn kept(
        &self,
        holder: Holder,
        name: String,
        bounds: KeepBounds,
    ) -> BoxFuture<'_, Result<Option<KeptValue>, LedgerError>>;

    /// What a holder has, by name.
    fn kept_entries(&self, holder: Holder, bounds: KeepBounds) -> BoxFuture<'_, Result<Vec<KeptEntry>, LedgerError>>;

    /// Makes changes in their order, all at one time, and says what became of each. What makes room
    /// comes first.
    fn change_kept(
        &self,
        author: KeepAuthor,
        changes: Vec<KeepChange>,
        bounds: KeepBounds,
    ) -> BoxFuture<'_, Result<Vec<Changed>, LedgerError>>;

    /// Replaces a value, by its name and text, if it is still of this version. Of two callers with
    /// one version, in whichever processes, one replaces it.
    fn swap_kept(
        &self,
        author: KeepAuthor,
        value: (String, String),
        version: Option<i64>,
        bounds: KeepBounds,
    ) -> BoxFuture<'_, Result<Swapped, LedgerError>>;

    /// Forgets a value, or all of a holder, and overwrites it in the file with its earlier
    /// versions. Returns how many there were.
    fn forget_kept(&self, holder: Holder, name: Option<String>) -> BoxFuture<'_, Result<u64, LedgerError>>;

    /// The totals of all holders.
    fn kept_totals(&self) -> BoxFuture<'_, Result<KeepTotals, LedgerError>>;
}
