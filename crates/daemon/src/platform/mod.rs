//! What the daemon needs from the operating system: a folder that belongs to the user alone, a
//! connection between two processes of that user, and a process that outlives the command that
//! starts it. There is a file with the same items for each system.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::{
    Connection, Listener, MAX_SOCKET_PATH, connect, judge, launch, open_private, peer, socket, split, user,
};
#[cfg(unix)]
pub use unix::{ReadHalf, User, WriteHalf, detach, temporary_folder};
#[cfg(windows)]
pub(crate) use windows::{
    Connection, Listener, MAX_SOCKET_PATH, connect, judge, launch, open_private, peer, socket, split, user,
};
#[cfg(windows)]
pub use windows::{ReadHalf, User, WriteHalf, detach, keep_streams, temporary_folder};
