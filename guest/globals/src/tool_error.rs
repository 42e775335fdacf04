//! `ToolError` and `PolicyError`: what a call of a tool is rejected with.

use std::cell::RefCell;

use boa_engine::{
    Context, JsError, JsNativeError, JsNativeErrorKind, JsObject, JsResult, JsString, JsValue, js_string,
};

use belljar_guest_engine::{
    call_site::CallSite,
    objects::{put, put_hidden},
    originals::own_data_property,
};
use belljar_guest_values::decode;

use super::servers::ToolRef;

thread_local! {
    static PROTOTYPE: RefCell<Option<JsObject>> = const { RefCell::new(None) };
    static POLICY_PROTOTYPE: RefCell<Option<JsObject>> = const { RefCell::new(None) };
}

/// Keeps the prototypes of the classes that `prelude.js` has made. Part of the snapshot.
pub(super) fn install(context: &mut Context) -> JsResult<()> {
    PROTOTYPE.set(prototype_of(js_string!("ToolError"), context)?);
    POLICY_PROTOTYPE.set(prototype_of(js_string!("PolicyError"), context)?);
    Ok(())
}

fn prototype_of(class: JsString, context: &mut Context) -> JsResult<Option<JsObject>> {
    match context.global_object().get(class, context)?.as_object() {
        Some(class) => Ok(class.get(js_string!("prototype"), context)?.as_object()),
        None => Ok(None),
    }
}

/// A new `ToolError`. Made without calling anything that a script could have replaced.
pub(super) fn tool_error(
    site: CallSite,
    tool: &ToolRef,
    message: &str,
    content: JsValue,
    hint: Option<&str>,
    context: &mut Context,
) -> JsResult<JsError> {
    let error = site.into_error();
    error.set_prototype(PROTOTYPE.with_borrow(Clone::clone));
    put_hidden(&error, "message", JsString::from(message), context)?;
    put(&error, "server", JsString::from(tool.server.as_str()), context)?;
    put(&error, "tool", JsString::from(tool.name.as_str()), context)?;
    if !content.is_undefined() {
        put_hidden(&error, "content", content, context)?;
    }
    if let Some(hint) = hint {
        put_hidden(&error, "hint", JsString::from(hint), context)?;
    }
    Ok(JsError::from_opaque(error.into()))
}

/// The error of a host's function, under the name that the host has given it: of a class of the
/// language, or else an `Error` of this name.
pub(super) fn named(
    site: CallSite,
    name: &str,
    message: &str,
    hint: Option<&str>,
    context: &mut Context,
) -> JsResult<JsError> {
    let error = site.into_error();
    let constructors = context.intrinsics().constructors();
    let class = match name {
        "ToolError" => PROTOTYPE.with_borrow(Clone::clone),
        "EvalError" => Some(constructors.eval_error().prototype()),
        "RangeError" => Some(constructors.range_error().prototype()),
        "ReferenceError" => Some(constructors.reference_error().prototype()),
        "SyntaxError" => Some(constructors.syntax_error().prototype()),
        "TypeError" => Some(constructors.type_error().prototype()),
        "URIError" => Some(constructors.uri_error().prototype()),
        _ => None,
    };
    let is_known = class.is_some() || name == "Error";
    if class.is_some() {
        error.set_prototype(class);
    }
    if !is_known {
        put_hidden(&error, "name", JsString::from(name), context)?;
    }
    put_hidden(&error, "message", JsString::from(message), context)?;
    if let Some(hint) = hint {
        put_hidden(&error, "hint", JsString::from(hint), context)?;
    }
    Ok(JsError::from_opaque(error.into()))
}

/// A new `PolicyError`: the rules of belljar's owner do not allow the call. `denied` is what they
/// say, as JSON.
pub(super) fn policy_error(
    site: CallSite,
    tool: &ToolRef,
    message: &str,
    denied: &str,
    context: &mut Context,
) -> JsResult<JsError> {
    let error = site.into_error();
    error.set_prototype(POLICY_PROTOTYPE.with_borrow(Clone::clone));
    put_hidden(&error, "message", JsString::from(message), context)?;
    put(&error, "server", JsString::from(tool.server.as_str()), context)?;
    put(&error, "tool", JsString::from(tool.name.as_str()), context)?;
    if let Some(said) = decode::decode(denied, context)?.value.as_object() {
        for name in ["verdict", "rule", "why"] {
            let value = own_data_property(&said, JsString::from(name), context);
            if let Some(text) = value.and_then(|value| value.as_string()) {
                put(&error, name, text, context)?;
            }
        }
    }
    Ok(JsError::from_opaque(error.into()))
}

/// A `TypeError` at the place of a call that was never made: its arguments are not what the tool
/// asks for.
pub(super) fn refused(site: CallSite, message: &str, hint: Option<&str>, context: &mut Context) -> JsResult<JsError> {
    let prototype = context.intrinsics().constructors().type_error().prototype();
    let error = failed(site, message, hint, context)?;
    if let Some(object) = error.as_opaque().and_then(JsValue::as_object) {
        object.set_prototype(Some(prototype));
    }
    Ok(error)
}

/// An `Error` at the place of what was asked of the host, and failed.
pub(super) fn failed(site: CallSite, message: &str, hint: Option<&str>, context: &mut Context) -> JsResult<JsError> {
    let error = site.into_error();
    put_hidden(&error, "message", JsString::from(message), context)?;
    if let Some(hint) = hint {
        put_hidden(&error, "hint", JsString::from(hint), context)?;
    }
    Ok(JsError::from_opaque(error.into()))
}

/// An error of the engine's own as a value that has the stack of now: a rejection gives it none.
pub(super) fn located(error: JsError, context: &mut Context) -> JsResult<JsValue> {
    let constructors = context.intrinsics().constructors();
    let constructor = match error.as_native().map(JsNativeError::kind) {
        Some(JsNativeErrorKind::Type) => constructors.type_error().constructor(),
        Some(JsNativeErrorKind::Range) => constructors.range_error().constructor(),
        _ => return error.into_opaque(context),
    };
    let message = error.as_native().map(JsNativeError::message).unwrap_or_default();
    Ok(constructor.construct(&[JsString::from(message).into()], None, context)?.into())
}

/// Whether an error is a `ToolError`, by its prototypes.
pub fn is_tool_error(error: &JsObject) -> bool {
    has_prototype(error, PROTOTYPE.with_borrow(Clone::clone))
}

/// Whether an error is a `PolicyError`, by its prototypes.
pub fn is_policy_error(error: &JsObject) -> bool {
    has_prototype(error, POLICY_PROTOTYPE.with_borrow(Clone::clone))
}

fn has_prototype(error: &JsObject, wanted: Option<JsObject>) -> bool {
    let Some(wanted) = wanted else { return false };
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
