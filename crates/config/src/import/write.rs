//! Writes belljar.toml so that only its owner can read it, in one step, and never without keeping a
//! copy of the file that it replaces.

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use cap_std::{
    ambient_authority,
    fs::{Dir, OpenOptions},
};
use toml_edit::DocumentMut;

use crate::{
    ConfigError, Variables,
    error::ConfigErrorKind,
    file,
    import::{
        Plan, SCHEMA, SCHEMA_FILE,
        text::{check_text, insert},
    },
};

/// How many copies are kept. A user with more may remove some.
const MOST_COPIES: usize = 1_000;

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// How many servers were added.
    pub servers: usize,
    /// The copy of the previous file.
    pub copy: Option<PathBuf>,
}

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The existing file cannot be read, or is not a belljar.toml.
    #[error(transparent)]
    Existing(#[from] ConfigError),
    /// The existing file and the additions conflict.
    #[error("{} would be invalid with these servers, and was not changed: {problem}", path.display())]
    Rejected {
        /// The file.
        path: PathBuf,
        /// What would be invalid.
        problem: String,
    },
    /// The file system reports an error.
    #[error("{} cannot be written: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// There are too many copies.
    #[error("{} has {MOST_COPIES} copies beside it: remove some", path.display())]
    TooManyCopies {
        /// The file.
        path: PathBuf,
    },
}

/// Adds the servers of `plan` to the belljar.toml at `path`, or creates it. Existing text stays
/// unchanged.
///
/// # Errors
/// [`WriteError`]; the file is then unchanged.
pub fn write(path: &Path, plan: &Plan, variables: &Variables<'_>) -> Result<Written, WriteError> {
    let failed = |error| WriteError::Io { path: path.to_owned(), error };
    let existing = match file::read(path) {
        Ok(text) => Some(text),
        Err(ConfigErrorKind::NotFound) => None,
        Err(fault) => return Err(ConfigError { path: Some(path.to_owned()), ..ConfigError::from(fault) }.into()),
    };
    let rejected = |problem| WriteError::Rejected { path: path.to_owned(), problem };
    let text = joined(existing.as_deref().unwrap_or_default(), plan).map_err(rejected)?;
    check_text(&text, path.parent().unwrap_or(Path::new("")), variables).map_err(rejected)?;

    // A link is followed, because its owner means the file that it points to.
    let real = if existing.is_some() { path.canonicalize().map_err(failed)? } else { path.to_owned() };
    let (Some(parent), Some(name)) = (real.parent(), real.file_name().and_then(|name| name.to_str())) else {
        return Err(failed(io::ErrorKind::InvalidFilename.into()));
    };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    belljar_files::make_folder(parent).map_err(failed)?;
    let directory = Dir::open_ambient_dir(parent, ambient_authority()).map_err(failed)?;
    let copy = match &existing {
        None => None,
        Some(existing) => {
            let copy = copied(&directory, name, existing).map_err(failed)?;
            Some(parent.join(copy.ok_or(WriteError::TooManyCopies { path: path.to_owned() })?))
        }
    };
    replace(&directory, SCHEMA_FILE, SCHEMA).map_err(failed)?;
    match existing {
        Some(_) => replace(&directory, name, &text),
        // If somebody else creates the file meanwhile, theirs is kept.
        None => create(&directory, name, &text),
    }
    .map_err(failed)?;
    Ok(Written { servers: plan.len(), copy })
}

/// `existing` with the servers of the plan at its end.
pub(super) fn joined(existing: &str, plan: &Plan) -> Result<String, String> {
    let existing = existing.strip_prefix('\u{feff}').unwrap_or(existing);
    let mut document: DocumentMut = existing.parse().map_err(|_| "it is not valid TOML".to_owned())?;
    insert(&mut document, plan.tables())?;
    let text = document.to_string();
    let refers_to_schema = text.lines().any(|line| line.starts_with("#:schema "));
    Ok(if refers_to_schema { text } else { format!("#:schema ./{SCHEMA_FILE}\n{text}") })
}

/// Keeps a copy under the first free name, and returns its path.
fn copied(directory: &Dir, name: &str, text: &str) -> io::Result<Option<String>> {
    for number in 1..=MOST_COPIES {
        let copy = format!("{name}.before-import-{number}");
        match create(directory, &copy, text) {
            Ok(()) => return Ok(Some(copy)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Creates a file that only its owner can read, because the configuration may contain secrets.
fn create(directory: &Dir, name: &str, text: &str) -> io::Result<()> {
    let mut file = belljar_files::open(directory, name, OpenOptions::new().write(true).create_new(true))?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Writes a temporary file and renames it, so that nobody ever reads half of it.
fn replace(directory: &Dir, name: &str, text: &str) -> io::Result<()> {
    let temporary = format!(".{name}.{}", std::process::id());
    create(directory, &temporary, text)?;
    directory.rename(&temporary, directory, name).inspect_err(|_| {
        // The first error is reported.
        let _ = directory.remove_file(&temporary);
    })
}
