//! A second connection to the ledger, for what the owner's rules ask of the time before.
//!
//! Its tables are made when something is kept in them first, and are not part of what the versions
//! of the file say. What is in them is kept whatever is kept of runs.

use std::{
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use rusqlite::Connection;

use super::{PATIENCE, counts, file, labels, passed, pins};
use crate::fault::LedgerFault;

/// The connection; it is opened when it is needed.
pub(super) struct Beside {
    folder: Option<PathBuf>,
    open: Mutex<Option<Connection>>,
}

impl Beside {
    pub(super) fn new(folder: Option<PathBuf>) -> Self {
        Self { folder, open: Mutex::default() }
    }

    /// Does something with the connection. Blocks.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>) -> Result<T, LedgerFault> {
        let folder = self.folder.as_deref().ok_or(LedgerFault::NoFolder)?;
        let path = folder.join(file::NAME);
        let failed = |error: rusqlite::Error| LedgerFault::of(&error, &path, PATIENCE);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let connection = match open.take() {
            Some(connection) => open.insert(connection),
            None => {
                let connection = file::open(folder)?;
                connection.execute_batch(counts::TABLE).map_err(failed)?;
                connection.execute_batch(labels::TABLE).map_err(failed)?;
                connection.execute_batch(pins::TABLE).map_err(failed)?;
                connection.execute_batch(passed::TABLE).map_err(failed)?;
                open.insert(connection)
            }
        };
        let done = work(connection).map_err(failed);
        if done.is_err() {
            // Whatever is wrong with the connection, the next question begins anew.
            *open = None;
        }
        done
    }
}
