//! `setTimeout` and its kin, on the host's time.
//!
//! The host says when one timer's time has come; those that were set before it for no longer a time
//! are due as well, and come first. So timers fire in the order that a script expects, however the
//! host's own timers race.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet, VecDeque},
};

use boa_engine::{
    Context, JsNativeError, JsResult, JsValue, NativeFunction, job::GenericJob, object::builtins::JsFunction,
};

use belljar_guest_engine::{objects, place};

use crate::pending;

/// Timers that may be set at once.
const MAX_TIMERS: usize = 10_000;
/// The longest delay, in milliseconds: what a browser allows.
const MAX_DELAY: f64 = 2_147_483_647.0;

/// Where a timer is among those that wait: by its delay, then by when it was set. The number is its
/// name.
type Place = (u32, u64, u32);

struct Timer {
    callback: JsFunction,
    arguments: Vec<JsValue>,
    milliseconds: u32,
    /// An interval starts again.
    repeats: bool,
    /// When it was set, among the others. An interval is set anew each time.
    turn: u64,
    /// The host's number for it. An interval has another one each time.
    number: u32,
}

#[derive(Default)]
struct Timers {
    set: BTreeMap<u32, Timer>,
    /// Those whose time has not come.
    waiting: BTreeSet<Place>,
    last: u32,
    last_turn: u64,
    /// Those whose time has come, in the order in which they run.
    due: VecDeque<u32>,
}

thread_local! {
    static TIMERS: RefCell<Timers> = RefCell::default();
}

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let functions: [(&str, usize, objects::Native); 7] = [
        ("setTimeout", 2, |_, arguments, context| set("setTimeout", arguments, false, context)),
        ("setInterval", 2, |_, arguments, context| set("setInterval", arguments, true, context)),
        ("setImmediate", 1, set_immediate),
        ("clearTimeout", 1, clear),
        ("clearInterval", 1, clear),
        ("clearImmediate", 1, clear),
        ("queueMicrotask", 1, queue_microtask),
    ];
    for (name, length, native) in functions {
        let function = objects::function(name, length, NativeFunction::from_fn_ptr(native), context);
        objects::define(name, function, context)?;
    }
    Ok(())
}

/// A timer's time has come.
pub fn elapsed(id: u32) {
    let due = TIMERS.with_borrow_mut(|timers| {
        let Some((milliseconds, turn)) = timers.set.get(&id).map(|timer| (timer.milliseconds, timer.turn)) else {
            return Vec::new();
        };
        let shorter = timers.waiting.range(..=(milliseconds, u64::MAX, u32::MAX));
        let due: Vec<Place> = shorter.filter(|(_, set, _)| *set <= turn).copied().collect();
        for place in &due {
            timers.waiting.remove(place);
            timers.due.push_back(place.2);
        }
        due.iter().filter_map(|(_, _, id)| timers.set.get(id)).map(|timer| timer.number).collect()
    });
    // The host has forgotten the one whose time has come.
    due.into_iter().for_each(pending::cancel_timer);
}

/// Runs the next timer that is due, if there is one.
pub fn run_due_timer(context: &mut Context) -> JsResult<bool> {
    let next = TIMERS.with_borrow_mut(|timers| {
        loop {
            let id = timers.due.pop_front()?;
            // One that was cleared meanwhile is none.
            let Some(mut timer) = timers.set.remove(&id) else { continue };
            let run = (timer.callback.clone(), timer.arguments.clone());
            if timer.repeats {
                timers.last_turn += 1;
                timer.turn = timers.last_turn;
                timer.number = pending::begin_timer(id, timer.milliseconds);
                timers.waiting.insert((timer.milliseconds, timer.turn, id));
                timers.set.insert(id, timer);
            }
            return Some(run);
        }
    });
    let Some((callback, arguments)) = next else { return Ok(false) };
    callback.call(&JsValue::undefined(), &arguments, context)?;
    Ok(true)
}

/// Forgets all timers, since the script has its value, and says whether there was one.
pub fn drop_timers() -> bool {
    let set = TIMERS.with_borrow_mut(|timers| {
        timers.due.clear();
        timers.waiting.clear();
        std::mem::take(&mut timers.set)
    });
    let had_some = !set.is_empty();
    set.into_values().for_each(|timer| pending::cancel_timer(timer.number));
    had_some
}

/// Sets a timer: a function, its delay in milliseconds, and the arguments that it is called with.
pub(super) fn set(name: &str, arguments: &[JsValue], repeats: bool, context: &mut Context) -> JsResult<JsValue> {
    let callback = callback(name, arguments)?;
    let delay = match arguments.get(1) {
        Some(delay) => delay.to_number(context)?,
        None => 0.0,
    };
    let least = if repeats { 1.0 } else { 0.0 };
    let milliseconds = if delay.is_nan() { least } else { delay.clamp(least, MAX_DELAY) } as u32;
    place::tell(context);
    let id = TIMERS.with_borrow_mut(|timers| {
        if timers.set.len() >= MAX_TIMERS {
            return None;
        }
        timers.last += 1;
        timers.last_turn += 1;
        let arguments = arguments.get(2..).unwrap_or_default().to_vec();
        let number = pending::begin_timer(timers.last, milliseconds);
        timers.waiting.insert((milliseconds, timers.last_turn, timers.last));
        let timer = Timer { callback, arguments, milliseconds, repeats, turn: timers.last_turn, number };
        timers.set.insert(timers.last, timer);
        Some(timers.last)
    });
    let Some(id) = id else {
        return Err(JsNativeError::range()
            .with_message(format!("{name}: more than {MAX_TIMERS} timers at once"))
            .into());
    };
    Ok(JsValue::from(id))
}

fn set_immediate(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let mut arguments = arguments.to_vec();
    arguments.insert(arguments.len().min(1), JsValue::from(0));
    set("setImmediate", &arguments, false, context)
}

fn clear(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    if let Some(id) = arguments.first().filter(|id| id.is_number()) {
        let id = id.to_u32(context)?;
        let cleared = TIMERS.with_borrow_mut(|timers| {
            let timer = timers.set.remove(&id)?;
            timers.waiting.remove(&(timer.milliseconds, timer.turn, id));
            Some(timer)
        });
        if let Some(timer) = cleared {
            pending::cancel_timer(timer.number);
        }
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
