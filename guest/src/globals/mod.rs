//! What a script finds beside the language: `console`, timers, `tools`, `ToolError`, `PolicyError`,
//! and one namespace for each child server.
//!
//! [`install`] makes what is the same for every run, before the snapshot; [`bind`] makes what belongs to one run.

mod absent;
mod advice;
mod call;
mod console;
mod guards;
mod held;
mod hints;
mod intl;
mod misuse;
mod namespace;
mod originals;
mod parse;
mod results;
mod shape;
mod timers;
mod tool_error;
mod tools;
mod unread;
mod unseen;
mod web;

use boa_engine::{
    Context, JsError, JsNativeError, JsObject, JsResult, JsString, JsValue, NativeFunction, Source, js_string,
    object::{FunctionObjectBuilder, builtins::JsFunction},
    property::{Attribute, PropertyDescriptor},
};

use crate::{builtins, glass::Program};

pub(crate) use call::{Call, answer, running};
pub(crate) use guards::guards;
pub(crate) use hints::{argument_hint, hint_for, warning};
pub(crate) use namespace::{
    Unknown, missing_of, namespace_name, number_of_global, number_of_server, texts_of_no_server, unknown_tool,
};
pub(crate) use originals::{
    OwnProperty, enumerable_keys, get_of, is_array, is_array_or_revoked, is_class, is_enumerable, is_raw_json,
    own_data_property, own_property, raw_stack, source_text,
};
pub(crate) use timers::{drop_timers, elapsed, run_due_timer};
use tool_error::{CallSite, tool_error};
pub(crate) use tool_error::{here, is_policy_error, is_tool_error};
pub(crate) use unread::{not_json, report_rounded, rounded};
pub(crate) use unseen::warning as warning_of_reads;
pub(crate) use web::{SearchParams, UrlObject, start_of_run};

/// Makes the globals that every run has. Part of the snapshot.
pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    originals::keep(context)?;
    builtins::install(context)?;
    let prelude = context.eval(Source::from_reader(include_str!("prelude.js").as_bytes(), Some("belljar".as_ref())))?;
    tool_error::install(context)?;
    console::install(context)?;
    timers::install(context)?;
    tools::install(context)?;
    namespace::install(&prelude, context)?;
    web::install(context)?;
    intl::install(context)?;
    guards::install(prelude, context);
    // Boa's own, which no other engine has as a global.
    context.global_object().delete_property_or_throw(js_string!("TypedArray"), context)?;
    Ok(())
}

/// What [`install`] begins with, for contexts that have nothing else of ours.
#[cfg(any(test, fuzzing))]
pub(crate) fn keep_originals(context: &mut Context) -> JsResult<()> {
    originals::keep(context)
}

/// Makes the globals of this run.
pub(crate) fn bind(program: &Program, context: &mut Context) -> JsResult<()> {
    namespace::bind(program, context)
}

/// A function of ours, as the engine calls it.
pub(crate) type Native = fn(&JsValue, &[JsValue], &mut Context) -> JsResult<JsValue>;

/// Makes a function object with a name and a length.
pub(crate) fn function(name: &str, length: usize, native: NativeFunction, context: &mut Context) -> JsFunction {
    FunctionObjectBuilder::new(context.realm(), native).name(JsString::from(name)).length(length).build()
}

/// Defines a global as the language defines its own: writable, configurable, not enumerable.
pub(crate) fn define(name: &str, value: impl Into<JsValue>, context: &mut Context) -> JsResult<()> {
    let attributes = Attribute::WRITABLE | Attribute::CONFIGURABLE | Attribute::NON_ENUMERABLE;
    context.register_global_property(JsString::from(name), value.into(), attributes)
}

/// A TypeError that carries a hint for its author.
pub(crate) fn with_hint(message: &str, hint: &str, context: &mut Context) -> JsError {
    let error = JsNativeError::typ().with_message(message.to_owned()).into_opaque(context);
    match put_hidden(&error, "hint", JsString::from(hint), context) {
        Ok(()) => JsError::from_opaque(error.into()),
        Err(error) => error,
    }
}

/// Sets a property of an object of our own that is not listed.
pub(crate) fn put_hidden(
    object: &JsObject,
    name: &str,
    value: impl Into<JsValue>,
    context: &mut Context,
) -> JsResult<()> {
    let descriptor =
        PropertyDescriptor::builder().value(value.into()).writable(true).enumerable(false).configurable(true).build();
    object.define_property_or_throw(JsString::from(name), descriptor, context).map(|_| ())
}

/// Sets a property of an object of our own.
pub(crate) fn put(object: &JsObject, name: &str, value: impl Into<JsValue>, context: &mut Context) -> JsResult<()> {
    object.create_data_property_or_throw(JsString::from(name), value.into(), context).map(|_| ())
}
