//! The lines to be written to the client, and the task that writes them.

use std::{io, time::Duration};

use rmcp::{RoleServer, service::TxJsonRpcMessage};
use tokio::{
    io::{AsyncWrite, AsyncWriteExt as _},
    sync::mpsc,
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use super::in_flight::Slot;

/// Queued lines above which nothing more is read. A client that reads never gets there; the answers
/// to requests in flight wait behind these, and are bounded by their number.
const MAX_WAITING: usize = 16;
/// How long the client has to read the last answers after it has hung up, or belljar ends. As in
/// the daemon.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// The lines that wait for the client to read.
pub(super) struct Outbox {
    lines: mpsc::Sender<Line>,
    closing: CancellationToken,
    writer: JoinSet<()>,
}

/// Room for one line.
pub(super) struct Room<'outbox>(mpsc::Permit<'outbox, Line>);

/// A line, with the place of the request that it answers, which is freed once it is written.
struct Line {
    text: Vec<u8>,
    slot: Option<Slot>,
}

impl Outbox {
    pub(super) fn new(output: impl AsyncWrite + Unpin + Send + 'static) -> Self {
        let (lines, waiting) = mpsc::channel(MAX_WAITING);
        let closing = CancellationToken::new();
        let mut writer = JoinSet::new();
        writer.spawn(write(output, waiting, closing.clone()));
        Self { lines, closing, writer }
    }

    /// Waits until there is room for another line; `None` when the client takes no more.
    pub(super) async fn room(&self) -> Option<Room<'_>> {
        self.lines.reserve().await.ok().map(Room)
    }

    /// Waits until the client takes no more.
    pub(super) async fn broken(&self) {
        self.lines.closed().await;
    }

    /// Writes a message once those before it are written.
    pub(super) fn send(
        &self,
        message: &TxJsonRpcMessage<RoleServer>,
        slot: Option<Slot>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + use<> {
        // A text is much smaller than its tree, and may have to wait.
        let line = Line::new(message, slot);
        let lines = self.lines.clone();
        async move { lines.send(line?).await.map_err(|_| io::ErrorKind::BrokenPipe.into()) }
    }

    /// Writes queued lines, if the client reads them soon, and no more.
    pub(super) async fn close(&mut self) {
        self.closing.cancel();
        if tokio::time::timeout(LAST_WORDS, self.writer.join_next()).await.is_err() {
            tracing::debug!("the client did not read its last answers within {LAST_WORDS:?}");
            self.writer.shutdown().await;
        }
    }
}

impl Room<'_> {
    /// Writes a message once those before it are written.
    pub(super) fn put(self, message: &TxJsonRpcMessage<RoleServer>) {
        match Line::new(message, None) {
            Ok(line) => self.0.send(line),
            Err(error) => tracing::error!("an answer cannot be written as JSON: {error}"),
        }
    }
}

impl Line {
    fn new(message: &TxJsonRpcMessage<RoleServer>, slot: Option<Slot>) -> Result<Self, io::Error> {
        let mut text = serde_json::to_vec(message)?;
        text.push(b'\n');
        Ok(Self { text, slot })
    }
}

/// Writes lines until the outbox closes or the client is gone.
async fn write(mut output: impl AsyncWrite + Unpin, mut lines: mpsc::Receiver<Line>, closing: CancellationToken) {
    loop {
        let line = tokio::select! {
            biased;
            () = closing.cancelled(), if !lines.is_closed() => {
                lines.close();
                continue;
            }
            line = lines.recv() => line,
        };
        let Some(Line { text, slot }) = line else { return };
        let is_last = lines.is_empty();
        let written = async {
            output.write_all(&text).await?;
            if is_last { output.flush().await } else { Ok(()) }
        };
        if let Err(error) = written.await {
            // Dropping the receiver tells the wire, which then ends.
            return tracing::debug!("the client does not take answers any more: {error}");
        }
        drop(slot);
    }
}
