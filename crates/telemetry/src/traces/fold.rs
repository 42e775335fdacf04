//! Makes spans from run events.
//!
//! Names and attributes are those of OpenTelemetry's conventions for GenAI and MCP; those that the
//! conventions do not define begin with `belljar.`. docs/SEE.md lists them, with the revision of
//! the conventions.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, SystemTime},
};

use belljar_gateway::SKILLS;
use belljar_model::{
    CallContent, Effect, ErrorKind, RunEvent, RunId, RunStep, RunTrace, ToolPath, TraceContext, Verdict, display,
};
use belljar_upstream::Reached;
use opentelemetry::{
    InstrumentationScope, KeyValue,
    trace::{Event, Link, SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState},
};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};

use super::{
    content::{self, Held, Holding},
    requests,
};

/// The name of a run's span.
pub(super) const RUN: &str = "belljar.run";
/// The most runs whose spans are open. There are fewer live ones.
const MAX_RUNS: usize = 4096;
/// The most calls of a run whose spans are open.
const MAX_CALLS: usize = 4096;
/// The most events of a run's span.
const MAX_EVENTS: usize = 128;
/// The most characters of a name that a server or a client chose.
const MAX_NAME: usize = 128;

/// How each configured server is reached.
type Servers = BTreeMap<String, Reached>;

/// The spans that are open.
#[derive(Default)]
pub(super) struct Spans {
    runs: BTreeMap<RunId, OpenRun>,
    holding: Holding,
    servers: Arc<Servers>,
}

struct OpenRun {
    trace: Arc<RunTrace>,
    began: SystemTime,
    origin: &'static str,
    principal: Option<Arc<str>>,
    client: Option<Arc<str>>,
    queued: Option<SystemTime>,
    queue: Option<Duration>,
    calls: u64,
    open: BTreeMap<u64, OpenCall>,
    events: SpanEvents,
    loss: Loss,
}

/// Whether some of a run's events may have been lost.
#[derive(PartialEq, Eq)]
enum Loss {
    None,
    Possible,
    /// Events may have been lost, and the run was over by then. Its end may still come, but must
    /// come before the next loss.
    Over,
}

#[derive(Default)]
struct OpenCall {
    tool: Option<ToolPath>,
    effect: Option<Effect>,
    verdict: Option<Verdict>,
    rule: Option<String>,
    sent: Option<SystemTime>,
    arguments: Option<Held>,
    result: Option<Arc<CallContent>>,
}

impl Spans {
    /// Creates it without any spans. The spans of calls say how these servers are reached.
    pub(super) fn of(servers: Arc<Servers>) -> Self {
        Self { servers, ..Self::default() }
    }

    /// Processes an event, and passes the spans that it ends to `give`. Returns how many of the
    /// run's spans are lost because their events are.
    pub(super) fn take(&mut self, RunEvent { run, at, step }: RunEvent, give: &mut dyn FnMut(SpanData)) -> u64 {
        if let RunStep::Begun { origin, principal, client, trace } = step {
            if let Some(trace) = trace.filter(|_| self.runs.len() < MAX_RUNS) {
                self.runs.insert(run, OpenRun::new(trace, at, (origin, principal, client)));
            }
            return 0;
        }
        if let RunStep::Ended { error, fuel, .. } = step {
            let servers = &self.servers;
            return self.runs.remove(&run).map_or(0, |open| open.end(run, at, (error, fuel), servers, give));
        }
        if let Some(open) = self.runs.get_mut(&run) {
            open.step(at, step, (&self.holding, &self.servers), give);
        }
        0
    }

    /// Handles a loss of events. The end of a run that is over may be among the events that still
    /// come; if it has not come by the next loss, the run is forgotten. Returns how many spans that
    /// costs.
    pub(super) fn lose(&mut self, live: &[RunId]) -> u64 {
        let mut lost = 0;
        self.runs.retain(|run, open| {
            if open.loss == Loss::Over {
                lost += open.spans();
                return false;
            }
            open.loss = if live.contains(run) { Loss::Possible } else { Loss::Over };
            true
        });
        lost
    }

    /// How many spans are open whose end will never be received.
    pub(super) fn left(&self) -> u64 {
        self.runs.values().map(OpenRun::spans).sum()
    }
}

impl OpenRun {
    fn new(
        trace: Arc<RunTrace>,
        began: SystemTime,
        (origin, principal, client): (&'static str, Option<Arc<str>>, Option<Arc<str>>),
    ) -> Self {
        let (open, events) = (BTreeMap::new(), SpanEvents::default());
        let loss = Loss::None;
        Self { trace, began, origin, principal, client, queued: None, queue: None, calls: 0, open, events, loss }
    }

    /// The number of its open spans.
    fn spans(&self) -> u64 {
        let sent = self.open.values().filter(|call| call.sent.is_some()).count() as u64;
        1 + u64::from(self.trace.request.is_some()) + sent
    }

    fn step(
        &mut self,
        at: SystemTime,
        step: RunStep,
        (holding, servers): (&Holding, &Servers),
        give: &mut dyn FnMut(SpanData),
    ) {
        match step {
            RunStep::Queued => self.queued = Some(at),
            RunStep::Admitted | RunStep::Started => {
                if let Some(since) = self.queued.take() {
                    self.queue = at.duration_since(since).ok();
                }
            }
            RunStep::Judged { call, tool, verdict, rule } => {
                if let Some(open) = self.call(call) {
                    (open.tool, open.verdict, open.rule) = (Some(tool), Some(verdict), rule);
                }
            }
            RunStep::CallBegun { call, tool, effect } => {
                if let Some(open) = self.call(call) {
                    (open.tool, open.effect) = (Some(tool), Some(effect));
                }
            }
            RunStep::Sent { call, arguments } => {
                if let Some(open) = self.call(call) {
                    open.sent = Some(at);
                    open.arguments = arguments.and_then(|arguments| holding.hold(arguments));
                }
            }
            RunStep::Parked { call, tool } => {
                let attributes = vec![number(call), tool_name(&tool), server(&tool)];
                self.event("belljar.approval.waits", at, attributes);
            }
            RunStep::Resumed { call } => self.event("belljar.approval.decided", at, vec![number(call)]),
            RunStep::Answered { call, tool, effect, verdict, sent, ok, fault, ms, result, .. } => {
                let open = self.open.remove(&call).unwrap_or_default();
                let verdict = open.verdict.or(verdict);
                if !sent {
                    let mut attributes = vec![number(call), tool_name(&tool), server(&tool)];
                    attributes.extend(judged(verdict, open.rule.as_deref()));
                    self.event("belljar.call.denied", at, attributes);
                    return;
                }
                let took = Duration::try_from_secs_f64(ms / 1e3).unwrap_or_default();
                let began = open.sent.or_else(|| at.checked_sub(took)).unwrap_or(at);
                let failed = match (ok, fault) {
                    (true, _) => None,
                    (false, false) => Some("tool_error"),
                    (false, true) => Some("fault"),
                };
                let open = OpenCall { tool: Some(tool), effect: Some(effect), verdict, result, ..open };
                self.calls += 1;
                give(self.call_span(call, &open, (began, at), failed, servers));
            }
            _ => {}
        }
    }

    fn call(&mut self, call: u64) -> Option<&mut OpenCall> {
        let has_room = self.open.len() < MAX_CALLS || self.open.contains_key(&call);
        has_room.then(|| self.open.entry(call).or_default())
    }

    fn event(&mut self, name: &'static str, at: SystemTime, attributes: Vec<KeyValue>) {
        if self.events.events.len() == MAX_EVENTS {
            self.events.dropped_count = self.events.dropped_count.saturating_add(1);
            return;
        }
        self.events.events.push(Event::new(name, at, attributes, 0));
    }

    fn end(
        mut self,
        run: RunId,
        at: SystemTime,
        (error, fuel): (Option<ErrorKind>, Option<u64>),
        servers: &Servers,
        give: &mut dyn FnMut(SpanData),
    ) -> u64 {
        let mut lost = 0;
        // Calls whose answer nobody waits for.
        for (call, open) in std::mem::take(&mut self.open) {
            if let Some(began) = open.sent {
                // Their answers may be among the lost events.
                if self.loss != Loss::None {
                    lost += 1;
                    continue;
                }
                self.calls += 1;
                give(self.call_span(call, &open, (began, at), Some("cancelled"), servers));
            }
        }
        let trace = self.trace.clone();
        let failed = error.map(ErrorKind::as_str);
        let count = |name: &'static str, value: u64| KeyValue::new(name, i64::try_from(value).unwrap_or(i64::MAX));
        let mut attributes = vec![
            KeyValue::new("belljar.run.id", run.to_string()),
            KeyValue::new("belljar.run.origin", self.origin),
            KeyValue::new("belljar.run.outcome", failed.unwrap_or("ok")),
            count("belljar.run.calls", self.calls),
        ];
        attributes.extend(fuel.map(|fuel| count("belljar.run.fuel", fuel)));
        attributes.extend(self.queue.map(|queue| KeyValue::new("belljar.run.queue_ms", queue.as_secs_f64() * 1e3)));
        attributes.extend(self.client.as_deref().map(|name| KeyValue::new("belljar.run.client", shown(name))));
        attributes.extend(self.principal.as_deref().map(|name| KeyValue::new("belljar.run.principal", shown(name))));
        if self.loss != Loss::None {
            attributes.push(KeyValue::new("belljar.run.events_lost", true));
        }
        let parent = match (&trace.request, trace.parent) {
            (Some((request, _)), _) => Parent::Here(*request),
            (None, Some(parent)) => Parent::Elsewhere(parent),
            (None, None) => Parent::None,
        };
        let mut span = span(&trace.run, parent, SpanKind::Internal, RUN.to_owned(), (self.began, at));
        // A run that waits for a person has not failed.
        let is_failure = failed.filter(|_| error != Some(ErrorKind::Approval));
        fail(&mut span, &mut attributes, is_failure);
        (span.attributes, span.events) = (attributes, self.events);
        if let Some(first) = &trace.resumes {
            let mut links = SpanLinks::default();
            links.links.push(Link::new(remote(first), vec![KeyValue::new("belljar.run.id", run.to_string())], 0));
            span.links = links;
        }
        give(span);
        if let Some((request, served)) = &trace.request {
            let context = TraceContext { span: *request, ..trace.run.clone() };
            let parent = trace.parent.map_or(Parent::None, Parent::Elsewhere);
            let (mut span, mut attributes) = requests::served_span(&context, parent, served, (self.began, at));
            fail(&mut span, &mut attributes, is_failure.map(|_| "tool_error"));
            span.attributes = attributes;
            give(span);
        }
        lost
    }

    fn call_span(
        &self,
        call: u64,
        open: &OpenCall,
        times: (SystemTime, SystemTime),
        failed: Option<&'static str>,
        servers: &Servers,
    ) -> SpanData {
        let tool = open.tool.clone().unwrap_or_else(|| ToolPath::new("unknown", "unknown"));
        let name = format!("tools/call {}", shown(tool.tool()));
        let parent = Parent::Here(self.trace.run.span);
        // A named script runs here, and no server is asked.
        let kind = if tool.server() == SKILLS { SpanKind::Internal } else { SpanKind::Client };
        let mut span = span(&self.trace.call(call), parent, kind, name, times);
        let mut attributes = tool_call(tool.tool());
        attributes.extend([server(&tool), number(call)]);
        attributes.extend(servers.get(tool.server()).into_iter().flat_map(reached));
        attributes.extend(open.effect.map(|effect| KeyValue::new("belljar.call.effect", effect.as_str())));
        attributes.extend(judged(open.verdict, open.rule.as_deref()));
        attributes.extend(open.arguments.iter().flat_map(content::arguments));
        attributes.extend(open.result.iter().flat_map(|result| content::result(result)));
        fail(&mut span, &mut attributes, failed);
        span.attributes = attributes;
        span
    }
}

/// The parent of a span.
pub(super) enum Parent {
    None,
    Here(u64),
    Elsewhere(u64),
}

pub(super) fn span(
    context: &TraceContext,
    parent: Parent,
    kind: SpanKind,
    name: String,
    (began, ended): (SystemTime, SystemTime),
) -> SpanData {
    let (parent, is_remote) = match parent {
        Parent::None => (SpanId::INVALID, false),
        Parent::Here(span) => (SpanId::from(span), false),
        Parent::Elsewhere(span) => (SpanId::from(span), true),
    };
    SpanData {
        span_context: in_process(context, false),
        parent_span_id: parent,
        parent_span_is_remote: is_remote,
        span_kind: kind,
        name: name.into(),
        start_time: began,
        // If the clock was set back, the span still must not end before it begins.
        end_time: ended.max(began),
        attributes: Vec::new(),
        dropped_attributes_count: 0,
        events: SpanEvents::default(),
        links: SpanLinks::default(),
        status: Status::Unset,
        instrumentation_scope: InstrumentationScope::builder("belljar").with_version(env!("CARGO_PKG_VERSION")).build(),
    }
}

/// The context of a span in another process.
pub(super) fn remote(context: &TraceContext) -> SpanContext {
    in_process(context, true)
}

fn in_process(context: &TraceContext, is_remote: bool) -> SpanContext {
    let flags = if context.sampled { TraceFlags::SAMPLED } else { TraceFlags::default() };
    let state = context.state.as_deref().and_then(|state| state.parse::<TraceState>().ok()).unwrap_or_default();
    SpanContext::new(TraceId::from(context.trace), SpanId::from(context.span), flags, is_remote, state)
}

pub(super) fn fail(span: &mut SpanData, attributes: &mut Vec<KeyValue>, failed: Option<&'static str>) {
    if let Some(kind) = failed {
        span.status = Status::error(kind);
        attributes.push(KeyValue::new("error.type", kind));
    }
}

pub(super) fn tool_call(tool: &str) -> Vec<KeyValue> {
    vec![
        KeyValue::new("mcp.method.name", "tools/call"),
        KeyValue::new("gen_ai.operation.name", "execute_tool"),
        KeyValue::new("gen_ai.tool.name", shown(tool)),
    ]
}

fn tool_name(tool: &ToolPath) -> KeyValue {
    KeyValue::new("gen_ai.tool.name", shown(tool.tool()))
}

fn server(tool: &ToolPath) -> KeyValue {
    KeyValue::new("belljar.server", shown(tool.server()))
}

fn reached(Reached { transport, address, port, .. }: &Reached) -> impl Iterator<Item = KeyValue> {
    let transport = transport.map(|transport| KeyValue::new("network.transport", transport));
    let address = address.as_ref().map(|address| KeyValue::new("server.address", shown(address)));
    let port = port.map(|port| KeyValue::new("server.port", i64::from(port)));
    [transport, address, port].into_iter().flatten()
}

fn number(call: u64) -> KeyValue {
    KeyValue::new("belljar.call.number", i64::try_from(call).unwrap_or(i64::MAX))
}

fn judged(verdict: Option<Verdict>, rule: Option<&str>) -> impl Iterator<Item = KeyValue> {
    let verdict = verdict.map(|verdict| KeyValue::new("belljar.policy.verdict", verdict.as_str()));
    verdict.into_iter().chain(rule.map(|rule| KeyValue::new("belljar.policy.rule", shown(rule))))
}

/// A name on one short line, with nothing in it that could act on its reader.
pub(super) fn shown(name: &str) -> String {
    let end = name.char_indices().nth(MAX_NAME).map_or(name.len(), |(end, _)| end);
    display::line(name.get(..end).unwrap_or_default()).chars().take(MAX_NAME).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: SystemTime = SystemTime::UNIX_EPOCH;

    fn trace() -> Arc<RunTrace> {
        let run = TraceContext { trace: 1, span: 2, sampled: true, state: None };
        Arc::new(RunTrace { run, parent: None, request: None, resumes: None })
    }

    fn begun(trace: Option<Arc<RunTrace>>) -> RunStep {
        RunStep::Begun { origin: "test", principal: None, client: None, trace }
    }

    fn ended(error: Option<ErrorKind>) -> RunStep {
        RunStep::Ended { error, ms: 1.0, guest_ms: None, fuel: Some(5), told_bytes: None }
    }

    fn tool() -> ToolPath {
        ToolPath::new("fs", "write")
    }

    fn answered(call: u64, sent: bool, fault: bool) -> RunStep {
        let (verdict, effect) = (Some(Verdict::Deny), Effect::External);
        RunStep::Answered {
            call,
            tool: tool(),
            effect,
            verdict,
            sent,
            ok: false,
            fault,
            ms: 1.0,
            bytes: None,
            result: None,
        }
    }

    /// The spans of these steps of one run.
    fn spans(steps: impl IntoIterator<Item = RunStep>) -> Vec<SpanData> {
        let (mut spans, mut given) = (Spans::default(), Vec::new());
        for (after, step) in (0..).zip(steps) {
            let at = AT + Duration::from_secs(after);
            let lost = spans.take(RunEvent { run: RunId::from_bits(7), at, step }, &mut |span| given.push(span));
            assert_eq!(lost, 0);
        }
        assert!(spans.runs.is_empty(), "nothing is kept of a run that is over");
        given
    }

    fn text(attributes: &[KeyValue], name: &str) -> Option<String> {
        attributes.iter().find(|attribute| attribute.key.as_str() == name).map(|attribute| attribute.value.to_string())
    }

    fn sent(call: u64) -> RunStep {
        RunStep::Sent { call, arguments: None }
    }

    #[test]
    fn what_was_not_sent_is_an_event_of_the_run_and_what_was_is_a_span() {
        let given = spans([
            begun(Some(trace())),
            RunStep::Judged { call: 1, tool: tool(), verdict: Verdict::Deny, rule: Some("no\u{202e}".to_owned()) },
            answered(1, false, false),
            RunStep::Parked { call: 2, tool: tool() },
            RunStep::Resumed { call: 2 },
            sent(2),
            answered(2, true, true),
            RunStep::CallBegun { call: 3, tool: tool(), effect: Effect::ReadOnly },
            sent(3),
            RunStep::CallBegun { call: 4, tool: tool(), effect: Effect::ReadOnly },
            ended(Some(ErrorKind::Cancelled)),
        ]);
        let [fault, cut, run] = &given[..] else { panic!("{given:#?}") };
        let events: Vec<&str> = run.events.iter().map(|event| &*event.name).collect();
        assert_eq!(events, ["belljar.call.denied", "belljar.approval.waits", "belljar.approval.decided"]);
        let denied = &run.events[0].attributes;
        assert_eq!(text(denied, "belljar.policy.rule").as_deref(), Some("no\\u{202e}"));
        assert_eq!(text(denied, "belljar.policy.verdict").as_deref(), Some("deny"));
        assert_eq!((fault.start_time, fault.end_time), (AT + Duration::from_secs(5), AT + Duration::from_secs(6)));
        assert_eq!(text(&fault.attributes, "error.type").as_deref(), Some("fault"));
        assert_eq!(text(&cut.attributes, "error.type").as_deref(), Some("cancelled"));
        assert_eq!((cut.span_context.span_id(), cut.end_time), (SpanId::from(trace().call(3).span), run.end_time));
        assert_eq!(text(&run.attributes, "belljar.run.calls").as_deref(), Some("2"));
        assert_eq!(run.status, Status::error("cancelled"));
    }

    #[test]
    fn a_run_that_is_not_recorded_or_whose_beginning_was_lost_has_no_span() {
        assert!(spans([begun(None), sent(1), answered(1, true, false), ended(None)]).is_empty());
        assert!(spans([sent(1), answered(1, true, false), ended(None)]).is_empty());
    }

    #[test]
    fn runs_calls_events_and_names_are_bounded_and_what_is_lost_is_counted() {
        let mut spans = Spans::default();
        let mut given = Vec::new();
        for run in 0..10_000 {
            spans.take(RunEvent { run: RunId::from_bits(run), at: AT, step: begun(Some(trace())) }, &mut |_| {});
        }
        assert_eq!(spans.runs.len(), MAX_RUNS);
        let long = ToolPath::new("fs", "t\n".repeat(10_000));
        for call in 0..10_000 {
            let step = RunStep::CallBegun { call, tool: long.clone(), effect: Effect::ReadOnly };
            spans.take(RunEvent { run: RunId::from_bits(0), at: AT, step }, &mut |_| {});
            let step = RunStep::Parked { call, tool: long.clone() };
            spans.take(RunEvent { run: RunId::from_bits(0), at: AT, step }, &mut |_| {});
        }
        let step = answered(1, true, false);
        spans.take(RunEvent { run: RunId::from_bits(0), at: AT, step }, &mut |span| given.push(span));
        assert_eq!(spans.runs[&RunId::from_bits(0)].open.len(), MAX_CALLS - 1);
        assert_eq!(spans.left(), MAX_RUNS as u64);
        assert_eq!(spans.lose(&[RunId::from_bits(0)]), 0);
        assert_eq!(spans.lose(&[RunId::from_bits(0)]), MAX_RUNS as u64 - 1);
        spans.take(RunEvent { run: RunId::from_bits(0), at: AT, step: ended(None) }, &mut |span| given.push(span));
        let run = given.last().expect("a span");
        let dropped = u32::try_from(10_000 - MAX_EVENTS).expect("a count");
        assert_eq!((run.events.len(), run.events.dropped_count), (MAX_EVENTS, dropped));
        let name = text(&run.events[0].attributes, "gen_ai.tool.name").expect("a name");
        assert!(name.chars().count() <= MAX_NAME && !name.contains('\n'), "{name}");
    }

    #[test]
    fn after_a_loss_what_still_comes_counts_and_nothing_is_called_cancelled_for_it() {
        let (mut spans, mut given) = (Spans::default(), Vec::new());
        let mut take = |spans: &mut Spans, step| {
            spans.take(RunEvent { run: RunId::from_bits(7), at: AT, step }, &mut |span| given.push(span))
        };
        for step in [begun(Some(trace())), sent(1), sent(2)] {
            assert_eq!(take(&mut spans, step), 0);
        }
        // The run is over, but its end has not been read yet.
        assert_eq!(spans.lose(&[]), 0);
        assert_eq!(take(&mut spans, answered(1, true, false)), 0);
        // The answer of the other call was lost.
        assert_eq!(take(&mut spans, ended(None)), 1);
        let names: Vec<&str> = given.iter().map(|span| &*span.name).collect();
        assert_eq!(names, ["tools/call write", RUN]);
        assert_eq!(text(&given[1].attributes, "belljar.run.events_lost").as_deref(), Some("true"));
        assert_eq!((spans.left(), spans.lose(&[])), (0, 0));
    }
}
