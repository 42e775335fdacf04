//! Reads the one file that the user named. It must be a regular file within a size limit, which
//! nobody but the user and root can have written, because it starts programs as the user.

use std::{
    io,
    io::Read as _,
    path::{Path, PathBuf},
};

use belljar_files::{check_file, check_folder, check_link};

use cap_std::{ambient_authority, fs::Dir};

use crate::error::ConfigErrorKind;

/// The largest configuration file. A long one has a few KB; a client's own settings around it may
/// add some more.
pub const FILE_BYTES: u64 = 1024 * 1024;

/// The most links to follow to a file, as on Linux.
const LINKS: usize = 40;

/// The text of the file at `path`.
///
/// Its directory is opened first, and then the file within it. Anything but a regular file is
/// refused before it is opened, since opening a pipe would wait for its other end.
pub(crate) fn read(path: &Path) -> Result<String, ConfigErrorKind> {
    read_within(path, FILE_BYTES)
}

/// The same, with another bound.
pub(crate) fn read_within(path: &Path, limit: u64) -> Result<String, ConfigErrorKind> {
    let real = path.canonicalize().map_err(unreadable)?;
    let (Some(parent), Some(name)) = (real.parent(), real.file_name()) else { return Err(ConfigErrorKind::NotAFile) };
    let directory = Dir::open_ambient_dir(parent, ambient_authority()).map_err(unreadable)?;
    if !directory.metadata(name).map_err(unreadable)?.is_file() {
        return Err(ConfigErrorKind::NotAFile);
    }
    let file = directory.open(name).map_err(unreadable)?;
    check_file(&file, &real)?;
    check_folder(&directory, parent)?;
    check_links(path)?;
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > limit {
        return Err(ConfigErrorKind::TooLarge { limit });
    }
    String::from_utf8(bytes).map_err(|error| ConfigErrorKind::NotUtf8 { byte: error.utf8_error().valid_up_to() })
}

/// Checks the links on the way to a file, because whoever can replace a link chooses which file is
/// read. Folders further up are not checked: nobody else can create a file and a folder that belong
/// to the user.
fn check_links(path: &Path) -> Result<(), ConfigErrorKind> {
    let mut link = path.to_owned();
    for _ in 0..LINKS {
        let Ok(target) = link.read_link() else { break };
        let folder = match link.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        let opened = Dir::open_ambient_dir(&folder, ambient_authority()).map_err(unreadable)?;
        check_folder(&opened, &folder)?;
        if let Some(name) = link.file_name() {
            check_link(&opened, Path::new(name), &link)?;
        }
        link = folder.join(target);
    }
    Ok(())
}

fn unreadable(error: io::Error) -> ConfigErrorKind {
    match error.kind() {
        io::ErrorKind::NotFound => ConfigErrorKind::NotFound,
        _ => ConfigErrorKind::Unreadable { error },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(bytes: &[u8]) -> Result<String, ConfigErrorKind> {
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
        assert!(matches!(reading(&larger), Err(ConfigErrorKind::TooLarge { limit: FILE_BYTES })));
    }

    #[test]
    fn text_that_is_not_utf8_is_refused_with_the_first_wrong_byte() {
        assert!(matches!(reading(b"# caf\xe9\n"), Err(ConfigErrorKind::NotUtf8 { byte: 5 })));
        assert!(matches!(reading(b"\xff\xfe[\0"), Err(ConfigErrorKind::NotUtf8 { byte: 0 })));
    }

    #[test]
    fn what_is_missing_or_no_file_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(matches!(read(&folder.path().join("missing.toml")), Err(ConfigErrorKind::NotFound)));
        assert!(matches!(read(&folder.path().join("no/folder.toml")), Err(ConfigErrorKind::NotFound)));
        assert!(matches!(read(Path::new("")), Err(ConfigErrorKind::NotFound)));
        assert!(matches!(read(folder.path()), Err(ConfigErrorKind::NotAFile)));
        assert!(matches!(read(Path::new("/")), Err(ConfigErrorKind::NotAFile)));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_followed_out_of_its_folder_and_a_device_is_not_read() {
        let (folder, other) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        std::fs::write(other.path().join("real.toml"), "# real").expect("written");
        let link = folder.path().join("belljar.toml");
        std::os::unix::fs::symlink(other.path().join("real.toml"), &link).expect("a link");
        assert_eq!(read(&link).expect("a text"), "# real");
        assert!(matches!(read(Path::new("/dev/zero")), Err(ConfigErrorKind::NotAFile)));
        let socket = folder.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
        assert!(matches!(read(&socket), Err(ConfigErrorKind::NotAFile)));
    }

    #[cfg(unix)]
    fn mode(path: &Path, mode: u32) {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("changed");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_may_write_or_replace_is_refused_with_the_command_that_fixes_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().canonicalize().expect("a path").join("belljar.toml");
        let folder = path.parent().expect("the folder");
        std::fs::write(&path, "# mine").expect("written");
        for (of_file, of_folder, fix) in [
            (0o600, 0o700, None),
            (0o644, 0o755, None),
            (0o666, 0o700, Some(format!("chmod o-w {}", path.display()))),
            (0o602, 0o700, Some(format!("chmod o-w {}", path.display()))),
            (0o600, 0o777, Some(format!("chmod o-w {}", folder.display()))),
            (0o600, 0o1777, None),
        ] {
            mode(&path, of_file);
            mode(folder, of_folder);
            match (read(&path), fix) {
                (Ok(text), None) => assert_eq!(text, "# mine"),
                (Err(ConfigErrorKind::Distrusted(distrust)), Some(fix)) => {
                    assert!(distrust.to_string().ends_with(&fix), "{distrust}");
                }
                (read, fix) => panic!("{of_file:o} in {of_folder:o}: {read:?}, expected {fix:?}"),
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_others_may_exchange_is_refused_however_safe_the_file_is() {
        let (folder, other) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let real = folder.path().join("real.toml");
        std::fs::write(&real, "# mine").expect("written");
        let (first, second) = (folder.path().join("first.toml"), other.path().join("second.toml"));
        std::os::unix::fs::symlink(&real, &second).expect("a link");
        std::os::unix::fs::symlink(&second, &first).expect("a link");
        assert_eq!(read(&first).expect("a text"), "# mine");
        mode(other.path(), 0o777);
        assert!(matches!(read(&first), Err(ConfigErrorKind::Distrusted(_))));
        assert!(matches!(read(&second), Err(ConfigErrorKind::Distrusted(_))));
    }
}
