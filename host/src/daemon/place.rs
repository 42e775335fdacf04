//! Which daemon a command belongs to: one per user, configuration, and environment of the children.

use std::{
    hash::{Hash as _, Hasher},
    path::{Path, PathBuf},
    sync::Once,
};

use belljar_daemon::{Address, AddressError};
use belljar_model::{ErrorKind, RunError};
use sha2::{Digest as _, Sha256};

use crate::{
    environment,
    failure::Failure,
    output::{self, visible_line},
    setup::Loaded,
};

/// Variables of a terminal, which change from one to the next and do not affect servers.
const OF_THE_TERMINAL: [&str; 1] = ["TERM"];
/// Bytes of a digest in a name: enough to be unique, and short enough for a socket's path.
const NAME_BYTES: usize = 8;

/// The address of a configuration's daemon, and its expected state.
pub(crate) struct Place {
    pub(crate) address: Address,
    /// The digest of the configuration's content and belljar's version: a daemon with another one
    /// is replaced.
    pub(crate) fingerprint: String,
}

impl Place {
    pub(crate) fn of(loaded: &Loaded) -> Result<Self, Failure> {
        Ok(Self { address: address(&name(loaded))?, fingerprint: fingerprint(loaded) })
    }
}

/// The first usable place. The daemon and its clients find the same one, since they see the same
/// folders.
fn address(name: &str) -> Result<Address, Failure> {
    static SAID: Once = Once::new();
    let mut refused: Option<AddressError> = None;
    for folder in environment::runtime_folders() {
        match (Address::new(&folder, name), &refused) {
            (Ok(address), None) => return Ok(address),
            (Ok(address), Some(fault)) => {
                SAID.call_once(|| {
                    let (fault, folder) = (fault.to_string(), folder.display().to_string());
                    output::note(format_args!(
                        "{}: the daemon's socket is in {} instead",
                        visible_line(&fault),
                        visible_line(&folder)
                    ));
                });
                return Ok(address);
            }
            (Err(fault), None) => refused = Some(fault),
            (Err(_), Some(_)) => {}
        }
    }
    // There is always a temporary folder, or on Windows one of the user.
    Err(refused.map_or_else(|| Failure::internal("there is no folder for the daemon's socket"), unusable))
}

/// The name of the configuration in this environment.
fn name(loaded: &Loaded) -> String {
    let mut digest = Sha256::new();
    add(&mut digest, loaded.path.as_deref().map(absolute).unwrap_or_default().as_os_str().as_encoded_bytes());
    for (name, value) in environment::of_children(&loaded.config.children).passed {
        if !OF_THE_TERMINAL.contains(&name.as_str()) {
            // On Windows, names of variables ignore case.
            let name = if cfg!(windows) { name.to_uppercase() } else { name };
            add(&mut digest, name.as_bytes());
            add(&mut digest, value.as_bytes());
        }
    }
    for (name, value) in &loaded.looked_up {
        add(&mut digest, name.as_bytes());
        add(&mut digest, value.as_deref().unwrap_or_default().as_bytes());
    }
    hexadecimal(&digest.finalize()[..NAME_BYTES])
}

pub(crate) fn fingerprint(loaded: &Loaded) -> String {
    let mut digest = Sha256::new();
    add(&mut digest, env!("CARGO_PKG_VERSION").as_bytes());
    loaded.config.hash(&mut Hashing(&mut digest));
    // Only whether there is a folder of scripts: its contents are read again for each run.
    add(&mut digest, &loaded.skill_folders().len().to_le_bytes());
    add(&mut digest, loaded.policy.as_ref().map_or(&[], |rules| rules.text.as_bytes()));
    hexadecimal(&digest.finalize()[..NAME_BYTES])
}

/// Turns a hashable value into a digest: configurations that differ in a secret have different
/// digests, which do not reveal it.
struct Hashing<'digest>(&'digest mut Sha256);

impl Hasher for Hashing<'_> {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Not needed: the digest is used.
    fn finish(&self) -> u64 {
        0
    }
}

/// Adds a part with its length, so that its end counts too.
fn add(digest: &mut Sha256, part: &[u8]) {
    digest.update(part.len().to_le_bytes());
    digest.update(part);
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The canonical path of a file, whatever the current folder is.
fn absolute(path: &Path) -> PathBuf {
    path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}

fn unusable(fault: AddressError) -> Failure {
    RunError::new(ErrorKind::Config, fault.to_string()).with_hint(fault.hint()).into()
}
