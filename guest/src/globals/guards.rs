//! What the translation asks before a loop or a destructuring, of which the engine would say neither what failed nor where; and
//! whether a loop may count.

use std::cell::RefCell;

use boa_engine::{
    Context, JsError, JsNativeError, JsObject, JsResult, JsSymbol, JsValue, NativeFunction, builtins::promise::Promise,
    object::builtins::JsArray, property::PropertyKey,
};

use super::with_hint;
use crate::{
    builtins::{Walk, is_plain, is_plain_without_holes},
    values::inspect,
};

/// Characters of a value that are shown.
const MAX_SHOWN: usize = 60;

/// The guards, in the order of the parameters that the translation gives them.
type Guards = [JsValue; 5];

thread_local! {
    static GUARDS: RefCell<Guards> = const { RefCell::new([const { JsValue::undefined() }; 5]) };
}

/// Makes the guards, but for what helps with `using`, which is JavaScript. Part of the snapshot.
pub(super) fn install(using: JsValue, context: &mut Context) {
    let mut make =
        |native: super::Native| JsValue::from(super::function("", 2, NativeFunction::from_fn_ptr(native), context));
    GUARDS.set([make(iterable), make(nothing), make(plain), make(take), using]);
}

/// Those guards that the translation's function takes.
pub(crate) fn guards(taken: [bool; 5]) -> Vec<JsValue> {
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
    let text = quoted(arguments);
    if value.is_null_or_undefined() {
        let message = format!("cannot loop over {text}: it is undefined or null");
        return Err(JsNativeError::typ().with_message(message).into());
    }
    let Some(object) = value.as_object() else {
        return Err(JsNativeError::typ()
            .with_message(format!("{text} is not iterable: it is {}", shown(&value, context)))
            .into());
    };
    if object.get(PropertyKey::from(JsSymbol::iterator()), context)?.is_callable() {
        return Ok(value);
    }
    Err(not_iterable(&object, &value, &text, context))
}

/// Whether a list may be gone through by its indices. (value)
fn plain(_: &JsValue, arguments: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    let list = arguments.first().and_then(JsValue::as_object);
    Ok(list.is_some_and(|list| is_plain(&list)).into())
}

/// Gives the first items of what can be looped over, by index. (value, how many, its text in the source)
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

fn not_iterable(object: &JsObject, value: &JsValue, text: &str, context: &mut Context) -> JsError {
    if object.is::<Promise>() {
        let hint = format!("put `await` before it: `await {text}`");
        return with_hint(&format!("{text} is not iterable: it is a promise"), &hint, context);
    }
    let shown = shown(value, context);
    let hint = format!("an object is looped over with `Object.entries({text})`; is the list one of its fields?");
    with_hint(&format!("{text} is not iterable: it is {shown}"), &hint, context)
}

/// Throws, since nothing is there that could be destructured. (its text in the source)
fn nothing(_: &JsValue, arguments: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    let text = quoted(arguments);
    let message = format!("cannot destructure {text}: it is undefined or null");
    Err(JsNativeError::typ().with_message(message).into())
}

/// The expression as its author wrote it: the last argument.
fn quoted(arguments: &[JsValue]) -> String {
    let text = arguments.last().and_then(JsValue::as_string).map(|text| text.to_std_string_lossy());
    text.filter(|text| !text.is_empty()).unwrap_or_else(|| "the value".to_owned())
}

fn shown(value: &JsValue, context: &mut Context) -> String {
    let text = inspect::nested(value, context);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().count() > MAX_SHOWN {
        return text.chars().take(MAX_SHOWN).chain(['…']).collect();
    }
    text
}
