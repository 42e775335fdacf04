//! The Unix socket of `belljar serve --socket`. Each system has a file with the same items.

#[cfg(not(unix))]
mod absent;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(crate) use absent::Socket;
#[cfg(unix)]
pub(crate) use unix::Socket;
