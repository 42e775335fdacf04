//! Errors as they are shown: their name, their message, and their stack in positions of the
//! author's source.

use std::cell::Cell;

use boa_engine::{
    Context, JsObject, JsResult, JsString, JsValue, NativeFunction, builtins::error::Error, js_string,
    object::builtins::JsFunction, property::PropertyDescriptor,
};

use crate::{
    objects,
    originals::{self, OwnProperty},
    stack,
};

/// Puts a reader of stacks in the place of the engine's, which knows only translated positions.
pub(super) fn install(setter: JsFunction, context: &mut Context) -> JsResult<()> {
    let error = context.intrinsics().constructors().error().prototype();
    let getter = objects::function("get stack", 0, NativeFunction::from_fn_ptr(read_stack), context);
    let descriptor = PropertyDescriptor::builder().get(getter).set(setter).enumerable(false).configurable(true).build();
    error.define_property_or_throw(js_string!("stack"), descriptor, context).map(|_| ())
}

fn read_stack(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    match this.as_object().filter(JsObject::is::<Error>) {
        Some(error) => Ok(JsString::from(stack_text(&error, context)).into()),
        None => Ok(JsValue::undefined()),
    }
}

thread_local! {
    /// Whether a getter of an error's name or message is being called, which may ask for that
    /// itself.
    static IS_READING: Cell<bool> = const { Cell::new(false) };
}

/// An error's name and message. Of what the script may have put in the way, getters alone are
/// called, as Node does.
pub fn name_and_message(error: &JsObject, context: &mut Context) -> (String, String) {
    let text = |key, context: &mut Context| {
        let mut holder = Some(error.clone());
        // The name stands at the prototype, rarely more than two steps up.
        for _ in 0..8 {
            let object = holder?;
            let value = match originals::own_property(&object, js_string!(key), context) {
                Some(OwnProperty::Value(value)) => Some(value),
                Some(OwnProperty::Accessor { get, .. }) if get && !IS_READING.replace(true) => {
                    let value = error.get(js_string!(key), context);
                    IS_READING.set(false);
                    value.ok()
                }
                Some(OwnProperty::Accessor { .. }) => None,
                None => {
                    holder = object.prototype();
                    continue;
                }
            };
            return value?.as_string().map(|text| text.to_std_string_lossy());
        }
        None
    };
    let name = text("name", context).unwrap_or_else(|| "Error".to_owned());
    (name, text("message", context).unwrap_or_default())
}

pub fn headline(name: &str, message: &str) -> String {
    match (name, message) {
        (name, "") => name.to_owned(),
        ("", message) => message.to_owned(),
        (name, message) => format!("{name}: {message}"),
    }
}

/// An error as it is shown in logs: `TypeError: message`, and the calls that led there.
pub fn stack_text(error: &JsObject, context: &mut Context) -> String {
    let (name, message) = name_and_message(error, context);
    stack::with_headline(&headline(&name, &message), &originals::raw_stack(error, context))
}
