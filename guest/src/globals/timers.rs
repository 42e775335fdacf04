//! `setTimeout` and its kin, on the host's time.

use std::{cell::RefCell, collections::BTreeMap};

use boa_engine::{
    Context, JsNativeError, JsResult, JsValue, NativeFunction, job::GenericJob, object::builtins::JsFunction,
};

use crate::{
    glass::belljar::sandbox::timers as glass,
    pending::{self, Awaited, Event},
};

/// Timers that may be set at once.
const MAX_TIMERS: usize = 10_000;
/// The longest delay, in milliseconds: what a browser allows.
const MAX_DELAY: f64 = 2_147_483_647.0;

struct Timer {
    callback: JsFunction,
    arguments: Vec<JsValue>,
    /// The delay of an interval, which starts again.
    every: Option<u32>,
}

#[derive(Default)]
struct Timers {
    set: BTreeMap<u32, Timer>,
    last: u32,
}

thread_local! {
    static TIMERS: RefCell<Timers> = RefCell::default();
}

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let functions: [(&str, usize, fn(&JsValue, &[JsValue], &mut Context) -> JsResult<JsValue>); 5] = [
        ("setTimeout", 2, |_, arguments, context| set("setTimeout", arguments, false, context)),
        ("setInterval", 2, |_, arguments, context| set("setInterval", arguments, true, context)),
        ("clearTimeout", 1, clear),
        ("clearInterval", 1, clear),
        ("queueMicrotask", 1, queue_microtask),
    ];
    for (name, length, native) in functions {
        let function = super::function(name, length, NativeFunction::from_fn_ptr(native), context);
        super::define(name, function, context)?;
    }
    Ok(())
}

/// A timer's time has come.
pub(crate) fn elapsed(id: u32, context: &mut Context) -> JsResult<()> {
    let due = TIMERS.with_borrow_mut(|timers| {
        let timer = timers.set.remove(&id)?;
        let due = (timer.callback.clone(), timer.arguments.clone(), timer.every);
        if timer.every.is_some() {
            timers.set.insert(id, timer);
        }
        Some(due)
    });
    // A timer that was cleared meanwhile is none.
    let Some((callback, arguments, every)) = due else { return Ok(()) };
    if let Some(milliseconds) = every {
        sleep(id, milliseconds);
    }
    callback.call(&JsValue::undefined(), &arguments, context).map(|_| ())
}

fn set(name: &str, arguments: &[JsValue], repeats: bool, context: &mut Context) -> JsResult<JsValue> {
    let callback = callback(name, arguments)?;
    let delay = match arguments.get(1) {
        Some(delay) => delay.to_number(context)?,
        None => 0.0,
    };
    let milliseconds = if delay.is_nan() { 0.0 } else { delay.clamp(0.0, MAX_DELAY) } as u32;
    let id = TIMERS.with_borrow_mut(|timers| {
        if timers.set.len() >= MAX_TIMERS {
            return None;
        }
        timers.last += 1;
        let timer = Timer {
            callback,
            arguments: arguments.get(2..).unwrap_or_default().to_vec(),
            every: repeats.then_some(milliseconds.max(1)),
        };
        timers.set.insert(timers.last, timer);
        Some(timers.last)
    });
    let Some(id) = id else {
        return Err(JsNativeError::range()
            .with_message(format!("{name}: more than {MAX_TIMERS} timers at once"))
            .into());
    };
    sleep(id, if repeats { milliseconds.max(1) } else { milliseconds });
    Ok(JsValue::from(id))
}

fn sleep(id: u32, milliseconds: u32) {
    pending::start(Awaited::Timer(id), async move {
        glass::sleep(milliseconds).await;
        Event::Elapsed { timer: id }
    });
}

fn clear(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    if let Some(id) = arguments.first().filter(|id| id.is_number()) {
        let id = id.to_u32(context)?;
        TIMERS.with_borrow_mut(|timers| timers.set.remove(&id));
        pending::cancel_timer(id);
    }
    Ok(JsValue::undefined())
}

fn queue_microtask(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let callback = callback("queueMicrotask", arguments)?;
    let job =
        GenericJob::new(move |context| callback.call(&JsValue::undefined(), &[], context), context.realm().clone());
    context.enqueue_job(job.into());
    Ok(JsValue::undefined())
}

fn callback(name: &str, arguments: &[JsValue]) -> JsResult<JsFunction> {
    arguments.first().and_then(JsValue::as_function).ok_or_else(|| {
        JsNativeError::typ()
            .with_message(format!("{name} takes a function first, as in {name}(() => {{ … }}, 100)"))
            .into()
    })
}
