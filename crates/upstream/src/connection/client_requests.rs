//! What a child may ask of the client whose run calls it, and which client that is.
//!
//! A child does not say which of its calls a request belongs to. So a request is passed on only if
//! all its calls in flight belong to one run; otherwise it would be unclear whose model should
//! answer, or who should see a question. The owner says which questions a server may ask at all,
//! and a run is asked a limited number of times.

#![expect(deprecated, reason = "sampling and roots are deprecated, and children of the initialize era ask for them")]

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

use belljar_model::{Asks, Effect, TraceContext};
use futures::future::BoxFuture;
use parking_lot::Mutex;
use rmcp::{
    ErrorData,
    model::{CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams, ElicitResult, ListRootsResult},
};

use crate::{
    framing::gate::{AnswerGate, Gate},
    limits,
};

/// The client behind a run, as far as it answers what children ask.
pub trait AskClient: Send + Sync + 'static {
    /// What the client has declared. It is asked nothing else.
    fn abilities(&self) -> ClientAbilities;

    /// `sampling/createMessage`.
    fn create_message(
        &self,
        request: CreateMessageRequestParams,
    ) -> BoxFuture<'static, Result<CreateMessageResult, ErrorData>>;

    /// `elicitation/create`.
    fn elicit(&self, request: ElicitRequestParams) -> BoxFuture<'static, Result<ElicitResult, ErrorData>>;

    /// `roots/list`.
    fn list_roots(&self) -> BoxFuture<'static, Result<ListRootsResult, ErrorData>>;
}

/// What the client can do for children. Children are told when they start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClientAbilities {
    /// It has a model that children may use.
    pub sampling: bool,
    /// That model may be given tools.
    pub sampling_tools: bool,
    /// It can show its user a form.
    pub elicitation: bool,
    /// It can send its user to a page.
    pub elicitation_url: bool,
    /// It has folders that it works in.
    pub roots: bool,
}

impl ClientAbilities {
    /// What a server may ask for, given what its owner allows.
    pub(crate) fn allowed(self, asks: Asks) -> Self {
        Self {
            sampling: self.sampling && asks.sampling,
            sampling_tools: self.sampling_tools && asks.sampling,
            elicitation: self.elicitation && asks.elicitation,
            elicitation_url: self.elicitation_url && asks.elicitation,
            roots: self.roots && asks.roots,
        }
    }

    /// What both have.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            sampling: self.sampling && other.sampling,
            sampling_tools: self.sampling_tools && other.sampling_tools,
            elicitation: self.elicitation && other.elicitation,
            elicitation_url: self.elicitation_url && other.elicitation_url,
            roots: self.roots && other.roots,
        }
    }
}

/// A caller: one run, or a single call.
#[derive(Clone)]
pub struct Caller {
    id: u64,
    client: Option<Arc<dyn AskClient>>,
    /// How many questions it was asked.
    questions: Arc<AtomicUsize>,
    gate: Option<Arc<dyn AnswerGate>>,
    principal: Option<Arc<str>>,
    /// Whether its call is sent once at most.
    is_once: bool,
    /// The least effect that its calls count as, where something depends on the effect.
    counts_as: Effect,
    progress: Option<ProgressHeard>,
    trace: Option<TraceContext>,
    run_trace: Option<TraceContext>,
}

/// Receives a call's progress messages, on one line and bounded. It must not wait.
pub type ProgressHeard = Arc<dyn Fn(&str) + Send + Sync>;

impl Caller {
    /// A caller whose client, if there is one, answers what children ask.
    pub fn new(client: Option<Arc<dyn AskClient>>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            client,
            questions: Arc::default(),
            gate: None,
            principal: None,
            is_once: false,
            counts_as: Effect::ReadOnly,
            progress: None,
            trace: None,
            run_trace: None,
        }
    }

    /// The same caller, for one principal of several, which has its own instances.
    #[must_use]
    pub fn of_principal(&self, name: &str) -> Self {
        Self { principal: Some(name.into()), ..self.clone() }
    }

    /// The same caller, whose calls count at least as this effect where something depends on it: a
    /// tool that only reads is treated as one that may change something. It never allows more.
    #[must_use]
    pub fn counting_as(&self, effect: Effect) -> Self {
        Self { counts_as: effect, ..self.clone() }
    }

    pub(crate) fn counts_as(&self) -> Effect {
        self.counts_as
    }

    /// The principal, if it is not the owner.
    pub fn principal(&self) -> Option<&Arc<str>> {
        self.principal.as_ref()
    }

    /// The client, if there is one.
    pub(crate) fn client(&self) -> Option<&Arc<dyn AskClient>> {
        self.client.as_ref()
    }

    /// Counts a question, and returns whether it may be asked.
    pub(crate) fn takes_a_question(&self) -> bool {
        self.questions.fetch_add(1, Ordering::Relaxed) < limits::QUESTIONS_PER_RUN
    }

    /// The same caller for one call that is sent once at most, even if the owner allows repeating
    /// calls of its tool: a person agreed to one.
    #[must_use]
    pub fn once(&self) -> Self {
        Self { is_once: true, ..self.clone() }
    }

    /// Whether its call is sent once at most.
    pub(crate) fn is_once(&self) -> bool {
        self.is_once
    }

    /// The same caller for one call, whose answer passes `gate`.
    #[must_use]
    pub fn with_gate(&self, gate: Arc<dyn AnswerGate>) -> Self {
        Self { gate: Some(gate), ..self.clone() }
    }

    /// The same caller for one call, with a listener for its progress.
    #[must_use]
    pub fn with_progress(&self, progress: ProgressHeard) -> Self {
        Self { progress: Some(progress), ..self.clone() }
    }

    /// The listener for the call's progress.
    pub(crate) fn progress(&self) -> Option<&ProgressHeard> {
        self.progress.as_ref()
    }

    /// The same caller for one call, whose child gets this span of a trace as its parent.
    #[must_use]
    pub fn with_trace(&self, trace: TraceContext) -> Self {
        Self { trace: Some(trace), ..self.clone() }
    }

    /// The span of the call.
    pub(crate) fn trace(&self) -> Option<&TraceContext> {
        self.trace.as_ref()
    }

    /// The same caller, whose run is this span of a trace. What a child asks meanwhile belongs to
    /// it.
    #[must_use]
    pub fn with_run_trace(&self, trace: TraceContext) -> Self {
        Self { run_trace: Some(trace), ..self.clone() }
    }

    /// The span of the run.
    pub(crate) fn run_trace(&self) -> Option<&TraceContext> {
        self.run_trace.as_ref()
    }

    /// The gate for the answer of the call.
    pub(crate) fn gate(&self) -> Option<Gate> {
        self.gate.as_ref().map(Gate::of)
    }
}

impl Default for Caller {
    /// A caller without a client.
    fn default() -> Self {
        Self::new(None)
    }
}

impl fmt::Debug for Caller {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Caller").field("id", &self.id).field("has_client", &self.client.is_some()).finish()
    }
}

/// The callers that have calls in flight at one child.
#[derive(Clone, Default)]
pub(crate) struct Callers(Arc<Mutex<BTreeMap<u64, (usize, Caller)>>>);

impl Callers {
    /// Notes a call, until the returned value is dropped.
    pub(crate) fn enter(&self, caller: &Caller) -> Calling {
        let mut callers = self.0.lock();
        callers
            .entry(caller.id)
            .or_insert_with(|| (0, Caller { gate: None, progress: None, trace: None, ..caller.clone() }))
            .0 += 1;
        Calling { callers: self.clone(), id: caller.id }
    }

    /// The only caller, if there is exactly one.
    pub(crate) fn only(&self) -> Option<Caller> {
        let callers = self.0.lock();
        let mut callers = callers.values();
        match (callers.next(), callers.next()) {
            (Some((_, caller)), None) => Some(caller.clone()),
            _ => None,
        }
    }
}

impl fmt::Debug for Callers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Callers")
    }
}

/// A call in flight.
pub(crate) struct Calling {
    callers: Callers,
    id: u64,
}

impl Drop for Calling {
    fn drop(&mut self) {
        let mut callers = self.callers.0.lock();
        if let Some((count, _)) = callers.get_mut(&self.id) {
            *count -= 1;
            if *count == 0 {
                callers.remove(&self.id);
            }
        }
    }
}
