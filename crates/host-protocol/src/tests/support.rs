//! A connection with a test runner, and a client that can send anything.

use std::sync::Arc;

use belljar_model::{JsonBounds, JsonText, LimitsPatch, LogLevel};
use futures::{FutureExt as _, future::BoxFuture, future::join_all};
use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf, duplex, split},
    sync::mpsc,
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use crate::{
    CallFailure, Ends, Error, Hello, HostRun, LineSink, Lines, RunRequest, Runner, SessionLimits, Target, serve,
};

/// What happened to a run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Begun,
    Cancelled,
    Dropped,
}

/// The code of a run says what it does: `calls N` makes calls of `f` together and answers with what
/// came of them, `busy N` makes calls and takes no answer, `leave` ends with a call under way,
/// `wait` until it is cancelled, `hang` forever, `large N` answers with N bytes, `logs N` logs,
/// `shout N` makes a call with N bytes, `panic` panics.
pub(crate) struct Stub {
    events: mpsc::UnboundedSender<Event>,
}

struct OnDrop(mpsc::UnboundedSender<Event>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        let _ = self.0.send(Event::Dropped);
    }
}

const BOUNDS: JsonBounds = JsonBounds { bytes: 1000, depth: 10, values: 100 };

impl Runner for Stub {
    fn hello(&self) -> Hello {
        let limits = LimitsPatch::default();
        Hello { protocol: 1, version: "0".to_owned(), pid: 7, ceiling: limits.clone(), limits, servers: Vec::new() }
    }

    fn run(
        &self,
        request: RunRequest,
        host: HostRun,
        client: Option<Arc<str>>,
        cancelled: CancellationToken,
    ) -> BoxFuture<'static, Result<Box<RawValue>, Error>> {
        let events = self.events.clone();
        async move {
            let _ = events.send(Event::Begun);
            let _on_drop = OnDrop(events.clone());
            let (what, number) = request.code.split_once(' ').unwrap_or((&request.code, "1"));
            let number: u64 = number.parse().unwrap_or(1);
            let target = Target::global("f");
            let answer = match what {
                "calls" => {
                    let call = |at: u64| {
                        let call = host.call(&target, &JsonText::from_value(&json!([at])), BOUNDS);
                        async move { told(call.await) }
                    };
                    Value::Array(join_all((0..number).map(call)).await)
                }
                "busy" => {
                    let call = |at: u64| host.call(&target, &JsonText::from_value(&json!([at])), BOUNDS);
                    let _calls: Vec<_> = (0..number).map(call).collect();
                    cancelled.cancelled().await;
                    json!({ "overfull": host.overfull() })
                }
                "shout" => {
                    let argument = "x".repeat(usize::try_from(number).unwrap_or(0));
                    told(host.call(&target, &JsonText::from_value(&json!([argument])), BOUNDS).await)
                }
                "large" => json!("x".repeat(usize::try_from(number).unwrap_or(0))),
                "leave" => {
                    let mut call = Box::pin(host.call(&target, &JsonText::from_value(&json!([])), BOUNDS));
                    assert!(call.as_mut().now_or_never().is_none());
                    // Its end calls it off, whether its future is still there or not.
                    std::mem::forget(call);
                    json!("left")
                }
                "wait" => {
                    cancelled.cancelled().await;
                    let _ = events.send(Event::Cancelled);
                    json!("cancelled")
                }
                "hang" => std::future::pending().await,
                "logs" => {
                    (0..number).for_each(|at| host.log(LogLevel::Warn, &at.to_string()));
                    json!("logged")
                }
                "panic" => panic!("it was asked to"),
                _ => json!({ "client": client.as_deref() }),
            };
            Ok(to_raw_value(&answer).expect("JSON"))
        }
        .boxed()
    }
}

fn told(answer: Result<crate::Answer, CallFailure>) -> Value {
    match answer {
        Ok(answer) => answer.value.map_or(json!("undefined"), |value| value.to_value().expect("a value")),
        Err(CallFailure::Failed { message, name }) => json!({ "message": message, "name": name }),
        Err(CallFailure::Malformed(reason)) => json!({ "malformed": reason }),
        Err(CallFailure::Gone) => json!("gone"),
    }
}

/// The other end of a connection.
pub(crate) struct Client {
    lines: tokio::io::Lines<BufReader<ReadHalf<DuplexStream>>>,
    output: WriteHalf<DuplexStream>,
    pub(crate) events: mpsc::UnboundedReceiver<Event>,
    pub(crate) ends: Ends,
    pub(crate) session: JoinHandle<()>,
}

impl Client {
    /// A connection whose pipe holds this many bytes each way.
    pub(crate) fn with_pipe(bytes: usize) -> Self {
        let (events, received) = mpsc::unbounded_channel();
        let (ours, theirs) = duplex(bytes);
        let ((theirs_in, theirs_out), (ours_in, output)) = (split(theirs), split(ours));
        let ends = Ends::default();
        let (runner, of_session) = (Arc::new(Stub { events }), ends.clone());
        let session = tokio::spawn(async move {
            let lines = Lines::new(theirs_in, crate::MAX_LINE_BYTES);
            serve(lines, LineSink::new(theirs_out), runner, SessionLimits::default(), &of_session).await;
        });
        Self { lines: BufReader::new(ours_in).lines(), output, events: received, ends, session }
    }

    /// A connection that has been greeted.
    pub(crate) async fn greeted() -> Self {
        let mut client = Self::with_pipe(64 << 10);
        client.send(r#"{"jsonrpc":"2.0","id":0,"method":"hello","params":{"protocol":1,"client":{"name":"tests","version":"1"}}}"#).await;
        assert_eq!(client.next().await["result"]["pid"], 7);
        client
    }

    pub(crate) async fn send(&mut self, line: &str) {
        self.output.write_all(line.as_bytes()).await.expect("the session reads");
        self.output.write_all(b"\n").await.expect("the session reads");
    }

    /// Sends what may not be read any more.
    pub(crate) async fn try_send(&mut self, line: &str) -> bool {
        self.output.write_all(format!("{line}\n").as_bytes()).await.is_ok()
    }

    pub(crate) async fn run(&mut self, id: u64, code: &str) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "run", "params": { "code": code } }).to_string())
            .await;
    }

    pub(crate) async fn answer(&mut self, call: &Value, answer: &Value) {
        let mut line = json!({ "jsonrpc": "2.0", "id": call["id"] });
        if let (Some(line), Some(answer)) = (line.as_object_mut(), answer.as_object()) {
            line.extend(answer.clone());
        }
        self.send(&line.to_string()).await;
    }

    pub(crate) async fn next(&mut self) -> Value {
        let line = self.lines.next_line().await.expect("a line").expect("the session has not ended");
        let message: Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        message
    }

    /// The next `count` messages.
    pub(crate) async fn some(&mut self, count: usize) -> Vec<Value> {
        let mut messages = Vec::with_capacity(count);
        for _ in 0..count {
            messages.push(self.next().await);
        }
        messages
    }

    /// Says that it sends nothing any more.
    pub(crate) async fn hang_up(&mut self) {
        self.output.shutdown().await.expect("an end");
    }

    /// Closes the pipe both ways.
    pub(crate) fn vanish(self) -> (JoinHandle<()>, mpsc::UnboundedReceiver<Event>) {
        let Self { session, events, .. } = self;
        (session, events)
    }

    /// Whether the session has said its last.
    pub(crate) async fn is_over(&mut self) -> bool {
        self.lines.next_line().await.expect("an end").is_none()
    }
}
