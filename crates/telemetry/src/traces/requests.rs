//! Spans of requests that no run answers: searches, requests that are refused before a run starts,
//! and requests from children. They are reported when they have ended, and wait in the same queue
//! as all others.

use std::time::SystemTime;

use belljar_gateway::Sampling as _;
use belljar_model::{ErrorKind, RequestFailure, RequestTrace, ServedRequest, TraceContext};
use belljar_upstream::ChildRequest;
use opentelemetry::{
    KeyValue,
    trace::{SpanKind, Status},
};
use opentelemetry_sdk::trace::{IdGenerator as _, RandomIdGenerator, SpanData};

use super::{
    fold::{Parent, fail, shown, span, tool_call},
    settings::TraceSampler,
};

/// The name of the span of a search that was not requested through the MCP server.
const SEARCH: &str = "belljar.search";

/// The span of a client's request, if it is recorded.
pub(super) fn of_client(
    sampler: &TraceSampler,
    request: &RequestTrace,
    began: SystemTime,
    failure: Option<RequestFailure>,
) -> Option<SpanData> {
    let served = request.served.as_ref()?;
    let named = request.parent();
    let parent = named.as_ref().map_or(Parent::None, |parent| Parent::Elsewhere(parent.span));
    let context = context(sampler, named.as_ref())?;
    let (mut span, mut attributes) = served_span(&context, parent, served, (began, SystemTime::now()));
    fail_as(&mut span, &mut attributes, failure);
    span.attributes = attributes;
    Some(span)
}

/// The span of a client's request, and its attributes, before the outcome is known.
pub(super) fn served_span(
    context: &TraceContext,
    parent: Parent,
    served: &ServedRequest,
    times: (SystemTime, SystemTime),
) -> (SpanData, Vec<KeyValue>) {
    // The name of a tool that does not exist is left out, so that there are few names, whatever
    // clients send.
    let (name, mut attributes) = match served.tool.as_str() {
        "" => ("tools/call".to_owned(), vec![KeyValue::new("mcp.method.name", "tools/call")]),
        tool => (format!("tools/call {}", shown(tool)), tool_call(tool)),
    };
    let said = [
        ("mcp.protocol.version", &served.protocol),
        ("jsonrpc.request.id", &served.id),
        ("network.transport", &served.transport),
    ];
    let said = said.into_iter().filter(|(_, text)| !text.is_empty());
    attributes.extend(said.map(|(name, text)| KeyValue::new(name, shown(text))));
    (span(context, parent, SpanKind::Server, name, times), attributes)
}

/// The span of a search, if it is recorded: that of its request if it came through the MCP server.
pub(super) fn of_search(
    sampler: &TraceSampler,
    request: Option<&RequestTrace>,
    began: SystemTime,
    failed: Option<ErrorKind>,
) -> Option<SpanData> {
    if let Some(request) = request.filter(|request| request.served.is_some()) {
        let failure = failed.map(|kind| match kind {
            ErrorKind::Cancelled => RequestFailure::Cancelled,
            _ => RequestFailure::Tool(None),
        });
        return of_client(sampler, request, began, failure);
    }
    let named = request.and_then(RequestTrace::parent);
    let parent = named.as_ref().map_or(Parent::None, |parent| Parent::Elsewhere(parent.span));
    let times = (began, SystemTime::now());
    let mut span = span(&context(sampler, named.as_ref())?, parent, SpanKind::Internal, SEARCH.to_owned(), times);
    let mut attributes = Vec::new();
    fail(&mut span, &mut attributes, failed.map(ErrorKind::as_str));
    span.attributes = attributes;
    Some(span)
}

/// The span of a request from a child, if it is recorded. It is in the trace of the only run that
/// calls the child. The trace context that the child sends is used only within that trace, because
/// a child is less trusted than a client.
pub(super) fn of_child(sampler: &TraceSampler, request: &ChildRequest) -> Option<SpanData> {
    let (context, parent) = match &request.run {
        Some(run) if !run.sampled => return None,
        Some(run) => {
            let said = request.parent.as_ref().filter(|parent| parent.trace == run.trace);
            let parent = said.map_or(Parent::Here(run.span), |parent| Parent::Elsewhere(parent.span));
            (TraceContext { span: new_span(), ..run.clone() }, parent)
        }
        None => (context(sampler, None)?, Parent::None),
    };
    let times = (request.began, SystemTime::now());
    let mut span = span(&context, parent, SpanKind::Server, request.method.to_owned(), times);
    let mut attributes =
        vec![KeyValue::new("mcp.method.name", request.method), KeyValue::new("belljar.server", shown(&request.server))];
    let said = [("jsonrpc.request.id", &request.id), ("mcp.protocol.version", &request.protocol)];
    attributes.extend(said.into_iter().filter_map(|(name, text)| Some(KeyValue::new(name, shown(text.as_ref()?)))));
    attributes.extend(request.transport.map(|transport| KeyValue::new("network.transport", transport)));
    fail_as(&mut span, &mut attributes, request.failure);
    span.attributes = attributes;
    Some(span)
}

/// A new span, below the one that the client named or in a new trace, if it is recorded.
fn context(sampler: &TraceSampler, parent: Option<&TraceContext>) -> Option<TraceContext> {
    let new_trace = || u128::from_be_bytes(RandomIdGenerator::default().new_trace_id().to_bytes());
    let trace = parent.map_or_else(new_trace, |parent| parent.trace);
    let state = parent.and_then(|parent| parent.state.clone());
    sampler.is_sampled(trace, parent).then(|| TraceContext { trace, span: new_span(), sampled: true, state })
}

fn new_span() -> u64 {
    u64::from_be_bytes(RandomIdGenerator::default().new_span_id().to_bytes())
}

fn fail_as(span: &mut SpanData, attributes: &mut Vec<KeyValue>, failure: Option<RequestFailure>) {
    match failure {
        None => {}
        Some(RequestFailure::Tool(kind)) => {
            fail(span, attributes, Some("tool_error"));
            attributes.extend(kind.map(|kind| KeyValue::new("belljar.run.outcome", kind.as_str())));
        }
        Some(RequestFailure::Code(code)) => {
            let code = code.to_string();
            span.status = Status::error(code.clone());
            let names = ["error.type", "rpc.response.status_code"];
            attributes.extend(names.map(|name| KeyValue::new(name, code.clone())));
        }
        Some(RequestFailure::Declined) => fail(span, attributes, Some("declined")),
        Some(RequestFailure::Cancelled) => fail(span, attributes, Some("cancelled")),
    }
}
