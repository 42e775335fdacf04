//! The key for the digests, which is stored beside the ledger and can be read by the user alone.
//!
//! Arguments are often short: a name, a number, a password. Without a key, one could find them by
//! trying all candidates.

use std::{
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use cap_std::fs::{Dir, OpenOptions};
use chacha20poly1305::{
    KeyInit as _, XChaCha20Poly1305, XNonce,
    aead::{Aead as _, Payload},
};
use hmac::{Hmac, Mac as _};
use rand::{TryRngCore as _, rngs::OsRng};
use sha2::{Digest as _, Sha256};

use crate::{entry::Digest, error::LedgerError};

/// The name of its file.
pub(crate) const NAME: &str = "ledger.key";
const BYTES: usize = 32;
/// Input from which the key for seals is derived. It is used twice, because a digest of this very
/// text is half of the result of one round.
const SEAL: &[u8] = b"belljar: runs that were put aside\0";

/// The place of a folder's key, which is read or created when it is first needed.
pub(crate) struct KeyPlace {
    folder: Option<PathBuf>,
    key: OnceLock<Result<Arc<Key>, LedgerError>>,
}

impl KeyPlace {
    pub(crate) fn new(folder: Option<&Path>) -> Self {
        Self { folder: folder.map(Path::to_owned), key: OnceLock::new() }
    }

    pub(crate) fn get(&self) -> Result<Arc<Key>, LedgerError> {
        let found = || {
            let path = self.folder.as_deref().ok_or(LedgerError::NoFolder)?;
            let key = belljar_files::own_folder(path).and_then(|folder| Key::of(&folder));
            key.map(Arc::new).map_err(|error| LedgerError::Key { path: path.join(NAME), error: Arc::new(error) })
        };
        self.key.get_or_init(found).clone()
    }
}

/// The key.
pub(crate) struct Key {
    hmac: Hmac<Sha256>,
    seal: XChaCha20Poly1305,
    id: u32,
}

impl Key {
    /// Returns the key in this folder, and creates it if there is none.
    pub(crate) fn of(folder: &Dir) -> io::Result<Self> {
        match read(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make(folder)?;
                read(folder)
            }
            key => key,
        }
    }

    fn new(bytes: &[u8; BYTES]) -> Self {
        let [a, b, c, d, ..]: [u8; 32] = Sha256::digest(bytes).into();
        // A key of any length is valid, so this cannot fail.
        let hmac =
            Hmac::new_from_slice(bytes).unwrap_or_else(|_| Hmac::new(&hmac::digest::Key::<Hmac<Sha256>>::default()));
        // A separate key, which no digest reveals.
        let mut derived = hmac.clone();
        derived.update(SEAL);
        let derived = derived.finalize().into_bytes();
        let mut seal = Hmac::<Sha256>::new_from_slice(&derived).unwrap_or_else(|_| hmac.clone());
        seal.update(SEAL);
        let seal = XChaCha20Poly1305::new(&seal.finalize().into_bytes());
        Self { hmac, seal, id: u32::from_le_bytes([a, b, c, d]) }
    }

    /// Seals bytes under this name: without the key they cannot be read or changed, or used under
    /// another name.
    pub(crate) fn sealed(&self, name: u64, bytes: &[u8]) -> Option<Vec<u8>> {
        self.sealed_for(&name.to_be_bytes(), bytes)
    }

    /// Opens bytes that were sealed under this name.
    pub(crate) fn opened(&self, name: u64, sealed: &[u8]) -> Option<Vec<u8>> {
        self.opened_for(&name.to_be_bytes(), sealed)
    }

    /// Seals bytes for one purpose only.
    pub(crate) fn sealed_for(&self, purpose: &[u8], bytes: &[u8]) -> Option<Vec<u8>> {
        let mut nonce = XNonce::default();
        OsRng.try_fill_bytes(&mut nonce).ok()?;
        let payload = Payload { msg: bytes, aad: purpose };
        let sealed = self.seal.encrypt(&nonce, payload).ok()?;
        Some([nonce.as_slice(), &sealed].concat())
    }

    /// Opens bytes that were sealed for this purpose.
    pub(crate) fn opened_for(&self, purpose: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, sealed) = sealed.split_first_chunk::<24>()?;
        let payload = Payload { msg: sealed, aad: purpose };
        self.seal.decrypt(&XNonce::from(*nonce), payload).ok()
    }

    /// Identifies the key. Digests of two keys cannot be compared.
    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    /// The digest of a text.
    pub(crate) fn digest(&self, text: &[u8]) -> Digest {
        let mut hmac = self.hmac.clone();
        hmac.update(text);
        let whole: [u8; 32] = hmac.finalize().into_bytes().into();
        let mut digest = Digest::default();
        digest.iter_mut().zip(whole).for_each(|(to, from)| *to = from);
        digest
    }
}

fn read(folder: &Dir) -> io::Result<Key> {
    let file = belljar_files::open(folder, NAME, OpenOptions::new().read(true))?;
    let mut text = Vec::new();
    file.take(BYTES as u64 + 1).read_to_end(&mut text)?;
    match <&[u8; BYTES]>::try_from(text.as_slice()) {
        Ok(bytes) => Ok(Key::new(bytes)),
        Err(_) => {
            let message = format!("it does not have the {BYTES} bytes of a key: remove it, and a new one is made");
            Err(io::Error::new(io::ErrorKind::InvalidData, message))
        }
    }
}

/// Creates a key, unless another process was faster. The file is written completely or not at all.
fn make(folder: &Dir) -> io::Result<()> {
    let mut bytes = [0; BYTES];
    OsRng.try_fill_bytes(&mut bytes).map_err(unlucky)?;
    let draft = format!("{NAME}.{:016x}", OsRng.try_next_u64().map_err(unlucky)?);
    let draft = Path::new(&draft);
    let mut file = belljar_files::open(folder, draft, OpenOptions::new().write(true).create_new(true))?;
    let made = file.write_all(&bytes).and_then(|()| file.sync_all());
    let made = made.and_then(|()| match folder.hard_link(draft, folder, NAME) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    });
    let removed = folder.remove_file(draft);
    made.and(removed)
}

/// The error if the system returns no random numbers.
pub(crate) fn unlucky(error: impl std::fmt::Display) -> io::Error {
    io::Error::other(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once_and_its_digests_are_those_of_no_other() {
        let (here, there) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let folder = |path: &Path| belljar_files::own_folder(path).expect("a folder");
        let (here, there) = (folder(here.path()), folder(there.path()));
        let keys: Vec<Key> = std::thread::scope(|scope| {
            let makers: Vec<_> = (0..8).map(|_| scope.spawn(|| Key::of(&here).expect("a key"))).collect();
            makers.into_iter().map(|maker| maker.join().expect("no panic")).collect()
        });
        let digest = keys[0].digest(b"text");
        assert!(keys.iter().all(|key| key.digest(b"text") == digest && key.id() == keys[0].id()));
        assert_ne!(keys[0].digest(b"texT"), digest);
        let other = Key::of(&there).expect("a key");
        assert_ne!(other.digest(b"text"), digest);
        assert_ne!(other.id(), keys[0].id());
        let names: Vec<_> = here.entries().expect("a list").map(|entry| entry.expect("an entry").file_name()).collect();
        assert_eq!(names, [NAME]);
    }

    #[test]
    fn what_is_sealed_is_opened_as_what_it_was_and_as_nothing_else() {
        let (key, other) = (Key::new(&[1; BYTES]), Key::new(&[2; BYTES]));
        let sealed = key.sealed(7, b"text").expect("random numbers");
        assert_eq!(key.opened(7, &sealed).as_deref(), Some(&b"text"[..]));
        assert_ne!(key.sealed(7, b"text"), Some(sealed.clone()), "no nonce is used twice");
        assert_eq!(key.opened(8, &sealed), None);
        assert_eq!(other.opened(7, &sealed), None);
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert_eq!(key.opened(7, &changed), None, "{at}");
            assert_eq!(key.opened(7, &sealed[..at]), None, "{at}");
        }
    }

    #[test]
    fn a_file_that_is_no_key_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = belljar_files::own_folder(folder.path()).expect("a folder");
        for text in [&b"short"[..], &[7; 33]] {
            folder.write(NAME, text).expect("written");
            let error = Key::of(&folder).err().expect("no key");
            assert!(error.to_string().contains("remove it"), "{error}");
        }
    }
}
