//! What the translation asks: whether a loop may count, and for the first items of a list.

use std::cell::RefCell;

use boa_engine::{
    Context, JsError, JsNativeError, JsResult, JsSymbol, JsValue, NativeFunction, object::builtins::JsArray,
    property::PropertyKey,
};

use belljar_guest_builtins::{Walk, is_plain, is_plain_without_holes, not_iterable as not_iterable_message};
use belljar_guest_engine::{objects, originals};

use crate::held::cannot_loop;

/// The guards, in the order of the parameters that the translation gives them.
type Guards = [JsValue; 4];

thread_local! {
    static GUARDS: RefCell<Guards> = const { RefCell::new([const { JsValue::undefined() }; 4]) };
}

/// Makes the guards, but for what helps with `using`, which is JavaScript. Part of the snapshot.
pub(super) fn install(using: JsValue, context: &mut Context) {
    let mut make =
        |native: objects::Native| JsValue::from(objects::function("", 2, NativeFunction::from_fn_ptr(native), context));
    GUARDS.set([make(iterable), make(plain), make(take), using]);
}

/// Those guards that the translation's function takes.
pub fn guards(taken: [bool; 4]) -> Vec<JsValue> {
    GUARDS.with_borrow(|guards| {
        guards.iter().zip(taken).filter(|(_, is_taken)| *is_taken).map(|(guard, _)| guard.clone()).collect()
    })
}

/// Gives back what can be looped over. (value, its text in the source)
fn iterable(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let value = arguments.first().cloned().unwrap_or_default();
    if value.is_string() || value.as_object().is_some_and(|object| object.is_array()) {
        return Ok(value);
    }
    match originals::get_of(&value, PropertyKey::from(JsSymbol::iterator()), context) {
        Ok(method) if method.is_callable() => Ok(value),
        Err(error) if !value.is_null_or_undefined() => Err(error),
        _ => Err(not_iterable(&value, arguments)),
    }
}

/// Whether a list may be gone through by its indices. (value)
fn plain(_: &JsValue, arguments: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    let list = arguments.first().and_then(JsValue::as_object);
    Ok(list.is_some_and(|list| is_plain(&list)).into())
}

/// Gives the first items of what can be looped over, by index. (value, how many, its text in the
/// source)
fn take(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let [list, count, ..] = arguments else { return iterable(&JsValue::undefined(), arguments, context) };
    if list.as_object().is_some_and(|list| is_plain_without_holes(&list)) {
        return Ok(list.clone());
    }
    iterable(&JsValue::undefined(), arguments, context)?;
    let mut walk = Walk::over(list, context)?;
    let mut taken = Vec::new();
    for _ in 0..count.to_length(context)? {
        match walk.step(context)? {
            Some(item) => taken.push(item),
            // What is not there is not there: the rest is read as undefined.
            None => {
                taken.resize(usize::try_from(count.to_length(context)?).unwrap_or_default(), JsValue::undefined());
                return Ok(JsArray::from_iter(taken, context).into());
            }
        }
    }
    walk.close(context)?;
    Ok(JsArray::from_iter(taken, context).into())
}

/// The error that the engine would throw, had the translation not hidden the expression from it:
/// the last argument.
fn not_iterable(value: &JsValue, arguments: &[JsValue]) -> JsError {
    let text = arguments.last().and_then(JsValue::as_string).map(|text| text.to_std_string_lossy());
    let message = match text.filter(|text| !text.is_empty()) {
        Some(text) => format!("{text} is not iterable"),
        None => not_iterable_message(value),
    };
    cannot_loop(&message, value);
    JsNativeError::typ().with_message(message).into()
}
