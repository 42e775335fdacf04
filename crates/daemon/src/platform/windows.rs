//! Windows: a named pipe that its user alone may open.
//!
//! A pipe has a name and no place in a folder, so whoever is first may take the name. The daemon
//! therefore insists on being the first, and a client looks whose process it has reached before it
//! says a word, and lets that process learn who it is and nothing more.

use std::{
    env,
    fs::{File, Metadata, OpenOptions},
    io,
    os::windows::{
        fs::OpenOptionsExt as _,
        io::{AsRawHandle, OwnedHandle},
    },
    path::{Path, PathBuf},
    pin::Pin,
    sync::OnceLock,
    task::{Context, Poll},
    time::Duration,
};

use interprocess::os::windows::{
    named_pipe::{
        PipeListenerOptions, PipeMode, pipe_mode,
        tokio::{DuplexPipeStream, PipeListener, RecvPipeStream, SendPipeStream},
    },
    security_descriptor::SecurityDescriptor,
};
use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System, UpdateKind};
use tokio::{
    io::AsyncWrite,
    process::Command,
    time::{Instant, sleep},
};
use widestring::U16CString;
use windows_sys::Win32::{
    Foundation::{ERROR_PIPE_BUSY, HANDLE_FLAG_INHERIT, SetHandleInformation},
    Storage::FileSystem::{FILE_FLAG_OVERLAPPED, SECURITY_IDENTIFICATION},
    System::Threading::{CREATE_NEW_PROCESS_GROUP, CREATE_NO_WINDOW},
};

use crate::AddressError;

/// The longest name of a pipe.
pub(crate) const MAX_SOCKET_PATH: usize = 256;
const BUFFER_BYTES: u32 = 64 << 10;
/// How long a client tries a pipe all of whose ends are taken. A daemon that listens has a free one
/// again at once, and one that is ending has none.
const PATIENCE_FOR_AN_END: Duration = Duration::from_secs(1);
const BETWEEN_TRIES: Duration = Duration::from_millis(10);

/// A user of the system: its security identifier.
pub type User = String;

/// The part of a connection that reads.
pub type ReadHalf = RecvPipeStream<pipe_mode::Bytes>;

/// The part of a connection that writes.
#[derive(Debug)]
pub struct WriteHalf(SendPipeStream<pipe_mode::Bytes>);

/// A connection, from either side.
pub(crate) type Connection = DuplexPipeStream<pipe_mode::Bytes>;

/// The user that this process acts for.
pub(crate) fn user() -> io::Result<User> {
    static OURS: OnceLock<User> = OnceLock::new();
    if let Some(user) = OURS.get() {
        return Ok(user.clone());
    }
    let user = user_of(std::process::id())?;
    Ok(OURS.get_or_init(|| user).clone())
}

fn user_of(process: u32) -> io::Result<User> {
    let process = Pid::from_u32(process);
    let mut system = System::new().map_err(io::Error::other)?;
    let what = ProcessRefreshKind::nothing().with_user(UpdateKind::OnlyIfNotSet);
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[process]), false, what);
    let user = system.process(process).and_then(sysinfo::Process::user_id).map(|sid| sid.to_string());
    user.ok_or_else(|| {
        let message =
            format!("the system does not say whose process {process} is; it may have more rights than this one");
        io::Error::new(io::ErrorKind::PermissionDenied, message)
    })
}

/// A folder for what is temporary. It lies in the user's profile already.
pub fn temporary_folder() -> PathBuf {
    env::temp_dir().join("belljar")
}

/// The pipe of the daemon `name` in `folder`. Its name is that of the folder, since a pipe is in
/// none.
pub(crate) fn socket(folder: &Path, name: &str) -> PathBuf {
    let folder = folder.display().to_string().replace(['\\', '/', ':'], "-");
    PathBuf::from(format!(r"\\.\pipe\belljar-{folder}-{name}"))
}

/// Whether a folder belongs to the user alone. It holds nothing but locks, and lies in the user's
/// profile, which others may not enter unless its owner has allowed it.
pub(crate) fn judge(_path: &Path, _metadata: &Metadata) -> Result<(), AddressError> {
    Ok(())
}

/// Opens a file, and creates it if it is missing, with the rights that its folder gives.
pub(crate) fn open_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(false).open(path)
}

/// Connects to the pipe, or returns `None` if nobody listens.
pub(crate) async fn connect(socket: &Path) -> io::Result<Option<Connection>> {
    let begun = Instant::now();
    loop {
        // The daemon may learn who we are; somebody else in its place may not act in our name.
        let opened = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(FILE_FLAG_OVERLAPPED)
            .security_qos_flags(SECURITY_IDENTIFICATION)
            .open(socket);
        match opened {
            Ok(pipe) => {
                let connection = Connection::try_from(OwnedHandle::from(pipe));
                return connection.map(Some).map_err(|error| io::Error::other(error.to_string()));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) if error.raw_os_error() == i32::try_from(ERROR_PIPE_BUSY).ok() => {
                if begun.elapsed() > PATIENCE_FOR_AN_END {
                    return Ok(None);
                }
                sleep(BETWEEN_TRIES).await;
            }
            Err(error) => return Err(error),
        }
    }
}

/// The user of the process on the other side.
pub(crate) fn peer(connection: &Connection) -> io::Result<User> {
    user_of(connection.peer_process_id()?)
}

pub(crate) fn split(connection: Connection) -> (ReadHalf, WriteHalf) {
    let (reading, writing) = connection.split();
    (reading, WriteHalf(writing))
}

/// Listens on a pipe.
pub(crate) struct Listener(PipeListener<pipe_mode::Bytes, pipe_mode::Bytes>);

impl Listener {
    /// Begins to listen, and fails if the pipe exists already.
    pub(crate) fn bind(socket: &Path) -> io::Result<Self> {
        // Protected from what it would inherit: all rights for the user, and none for others.
        let rights = format!("D:P(A;;GA;;;{})", user()?);
        let rights = U16CString::from_str(rights).map_err(io::Error::other)?;
        let options = PipeListenerOptions::new()
            .path(socket)
            .mode(PipeMode::Bytes)
            .security_descriptor(Some(SecurityDescriptor::deserialize(&rights)?))
            .input_buffer_size_hint(BUFFER_BYTES)
            .output_buffer_size_hint(BUFFER_BYTES);
        options.create_tokio_duplex().map(Self)
    }

    pub(crate) async fn accept(&self) -> io::Result<Connection> {
        self.0.accept().await
    }
}

impl AsyncWrite for WriteHalf {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    /// Nothing is kept back. The pipe's own flush would wait until the other side has read it all.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Prepares a command to start a daemon: without the console of this process and its Ctrl-C, and
/// without a window of its own, also for the servers that it starts.
pub(crate) fn apart(program: &mut Command) {
    program.creation_flags(CREATE_NO_WINDOW | CREATE_NEW_PROCESS_GROUP);
    keep(&io::stdin());
    keep(&io::stdout());
    keep(&io::stderr());
}

/// Keeps a stream of this process from the processes that it starts, unless one is given it. A
/// daemon that had it would hold the pipe open in which somebody waits for the end of our output.
fn keep(stream: &impl AsRawHandle) {
    // SAFETY: the call reads no memory of ours. A handle that is none, as of a program without a
    // console, is refused with an error, and then there is nothing to keep.
    #[expect(unsafe_code, reason = "there is no safe call for it; see SAFETY")]
    unsafe {
        SetHandleInformation(stream.as_raw_handle(), HANDLE_FLAG_INHERIT, 0);
    }
}

/// Nothing is left to be done: [`start`](crate::start) begins a daemon without a console.
///
/// # Errors
/// None.
pub fn detach() -> io::Result<()> {
    Ok(())
}
