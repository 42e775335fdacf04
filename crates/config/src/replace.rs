//! Replaces a file of the user's: completely or not at all, after making a copy, and never if
//! somebody else has changed it in the meantime.

use std::{
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
};

use cap_std::{
    ambient_authority,
    fs::{Dir, OpenOptions},
};

/// The most copies that are kept next to a file.
const MOST_COPIES: u32 = 100;

/// Replaces `before`, the file's content as it was read, by `text`, or creates the file if there
/// was none. Returns the path of the copy of the old file: `FILE.SUFFIX-N`. A new file can be read
/// by its owner only; an existing one keeps its mode.
///
/// # Errors
/// The system's error; also if the file has changed since it was read.
pub fn replace(path: &Path, before: Option<&str>, text: &str, suffix: &str) -> io::Result<Option<PathBuf>> {
    put_in_place(path, before, text, suffix, Mode::AsItWas)
}

/// The same for a text to which belljar adds a secret: afterwards only the owner can read the file.
///
/// # Errors
/// The same as [`replace`].
pub fn replace_with_secret(path: &Path, before: Option<&str>, text: &str, suffix: &str) -> io::Result<Option<PathBuf>> {
    put_in_place(path, before, text, suffix, Mode::OwnerAlone)
}

/// Who can read a file that is replaced.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    AsItWas,
    OwnerAlone,
}

fn put_in_place(
    path: &Path,
    before: Option<&str>,
    text: &str,
    suffix: &str,
    mode: Mode,
) -> io::Result<Option<PathBuf>> {
    // A link is followed, because its owner means the file that it points to.
    let real = if before.is_some() { path.canonicalize()? } else { std::path::absolute(path)? };
    let (Some(folder), Some(name)) = (real.parent(), real.file_name().and_then(|name| name.to_str())) else {
        return Err(io::ErrorKind::InvalidFilename.into());
    };
    belljar_files::make_folder(folder)?;
    let directory = Dir::open_ambient_dir(folder, ambient_authority())?;
    let Some(before) = before else {
        create(&directory, name, text)?;
        return Ok(None);
    };
    let copy = copied(&directory, name, before, suffix)?;
    let temporary = format!(".{name}.{}", std::process::id());
    create(&directory, &temporary, text)?;
    let put = || {
        // New files can be read by their owner only.
        if mode == Mode::AsItWas {
            directory.set_permissions(&temporary, directory.metadata(name)?.permissions())?;
        }
        let mut now = String::new();
        directory.open(name)?.take(before.len() as u64 + 1).read_to_string(&mut now)?;
        if now != before {
            return Err(io::Error::other("it was changed in the meantime: try again"));
        }
        directory.rename(&temporary, &directory, name)
    };
    put().inspect_err(|_| {
        // The first error is reported.
        let _ = directory.remove_file(&temporary);
        let _ = directory.remove_file(&copy);
    })?;
    Ok(Some(folder.join(copy)))
}

/// Keeps a copy under the first free name, or else under the last one, and returns its path.
fn copied(directory: &Dir, name: &str, text: &str, suffix: &str) -> io::Result<String> {
    for number in 1..=MOST_COPIES {
        let copy = format!("{name}.{suffix}-{number}");
        match create(directory, &copy, text) {
            Ok(()) => return Ok(copy),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    // The last copy is the one that will be missed least.
    let copy = format!("{name}.{suffix}-{MOST_COPIES}");
    directory.remove_file(&copy)?;
    create(directory, &copy, text)?;
    Ok(copy)
}

/// Creates a file that only its owner can read, because the configuration may contain secrets.
fn create(directory: &Dir, name: &str, text: &str) -> io::Result<()> {
    let mut file = belljar_files::open(directory, name, OpenOptions::new().write(true).create_new(true))?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
