//! One run of a component, from its instance to its outcome.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::SeqCst},
};

use belljar_model::{
    ErrorKind, JsonBounds, JsonText, LimitHit, LimitName, Limits, Outcome, RunError, RunStep, Usage, text_exceeds,
};
use belljar_recording::{Cause, EngineId, Server, Start, Surroundings, Writer};
use belljar_sandbox::{
    Tools,
    common::{self, Meter, Recorder, Stop, WASMTIME, milliseconds, since_1970},
};
use rand_chacha::{ChaCha12Rng, rand_core::SeedableRng as _};
use wasmtime::{
    Store, UpdateDeadline,
    component::{ResourceTable, Val},
};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use crate::{
    Component, Components, Linked,
    calls::{Calls, Crossing, Finder, Handle},
    failure::{self, Stopped},
    imports::RUN,
    limiter::Limiter,
    logs::Logs,
    polls::Polls,
    request::ComponentRun,
    server::Order,
    tape::Tape,
    turns::Turns,
    wasi,
};

/// The most handles of the component model that a component may have at once.
const MAX_HANDLES: usize = 100_000;
/// The bytes that one host call may lift in addition to the largest value.
const BESIDE_VALUE: u64 = 1 << 20;
/// How many times the bytes of a value count while it is lifted: once as text, and again as the
/// values made from it.
const LIFTED_FACTOR: u64 = 4;

/// The state of a run that its imports use.
pub(crate) struct RunState {
    wasi: WasiCtx,
    table: ResourceTable,
    limiter: Limiter,
    pub(crate) calls: Arc<Calls>,
    tape: Tape,
}

impl RunState {
    /// Its pollables.
    pub(crate) fn polls(&mut self) -> Polls<'_> {
        Polls { table: &mut self.table, tape: &self.tape, calls: &self.calls }
    }
}

impl WasiView for RunState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

/// How a run ended.
enum End {
    Ended(wasmtime::Result<Result<String, String>>),
    Overdue(LimitHit),
    Cancelled,
}

/// A component that is about to run, and everything that its run needs.
pub(crate) struct Prepared<'a> {
    pub(crate) linked: &'a Linked,
    pub(crate) input: Option<String>,
    pub(crate) limits: &'a Limits,
    /// The limits for its clocks, which are different in a replay.
    pub(crate) time: &'a Limits,
    pub(crate) tools: Arc<dyn Tools>,
    pub(crate) seed: [u8; 32],
    pub(crate) tape: Tape,
}

/// A run that has ended, and the time limit that ended it.
pub(crate) struct Ended {
    pub(crate) outcome: Outcome,
    pub(crate) overdue: Option<LimitHit>,
}

/// Runs a component in its own instance.
///
/// # Cancellation
/// Dropping the future ends the run.
pub(crate) async fn run(components: &Components, linked: &Linked, request: ComponentRun<'_>) -> Outcome {
    let ComponentRun { limits, tools, input, seed, cancelled, max_recording, order, .. } = request;
    let limits = &*limits;
    let seed = seed.unwrap_or_else(|| ChaCha12Rng::from_os_rng().get_seed());
    let writer = max_recording.map(|max| {
        let Linked { component, servers, .. } = linked;
        let order = order.unwrap_or_else(|| Order::new(&component.imports, servers, input.clone()).to_text());
        Writer::new(&start(component, order, seed, limits, &*tools), max)
    });
    let tape = Tape::of_run(Recorder::new(writer));
    let prepared = Prepared { linked, input, limits, time: limits, tools, seed, tape };
    ended(components, prepared, cancelled).await.outcome
}

/// Identifies the engine that runs a component: on the same engine, a repeated run uses the same
/// fuel.
pub(crate) fn engine_id(component: &Component) -> EngineId {
    EngineId { component: component.digest, wasmtime: WASMTIME.to_owned() }
}

fn start(component: &Component, order: String, seed: [u8; 32], limits: &Limits, tools: &dyn Tools) -> Start {
    Start {
        engine: engine_id(component),
        source: order,
        begun_ms: since_1970(),
        seed,
        limits: limits.clone(),
        servers: tools.namespaces().iter().map(Server::from).collect(),
        surroundings: Surroundings { component: true, ..Surroundings::default() },
    }
}

/// The same, with a tape.
pub(crate) async fn ended(
    components: &Components,
    prepared: Prepared<'_>,
    cancelled: impl Future<Output = ()>,
) -> Ended {
    let Prepared { linked, input, limits, time, tools, seed, tape } = prepared;
    let refused = |error| Ended { outcome: Outcome::refused(error), overdue: None };
    let finder = Finder::new(tools.clone());
    let handles = match handles(linked, &finder, &tape).await {
        Ok(handles) => handles,
        Err(error) => return refused(error),
    };
    let params = match (linked.component.imports.run.takes_input, input) {
        (true, input) => vec![Val::String(input.unwrap_or_else(|| "null".to_owned()))],
        (false, None) => Vec::new(),
        (false, Some(_)) => return refused(takes_nothing()),
    };
    let meter = Arc::new(Meter::new(time));
    let calls = Arc::new(Calls::new(tools.clone(), limits, (handles, finder), tape.clone()));
    let logs = Logs::new(limits, tools.clone());
    let state = RunState {
        wasi: wasi::context(seed, &logs, &tape),
        table: wasi::table(),
        limiter: Limiter::new(limits.memory.as_u64()),
        calls: calls.clone(),
        tape: tape.clone(),
    };
    let ticked = Arc::new(AtomicBool::new(false));
    let mut store = match open_store(components, state, limits, (&meter, &ticked)) {
        Ok(store) => store,
        Err(error) => return refused(failure::internal(&error)),
    };
    let _running = components.ticker.running();
    tools.observe(RunStep::Admitted);
    tools.observe(RunStep::Started);
    let ended = {
        let run = called(linked, &mut store, &params);
        let run = Turns::new(run, &meter, &calls, &tape, ticked);
        tokio::select! {
            biased;
            ended = run => End::Ended(ended),
            hit = overdue(&meter) => End::Overdue(hit),
            () = cancelled => End::Cancelled,
        }
    };
    let fuel = store.get_fuel().ok().map(|left| limits.fuel.saturating_sub(left));
    let (wall, computed, waited) = meter.read();
    let limiter = &store.data().limiter;
    let mut cause = Cause::Script;
    let mut overdue = None;
    let result = match ended {
        End::Ended(Ok(Ok(text))) => accepted(text, limits),
        End::Ended(Ok(Err(text))) => Err(RunError::new(ErrorKind::Exception, crate::refusal::bounded(text))),
        End::Ended(Err(trap)) => {
            let stopped = Stopped { hit: calls.hit(), denied: limiter.denied() };
            overdue = stopped.hit.clone().filter(LimitHit::is_of_time);
            Err(failure::trapped(&trap, stopped, limits))
        }
        End::Overdue(hit) => {
            overdue = Some(hit.clone());
            Err(failure::of_limit(hit))
        }
        End::Cancelled => {
            cause = Cause::Cancelled;
            Err(common::cancelled())
        }
    };
    if let Some(LimitHit { name, max, used }) = &overdue {
        cause = Cause::Time { limit: name.as_str(), max: *max, used: *used };
    }
    let peak = limiter.peak();
    // This happens before its calls are counted, so that none of them is in progress afterwards.
    drop(store);
    let (made, logs) = (calls.end(), logs.end());
    let usage = Usage {
        wall_ms: Some(milliseconds(wall)),
        guest_ms: Some(milliseconds(computed)),
        wait_ms: Some(milliseconds(waited)),
        fuel,
        peak_memory_bytes: Some(peak),
        peak_held_bytes: Some(made.peak_held),
        source_bytes: linked.component.bytes,
        tool_calls: made.begun,
        concurrent_calls: made.concurrent,
        largest_arguments_bytes: made.largest_arguments,
        largest_result_bytes: made.largest_result,
        log_bytes: logs.bytes,
        log_lines: logs.lines,
        output_bytes: result.as_ref().map_or(0, |value| value.as_str().len() as u64),
    };
    let (calls, order, logs) = (made.calls, made.order, logs.entries);
    let (media, kept) = (Vec::new(), Vec::new());
    let mut outcome = Outcome { result, media, kept, logs, calls, usage, order, run: None, recording: None };
    outcome.recording = tape.end(cause, &outcome);
    Ended { outcome, overdue }
}

/// The handle of each imported function, from the directories of the run's tools.
async fn handles(linked: &Linked, finder: &Finder, tape: &Tape) -> Result<Vec<Handle>, RunError> {
    let mut handles = Vec::with_capacity(linked.functions.len());
    for bound in linked.functions.iter() {
        let (server, path) = (bound.server.name(), &bound.path);
        let gone = || {
            RunError::new(ErrorKind::Config, format!("{path}, which the component imports, is not there any more"))
                .with_hint("belljar servers says what there is")
        };
        let (at, answers) = finder.server(server).ok_or_else(gone)?;
        let unavailable = |reason| RunError::new(ErrorKind::Config, reason);
        let listed = match finder.listed(at, tape).await {
            Ok(listed) => listed.map_err(unavailable)?,
            Err(Stop) => return Err(unavailable("the recording has no tools for this component".to_owned())),
        };
        let tool = listed.get(path.tool()).ok_or_else(gone)?.clone();
        let crossing = Crossing::Typed(bound.server.mapping.clone(), bound.function);
        handles.push(Handle { tool, answers, crossing, returns: bound.returns.clone() });
    }
    Ok(handles)
}

fn open_store(
    components: &Components,
    state: RunState,
    limits: &Limits,
    (meter, ticked): (&Arc<Meter>, &Arc<AtomicBool>),
) -> wasmtime::Result<Store<RunState>> {
    let (calls, tape) = (state.calls.clone(), state.tape.clone());
    let mut store = Store::new(&components.engine, state);
    store.limiter(|state| &mut state.limiter);
    store.set_fuel(limits.fuel)?;
    let largest = limits.max_value_bytes().max(limits.max_arguments.as_u64());
    let lifted = largest.saturating_mul(LIFTED_FACTOR).saturating_add(BESIDE_VALUE);
    store.set_hostcall_fuel(usize::try_from(lifted).unwrap_or(usize::MAX));
    store.set_max_component_handles(MAX_HANDLES);
    if let Some(table) = store.concurrent_resource_table() {
        table.set_max_capacity(MAX_HANDLES);
    }
    store.set_epoch_deadline(1);
    let (meter, ticked) = (meter.clone(), ticked.clone());
    store.epoch_deadline_callback(move |_| match meter.check() {
        Ok(()) if tape.has_stopped() => Err(wasmtime::Error::msg("the recording has nothing more for the component")),
        Ok(()) => {
            ticked.store(true, SeqCst);
            Ok(UpdateDeadline::Yield(1))
        }
        Err(hit) => {
            calls.exceeded(hit);
            Err(wasmtime::Error::msg("the time of the run is over"))
        }
    });
    Ok(store)
}

async fn called(
    linked: &Linked,
    store: &mut Store<RunState>,
    params: &[Val],
) -> wasmtime::Result<Result<String, String>> {
    let instance = linked.instance.instantiate_async(&mut *store).await?;
    let function = instance.get_func(&mut *store, RUN).ok_or_else(|| wasmtime::Error::msg("there is no run"))?;
    let mut results = [Val::Bool(false)];
    function.call_async(&mut *store, params, &mut results).await?;
    let text = |value: Option<Box<Val>>| match value.as_deref() {
        Some(Val::String(text)) => Ok(text.clone()),
        _ => Err(wasmtime::Error::msg("run returned no text")),
    };
    match results {
        [Val::Result(Ok(value))] => Ok(Ok(text(value)?)),
        [Val::Result(Err(value))] => Ok(Err(text(value)?)),
        _ => Err(wasmtime::Error::msg("run returned no result")),
    }
}

/// Waits until a blocked run has used up its time.
async fn overdue(meter: &Meter) -> LimitHit {
    loop {
        match meter.overdue() {
            Ok(hit) => return hit,
            Err(left) => tokio::time::sleep(left).await,
        }
    }
}

/// The value of the text that a component returned: JSON if it is an object or an array, as for the
/// texts of tools.
fn accepted(text: String, limits: &Limits) -> Result<JsonText, RunError> {
    let (max, max_bytes) = (limits.max_output.as_u64(), limits.max_value_bytes());
    let too_large = |bytes: usize| failure::of_limit(LimitHit { name: LimitName::MaxOutput, max, used: bytes as u64 });
    // The length includes the base64 of images and files, which does not count as output.
    if text.len() as u64 > max_bytes {
        return Err(too_large(text.len()));
    }
    let bounds = JsonBounds::with_bytes(usize::try_from(max_bytes).unwrap_or(usize::MAX));
    let parsed = match text.trim_start().starts_with(['{', '[']) {
        true => JsonText::parse(text.clone(), &bounds).ok(),
        false => None,
    };
    let value = parsed.unwrap_or_else(|| JsonText::from_value(&text.into()));
    if text_exceeds(&value, max) {
        return Err(too_large(value.as_str().len()));
    }
    Ok(value)
}

fn takes_nothing() -> RunError {
    RunError::new(ErrorKind::Usage, "the component's `run` takes no input, and there is one")
        .with_hint("leave the input out, or export run: func(input: string) -> result<string, string>")
}

/// The limit that is reached when the fuel is used up.
pub(crate) fn fuel_out(limits: &Limits) -> LimitHit {
    LimitHit { name: LimitName::Fuel, max: limits.fuel, used: limits.fuel }
}
