//! Built-ins of the language that are here in the place of the engine's own, because those are slow
//! on large inputs or can panic.
//!
//! Each follows the specification as closely as the one that it replaces: the same results, the
//! same errors, the same order of what a script can observe.

mod array;
mod collections;
mod iteration;
mod json;
mod regexp;
mod sort;
mod string;

use boa_engine::{
    Context, JsNativeError, JsObject, JsResult, JsString, JsValue, NativeFunction,
    native_function::NativeFunctionObject,
    object::{FunctionObjectBuilder, builtins::JsFunction},
    property::PropertyDescriptor,
};

use belljar_guest_engine::objects;

pub use json::{refused_text, report_rounded};

/// Without it, cargo was not told of the patched engine, and what follows would be made with one
/// that lacks the patches.
const _: &str = env!(
    "BELLJAR_GUEST_PATCHES",
    "the engine lacks its patches: `scripts/guest` is cargo for the guest (CONTRIBUTING.md)"
);

/// Puts them in place. Part of the snapshot.
pub fn install(context: &mut Context) -> JsResult<()> {
    iteration::install(context)?;
    json::install(context)?;
    collections::install(context)?;
    array::install(context)?;
    sort::install(context)?;
    string::install(context)?;
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
    let function = objects::function(name, length, native, context);
    put_method(object, name, function, context)
}

/// Lets a function of the engine's do something else: it stays the same object, with all its
/// properties.
fn supplant(function: &JsObject, native: NativeFunction, context: &Context) -> JsResult<()> {
    supplant_with(function, |_| native, context)
}

/// The same, for what needs a function that does what the engine's did.
fn supplant_with(
    function: &JsObject,
    native: impl FnOnce(JsFunction) -> NativeFunction,
    context: &Context,
) -> JsResult<()> {
    let name = function.borrow().properties().get(&JsString::from("name").into());
    let name = name.and_then(|name| name.value().and_then(JsValue::as_string)).ok_or_else(missing)?;
    let is_constructor = function.is_constructor();
    let make = |native| {
        FunctionObjectBuilder::new(context.realm(), native).name(name.clone()).constructor(is_constructor).build()
    };
    let engines = make(NativeFunction::from_fn_ptr(|_, _, _| Ok(JsValue::undefined())));
    exchange(function, &engines)?;
    exchange(function, &make(native(engines)))
}

/// What either function does, the other does then.
fn exchange(one: &JsObject, other: &JsObject) -> JsResult<()> {
    let mut one = one.downcast_mut::<NativeFunctionObject>().ok_or_else(missing)?;
    let mut other = other.downcast_mut::<NativeFunctionObject>().ok_or_else(missing)?;
    std::mem::swap(&mut *one, &mut *other);
    Ok(())
}

fn missing() -> JsNativeError {
    JsNativeError::typ().with_message("the engine lacks a built-in")
}

/// Defines a method as the language defines its own.
fn put_method(object: &JsObject, name: &str, function: impl Into<JsValue>, context: &mut Context) -> JsResult<()> {
    let descriptor =
        PropertyDescriptor::builder().value(function).writable(true).enumerable(false).configurable(true).build();
    object.define_property_or_throw(JsString::from(name), descriptor, context).map(|_| ())
}
