//! Traces of this process's runs and requests, if OpenTelemetry's variables ask for them.

use std::time::SystemTime;

use belljar_model::{ErrorKind, RequestFailure, RequestTrace};

#[cfg(feature = "otlp")]
mod sent {
    use std::{
        sync::{Arc, OnceLock},
        time::SystemTime,
    };

    use belljar_gateway::Toolbox;
    use belljar_model::{ErrorKind, RequestFailure, RequestTrace};
    use belljar_telemetry::{SpanCounts, TraceSettings, Traces};
    use belljar_upstream::RequestsHeard;

    /// The traces of this process, which has one queue.
    static TRACES: OnceLock<Option<Traces>> = OnceLock::new();

    fn traces() -> Option<&'static Traces> {
        let read = || match TraceSettings::of(&|name| std::env::var(name).ok()) {
            Ok(settings) => settings.map(Traces::new),
            Err(error) => {
                tracing::warn!("nothing is traced: {error}");
                None
            }
        };
        TRACES.get_or_init(read).as_ref()
    }

    /// A toolbox whose runs are traced.
    pub(crate) fn traced(toolbox: Toolbox) -> Arc<Toolbox> {
        let Some(traces) = traces() else { return Arc::new(toolbox) };
        let toolbox = Arc::new(toolbox.with_sampling(traces.sampling()));
        traces.listen(toolbox.traced_events());
        toolbox
    }

    /// Listens to the requests of children, if they are traced.
    pub(crate) fn of_children() -> Option<RequestsHeard> {
        let traces = traces()?;
        Some(Arc::new(|request| traces.child_request(&request)))
    }

    pub(super) fn is_on() -> bool {
        traces().is_some()
    }

    pub(super) fn client_request(request: &RequestTrace, began: SystemTime, failure: Option<RequestFailure>) {
        if let Some(traces) = traces() {
            traces.client_request(request, began, failure);
        }
    }

    pub(super) fn search(request: Option<&RequestTrace>, began: SystemTime, failed: Option<ErrorKind>) {
        if let Some(traces) = traces() {
            traces.search(request, began, failed);
        }
    }

    /// How many spans were sent and lost, if runs are traced.
    pub(crate) fn counts() -> Option<(u64, u64)> {
        let SpanCounts { sent, lost } = traces()?.counts();
        Some((sent, lost))
    }

    /// Sends what is left, within two seconds.
    pub(crate) async fn finish() {
        if let Some(Some(traces)) = TRACES.get() {
            traces.finish().await;
        }
    }
}

#[cfg(not(feature = "otlp"))]
mod sent {
    use std::{sync::Arc, time::SystemTime};

    use belljar_gateway::Toolbox;
    use belljar_model::{ErrorKind, RequestFailure, RequestTrace};
    use belljar_upstream::RequestsHeard;

    pub(crate) fn traced(toolbox: Toolbox) -> Arc<Toolbox> {
        Arc::new(toolbox)
    }

    pub(crate) fn of_children() -> Option<RequestsHeard> {
        None
    }

    pub(super) fn is_on() -> bool {
        false
    }

    pub(super) fn client_request(_: &RequestTrace, _: SystemTime, _: Option<RequestFailure>) {}

    pub(super) fn search(_: Option<&RequestTrace>, _: SystemTime, _: Option<ErrorKind>) {}

    pub(crate) fn counts() -> Option<(u64, u64)> {
        None
    }

    pub(crate) async fn finish() {}
}

pub(crate) use sent::{counts, finish, of_children, traced};

/// A client's request that is to have a span of its own if no run answers it.
pub(crate) struct Asked {
    /// `None` if nothing is traced.
    request: Option<RequestTrace>,
    began: SystemTime,
}

impl Asked {
    /// A request that begins now.
    pub(crate) fn now(request: impl FnOnce() -> Option<RequestTrace>) -> Self {
        let request = sent::is_on().then(request).flatten();
        Self { request, began: SystemTime::now() }
    }

    /// The request has ended without a run.
    pub(crate) fn ended(self, failure: Option<RequestFailure>) {
        if let Some(request) = self.request {
            sent::client_request(&request, self.began, failure);
        }
    }
}

/// A search, which always has a span.
pub(crate) struct Searching {
    request: Option<RequestTrace>,
    began: SystemTime,
    is_over: bool,
}

impl Searching {
    /// A search that begins now, for this request if there is one.
    pub(crate) fn now(request: Option<RequestTrace>) -> Self {
        Self { request: request.map(RequestTrace::bounded), began: SystemTime::now(), is_over: false }
    }

    /// The search has ended, with this kind of error if it failed.
    pub(crate) fn ended(mut self, failed: Option<ErrorKind>) {
        self.is_over = true;
        sent::search(self.request.as_ref(), self.began, failed);
    }
}

impl Drop for Searching {
    fn drop(&mut self) {
        if !self.is_over {
            // Nobody waited for the search any more.
            sent::search(self.request.as_ref(), self.began, Some(ErrorKind::Cancelled));
        }
    }
}
