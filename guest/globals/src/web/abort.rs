//! `AbortController` and `AbortSignal`.

use boa_engine::{
    Context, JsData, JsNativeError, JsObject, JsResult, JsValue, NativeFunction,
    class::{Class, ClassBuilder},
    js_string,
    object::FunctionObjectBuilder,
};
use boa_gc::{Finalize, Trace};

use belljar_guest_engine::objects::put;
use belljar_guest_values::inspect;

use super::{accessor, exception, items, methods, required, text, with};
use crate::timers;

/// Listeners that one signal may have.
const MAX_LISTENERS: usize = 10_000;

/// Says that what is under way is no longer wanted.
#[derive(Debug, Default, Trace, Finalize, JsData)]
pub(super) struct AbortSignal {
    /// Why, once it is.
    reason: Option<JsValue>,
    /// Functions, or objects with a `handleEvent`. Each is called once at most.
    listeners: Vec<JsObject>,
    /// Signals that are aborted with this one (`AbortSignal.any`).
    dependents: Vec<JsObject>,
}

impl Class for AbortSignal {
    const NAME: &'static str = "AbortSignal";

    fn data_constructor(_: &JsValue, _: &[JsValue], _: &mut Context) -> JsResult<Self> {
        let message = "AbortSignal is made by new AbortController().signal, or AbortSignal.timeout(milliseconds)";
        Err(JsNativeError::typ().with_message(message).into())
    }

    fn init(class: &mut ClassBuilder<'_>) -> JsResult<()> {
        methods(
            class,
            Self::NAME,
            &[
                ("throwIfAborted", 0, throw_if_aborted),
                ("addEventListener", 2, add_event_listener),
                ("removeEventListener", 2, remove_event_listener),
            ],
        );
        accessor(class, "aborted", |this, _, _| Ok(JsValue::from(reason(this)?.is_some())), None);
        accessor(class, "reason", |this, _, _| Ok(reason(this)?.unwrap_or_default()), None);
        class.static_method(js_string!("abort"), 0, NativeFunction::from_fn_ptr(aborted));
        class.static_method(js_string!("timeout"), 1, NativeFunction::from_fn_ptr(timeout));
        class.static_method(js_string!("any"), 1, NativeFunction::from_fn_ptr(any));
        Ok(())
    }
}

/// Has a signal, and aborts it.
#[derive(Debug, Trace, Finalize, JsData)]
pub(super) struct AbortController {
    signal: JsObject,
}

impl Class for AbortController {
    const NAME: &'static str = "AbortController";

    fn data_constructor(_: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<Self> {
        Ok(Self { signal: AbortSignal::from_data(AbortSignal::default(), context)? })
    }

    fn init(class: &mut ClassBuilder<'_>) -> JsResult<()> {
        methods(class, Self::NAME, &[("abort", 0, abort)]);
        accessor(class, "signal", |this, _, _| Ok(signal(this)?.into()), None);
        Ok(())
    }
}

fn signal(controller: &JsValue) -> JsResult<JsObject> {
    with(controller, AbortController::NAME, |controller: &mut AbortController| controller.signal.clone())
}

fn reason(signal: &JsValue) -> JsResult<Option<JsValue>> {
    with(signal, AbortSignal::NAME, |signal: &mut AbortSignal| signal.reason.clone())
}

fn abort(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let reason = given_reason(arguments, context)?;
    trigger(&signal(this)?, &reason, context)?;
    Ok(JsValue::undefined())
}

fn given_reason(arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    match arguments.first().filter(|reason| !reason.is_undefined()) {
        Some(reason) => Ok(reason.clone()),
        None => exception::object("AbortError", "This operation was aborted", context),
    }
}

/// Aborts a signal and those that depend on it, and tells their listeners. A second time changes
/// nothing.
fn trigger(signal: &JsObject, reason: &JsValue, context: &mut Context) -> JsResult<()> {
    let mut aborted = Vec::new();
    let mut waiting = vec![signal.clone()];
    while let Some(signal) = waiting.pop() {
        let listeners = with(&signal.clone().into(), AbortSignal::NAME, |data: &mut AbortSignal| {
            if data.reason.is_some() {
                return None;
            }
            data.reason = Some(reason.clone());
            waiting.append(&mut data.dependents);
            Some(std::mem::take(&mut data.listeners))
        })?;
        aborted.extend(listeners.map(|listeners| (signal, listeners)));
    }
    for (signal, listeners) in aborted {
        let event = JsObject::with_object_proto(context.intrinsics());
        put(&event, "type", text("abort"), context)?;
        put(&event, "target", signal.clone(), context)?;
        let property = signal.get(js_string!("onabort"), context)?.as_object();
        for listener in property.into_iter().chain(listeners) {
            tell(&signal, &listener, &event, context);
        }
    }
    Ok(())
}

/// Calls a listener. What it throws is logged, since nobody could catch it.
fn tell(signal: &JsObject, listener: &JsObject, event: &JsObject, context: &mut Context) {
    let arguments = [event.clone().into()];
    let told = if listener.is_callable() {
        listener.call(&signal.clone().into(), &arguments, context).map(|_| ())
    } else {
        listener.get(js_string!("handleEvent"), context).and_then(|handler| match handler.as_callable() {
            Some(handler) => handler.call(&listener.clone().into(), &arguments, context).map(|_| ()),
            None => Ok(()),
        })
    };
    if let Err(error) = told
        && let Ok(thrown) = error.into_opaque(context)
    {
        let thrown = inspect::text(&thrown, context);
        super::super::console::report(&format!("a listener of an AbortSignal threw: {thrown}"));
    }
}

fn throw_if_aborted(this: &JsValue, _: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    match reason(this)? {
        Some(reason) => Err(boa_engine::JsError::from_opaque(reason)),
        None => Ok(JsValue::undefined()),
    }
}

/// The listener for `abort` among these arguments, if it is one.
fn listener(arguments: &[JsValue], function: &str, context: &mut Context) -> JsResult<Option<JsObject>> {
    let callback = required(arguments, 1, function)?.as_object();
    let is_abort = arguments[0].to_string(context)? == js_string!("abort");
    Ok(callback.filter(|_| is_abort))
}

fn add_event_listener(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let Some(listener) = listener(arguments, "AbortSignal.addEventListener", context)? else {
        return Ok(JsValue::undefined());
    };
    let has_room = with(this, AbortSignal::NAME, |signal: &mut AbortSignal| {
        let is_known = signal.listeners.iter().any(|other| JsObject::equals(other, &listener));
        let has_room = signal.listeners.len() < MAX_LISTENERS;
        if signal.reason.is_none() && !is_known && has_room {
            signal.listeners.push(listener);
        }
        has_room
    })?;
    if has_room {
        return Ok(JsValue::undefined());
    }
    let message = format!("AbortSignal: more than {MAX_LISTENERS} listeners");
    Err(JsNativeError::range().with_message(message).into())
}

fn remove_event_listener(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    if let Some(listener) = listener(arguments, "AbortSignal.removeEventListener", context)? {
        with(this, AbortSignal::NAME, |signal: &mut AbortSignal| {
            signal.listeners.retain(|other| !JsObject::equals(other, &listener));
        })?;
    }
    Ok(JsValue::undefined())
}

fn aborted(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let reason = given_reason(arguments, context)?;
    Ok(AbortSignal::from_data(
        AbortSignal { reason: Some(reason), listeners: Vec::new(), dependents: Vec::new() },
        context,
    )?
    .into())
}

fn timeout(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let delay = required(arguments, 0, "AbortSignal.timeout")?.clone();
    let signal = AbortSignal::from_data(AbortSignal::default(), context)?;
    let elapse = NativeFunction::from_copy_closure_with_captures(
        |_, _, signal: &JsObject, context| {
            let reason = exception::object("TimeoutError", "The operation was aborted due to timeout", context)?;
            trigger(signal, &reason, context)?;
            Ok(JsValue::undefined())
        },
        signal.clone(),
    );
    let elapse = FunctionObjectBuilder::new(context.realm(), elapse).build();
    timers::set("AbortSignal.timeout", &[elapse.into(), delay], false, context)?;
    Ok(signal.into())
}

fn any(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let signals = items(required(arguments, 0, "AbortSignal.any")?, context)?;
    for signal in &signals {
        if let Some(reason) = reason(signal)? {
            return aborted(&JsValue::undefined(), &[reason], context);
        }
    }
    let any = AbortSignal::from_data(AbortSignal::default(), context)?;
    for signal in &signals {
        with(signal, AbortSignal::NAME, |signal: &mut AbortSignal| signal.dependents.push(any.clone()))?;
    }
    Ok(any.into())
}
