//! Unix: a socket in a folder that only its owner may enter.

use std::{
    env,
    fs::{self, File, Metadata, OpenOptions, Permissions},
    io,
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use tokio::{
    net::{UnixListener, UnixStream},
    process::{Child, Command},
};

use crate::AddressError;

/// The longest path of a Unix socket, without the final zero. With it, Linux accepts 108 bytes,
/// other systems 104.
pub(crate) const MAX_SOCKET_PATH: usize = 103;
/// The permissions of everybody but the owner.
const OF_OTHERS: u32 = 0o077;
const PRIVATE_FILE: u32 = 0o600;

/// A user of the system.
pub type User = u32;

/// The half of a connection that reads.
pub type ReadHalf = tokio::net::unix::OwnedReadHalf;

/// The half of a connection that writes.
pub type WriteHalf = tokio::net::unix::OwnedWriteHalf;

/// A connection, from either side.
pub(crate) type Connection = UnixStream;

/// The user that this process acts for.
pub(crate) fn user() -> io::Result<User> {
    Ok(nix::unistd::geteuid().as_raw())
}

/// A folder for temporary files, whose name contains its owner, because other users share the
/// folder around it.
pub fn temporary_folder() -> Option<PathBuf> {
    Some(env::temp_dir().join(format!("belljar-{}", nix::unistd::geteuid())))
}

/// The socket of the daemon `name` in `folder`.
pub(crate) fn socket(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.sock"))
}

/// Checks that a folder belongs to the user alone.
pub(crate) fn judge(path: &Path, metadata: &Metadata) -> Result<(), AddressError> {
    let user = nix::unistd::geteuid().as_raw();
    if metadata.uid() != user {
        return Err(AddressError::Foreign { path: path.to_owned(), owner: metadata.uid(), user });
    }
    let mode = metadata.permissions().mode() & 0o7777;
    if mode & OF_OTHERS != 0 {
        return Err(AddressError::Open { path: path.to_owned(), mode });
    }
    Ok(())
}

/// Opens a file that only its owner may read or write, and creates it if it is missing.
pub(crate) fn open_private(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().write(true).create(true).truncate(false).mode(PRIVATE_FILE).open(path)?;
    // The umask may also have removed rights from the owner.
    file.set_permissions(Permissions::from_mode(PRIVATE_FILE))?;
    Ok(file)
}

/// Connects to the socket, or returns `None` if nobody listens.
pub(crate) async fn connect(socket: &Path) -> io::Result<Option<Connection>> {
    match UnixStream::connect(socket).await {
        Ok(connection) => Ok(Some(connection)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The user of the process on the other side.
pub(crate) fn peer(connection: &Connection) -> io::Result<User> {
    connection.peer_cred().map(|credentials| credentials.uid())
}

pub(crate) fn split(connection: Connection) -> (ReadHalf, WriteHalf) {
    connection.into_split()
}

/// Listens on a socket, whose file exists for as long as this value.
pub(crate) struct Listener {
    listener: UnixListener,
    socket: PathBuf,
}

impl Listener {
    /// Starts to listen, and removes what a daemon that was killed left behind. The caller holds
    /// the daemon's lock.
    pub(crate) fn bind(socket: &Path) -> io::Result<Self> {
        match fs::remove_file(socket) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(socket)?;
        fs::set_permissions(socket, Permissions::from_mode(PRIVATE_FILE))?;
        Ok(Self { listener, socket: socket.to_owned() })
    }

    pub(crate) async fn accept(&self) -> io::Result<Connection> {
        self.listener.accept().await.map(|(connection, _)| connection)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // It does not matter who removes the socket.
        let _ = fs::remove_file(&self.socket);
    }
}

/// Starts a daemon, which leaves our terminal by itself ([`detach`]).
pub(crate) fn launch(program: &mut Command) -> io::Result<Child> {
    program.spawn()
}

/// Leaves the terminal and the session of the command that started this process, so that signals to
/// them do not reach it.
///
/// # Errors
/// The system's error, if the process already leads a group.
pub fn detach() -> io::Result<()> {
    nix::unistd::setsid().map(|_| ()).map_err(io::Error::from)
}
