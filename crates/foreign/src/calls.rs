//! The calls of one run: limits, arguments, answers, and what is kept of them.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::Instant,
};

use belljar_catalog::wit::{Mapping, Payload};
use belljar_model::{CallRecord, JsonText, LimitHit, LimitName, Limits, result_text, result_value, says_error};
use belljar_sandbox::{
    AnswerStyle, CallError, GrantedTool, Tools,
    apart::{self, Answer, Keeper},
};
use futures::task::AtomicWaker;
use parking_lot::Mutex;
use serde_json::{Map, Value};
use wasmtime::component::{Type, Val, types::ComponentFunc};

use crate::{
    convert::{Misfit, Steps, json_of, val_of},
    tool_error::{Failure, Kind},
};

/// What a function calls, by the handle that the run has of its tool.
pub(crate) struct Handle {
    pub(crate) tool: GrantedTool,
    pub(crate) answers: AnswerStyle,
    pub(crate) mapping: Arc<Mapping>,
    /// Its function in the mapping.
    pub(crate) function: usize,
}

/// The calls of a run.
pub(crate) struct Calls {
    tools: Arc<dyn Tools>,
    limits: Limits,
    keeper: Keeper,
    /// By the number of the imported function.
    handles: Vec<Handle>,
    state: Mutex<State>,
    people: Arc<People>,
}

#[derive(Default)]
struct State {
    begun: u64,
    open: BTreeMap<u64, Open>,
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
}

/// A call that is closed when it ends, and when the component gives it up.
struct Closing<'a> {
    calls: &'a Calls,
    number: u64,
}

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.calls.close(self.number);
    }
}

/// How many calls wait for people.
#[derive(Default)]
pub(crate) struct People {
    parked: AtomicU64,
    changed: AtomicWaker,
}

/// What became of all calls.
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
    pub(crate) fn new(tools: Arc<dyn Tools>, limits: &Limits, handles: Vec<Handle>) -> Self {
        let keeper = Keeper::new(limits.max_held, None);
        let (limits, state, people) = (limits.clone(), Mutex::default(), Arc::default());
        Self { tools, limits, keeper, handles, state, people }
    }

    /// Makes the call of an imported function. What goes wrong with it is in the value; only a
    /// limit of the run is an error.
    pub(crate) async fn call(&self, function: usize, ty: &ComponentFunc, params: &[Val]) -> wasmtime::Result<Val> {
        let handle = self.handles.get(function).ok_or_else(|| wasmtime::Error::msg("no such function"))?;
        let (ok, error) = result_type(ty)?;
        let number = self.begin(handle)?;
        let open = Closing { calls: self, number };
        let answer = match self.arguments(handle, params) {
            Ok(arguments) => self.made(number, handle, arguments).await,
            Err(misfit) => Err(Failure::new(Kind::Refused, format!("the call was not made: {misfit}"))),
        };
        let value = answer.and_then(|raw| self.converted(handle, ok.as_ref(), &raw));
        drop(open);
        Ok(Val::Result(match value {
            Ok(value) => Ok(value.map(Box::new)),
            Err(failure) => Err(Some(Box::new(failure.val(&error)))),
        }))
    }

    /// Counts a call, unless a limit forbids it, which ends the run.
    fn begin(&self, handle: &Handle) -> wasmtime::Result<u64> {
        let mut state = self.state.lock();
        let (begun, open) = (state.begun + 1, state.open.len() as u64 + 1);
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
        let entry = Open { tool: handle.tool.clone(), begun: Instant::now(), held: 0, is_made: false };
        state.open.insert(number, entry);
        Ok(number)
    }

    fn arguments(&self, handle: &Handle, params: &[Val]) -> Result<String, Misfit> {
        let max = usize::try_from(self.limits.max_arguments.as_u64()).unwrap_or(usize::MAX);
        let payload = handle.mapping.functions().get(handle.function).map(|function| &function.arguments);
        let json = match (payload, params) {
            (Some(Payload::Form(form)), [value]) => json_of(&handle.mapping, form, value, max, &mut Steps::new())?,
            // It took nothing when the component was built, or takes nothing today.
            (Some(Payload::Fixed(value)), _) => value.clone(),
            _ => Value::Object(Map::new()),
        };
        Ok(json.to_string())
    }

    /// Calls the tool, and takes its answer.
    async fn made(&self, number: u64, handle: &Handle, arguments: String) -> Result<JsonText, Failure> {
        let bytes = arguments.len() as u64;
        {
            let mut state = self.state.lock();
            let (used, max) = (state.held.saturating_add(bytes), self.limits.max_held.as_u64());
            if used > max {
                let text = format!(
                    "the call was not made: its arguments have {bytes} bytes, and with them the host would hold {used} bytes \
                     for this run; {} is {max}",
                    LimitName::MaxHeld
                );
                return Err(Failure::new(Kind::Refused, text));
            }
            state.held = used;
            state.largest_arguments = state.largest_arguments.max(bytes);
            if let Some(open) = state.open.get_mut(&number) {
                (open.held, open.is_made) = (bytes, true);
            }
        }
        self.keeper.hold_arguments(bytes);
        let people = self.people.clone();
        let parked = move |is_parked| people.note(is_parked);
        let tool = (handle.tool.clone(), handle.answers);
        // Nothing is awaited between the number and this: calls are made in the order of numbers.
        let called = apart::call(self.tools.clone(), number, tool, arguments, &self.limits, &self.keeper, parked);
        let ended = called.await;
        if let Some(record) = ended.record {
            self.keeper.keep_record(&record);
            self.state.lock().ended.push(record);
        }
        let (result, _counted) = match ended.answer {
            Answer::Here(answer) => {
                let (result, counted) = answer.into_parts();
                (result, Some(counted))
            }
            Answer::There(answer) => (answer.read().await, None),
        };
        self.tools.handing_over(number, &handle.tool.path, result.as_ref());
        let mut state = self.state.lock();
        state.order.push(number);
        if let Ok(result) = &result {
            state.largest_result = state.largest_result.max(result.as_str().len() as u64);
        }
        drop(state);
        result.map_err(|fault: CallError| fault.into())
    }

    /// The value of an answer, in the component's type.
    fn converted(&self, handle: &Handle, ty: Option<&Type>, raw: &JsonText) -> Result<Option<Val>, Failure> {
        let broken = |text: String| Failure::new(Kind::Unanswered, text);
        let has_failed = handle.answers == AnswerStyle::ToolResult && says_error(raw);
        let mut raw = raw.to_value().map_err(|fault| broken(fault.to_string()))?;
        if has_failed {
            let text = result_text(&raw).unwrap_or_else(|| "the tool reported an error without a text".to_owned());
            let content = raw.get_mut("content").map(Value::take);
            return Err(Failure { content, ..Failure::new(Kind::Failed, crate::refusal::bounded(text)) });
        }
        let value = match handle.answers {
            AnswerStyle::ToolResult => result_value(&raw),
            AnswerStyle::Plain => raw,
        };
        let payload = handle.mapping.functions().get(handle.function).map(|function| &function.result);
        let (Some(ty), Some(payload)) = (ty, payload) else { return Ok(None) };
        let converted = match payload {
            Payload::Form(form) => val_of(&handle.mapping, form, ty, &value, &mut Steps::new()),
            _ => Err(Misfit("the tool declares another type than when the component was built".into())),
        };
        converted.map(Some).map_err(|misfit| {
            let text = format!("the call was made, and its answer is not of the declared type: {misfit}");
            Failure { hint: Some("the call has taken effect".to_owned()), ..broken(text) }
        })
    }

    /// The component is about to have the answer, or does not want it any more.
    fn close(&self, number: u64) {
        let mut state = self.state.lock();
        let Some(open) = state.open.remove(&number) else { return };
        state.held = state.held.saturating_sub(open.held);
        if open.is_made {
            self.keeper.release_arguments(open.held);
        }
    }

    /// The limit that a call has met.
    pub(crate) fn hit(&self) -> Option<LimitHit> {
        self.state.lock().hit.clone()
    }

    /// Notes the limit that ends the run. The first one counts.
    pub(crate) fn exceeded(&self, hit: LimitHit) {
        self.state.lock().hit.get_or_insert(hit);
    }

    /// Whether all that the run waits for are people. `waker` is woken when that may have changed.
    pub(crate) fn waits_for_people(&self, waker: &std::task::Waker) -> bool {
        self.people.changed.register(waker);
        let open = self.state.lock().open.len() as u64;
        open > 0 && self.people.parked.load(SeqCst) >= open
    }

    /// Everything about them, when the run has ended.
    pub(crate) fn end(&self) -> Ended {
        let mut state = self.state.lock();
        let mut calls = std::mem::take(&mut state.ended);
        let open = std::mem::take(&mut state.open);
        let unanswered = open.into_values().filter(|open| open.is_made);
        calls.extend(unanswered.map(|open| apart::unanswered(&open.tool, open.begun)));
        Ended {
            calls,
            order: std::mem::take(&mut state.order),
            begun: state.begun,
            concurrent: state.concurrent,
            largest_arguments: state.largest_arguments,
            largest_result: state.largest_result,
            peak_held: self.keeper.peak(),
        }
    }
}

impl People {
    fn note(&self, is_parked: bool) {
        match is_parked {
            true => self.parked.fetch_add(1, SeqCst),
            false => self.parked.fetch_sub(1, SeqCst),
        };
        self.changed.wake();
    }
}

/// The two arms of what a function returns. That it has them was checked when it was linked.
pub(crate) fn result_type(ty: &ComponentFunc) -> wasmtime::Result<(Option<Type>, wasmtime::component::types::Record)> {
    let other = || wasmtime::Error::msg("the function does not return a result with an error");
    let mut results = ty.results();
    let (Some(Type::Result(result)), None) = (results.next(), results.next()) else { return Err(other()) };
    match result.err() {
        Some(error) if Failure::fits(&error) => match error {
            Type::Record(error) => Ok((result.ok(), error)),
            _ => Err(other()),
        },
        _ => Err(other()),
    }
}
