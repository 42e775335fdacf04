//! The address of this machine to which the browser comes back: one request that brings the right state is read, and others
//! are told that they are wrong here.

use std::{io, time::Duration};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    time::timeout,
};
use url::Url;

use crate::text::one_line;

/// Where the browser comes back to.
pub(super) const PATH: &str = "/callback";

/// A request of a browser; all but its first line is passed over.
const REQUEST_BYTES: usize = 16 * 1024;
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

/// Why nobody came back with a code that is good.
pub(super) enum Fault {
    Refused(String),
    Exchange(String),
    Io(io::Error),
}

/// Waits for a request with `state`, gives its whole URL to `exchange`, and tells the browser how that went.
pub(super) async fn wait(
    listener: &TcpListener,
    state: &str,
    exchange: impl AsyncFnOnce(String) -> Result<(), String>,
) -> Result<(), Fault> {
    loop {
        let (mut stream, _) = listener.accept().await.map_err(Fault::Io)?;
        let address = listener.local_addr().map_err(Fault::Io)?;
        let request = timeout(REQUEST_TIMEOUT, target(&mut stream)).await.ok().flatten();
        let url = request.and_then(|target| Url::parse(&format!("http://{address}")).ok()?.join(&target).ok());
        let Some(url) = url.filter(|url| url.path() == PATH && parameter(url, "state").as_deref() == Some(state))
        else {
            answer(&mut stream, "404 Not Found", "Nothing is here.").await;
            continue;
        };
        if let Some(error) = parameter(&url, "error") {
            let description = parameter(&url, "error_description").unwrap_or_default();
            answer(&mut stream, "200 OK", "The login was refused. You can close this page.").await;
            return Err(Fault::Refused(one_line(format!("{error} {description}").trim(), 300)));
        }
        let exchanged = exchange(url.into()).await;
        let said = match &exchanged {
            Ok(()) => "belljar is logged in. You can close this page.",
            Err(_) => "The login failed; the terminal says why. You can close this page.",
        };
        answer(&mut stream, "200 OK", said).await;
        return exchanged.map_err(Fault::Exchange);
    }
}

/// The target of a GET request.
async fn target(stream: &mut TcpStream) -> Option<String> {
    let mut request = Vec::new();
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        let mut piece = [0; 1024];
        let read = stream.read(&mut piece).await.ok().filter(|read| *read > 0)?;
        request.extend_from_slice(piece.get(..read)?);
        if request.len() > REQUEST_BYTES {
            return None;
        }
    }
    let line = std::str::from_utf8(&request).ok()?.lines().next()?;
    let target = line.strip_prefix("GET ")?.strip_suffix(" HTTP/1.1")?;
    target.starts_with('/').then(|| target.to_owned())
}

fn parameter(url: &Url, name: &str) -> Option<String> {
    url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

async fn answer(stream: &mut TcpStream, status: &str, said: &str) {
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n{said}",
        said.len()
    );
    // A browser that has gone does not want to know.
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
}
