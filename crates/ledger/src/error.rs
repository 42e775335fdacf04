//! Why a ledger cannot be written or read.

use std::{io, path::PathBuf, sync::Arc};

/// Why the ledger cannot be used.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// There is no folder for the ledger.
    #[error("there is no state folder of your own to keep a ledger of runs in")]
    NoFolder,
    /// The key for its digests is not available.
    #[error("the ledger's key {} cannot be used: {error}", path.display())]
    Key {
        /// The key's file.
        path: PathBuf,
        /// The system's error.
        error: Arc<io::Error>,
    },
    /// The file cannot be created or opened.
    #[error("the ledger {} cannot be opened: {problem}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The message of the system or of SQLite.
        problem: String,
    },
    /// The file is not a ledger.
    #[error("{} is a file of another program, and not a ledger of runs", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file was written by a later belljar.
    #[error("the ledger {} has version {found}; this belljar knows versions up to {known}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The latest version that this belljar knows.
        known: i64,
    },
    /// The file is damaged.
    #[error("the ledger {} is damaged: {problem}", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// SQLite's message.
        problem: String,
    },
    /// The file is in a place where locks are unreliable.
    #[error("the ledger {} lies on a network file system ({kind}), whose locks cannot be relied on", path.display())]
    Network {
        /// The file.
        path: PathBuf,
        /// The kind of file system.
        kind: &'static str,
    },
    /// Files cannot be locked in its folder.
    #[error("no file can be locked where the ledger {} lies: {problem}", path.display())]
    NoLocks {
        /// The file.
        path: PathBuf,
        /// The system's message.
        problem: String,
    },
    /// The disk is full.
    #[error("the ledger {} cannot grow: {problem}", path.display())]
    Full {
        /// The file.
        path: PathBuf,
        /// SQLite's message.
        problem: String,
    },
    /// Another process has locked it for too long.
    #[error("the ledger {} is in use by another process for longer than {seconds} s", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
        /// How long we waited.
        seconds: u64,
    },
    /// The file cannot be written or read.
    #[error("the ledger {} failed: {problem}", path.display())]
    Failed {
        /// The file.
        path: PathBuf,
        /// SQLite's message.
        problem: String,
    },
    /// A kept value is too large to be read.
    #[error("the kept value '{name}' has more than the {max} bytes that may be read")]
    KeptTooLarge {
        /// Its name.
        name: String,
        /// The limit.
        max: u64,
    },
    /// For too long, more entries have been waiting than can be written.
    #[error("the ledger cannot be written fast enough")]
    Overloaded,
    /// The ledger was closed.
    #[error("the ledger is closed")]
    Closed,
}

impl LedgerError {
    /// What can be done about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoFolder => "set XDG_STATE_HOME to a folder of your own that can be written",
            Self::Key { .. } | Self::Open { .. } => "see that the folder is yours and can be written",
            Self::Foreign { .. } => "move the file away: the next run begins a new ledger",
            Self::Newer { .. } => "use the later belljar, or move the file away: the next run begins a new ledger",
            Self::Corrupt { .. } => {
                "move the file away, together with its -wal and -shm files: the next run begins a new ledger"
            }
            Self::Network { .. } | Self::NoLocks { .. } => "set XDG_STATE_HOME to a folder on this machine's own disk",
            Self::Full { .. } => "make room on the disk, or remove old runs with `belljar runs purge`",
            Self::Busy { .. } => "end the process that holds it; `belljar daemon stop` ends the daemon",
            Self::Failed { .. } => "see that the disk is in order and can be written",
            Self::KeptTooLarge { .. } => "its owner can raise [keep] max_bytes, or remove it with `belljar keep rm`",
            Self::Overloaded => "the disk is too slow for so many runs; [ledger] level = \"off\" does without",
            Self::Closed => "this is a defect of belljar",
        }
    }

    /// Converts SQLite's error. `waited` is how long we waited for a lock.
    pub(crate) fn of(error: &rusqlite::Error, path: &std::path::Path, waited: std::time::Duration) -> Self {
        use rusqlite::ErrorCode;
        let (path, problem) = (path.to_owned(), error.to_string());
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Corrupt { path, problem },
            Some(ErrorCode::DiskFull) => Self::Full { path, problem },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed) => {
                Self::Busy { path, seconds: waited.as_secs() }
            }
            Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                Self::Open { path, problem }
            }
            _ => Self::Failed { path, problem },
        }
    }
}
