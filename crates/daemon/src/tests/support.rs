//! A daemon with a test service, and a client that can send anything.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use crate::{
    Address, Answer, DaemonClient, DaemonError, DaemonServer, HostConnection, Line, Options, ReadHalf, RequestError,
    Service, WriteHalf, codes, platform,
};
use belljar_model::ServerFigures;
use futures::{FutureExt as _, future::BoxFuture};
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    sync::mpsc,
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

/// What happens to a request that does not end by itself.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Begun,
    Dropped,
    Shutdown,
}

/// `echo` answers with its parameters, `hang` never answers, `until_cancelled` answers when it is
/// cancelled, `panic` panics. `host` echoes.
pub(crate) struct Stub {
    events: mpsc::UnboundedSender<Event>,
    needed: Arc<AtomicBool>,
    release: CancellationToken,
}

impl Stub {
    pub(crate) fn new(events: mpsc::UnboundedSender<Event>) -> Self {
        Self { events, needed: Arc::default(), release: CancellationToken::new() }
    }
}

struct OnDrop(mpsc::UnboundedSender<Event>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        let _ = self.0.send(Event::Dropped);
    }
}

impl Service for Stub {
    fn answer(
        &self,
        _: u64,
        method: &str,
        params: Box<RawValue>,
        cancelled: CancellationToken,
    ) -> Option<BoxFuture<'static, Answer>> {
        let events = self.events.clone();
        let release = self.release.clone();
        Some(match method {
            "echo" => async move { Ok(params) }.boxed(),
            "refuse" => async move { Err(DaemonError::new(codes::INVALID_PARAMS, "no").with_hint("yes")) }.boxed(),
            "panic" => async move { panic!("as asked") }.boxed(),
            "hang" => async move {
                let _guard = OnDrop(events.clone());
                let _ = events.send(Event::Begun);
                release.cancelled().await;
                Ok(to_raw_value("released").unwrap())
            }
            .boxed(),
            "until_cancelled" => async move {
                let _ = events.send(Event::Begun);
                cancelled.cancelled().await;
                Ok(to_raw_value("cancelled").unwrap())
            }
            .boxed(),
            _ => return None,
        })
    }

    /// Echoes lines, until its client or the daemon ends it.
    fn host(&self, connection: HostConnection) -> BoxFuture<'static, ()> {
        let events = self.events.clone();
        async move {
            let _guard = OnDrop(events.clone());
            let _ = events.send(Event::Begun);
            let HostConnection { mut lines, mut output, draining, .. } = connection;
            loop {
                tokio::select! {
                    line = lines.next() => match line {
                        Ok(Some(Line::Text(text))) => output.write_all(format!("{text}\n").as_bytes()).await.unwrap(),
                        _ => return,
                    },
                    () = draining.cancelled() => return,
                }
            }
        }
        .boxed()
    }

    fn fingerprint(&self) -> String {
        "f".to_owned()
    }

    fn figures(&self) -> BoxFuture<'static, Vec<ServerFigures>> {
        async { Vec::new() }.boxed()
    }

    fn is_needed(&self) -> bool {
        self.needed.load(Ordering::SeqCst)
    }

    fn shutdown(&self) -> BoxFuture<'_, ()> {
        async {
            let _ = self.events.send(Event::Shutdown);
        }
        .boxed()
    }
}

pub(crate) struct Daemon {
    pub(crate) address: Address,
    _folder: TempDir,
    pub(crate) events: mpsc::UnboundedReceiver<Event>,
    pub(crate) needed: Arc<AtomicBool>,
    /// Completes all hanging requests.
    pub(crate) release: CancellationToken,
    /// Takes the place of Ctrl-C or SIGTERM.
    pub(crate) told_to_end: CancellationToken,
    pub(crate) served: JoinHandle<()>,
}

pub(crate) fn options() -> Options {
    Options { version: "1.2.3".to_owned(), config: None, log: None, idle: None, drain: Duration::from_secs(3600) }
}

pub(crate) async fn daemon(options: Options) -> Daemon {
    let (folder, address) = place();
    daemon_at(address, folder, options).await
}

pub(crate) async fn daemon_at(address: Address, folder: TempDir, options: Options) -> Daemon {
    let (sender, events) = mpsc::unbounded_channel();
    let (needed, release) = (Arc::new(AtomicBool::new(false)), CancellationToken::new());
    let stub = Stub { events: sender, needed: needed.clone(), release: release.clone() };
    let server = DaemonServer::bind(&address, Arc::new(stub), options).await.unwrap();
    let told_to_end = CancellationToken::new();
    let served = tokio::spawn(server.serve(told_to_end.clone().cancelled_owned()));
    Daemon { address, _folder: folder, events, needed, release, told_to_end, served }
}

/// A folder that belongs to the user alone, and an address in it.
pub(crate) fn place() -> (TempDir, Address) {
    let folder = tempfile::tempdir().unwrap();
    let address = Address::new(&folder.path().join("run"), "k").unwrap();
    (folder, address)
}

impl DaemonClient {
    /// Calls one of the stub's methods, which have no types.
    pub(crate) async fn request(&mut self, method: &str, params: &Value) -> Result<Box<RawValue>, RequestError> {
        self.request_until(method, params, std::future::pending()).await
    }
}

impl Daemon {
    pub(crate) async fn client(&self) -> DaemonClient {
        DaemonClient::connect(&self.address).await.unwrap().expect("a daemon listens")
    }

    pub(crate) async fn raw(&self) -> Raw {
        Raw::connect(&self.address.socket()).await
    }

    pub(crate) async fn event(&mut self) -> Event {
        self.events.recv().await.unwrap()
    }
}

/// A client that sends whatever the test wants.
pub(crate) struct Raw {
    lines: BufReader<ReadHalf>,
    pub(crate) writing: WriteHalf,
}

impl Raw {
    pub(crate) async fn connect(socket: &Path) -> Self {
        let connection = platform::connect(socket).await.unwrap().expect("a daemon listens");
        let (reading, writing) = platform::split(connection);
        Self { lines: BufReader::new(reading), writing }
    }

    pub(crate) async fn greeted(socket: &Path) -> Self {
        let mut raw = Self::connect(socket).await;
        raw.say(r#"{"jsonrpc":"2.0","id":0,"method":"hello","params":{"protocol":1}}"#).await;
        assert_eq!(raw.hear().await["result"]["protocol"], 1);
        raw
    }

    pub(crate) async fn say(&mut self, line: &str) {
        self.writing.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    /// The next line, or `null` if the daemon has hung up.
    pub(crate) async fn hear(&mut self) -> Value {
        let mut line = String::new();
        match self.lines.read_line(&mut line).await {
            Ok(0) | Err(_) => Value::Null,
            Ok(_) => serde_json::from_str(&line).unwrap(),
        }
    }
}
