//! Built-ins as they were before any script could put its own in their places, and what belljar
//! asks of objects with their help.

use std::cell::RefCell;

use boa_engine::{
    Context, JsNativeError, JsObject, JsResult, JsString, JsValue, builtins::function::OrdinaryFunction, js_string,
    object::builtins::JsFunction, property::PropertyKey,
};

struct Originals {
    object_keys: JsFunction,
    own_descriptor: JsFunction,
    is_array: JsFunction,
    is_raw_json: JsFunction,
    source_text: JsFunction,
    stack: JsFunction,
    reflect_get: JsFunction,
}

thread_local! {
    static ORIGINALS: RefCell<Option<Originals>> = const { RefCell::new(None) };
}

/// Keeps the originals, and gives what sets the stack of an error.
pub(super) fn keep(context: &mut Context) -> JsResult<JsFunction> {
    let constructors = context.intrinsics().constructors();
    let (object, array, error) = (constructors.object(), constructors.array(), constructors.error());
    let (object, array, error) = (object.constructor(), array.constructor(), error.prototype());
    let function = constructors.function().prototype();
    let json = context.global_object().get(js_string!("JSON"), context)?.as_object().ok_or_else(missing)?;
    let reflect = context.global_object().get(js_string!("Reflect"), context)?.as_object().ok_or_else(missing)?;
    let own_descriptor = method(&object, "getOwnPropertyDescriptor", context)?;

    let accessor = own_descriptor
        .call(&JsValue::undefined(), &[error.into(), js_string!("stack").into()], context)?
        .as_object()
        .ok_or_else(missing)?;
    let stack = method(&accessor, "get", context)?;
    let setter = method(&accessor, "set", context)?;

    let originals = Originals {
        object_keys: method(&object, "keys", context)?,
        is_array: method(&array, "isArray", context)?,
        is_raw_json: method(&json, "isRawJSON", context)?,
        source_text: method(&function, "toString", context)?,
        reflect_get: method(&reflect, "get", context)?,
        own_descriptor,
        stack,
    };
    ORIGINALS.set(Some(originals));
    Ok(setter)
}

fn method(object: &JsObject, name: &str, context: &mut Context) -> JsResult<JsFunction> {
    object.get(JsString::from(name), context)?.as_function().ok_or_else(missing)
}

fn missing() -> boa_engine::JsError {
    JsNativeError::typ().with_message("a built-in is missing").into()
}

fn original(pick: impl FnOnce(&Originals) -> JsFunction) -> JsResult<JsFunction> {
    ORIGINALS.with_borrow(|originals| originals.as_ref().map(pick)).ok_or_else(missing)
}

/// The enumerable own string keys, as `Object.keys` gives them.
pub fn enumerable_keys(object: &JsObject, context: &mut Context) -> JsResult<Vec<JsString>> {
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

/// The text of a function, as it was parsed.
pub fn source_text(function: &JsObject, context: &mut Context) -> Option<JsString> {
    let source_text = original(|originals| originals.source_text.clone()).ok()?;
    source_text.call(&function.clone().into(), &[], context).ok()?.as_string()
}

/// What an own property is.
pub enum OwnProperty {
    Value(JsValue),
    Accessor { get: bool, set: bool },
}

/// An own property, whose getter is not called. (Traps of a proxy are.)
pub fn own_property(object: &JsObject, key: impl Into<PropertyKey>, context: &mut Context) -> Option<OwnProperty> {
    let descriptor = descriptor(object, key.into(), context)?;
    if descriptor.has_own_property(js_string!("value"), context).ok()? {
        return descriptor.get(js_string!("value"), context).ok().map(OwnProperty::Value);
    }
    let mut has = |name: JsString| descriptor.get(name, context).is_ok_and(|function| !function.is_undefined());
    Some(OwnProperty::Accessor { get: has(js_string!("get")), set: has(js_string!("set")) })
}

/// An own property's value, unless it is a getter: nothing of the script's is called.
pub fn own_data_property(object: &JsObject, key: impl Into<PropertyKey>, context: &mut Context) -> Option<JsValue> {
    match own_property(object, key, context)? {
        OwnProperty::Value(value) => Some(value),
        OwnProperty::Accessor { .. } => None,
    }
}

/// Whether an own property is one that is listed.
pub fn is_enumerable(object: &JsObject, key: PropertyKey, context: &mut Context) -> bool {
    descriptor(object, key, context)
        .and_then(|descriptor| descriptor.get(js_string!("enumerable"), context).ok())
        .is_some_and(|enumerable| enumerable.to_boolean())
}

fn descriptor(object: &JsObject, key: PropertyKey, context: &mut Context) -> Option<JsObject> {
    let function = original(|originals| originals.own_descriptor.clone()).ok()?;
    let arguments = [object.clone().into(), JsValue::from(key)];
    function.call(&JsValue::undefined(), &arguments, context).ok()?.as_object()
}

/// Whether an object is an array, or a proxy of one.
pub fn is_array(object: &JsObject, context: &mut Context) -> bool {
    is_array_or_revoked(object, context).unwrap_or(false)
}

/// Whether an object is an array, or a proxy of one; an error if it is a proxy that was revoked.
pub fn is_array_or_revoked(object: &JsObject, context: &mut Context) -> JsResult<bool> {
    let is_array = original(|originals| originals.is_array.clone())?;
    is_array.call(&JsValue::undefined(), &[object.clone().into()], context).map(|is_array| is_array.to_boolean())
}

/// A property of any value, whose getter sees that value, and not the object that stands for it:
/// the specification's GetV.
pub fn get_of(value: &JsValue, key: PropertyKey, context: &mut Context) -> JsResult<JsValue> {
    if let Some(object) = value.as_object() {
        return object.get(key, context);
    }
    let object = value.to_object(context)?;
    let get = original(|originals| originals.reflect_get.clone())?;
    get.call(&JsValue::undefined(), &[object.into(), JsValue::from(key), value.clone()], context)
}

/// Whether an object was made by `JSON.rawJSON`.
pub fn is_raw_json(object: &JsObject, context: &mut Context) -> bool {
    original(|originals| originals.is_raw_json.clone())
        .and_then(|is_raw| is_raw.call(&JsValue::undefined(), &[object.clone().into()], context))
        .is_ok_and(|is_raw| is_raw.to_boolean())
}

/// Whether a function is a class of the script's.
pub fn is_class(function: &JsObject, context: &mut Context) -> bool {
    // The prototype of a class cannot be replaced; that of a function can.
    function.is::<OrdinaryFunction>()
        && descriptor(function, js_string!("prototype").into(), context)
            .and_then(|descriptor| descriptor.get(js_string!("writable"), context).ok())
            .is_some_and(|writable| !writable.to_boolean())
}

/// The call stack of an error as the engine writes it, in positions of the translated code.
pub fn raw_stack(error: &JsObject, context: &mut Context) -> String {
    original(|originals| originals.stack.clone())
        .and_then(|stack| stack.call(&error.clone().into(), &[], context))
        .ok()
        .and_then(|stack| stack.as_string())
        .map_or_else(String::new, |stack| stack.to_std_string_lossy())
}
