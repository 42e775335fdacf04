//! A run's place in a trace: what its client's request says, and what is recorded.
//!
//! Nothing here records anything. A run's events carry its place in the trace, and their listeners
//! make spans from it.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::Relaxed},
};

use belljar_model::{RequestTrace, RunTrace, TraceContext};
use rand::{TryRngCore as _, rngs::OsRng};

/// Which traces are recorded.
pub trait Sampling: Send + Sync {
    /// Whether the spans of this trace are recorded, given those of the client, if it named one.
    fn is_sampled(&self, trace: u128, parent: Option<&TraceContext>) -> bool;

    /// Whether the spans of calls include their arguments and results.
    fn takes_content(&self) -> bool {
        false
    }
}

/// A client's request that a run is to answer.
#[derive(Debug)]
pub(crate) struct TracedRequest {
    trace: RequestTrace,
    /// Whether the run has begun. If so, the request's span is reported with that of the run.
    has_run: AtomicBool,
}

impl TracedRequest {
    pub(crate) fn new(trace: RequestTrace) -> Self {
        Self { trace: trace.bounded(), has_run: AtomicBool::new(false) }
    }

    pub(crate) fn has_run(&self) -> bool {
        self.has_run.load(Relaxed)
    }
}

/// A run's place in a trace.
#[derive(Debug, Default)]
pub(crate) enum Traced {
    /// It is in no trace.
    #[default]
    Not,
    /// It is in its client's trace. belljar records nothing, and passes on what it was given.
    PassedOn(TraceContext),
    /// It is in a trace with its own spans, which are recorded if they are sampled.
    Here(Arc<RunTrace>),
}

impl Traced {
    /// The place of a run that begins, or that continues after `resumes`.
    pub(crate) fn begin(
        sampling: Option<&Arc<dyn Sampling>>,
        request: Option<&TracedRequest>,
        resumes: Option<TraceContext>,
    ) -> Self {
        let request = request.map(|request| {
            request.has_run.store(true, Relaxed);
            &request.trace
        });
        let parent = request.and_then(RequestTrace::parent);
        let Some(sampling) = sampling else { return parent.map_or(Self::Not, Self::PassedOn) };
        // Without random ids there are no spans.
        let Some(((high, low), (run, of_request))) = random().zip(random()).zip(random().zip(random())) else {
            return Self::Not;
        };
        let trace = parent.as_ref().map_or((u128::from(high) << 64) | u128::from(low), |span| span.trace);
        let sampled = sampling.is_sampled(trace, parent.as_ref());
        let state = parent.as_ref().and_then(|parent| parent.state.clone());
        Self::Here(Arc::new(RunTrace {
            run: TraceContext { trace, span: run, sampled, state },
            parent: parent.map(|parent| parent.span),
            request: request.and_then(|request| request.served.clone()).map(|served| (of_request, served)),
            resumes,
        }))
    }

    /// Its place, if it is recorded.
    pub(crate) fn recorded(&self) -> Option<&Arc<RunTrace>> {
        match self {
            Self::Here(trace) => Some(trace).filter(|trace| trace.run.sampled),
            _ => None,
        }
    }

    /// Its own span, recorded or not, if it has one.
    pub(crate) fn own(&self) -> Option<&TraceContext> {
        match self {
            Self::Here(trace) => Some(&trace.run),
            _ => None,
        }
    }

    /// The trace context that a child gets with a call.
    pub(crate) fn of_call(&self, number: u64) -> Option<TraceContext> {
        match self {
            Self::Not => None,
            Self::PassedOn(parent) => Some(parent.clone()),
            Self::Here(trace) => Some(trace.call(number)),
        }
    }
}

/// A random id. Nothing depends on its being unguessable; zero is not a valid id.
fn random() -> Option<u64> {
    OsRng.try_next_u64().ok().map(|bits| bits.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct All(bool);

    impl Sampling for All {
        fn is_sampled(&self, _: u128, _: Option<&TraceContext>) -> bool {
            self.0
        }
    }

    fn request() -> TracedRequest {
        let traceparent = Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned());
        TracedRequest::new(RequestTrace { traceparent, tracestate: Some("a=1".to_owned()), served: None })
    }

    #[test]
    fn a_run_that_nobody_records_passes_on_what_its_client_said() {
        assert!(Traced::begin(None, None, None).of_call(1).is_none());
        let traced = Traced::begin(None, Some(&request()), None);
        assert_eq!(traced.of_call(1), request().trace.parent());
        assert!(traced.recorded().is_none());
    }

    #[test]
    fn a_run_that_is_not_sampled_has_spans_that_nobody_hears_of() {
        let sampling = |all| -> Arc<dyn Sampling> { Arc::new(All(all)) };
        let traced = Traced::begin(Some(&sampling(false)), Some(&request()), None);
        assert!(traced.recorded().is_none());
        let call = traced.of_call(1).expect("a span");
        assert_eq!((call.trace, call.sampled), (request().trace.parent().expect("a span").trace, false));
        let traced = Traced::begin(Some(&sampling(true)), Some(&request()), None);
        let call = traced.of_call(1).expect("a span");
        assert_eq!((call.sampled, call.state.as_deref()), (true, Some("a=1")));
        assert_ne!(call.span, 0xb7ad_6b71_6920_3331);
    }
}
