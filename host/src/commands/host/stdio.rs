//! Standard input and output for many small messages.
//!
//! tokio's own streams use other threads, which costs more than the rest of a call. A program that
//! starts another usually gives it pipes or, as Node does, sockets, for which the system reports
//! when they are ready.

use tokio::io::{AsyncRead, AsyncWrite};

/// Standard input.
pub(super) fn input() -> Box<dyn AsyncRead + Unpin + Send> {
    #[cfg(unix)]
    if let Ok(Some(input)) = unix::input() {
        return input;
    }
    Box::new(tokio::io::stdin())
}

/// Standard output.
pub(super) fn output() -> Box<dyn AsyncWrite + Unpin + Send> {
    #[cfg(unix)]
    if let Ok(Some(output)) = unix::output() {
        return output;
    }
    Box::new(tokio::io::stdout())
}

#[cfg(unix)]
mod unix {
    use std::{
        fs::{File, FileType},
        io,
        os::{
            fd::{AsFd, BorrowedFd, OwnedFd},
            unix::{fs::FileTypeExt as _, net},
        },
    };

    use tokio::{
        io::{AsyncRead, AsyncWrite},
        net::{UnixStream, unix::pipe},
    };

    /// Input from a pipe or a socket. Neither is shared with a child, so nobody else sees that it
    /// does not block.
    pub(super) fn input() -> io::Result<Option<Box<dyn AsyncRead + Unpin + Send>>> {
        let (kind, end) = end_of(io::stdin().as_fd())?;
        Ok(if kind.is_fifo() {
            Some(Box::new(pipe::Receiver::from_owned_fd(end)?))
        } else if kind.is_socket() {
            Some(Box::new(socket(end)?))
        } else {
            None
        })
    }

    /// The same for output.
    pub(super) fn output() -> io::Result<Option<Box<dyn AsyncWrite + Unpin + Send>>> {
        let (kind, end) = end_of(io::stdout().as_fd())?;
        Ok(if kind.is_fifo() {
            Some(Box::new(pipe::Sender::from_owned_fd(end)?))
        } else if kind.is_socket() {
            Some(Box::new(socket(end)?))
        } else {
            None
        })
    }

    fn end_of(descriptor: BorrowedFd<'_>) -> io::Result<(FileType, OwnedFd)> {
        let kind = File::from(descriptor.try_clone_to_owned()?).metadata()?.file_type();
        Ok((kind, descriptor.try_clone_to_owned()?))
    }

    fn socket(end: OwnedFd) -> io::Result<UnixStream> {
        let socket = net::UnixStream::from(end);
        socket.set_nonblocking(true)?;
        UnixStream::from_std(socket)
    }
}
