//! Creates files and folders that nobody but their owner can read.

use std::{fs, io, path::Path};

use cap_std::{
    ambient_authority,
    fs::{Dir, File, OpenOptions},
};

#[cfg(unix)]
const FILE: u32 = 0o600;
#[cfg(unix)]
const FOLDER: u32 = 0o700;

/// Creates a folder, and missing ones above it, for its owner only. Existing folders stay
/// unchanged.
///
/// # Errors
/// The system's error; also if something other than a folder is in the way.
pub fn make_folder(path: &Path) -> io::Result<()> {
    match make_one(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            make_folder(path.parent().ok_or(error)?)?;
            make_one(path)
        }
        made => made,
    }
}

fn make_one(path: &Path) -> io::Result<()> {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "there is no mode to set"))]
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, FOLDER);
    match builder.create(path) {
        // The umask may have removed rights from the owner.
        Ok(()) => narrow(path),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) => Err(error),
    }
}

/// Opens a folder of belljar's, creating it if necessary, and makes it private to its owner if it
/// was not.
///
/// # Errors
/// The system's error; also if the folder belongs to somebody else, who could replace its contents.
pub fn own_folder(path: &Path) -> io::Result<Dir> {
    make_folder(path)?;
    let folder = Dir::open_ambient_dir(path, ambient_authority())?;
    #[cfg(unix)]
    {
        use cap_std::fs::MetadataExt as _;
        let metadata = folder.dir_metadata()?;
        let user = rustix::process::geteuid().as_raw();
        if metadata.uid() != user {
            let message = format!("it belongs to user {}, and not to user {user}", metadata.uid());
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
        }
        if metadata.mode() & 0o777 != FOLDER {
            narrow(path)?;
        }
    }
    Ok(folder)
}

/// Opens a file that only its owner can read, with these `options`.
///
/// # Errors
/// As the system says.
pub fn open(folder: &Dir, name: impl AsRef<Path>, options: &mut OpenOptions) -> io::Result<File> {
    #[cfg(unix)]
    cap_std::fs::OpenOptionsExt::mode(options, FILE);
    let file = folder.open_with(name, options)?;
    #[cfg(unix)]
    {
        use cap_std::fs::{MetadataExt as _, Permissions, PermissionsExt as _};
        if file.metadata()?.mode() & 0o777 != FILE {
            file.set_permissions(Permissions::from_mode(FILE))?;
        }
    }
    Ok(file)
}

#[cfg(unix)]
fn narrow(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(FOLDER))
}

#[cfg(not(unix))]
fn narrow(_path: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("it is there").permissions().mode() & 0o7777
    }

    #[test]
    fn folders_are_made_for_their_owner_alone_and_those_that_are_there_stay() {
        let root = tempfile::tempdir().expect("a folder");
        fs::set_permissions(root.path(), fs::Permissions::from_mode(0o755)).expect("changed");
        let deep = root.path().join("a/b/c");
        make_folder(&deep).expect("made");
        make_folder(&deep).expect("there");
        assert_eq!([&*deep, deep.parent().expect("b"), root.path()].map(mode), [0o700, 0o700, 0o755]);
        fs::write(deep.join("file"), "").expect("written");
        assert!(make_folder(&deep.join("file")).is_err());
        assert!(make_folder(Path::new("")).is_err());
    }

    #[test]
    fn a_folder_of_our_own_that_others_may_enter_is_closed() {
        let root = tempfile::tempdir().expect("a folder");
        let path = root.path().join("state");
        fs::create_dir(&path).expect("made");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).expect("changed");
        own_folder(&path).expect("opened");
        assert_eq!(mode(&path), 0o700);
    }

    #[test]
    fn a_folder_of_somebody_else_is_not_ours() {
        // Root can give a folder away; everybody else uses one that belongs to root.
        let root = tempfile::tempdir().expect("a folder");
        let foreign = match rustix::process::geteuid().is_root() {
            true => {
                std::os::unix::fs::chown(root.path(), Some(65_534), None).expect("given away");
                root.path()
            }
            false => Path::new("/"),
        };
        let error = own_folder(foreign).expect_err("it belongs to another user");
        assert!(error.to_string().contains("belongs to user"), "{error}");
    }

    #[test]
    fn a_file_is_its_owners_alone_even_if_it_was_not() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = own_folder(root.path()).expect("a folder");
        fs::write(root.path().join("old"), "").expect("written");
        fs::set_permissions(root.path().join("old"), fs::Permissions::from_mode(0o666)).expect("changed");
        for name in ["old", "new"] {
            open(&folder, name, OpenOptions::new().write(true).create(true)).expect("opened");
            assert_eq!(mode(&root.path().join(name)), 0o600, "{name}");
        }
    }
}
