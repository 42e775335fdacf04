//! What a script finds beside the language: `console`, timers, `tools`, `ToolError`, and one namespace for each child server.
//!
//! [`install`] makes what is the same for every run, before the snapshot; [`bind`] makes what belongs to one run.

mod console;
mod hints;
mod namespace;
mod timers;
mod tools;

use std::cell::RefCell;

use boa_engine::{
    Context, JsNativeError, JsObject, JsResult, JsString, JsValue, NativeFunction, Source, js_string,
    object::{FunctionObjectBuilder, builtins::JsFunction},
    property::{Attribute, PropertyKey},
};

use crate::glass::Program;

pub(crate) use hints::hint_for;
pub(crate) use namespace::{ToolRef, answer};
pub(crate) use timers::elapsed;

/// Built-ins as they were before any script could put its own in their places.
struct Originals {
    object_keys: JsFunction,
    own_descriptor: JsFunction,
    tool_error: JsObject,
    proxy: JsObject,
    namespace_traps: JsObject,
}

thread_local! {
    static ORIGINALS: RefCell<Option<Originals>> = const { RefCell::new(None) };
}

/// Makes the globals that every run has. Part of the snapshot.
pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    context.eval(Source::from_reader(include_str!("prelude.js").as_bytes(), Some("belljar".as_ref())))?;
    let object = context.intrinsics().constructors().object().constructor();
    let function = |name: &str, context: &mut Context| -> JsResult<JsFunction> {
        let value = object.get(JsString::from(name), context)?;
        value.as_function().ok_or_else(|| JsNativeError::typ().with_message("a built-in is missing").into())
    };
    let originals = Originals {
        object_keys: function("keys", context)?,
        own_descriptor: function("getOwnPropertyDescriptor", context)?,
        tool_error: context
            .global_object()
            .get(js_string!("ToolError"), context)?
            .as_object()
            .ok_or_else(|| JsNativeError::typ().with_message("the prelude is incomplete"))?,
        proxy: context.intrinsics().constructors().proxy().constructor(),
        namespace_traps: namespace::traps(context)?,
    };
    ORIGINALS.set(Some(originals));
    console::install(context)?;
    timers::install(context)?;
    tools::install(context)
}

/// Makes the globals of this run.
pub(crate) fn bind(program: &Program, context: &mut Context) -> JsResult<()> {
    namespace::bind(program, context)
}

/// The enumerable own string keys, as `Object.keys` gives them.
pub(crate) fn enumerable_keys(object: &JsObject, context: &mut Context) -> JsResult<Vec<JsString>> {
    let function = original(|originals| originals.object_keys.clone())?;
    let keys = function.call(&JsValue::undefined(), &[object.clone().into()], context)?;
    let Some(keys) = keys.as_object() else { return Ok(Vec::new()) };
    let length = keys.get(js_string!("length"), context)?.to_length(context)?;
    let mut names = Vec::new();
    for index in 0..length {
        if let Some(name) = keys.get(index, context)?.as_string() {
            names.push(name);
        }
    }
    Ok(names)
}

/// An own property's value, unless it is a getter: nothing of the script's is called. (Traps of a proxy are.)
pub(crate) fn own_data_property(
    object: &JsObject,
    key: impl Into<PropertyKey>,
    context: &mut Context,
) -> Option<JsValue> {
    let function = original(|originals| originals.own_descriptor.clone()).ok()?;
    let key: PropertyKey = key.into();
    let arguments = [object.clone().into(), JsValue::from(key)];
    let descriptor = function.call(&JsValue::undefined(), &arguments, context).ok()?.as_object()?;
    if descriptor.has_own_property(js_string!("value"), context).ok()? {
        descriptor.get(js_string!("value"), context).ok()
    } else {
        None
    }
}

/// Whether an error is a `ToolError`, by its prototypes.
pub(crate) fn is_tool_error(error: &JsObject, context: &mut Context) -> bool {
    let Ok(constructor) = original(|originals| originals.tool_error.clone()) else { return false };
    let Ok(prototype) = constructor.get(js_string!("prototype"), context) else { return false };
    let Some(wanted) = prototype.as_object() else { return false };
    let mut next = error.prototype();
    for _ in 0..16 {
        match next {
            Some(prototype) if JsObject::equals(&prototype, &wanted) => return true,
            Some(prototype) => next = prototype.prototype(),
            None => return false,
        }
    }
    false
}

/// A new `ToolError`.
fn tool_error(
    tool: &ToolRef,
    message: &str,
    content: JsValue,
    hint: Option<&str>,
    context: &mut Context,
) -> JsResult<JsValue> {
    let constructor = original(|originals| originals.tool_error.clone())?;
    let hint = hint.map_or_else(JsValue::undefined, |hint| JsString::from(hint).into());
    let arguments = [
        JsString::from(tool.server.as_str()).into(),
        JsString::from(tool.name.as_str()).into(),
        JsString::from(message).into(),
        content,
        hint,
    ];
    Ok(constructor.construct(&arguments, None, context)?.into())
}

fn original<T>(pick: impl FnOnce(&Originals) -> T) -> JsResult<T> {
    ORIGINALS
        .with_borrow(|originals| originals.as_ref().map(pick))
        .ok_or_else(|| JsNativeError::typ().with_message("the interpreter was not initialised").into())
}

/// Makes a function object with a name and a length.
fn function(name: &str, length: usize, native: NativeFunction, context: &mut Context) -> JsFunction {
    FunctionObjectBuilder::new(context.realm(), native).name(JsString::from(name)).length(length).build()
}

/// Defines a global as the language defines its own: writable, configurable, not enumerable.
fn define(name: &str, value: impl Into<JsValue>, context: &mut Context) -> JsResult<()> {
    let attributes = Attribute::WRITABLE | Attribute::CONFIGURABLE | Attribute::NON_ENUMERABLE;
    context.register_global_property(JsString::from(name), value.into(), attributes)
}

/// Sets a property of an object of our own.
fn put(object: &JsObject, name: &str, value: impl Into<JsValue>, context: &mut Context) -> JsResult<()> {
    object.create_data_property_or_throw(JsString::from(name), value.into(), context).map(|_| ())
}
