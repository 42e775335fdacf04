//! File locks that decide who starts a daemon, and show whether one is running. The system releases
//! them when their holder dies, for whatever reason.

use std::{
    fs::{File, TryLockError},
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use tokio::time::timeout;

use crate::platform;

/// A lock on a file, held until it is dropped.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// Why a lock cannot be acquired.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// The file cannot be opened or locked.
    #[error("the lock file {} cannot be used: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Another process has held it for too long.
    #[error("another process holds the lock file {} for more than {} s", path.display(), waited.as_secs())]
    Held {
        /// The file.
        path: PathBuf,
        /// How long we waited.
        waited: Duration,
    },
}

impl Lock {
    /// Waits at most `patience` for the lock on the file `path`, which is created if it is missing.
    ///
    /// # Errors
    /// [`LockError`], if the file is unusable or another process keeps the lock.
    ///
    /// # Cancellation
    /// Dropping the future gives up. A thread of the runtime keeps waiting until it gets the lock,
    /// and then releases it.
    pub(crate) async fn acquire(path: &Path, patience: Duration) -> Result<Self, LockError> {
        let fault = |source| LockError::File { path: path.to_owned(), source };
        let file = platform::open_private(path).map_err(fault)?;
        match file.try_lock() {
            Ok(()) => return Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(source)) => return Err(fault(source)),
        }
        let waiting = tokio::task::spawn_blocking(move || file.lock().map(|()| file));
        match timeout(patience, waiting).await {
            Ok(Ok(Ok(file))) => Ok(Self { _file: file }),
            Ok(Ok(Err(source))) => Err(fault(source)),
            Ok(Err(ended)) => Err(fault(io::Error::other(ended))),
            Err(_) => Err(LockError::Held { path: path.to_owned(), waited: patience }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_holder_at_a_time_and_the_next_has_it_when_the_first_lets_go() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let first = Lock::acquire(&path, Duration::ZERO).await.unwrap();
        let fault = Lock::acquire(&path, Duration::from_millis(1)).await.unwrap_err();
        assert!(matches!(fault, LockError::Held { .. }), "{fault}");
        let next = Lock::acquire(&path, Duration::from_secs(60));
        let (next, ()) = tokio::join!(next, async { drop(first) });
        drop(next.unwrap());
        // The attempt that was given up may have it for a moment.
        Lock::acquire(&path, Duration::from_secs(60)).await.unwrap();
    }
}
