//! Built-ins of the language that are here in the place of the engine's own, because those are slow on large inputs or can panic.
//!
//! Each follows the specification as closely as the one that it replaces: the same results, the same errors, the same order of
//! what a script can observe.

mod json;
mod regexp;
mod sort;
mod text;

use boa_engine::{Context, JsObject, JsResult, JsString, JsValue, NativeFunction, property::PropertyDescriptor};

/// Puts them in place. Part of the snapshot.
pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    json::install(context)?;
    sort::install(context)?;
    text::install(context)?;
    regexp::install(context)
}

/// Puts a method of ours in the place of the engine's.
fn replace(
    object: &JsObject,
    name: &str,
    length: usize,
    native: NativeFunction,
    context: &mut Context,
) -> JsResult<()> {
    let function = crate::globals::function(name, length, native, context);
    put_method(object, name, function, context)
}

/// Defines a method as the language defines its own.
fn put_method(object: &JsObject, name: &str, function: impl Into<JsValue>, context: &mut Context) -> JsResult<()> {
    let descriptor =
        PropertyDescriptor::builder().value(function).writable(true).enumerable(false).configurable(true).build();
    object.define_property_or_throw(JsString::from(name), descriptor, context).map(|_| ())
}
