//! A socket whose file only its user can open.

use std::{
    io,
    os::unix::fs::{FileTypeExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use belljar_http::Listener;
use tokio::net::{UnixListener, UnixStream};

use crate::failure::Failure;

/// A socket's file, which is removed with it.
pub(crate) struct Socket(PathBuf);

impl Socket {
    /// Listens at `path`.
    pub(crate) async fn bind(path: &Path) -> Result<(Listener, Self), Failure> {
        let failed = |error: io::Error| {
            Failure::usage(format!("cannot listen at {}: {error}", path.display()), "name another with --socket")
        };
        // A socket of a killed server does not answer.
        let is_socket = std::fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
        let refuses = |error: io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
        if is_socket && UnixStream::connect(path).await.is_err_and(refuses) {
            std::fs::remove_file(path).map_err(failed)?;
        }
        let listener = UnixListener::bind(path).map_err(failed)?;
        let socket = Self(path.to_owned());
        // Each connection is checked, too; until then, and in a folder of others, nobody else gets
        // in.
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).map_err(failed)?;
        Ok((Listener::Unix(listener), socket))
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_file(&self.0) {
            tracing::info!("the socket {} was not removed: {error}", self.0.display());
        }
    }
}
