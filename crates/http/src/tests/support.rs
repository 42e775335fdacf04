//! A server with tools that wait for the test, and a client that speaks raw HTTP.

use std::{collections::BTreeSet, future::Future, net::SocketAddr, sync::Arc, time::Duration};

use crate::{Admission, Limits, Listener, Options, Scope, Server, Tokens};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ProgressNotificationParam,
        ServerCapabilities, ServerConfig,
    },
    service::RequestContext,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::{Notify, oneshot, watch},
    task::JoinHandle,
};

/// What the tools report to the test, and what they wait for.
#[derive(Default)]
pub(crate) struct Signals {
    pub(crate) begun: Notify,
    pub(crate) go_on: Notify,
    pub(crate) cancelled: Notify,
    pub(crate) called_off: Notify,
}

struct Fixture(Arc<Signals>);

impl ServerHandler for Fixture {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let admission = Admission::of(&context).expect("it came over HTTP");
        let said = match request.name.as_ref() {
            "who" => admission.principal().name().to_owned(),
            "wait" => {
                self.0.begun.notify_one();
                tokio::select! {
                    () = self.0.go_on.notified() => "waited".to_owned(),
                    () = context.ct.cancelled() => {
                        self.0.cancelled.notify_one();
                        "cancelled".to_owned()
                    }
                    () = admission.called_off() => {
                        self.0.called_off.notify_one();
                        "called off".to_owned()
                    }
                }
            }
            // More than all the buffers on the way can hold.
            "flood" => {
                let token = context.meta.get_progress_token().expect("it was asked for");
                for number in 0..400_u32 {
                    let message = "x".repeat(256 * 1024);
                    let progress =
                        ProgressNotificationParam::new(token.clone(), f64::from(number)).with_message(message);
                    if context.peer.notify_progress(progress).await.is_err() {
                        break;
                    }
                }
                "flooded".to_owned()
            }
            other => panic!("there is no tool {other}"),
        };
        Ok(CallToolResult::success(vec![ContentBlock::text(said)]).into())
    }
}

pub(crate) struct Served {
    pub(crate) address: SocketAddr,
    pub(crate) signals: Arc<Signals>,
    pub(crate) tokens: watch::Sender<Arc<Tokens>>,
    pub(crate) ann: String,
    pub(crate) bob: String,
    pub(crate) sessions: watch::Receiver<usize>,
    pub(crate) in_flight: watch::Receiver<usize>,
    end: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

impl Served {
    pub(crate) async fn with(change: impl FnOnce(&mut Limits)) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let address = listener.local_addr().expect("an address");
        Self::at(Listener::Tcp(listener), address, change)
    }

    pub(crate) fn at(listener: Listener, address: SocketAddr, change: impl FnOnce(&mut Limits)) -> Self {
        let mut options = Options::default().at(address);
        change(&mut options.limits);
        let mut known = Tokens::default();
        let [ann, bob] = ["ann", "bob"]
            .map(|name| known.add(name, BTreeSet::from([Scope::Run]), 0).expect("a token").reveal().to_owned());
        let (tokens, receiver) = watch::channel(Arc::new(known));
        let signals = Arc::new(Signals::default());
        let server = Server::new(Fixture(signals.clone()), options, receiver);
        let (sessions, in_flight) = (server.sessions(), server.in_flight());
        let (end, told) = oneshot::channel();
        let task = tokio::spawn(async move { server.serve(vec![listener], async { drop(told.await) }).await });
        Self { address, signals, tokens, ann, bob, sessions, in_flight, end: Some(end), task }
    }

    pub(crate) async fn connect(&self) -> Wire<TcpStream> {
        Wire::new(TcpStream::connect(self.address).await.expect("connected"))
    }

    /// Begins a session and returns its id.
    pub(crate) async fn begin(&self, token: &str) -> String {
        let mut wire = self.connect().await;
        wire.post(token, "", INITIALIZE).await;
        let head = soon(wire.head()).await;
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        header(&head, "mcp-session-id").expect("a session").to_owned()
    }

    /// Sends a request in a session, and returns the status line and the body up to the answer.
    pub(crate) async fn ask(&self, token: &str, session: &str, id: u32, tool: &str) -> String {
        let mut wire = self.connect().await;
        wire.post(token, &in_session(session), &call(id, tool)).await;
        let head = soon(wire.head()).await;
        if head.starts_with("HTTP/1.1 200") { soon(wire.until("\"result\"")).await } else { head }
    }

    pub(crate) fn tell_to_end(&mut self) {
        drop(self.end.take());
    }

    pub(crate) async fn ended(self) {
        soon(self.task).await.expect("it ended by itself");
    }
}

pub(crate) const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}"#;

pub(crate) fn call(id: u32, tool: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{}},"_meta":{{"progressToken":"p"}}}}}}"#
    )
}

/// A call of the revision without sessions, and the headers that it needs.
pub(crate) fn modern(tool: &str) -> (String, String) {
    let meta = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"0"},"io.modelcontextprotocol/clientCapabilities":{}}"#;
    let headers = format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\n");
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{{}},"_meta":{meta}}}}}"#
    );
    (headers, body)
}

pub(crate) fn in_session(session: &str) -> String {
    format!("Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25\r\n")
}

pub(crate) fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines()
        .filter_map(|line| line.split_once(": "))
        .find(|(key, _)| key.eq_ignore_ascii_case(name))
        .map(|(_, value)| value)
}

/// Fails a test that would otherwise wait forever.
pub(crate) async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), future).await.expect("it happens within a minute")
}

/// A connection.
pub(crate) struct Wire<S> {
    pub(crate) stream: S,
    read: Vec<u8>,
}

impl<S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin> Wire<S> {
    pub(crate) fn new(stream: S) -> Self {
        Self { stream, read: Vec::new() }
    }

    pub(crate) async fn send(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).await.expect("written");
    }

    pub(crate) async fn get(&mut self, path: &str, more: &str) {
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n{more}\r\n")).await;
    }

    pub(crate) async fn post(&mut self, token: &str, more: &str, body: &str) {
        self.send(&format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n{more}Content-Length: {}\r\n\r\n{body}",
            body.len()
        ))
        .await;
    }

    /// The head of the answer.
    pub(crate) async fn head(&mut self) -> String {
        self.until("\r\n\r\n").await
    }

    /// The data up to and including a text.
    pub(crate) async fn until(&mut self, text: &str) -> String {
        loop {
            if let Some(at) = self.read.windows(text.len()).position(|window| window == text.as_bytes()) {
                let rest = self.read.split_off(at + text.len());
                return String::from_utf8_lossy(&std::mem::replace(&mut self.read, rest)).into_owned();
            }
            let mut more = [0; 16 * 1024];
            let count = self.stream.read(&mut more).await.expect("read");
            assert!(count > 0, "the connection ended before {text:?}: {}", String::from_utf8_lossy(&self.read));
            self.read.extend_from_slice(&more[..count]);
        }
    }

    /// The data until the connection ends, in whatever way.
    pub(crate) async fn rest(&mut self) -> String {
        let mut more = [0; 16 * 1024];
        while let Ok(count @ 1..) = self.stream.read(&mut more).await {
            self.read.extend_from_slice(&more[..count]);
        }
        String::from_utf8_lossy(&self.read).into_owned()
    }
}
