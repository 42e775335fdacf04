//! Passes a ticket to a browser: in a file that only the user can read, and never on a command
//! line, which every process could read.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::Stdio,
};

use belljar_daemon::requests::PageAddress;
use belljar_page::TICKET_LIVES;
use cap_std::fs::{Dir, OpenOptions};
use rand::{TryRngCore as _, rngs::OsRng};
use tokio::process::Command;

use crate::{environment, failure::Failure, setup};

/// A file with a ticket, which is removed when this is dropped.
pub(crate) struct Handover {
    folder: Dir,
    name: String,
    path: PathBuf,
}

impl Handover {
    /// Writes a document that leads a browser to the page.
    pub(crate) fn write(address: &PageAddress) -> Result<Self, Failure> {
        let folder = setup::needed_state_folder()?;
        remove_left(&folder);
        let failed = |error: std::io::Error| Failure::internal(format!("the page's ticket cannot be written: {error}"));
        let number = OsRng.try_next_u64().map_err(|error| failed(std::io::Error::other(error.to_string())))?;
        let name = format!("open-{number:016x}.html");
        let path = environment::state_folder().unwrap_or_default().join(&name);
        let mut options = OpenOptions::new();
        let mut file = belljar_files::open(&folder, &name, options.write(true).create_new(true)).map_err(failed)?;
        let written = Self { folder, name, path };
        // Neither needs escaping, since belljar made both: an address of digits, and hexadecimal
        // digits.
        let PageAddress { url, ticket } = address;
        let document = format!(
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
             <meta http-equiv=\"refresh\" content=\"0; url={url}#{ticket}\">\n<title>belljar</title>\n\
             <p>This leads to belljar's page, once.</p>\n</html>\n"
        );
        file.write_all(document.as_bytes()).map_err(failed)?;
        Ok(written)
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Has the system open it in the user's browser.
    pub(crate) async fn open(&self) -> Result<(), Failure> {
        let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
        let mut command = Command::new(program);
        command.arg(&self.path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        match command.status().await {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(Failure::usage(format!("{program} opened no browser: {status}"), HINT)),
            Err(error) => Err(Failure::usage(format!("{program} cannot be started: {error}"), HINT)),
        }
    }
}

/// Removes the files of commands that were killed. Their tickets are no longer valid.
fn remove_left(folder: &Dir) {
    let Ok(entries) = folder.entries() else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_ours = name.to_str().is_some_and(|name| name.starts_with("open-") && name.ends_with(".html"));
        let written = entry.metadata().and_then(|metadata| metadata.modified()).ok();
        let age = written.and_then(|at| at.into_std().elapsed().ok()).unwrap_or_default();
        if is_ours && age > TICKET_LIVES {
            // Another command may have removed it.
            let _ = folder.remove_file(&name);
        }
    }
}

const HINT: &str = "with --no-open the command names a file, which you open in a browser yourself";

impl Drop for Handover {
    fn drop(&mut self) {
        if let Err(error) = self.folder.remove_file(&self.name) {
            tracing::warn!("the file {} was not removed: {error}", self.path.display());
        }
    }
}
