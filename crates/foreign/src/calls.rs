//! The calls of one run: limits, arguments, answers, and what is kept of them.
//!
//! A component that has called an `async` function continues while the call is in progress. It gets
//! the answer when it has nothing left to do but wait (`turns.rs` detects that), one answer after
//! the other. So the same component with the same answers in the same order does the same.

mod finding;
mod handing;

pub(crate) use finding::Finder;

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    task::Waker,
    time::Instant,
};

use belljar_catalog::wit::{Mapping, Payload};
use belljar_model::{CallRecord, JsonText, LimitHit, LimitName, Limits, result_text, result_value_in, says_error};
use belljar_sandbox::{
    AnswerStyle, CallError, GrantedTool, Tools,
    apart::{self, Answer, Counted, Keeper},
    common::Stop,
};
use futures::{
    future::{AbortHandle, Abortable, BoxFuture},
    stream::FuturesUnordered,
    task::AtomicWaker,
};
use parking_lot::Mutex;
use serde_json::{Map, Value};
use tokio::sync::oneshot;
use wasmtime::component::{
    Type, Val,
    types::{self, ComponentFunc},
};

use crate::{
    convert::{Misfit, Steps, json_of, json_of_text, text_of, val_of},
    tape::Tape,
    tool_error::{Failure, Kind},
};

/// What a function calls, as the handle that the run has for its tool.
pub(crate) struct Handle {
    pub(crate) tool: GrantedTool,
    pub(crate) answers: AnswerStyle,
    pub(crate) crossing: Crossing,
    pub(crate) returns: Arc<Returns>,
}

/// How arguments and results are passed.
pub(crate) enum Crossing {
    /// In the types of a function of a mapping.
    Typed(Arc<Mapping>, usize),
    /// As JSON text.
    Text,
}

/// The two arms of the result of a function, in the component's types.
pub(crate) struct Returns {
    pub(crate) ok: Option<Type>,
    pub(crate) error: types::Record,
}

/// The calls of a run.
pub(crate) struct Calls {
    tools: Arc<dyn Tools>,
    limits: Limits,
    keeper: Keeper,
    tape: Tape,
    /// The handles, by the number of the imported function.
    handles: Vec<Handle>,
    finder: Finder,
    state: Mutex<State>,
    /// Calls during which the component continues.
    beside: Mutex<FuturesUnordered<Beside>>,
    people: Arc<People>,
    /// How many host functions the component is blocked in, so that none of it can continue.
    blocked: AtomicU64,
    /// How many of them wait for time to pass or for a server, and so not for a person.
    busy: AtomicU64,
}

type Beside = Abortable<BoxFuture<'static, (u64, Came)>>;

#[derive(Default)]
struct State {
    begun: u64,
    open: BTreeMap<u64, Open>,
    /// Calls that were made and that the component then gave up.
    given_up: BTreeMap<u64, (GrantedTool, Instant)>,
    /// Answers that have come but that the component does not have yet, in the order in which they
    /// came.
    came: VecDeque<(u64, Came)>,
    /// The records of calls whose answers came when the component no longer wanted them.
    late: BTreeMap<u64, Option<CallRecord>>,
    /// Bytes of the arguments of open calls.
    held: u64,
    ended: Vec<CallRecord>,
    order: Vec<u64>,
    hit: Option<LimitHit>,
    concurrent: u64,
    largest_arguments: u64,
    largest_result: u64,
}

struct Open {
    tool: GrantedTool,
    begun: Instant,
    held: u64,
    /// Whether the tool was called.
    is_made: bool,
    /// Where its answer goes, if the component continues during the call.
    gate: Option<(oneshot::Sender<Handed>, AbortHandle)>,
}

/// An answer that has come.
struct Came {
    result: Result<JsonText, CallError>,
    record: Option<CallRecord>,
    counted: Option<Counted>,
}

/// An answer that is passed to the component. It counts until it is converted.
type Handed = (Result<JsonText, CallError>, Option<Counted>);

/// Closes a call when it ends, or when the component gives it up.
struct Closing<'a> {
    calls: &'a Calls,
    number: u64,
}

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.calls.close(self.number);
    }
}

/// While this exists, the component is blocked in a host function.
struct Blocked<'a>(&'a AtomicU64);

impl<'a> Blocked<'a> {
    fn new(count: &'a AtomicU64) -> Self {
        count.fetch_add(1, SeqCst);
        Self(count)
    }
}

impl Drop for Blocked<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

/// While this exists, the component is blocked in a host function that waits for something other
/// than a person.
pub(crate) struct Busy<'a> {
    _blocked: Blocked<'a>,
    _busy: Blocked<'a>,
}

/// The calls that wait for people. The component may have given some of them up.
#[derive(Default)]
pub(crate) struct People {
    parked: Mutex<BTreeSet<u64>>,
    changed: AtomicWaker,
}

/// The results of all calls.
pub(crate) struct Ended {
    pub(crate) calls: Vec<CallRecord>,
    pub(crate) order: Vec<u64>,
    pub(crate) begun: u64,
    pub(crate) concurrent: u64,
    pub(crate) largest_arguments: u64,
    pub(crate) largest_result: u64,
    pub(crate) peak_held: u64,
}

impl Calls {
    /// Creates the calls of a run. The handles come from `finder`.
    pub(crate) fn new(
        tools: Arc<dyn Tools>,
        limits: &Limits,
        (handles, finder): (Vec<Handle>, Finder),
        tape: Tape,
    ) -> Self {
        Self {
            tools,
            limits: limits.clone(),
            keeper: Keeper::new(limits.max_held, None),
            tape,
            handles,
            finder,
            state: Mutex::default(),
            beside: Mutex::default(),
            people: Arc::default(),
            blocked: AtomicU64::new(0),
            busy: AtomicU64::new(0),
        }
    }

    /// Makes the call of an imported function while the component waits. Errors of the call are
    /// part of the value; only exceeding a limit of the run is an error here. `left` is the
    /// remaining fuel.
    pub(crate) async fn call(&self, handle: &Handle, params: &[Val], left: u64) -> wasmtime::Result<Val> {
        let open = Closing { calls: self, number: self.begin(handle)? };
        let number = open.number;
        let arguments = match self.prepared(number, handle, params, 0) {
            Ok(arguments) => arguments,
            Err(failure) => return self.finished(open, handle, Err(failure)),
        };
        self.note(number, handle, &arguments, left)?;
        let came = match self.tape.is_replay() {
            true => self.recalled(|next| next == number)?.1,
            false => {
                let _blocked = Blocked::new(&self.blocked);
                self.made(number, handle, arguments).await.1
            }
        };
        let (result, _counted) = self.taken(number, came);
        self.finished(open, handle, result.map_err(Failure::from))
    }

    /// The same while the component continues: the answer waits until the component has nothing
    /// else to do.
    pub(crate) async fn call_beside(&self, handle: &Handle, params: &[Val], left: u64) -> wasmtime::Result<Val> {
        let open = Closing { calls: self, number: self.begin(handle)? };
        let number = open.number;
        // The lifted values stay in memory until the call is over.
        let lifted = params.iter().map(weight).fold(0, u64::saturating_add);
        let arguments = match self.prepared(number, handle, params, lifted) {
            Ok(arguments) => arguments,
            Err(failure) => return self.finished(open, handle, Err(failure)),
        };
        self.note(number, handle, &arguments, left)?;
        let (sender, gate) = oneshot::channel();
        let (abort, registration) = AbortHandle::new_pair();
        if let Some(entry) = self.state.lock().open.get_mut(&number) {
            entry.gate = Some((sender, abort));
        }
        if !self.tape.is_replay() {
            let made = self.made(number, handle, arguments);
            self.beside.lock().push(Abortable::new(made, registration));
        }
        let (result, _counted) = gate.await.map_err(|_| wasmtime::Error::msg("the run is over"))?;
        self.finished(open, handle, result.map_err(Failure::from))
    }

    /// What an imported function calls.
    pub(crate) fn handle(&self, function: usize) -> wasmtime::Result<&Handle> {
        self.handles.get(function).ok_or_else(|| wasmtime::Error::msg("no such function"))
    }

    /// Finds the tool with a path, while the component waits. Returns its number, or why there is
    /// none.
    pub(crate) async fn find(&self, path: &str) -> Result<Result<u32, String>, Stop> {
        let _busy = self.busy();
        self.finder.find(path, &self.tape).await
    }

    /// The tool that was found under a number, as the handle of a function that takes and returns
    /// text.
    pub(crate) fn found(&self, number: u32, returns: &Arc<Returns>) -> wasmtime::Result<Handle> {
        let found = self.finder.found(number).ok_or_else(|| wasmtime::Error::msg("no such tool was found"))?;
        let (tool, answers) = found;
        Ok(Handle { tool, answers, crossing: Crossing::Text, returns: returns.clone() })
    }

    /// Counts a call, unless it exceeds a limit, which ends the run.
    fn begin(&self, handle: &Handle) -> wasmtime::Result<u64> {
        let mut state = self.state.lock();
        // A call that was given up may still be in progress: nothing reports its end.
        let (begun, open) = (state.begun + 1, (state.open.len() + state.given_up.len()) as u64 + 1);
        for (name, used, max) in [
            (LimitName::MaxCalls, begun, self.limits.max_calls),
            (LimitName::MaxConcurrentCalls, open, self.limits.max_concurrent_calls),
        ] {
            if used > max {
                state.hit.get_or_insert(LimitHit { name, max, used });
                return Err(wasmtime::Error::msg("a limit of the run was reached"));
            }
        }
        let number = state.begun;
        state.begun = begun;
        state.concurrent = state.concurrent.max(open);
        let (tool, begun) = (handle.tool.clone(), Instant::now());
        state.open.insert(number, Open { tool, begun, held: 0, is_made: false, gate: None });
        Ok(number)
    }

    /// The arguments as JSON, if there is room for them in addition to the `lifted` values.
    fn prepared(&self, number: u64, handle: &Handle, params: &[Val], lifted: u64) -> Result<String, Failure> {
        let refused = |text: String| Failure::new(Kind::Refused, text);
        let arguments = self.arguments(handle, params);
        let arguments = arguments.map_err(|misfit| refused(format!("the call was not made: {misfit}")))?;
        let bytes = arguments.len() as u64;
        let held = bytes.saturating_add(lifted);
        let mut state = self.state.lock();
        let (used, max) = (state.held.saturating_add(held), self.limits.max_held.as_u64());
        if used > max {
            return Err(refused(format!(
                "the call was not made: its arguments take {held} bytes, and with them the host would hold {used} bytes \
                 for this run; {} is {max}",
                LimitName::MaxHeld
            )));
        }
        state.held = used;
        state.largest_arguments = state.largest_arguments.max(bytes);
        if let Some(open) = state.open.get_mut(&number) {
            (open.held, open.is_made) = (held, true);
        }
        drop(state);
        self.keeper.hold_arguments(held);
        Ok(arguments)
    }

    fn arguments(&self, handle: &Handle, params: &[Val]) -> Result<String, Misfit> {
        let max = usize::try_from(self.limits.max_arguments.as_u64()).unwrap_or(usize::MAX);
        let json = match (&handle.crossing, params) {
            (Crossing::Typed(mapping, function), params) => {
                match (mapping.functions().get(*function).map(|function| &function.arguments), params) {
                    (Some(Payload::Form(form)), [value]) => json_of(mapping, form, value, max, &mut Steps::new())?,
                    // The tool took no arguments when the component was built, or takes none now.
                    (Some(Payload::Fixed(value)), _) => value.clone(),
                    _ => Value::Object(Map::new()),
                }
            }
            (Crossing::Text, [Val::String(text)]) => json_of_text(text, max, &mut Steps::new())?,
            (Crossing::Text, _) => return Err(Misfit("the arguments are not a text".to_owned())),
        };
        Ok(json.to_string())
    }

    fn note(&self, number: u64, handle: &Handle, arguments: &str, left: u64) -> Result<(), Stop> {
        self.tape.call(number, &handle.tool, arguments, self.limits.fuel.saturating_sub(left))
    }

    /// Calls the tool. The call begins here and not when the future is polled, so calls are made in
    /// the order of their numbers.
    fn made(&self, number: u64, handle: &Handle, arguments: String) -> BoxFuture<'static, (u64, Came)> {
        let people = self.people.clone();
        let parked = move |is_parked| people.note(number, is_parked);
        let tool = (handle.tool.clone(), handle.answers);
        let called = apart::call(self.tools.clone(), number, tool, arguments, &self.limits, &self.keeper, parked);
        Box::pin(async move {
            let apart::CallEnd { answer, record } = called.await;
            let (result, counted) = match answer {
                Answer::Here(answer) => {
                    let (result, counted) = answer.into_parts();
                    (result, Some(counted))
                }
                Answer::There(answer) => (answer.read().await, None),
            };
            (number, Came { result, record, counted })
        })
    }

    /// Notes that the component is blocked in a host function that does not wait for a person.
    pub(crate) fn busy(&self) -> Busy<'_> {
        Busy { _blocked: Blocked::new(&self.blocked), _busy: Blocked::new(&self.busy) }
    }

    fn finished(&self, open: Closing<'_>, handle: &Handle, answer: Result<JsonText, Failure>) -> wasmtime::Result<Val> {
        let Returns { ok, error } = &*handle.returns;
        let value = answer.and_then(|raw| self.converted(handle, ok.as_ref(), &raw));
        drop(open);
        Ok(Val::Result(match value {
            Ok(value) => Ok(value.map(Box::new)),
            Err(failure) => Err(Some(Box::new(failure.val(error)))),
        }))
    }

    /// The value of an answer, in the component's type.
    fn converted(&self, handle: &Handle, ty: Option<&Type>, raw: &JsonText) -> Result<Option<Val>, Failure> {
        let broken = |text: String| Failure::new(Kind::Unanswered, text);
        if handle.answers == AnswerStyle::ToolResult && says_error(raw) {
            let mut raw = raw.to_value().map_err(|fault| broken(fault.to_string()))?;
            let text = result_text(&raw).unwrap_or_else(|| "the tool reported an error without a text".to_owned());
            let content = raw.get_mut("content").map(Value::take);
            return Err(Failure { content, ..Failure::new(Kind::Failed, crate::refusal::bounded(text)) });
        }
        let value = match handle.answers {
            AnswerStyle::ToolResult => result_value_in(raw),
            AnswerStyle::Plain => raw.to_value(),
        };
        let value = value.map_err(|fault| broken(fault.to_string()))?;
        let Some(ty) = ty else { return Ok(None) };
        let converted = match &handle.crossing {
            Crossing::Typed(mapping, function) => {
                match mapping.functions().get(*function).map(|function| &function.result) {
                    None => return Ok(None),
                    Some(Payload::Form(form)) => val_of(mapping, form, ty, &value, &mut Steps::new()),
                    _ => Err(Misfit("the tool declares another type than when the component was built".into())),
                }
            }
            Crossing::Text => text_of(&value, &mut Steps::new()),
        };
        converted.map(Some).map_err(|misfit| {
            let text = format!("the call was made, and its answer is not of the declared type: {misfit}");
            Failure { hint: Some("the call has taken effect".to_owned()), ..broken(text) }
        })
    }

    /// Closes a call, because the component is about to get the answer or no longer wants it.
    fn close(&self, number: u64) {
        let mut state = self.state.lock();
        let Some(open) = state.open.remove(&number) else { return };
        if open.is_made {
            state.given_up.insert(number, (open.tool, open.begun));
        } else if open.held > 0 {
            state.held = state.held.saturating_sub(open.held);
            self.keeper.release_arguments(open.held);
        }
        drop(state);
        if let Some((_, abort)) = open.gate {
            abort.abort();
        }
        if open.is_made {
            self.tools.given_up(number);
        }
    }

    /// The limit that a call has exceeded.
    pub(crate) fn hit(&self) -> Option<LimitHit> {
        self.state.lock().hit.clone()
    }

    /// Records the limit that ends the run. Only the first one counts.
    pub(crate) fn exceeded(&self, hit: LimitHit) {
        self.state.lock().hit.get_or_insert(hit);
    }

    /// Whether everything that the run waits for is a decision of a person. `waker` is woken when
    /// that may have changed.
    pub(crate) fn waits_for_people(&self, waker: &Waker) -> bool {
        self.people.changed.register(waker);
        if self.busy.load(SeqCst) > 0 {
            return false;
        }
        let state = self.state.lock();
        let parked = self.people.parked.lock();
        !state.open.is_empty() && state.open.keys().all(|number| parked.contains(number))
    }
}

impl People {
    fn note(&self, number: u64, is_parked: bool) {
        match is_parked {
            true => self.parked.lock().insert(number),
            false => self.parked.lock().remove(&number),
        };
        self.changed.wake();
    }
}

impl Returns {
    /// The arms of a function's result, if the function returns a result with the error type that
    /// all functions of servers have.
    pub(crate) fn of(ty: &ComponentFunc) -> Option<Self> {
        let mut results = ty.results();
        let (Some(Type::Result(result)), None) = (results.next(), results.next()) else { return None };
        match result.err() {
            Some(Type::Record(error)) if Failure::fits(&error) => Some(Self { ok: result.ok(), error }),
            _ => None,
        }
    }
}

/// The bytes that a value takes on the host.
fn weight(value: &Val) -> u64 {
    let own = size_of::<Val>() as u64;
    let all = |values: &mut dyn Iterator<Item = &Val>| values.map(weight).fold(0, u64::saturating_add);
    let inside = match value {
        Val::String(text) | Val::Enum(text) => text.len() as u64,
        Val::List(values) | Val::Tuple(values) => all(&mut values.iter()),
        Val::Record(fields) => {
            let names: u64 = fields.iter().map(|(name, _)| (name.len() + size_of::<String>()) as u64).sum();
            names.saturating_add(all(&mut fields.iter().map(|(_, value)| value)))
        }
        Val::Variant(name, value) => (name.len() as u64).saturating_add(all(&mut value.as_deref().into_iter())),
        Val::Option(value) | Val::Result(Ok(value) | Err(value)) => all(&mut value.as_deref().into_iter()),
        _ => 0,
    };
    own.saturating_add(inside)
}
