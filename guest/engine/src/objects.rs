//! Functions and properties of our own.

use boa_engine::{
    Context, JsError, JsNativeError, JsObject, JsResult, JsString, JsValue, NativeFunction,
    object::{FunctionObjectBuilder, builtins::JsFunction},
    property::{Attribute, PropertyDescriptor},
};

/// A function of ours, as the engine calls it.
pub type Native = fn(&JsValue, &[JsValue], &mut Context) -> JsResult<JsValue>;

/// Makes a function object with a name and a length.
pub fn function(name: &str, length: usize, native: NativeFunction, context: &mut Context) -> JsFunction {
    FunctionObjectBuilder::new(context.realm(), native).name(JsString::from(name)).length(length).build()
}

/// Defines a global as the language defines its own: writable, configurable, not enumerable.
pub fn define(name: &str, value: impl Into<JsValue>, context: &mut Context) -> JsResult<()> {
    let attributes = Attribute::WRITABLE | Attribute::CONFIGURABLE | Attribute::NON_ENUMERABLE;
    context.register_global_property(JsString::from(name), value.into(), attributes)
}

/// A TypeError that carries a hint for its author.
pub fn with_hint(message: &str, hint: &str, context: &mut Context) -> JsError {
    let error = JsNativeError::typ().with_message(message.to_owned()).into_opaque(context);
    match put_hidden(&error, "hint", JsString::from(hint), context) {
        Ok(()) => JsError::from_opaque(error.into()),
        Err(error) => error,
    }
}

/// Sets a property of an object of our own that is not listed.
pub fn put_hidden(object: &JsObject, name: &str, value: impl Into<JsValue>, context: &mut Context) -> JsResult<()> {
    let descriptor =
        PropertyDescriptor::builder().value(value.into()).writable(true).enumerable(false).configurable(true).build();
    object.define_property_or_throw(JsString::from(name), descriptor, context).map(|_| ())
}

/// Sets a property of an object of our own.
pub fn put(object: &JsObject, name: &str, value: impl Into<JsValue>, context: &mut Context) -> JsResult<()> {
    object.create_data_property_or_throw(JsString::from(name), value.into(), context).map(|_| ())
}
