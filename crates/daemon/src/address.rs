//! The address where a daemon listens. It must be impossible for others to listen there instead.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use belljar_files::make_folder;

use crate::{
    Lock, LockError, User,
    platform::{self, MAX_SOCKET_PATH},
};

/// The address of a daemon: a folder that belongs to the user alone, and a name in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    folder: PathBuf,
    name: String,
}

/// Why there can be no daemon at an address.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AddressError {
    /// The socket's path is longer than the system allows.
    #[error("the socket path {} has {used} bytes; the limit of the system is {MAX_SOCKET_PATH}", path.display())]
    TooLong {
        /// The path.
        path: PathBuf,
        /// Its length.
        used: usize,
    },
    /// The folder cannot be created or examined.
    #[error("the folder {} cannot be used: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Something that is not a folder is in its place.
    #[error("{} is not a folder", path.display())]
    NotAFolder {
        /// The path.
        path: PathBuf,
    },
    /// The folder belongs to somebody else, who could answer in our name.
    #[error("the folder {} belongs to user {owner}, and not to user {user}", path.display())]
    Foreign {
        /// The folder.
        path: PathBuf,
        /// Its owner.
        owner: User,
        /// The current user.
        user: User,
    },
    /// Others may enter the folder.
    #[error("the folder {} may be entered by others (mode {mode:04o})", path.display())]
    Open {
        /// The folder.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
}

impl AddressError {
    /// What to try.
    pub fn hint(&self) -> String {
        match self {
            Self::TooLong { .. } => "set XDG_RUNTIME_DIR to a shorter path, or use --no-daemon".to_owned(),
            Self::Folder { .. } | Self::NotAFolder { .. } => {
                "set XDG_RUNTIME_DIR to a folder of your own, or use --no-daemon".to_owned()
            }
            Self::Foreign { .. } => "remove it or set XDG_RUNTIME_DIR to a folder of your own".to_owned(),
            Self::Open { path, .. } => format!("chmod 700 {}", path.display()),
        }
    }
}

impl Address {
    /// The address `name` in `folder`, which is created if it is missing, readable by its owner
    /// only.
    ///
    /// # Errors
    /// [`AddressError`], if the folder does not belong to the user alone, or the path is too long
    /// for a socket.
    pub fn new(folder: &Path, name: &str) -> Result<Self, AddressError> {
        let address = Self { folder: folder.to_owned(), name: name.to_owned() };
        let socket = address.socket();
        let used = socket.as_os_str().len();
        if used > MAX_SOCKET_PATH {
            return Err(AddressError::TooLong { path: socket, used });
        }
        private_folder(folder)?;
        Ok(address)
    }

    /// The socket, or on Windows the file that contains the name of the pipe.
    pub fn socket(&self) -> PathBuf {
        platform::socket(&self.folder, &self.name)
    }

    /// The name of this daemon, for its log.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Waits at most `patience` until no daemon is running here.
    ///
    /// # Errors
    /// [`LockError`], if it is still running.
    pub async fn gone(&self, patience: Duration) -> Result<(), LockError> {
        Lock::acquire(&self.living(), patience).await.map(drop)
    }

    /// The file whose lock a command holds while it starts the daemon.
    pub(crate) fn starting(&self) -> PathBuf {
        self.file("starting")
    }

    /// The file whose lock the daemon holds while it is running.
    pub(crate) fn living(&self) -> PathBuf {
        self.file("lock")
    }

    fn file(&self, extension: &str) -> PathBuf {
        self.folder.join(format!("{}.{extension}", self.name))
    }
}

fn private_folder(path: &Path) -> Result<(), AddressError> {
    let fault = |source| AddressError::Folder { path: path.to_owned(), source };
    // If something other than a folder is there, the checks below find it.
    match make_folder(path) {
        Err(source) if source.kind() != io::ErrorKind::AlreadyExists => return Err(fault(source)),
        _ => {}
    }
    // Symbolic links are not followed: the owner of a link could replace the folder behind it.
    let metadata = fs::symlink_metadata(path).map_err(fault)?;
    if !metadata.is_dir() {
        return Err(AddressError::NotAFolder { path: path.to_owned() });
    }
    platform::judge(path, &metadata)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_folder_is_made_for_its_owner_alone() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("a").join("b");
        let address = Address::new(&folder, "k").unwrap();
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(address.socket(), folder.join("k.sock"));
    }

    #[test]
    fn a_folder_that_others_may_enter_is_refused() {
        let root = tempfile::tempdir().unwrap();
        for mode in [0o755, 0o710, 0o777, 0o701] {
            fs::set_permissions(root.path(), fs::Permissions::from_mode(mode)).unwrap();
            let fault = Address::new(root.path(), "k").unwrap_err();
            assert!(matches!(fault, AddressError::Open { mode: found, .. } if found == mode), "{fault}");
            assert!(fault.hint().starts_with("chmod 700 "));
        }
    }

    #[test]
    fn a_folder_of_somebody_else_is_refused_with_both_names() {
        let root = tempfile::tempdir().unwrap();
        // Root can give a folder away; everybody else uses one that belongs to root.
        let user = platform::user().unwrap();
        let (foreign, owner) = if user == 0 {
            std::os::unix::fs::chown(root.path(), Some(65_534), None).unwrap();
            (root.path(), 65_534)
        } else {
            (Path::new("/"), 0)
        };
        let fault = Address::new(foreign, "k").unwrap_err();
        assert!(matches!(fault, AddressError::Foreign { owner: found, .. } if found == owner), "{fault}");
        assert!(fault.to_string().contains(&format!("belongs to user {owner}, and not to user {user}")), "{fault}");
        assert!(fault.hint().contains("a folder of your own"));
    }

    #[test]
    fn a_link_or_a_file_in_the_place_of_the_folder_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let (real, link, file) = (root.path().join("real"), root.path().join("link"), root.path().join("file"));
        make_folder(&real).unwrap();
        symlink(&real, &link).unwrap();
        fs::write(&file, "").unwrap();
        for path in [&link, &file] {
            let fault = Address::new(path, "k").unwrap_err();
            assert!(matches!(fault, AddressError::NotAFolder { .. }), "{fault}");
        }
    }

    #[test]
    fn a_path_that_is_too_long_for_a_socket_is_said_before_anything_is_made() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("x".repeat(120));
        let fault = Address::new(&folder, "k").unwrap_err();
        assert!(matches!(fault, AddressError::TooLong { used, .. } if used > MAX_SOCKET_PATH), "{fault}");
        assert!(!folder.exists());
    }
}
