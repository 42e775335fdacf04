//! The file of one server's tokens, and the lock beside it.

use std::{
    io::{self, Write as _},
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use cap_std::fs::{Dir, File, OpenOptions};
use rmcp::transport::{AuthError, CredentialStore, StoredCredentials};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use tokio::task::spawn_blocking;

use super::scope;

/// Tokens have a few KB, even those that contain a document.
const FILE_BYTES: u64 = 256 * 1024;
/// A token that expires this soon is renewed first: the request must still arrive.
const MARGIN_SECONDS: u64 = 30;

/// The files of one server's tokens.
#[derive(Clone)]
pub(super) struct Store {
    folder: Arc<Dir>,
    name: String,
}

/// The parts of the tokens that a request needs.
pub(super) struct Stored {
    pub(super) token: String,
    refresh: Option<String>,
    /// When it expires, in seconds of Unix time, if that is known.
    end: Option<u64>,
}

impl Stored {
    /// The secrets that no text may quote.
    pub(super) fn secrets(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.token.as_str()).chain(self.refresh.as_deref())
    }

    pub(super) fn is_fresh(&self) -> bool {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        self.end.is_none_or(|end| end > now.saturating_add(MARGIN_SECONDS))
    }
}

/// Releases the lock when dropped, as does the end of the process.
pub(super) struct Guard(#[expect(dead_code, reason = "it is kept for its drop")] std::fs::File);

impl Store {
    /// Tokens belong to a URL, not to its name in a configuration.
    pub(super) fn of(folder: Arc<Dir>, url: &str) -> Self {
        let hash: String = Sha256::digest(url).iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        Self { folder, name: format!("login-{hash}.json") }
    }

    /// Notes that the server wants these scopes, in addition to earlier ones.
    pub(super) async fn want(&self, more: &[String]) -> io::Result<()> {
        let known = self.wanted().await?;
        let all = scope::scopes(known.iter().chain(more).map(String::as_str));
        if all == known {
            return Ok(());
        }
        let text = serde_json::to_string(&all).map_err(|_| unusable())?;
        self.write_to(self.name_of_wanted(), text).await
    }

    /// The scopes that the server wanted.
    pub(super) async fn wanted(&self) -> io::Result<Vec<String>> {
        let Some(text) = self.text_of(self.name_of_wanted()).await? else { return Ok(Vec::new()) };
        // It only affects what is requested: an unreadable file counts as empty.
        let wanted: Vec<String> = serde_json::from_str(&text).unwrap_or_default();
        Ok(scope::scopes(wanted.iter().map(String::as_str)))
    }

    /// Forgets them after they were requested.
    pub(super) fn forget_wanted(&self) -> io::Result<()> {
        match self.folder.remove_file(self.name_of_wanted()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// The scopes that the login has.
    pub(super) async fn granted(&self) -> io::Result<Vec<String>> {
        #[derive(Deserialize)]
        struct Credentials {
            #[serde(default)]
            granted_scopes: Vec<String>,
        }
        let Some(text) = self.text().await? else { return Ok(Vec::new()) };
        let credentials: Credentials = serde_json::from_str(&text).map_err(|_| unusable())?;
        Ok(scope::scopes(credentials.granted_scopes.iter().map(String::as_str)))
    }

    fn name_of_wanted(&self) -> String {
        format!("{}.wanted", self.name)
    }

    pub(super) fn is_there(&self) -> bool {
        self.folder.exists(&self.name)
    }

    /// Waits until no other process renews this server's tokens, and prevents them from doing so.
    pub(super) async fn lock(&self) -> io::Result<Guard> {
        let store = self.clone();
        let locked = spawn_blocking(move || {
            let file = store.open(&format!("{}.lock", store.name), OpenOptions::new().write(true).create(true))?;
            let file = file.into_std();
            file.lock()?;
            Ok(Guard(file))
        });
        locked.await.map_err(io::Error::other)?
    }

    pub(super) async fn read(&self) -> io::Result<Option<Stored>> {
        #[derive(Deserialize)]
        struct Credentials {
            token_response: Option<Tokens>,
            token_received_at: Option<u64>,
        }
        #[derive(Deserialize)]
        struct Tokens {
            access_token: String,
            refresh_token: Option<String>,
            expires_in: Option<u64>,
        }
        let Some(text) = self.text().await? else { return Ok(None) };
        // The parser's error is not shown, since it would quote the file.
        let credentials: Credentials = serde_json::from_str(&text).map_err(|_| unusable())?;
        Ok(credentials.token_response.map(|tokens| Stored {
            token: tokens.access_token,
            refresh: tokens.refresh_token,
            end: credentials
                .token_received_at
                .zip(tokens.expires_in)
                .map(|(received, seconds)| received.saturating_add(seconds)),
        }))
    }

    async fn text(&self) -> io::Result<Option<String>> {
        self.text_of(self.name.clone()).await
    }

    async fn text_of(&self, name: String) -> io::Result<Option<String>> {
        let store = self.clone();
        let read = spawn_blocking(move || belljar_files::read_text(&store.folder, &name, FILE_BYTES));
        read.await.map_err(io::Error::other)?
    }

    async fn write(&self, text: String) -> io::Result<()> {
        self.write_to(self.name.clone(), text).await
    }

    async fn write_to(&self, name: String, text: String) -> io::Result<()> {
        let store = self.clone();
        let written = spawn_blocking(move || {
            let unfinished = format!("{name}.{}", std::process::id());
            let mut file = store.open(&unfinished, OpenOptions::new().write(true).create(true).truncate(true))?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            store.folder.rename(&unfinished, &store.folder, &name)
        });
        written.await.map_err(io::Error::other)?
    }

    /// Opens a file that only its owner can read.
    fn open(&self, name: &str, options: &mut OpenOptions) -> io::Result<File> {
        belljar_files::open(&self.folder, name, options)
    }
}

fn unusable() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the stored login cannot be read")
}

fn failed(error: io::Error) -> AuthError {
    AuthError::CredentialStoreError(error.to_string())
}

/// The interface for rmcp. [`Store::lock`] prevents two processes from renewing at once, before
/// rmcp is used.
#[async_trait::async_trait]
impl CredentialStore for Store {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        let Some(text) = self.text().await.map_err(failed)? else { return Ok(None) };
        serde_json::from_str(&text).map(Some).map_err(|_| failed(unusable()))
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        let text = serde_json::to_string(&credentials).map_err(|_| failed(unusable()))?;
        self.write(text).await.map_err(failed)
    }

    async fn clear(&self) -> Result<(), AuthError> {
        match self.folder.remove_file(&self.name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(error)),
            _ => Ok(()),
        }
    }
}
