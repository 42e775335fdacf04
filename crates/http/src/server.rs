//! Connections: how many there are, how they end, and how the server ends.

use std::{future::Future, io, sync::Arc, time::Duration};

use belljar_connections::{Connections, Patient, Place};
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use parking_lot::Mutex;
use rmcp::ServerHandler;
#[cfg(unix)]
use tokio::net::UnixListener;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpListener,
    sync::watch,
    task::JoinSet,
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use crate::{
    Metrics, Options, Page, ResourceServer, Tokens, answer,
    front::{Client, Front},
    host::{Runners, WebSockets},
};

/// How long to wait after a connection could not be accepted, usually because no file descriptor is
/// left.
const AFTER_FAULT: Duration = Duration::from_millis(100);
/// The longest head of a request. Clients send some hundred bytes, and a token with claims has some
/// thousand.
const HEAD_BYTES: usize = 32 * 1024;
const HEADERS: usize = 64;
/// How often idle sessions are looked for; more often if sessions may only be idle for a short
/// time.
const REAP: Duration = Duration::from_secs(30);

/// Where clients connect.
#[derive(Debug)]
pub enum Listener {
    /// An address; each client has to show a token.
    Tcp(TcpListener),
    /// A socket in a folder that belongs to the user alone. Processes of other users are rejected,
    /// and those of this user need no token.
    #[cfg(unix)]
    Unix(UnixListener),
}

/// An MCP server over HTTP.
pub struct Server<H> {
    front: Arc<Front<H>>,
}

impl<H: ServerHandler> Server<H> {
    /// A server with this handler, for clients with one of these tokens.
    pub fn new(handler: H, options: Options, tokens: watch::Receiver<Arc<Tokens>>) -> Self {
        Self { front: Arc::new(Front::new(handler, options, tokens)) }
    }

    /// Also accepts tokens of an authorization server.
    #[must_use]
    pub fn with_oauth(self, oauth: ResourceServer) -> Self {
        // If it is called twice, the first value stays.
        let _ = self.front.oauth.set(oauth);
        self
    }

    /// Also speaks the host protocol over WebSockets at `/host`.
    #[must_use]
    pub fn with_host(self, runners: Runners) -> Self {
        // If it is called twice, the first value stays.
        let _ = self.front.web_sockets.set(WebSockets::new(runners));
        self
    }

    /// Also serves these metrics at `/metrics`.
    #[must_use]
    pub fn with_metrics(self, metrics: Metrics) -> Self {
        // If it is called twice, the first value stays.
        let _ = self.front.metrics.set(metrics);
        self
    }

    /// Also serves this page at `/ui`, for clients that have a token with the scope `admin`.
    #[must_use]
    pub fn with_page(self, page: Arc<dyn Page>) -> Self {
        // If it is called twice, the first value stays.
        let _ = self.front.page.set(page);
        self
    }

    /// The number of sessions, and each change of it.
    pub fn sessions(&self) -> watch::Receiver<usize> {
        self.front.sessions.count()
    }

    /// The number of requests under way, and each change of it.
    pub fn in_flight(&self) -> watch::Receiver<usize> {
        self.front.flights.count()
    }

    /// Serves until `told_to_end` completes. Calls in progress then have
    /// [`Limits::grace`](crate::Limits::grace) to end by themselves. After that they are cancelled,
    /// and have [`Limits::farewell`](crate::Limits::farewell) to be answered.
    pub async fn serve(&self, listeners: Vec<Listener>, told_to_end: impl Future<Output = ()>) {
        let front = &self.front;
        let limits = front.options.limits.clone();
        let (places, closing) = (Connections::new(limits.connections), CancellationToken::new());
        let mut accepting = JoinSet::new();
        for listener in listeners {
            accepting.spawn(accept(front.clone(), listener, places.clone(), closing.clone()));
        }
        let reaper = async {
            let mut ticks = tokio::time::interval((limits.idle / 4).clamp(Duration::from_millis(10), REAP));
            loop {
                ticks.tick().await;
                front.reap().await;
            }
        };
        tokio::select! {
            () = told_to_end => {}
            () = reaper => {}
        }
        front.drain();
        if timeout(limits.grace, none(front.flights.count())).await.is_err() {
            front.calling_off.cancel();
            let answered = timeout(limits.farewell, none(front.flights.count())).await;
            answered.unwrap_or_else(|_| tracing::warn!("some calls did not end in time; their streams are closed"));
        }
        front.ending.cancel();
        closing.cancel();
        let closed = async { while accepting.join_next().await.is_some() {} };
        if timeout(limits.farewell, closed).await.is_err() {
            tracing::warn!("some connections did not end in time, and are closed");
        }
        accepting.shutdown().await;
        front.sessions.give_up(std::time::Instant::now(), Duration::ZERO, |_| false);
    }
}

/// Waits until the count is zero.
async fn none(mut count: watch::Receiver<usize>) {
    // The sender lives as long as the server.
    let _ = count.wait_for(|count| *count == 0).await;
}

/// Accepts connections until `closing`, then waits for the existing ones. Until then requests are
/// rejected one by one, so that probes notice.
async fn accept<H: ServerHandler>(
    front: Arc<Front<H>>,
    listener: Listener,
    places: Arc<Connections>,
    closing: CancellationToken,
) {
    let mut connections = JoinSet::new();
    let accepting = async {
        loop {
            while connections.try_join_next().is_some() {}
            let place = places.place().await;
            if let Err(error) = listener.accept(&front, place, &closing, &mut connections).await {
                tracing::warn!("a connection could not be accepted: {error}");
                tokio::time::sleep(AFTER_FAULT).await;
            }
        }
    };
    tokio::select! {
        () = closing.cancelled() => {}
        () = accepting => {}
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

impl Listener {
    async fn accept<H: ServerHandler>(
        &self,
        front: &Arc<Front<H>>,
        place: Arc<Place>,
        closing: &CancellationToken,
        connections: &mut JoinSet<()>,
    ) -> io::Result<()> {
        let (front, closing) = (front.clone(), closing.clone());
        match self {
            Self::Tcp(listener) => {
                let (stream, address) = listener.accept().await?;
                // Answers are small, and their clients wait.
                stream.set_nodelay(true)?;
                connections.spawn(connection(front, stream, Client::At(address.ip()), closing, place));
            }
            #[cfg(unix)]
            Self::Unix(listener) => {
                let (stream, _) = listener.accept().await?;
                let user = stream.peer_cred()?.uid();
                if user != rustix::process::geteuid().as_raw() {
                    tracing::warn!("a process of user {user} was turned away at the socket");
                    return Ok(());
                }
                connections.spawn(connection(front, stream, Client::Owner, closing, place));
            }
        }
        Ok(())
    }
}

async fn connection<H: ServerHandler, S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    front: Arc<Front<H>>,
    stream: S,
    client: Client,
    closing: CancellationToken,
    place: Arc<Place>,
) {
    let limits = &front.options.limits;
    let stream = TokioIo::new(Patient::new(stream, limits.stalled));
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(limits.head).max_buf_size(HEAD_BYTES).max_headers(HEADERS);
    let opening = Mutex::new(None);
    let service = service_fn(|request| {
        let (front, answering, opening) = (&front, place.answers(), &opening);
        async move { front.answer(client, request, opening).await.map(|answer| answer::holding(answer, answering)) }
    });
    let mut connection = std::pin::pin!(builder.serve_connection(stream, service).with_upgrades());
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = place.gives_way() => {
            tracing::debug!("a connection that waited for a request is closed: others need its place");
            return;
        }
        () = closing.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!("a connection ended: {error}");
    }
    let opened = opening.lock().take();
    if let Some(opened) = opened {
        // From here on, the connection is not closed to make room for others.
        let _answering = place.answers();
        opened.serve().await;
    }
}
