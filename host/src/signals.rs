//! The signals to end a process: Ctrl-C, or SIGTERM from a supervisor or a client. And the one to
//! read its configuration again: SIGHUP.

use std::future::Future;

/// Completes when the process is told to end.
///
/// It listens from the call on, not from the first poll: if it is called before any child is
/// started, no signal can end the process and leave a child behind. From then on a signal no longer
/// ends the process by itself.
#[cfg(unix)]
pub(crate) fn told_to_end() -> impl Future<Output = ()> + Send {
    use tokio::signal::unix::{SignalKind, signal};

    // A signal that cannot be handled ends the process as by default.
    let streams = [SignalKind::interrupt(), SignalKind::terminate()].map(|kind| signal(kind).ok());
    async move {
        let [interrupt, terminate] = streams.map(|stream| async move {
            match stream {
                Some(mut stream) => drop(stream.recv().await),
                None => std::future::pending().await,
            }
        });
        tokio::select! {
            () = interrupt => {}
            () = terminate => {}
        }
    }
}

/// Completes when the user presses Ctrl-C.
#[cfg(windows)]
pub(crate) fn told_to_end() -> impl Future<Output = ()> + Send {
    // As above.
    let stream = tokio::signal::windows::ctrl_c().ok();
    async move {
        match stream {
            Some(mut stream) => drop(stream.recv().await),
            None => std::future::pending().await,
        }
    }
}

/// SIGHUP, for a process that reads its configuration again. In other processes it ends the
/// process, as when a terminal goes away.
#[cfg(unix)]
pub(crate) struct Reloads(Option<tokio::signal::unix::Signal>);

#[cfg(unix)]
impl Reloads {
    /// Listens from now on. If that is not possible, the signal ends the process as by default.
    pub(crate) fn listen() -> Self {
        use tokio::signal::unix::{SignalKind, signal};

        Self(signal(SignalKind::hangup()).ok())
    }

    /// The next signal.
    pub(crate) async fn next(&mut self) {
        let told = match &mut self.0 {
            Some(signal) => signal.recv().await,
            None => None,
        };
        if told.is_none() {
            std::future::pending().await
        }
    }
}

/// Without signals, only a command can tell it.
#[cfg(not(unix))]
pub(crate) struct Reloads;

#[cfg(not(unix))]
impl Reloads {
    pub(crate) fn listen() -> Self {
        Self
    }

    pub(crate) async fn next(&mut self) {
        std::future::pending().await
    }
}
