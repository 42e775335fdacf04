//! Texts that the user names: a file, standard input, or the argument itself.

use std::{
    io::{self, Read},
    path::Path,
};

use cap_std::{ambient_authority, fs::Dir};

use crate::failure::Failure;

/// The first bytes of a WebAssembly file.
const WEBASSEMBLY: &[u8] = b"\0asm";

/// Reads a file, or standard input for `-` or no path, as UTF-8 of at most `max` bytes.
pub(crate) fn read(path: Option<&Path>, what: &str, max: u64) -> Result<String, Failure> {
    let (bytes, name) = match path {
        Some(path) if path != Path::new("-") => {
            let hint = format!("name a file that holds {what}, or - for stdin");
            (read_file(path, max, &hint)?, path.display().to_string())
        }
        _ => {
            let bytes = bounded(io::stdin().lock(), max).map_err(|error| {
                Failure::usage(format!("stdin cannot be read: {error}"), format!("give {what} as a file"))
            })?;
            (bytes, "stdin".to_owned())
        }
    };
    if bytes.starts_with(WEBASSEMBLY) {
        return Err(Failure::usage(
            format!("{name} is WebAssembly, not {what}"),
            "belljar run takes a component from a file whose name ends in .wasm; --plan there says what it could reach",
        ));
    }
    if bytes.len() as u64 > max {
        return Err(too_large(&name, what, max, "pass data through tools instead"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let position = error.utf8_error().valid_up_to();
        Failure::usage(
            format!("{name} is not UTF-8: the byte at offset {position} begins no character"),
            "save it as UTF-8",
        )
    })
}

/// Reads a file of at most `max` bytes of any content.
pub(crate) fn read_bytes(path: &Path, what: &str, max: u64) -> Result<Vec<u8>, Failure> {
    let bytes = read_file(path, max, &format!("name a file that holds {what}"))?;
    if bytes.len() as u64 > max {
        return Err(too_large(&path.display().to_string(), what, max, "name another file"));
    }
    Ok(bytes)
}

fn too_large(name: &str, what: &str, max: u64, hint: &str) -> Failure {
    Failure::usage(format!("{name} has more than {max} bytes, the limit of {what}"), hint)
}

fn read_file(path: &Path, max: u64, hint: &str) -> Result<Vec<u8>, Failure> {
    let fault = |error: &io::Error| {
        let message = match error.kind() {
            io::ErrorKind::NotFound => format!("{} does not exist", path.display()),
            io::ErrorKind::PermissionDenied => format!("{} may not be read", path.display()),
            _ => format!("{} cannot be read: {error}", path.display()),
        };
        Failure::usage(message, hint)
    };
    // Symbolic links belong to the user; the opened file must be a regular file in its folder.
    let real = path.canonicalize().map_err(|error| fault(&error))?;
    let (Some(folder), Some(name)) = (real.parent(), real.file_name()) else {
        return Err(not_a_file(path, hint));
    };
    let folder = Dir::open_ambient_dir(folder, ambient_authority()).map_err(|error| fault(&error))?;
    let metadata = folder.metadata(name).map_err(|error| fault(&error))?;
    if !metadata.is_file() {
        return Err(not_a_file(path, hint));
    }
    let file = folder.open(name).map_err(|error| fault(&error))?;
    bounded(file, max).map_err(|error| fault(&error))
}

fn not_a_file(path: &Path, hint: &str) -> Failure {
    let kind = if path.is_dir() { "a directory" } else { "not a regular file" };
    Failure::usage(format!("{} is {kind}", path.display()), hint)
}

/// At most one byte more than `max`, which shows that it is too long.
fn bounded(reader: impl Read, max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(bytes)
}
