//! One context, one script: from the snapshot to the value.

use std::{cell::RefCell, collections::BTreeSet, rc::Rc};

use boa_engine::{
    Context, JsError, JsObject, JsResult, JsValue, Script,
    builtins::promise::{OperationType, Promise, PromiseState},
    context::{Clock, HostHooks, time::JsInstant},
    job::JobCallback,
    object::builtins::{JsFunction, JsPromise},
};

use belljar_guest_bindings::{Failure, FailureKind, Program, belljar::sandbox::console};
use belljar_guest_engine::{place, scripts, stack, waits};
use belljar_guest_globals::{
    self as globals,
    pending::{self, Completed},
};
use belljar_guest_source::{self as source, SCRIPT_NAME};
use belljar_guest_values::{encode, inspect};

use crate::{
    failure::{self, Failing},
    jobs::JobQueue,
    modules::NoModules,
    plan, prelude, signature,
};

/// Functions that are named where the script does not wait for them.
const MAX_WAITING: usize = 5;
/// Texts of rejections with which another is compared.
const MAX_COMPARED: usize = 20;
/// The longest `ArrayBuffer`: the memory limit ends a run well before.
const MAX_BUFFER_BYTES: u64 = 1 << 30;

thread_local! {
    static CONTEXT: RefCell<Option<Context>> = const { RefCell::new(None) };
    static REJECTED: RefCell<Vec<JsObject<Promise>>> = const { RefCell::new(Vec::new()) };
}

/// Builds the context that the snapshot holds, and runs a little code so that what is made lazily
/// is there.
pub(crate) fn build() {
    #[cfg(target_family = "wasm")]
    boa_gc::count_storage(|| crate::HEAP.large_bytes());
    let mut context = Context::builder()
        .clock(Rc::new(HostClock))
        .host_hooks(Rc::new(Hooks))
        .job_executor(Rc::new(JobQueue::default()))
        .module_loader(Rc::new(NoModules))
        // There is no second agent that could wake this one up.
        .can_block(false)
        .build()
        .expect("the context is built from constants");
    belljar_guest_engine::limit(&mut context);
    globals::install(&mut context).expect("the globals are made from constants");
    warm(&mut context);
    CONTEXT.set(Some(context));
}

/// Runs what every script runs, so that each run finds its pages and shapes made.
fn warm(context: &mut Context) {
    if let Ok(translated) =
        source::translate("const a = [1, 2].map((x: number) => x + 1); await null; ({ a })", &source::Globals::NONE)
    {
        let _ = parse(&translated.code, context).and_then(|script| {
            evaluate(&script, translated.has_using, context)?;
            context.run_jobs()
        });
    }
}

/// Runs `program` to its end: its value, all its calls answered.
pub(crate) fn run(program: Program) -> Result<String, Failure> {
    let Some(mut context) = CONTEXT.take() else {
        return Err(failure::plain(FailureKind::Exception, "the interpreter was not initialised, or has run before"));
    };
    globals::start_of_run();
    let outcome = run_in(&mut context, program);
    // The instance is thrown away; taking its heap apart first would only cost time.
    std::mem::forget(context);
    outcome
}

fn run_in(context: &mut Context, program: Program) -> Result<String, Failure> {
    if program.only_signature {
        return signature::read(&program.source, context);
    }
    let is_server =
        |name: &str| program.namespaces.iter().any(|server| server.globals.iter().any(|global| global == name));
    let functions: BTreeSet<String> = program.functions.iter().map(|function| function.name.clone()).collect();
    let found = source::Globals {
        is_server: &is_server,
        is_function: &|name| functions.contains(name),
        has_tools: program.builtins,
        may_differ: program.prelude.is_some(),
    };
    let translated = source::translate(&program.source, &found).map_err(failure::of_syntax)?;
    source::keep_tool_functions(functions);
    translated.origin.keep();
    waits::begin();
    globals::bind(&program, context).map_err(|error| failing(error, context))?;
    if let Some(prelude) = program.prelude.as_ref().filter(|_| !program.only_plan) {
        prelude::run(prelude, &program, context)?;
    }
    plan::look(&translated.calls, &program, context)?;
    if program.only_plan {
        return Ok("null".to_owned());
    }
    let script = parse(&translated.code, context).map_err(|error| unparsable(error, context))?;
    drop(translated.code);
    place::begin(context);
    let outcome = match evaluate(&script, translated.has_using, context) {
        Ok(promise) => settle(promise, &program, translated.unused, context),
        Err(error) => Err(failing(error, context)),
    };
    if has_ended_itself(&outcome) {
        globals::hand_over(context);
    }
    // Also of a run that fails: what nobody looked at may be why.
    report_rejections(context);
    belljar_guest_builtins::report_rounded();
    outcome
}

/// Whether the script has ended by itself, with a value or an error.
fn has_ended_itself(outcome: &Result<String, Failure>) -> bool {
    use FailureKind::{Denied, Exception, Tool};
    outcome.as_ref().map_or_else(|failure| matches!(failure.kind, Exception | Tool | Denied), |_| true)
}

/// Works off all that the script has started, and gives its value.
fn settle(
    promise: JsPromise,
    program: &Program,
    unused: Option<String>,
    context: &mut Context,
) -> Result<String, Failure> {
    let mut settled = None;
    let mut has_value = true;
    loop {
        context.run_jobs().map_err(|error| failing(error, context))?;
        if globals::run_due_timer(context).map_err(|error| failing(error, context))? {
            continue;
        }
        if settled.is_none() {
            settled = match promise.state() {
                PromiseState::Pending => None,
                PromiseState::Fulfilled(value) => {
                    has_value = !value.is_undefined();
                    let written = encode::output(&value, program.max_output, program.extended_value, context);
                    Some(written.map_err(|not_written| Failing::of_value(not_written, context)))
                }
                PromiseState::Rejected(reason) => {
                    REJECTED.with_borrow_mut(|rejected| rejected.retain(|other| *other != promise_object(&promise)));
                    Some(Err(Failing::Thrown(reason)))
                }
            };
            if let Some(settled) = &settled {
                let had_timers = globals::drop_timers();
                if let Ok((value, lost)) = settled {
                    if let Some(lost) = lost {
                        console::write(console::Level::Warn, lost);
                    }
                    if let Some(unseen) = globals::warning_of_reads(value, lost.is_some(), context) {
                        console::write(console::Level::Warn, &unseen);
                    }
                    say_what_was_not_awaited(value, had_timers, context);
                    if let Some(unused) = unused.as_ref().filter(|_| !has_value) {
                        say_what_was_not_called(unused);
                    }
                }
            }
        }
        if settled.is_some() && pending::calls() == 0 {
            break;
        }
        if pending::is_empty() {
            return Err(failure::deadlock());
        }
        match pending::next() {
            Some(Completed::Call(call, result)) => {
                globals::answer(call, result, context).map_err(|error| failing(error, context))?;
            }
            Some(Completed::Timer(timer)) => globals::elapsed(timer),
            // The host hands over nothing else.
            None => {}
        }
    }
    let settled = settled.unwrap_or(Ok((String::new(), None))).map_err(|failing| failing.describe(context));
    settled.map(|(value, _)| value)
}

pub(crate) fn failing(error: JsError, context: &mut Context) -> Failure {
    Failing::of(error, context).describe(context)
}

/// The translation has let something pass that the engine does not know.
pub(crate) fn unparsable(error: JsError, context: &mut Context) -> Failure {
    match error.as_native() {
        Some(native) => failure::of_syntax(source::fault_of_engine(native.message())),
        None => failing(error, context),
    }
}

pub(crate) fn parse(code: &str, context: &mut Context) -> JsResult<Script> {
    // A program is in strict mode, as a module is. What it makes of texts while it runs says so
    // itself.
    context.strict(true);
    let script = scripts::parse(code, Some(SCRIPT_NAME), context);
    context.strict(false);
    script
}

fn evaluate(script: &Script, has_using: bool, context: &mut Context) -> JsResult<JsPromise> {
    let function = script.evaluate(context)?;
    let Some(function) = function.as_callable() else {
        return JsPromise::resolve(JsValue::undefined(), context);
    };
    let helpers = has_using.then(globals::using_helpers);
    let promise = function.call(&JsValue::undefined(), helpers.as_slice(), context)?;
    match promise.as_object() {
        Some(object) => JsPromise::from_object(object),
        None => JsPromise::resolve(promise, context),
    }
}

fn promise_object(promise: &JsPromise) -> JsObject<Promise> {
    let object: JsObject = promise.clone().into();
    object.downcast::<Promise>().expect("a promise holds a promise")
}

/// Says which promises were rejected and never looked at: a failure that would else be silent.
///
/// Those with one text are told once, with their number.
fn report_rejections(context: &mut Context) {
    let mut told: Vec<(String, usize)> = Vec::new();
    for promise in REJECTED.take() {
        if let Ok(promise) = JsPromise::from_object(promise.upcast())
            && let PromiseState::Rejected(reason) = promise.state()
        {
            let reason = inspect::text(&reason, context);
            match told.iter_mut().rev().take(MAX_COMPARED).find(|(known, _)| *known == reason) {
                Some((_, times)) => *times += 1,
                None => told.push((reason, 1)),
            }
        }
    }
    for (reason, times) in told {
        let times = if times > 1 { format!(", {times} times") } else { String::new() };
        console::write(console::Level::Error, &format!("unhandled rejection{times}: {reason}"));
    }
}

/// A promise that nobody awaited is no failure, but seldom what the author meant.
fn say_what_was_not_awaited(value: &str, had_timers: bool, context: &mut Context) {
    if value.contains("[object Promise]") {
        let text =
            "the value holds the text \"[object Promise]\": a promise was used as a text; put `await` before its call";
        console::write(console::Level::Warn, text);
    }
    if let Some(text) = globals::warning() {
        console::write(console::Level::Warn, &text);
    }
    if pending::calls() > 0 {
        let running = globals::running(context);
        let text = format!(
            "still running when the script returned, and awaited then: {running}; {}",
            source::async_for_each().unwrap_or_else(|| "to use a result, put `await` before its call".to_owned())
        );
        console::write(console::Level::Warn, &text);
    } else if had_timers {
        let waiting = waits::given_up().into_iter().take(MAX_WAITING);
        let waiting: Vec<String> = waiting.map(|wait| stack::line_of_waiting(&wait)).collect();
        if !waiting.is_empty() {
            let text = format!(
                "dropped when the script returned, while waiting for a timer: {}; to have it done, put `await` before its call",
                waiting.join(", ")
            );
            console::write(console::Level::Warn, &text);
        }
    }
}

/// A program without a value has often forgotten to call its main function.
fn say_what_was_not_called(function: &str) {
    let text = format!(
        "nothing calls the function {function}, and the script has no value: call it in the last line, as in `await {function}()`"
    );
    console::write(console::Level::Warn, &text);
}

struct Hooks;

impl HostHooks for Hooks {
    fn promise_rejection_tracker(&self, promise: &JsObject<Promise>, operation: OperationType, _: &mut Context) {
        REJECTED.with_borrow_mut(|rejected| match operation {
            OperationType::Reject => rejected.push(promise.clone()),
            OperationType::Handle => rejected.retain(|other| other != promise),
        });
    }

    fn progress(&self, context: &Context) {
        place::tell(context);
    }

    fn make_job_callback(&self, callback: JsFunction, context: &mut Context) -> JobCallback {
        waits::record(callback, context)
    }

    fn call_job_callback(
        &self,
        job: &JobCallback,
        this: &JsValue,
        arguments: &[JsValue],
        context: &mut Context,
    ) -> JsResult<JsValue> {
        waits::go_on(job, || job.callback().call(this, arguments, context))
    }

    fn local_timezone_offset_seconds(&self, _: i64) -> i32 {
        0
    }

    /// Asked before each buffer is made. The collector is asked when the buffer is there already,
    /// and two large ones may be one too many.
    fn max_buffer_size(&self, _: &mut Context) -> u64 {
        boa_gc::collect_if_due();
        MAX_BUFFER_BYTES
    }
}

/// The host's clock, read at each question: an instant kept from `init` would be part of the
/// snapshot.
struct HostClock;

impl Clock for HostClock {
    fn now(&self) -> JsInstant {
        let since_epoch = since_epoch();
        JsInstant::new(since_epoch.as_secs(), since_epoch.subsec_nanos())
    }

    fn system_time_millis(&self) -> i64 {
        i64::try_from(since_epoch().as_millis()).unwrap_or(i64::MAX)
    }
}

fn since_epoch() -> std::time::Duration {
    std::time::SystemTime::now().duration_since(std::time::SystemTime::UNIX_EPOCH).unwrap_or_default()
}
