//! The host protocol over a WebSocket, at `/host`: each text frame is a message.
//!
//! Who may connect, and from where, is decided as for any other request. A page cannot set the
//! headers of a WebSocket, so it may offer its token as a subprotocol.

use std::{future::ready, sync::Arc};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use belljar_host_protocol::{Ends, Error, Hello, HostRun, RunRequest, Runner, SessionLimits, codes};
use futures::{FutureExt as _, future::BoxFuture};
use http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode, header};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use serde_json::value::RawValue;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_util::sync::CancellationToken;

use crate::{
    Principal,
    admission::Flight,
    answer::{self, Answer},
    frames::{Opened, let_read, opened},
    origin::only,
    shares::{Full, Shares},
    validity::Validity,
};

/// The subprotocol of the host protocol.
const SUBPROTOCOL: &str = "belljar";
/// The prefix of a token that is offered as a subprotocol.
const TOKEN_PREFIX: &str = "bearer.";
/// The text that is appended to a client's key, as RFC 6455 requires.
const ACCEPT: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/// The longest message. The results of calls have at most 5 MB, unless the owner raises that limit.
const MESSAGE_BYTES: usize = 8 << 20;
/// The most WebSockets at once.
const CONNECTIONS: usize = 64;
/// The most WebSockets of one principal.
const CONNECTIONS_OF_PRINCIPAL: usize = 16;
/// The limits of one of them.
const LIMITS: SessionLimits = SessionLimits {
    runs: 256,
    run_bytes: MESSAGE_BYTES,
    // As many as the body of another request may have.
    run_values: 50_000,
    answer_bytes: MESSAGE_BYTES,
    run_answer_bytes: MESSAGE_BYTES / 2,
    waiting_bytes: 4 << 20,
    message_bytes: MESSAGE_BYTES,
};

/// How much the requests of one principal's runs may take together, including the parsed form of
/// their values.
const RUNS_BYTES_OF_PRINCIPAL: usize = 64 << 20;
/// The same for all principals together.
const RUNS_BYTES: usize = 128 << 20;

/// Makes the runner for the runs of a principal's connection.
pub type Runners = Arc<dyn Fn(&Principal) -> Arc<dyn Runner> + Send + Sync>;

/// The WebSockets of a server.
pub(crate) struct WebSockets {
    runners: Runners,
    open: Arc<Mutex<Vec<Arc<str>>>>,
    /// The shares for the requests of their runs.
    shares: Shares,
}

/// A WebSocket that is being opened: what to do once its connection has become one.
pub(crate) struct Opening {
    upgrade: OnUpgrade,
    runner: Arc<dyn Runner>,
    ends: Ends,
    validity: Validity,
    /// The server waits for it before it ends.
    _flight: Flight,
    _open: Open,
}

/// A place among the open WebSockets.
struct Open {
    open: Arc<Mutex<Vec<Arc<str>>>>,
    principal: Arc<str>,
}

/// Why a request does not open a WebSocket.
pub(crate) enum NoWebSocket {
    /// It asks for something else.
    NotAsked,
    /// Its version of the protocol is not supported.
    Version,
    /// There are already as many as allowed.
    Full,
}

impl WebSockets {
    pub(crate) fn new(runners: Runners) -> Self {
        Self { runners, open: Arc::default(), shares: Shares::of_bytes(RUNS_BYTES, RUNS_BYTES_OF_PRINCIPAL) }
    }

    /// The answer to a request for a WebSocket, and what follows it.
    pub(crate) fn open<B>(
        &self,
        principal: &Principal,
        request: &mut Request<B>,
        (flight, ends, validity): (Flight, Ends, Validity),
    ) -> Result<(Answer, Opening), NoWebSocket> {
        let key = key(request.headers())?;
        let open = self.place(principal.shared_name()).ok_or(NoWebSocket::Full)?;
        let runner = Arc::new(Counted {
            runner: (self.runners)(principal),
            shares: self.shares.clone(),
            principal: principal.shared_name().clone(),
        });
        let opening = Opening {
            upgrade: hyper::upgrade::on(&mut *request),
            runner,
            ends,
            validity,
            _flight: flight,
            _open: open,
        };
        let mut answer = answer::empty(StatusCode::SWITCHING_PROTOCOLS);
        let headers = answer.headers_mut();
        headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(header::SEC_WEBSOCKET_ACCEPT, key);
        if offered(request.headers()).any(|offered| offered == SUBPROTOCOL) {
            headers.insert(header::SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(SUBPROTOCOL));
        }
        Ok((answer, opening))
    }

    fn place(&self, principal: &Arc<str>) -> Option<Open> {
        let mut open = self.open.lock();
        let of_principal = open.iter().filter(|each| *each == principal).count();
        if open.len() >= CONNECTIONS || of_principal >= CONNECTIONS_OF_PRINCIPAL {
            return None;
        }
        open.push(principal.clone());
        Some(Open { open: self.open.clone(), principal: principal.clone() })
    }
}

/// Runs requests for as long as there is room for them.
struct Counted {
    runner: Arc<dyn Runner>,
    shares: Shares,
    principal: Arc<str>,
}

impl Runner for Counted {
    fn hello(&self) -> Hello {
        self.runner.hello()
    }

    fn run(
        &self,
        request: RunRequest,
        host: HostRun,
        client: Option<Arc<str>>,
        cancelled: CancellationToken,
    ) -> BoxFuture<'static, Result<Box<RawValue>, Error>> {
        let share = self.shares.open(&self.principal).and_then(|mut share| {
            share.take(request.weight)?;
            Ok(share)
        });
        let share = match share {
            Ok(share) => share,
            Err(full) => return ready(Err(busy(full))).boxed(),
        };
        let run = self.runner.run(request, host, client, cancelled);
        async move {
            let answer = run.await;
            drop(share);
            answer
        }
        .boxed()
    }
}

fn busy(full: Full) -> Error {
    let (whose, most) = match full {
        Full::Bytes | Full::Requests(_) => ("all principals", RUNS_BYTES),
        Full::BytesOfPrincipal | Full::RequestsOfPrincipal(_) => ("this principal", RUNS_BYTES_OF_PRINCIPAL),
    };
    let message = format!("the functions and scripts of the runs of {whose} take too much; the limit is {most} bytes");
    Error::new(codes::BUSY, message)
        .with_hint("wait for an answer, and send again, with fewer functions or smaller schemas")
}

impl Drop for Open {
    fn drop(&mut self) {
        let mut open = self.open.lock();
        if let Some(at) = open.iter().position(|each| *each == self.principal) {
            open.swap_remove(at);
        }
    }
}

impl NoWebSocket {
    pub(crate) fn refusal(&self) -> Answer {
        match self {
            Self::NotAsked => {
                let message = "this is the endpoint of the host protocol: connect with a WebSocket";
                let mut refusal = answer::refused(StatusCode::UPGRADE_REQUIRED, message);
                refusal.headers_mut().insert(header::UPGRADE, HeaderValue::from_static("websocket"));
                refusal
            }
            Self::Version => {
                let mut refusal = answer::refused(StatusCode::BAD_REQUEST, "the WebSocket must be of version 13");
                refusal.headers_mut().insert(header::SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
                refusal
            }
            Self::Full => {
                let message = format!(
                    "too many WebSockets are open: the limit is {CONNECTIONS} in all, {CONNECTIONS_OF_PRINCIPAL} for one principal; close one, or try again later"
                );
                answer::last(answer::later(answer::refused(StatusCode::SERVICE_UNAVAILABLE, &message), answer::LATER))
            }
        }
    }
}

/// The token that is offered as a subprotocol, as the header that it replaces.
pub(crate) fn offered_token(headers: &HeaderMap) -> Option<HeaderValue> {
    let token = offered(headers).find_map(|offered| offered.strip_prefix(TOKEN_PREFIX))?;
    HeaderValue::from_str(&format!("Bearer {token}")).ok()
}

fn offered(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let values = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim)
}

/// The answer to a client's key.
fn key(headers: &HeaderMap) -> Result<HeaderValue, NoWebSocket> {
    let says = |name: &HeaderName, wanted: &str| {
        let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
        values.flat_map(|value| value.split(',')).any(|value| value.trim().eq_ignore_ascii_case(wanted))
    };
    let key = only(headers, &header::SEC_WEBSOCKET_KEY);
    // 16 random bytes, whose values do not matter.
    let is_key = |key: &&str| STANDARD.decode(key).is_ok_and(|bytes| bytes.len() == 16);
    let (true, true, Some(key)) =
        (says(&header::CONNECTION, "upgrade"), says(&header::UPGRADE, "websocket"), key.filter(is_key))
    else {
        return Err(NoWebSocket::NotAsked);
    };
    if only(headers, &header::SEC_WEBSOCKET_VERSION) != Some("13") {
        return Err(NoWebSocket::Version);
    }
    let accept = digest(&SHA1_FOR_LEGACY_USE_ONLY, format!("{key}{ACCEPT}").as_bytes());
    HeaderValue::from_str(&STANDARD.encode(accept)).map_err(|_| NoWebSocket::NotAsked)
}

impl Opening {
    /// Speaks the protocol to its end, once the connection is a WebSocket.
    pub(crate) async fn serve(self) {
        let Self { upgrade, runner, ends, validity, _flight, _open } = self;
        let upgraded = match upgrade.await {
            Ok(upgraded) => upgraded,
            Err(error) => return tracing::debug!("a connection did not become a WebSocket: {error}"),
        };
        let Opened { mut frames, sink, closing, stream } =
            opened(TokioIo::new(upgraded), MESSAGE_BYTES, ends.clone()).await;
        let now = ends.now.clone();
        let invalid = async {
            validity.ended().await;
            tracing::info!("a WebSocket is ended: its token is not valid any more");
            closing.because(CloseCode::Policy, "the token is not valid any more");
            now.cancel();
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = belljar_host_protocol::serve(&mut frames, sink, runner, LIMITS, &ends) => {}
            () = invalid => {}
        }
        if closing.is_said() {
            let_read(stream).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_answered_as_in_the_example_of_the_standard() {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONNECTION, HeaderValue::from_static("keep-alive, Upgrade"));
        headers.insert(header::UPGRADE, HeaderValue::from_static("WebSocket"));
        headers.insert(header::SEC_WEBSOCKET_KEY, HeaderValue::from_static("dGhlIHNhbXBsZSBub25jZQ=="));
        assert!(matches!(key(&headers), Err(NoWebSocket::Version)));
        headers.insert(header::SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
        assert!(key(&headers).is_ok_and(|key| key == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
        headers.insert(header::SEC_WEBSOCKET_KEY, HeaderValue::from_static("x"));
        assert!(matches!(key(&headers), Err(NoWebSocket::NotAsked)));
        headers.insert(header::SEC_WEBSOCKET_KEY, HeaderValue::from_static("dGhlIHNhbXBsZSBub25jZQ=="));
        headers.remove(header::UPGRADE);
        assert!(matches!(key(&headers), Err(NoWebSocket::NotAsked)));
    }

    #[test]
    fn a_token_may_be_offered_as_a_subprotocol_among_others() {
        let mut headers = HeaderMap::new();
        assert_eq!(offered_token(&headers), None);
        headers.insert(header::SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static("belljar, bearer.secret"));
        assert_eq!(offered_token(&headers), Some(HeaderValue::from_static("Bearer secret")));
        assert!(offered(&headers).any(|offered| offered == SUBPROTOCOL));
    }
}
