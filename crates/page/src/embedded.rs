//! The page as a part of another server, which decides who may see it.

use std::{fmt, sync::Arc};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::Body;

use crate::{front::Front, source::Source};

/// Somebody who has shown the other server a token that may open the page.
#[derive(Clone)]
pub struct Bearer {
    name: Arc<str>,
    is_valid: Arc<dyn Fn() -> bool + Send + Sync>,
}

impl Bearer {
    /// The bearer of the token with this name. `is_valid` returns whether the token is still valid,
    /// each time it is called. It must not block.
    pub fn new(name: &str, is_valid: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self { name: name.into(), is_valid: Arc::new(is_valid) }
    }

    pub(crate) fn is_valid(&self) -> bool {
        (self.is_valid)()
    }

    pub(crate) fn name(&self) -> &Arc<str> {
        &self.name
    }
}

impl fmt::Debug for Bearer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Bearer({})", self.name)
    }
}

/// The page on another server.
pub struct EmbeddedPage(Front);

impl EmbeddedPage {
    /// A page that nobody has opened yet.
    pub fn new(source: Arc<dyn Source>) -> Self {
        Self(Front::embedded(source))
    }

    /// Answers a request whose `Host` was checked, and whose path is relative to the root of the
    /// page. Only a request with a `bearer` can open the page.
    pub async fn answer<B: Body<Data = Bytes> + Unpin>(
        &self,
        request: Request<B>,
        bearer: Option<Bearer>,
    ) -> Response<UnsyncBoxBody<Bytes, std::convert::Infallible>> {
        match self.0.answer(request, bearer).await {
            Ok(answer) => answer,
            Err(never) => match never {},
        }
    }
}
