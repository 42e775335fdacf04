//! A second connection to the ledger, for the owner's rules about earlier calls.
//!
//! Its tables are created when they are first used, and are not part of the file's versions. They
//! are kept independently of the runs.

use std::{path::PathBuf, time::Duration};

use parking_lot::Mutex;
use rusqlite::Connection;

use super::{PATIENCE, file};
use crate::error::LedgerError;

/// The longest time before now that rules may ask about, for labels and earlier calls.
pub(super) const LONGEST_ASKED: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// What `counts.rs`, `labels.rs`, `pins.rs` and `passed.rs` keep.
const TABLES: &str = "
CREATE TABLE IF NOT EXISTS counted(
    id INTEGER PRIMARY KEY,
    rule TEXT NOT NULL,
    principal TEXT NOT NULL,
    at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS counted_by_rule ON counted(rule, principal, at_ms);
CREATE INDEX IF NOT EXISTS counted_by_time ON counted(at_ms);
CREATE TABLE IF NOT EXISTS labelled(
    principal TEXT NOT NULL,
    label TEXT NOT NULL,
    run INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    PRIMARY KEY (principal, label, run)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS labelled_by_time ON labelled(at_ms);
CREATE TABLE IF NOT EXISTS pinned(
    rules TEXT NOT NULL,
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    definition TEXT NOT NULL,
    PRIMARY KEY (rules, server, tool)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS passed(
    rules TEXT NOT NULL,
    rule TEXT NOT NULL,
    principal TEXT NOT NULL,
    same BLOB NOT NULL,
    run INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    PRIMARY KEY (rules, rule, principal, same, run)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS passed_by_time ON passed(at_ms);
";

/// The connection, opened when it is needed.
pub(super) struct Beside {
    folder: Option<PathBuf>,
    open: Mutex<Option<Connection>>,
}

impl Beside {
    pub(super) fn new(folder: Option<PathBuf>) -> Self {
        Self { folder, open: Mutex::default() }
    }

    /// Whether there is no file yet. A reader need not create it.
    pub(super) fn has_no_file(&self) -> bool {
        let path = self.folder.as_ref().map(|folder| folder.join(file::NAME));
        path.is_some_and(|path| path.try_exists().is_ok_and(|exists| !exists))
    }

    /// Does something with the connection. Blocks.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>) -> Result<T, LedgerError> {
        let folder = self.folder.as_deref().ok_or(LedgerError::NoFolder)?;
        let path = folder.join(file::NAME);
        let failed = |error: rusqlite::Error| LedgerError::of(&error, &path, PATIENCE);
        let mut open = self.open.lock();
        let connection = match open.take() {
            Some(connection) => open.insert(connection),
            None => {
                let connection = file::open(folder)?;
                connection.execute_batch(TABLES).map_err(failed)?;
                open.insert(connection)
            }
        };
        let done = work(connection).map_err(failed);
        if done.is_err() {
            // After any error of the connection, the next use opens a new one.
            *open = None;
        }
        done
    }
}
