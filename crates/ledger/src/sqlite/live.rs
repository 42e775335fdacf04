//! Finds out which processes are alive, so that the runs of a dead one are recognised.
//!
//! Each process that writes holds a lock on a file of its own for as long as it lives. The system
//! releases the lock when the process ends, for whatever reason. A process id would not do, because
//! it could later belong to another process.

use std::{collections::HashMap, fs::File, io, path::Path, time::Duration};

use cap_std::fs::{Dir, OpenOptions};
use rand::{TryRngCore as _, rngs::OsRng};

use crate::key::unlucky;

/// The folder of the lock files, beside the ledger.
const FOLDER: &str = "ledger.live";
/// The age from which a lock file counts as left over even if no run refers to it.
const LEFT_OVER: Duration = Duration::from_secs(3600);

/// Marks this process as alive for as long as this value exists.
pub(super) struct Presence {
    token: i64,
    folder: Dir,
    _lock: File,
}

impl Presence {
    /// Marks this process as alive.
    pub(super) fn announce(beside: &Path) -> io::Result<Self> {
        let folder = belljar_files::own_folder(&beside.join(FOLDER))?;
        let token = OsRng.try_next_u64().map_err(unlucky)?.cast_signed();
        let file = belljar_files::open(&folder, name(token), OpenOptions::new().write(true).create_new(true))?;
        let lock = file.into_std();
        lock.try_lock()?;
        Ok(Self { token, folder, _lock: lock })
    }

    /// The token that identifies its runs.
    pub(super) fn token(&self) -> i64 {
        self.token
    }

    /// Removes the lock file of a process that is gone.
    pub(super) fn forget(&self, token: i64) {
        // Another process may have been faster.
        let _ = self.folder.remove_file(name(token));
    }

    /// Removes the lock files of processes that were killed while they were idle.
    pub(super) fn tidy(&self) -> io::Result<()> {
        for entry in self.folder.entries()? {
            let entry = entry?;
            let is_old = entry.metadata()?.modified()?.into_std().elapsed().is_ok_and(|age| age > LEFT_OVER);
            let file = entry.file_name();
            if is_old && file.to_str().and_then(token_of).is_some_and(|token| !is_alive(&self.folder, token)) {
                self.folder.remove_file(file)?;
            }
        }
        Ok(())
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        // If it stays, its lock shows that it is left over.
        let _ = self.folder.remove_file(name(self.token));
    }
}

/// Which processes are alive, checked once for each.
pub(super) struct Living {
    folder: Option<Dir>,
    known: HashMap<i64, bool>,
}

impl Living {
    pub(super) fn beside(ledger: &Path) -> Self {
        let folder = Dir::open_ambient_dir(ledger.with_file_name(FOLDER), cap_std::ambient_authority()).ok();
        Self { folder, known: HashMap::new() }
    }

    /// Whether the process of this token is alive.
    pub(super) fn has(&mut self, token: i64) -> bool {
        let folder = self.folder.as_ref();
        *self.known.entry(token).or_insert_with(|| folder.is_some_and(|folder| is_alive(folder, token)))
    }
}

fn is_alive(folder: &Dir, token: i64) -> bool {
    match folder.open(name(token)) {
        // A shared lock does not block other processes that check.
        Ok(file) => file.into_std().try_lock_shared().is_err(),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

fn name(token: i64) -> String {
    format!("{token:016x}")
}

fn token_of(name: &str) -> Option<i64> {
    u64::from_str_radix(name, 16).ok().map(u64::cast_signed)
}
