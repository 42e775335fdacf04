//! The daemon's side of the socket: which clients it serves, how long it runs, and how it ends.

use std::{io, path::PathBuf, sync::Arc, time::Duration};

use futures::SinkExt as _;
use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};
use tokio_util::codec::{FramedWrite, LinesCodec};

use crate::{
    Address, DaemonError, Lock, LockError, Options, Service,
    platform::{self, Connection, Listener},
    protocol::{MAX_CLIENTS, codes, line},
    session,
    shared::Shared,
};

/// How long a new daemon waits until its predecessor is gone.
const PATIENCE_FOR_PREDECESSOR: Duration = Duration::from_secs(90);
/// How long clients have to read the last answers.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// A daemon that listens.
pub struct DaemonServer {
    listener: Listener,
    shared: Arc<Shared>,
    _living: Lock,
}

/// Why a daemon cannot listen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Another daemon is running at this address.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The socket cannot be created.
    #[error("the socket {} cannot be made: {source}", path.display())]
    Socket {
        /// The socket.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl DaemonServer {
    /// Starts to listen at `address` once the previous daemon is gone, and removes what that daemon
    /// left behind.
    ///
    /// # Errors
    /// [`ServeError`], if another daemon is running there, or the socket cannot be created.
    pub async fn bind(address: &Address, service: Arc<dyn Service>, options: Options) -> Result<Self, ServeError> {
        // The holder of this lock is the daemon; a socket without a holder was left by a daemon
        // that died.
        let living = Lock::acquire(&address.living(), PATIENCE_FOR_PREDECESSOR).await?;
        let socket = address.socket();
        let listener = Listener::bind(&socket).map_err(|source| ServeError::Socket { path: socket.clone(), source })?;
        let shared = Arc::new(Shared::new(service, options, socket.display().to_string()));
        Ok(Self { listener, shared, _living: living })
    }

    /// Serves clients until one of them sends `stop`, until there was no client for the idle time,
    /// or until `told_to_end` completes. Running requests then have until the time limit; after
    /// that they are cancelled.
    pub async fn serve(self, told_to_end: impl Future<Output = ()>) {
        let Self { listener, shared, _living } = self;
        let mut sessions = JoinSet::new();
        {
            let mut told_to_end = std::pin::pin!(told_to_end);
            let mut idle = std::pin::pin!(idle(&shared));
            loop {
                tokio::select! {
                    accepted = listener.accept() => match accepted {
                        Ok(connection) => admit(connection, &shared, &mut sessions),
                        // Probably no file descriptors are left; sessions that end release theirs.
                        Err(error) => {
                            tracing::warn!("a client could not be accepted: {error}");
                            sleep(Duration::from_millis(50)).await;
                        }
                    },
                    Some(_) = sessions.join_next() => {}
                    () = shared.draining.cancelled() => break,
                    () = told_to_end.as_mut() => break,
                    () = idle.as_mut() => {
                        tracing::info!("no client came during the idle time");
                        break;
                    }
                }
            }
        }
        // From here on, commands find no daemon, and start a new one, which waits until this one is
        // gone.
        shared.draining.cancel();
        drop(listener);
        let mut running = shared.running.subscribe();
        let drained = running.wait_for(|running| *running == 0);
        if timeout(shared.options.drain, drained).await.is_err() {
            tracing::warn!("requests that did not end in {:?} are cancelled", shared.options.drain);
        }
        shared.stopping.cancel();
        // Sessions that still have a running request, or whose client does not read, are aborted
        // when the set is dropped.
        let _ = timeout(LAST_WORDS, async { while sessions.join_next().await.is_some() {} }).await;
        sessions.shutdown().await;
        shared.service.shutdown().await;
    }
}

/// Starts to serve a client, if that is allowed.
fn admit(connection: Connection, shared: &Arc<Shared>, sessions: &mut JoinSet<()>) {
    match platform::user().and_then(|user| Ok((user, platform::peer(&connection)?))) {
        Ok((user, peer)) if peer == user => {}
        // The socket's mode already keeps others out; this check is for systems that ignore the
        // mode.
        Ok((_, peer)) => return tracing::warn!(user = %peer, "a process of another user was turned away"),
        Err(error) => return tracing::warn!("a client that cannot be identified was turned away: {error}"),
    }
    let client = shared.connected();
    if *shared.clients.borrow() > MAX_CLIENTS {
        sessions.spawn(async move {
            turn_away(connection).await;
            drop(client);
        });
        return;
    }
    let shared = shared.clone();
    sessions.spawn(async move {
        session::serve(connection, shared).await;
        drop(client);
    });
}

async fn turn_away(connection: Connection) {
    let message = format!("the daemon has {MAX_CLIENTS} clients, the limit");
    let fault = DaemonError::new(codes::BUSY, message).with_hint("try again when one of them has hung up");
    let (_reading, writing) = platform::split(connection);
    let mut answers = FramedWrite::new(writing, LinesCodec::new());
    // A client that does not read is rejected without a message.
    let _ = timeout(LAST_WORDS, answers.send(line(None, &Err(fault)))).await;
}

/// Completes when there has been no client for the idle time, and nothing is kept.
async fn idle(shared: &Shared) {
    let Some(patience) = shared.options.idle else { return std::future::pending().await };
    let mut clients = shared.clients.subscribe();
    loop {
        // The sender lives in `shared`.
        if clients.wait_for(|clients| *clients == 0).await.is_err() {
            return;
        }
        let came = timeout(patience, clients.wait_for(|clients| *clients > 0)).await.is_ok();
        if !came && !shared.service.is_needed() {
            return;
        }
    }
}
