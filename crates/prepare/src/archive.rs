//! A crate's `.crate` file: found where cargo keeps it, checked, unpacked.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::Command,
};

use sha2::{Digest as _, Sha256};

use crate::lock::LockedCrate;

/// Why a crate could not be unpacked.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// Cargo's folder is not known.
    #[error("neither CARGO_HOME nor a home folder is known: set CARGO_HOME to where cargo keeps what it downloads")]
    NoCargoHome,
    /// Cargo could not be started.
    #[error("cannot start cargo to fetch the guest's dependencies: {0}")]
    NoCargo(io::Error),
    /// Cargo did not fetch.
    #[error(
        "cargo could not fetch the guest's dependencies (offline?): run `cargo fetch --locked` in guest/ where there is a network"
    )]
    NotFetched,
    /// Not there even after fetching.
    #[error(
        "no {file} with the SHA-256 {checksum} of guest/Cargo.lock lies below {}: the guest cannot be built from vendored sources; \
         set BELLJAR_GUEST_COMPONENT to a component that was built elsewhere", cache.display()
    )]
    Missing {
        /// The name of the file that was looked for.
        file: String,
        /// The digest that it should have.
        checksum: String,
        /// Where it was looked for.
        cache: PathBuf,
    },
    /// The archive could not be read or its files written.
    #[error("cannot unpack {}: {source}", path.display())]
    Unpack {
        /// The archive.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
}

/// The bytes of the crate's archive, which have the locked digest. `fetch` is run where they are
/// not there yet.
pub(crate) fn read(wanted: &LockedCrate, fetch: &mut Command) -> Result<Vec<u8>, ArchiveError> {
    let cache = cargo_home()?.join("registry").join("cache");
    if let Some(bytes) = find(wanted, &cache) {
        return Ok(bytes);
    }
    let status = fetch.status().map_err(ArchiveError::NoCargo)?;
    if !status.success() {
        return Err(ArchiveError::NotFetched);
    }
    let file = file_name(wanted);
    find(wanted, &cache).ok_or_else(|| ArchiveError::Missing { file, checksum: wanted.checksum.clone(), cache })
}

/// Unpacks an archive into `folder`, as which it has one folder at its top.
pub(crate) fn unpack(bytes: &[u8], folder: &Path) -> Result<(), ArchiveError> {
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(bytes));
    // With new times, so that cargo compiles again what it compiled before the patches changed.
    archive.set_preserve_mtime(false);
    archive.unpack(folder).map_err(|source| ArchiveError::Unpack { path: folder.to_owned(), source })
}

/// Looks through the folder of each registry, since a mirror of crates.io has another name there.
fn find(wanted: &LockedCrate, cache: &Path) -> Option<Vec<u8>> {
    let registries = fs::read_dir(cache).ok()?.flatten();
    registries.into_iter().find_map(|registry| {
        let bytes = fs::read(registry.path().join(file_name(wanted))).ok()?;
        (digest(&bytes) == wanted.checksum).then_some(bytes)
    })
}

fn file_name(wanted: &LockedCrate) -> String {
    format!("{}-{}.crate", wanted.name, wanted.version)
}

/// A SHA-256 in hexadecimal, as lock files have it.
pub(crate) fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Where cargo keeps what it downloads.
pub(crate) fn cargo_home() -> Result<PathBuf, ArchiveError> {
    let given = env::var_os("CARGO_HOME").map(PathBuf::from);
    given.or_else(|| Some(env::home_dir()?.join(".cargo"))).ok_or(ArchiveError::NoCargoHome)
}
