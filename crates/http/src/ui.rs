//! A page for people at `/ui`, which another crate provides.
//!
//! Who may open it is decided here: clients that show a token with the scope `admin`. Everything
//! else is up to the page: its own session, and its own checks of where a request comes from. It is
//! not shared with pages of other origins, not even with those that may use the server.

use std::{
    convert::Infallible,
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{HeaderValue, Request, Response, StatusCode, Uri, header};
use http_body_util::{BodyExt as _, combinators::UnsyncBoxBody};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::answer::{self, Answer};

/// The path of the page; everything below it belongs to the page.
const PLACE: &str = "/ui";
/// The path that opens it.
const SESSION: &str = "/ui/session";

/// Whether the token that was shown to open the page is still valid.
#[derive(Clone)]
pub struct StillValid {
    name: Arc<str>,
    is_valid: Arc<dyn Fn() -> bool + Send + Sync>,
}

impl StillValid {
    pub(crate) fn new(name: Arc<str>, is_valid: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self { name, is_valid: Arc::new(is_valid) }
    }

    /// Whether the token is valid at this moment.
    pub fn is(&self) -> bool {
        (self.is_valid)()
    }

    /// The name of the token.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Debug for StillValid {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "StillValid({})", self.name)
    }
}

/// A request below `/ui`, as it came.
pub type PageRequest = Request<Incoming>;
/// The answer to such a request.
pub type PageAnswer = Response<UnsyncBoxBody<Bytes, Infallible>>;

/// Answers requests below `/ui`.
pub trait Page: Send + Sync + 'static {
    /// Answers a request, whose path is relative to `/ui`. With a `bearer`, it may open the page.
    fn answer(&self, request: PageRequest, bearer: Option<StillValid>) -> BoxFuture<'_, PageAnswer>;
}

/// Whether a path belongs to the page.
pub(crate) fn is_below(path: &str) -> bool {
    path.strip_prefix(PLACE).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether a path opens the page.
pub(crate) fn opens(path: &str) -> bool {
    path == SESSION
}

/// Redirects to `/ui/`, since the addresses in the page are relative.
pub(crate) fn with_a_slash() -> Answer {
    let mut answer = answer::empty(StatusCode::PERMANENT_REDIRECT);
    answer.headers_mut().insert(header::LOCATION, HeaderValue::from_static("/ui/"));
    answer
}

/// The request as the page expects it; `None` if its path is not valid.
pub(crate) fn below(mut request: PageRequest) -> Option<PageRequest> {
    let rest: Uri = request.uri().path_and_query()?.as_str().strip_prefix(PLACE)?.parse().ok()?;
    *request.uri_mut() = rest;
    Some(request)
}

/// The page's answer, whose stream ends with the server.
pub(crate) fn until(answer: PageAnswer, end: CancellationToken) -> Answer {
    answer.map(|body| Ending { body: Mutex::new(body), ended: Box::pin(end.cancelled_owned()) }.boxed())
}

struct Ending {
    /// It is only ever used by its owner.
    body: Mutex<UnsyncBoxBody<Bytes, Infallible>>,
    ended: Pin<Box<dyn Future<Output = ()> + Send + Sync>>,
}

impl Body for Ending {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Poll::Ready(frame) = Pin::new(self.body.get_mut()).poll_frame(context) {
            return Poll::Ready(frame);
        }
        self.ended.as_mut().poll(context).map(|()| None)
    }

    fn is_end_stream(&self) -> bool {
        self.body.lock().is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.lock().size_hint()
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::StreamBody;

    use super::*;

    #[test]
    fn only_what_is_below_the_place_is_the_pages() {
        for path in ["/ui", "/ui/", "/ui/api/runs", "/ui/session"] {
            assert!(is_below(path), "{path}");
        }
        for path in ["/uix", "/", "/mcp", "/mcp/ui", "/UI/"] {
            assert!(!is_below(path), "{path}");
        }
        assert!(opens("/ui/session") && !opens("/ui/session/") && !opens("/session"));
    }

    #[tokio::test]
    async fn a_stream_ends_with_the_server_and_what_was_sent_before_is_not_lost() {
        let one = futures::stream::iter([Ok(Frame::data(Bytes::from_static(b"one")))]);
        let body = StreamBody::new(futures::StreamExt::chain(one, futures::stream::pending()));
        let end = CancellationToken::new();
        end.cancel();
        let answer = until(Response::new(body.boxed_unsync()), end);
        let sent = answer.into_body().collect().await.expect("it ends").to_bytes();
        assert_eq!(sent, "one");
    }
}
