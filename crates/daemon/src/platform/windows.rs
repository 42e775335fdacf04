//! Windows: a named pipe that only its user may open.
//!
//! A pipe is not in a folder: all users can see its name, and whoever comes first can take it. So
//! each daemon chooses a name that nobody can guess, and writes it to a file where a socket would
//! be. A client checks who created the pipe before it sends anything, and lets the other side learn
//! its identity, but not act in its name.

use std::{
    fs::{self, File, Metadata, OpenOptions},
    io::{self, Read as _},
    os::windows::{
        fs::OpenOptionsExt as _,
        io::{AsRawHandle, OwnedHandle},
    },
    path::{Path, PathBuf},
    pin::Pin,
    ptr::null_mut,
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
use rand::{TryRngCore as _, rngs::OsRng};
use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System, UpdateKind};
use tokio::{
    io::AsyncWrite,
    process::{Child, Command},
    time::{Instant, sleep},
};
use widestring::{U16CStr, U16CString};
use windows_sys::Win32::{
    Foundation::{ERROR_PIPE_BUSY, HANDLE_FLAG_INHERIT, LocalFree, SetHandleInformation},
    Security::{
        Authorization::{ConvertSidToStringSidW, GetSecurityInfo, SE_KERNEL_OBJECT},
        OWNER_SECURITY_INFORMATION,
    },
    Storage::FileSystem::{FILE_FLAG_OVERLAPPED, SECURITY_IDENTIFICATION},
    System::Threading::{CREATE_BREAKAWAY_FROM_JOB, CREATE_NEW_PROCESS_GROUP, CREATE_NO_WINDOW},
};

use crate::AddressError;

/// The longest path that every program can open, without the final zero.
pub(crate) const MAX_SOCKET_PATH: usize = 259;
/// The prefix of the pipe's name. 32 hexadecimal digits follow.
const PIPE: &str = r"\\.\pipe\belljar-";
const MAX_NAME_BYTES: u64 = 128;
const BUFFER_BYTES: u32 = 64 << 10;
/// How long a client retries when all ends of a pipe are taken. A daemon that listens has a free
/// end again at once; one that is ending has none.
const PATIENCE_FOR_AN_END: Duration = Duration::from_secs(1);
const BETWEEN_TRIES: Duration = Duration::from_millis(10);

/// A user of the system: its security identifier.
pub type User = String;

/// The half of a connection that reads.
pub type ReadHalf = RecvPipeStream<pipe_mode::Bytes>;

/// The half of a connection that writes.
#[derive(Debug)]
pub struct WriteHalf(SendPipeStream<pipe_mode::Bytes>);

/// A connection, from either side.
pub(crate) type Connection = DuplexPipeStream<pipe_mode::Bytes>;

/// The user that this process acts for.
pub(crate) fn user() -> io::Result<User> {
    // It does not change, and finding it requires a list of all processes.
    static OURS: OnceLock<User> = OnceLock::new();
    if let Some(user) = OURS.get() {
        return Ok(user.clone());
    }
    let user = find_user()?;
    Ok(OURS.get_or_init(|| user).clone())
}

fn find_user() -> io::Result<User> {
    let process = Pid::from_u32(std::process::id());
    let mut system = System::new().map_err(io::Error::other)?;
    let what = ProcessRefreshKind::nothing().with_user(UpdateKind::OnlyIfNotSet);
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[process]), false, what);
    let user = system.process(process).and_then(sysinfo::Process::user_id).map(|sid| sid.to_string());
    user.ok_or_else(|| io::Error::other("the system does not say who the user of this process is"))
}

/// None on Windows: the temporary folder may be anywhere, and others may enter it.
pub fn temporary_folder() -> Option<PathBuf> {
    None
}

/// The file that contains the name of the pipe of the daemon `name` in `folder`.
pub(crate) fn socket(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.pipe"))
}

/// Accepts every folder. It is in the user's profile, which others may not enter unless its owner
/// has allowed it.
pub(crate) fn judge(_path: &Path, _metadata: &Metadata) -> Result<(), AddressError> {
    Ok(())
}

/// Opens a file, creating it if it is missing, with the rights that it inherits from its folder.
pub(crate) fn open_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(false).open(path)
}

/// Connects to the pipe, or returns `None` if nobody listens.
pub(crate) async fn connect(socket: &Path) -> io::Result<Option<Connection>> {
    let Some(pipe) = named(socket)? else { return Ok(None) };
    let begun = Instant::now();
    loop {
        // A daemon may learn who we are, but whoever takes its place must not be able to act in our
        // name.
        let opened = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(FILE_FLAG_OVERLAPPED)
            .security_qos_flags(SECURITY_IDENTIFICATION)
            .open(&pipe);
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
                // The system's own way to wait for a free end (`WaitNamedPipeW`) blocks the thread.
                sleep(BETWEEN_TRIES).await;
            }
            Err(error) => return Err(error),
        }
    }
}

/// The name of the daemon's pipe, if a daemon has written one.
fn named(socket: &Path) -> io::Result<Option<String>> {
    let mut name = String::new();
    match File::open(socket) {
        Ok(file) => file.take(MAX_NAME_BYTES).read_to_string(&mut name)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let is_ours = |digits: &str| digits.len() == 32 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    match name.strip_prefix(PIPE) {
        Some(digits) if is_ours(digits) => Ok(Some(name)),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "the file does not name a pipe of belljar")),
    }
}

/// The user who created the pipe. A server need not check its clients: the pipe's rights keep
/// others out.
pub(crate) fn peer(connection: &Connection) -> io::Result<User> {
    let (mut owner, mut descriptor) = (null_mut(), null_mut());
    // SAFETY: the handle lives as long as the borrowed connection. The two places are written to,
    // and the others are not asked for.
    #[expect(unsafe_code, reason = "no safe API exists for it; see SAFETY")]
    let failed = unsafe {
        let (pipe, what) = (connection.as_raw_handle(), OWNER_SECURITY_INFORMATION);
        let (group, rights, audit) = (null_mut(), null_mut(), null_mut());
        GetSecurityInfo(pipe, SE_KERNEL_OBJECT, what, &mut owner, group, rights, audit, &mut descriptor)
    };
    if failed != 0 {
        return Err(io::Error::from_raw_os_error(failed.cast_signed()));
    }
    let mut text = null_mut();
    // SAFETY: `owner` is in `descriptor`, which is freed once, after its last use. What the system
    // writes is a text that ends in a zero, and is freed once, after it is copied.
    #[expect(unsafe_code, reason = "no safe API exists for it; see SAFETY")]
    unsafe {
        let user = match ConvertSidToStringSidW(owner, &mut text) {
            0 => Err(io::Error::last_os_error()),
            _ => Ok(U16CStr::from_ptr_str(text).to_string_lossy()),
        };
        LocalFree(text.cast());
        LocalFree(descriptor);
        user
    }
}

pub(crate) fn split(connection: Connection) -> (ReadHalf, WriteHalf) {
    let (reading, writing) = connection.split();
    (reading, WriteHalf(writing))
}

/// Listens on a pipe, whose name is in a file for as long as this value exists.
pub(crate) struct Listener {
    pipe: PipeListener<pipe_mode::Bytes, pipe_mode::Bytes>,
    socket: PathBuf,
}

impl Listener {
    /// Starts to listen, and replaces the name that a daemon that was killed left behind. The
    /// caller holds the daemon's lock.
    pub(crate) fn bind(socket: &Path) -> io::Result<Self> {
        let user = user()?;
        // Inherits no rights: the user has all rights, and others have none.
        let rights = format!("O:{user}D:P(A;;GA;;;{user})");
        let rights = U16CString::from_str(rights).map_err(io::Error::other)?;
        // A new name each time: a client that does not hang up keeps the old pipe open.
        let mut digits = [0; 16];
        OsRng.try_fill_bytes(&mut digits).map_err(|error| io::Error::other(error.to_string()))?;
        let name = format!("{PIPE}{:032x}", u128::from_ne_bytes(digits));
        let pipe = PipeListenerOptions::new()
            .path(name.as_str())
            .mode(PipeMode::Bytes)
            .security_descriptor(Some(SecurityDescriptor::deserialize(&rights)?))
            .input_buffer_size_hint(BUFFER_BYTES)
            .output_buffer_size_hint(BUFFER_BYTES)
            .create_tokio_duplex()?;
        // Nobody must read half a name.
        let written = socket.with_extension("pipe.new");
        fs::write(&written, name)?;
        fs::rename(&written, socket)?;
        Ok(Self { pipe, socket: socket.to_owned() })
    }

    pub(crate) async fn accept(&self) -> io::Result<Connection> {
        self.pipe.accept().await
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // It does not matter who removes the file.
        let _ = fs::remove_file(&self.socket);
    }
}

impl AsyncWrite for WriteHalf {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    /// Nothing is buffered here. The pipe's own flush would wait until the other side has read
    /// everything.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Starts a daemon: without the console of this process and its Ctrl-C; without a window of its
/// own, also for the servers that it starts; and outside of any job that would end it with us, if
/// that job allows it.
pub(crate) fn launch(program: &mut Command) -> io::Result<Child> {
    let apart = CREATE_NO_WINDOW | CREATE_NEW_PROCESS_GROUP;
    match program.creation_flags(apart | CREATE_BREAKAWAY_FROM_JOB).spawn() {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => program.creation_flags(apart).spawn(),
        started => started,
    }
}

/// Prevents processes that this process starts from inheriting its standard streams, unless they
/// are given one explicitly. Otherwise a process that outlives us would keep a pipe open, and
/// whoever waits for the end of our output would keep waiting.
pub fn keep_streams() {
    let streams = [io::stdin().as_raw_handle(), io::stdout().as_raw_handle(), io::stderr().as_raw_handle()];
    for stream in streams {
        // SAFETY: the call reads no memory of ours. A handle that is none, as of a program without
        // a console, is refused with an error, and then there is nothing to keep.
        #[expect(unsafe_code, reason = "no safe API exists for it; see SAFETY")]
        unsafe {
            SetHandleInformation(stream, HANDLE_FLAG_INHERIT, 0);
        }
    }
}

/// Does nothing: [`start`](crate::start) already starts a daemon without a console.
///
/// # Errors
/// None.
pub fn detach() -> io::Result<()> {
    Ok(())
}
