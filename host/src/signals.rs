//! How a process is told to end: Ctrl-C, or SIGTERM from a supervisor or a client.

use std::future::Future;

/// Ends when the process is told to end.
///
/// Listens from the call on, not from the first poll: so that, when it is called before any child is started, no signal can end
/// the process and leave a child behind. From then on a signal no longer ends the process by itself.
#[cfg(unix)]
pub(crate) fn told_to_end() -> impl Future<Output = ()> + Send {
    use tokio::signal::unix::{SignalKind, signal};

    // A signal that cannot be listened for ends the process as it always did.
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

/// Ends when the user presses Ctrl-C.
#[cfg(not(unix))]
pub(crate) fn told_to_end() -> impl Future<Output = ()> + Send {
    async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}
