//! One client, from its first line to its last.

use std::{
    collections::HashMap,
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use futures::{FutureExt as _, SinkExt as _};
use serde_json::value::{RawValue, to_raw_value};
use tokio::task::JoinSet;
use tokio_util::{
    codec::{FramedWrite, LinesCodec},
    sync::CancellationToken,
};

use crate::{
    Answer, DaemonError, HostConnection, Line, Lines, ReadHalf, WriteHalf,
    platform::{self, Connection},
    protocol::{Cancel, Greet, Id, MAX_IN_FLIGHT, MAX_LINE_BYTES, PROTOCOL, Request, codes, line},
    requests::{AskHost, AskStatus, HostBegun, Method as _, Stop},
    shared::Shared,
};

/// The running requests of a client. They are dropped together with it, so a client that vanishes
/// cancels them.
struct ClientSession {
    shared: Arc<Shared>,
    /// The number of the connection in this process.
    number: u64,
    greeted: bool,
    /// Whether its client has switched to the host protocol.
    is_host: bool,
    running: JoinSet<(Id, Answer)>,
    tokens: HashMap<Id, CancellationToken>,
}

/// Serves a connection until the client hangs up, or until the daemon stops and all requests of the
/// client are answered.
pub(crate) async fn serve(connection: Connection, shared: Arc<Shared>) {
    let (reading, writing) = platform::split(connection);
    let mut lines = Lines::new(reading, MAX_LINE_BYTES);
    let mut answers = FramedWrite::new(writing, LinesCodec::new());
    static SESSIONS: AtomicU64 = AtomicU64::new(0);
    let number = SESSIONS.fetch_add(1, Ordering::Relaxed);
    let mut session = ClientSession {
        shared: shared.clone(),
        number,
        greeted: false,
        is_host: false,
        running: JoinSet::new(),
        tokens: HashMap::new(),
    };
    loop {
        // Answers have priority: even a client that keeps sending gets them.
        let said = tokio::select! {
            biased;
            Some(ended) = session.running.join_next() => session.ended(ended),
            read = lines.next() => match read {
                Ok(Some(Line::Text(text))) => {
                    let said = session.take(&text);
                    if session.is_host {
                        return session.hand_over(said, lines, answers).await;
                    }
                    said
                }
                Ok(Some(Line::TooLong)) => {
                    let message = format!("a line has more than {MAX_LINE_BYTES} bytes, the limit; it was not read");
                    Some(line(None, &Err(DaemonError::new(codes::TOO_LONG, message).with_hint("pass data through tools instead"))))
                }
                Ok(Some(Line::NoText)) => {
                    let fault = DaemonError::new(codes::PARSE, "a line is not UTF-8");
                    // The client may be gone already.
                    let _ = answers.send(line(None, &Err(fault))).await;
                    return;
                }
                Ok(None) | Err(_) => return,
            },
            () = shared.stopping.cancelled(), if session.running.is_empty() => return,
        };
        if let Some(said) = said
            && answers.send(said).await.is_err()
        {
            return;
        }
    }
}

impl ClientSession {
    /// Tells the client, and then hands the connection over to the host protocol. The connection
    /// counts as a running request.
    async fn hand_over(
        self,
        said: Option<String>,
        lines: Lines<ReadHalf>,
        mut answers: FramedWrite<WriteHalf, LinesCodec>,
    ) {
        let _work = self.shared.work();
        if let Some(said) = said
            && answers.send(said).await.is_err()
        {
            return;
        }
        let (draining, stopping) = (self.shared.draining.clone(), self.shared.stopping.clone());
        let output = answers.into_inner();
        self.shared.service.host(HostConnection { lines, output, draining, stopping }).await;
    }

    /// Handles a line: returns an immediate answer, or starts work that takes time.
    fn take(&mut self, text: &str) -> Option<String> {
        let request = match Request::parse(text) {
            Ok(request) => request,
            Err(fault) => return Some(line(None, &Err(fault))),
        };
        let Some(id) = request.id.clone() else {
            self.note(&request);
            return None;
        };
        let answer = match self.begin(&id, &request) {
            Ok(None) => return None,
            Ok(Some(answer)) => Ok(answer),
            Err(fault) => Err(fault),
        };
        Some(line(Some(&id), &answer))
    }

    /// Handles a notification. An unknown or invalid one is ignored, as the protocol requires.
    fn note(&self, request: &Request<'_>) {
        if request.method == "cancel"
            && let Ok(Cancel { id }) = request.params()
            && let Some(token) = self.tokens.get(&id)
        {
            token.cancel();
        }
    }

    fn begin(&mut self, id: &Id, request: &Request<'_>) -> Result<Option<Box<RawValue>>, DaemonError> {
        if request.method == Greet::NAME {
            return self.hello(request).map(Some);
        }
        if !self.greeted {
            let message = format!("the first request must be 'hello', and not '{}'", shortened(&request.method));
            return Err(DaemonError::new(codes::INVALID_REQUEST, message)
                .with_hint(format!("send {{\"method\": \"hello\", \"params\": {{\"protocol\": {PROTOCOL}}}}} first")));
        }
        if self.tokens.contains_key(id) {
            return Err(DaemonError::new(codes::INVALID_REQUEST, "a request with this id is still running"));
        }
        match request.method.as_str() {
            AskStatus::NAME => {
                self.has_room()?;
                let shared = self.shared.clone();
                self.start(id, CancellationToken::new(), async move { json(&shared.status().await) });
                return Ok(None);
            }
            Stop::NAME => {
                let shared = self.shared.clone();
                self.start(id, CancellationToken::new(), async move { json(&shared.stop().await) });
                return Ok(None);
            }
            _ => {}
        }
        if self.shared.stopping.is_cancelled() || self.shared.draining.is_cancelled() {
            return Err(DaemonError::new(codes::STOPPING, "the daemon is ending")
                .with_hint("connect again: the next command starts a new one"));
        }
        if request.method == AskHost::NAME {
            return self.begin_host(request).map(Some);
        }
        self.has_room()?;
        let params = match request.params {
            Some(params) => params.to_owned(),
            None => json(&serde_json::Map::new())?,
        };
        let cancelled = CancellationToken::new();
        let Some(answer) = self.shared.service.answer(self.number, &request.method, params, cancelled.clone()) else {
            let message = format!("there is no method '{}'", shortened(&request.method));
            return Err(DaemonError::new(codes::METHOD_NOT_FOUND, message)
                .with_hint("docs/DAEMON.md lists the methods; a newer client may need a newer daemon"));
        };
        let work = self.shared.work();
        self.start(
            id,
            cancelled,
            answer.map(move |answer| {
                drop(work);
                answer
            }),
        );
        Ok(None)
    }

    fn begin_host(&mut self, request: &Request<'_>) -> Result<Box<RawValue>, DaemonError> {
        let AskHost {} = request.params()?;
        if !self.running.is_empty() {
            let message =
                "this client has requests running, whose answers could not be told from those of the host protocol";
            return Err(DaemonError::new(codes::INVALID_REQUEST, message).with_hint("wait for them, or connect again"));
        }
        self.is_host = true;
        json(&HostBegun { host: true })
    }

    fn has_room(&self) -> Result<(), DaemonError> {
        if self.running.len() < MAX_IN_FLIGHT {
            return Ok(());
        }
        let message = format!("this client has {MAX_IN_FLIGHT} requests running, the limit");
        Err(DaemonError::new(codes::BUSY, message).with_hint("wait for an answer, and send again"))
    }

    fn start(&mut self, id: &Id, token: CancellationToken, answer: impl Future<Output = Answer> + Send + 'static) {
        self.tokens.insert(id.clone(), token);
        let id = id.clone();
        // A panic ends its request and nothing else.
        let answer = AssertUnwindSafe(answer).catch_unwind();
        self.running.spawn(answer.map(move |answer| {
            let failed =
                || DaemonError::new(codes::INTERNAL, "the request failed inside the daemon; its log says more");
            (id, answer.unwrap_or_else(|_| Err(failed())))
        }));
    }

    fn hello(&mut self, request: &Request<'_>) -> Result<Box<RawValue>, DaemonError> {
        let Greet { protocol } = request.params()?;
        if protocol != PROTOCOL {
            let message = format!("the client speaks version {protocol} of the protocol, and the daemon {PROTOCOL}");
            return Err(DaemonError::new(codes::PROTOCOL, message)
                .with_hint(format!("use the same belljar for both, or end the daemon: kill {}", std::process::id())));
        }
        self.greeted = true;
        json(&self.shared.hello())
    }

    fn ended(&mut self, ended: Result<(Id, Answer), tokio::task::JoinError>) -> Option<String> {
        // A request is aborted only when its session ends.
        let (id, answer) = ended.ok()?;
        self.tokens.remove(&id);
        Some(line(Some(&id), &answer))
    }
}

fn json(value: &impl serde::Serialize) -> Result<Box<RawValue>, DaemonError> {
    to_raw_value(value).map_err(|error| DaemonError::new(codes::INTERNAL, format!("the answer is not JSON: {error}")))
}

/// Shortens a text from somebody else, for a message.
fn shortened(text: &str) -> String {
    const MAX: usize = 60;
    if text.chars().nth(MAX).is_none() {
        return text.to_owned();
    }
    text.chars().take(MAX).chain(['…']).collect()
}
