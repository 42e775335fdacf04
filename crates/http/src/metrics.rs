//! `/metrics`, for clients that have the scope.

use std::sync::Arc;

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{HeaderValue, Response, header};
use http_body_util::{BodyExt as _, Full};

use crate::answer::Answer;

/// Returns the current metrics.
pub type Metrics = Arc<dyn Fn() -> BoxFuture<'static, MetricsText> + Send + Sync>;

/// Metrics as a text.
#[derive(Debug)]
pub struct MetricsText {
    /// Its media type.
    pub content_type: &'static str,
    /// The text.
    pub text: String,
}

impl MetricsText {
    pub(crate) fn answer(self) -> Answer {
        let mut answer = Response::new(Full::new(Bytes::from(self.text)).boxed());
        let headers = answer.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        answer
    }
}
