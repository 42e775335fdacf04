//! The local address to which the browser returns. One request with the right state is accepted;
//! all others are told that they are in the wrong place.
//!
//! Every local program, and every page in the browser, can connect here. So connections are read
//! concurrently, and a silent one delays nobody.

use std::{collections::VecDeque, io, net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::{AbortHandle, JoinSet},
    time::timeout,
};
use url::Url;

use crate::text::one_line;

/// The local address to which the browser returns.
pub(super) const PATH: &str = "/callback";

/// The size of a browser's request; all but its first line is ignored.
const REQUEST_BYTES: usize = 16 * 1024;
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// Connections that are read at once. A browser opens a handful; above the limit the oldest one is
/// closed.
const MAX_CONNECTIONS: usize = 32;

/// Why no valid code came back.
pub(super) enum CallbackError {
    Refused(String),
    Exchange(String),
    Io(io::Error),
}

/// Waits for a request with `state`, gives its whole URL to `exchange`, and tells the browser the
/// result.
pub(super) async fn wait(
    listener: &TcpListener,
    state: &str,
    exchange: impl AsyncFnOnce(String) -> Result<(), String>,
) -> Result<(), CallbackError> {
    let (mut stream, url) = returned(listener, state).await.map_err(CallbackError::Io)?;
    if let Some(error) = parameter(&url, "error") {
        let description = parameter(&url, "error_description").unwrap_or_default();
        answer(&mut stream, "200 OK", "The login was refused. You can close this page.").await;
        return Err(CallbackError::Refused(one_line(format!("{error} {description}").trim(), 300)));
    }
    let exchanged = exchange(url.into()).await;
    let said = match &exchanged {
        Ok(()) => "belljar is logged in. You can close this page.",
        Err(_) => "The login failed; the terminal says why. You can close this page.",
    };
    answer(&mut stream, "200 OK", said).await;
    exchanged.map_err(CallbackError::Exchange)
}

/// Waits for the connection whose request has `state`.
async fn returned(listener: &TcpListener, state: &str) -> io::Result<(TcpStream, Url)> {
    let address = listener.local_addr()?;
    let (mut connections, mut oldest_first) = (JoinSet::new(), VecDeque::<AbortHandle>::new());
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let (stream, _) = accepted?;
                oldest_first.retain(|connection| !connection.is_finished());
                if oldest_first.len() >= MAX_CONNECTIONS && let Some(oldest) = oldest_first.pop_front() {
                    oldest.abort();
                }
                let reading = timeout(REQUEST_TIMEOUT, read(stream, address, state.to_owned()));
                oldest_first.push_back(connections.spawn(async move { reading.await.ok().flatten() }));
            }
            Some(read) = connections.join_next() => {
                // Nothing came, or it was aborted.
                let Ok(Some(returned)) = read else { continue };
                return Ok(returned);
            }
        }
    }
}

/// Reads a request, and returns it if it has `state`; other clients are told that they are in the
/// wrong place.
async fn read(mut stream: TcpStream, address: SocketAddr, state: String) -> Option<(TcpStream, Url)> {
    let target = target(&mut stream).await;
    let url = target.and_then(|target| Url::parse(&format!("http://{address}")).ok()?.join(&target).ok());
    match url.filter(|url| url.path() == PATH && parameter(url, "state").as_deref() == Some(&state)) {
        Some(url) => Some((stream, url)),
        None => {
            answer(&mut stream, "404 Not Found", "Nothing is here.").await;
            None
        }
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
    // The browser may be gone.
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn connected(address: SocketAddr) -> TcpStream {
        TcpStream::connect(address).await.expect("a connection")
    }

    async fn heard(mut stream: TcpStream) -> String {
        let mut answer = Vec::new();
        // Closing a connection with unread data resets it.
        let _ = stream.read_to_end(&mut answer).await;
        String::from_utf8(answer).expect("text")
    }

    #[tokio::test]
    async fn connections_that_say_nothing_delay_no_login_however_many_they_are() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("its address");
        let waiting =
            tokio::spawn(async move { wait(&listener, "right", async |url| Err(format!("came with {url}"))).await });
        // More than are read at once, some of which have sent a part.
        let mut idle = Vec::new();
        for number in 0..3 * MAX_CONNECTIONS {
            let mut stream = connected(address).await;
            if number % 2 == 0 {
                stream.write_all(b"GET /callback").await.expect("a piece");
            }
            idle.push(stream);
        }
        let mut wrong = connected(address).await;
        wrong.write_all(b"GET /callback?state=wrong HTTP/1.1\r\n\r\n").await.expect("a request");
        assert!(heard(wrong).await.starts_with("HTTP/1.1 404"));
        let mut right = connected(address).await;
        right.write_all(b"GET /callback?state=right&code=1 HTTP/1.1\r\n\r\n").await.expect("a request");
        assert!(heard(right).await.contains("The login failed"));

        let Err(CallbackError::Exchange(said)) = waiting.await.expect("no panic") else { panic!("it was exchanged") };
        assert!(said.ends_with("/callback?state=right&code=1"), "{said}");
        // Connections that were closed for being silent are told so.
        for stream in idle {
            assert_eq!(heard(stream).await, "", "the login waited until a silent connection was given up");
        }
    }
}
