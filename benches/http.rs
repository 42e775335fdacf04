//! A raw client of `belljar serve --http`, in the revision without sessions, and many of them at
//! once.

use std::{
    io,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    task::JoinSet,
    time::sleep,
};

/// The address of a server, and the client's token.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// Its address.
    pub address: SocketAddr,
    /// A token with the scope for runs.
    pub token: String,
}

/// One connection, which is reused.
#[derive(Debug)]
pub struct Connection {
    endpoint: Endpoint,
    stream: TcpStream,
    read: Vec<u8>,
    id: u64,
}

/// The result of many clients at once.
#[derive(Debug, Default)]
pub struct Load {
    /// How long each answered run took, from its first request.
    pub answered: Vec<Duration>,
    /// How many times a client was told that belljar is busy or has too many requests open, waited
    /// as told, and asked again.
    pub busy: u64,
    /// Other answers.
    pub lost: Vec<String>,
}

impl Endpoint {
    /// Connects.
    ///
    /// # Errors
    /// The system's error.
    pub async fn connect(&self) -> io::Result<Connection> {
        let stream = TcpStream::connect(self.address).await?;
        stream.set_nodelay(true)?;
        Ok(Connection { endpoint: self.clone(), stream, read: Vec::new(), id: 0 })
    }
}

impl Connection {
    /// The outcome of a script.
    ///
    /// # Errors
    /// The connection's error, or an answer that cannot be understood.
    pub async fn run(&mut self, code: &str) -> io::Result<Value> {
        self.id += 1;
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "0" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let params = json!({ "name": "execute_code", "arguments": { "code": code }, "_meta": meta });
        let body = json!({ "jsonrpc": "2.0", "id": self.id, "method": "tools/call", "params": params }).to_string();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n\
             Mcp-Name: execute_code\r\nContent-Length: {}\r\n\r\n{body}",
            self.endpoint.token,
            body.len()
        );
        self.stream.write_all(request.as_bytes()).await?;
        let head = self.until(b"\r\n\r\n").await?;
        let head = String::from_utf8_lossy(&head).to_ascii_lowercase();
        let body =
            if head.contains("transfer-encoding: chunked") { self.chunks().await? } else { self.sized(&head).await? };
        let body = String::from_utf8_lossy(&body).into_owned();
        let message = body.lines().rev().find_map(|line| {
            let text = line.strip_prefix("data: ").or_else(|| line.starts_with('{').then_some(line))?;
            serde_json::from_str::<Value>(text)
                .ok()
                .filter(|message| message.get("id").is_some_and(|id| *id == self.id))
        });
        if head.starts_with("http/1.1 503") {
            // The server has closed the connection.
            let seconds = head.lines().find_map(|line| line.strip_prefix("retry-after: ")?.trim().parse::<u64>().ok());
            self.stream = self.endpoint.connect().await?.stream;
            self.read.clear();
            let wait = seconds.map(|seconds| seconds * 1000);
            return Ok(json!({ "error": { "kind": "busy", "retry_after_ms": wait } }));
        }
        let outcome = message.and_then(|mut message| {
            message.pointer_mut("/result/structuredContent").filter(|outcome| outcome.is_object()).map(Value::take)
        });
        outcome.ok_or_else(|| io::Error::other(format!("no outcome: {head}{body}")))
    }

    async fn chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let line = self.until(b"\r\n").await?;
            let size = String::from_utf8_lossy(&line).trim().to_owned();
            let size = usize::from_str_radix(&size, 16).map_err(io::Error::other)?;
            body.extend(self.bytes(size).await?);
            self.until(b"\r\n").await?;
            if size == 0 {
                return Ok(body);
            }
        }
    }

    async fn sized(&mut self, head: &str) -> io::Result<Vec<u8>> {
        let size = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.trim().parse().ok());
        self.bytes(size.ok_or_else(|| io::Error::other(format!("no length: {head}")))?).await
    }

    async fn until(&mut self, end: &[u8]) -> io::Result<Vec<u8>> {
        loop {
            if let Some(at) = self.read.windows(end.len()).position(|window| window == end) {
                let rest = self.read.split_off(at + end.len());
                return Ok(std::mem::replace(&mut self.read, rest));
            }
            self.more().await?;
        }
    }

    async fn bytes(&mut self, count: usize) -> io::Result<Vec<u8>> {
        while self.read.len() < count {
            self.more().await?;
        }
        let rest = self.read.split_off(count);
        Ok(std::mem::replace(&mut self.read, rest))
    }

    async fn more(&mut self) -> io::Result<()> {
        match self.stream.read_buf(&mut self.read).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

/// Makes `clients` concurrent clients make `runs` runs each, one at a time. A client that loses a
/// run stops. `code` returns a script and its expected value.
pub async fn load(
    endpoint: &Endpoint,
    clients: usize,
    runs: usize,
    code: impl Fn(usize, usize) -> (String, Value) + Send + Sync + 'static,
) -> Load {
    let (code, mut working) = (Arc::new(code), JoinSet::new());
    for client in 0..clients {
        let (endpoint, code) = (endpoint.clone(), code.clone());
        working.spawn(async move {
            let mut own = Load::default();
            let mut connection = None;
            for run in 0..runs {
                let (code, value) = code(client, run);
                if let Err(error) = one(&endpoint, &mut connection, &code, &value, &mut own).await {
                    own.lost.push(format!("run {run} of client {client}: {error}"));
                    break;
                }
            }
            own
        });
    }
    let mut all = Load::default();
    while let Some(own) = working.join_next().await {
        match own {
            Ok(own) => {
                all.answered.extend(own.answered);
                all.busy += own.busy;
                all.lost.extend(own.lost);
            }
            Err(error) => all.lost.push(error.to_string()),
        }
    }
    all.answered.sort_unstable();
    all
}

async fn one(
    endpoint: &Endpoint,
    connection: &mut Option<Connection>,
    code: &str,
    value: &Value,
    own: &mut Load,
) -> io::Result<()> {
    let begun = Instant::now();
    loop {
        let connected = match connection {
            Some(connected) => connected,
            None => connection.insert(endpoint.connect().await?),
        };
        let outcome = connected.run(code).await?;
        if outcome.get("value") == Some(value) {
            own.answered.push(begun.elapsed());
            return Ok(());
        }
        let wait = outcome.pointer("/error/retry_after_ms").and_then(Value::as_u64);
        match wait.filter(|_| outcome.pointer("/error/kind").is_some_and(|kind| kind == "busy")) {
            Some(wait) => {
                own.busy += 1;
                sleep(Duration::from_millis(wait)).await;
            }
            None => return Err(io::Error::other(outcome.to_string())),
        }
    }
}

/// The time within which this percentage was answered.
pub fn percentile(sorted: &[Duration], of_hundred: usize) -> Duration {
    let at = (sorted.len() * of_hundred / 100).min(sorted.len().saturating_sub(1));
    sorted.get(at).copied().unwrap_or_default()
}
