//! Reading the one file that the user named, within a bound, and only if it is a regular file.

use std::{io, io::Read as _, path::Path};

use cap_std::{ambient_authority, fs::Dir};

use crate::error::Fault;

/// The largest configuration file. A long one has a few KB; a client's own settings around it may have some more.
pub const FILE_BYTES: u64 = 1024 * 1024;

/// The text of the file at `path`.
///
/// Its directory is opened first and the file within it. Anything else than a regular file is refused before it is opened,
/// since opening a pipe waits for its other end.
pub(crate) fn read(path: &Path) -> Result<String, Fault> {
    read_within(path, FILE_BYTES)
}

/// The same, with another bound.
pub(crate) fn read_within(path: &Path, limit: u64) -> Result<String, Fault> {
    let real = path.canonicalize().map_err(unreadable)?;
    let (Some(directory), Some(name)) = (real.parent(), real.file_name()) else { return Err(Fault::NotAFile) };
    let directory = Dir::open_ambient_dir(directory, ambient_authority()).map_err(unreadable)?;
    if !directory.metadata(name).map_err(unreadable)?.is_file() {
        return Err(Fault::NotAFile);
    }
    let file = directory.open(name).map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > limit {
        return Err(Fault::TooLarge { limit });
    }
    String::from_utf8(bytes).map_err(|error| Fault::NotUtf8 { byte: error.utf8_error().valid_up_to() })
}

fn unreadable(error: io::Error) -> Fault {
    match error.kind() {
        io::ErrorKind::NotFound => Fault::NotFound,
        _ => Fault::Unreadable { error },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(bytes: &[u8]) -> Result<String, Fault> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("belljar.toml");
        std::fs::write(&path, bytes).expect("written");
        read(&path)
    }

    #[test]
    fn a_file_of_just_the_largest_size_is_read_and_one_byte_more_is_too_large() {
        let largest = vec![b'#'; usize::try_from(FILE_BYTES).expect("small")];
        assert_eq!(reading(&largest).expect("a text").len(), largest.len());
        let larger = [largest.as_slice(), b"#"].concat();
        assert!(matches!(reading(&larger), Err(Fault::TooLarge { limit: FILE_BYTES })));
    }

    #[test]
    fn text_that_is_not_utf8_is_refused_with_the_first_wrong_byte() {
        assert!(matches!(reading(b"# caf\xe9\n"), Err(Fault::NotUtf8 { byte: 5 })));
        assert!(matches!(reading(b"\xff\xfe[\0"), Err(Fault::NotUtf8 { byte: 0 })));
    }

    #[test]
    fn what_is_missing_or_no_file_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(matches!(read(&folder.path().join("missing.toml")), Err(Fault::NotFound)));
        assert!(matches!(read(&folder.path().join("no/folder.toml")), Err(Fault::NotFound)));
        assert!(matches!(read(Path::new("")), Err(Fault::NotFound)));
        assert!(matches!(read(folder.path()), Err(Fault::NotAFile)));
        assert!(matches!(read(Path::new("/")), Err(Fault::NotAFile)));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_followed_out_of_its_folder_and_a_device_is_not_read() {
        let (folder, other) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        std::fs::write(other.path().join("real.toml"), "# real").expect("written");
        let link = folder.path().join("belljar.toml");
        std::os::unix::fs::symlink(other.path().join("real.toml"), &link).expect("a link");
        assert_eq!(read(&link).expect("a text"), "# real");
        assert!(matches!(read(Path::new("/dev/zero")), Err(Fault::NotAFile)));
        let socket = folder.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
        assert!(matches!(read(&socket), Err(Fault::NotAFile)));
    }
}
