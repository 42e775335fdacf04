//! The server: where it listens, and how long its connections live.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    time::{Duration, Instant},
};

use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::{TICKET_LIVES, front::Front, source::Source};

/// Connections at once. A browser has six of a page.
const MAX_CONNECTIONS: usize = 64;
const HEAD_BYTES: usize = 16 * 1024;
const HEAD_TIME: Duration = Duration::from_secs(10);
const AFTER_FAULT: Duration = Duration::from_millis(100);

/// The page's server.
pub struct PageServer {
    front: Arc<Front>,
    listener: TcpListener,
    address: SocketAddr,
}

/// What can be asked of a server that runs.
#[derive(Clone)]
pub struct PageHandle {
    front: Arc<Front>,
    address: SocketAddr,
}

impl PageServer {
    /// Listens on the loopback, at a port that is free.
    ///
    /// # Errors
    /// The system has none.
    pub async fn bind(source: Arc<dyn Source>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        Ok(Self { front: Arc::new(Front::new(address, source)), listener, address })
    }

    /// What makes tickets.
    pub fn handle(&self) -> PageHandle {
        PageHandle { front: self.front.clone(), address: self.address }
    }

    /// Serves until the future is dropped, which ends all connections.
    pub async fn serve(self) {
        let Self { front, listener, .. } = self;
        let (places, mut connections) = (Arc::new(Semaphore::new(MAX_CONNECTIONS)), JoinSet::new());
        loop {
            while connections.try_join_next().is_some() {}
            // Nobody closes it.
            let Ok(place) = places.clone().acquire_owned().await else { return };
            match listener.accept().await {
                Ok((stream, _)) => {
                    let front = front.clone();
                    connections.spawn(async move {
                        connection(&front, stream).await;
                        drop(place);
                    });
                }
                Err(error) => {
                    tracing::warn!("a browser's connection could not be accepted: {error}");
                    sleep(AFTER_FAULT).await;
                }
            }
        }
    }
}

impl PageHandle {
    /// The address of the page.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// A ticket that opens the page once, within [`TICKET_LIVES`]. `None` if the system gives no
    /// random number.
    pub fn ticket(&self) -> Option<String> {
        self.front.sessions.ticket(Instant::now()).ok()
    }

    /// Waits until a ticket was used. Returns whether it was, within its time.
    pub fn used(&self, ticket: &str) -> impl Future<Output = bool> + Send + 'static {
        let used = self.front.sessions.used(ticket);
        async move { timeout(TICKET_LIVES, used).await.unwrap_or(false) }
    }

    /// Whether a page is open.
    pub fn is_watched(&self) -> bool {
        self.front.is_watched()
    }
}

async fn connection(front: &Front, stream: TcpStream) {
    // Answers are small, and a person waits.
    let _ = stream.set_nodelay(true);
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME).max_buf_size(HEAD_BYTES);
    let served = builder.serve_connection(TokioIo::new(stream), service_fn(|request| front.answer(request)));
    if let Err(error) = served.await {
        tracing::debug!("a browser's connection ended: {error}");
    }
}
