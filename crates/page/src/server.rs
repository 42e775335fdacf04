//! The server: where it listens, and how long its connections live.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    time::{Duration, Instant},
};

use belljar_connections::{Connections, Held, Patient, Place};
use http_body_util::BodyExt as _;
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::{TICKET_LIVES, front::Front, source::Source};

/// The most connections at once. A browser opens six for a page. If all are taken, the connection
/// gives way that has waited longest for a request, or for the body of a request without a token.
const MAX_CONNECTIONS: usize = 64;
/// How long a browser may read nothing of what is written to it.
const STALLED: Duration = if cfg!(test) { Duration::from_millis(300) } else { Duration::from_secs(30) };
const HEAD_BYTES: usize = 16 * 1024;
const HEAD_TIME: Duration = Duration::from_secs(10);
const AFTER_FAULT: Duration = Duration::from_millis(100);

/// The page's server.
pub struct PageServer {
    front: Arc<Front>,
    listener: TcpListener,
    address: SocketAddr,
}

/// What can be asked of a running server.
#[derive(Clone)]
pub struct PageHandle {
    front: Arc<Front>,
    address: SocketAddr,
}

impl PageServer {
    /// Listens on a free port of the loopback.
    ///
    /// # Errors
    /// The system has no free port.
    pub async fn bind(source: Arc<dyn Source>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        Ok(Self { front: Arc::new(Front::new(address, source)), listener, address })
    }

    /// A handle that creates tickets.
    pub fn handle(&self) -> PageHandle {
        PageHandle { front: self.front.clone(), address: self.address }
    }

    /// Serves until the future is dropped, which ends all connections.
    pub async fn serve(self) {
        let Self { front, listener, .. } = self;
        let (places, mut connections) = (Connections::new(MAX_CONNECTIONS), JoinSet::new());
        loop {
            while connections.try_join_next().is_some() {}
            let place = places.place().await;
            match listener.accept().await {
                Ok((stream, _)) => {
                    let front = front.clone();
                    connections.spawn(async move { connection(&front, stream, &place).await });
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

    /// A ticket that opens the page once, within [`TICKET_LIVES`]. `None` if the system returns no
    /// random numbers.
    pub fn ticket(&self) -> Option<String> {
        self.front.sessions.ticket(Instant::now()).ok()
    }

    /// Waits until a ticket was used or has expired. Returns whether it was used in time.
    pub fn used(&self, ticket: &str) -> impl Future<Output = bool> + Send + 'static {
        let used = self.front.sessions.used(ticket);
        async move { timeout(TICKET_LIVES, used).await.unwrap_or(false) }
    }

    /// Whether a page is open.
    pub fn is_watched(&self) -> bool {
        self.front.is_watched()
    }
}

async fn connection(front: &Front, stream: TcpStream, place: &Arc<Place>) {
    // Answers are small, and a person waits.
    let _ = stream.set_nodelay(true);
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME).max_buf_size(HEAD_BYTES);
    let service = service_fn(|request| {
        // Anybody may send a request that opens the page. So until its body is complete, its
        // connection may give way to others: it cannot keep a place by sending its body slowly.
        let answering = (!Front::is_opened_by(&request)).then(|| place.answers());
        async move {
            let answer = front.answer(request, None).await;
            let answering = answering.unwrap_or_else(|| place.answers());
            answer.map(|answer| answer.map(|body| Held::new(body, answering).boxed_unsync()))
        }
    });
    let served = builder.serve_connection(TokioIo::new(Patient::new(stream, STALLED)), service);
    tokio::select! {
        served = served => if let Err(error) = served {
            tracing::debug!("a browser's connection ended: {error}");
        },
        () = place.gives_way() => tracing::debug!("a connection that waited for a request is closed: others need its place"),
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpSocket,
    };

    use super::*;
    use crate::tests_source::Kept;

    /// Loads the page, as soon as there is a place.
    async fn sees_the_page(address: SocketAddr) {
        let mut asking = TcpStream::connect(address).await.expect("there is a queue");
        let request = format!("GET / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        asking.write_all(request.as_bytes()).await.expect("sent");
        let mut answer = String::new();
        asking.read_to_string(&mut answer).await.expect("answered");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }

    #[tokio::test]
    async fn connections_that_ask_nothing_do_not_keep_others_from_the_page() {
        let server = PageServer::bind(Arc::new(Kept::default())).await.expect("it listens");
        let address = server.address;
        let serving = tokio::spawn(server.serve());
        let mut idle = Vec::new();
        for _ in 0..MAX_CONNECTIONS + 2 {
            idle.push(TcpStream::connect(address).await.expect("there is a queue"));
        }
        sees_the_page(address).await;
        drop(idle);
        serving.abort();
    }

    #[tokio::test]
    async fn connections_that_open_a_page_slowly_do_not_keep_others_from_it() {
        let server = PageServer::bind(Arc::new(Kept::default())).await.expect("it listens");
        let address = server.address;
        let serving = tokio::spawn(server.serve());
        let head = format!(
            "POST /session HTTP/1.1\r\nHost: {address}\r\nOrigin: http://{address}\r\nContent-Length: 4000\r\n\r\n{{"
        );
        let mut slow = Vec::new();
        for _ in 0..MAX_CONNECTIONS {
            let mut stream = TcpStream::connect(address).await.expect("there is a queue");
            stream.write_all(head.as_bytes()).await.expect("sent");
            slow.push(stream);
        }
        sees_the_page(address).await;
        // One of them was closed to make room before it could be told that its body came too
        // slowly.
        let told = slow.iter_mut().map(|stream| async { stream.read(&mut [0; 1000]).await }.boxed());
        let (first, ..) = futures::future::select_all(told).await;
        assert_eq!(first.expect("it is closed"), 0, "it was answered");
        serving.abort();
    }

    #[tokio::test]
    async fn connections_that_ask_much_and_read_nothing_do_not_keep_others_from_the_page() {
        let server = PageServer::bind(Arc::new(Kept::default())).await.expect("it listens");
        let address = server.address;
        let serving = tokio::spawn(server.serve());
        // More than fits into the buffers between them and the server.
        let asked = format!("GET /style.css HTTP/1.1\r\nHost: {address}\r\n\r\n").repeat(400);
        let mut silent = Vec::new();
        for _ in 0..MAX_CONNECTIONS {
            let socket = TcpSocket::new_v4().expect("a socket");
            socket.set_recv_buffer_size(4096).expect("it can be small");
            let mut stream = socket.connect(address).await.expect("there is a queue");
            stream.write_all(asked.as_bytes()).await.expect("sent");
            silent.push(stream);
        }
        let patience = Duration::from_secs(60);
        timeout(patience, sees_the_page(address)).await.expect("a silent one has lost its place");
        drop(silent);
        serving.abort();
    }
}
