//! One run of a component, from its instance to its outcome.

use std::{
    collections::BTreeMap,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use belljar_model::{
    ErrorKind, JsonBounds, JsonText, LimitHit, LimitName, Limits, Outcome, RunError, RunStep, Usage, text_exceeds,
};
use belljar_sandbox::{
    AnswerStyle, Directory, Tools,
    common::{self, Meter, Phase, milliseconds},
    value_too_large,
};
use rand_chacha::{ChaCha12Rng, rand_core::SeedableRng as _};
use wasmtime::{
    Store, UpdateDeadline,
    component::{ResourceTable, Val},
};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use crate::{
    Components, Linked,
    calls::{Calls, Handle},
    failure::{self, Stopped},
    imports::RUN,
    limiter::Limiter,
    logs::Logs,
    request::ComponentRun,
    wasi,
};

/// Handles of the component model that a component may have at once.
const MAX_HANDLES: usize = 100_000;
/// Bytes that one host call may lift beside the largest value.
const BESIDE_VALUE: u64 = 1 << 20;
/// How often the bytes of a value are counted as they are lifted: text, and the values made of it.
const LIFTED_FACTOR: u64 = 4;

/// The state of a run behind the imports.
pub(crate) struct RunState {
    wasi: WasiCtx,
    table: ResourceTable,
    limiter: Limiter,
    pub(crate) calls: Arc<Calls>,
}

impl WasiView for RunState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

/// How a run came to its end.
enum End {
    Ended(wasmtime::Result<Result<String, String>>),
    Overdue(LimitHit),
    Cancelled,
}

/// Runs a component in its own instance.
///
/// # Cancellation
/// Dropping the future ends the run.
pub(crate) async fn run(components: &Components, linked: &Linked, request: ComponentRun<'_>) -> Outcome {
    let ComponentRun { limits, tools, input, seed, cancelled, .. } = request;
    let limits = &*limits;
    let handles = match handles(linked, &*tools).await {
        Ok(handles) => handles,
        Err(error) => return Outcome::refused(error),
    };
    let params = match (linked.component.imports.run.takes_input, input) {
        (true, input) => vec![Val::String(input.unwrap_or_else(|| "null".to_owned()))],
        (false, None) => Vec::new(),
        (false, Some(_)) => return Outcome::refused(takes_nothing()),
    };
    let meter = Arc::new(Meter::new(limits));
    let calls = Arc::new(Calls::new(tools.clone(), limits, handles));
    let logs = Logs::new(limits, tools.clone());
    let seed = seed.unwrap_or_else(|| ChaCha12Rng::from_os_rng().get_seed());
    let state = RunState {
        wasi: wasi::context(seed, &logs),
        table: wasi::table(),
        limiter: Limiter::new(limits.memory.as_u64()),
        calls: calls.clone(),
    };
    let mut store = match open_store(components, state, limits, &meter) {
        Ok(store) => store,
        Err(error) => return Outcome::refused(failure::internal(&error)),
    };
    let _running = components.ticker.running();
    tools.observe(RunStep::Admitted);
    tools.observe(RunStep::Started);
    let ended = {
        let run = called(linked, &mut store, &params);
        let run = Clocked { run: Box::pin(run), meter: &meter, calls: &calls };
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
    let result = match ended {
        End::Ended(Ok(Ok(text))) => accepted(text, limits),
        End::Ended(Ok(Err(text))) => Err(RunError::new(ErrorKind::Exception, crate::refusal::bounded(text))),
        End::Ended(Err(trap)) => {
            let stopped = Stopped { hit: calls.hit(), denied: limiter.denied() };
            Err(failure::trapped(&trap, stopped, limits))
        }
        End::Overdue(hit) => Err(failure::of_limit(hit)),
        End::Cancelled => Err(common::cancelled()),
    };
    let peak = limiter.peak();
    // Before its calls are counted: none of them is under way afterwards.
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
    Outcome { result, media, kept, logs, calls, usage, order, run: None, recording: None }
}

/// The handle of each imported function, from the directories of the run's tools.
async fn handles(linked: &Linked, tools: &dyn Tools) -> Result<Vec<Handle>, RunError> {
    let namespaces = tools.namespaces();
    let mut directories: BTreeMap<usize, Arc<Directory>> = BTreeMap::new();
    let mut handles = Vec::with_capacity(linked.functions.len());
    for bound in linked.functions.iter() {
        let (server, path) = (bound.server.name(), &bound.path);
        let gone = || {
            RunError::new(ErrorKind::Config, format!("{path}, which the component imports, is not there any more"))
                .with_hint("belljar servers says what there is")
        };
        let at = namespaces.iter().position(|namespace| namespace.server == server).ok_or_else(gone)?;
        let directory = match directories.get(&at) {
            Some(directory) => directory.clone(),
            None => {
                let directory = tools.directory(at).await;
                let directory = directory.map_err(|fault| RunError::new(ErrorKind::Config, fault.reason))?;
                directories.insert(at, directory.clone());
                directory
            }
        };
        // Only the tool's own name: today its alias may be that of another tool.
        let is_it = |name: &str| name == bound.path.tool();
        let tool = directory.properties().find(|(name, tool)| is_it(name) && !tool.path.is_lock());
        let answers = namespaces.get(at).map_or(AnswerStyle::ToolResult, |namespace| namespace.answers);
        let (mapping, function) = (bound.server.mapping.clone(), bound.function);
        handles.push(Handle { tool: tool.ok_or_else(gone)?.1.clone(), answers, mapping, function });
    }
    Ok(handles)
}

fn open_store(
    components: &Components,
    state: RunState,
    limits: &Limits,
    meter: &Arc<Meter>,
) -> wasmtime::Result<Store<RunState>> {
    let calls = state.calls.clone();
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
    let meter = meter.clone();
    store.epoch_deadline_callback(move |_| match meter.check() {
        Ok(()) => Ok(UpdateDeadline::Yield(1)),
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

/// A run whose clocks follow whether it computes.
struct Clocked<'a, R> {
    run: Pin<Box<R>>,
    meter: &'a Meter,
    calls: &'a Calls,
}

impl<R: Future> Future for Clocked<'_, R> {
    type Output = R::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<R::Output> {
        self.meter.enter(Phase::Computing);
        let polled = self.run.as_mut().poll(context);
        let phase = match &polled {
            Poll::Ready(_) => Phase::Queued,
            Poll::Pending if self.calls.waits_for_people(context.waker()) => Phase::Resting,
            Poll::Pending => Phase::Waiting,
        };
        self.meter.enter(phase);
        polled
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

/// The value of the text that a component returned: JSON where it is an object or an array, as with
/// the texts of tools.
fn accepted(text: String, limits: &Limits) -> Result<JsonText, RunError> {
    let used = text.len() as u64;
    if used > limits.max_output.as_u64() {
        return Err(value_too_large(used, limits));
    }
    let bounds = JsonBounds::with_bytes(usize::try_from(limits.max_output.as_u64()).unwrap_or(usize::MAX));
    let parsed = match text.trim_start().starts_with(['{', '[']) {
        true => JsonText::parse(text.clone(), &bounds).ok(),
        false => None,
    };
    let value = parsed.unwrap_or_else(|| JsonText::from_value(&text.into()));
    if text_exceeds(&value, limits.max_output.as_u64()) {
        return Err(value_too_large(value.as_str().len() as u64, limits));
    }
    Ok(value)
}

fn takes_nothing() -> RunError {
    RunError::new(ErrorKind::Usage, "the component's `run` takes no input, and there is one")
        .with_hint("leave the input out, or export run: func(input: string) -> result<string, string>")
}

/// The limit that is reached when fuel is out.
pub(crate) fn fuel_out(limits: &Limits) -> LimitHit {
    LimitHit { name: LimitName::Fuel, max: limits.fuel, used: limits.fuel }
}
