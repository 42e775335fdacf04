//! One run, from its first instruction to its outcome.

use std::sync::Arc;

use belljar_model::{
    ErrorKind, FailedIn, JsonBounds, JsonError, JsonText, LimitHit, Limits, Outcome, RunError, RunStep, Usage,
    may_hold_media, text_exceeds,
};
use belljar_recording::{CallForm, Cause, GlobalFunction, Surroundings};
use tokio::sync::Semaphore;
use wasmtime::{Engine, Store, UpdateDeadline};

use crate::{
    Namespace, Tools, bindings,
    calls::milliseconds,
    failure::{self, Doing, Stopped},
    holdings::Holdings,
    host::{MAX_HANDLES, RunState, Shared, Tape},
    inbox::Inbox,
    journal::Journal,
    meter::Meter,
    overflow::Overflow,
    parking::Parking,
    place::NamedPlace,
    plan::MAX_PLAN_BYTES,
    rest::RestAfter,
    stand_in::StandIn,
    turn::Turn,
    workspace::MAX_QUESTION_BYTES,
};

/// Fuel that a host call may spend on values that cross the boundary, in bytes: twice the largest
/// result.
const HOSTCALL_FACTOR: u64 = 2;

/// What all runs of a sandbox share.
pub(crate) struct Host<'sandbox> {
    pub(crate) engine: &'sandbox Engine,
    pub(crate) interpreter: &'sandbox bindings::InterpreterPre<RunState>,
    pub(crate) turns: &'sandbox Arc<Semaphore>,
    pub(crate) overflow: Overflow,
}

/// A script, and everything that its run needs.
pub(crate) struct Script<'a> {
    pub(crate) source: &'a str,
    pub(crate) surroundings: Surroundings,
    /// Whether only its calls are found.
    pub(crate) only_plan: bool,
    /// Whether only its signature is read.
    pub(crate) only_signature: bool,
    pub(crate) namespaces: Vec<Namespace>,
    pub(crate) seed: [u8; 32],
    pub(crate) order: Option<Vec<u64>>,
    pub(crate) limits: &'a Limits,
    /// The limits for its clocks, which differ in a replay.
    pub(crate) time: &'a Limits,
    pub(crate) tools: Arc<dyn Tools>,
    pub(crate) tape: Tape,
    /// When it may be put aside, if it may.
    pub(crate) rest_after: Option<RestAfter>,
}

/// A run that has ended.
pub(crate) struct Ended {
    pub(crate) outcome: Outcome,
    /// The time limit that ended it.
    pub(crate) overdue: Option<LimitHit>,
    pub(crate) stand_in: Option<StandIn>,
}

/// How a run came to its end.
#[expect(clippy::large_enum_variant, reason = "a run has one")]
enum End {
    Ended(wasmtime::Result<Result<String, bindings::Failure>>),
    Overdue(LimitHit),
    Cancelled,
}

/// Runs a script in its own instance, until it ends or `cancelled` completes.
///
/// # Cancellation
/// Dropping the future ends the run: the instance is gone, and its calls and timers are aborted.
pub(crate) async fn run(host: &Host<'_>, script: Script<'_>, cancelled: impl Future<Output = ()>) -> Ended {
    let Script { source, surroundings, only_plan, only_signature, namespaces, seed, order, .. } = script;
    let Script { limits, time, tools, tape, rest_after, .. } = script;
    let holdings = Holdings::new(limits.max_held.as_u64(), host.overflow.exists());
    let meter = Arc::new(Meter::new(time));
    let shared = Shared {
        inbox: Inbox::new(order, holdings.clone()),
        journal: Journal::new(holdings.clone()),
        turn: Arc::new(Turn::new(host.turns.clone(), meter.clone())),
        meter,
        holdings,
        parking: Parking::default(),
        overflow: host.overflow.clone(),
        rest_after,
    };
    if matches!(&tape.stand_in, Some(StandIn::Replay(replay)) if replay.goes_on()) {
        shared.meter.begin_again();
    }
    let state = RunState::new(limits.clone(), tools.clone(), &namespaces, seed, &shared, tape);
    let mut store = match open_store(host.engine, state, limits, &shared, surroundings.artifacts || surroundings.keep) {
        Ok(store) => store,
        Err(error) => return Ended { outcome: Outcome::refused(internal(&error)), overdue: None, stand_in: None },
    };
    let globals = globals(&surroundings);
    let request = bindings::Program {
        source: source.to_owned(),
        prelude: surroundings.prelude,
        namespaces: namespaces.into_iter().map(bindings::Namespace::from).collect(),
        functions: surroundings.functions.into_iter().map(bindings::Function::from).collect(),
        builtins: !surroundings.no_builtins,
        globals,
        extended_value: surroundings.extended_value,
        // The host decides which part of it is media.
        max_output: as_u32(limits.max_value_bytes()),
        max_arguments: as_u32(limits.max_arguments.as_u64()),
        only_plan,
        only_signature,
    };

    let ended = {
        let run = async {
            shared.turn.begin().await;
            tools.observe(RunStep::Started);
            let instance = host.interpreter.instantiate_async(&mut store).await?;
            instance.call_run(&mut store, &request).await
        };
        // The wall clock is checked at each tick while the guest computes; this is for when it
        // waits.
        tokio::select! {
            biased;
            ended = run => End::Ended(ended),
            hit = overdue(&shared.meter) => End::Overdue(hit),
            () = cancelled => End::Cancelled,
        }
    };

    shared.turn.end();
    let fuel = store.get_fuel().ok().map(|left| limits.fuel.saturating_sub(left));
    let place = store.data().place();
    let named = store.data().named_place().map(NamedPlace::frame);
    let is_put_aside = store.data().is_put_aside;
    if !is_put_aside {
        end_open_calls(&mut store, &shared);
    }
    let (wall, computed, waited) = shared.meter.read();
    let notes = shared.journal.close();
    let doing = Doing::of(&notes.calls, notes.calls_begun);
    let mut cause = Cause::Script;
    let mut overdue = None;
    let result = match ended {
        End::Ended(Ok(Ok(value))) => accepted(value, limits),
        End::Ended(Ok(Err(failure))) => {
            let error = failure::reported(failure, source, limits);
            let error = if notes.calls_begun == 0 { failure::with_nothing_called(error) } else { error };
            Err(failure::with_refusal(error, notes.refusal))
        }
        End::Ended(Err(_)) if is_put_aside => {
            cause = Cause::Rested(shared.meter.spent());
            Err(failure::put_aside())
        }
        End::Ended(Err(trap)) => {
            overdue = notes.hit.clone().filter(LimitHit::is_of_time);
            let state = store.data();
            let stopped = Stopped {
                hit: notes.hit,
                denied: state.limiter.denied(),
                peak: state.limiter.peak(),
                stderr: state.stderr.text(),
                is_replay: state.stand_in.is_some(),
            };
            let error = failure::last_seen(failure::trapped(&trap, stopped, limits, &doing), place, source);
            Err(failure::in_named(error, named))
        }
        End::Overdue(hit) => {
            overdue = Some(hit.clone());
            Err(failure::in_named(failure::last_seen(failure::limit_of(hit, &doing), place, source), named))
        }
        End::Cancelled => {
            cause = Cause::Cancelled;
            Err(failure::cancelled())
        }
    };
    let result = match store.data().is_in_prelude {
        true => result.map_err(|error| RunError { failed_in: Some(FailedIn::Prelude), ..error }),
        false => result,
    };
    if let Some(LimitHit { name, max, used, .. }) = &overdue {
        cause = Cause::Time { limit: name.as_str(), max: *max, used: *used };
    }
    let usage = Usage {
        wall_ms: Some(milliseconds(wall)),
        guest_ms: Some(milliseconds(computed)),
        wait_ms: Some(milliseconds(waited)),
        fuel,
        peak_memory_bytes: Some(store.data().limiter.peak()),
        peak_held_bytes: Some(shared.holdings.peak()),
        source_bytes: source.len() as u64,
        tool_calls: notes.calls_begun,
        concurrent_calls: notes.concurrent_calls,
        largest_arguments_bytes: notes.largest_arguments,
        largest_result_bytes: notes.largest_result,
        log_bytes: notes.log_bytes,
        log_lines: notes.log_lines,
        output_bytes: result.as_ref().map_or(0, |value| value.as_str().len() as u64),
    };
    let mut outcome = Outcome {
        result,
        media: Vec::new(),
        kept: Vec::new(),
        logs: notes.logs,
        calls: notes.calls,
        usage,
        order: notes.order,
        run: None,
        recording: None,
    };
    let state = store.data_mut();
    outcome.recording = state.recorder.end(cause, &outcome);
    Ended { outcome, overdue, stand_in: state.stand_in.take() }
}

/// Which globals a run has for what lives between runs.
fn globals(surroundings: &Surroundings) -> bindings::Globals {
    let of = |has: bool, global| if has { global } else { bindings::Globals::empty() };
    of(surroundings.artifacts, bindings::Globals::ARTIFACTS) | of(surroundings.keep, bindings::Globals::KEEP)
}

impl From<Namespace> for bindings::Namespace {
    fn from(namespace: Namespace) -> Self {
        let CallForm { positional, plain } = namespace.form();
        Self { server: namespace.server, globals: namespace.globals, positional, plain }
    }
}

impl From<GlobalFunction> for bindings::Function {
    fn from(GlobalFunction { name, server, property }: GlobalFunction) -> Self {
        Self { name, namespace: server, property }
    }
}

/// Notes the results of calls whose answers the script never got.
fn end_open_calls(store: &mut Store<RunState>, shared: &Shared) {
    let RunState { recorder, stand_in, .. } = store.data_mut();
    if let Some(stand_in) = stand_in {
        for (number, kept) in stand_in.unanswered() {
            let record = shared.journal.open_tool(number).and_then(|tool| kept.map(|kept| kept.of(&tool)));
            recorder.unanswered(number, record.as_ref());
            shared.journal.end(number, record);
        }
    }
    // Answers that arrived come first. The rest never had one.
    for (number, record) in shared.inbox.late() {
        recorder.unanswered(number, record.as_ref());
        shared.journal.end(number, record);
    }
    for (number, record) in shared.journal.unanswered() {
        recorder.unanswered(number, Some(&record));
        shared.journal.end(number, Some(record));
    }
}

/// Waits until the time of a blocked run is used up.
async fn overdue(meter: &Meter) -> LimitHit {
    loop {
        match meter.overdue() {
            Ok(hit) => return hit,
            Err(left) => tokio::time::sleep(left).await,
        }
    }
}

/// A store with the limits of a run.
pub(crate) fn open_store(
    engine: &Engine,
    state: RunState,
    limits: &Limits,
    shared: &Shared,
    has_workspace: bool,
) -> wasmtime::Result<Store<RunState>> {
    let mut store = Store::new(engine, state);
    store.limiter(|state| &mut state.limiter);
    store.set_fuel(limits.fuel)?;
    let asked = limits.max_source.as_u64().max(MAX_PLAN_BYTES as u64);
    // A question comes from the guest's memory, so it cannot be larger than that.
    let kept = limits.memory.as_u64().min(MAX_QUESTION_BYTES as u64);
    let asked = if has_workspace { asked.max(kept) } else { asked };
    let largest = limits.max_value_bytes().max(asked).max(limits.max_arguments.as_u64());
    store.set_hostcall_fuel(usize::try_from(largest.saturating_mul(HOSTCALL_FACTOR)).unwrap_or(usize::MAX));
    // Each costs some hundred bytes of the host that no memory limit counts, and creating one costs
    // a few units of fuel.
    store.set_max_component_handles(MAX_HANDLES);
    store.set_epoch_deadline(1);
    let (turn, meter, journal) = (shared.turn.clone(), shared.meter.clone(), shared.journal.clone());
    store.epoch_deadline_callback(move |_| match meter.check() {
        Ok(()) if turn.goes_on() => Ok(UpdateDeadline::Continue(1)),
        Ok(()) => {
            let turn = turn.clone();
            Ok(UpdateDeadline::YieldCustom(1, Box::pin(async move { turn.pass().await })))
        }
        Err(hit) => {
            journal.exceeded(hit);
            Err(wasmtime::Error::msg("the time of the run is over"))
        }
    });
    Ok(store)
}

/// The value, if consumers can handle it.
fn accepted(value: String, limits: &Limits) -> Result<JsonText, RunError> {
    if value.len() as u64 > limits.max_output.as_u64() && !may_hold_media(&value) {
        return Err(failure::value_too_large(value.len() as u64, limits));
    }
    let bounds = JsonBounds::with_bytes(usize::try_from(limits.max_value_bytes()).unwrap_or(usize::MAX));
    let value = JsonText::parse(value, &bounds).map_err(|fault| match fault {
        JsonError::TooLong { used, .. } => failure::value_too_large(used as u64, limits),
        JsonError::Syntax(_) => RunError::new(ErrorKind::Internal, format!("the interpreter's value is {fault}")),
        JsonError::Reserved => {
            RunError::new(ErrorKind::Output, fault.to_string()).with_hint("give that member another name")
        }
        fault => RunError::new(ErrorKind::Output, fault.to_string()).with_hint("return a flatter or smaller value"),
    })?;
    if text_exceeds(&value, limits.max_output.as_u64()) {
        return Err(failure::value_too_large(value.as_str().len() as u64, limits));
    }
    Ok(value)
}

fn internal(error: &wasmtime::Error) -> RunError {
    RunError::new(ErrorKind::Internal, format!("the run could not be set up: {error:#}"))
}

fn as_u32(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}
