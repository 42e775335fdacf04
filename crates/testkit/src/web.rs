//! A small HTTP server on loopback for tests: it answers as instructed, right or wrong, and
//! remembers its requests.
//!
//! Each connection is for one request, and its answer ends with the connection. So a test can cut
//! off an answer anywhere.

use std::{collections::BTreeMap, net::SocketAddr, sync::Arc};

use parking_lot::Mutex;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    task::JoinHandle,
};

/// A request to the server.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The method.
    pub method: String,
    /// The path, with its query.
    pub path: String,
    /// The headers, their names in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body.
    pub body: String,
}

impl Request {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// The body as JSON, or null if it is not JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }
}

/// The server's answer.
#[derive(Debug, Default)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: Vec<(String, String)>,
    /// The beginning of the body.
    pub body: Vec<u8>,
    /// The rest of it, piece by piece, until the other end is dropped. Without it the body is
    /// complete.
    pub rest: Option<mpsc::Receiver<Vec<u8>>>,
}

impl Reply {
    /// An answer without a body.
    pub fn status(status: u16) -> Self {
        Self { status, ..Self::default() }
    }

    /// A JSON document.
    pub fn json(value: &serde_json::Value) -> Self {
        Self { status: 200, body: value.to_string().into_bytes(), ..Self::default() }
            .with("content-type", "application/json")
    }

    /// A stream of events that continues with what comes from `rest`.
    pub fn events(begin: &str, rest: Option<mpsc::Receiver<Vec<u8>>>) -> Self {
        Self { status: 200, body: begin.as_bytes().to_vec(), rest, ..Self::default() }
            .with("content-type", "text/event-stream")
    }

    /// The same with another header.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }
}

/// A running server. It ends when it is dropped.
pub struct Web {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
    accepting: JoinHandle<()>,
}

impl Web {
    /// Serves on a free port of loopback, answering with `answer`.
    ///
    /// # Errors
    /// When there is no port.
    pub async fn serve(answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> std::io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let (address, requests) = (listener.local_addr()?, Arc::<Mutex<Vec<Request>>>::default());
        let (answer, remembered) = (Arc::new(answer), requests.clone());
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (answer, remembered) = (answer.clone(), remembered.clone());
                tokio::spawn(async move {
                    let mut stream = stream;
                    let Some(request) = read(&mut stream).await else { return };
                    remembered.lock().push(request.clone());
                    let reply = answer(&request);
                    // The client may have gone.
                    let _ = write(&mut stream, reply).await;
                });
            }
        });
        Ok(Self { address, requests, accepting })
    }

    /// A URL on it.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().clone()
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn read(stream: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    let mut piece = vec![0; 16 * 1024];
    loop {
        let end = bytes.windows(4).position(|end| end == b"\r\n\r\n");
        if let Some(end) = end {
            let (mut request, length) = head(std::str::from_utf8(bytes.get(..end)?).ok()?)?;
            while bytes.len() < end + 4 + length {
                let read = stream.read(&mut piece).await.ok().filter(|read| *read > 0)?;
                bytes.extend_from_slice(piece.get(..read)?);
            }
            request.body = String::from_utf8_lossy(bytes.get(end + 4..end + 4 + length)?).into_owned();
            return Some(request);
        }
        let read = stream.read(&mut piece).await.ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(piece.get(..read)?);
    }
}

fn head(text: &str) -> Option<(Request, usize)> {
    let mut lines = text.lines();
    let mut first = lines.next()?.split(' ');
    let (method, path) = (first.next()?.to_owned(), first.next()?.to_owned());
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    Some((Request { method, path, headers, body: String::new() }, length))
}

async fn write(stream: &mut TcpStream, reply: Reply) -> std::io::Result<()> {
    let mut head = format!("HTTP/1.1 {} x\r\nconnection: close\r\n", reply.status);
    for (name, value) in &reply.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    if reply.rest.is_none() {
        head.push_str(&format!("content-length: {}\r\n", reply.body.len()));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(&reply.body).await?;
    if let Some(mut rest) = reply.rest {
        while let Some(piece) = rest.recv().await {
            stream.write_all(&piece).await?;
        }
    }
    stream.shutdown().await
}
