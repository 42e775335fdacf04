//! The state that all sessions share: the daemon's settings, its clients, its running requests, and
//! its end.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::{
    PROTOCOL, Service,
    requests::{Hello, Status, Stopped},
};

/// The daemon's settings, and how long it runs.
#[derive(Debug, Clone)]
pub struct Options {
    /// The version of belljar.
    pub version: String,
    /// The configuration's path.
    pub config: Option<String>,
    /// The log's path.
    pub log: Option<String>,
    /// How long it stays without a client; `None` for ever.
    pub idle: Option<Duration>,
    /// How long running requests may continue when it is told to end.
    pub drain: Duration,
}

/// What the sessions know of the daemon.
pub(crate) struct Shared {
    pub(crate) service: Arc<dyn Service>,
    pub(crate) options: Options,
    socket: String,
    started: Instant,
    pub(crate) clients: watch::Sender<usize>,
    pub(crate) running: watch::Sender<usize>,
    answered: AtomicU64,
    /// Cancelled when the daemon is told to end: no new clients, no new requests.
    pub(crate) draining: CancellationToken,
    /// Cancelled when nothing is running any more: sessions end once their last answer is written.
    pub(crate) stopping: CancellationToken,
}

/// A running request.
pub(crate) struct Work(Arc<Shared>);

impl Drop for Work {
    fn drop(&mut self) {
        self.0.answered.fetch_add(1, Ordering::Relaxed);
        self.0.running.send_modify(|running| *running -= 1);
    }
}

/// A connected client.
pub(crate) struct ConnectedClient(Arc<Shared>);

impl Drop for ConnectedClient {
    fn drop(&mut self) {
        self.0.clients.send_modify(|clients| *clients -= 1);
    }
}

impl Shared {
    pub(crate) fn new(service: Arc<dyn Service>, options: Options, socket: String) -> Self {
        Self {
            service,
            options,
            socket,
            started: Instant::now(),
            clients: watch::Sender::new(0),
            running: watch::Sender::new(0),
            answered: AtomicU64::new(0),
            draining: CancellationToken::new(),
            stopping: CancellationToken::new(),
        }
    }

    pub(crate) fn work(self: &Arc<Self>) -> Work {
        self.running.send_modify(|running| *running += 1);
        Work(self.clone())
    }

    pub(crate) fn connected(self: &Arc<Self>) -> ConnectedClient {
        self.clients.send_modify(|clients| *clients += 1);
        ConnectedClient(self.clone())
    }

    pub(crate) fn hello(&self) -> Hello {
        Hello {
            protocol: PROTOCOL,
            version: self.options.version.clone(),
            fingerprint: self.service.fingerprint(),
            pid: std::process::id(),
        }
    }

    pub(crate) async fn status(&self) -> Status {
        let servers = self.service.figures().await;
        Status {
            pid: std::process::id(),
            version: self.options.version.clone(),
            config: self.options.config.clone(),
            socket: self.socket.clone(),
            log: self.options.log.clone(),
            uptime_s: self.started.elapsed().as_secs(),
            clients: *self.clients.borrow(),
            running: *self.running.borrow(),
            answered: self.answered.load(Ordering::Relaxed),
            idle_s: self.options.idle.map(|idle| idle.as_secs()),
            kept_alive: self.service.is_needed(),
            servers,
        }
    }

    /// Starts to end, and waits until nothing is running any more, within the time limit.
    pub(crate) async fn stop(&self) -> Stopped {
        self.draining.cancel();
        self.stopping.cancelled().await;
        Stopped { stopped: true, cancelled: *self.running.borrow() }
    }
}
