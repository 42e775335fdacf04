//! The guest's dependencies as they are locked, with belljar's patches applied.
//!
//! The engine inside the guest is kept as a distribution keeps its packages: as its authors
//! released it, with patches beside it, each for one slip (`guest/patches/CRATE/NN-what.patch`).
//! This crate takes the `.crate` file that `guest/Cargo.lock` names, checks its SHA-256, unpacks it
//! into `guest/.crates` and applies the patches in their order. A configuration file for cargo
//! (`--config`) then puts the result in the place of the registry's crate; lock file and manifest
//! stay as they are.
//!
//! It never guesses: a file with another digest and a patch that does not fit are errors.
//!
//! The component should not depend on where it is built: its digest says which engine it is. So the
//! configuration file takes the paths of this machine out of the texts of panics, and what was
//! unpacked lies below the guest's workspace: cargo names a crate of another place by its whole
//! path, and the compiler puts that name into every symbol.

#![forbid(unsafe_code)]

mod archive;
mod lock;
mod patch;

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

pub use archive::ArchiveError;
pub use lock::{LockedCrate, locked};
pub use patch::{PatchError, apply};

/// Names the digest of what was prepared while the guest is compiled. The guest refuses to be
/// compiled without it, since it would be made with an engine that lacks the patches.
pub const PATCHES_VARIABLE: &str = "BELLJAR_GUEST_PATCHES";

/// Where the unpacked crates lie, in the guest's workspace.
const STORE: &str = ".crates";
/// Raised when this crate does something else with the same inputs.
const FORMAT: &str = "1";
/// In an unpacked crate: what it was made of.
const STAMP: &str = ".belljar-stamp";

/// Why the guest's dependencies could not be prepared.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// A file or folder could not be read or written.
    #[error("cannot use {}: {source}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The lock file does not have what is patched, or has it twice.
    #[error(
        "guest/patches has patches for {name}, of which guest/Cargo.lock names {found} versions: there must be one"
    )]
    NotLocked {
        /// The crate.
        name: String,
        /// How many of it there are.
        found: usize,
    },
    /// The crate's archive could not be had.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// A patch does not fit.
    #[error("{} does not apply to {name} {version}: {source}", path.display())]
    Patch {
        /// The patch.
        path: PathBuf,
        /// The crate that it is for.
        name: String,
        /// The locked version.
        version: String,
        /// What is wrong.
        source: PatchError,
    },
}

/// Prepares what the guest of `repository` depends on, in `guest/.crates`, and gives the path of
/// the configuration file to hand to cargo. Where nothing has changed, nothing is written.
///
/// `fetch` is run where cargo has not downloaded the guest's dependencies yet.
///
/// # Errors
/// When an archive is not to be had or has another digest, or a patch does not fit.
pub fn prepare(repository: &Path, fetch: &mut Command) -> Result<PathBuf, PrepareError> {
    let repository = fs::canonicalize(repository).map_err(at(repository))?;
    let store = repository.join("guest").join(STORE);
    fs::create_dir_all(&store).map_err(at(&store))?;
    // A build and a script may come here at once. The lock is given back with the file.
    let lock_path = store.join(".lock");
    let lock = fs::File::create(&lock_path).map_err(at(&lock_path))?;
    lock.lock().map_err(at(&lock_path))?;

    let lock_file = repository.join("guest").join("Cargo.lock");
    let locked_crates = fs::read_to_string(&lock_file).map_err(at(&lock_file))?;
    let mut folders = Vec::new();
    let mut stamps = String::new();
    for patched in entries(&repository.join("guest").join("patches"))?.into_iter().filter(|path| path.is_dir()) {
        let name = patched.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let found = locked(&locked_crates, &name);
        let [wanted] = &found[..] else { return Err(PrepareError::NotLocked { name, found: found.len() }) };
        let patches = Patches::read(&patched)?;
        let stamp = patches.stamp(wanted);
        let folder = store.join(format!("{}-{}", wanted.name, wanted.version));
        if !fs::read_to_string(folder.join(STAMP)).is_ok_and(|found| found == stamp) {
            make(&folder, wanted, &patches, &stamp, fetch)?;
        }
        stamps.push_str(&stamp);
        folders.push(folder);
    }

    let config = store.join("config.toml");
    // The folders have no quote in them that would end the text: TOML's literal strings take all
    // else as it is.
    let paths: Vec<String> = folders.iter().map(|folder| format!("'{}'", folder.display())).collect();
    // Of two that fit, the compiler takes the later one.
    let names = [(repository, "/belljar"), (archive::cargo_home()?, "/cargo")];
    let names = names.map(|(path, name)| format!("'--remap-path-prefix={}={name}'", path.display()));
    let text = format!(
        "# Written by crates/prepare: the guest's dependencies with belljar's patches.\npaths = [{}]\n\n\
         [target.wasm32-wasip2]\nrustflags = [{}]\n\n[env]\n\
         {PATCHES_VARIABLE} = {{ value = \"{}\", force = true }}\n",
        paths.join(", "),
        names.join(", "),
        archive::digest(stamps.as_bytes()),
    );
    if !fs::read_to_string(&config).is_ok_and(|found| found == text) {
        fs::write(&config, text).map_err(at(&config))?;
    }
    Ok(config)
}

/// Unpacks and patches a crate beside its place, and puts it there when it is whole.
fn make(
    folder: &Path,
    wanted: &LockedCrate,
    patches: &Patches,
    stamp: &str,
    fetch: &mut Command,
) -> Result<(), PrepareError> {
    let bytes = archive::read(wanted, fetch)?;
    let draft = folder.with_extension("draft");
    remove(&draft)?;
    archive::unpack(&bytes, &draft)?;
    let unpacked = draft.join(format!("{}-{}", wanted.name, wanted.version));
    for (path, text) in &patches.0 {
        apply(text, &unpacked).map_err(|source| PrepareError::Patch {
            path: path.clone(),
            name: wanted.name.clone(),
            version: wanted.version.clone(),
            source,
        })?;
    }
    let stamp_path = unpacked.join(STAMP);
    fs::write(&stamp_path, stamp).map_err(at(&stamp_path))?;
    remove(folder)?;
    fs::rename(&unpacked, folder).map_err(at(folder))?;
    remove(&draft)
}

/// The patches of one crate, in their order.
struct Patches(Vec<(PathBuf, String)>);

impl Patches {
    fn read(folder: &Path) -> Result<Self, PrepareError> {
        let paths = entries(folder)?.into_iter().filter(|path| path.extension().is_some_and(|end| end == "patch"));
        let read = |path: PathBuf| Ok((path.clone(), fs::read_to_string(&path).map_err(at(&path))?));
        paths.map(read).collect::<Result<_, PrepareError>>().map(Self)
    }

    /// What a crate is made of.
    fn stamp(&self, wanted: &LockedCrate) -> String {
        let mut stamp = format!("format {FORMAT}\n{} {} {}\n", wanted.name, wanted.version, wanted.checksum);
        for (path, text) in &self.0 {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            stamp.push_str(&format!("{name} {}\n", archive::digest(text.as_bytes())));
        }
        stamp
    }
}

/// What lies in a folder, by name.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, PrepareError> {
    let read = fs::read_dir(folder).map_err(at(folder))?;
    let mut paths: Vec<PathBuf> = read.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>().map_err(at(folder))?;
    paths.sort();
    Ok(paths)
}

fn remove(folder: &Path) -> Result<(), PrepareError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at(folder)(error)),
        _ => Ok(()),
    }
}

fn at(path: &Path) -> impl Fn(io::Error) -> PrepareError + '_ {
    |source| PrepareError::File { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    /// What of this repository is read, in a folder that a test can change.
    fn repository() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        let guest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../guest");
        let patches = folder.path().join("guest/patches/boa_engine");
        fs::create_dir_all(&patches).expect("a folder");
        fs::copy(guest.join("Cargo.lock"), folder.path().join("guest/Cargo.lock")).expect("a lock file");
        for patch in entries(&guest.join("patches/boa_engine")).expect("patches") {
            fs::copy(&patch, patches.join(patch.file_name().expect("a name"))).expect("a patch");
        }
        folder
    }

    fn fetch() -> Command {
        let mut fetch = Command::new("cargo");
        fetch.args(["fetch", "--locked"]).current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../guest"));
        fetch
    }

    #[test]
    fn all_patches_fit_the_locked_engine_and_a_second_time_nothing_is_written() {
        let repository = repository();
        let config = prepare(repository.path(), &mut fetch()).expect("all patches fit");
        let text = fs::read_to_string(&config).expect("a configuration");
        let engine = config.with_file_name("boa_engine-0.22.0");
        assert!(text.contains(&format!("'{}'", engine.display())), "{text}");
        assert!(engine.join("Cargo.toml").exists());
        let place = fs::canonicalize(repository.path()).expect("a folder");
        assert!(text.contains(&format!("'--remap-path-prefix={}=/belljar'", place.display())), "{text}");
        assert!(engine.starts_with(place.join("guest")), "a crate outside of the workspace is named by its path");

        let times = || -> Vec<SystemTime> {
            let files = [engine.join("src/lib.rs"), engine.join(STAMP), config.clone()];
            files.iter().map(|file| fs::metadata(file).expect("a file").modified().expect("a time")).collect()
        };
        let before = times();
        prepare(repository.path(), &mut fetch()).expect("it is there");
        assert_eq!(times(), before);
    }

    #[test]
    fn a_patch_that_does_not_fit_is_refused_by_name_and_what_was_there_stays() {
        let repository = repository();
        let config = prepare(repository.path(), &mut fetch()).expect("all patches fit");
        let stamp = config.with_file_name("boa_engine-0.22.0").join(STAMP);
        let before = fs::read_to_string(&stamp).expect("a stamp");

        let patch = repository.path().join("guest/patches/boa_engine/99-of-another-release.patch");
        fs::write(&patch, "--- a/src/lib.rs\n+++ b/src/lib.rs\n@@ -1,1 +1,1 @@\n-what it never was\n+x\n")
            .expect("a patch");
        let refused = prepare(repository.path(), &mut fetch()).expect_err("it does not fit");
        let text = refused.to_string();
        assert!(text.contains("99-of-another-release.patch does not apply to boa_engine 0.22.0"), "{text}");
        assert_eq!(fs::read_to_string(&stamp).expect("a stamp"), before);

        fs::remove_file(patch).expect("a file");
        prepare(repository.path(), &mut fetch()).expect("all patches fit");
    }

    #[test]
    fn a_crate_with_another_digest_is_refused() {
        let repository = repository();
        let lock = repository.path().join("guest/Cargo.lock");
        let text = fs::read_to_string(&lock).expect("a lock file");
        let engine = &locked(&text, "boa_engine")[0];
        fs::write(&lock, text.replace(&engine.checksum, &"0".repeat(64))).expect("a lock file");
        let refused = prepare(repository.path(), &mut fetch()).expect_err("the digest is another");
        assert!(matches!(refused, PrepareError::Archive(ArchiveError::Missing { .. })), "{refused}");
    }

    #[test]
    fn patches_for_what_is_not_locked_are_refused() {
        let repository = repository();
        fs::create_dir(repository.path().join("guest/patches/boa_enigne")).expect("a folder");
        let refused = prepare(repository.path(), &mut fetch()).expect_err("there is no such crate");
        assert!(matches!(refused, PrepareError::NotLocked { found: 0, .. }), "{refused}");
    }
}
