//! Checks that locks work at the file's location: all processes that share it rely on them.

use std::{
    fs::{File, TryLockError},
    io,
    path::Path,
};

use cap_std::fs::{Dir, OpenOptions};

use crate::{error::LedgerError, key};

/// Checks that the file is not in a place with unreliable locks.
#[cfg(target_os = "linux")]
pub(super) fn on_this_machine(folder: &Path, path: &Path) -> Result<(), LedgerError> {
    // If the file system cannot be determined, we try to use it.
    let Ok(found) = rustix::fs::statfs(folder) else { return Ok(()) };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the magic numbers have 32 bits")]
    let magic = found.f_type as u32;
    match network(magic) {
        Some(kind) => Err(LedgerError::Network { path: path.to_owned(), kind }),
        None => Ok(()),
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn on_this_machine(_: &Path, _: &Path) -> Result<(), LedgerError> {
    Ok(())
}

/// The name of a network file system.
#[cfg(target_os = "linux")]
fn network(magic: u32) -> Option<&'static str> {
    // From linux/magic.h.
    const NETWORK: [(u32, &str); 6] = [
        (0x6969, "NFS"),
        (0xff53_4d42, "CIFS"),
        (0xfe53_4d42, "SMB"),
        (0x0102_1997, "9P"),
        (0x5346_414f, "AFS"),
        (0x00c3_6400, "Ceph"),
    ];
    NETWORK.iter().find_map(|(known, kind)| (*known == magic).then_some(*kind))
}

/// Checks that files can be locked at all. SQLite takes a failing lock to be one that another
/// process holds, and would wait for it each time.
///
/// This uses the key's file beside the ledger, which nobody locks. The ledger itself must not be
/// used: closing a file releases all locks that the process holds on it.
pub(super) fn has_locks(folder: &Dir, path: &Path) -> Result<(), LedgerError> {
    let file = match belljar_files::open(folder, key::NAME, OpenOptions::new().read(true)) {
        Ok(file) => file.into_std(),
        // Without a key nothing is written, and that error is reported elsewhere.
        Err(_) => return Ok(()),
    };
    try_locks(&file).map_err(|error| LedgerError::NoLocks { path: path.to_owned(), problem: error.to_string() })
}

/// Tries both kinds of locks: the kind that [`live`](super::live) uses, and the kind that SQLite
/// uses.
fn try_locks(file: &File) -> io::Result<()> {
    match file.try_lock_shared() {
        Err(TryLockError::Error(error)) => return Err(error),
        Ok(()) | Err(TryLockError::WouldBlock) => {}
    }
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::FlockOperation;

        // If the system implements one kind with the other, they conflict.
        file.unlock()?;
        match rustix::fs::fcntl_lock(file, FlockOperation::NonBlockingLockShared) {
            Ok(()) | Err(rustix::io::Errno::AGAIN | rustix::io::Errno::ACCESS) => {}
            Err(error) => return Err(error.into()),
        }
        rustix::fs::fcntl_lock(file, FlockOperation::Unlock)?;
    }
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_network_file_system_is_known_and_a_disk_is_not_taken_for_one() {
        assert_eq!(network(0x6969), Some("NFS"));
        // ext4, btrfs, tmpfs, overlayfs.
        for local in [0xef53, 0x9123_683e, 0x0102_1994, 0x794c_7630] {
            assert_eq!(network(local), None, "{local:x}");
        }
        let here = tempfile::tempdir().expect("a folder");
        on_this_machine(here.path(), &here.path().join("ledger.db")).expect("this machine's own");
    }
}
