//! Objects that are more than their members.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use boa_engine::{
    Context, JsBigInt, JsObject, JsResult, JsString, JsValue,
    builtins::{error::Error, promise::Promise, typed_array::TypedArrayKind},
    js_string,
    object::builtins::{JsArray, JsArrayBuffer, JsDataView, JsProxy, JsTypedArray},
};

use belljar_guest_engine::{
    collections::{Map, Set},
    errors, originals,
};

use super::extended;

pub(super) const BIG_INTEGER: &str = "is a BigInt, which JSON cannot hold: convert it with String(x)";
pub(super) const PROMISE: &str = "is a promise that was not awaited: use await, or await Promise.all([…])";

/// What is written for an object in the place of its members.
pub(super) enum Special {
    /// Its members.
    None,
    Primitive(JsValue),
    /// A text that is JSON already.
    Text(String),
    Values(Vec<JsValue>),
    Pairs(Vec<(JsString, JsValue)>),
    Fault(&'static str),
}

/// What is written for an object, when it crosses the glass or in `JSON.stringify`.
pub(super) fn of(object: &JsObject, crosses: bool, is_extended: bool, context: &mut Context) -> JsResult<Special> {
    if object.is::<JsBigInt>() {
        return Ok(Special::Fault(BIG_INTEGER));
    }
    if !crosses {
        return standard(object, context);
    }
    if let Some(primitive) = boxed_primitive(object) {
        return Ok(Special::Primitive(primitive));
    }
    if let Some(entries) = Map::entries_of(object) {
        return Ok(of_map(entries, context));
    }
    if let Some(members) = Set::members_of(object) {
        return Ok(Special::Values(members));
    }
    if object.is::<Promise>() {
        return Ok(Special::Fault(PROMISE));
    }
    if object.is::<Error>() {
        return of_error(object, context);
    }
    if let Some(bytes) = bytes(object, is_extended, context)? {
        return Ok(bytes);
    }
    raw(object, context)
}

fn standard(object: &JsObject, context: &mut Context) -> JsResult<Special> {
    if object.is::<f64>() {
        return JsValue::from(object.clone()).to_number(context).map(|number| Special::Primitive(number.into()));
    }
    if object.is::<JsString>() {
        return JsValue::from(object.clone()).to_string(context).map(|text| Special::Primitive(text.into()));
    }
    if let Some(boolean) = object.downcast_ref::<bool>() {
        return Ok(Special::Primitive(JsValue::from(*boolean)));
    }
    raw(object, context)
}

/// What `JSON.rawJSON` has made is written as it is.
fn raw(object: &JsObject, context: &mut Context) -> JsResult<Special> {
    if object.is_ordinary() || !originals::is_raw_json(object, context) {
        return Ok(Special::None);
    }
    let text = object.get(js_string!("rawJSON"), context)?.to_string(context)?;
    Ok(Special::Text(text.to_std_string_lossy()))
}

fn of_map(entries: Vec<(JsValue, JsValue)>, context: &mut Context) -> Special {
    let names: Option<Vec<JsString>> = entries.iter().map(|(key, _)| key.as_string()).collect();
    match names {
        Some(names) => Special::Pairs(names.into_iter().zip(entries.into_iter().map(|(_, value)| value)).collect()),
        None => Special::Values(
            entries.into_iter().map(|(key, value)| JsArray::from_iter([key, value], context).into()).collect(),
        ),
    }
}

/// `{}` is what `JSON.stringify` makes of an error, and what nobody wants to read.
fn of_error(error: &JsObject, context: &mut Context) -> JsResult<Special> {
    let (name, message) = errors::name_and_message(error, context);
    let told = [(js_string!("name"), name), (js_string!("message"), message)];
    let mut pairs: Vec<(JsString, JsValue)> =
        told.into_iter().map(|(key, text)| (key, JsString::from(text).into())).collect();
    for name in originals::enumerable_keys(error, context)? {
        if pairs.iter().take(2).all(|(told, _)| *told != name) {
            let value = error.get(name.clone(), context)?;
            pairs.push((name, value));
        }
    }
    Ok(Special::Pairs(pairs))
}

/// Bytes become `{ type, length, base64 }`: a list of numbers would be many times longer. In
/// extended JSON they stay what they are.
fn bytes(object: &JsObject, is_extended: bool, context: &mut Context) -> JsResult<Option<Special>> {
    let mut kind = "ArrayBuffer";
    let (buffer, from, length) = if let Ok(array) = JsTypedArray::from_object(object.clone()) {
        kind = array.kind().map_or("Uint8Array", kind_name);
        (array.buffer(context)?, array.byte_offset(context)?, array.byte_length(context)?)
    } else if let Ok(view) = JsDataView::from_object(object.clone()) {
        kind = "DataView";
        let from = usize::try_from(view.byte_offset(context)?).unwrap_or(usize::MAX);
        (view.buffer(context)?, from, usize::try_from(view.byte_length(context)?).unwrap_or(usize::MAX))
    } else if let Ok(buffer) = JsArrayBuffer::from_object(object.clone()) {
        (object.clone().into(), 0, buffer.byte_length())
    } else {
        return Ok(None);
    };
    let buffer = buffer.as_object().and_then(|buffer| JsArrayBuffer::from_object(buffer).ok());
    let bytes = buffer.and_then(|buffer| Some(buffer.data()?.get(from..)?.get(..length)?.to_vec())).unwrap_or_default();
    if is_extended {
        return Ok(Some(Special::Text(extended::bytes(kind, &bytes))));
    }
    let name = object.get(boa_engine::JsSymbol::to_string_tag(), context)?;
    let told: [(JsString, JsValue); 3] = [
        (js_string!("type"), name),
        (js_string!("length"), JsValue::from(bytes.len())),
        (js_string!("base64"), JsString::from(BASE64_STANDARD.encode(bytes)).into()),
    ];
    Ok(Some(Special::Pairs(told.into())))
}

/// What the language calls a typed array. (A script may call it something else.)
fn kind_name(kind: TypedArrayKind) -> &'static str {
    match kind {
        TypedArrayKind::Int8 => "Int8Array",
        TypedArrayKind::Uint8 => "Uint8Array",
        TypedArrayKind::Uint8Clamped => "Uint8ClampedArray",
        TypedArrayKind::Int16 => "Int16Array",
        TypedArrayKind::Uint16 => "Uint16Array",
        TypedArrayKind::Int32 => "Int32Array",
        TypedArrayKind::Uint32 => "Uint32Array",
        TypedArrayKind::BigInt64 => "BigInt64Array",
        TypedArrayKind::BigUint64 => "BigUint64Array",
        TypedArrayKind::Float16 => "Float16Array",
        TypedArrayKind::Float32 => "Float32Array",
        TypedArrayKind::Float64 => "Float64Array",
    }
}

/// Whether an object is an array, or a proxy of one.
pub(super) fn is_array(object: &JsObject, context: &mut Context) -> JsResult<bool> {
    if object.is_array() {
        return Ok(true);
    }
    // The second question makes an error of each object that is no proxy.
    if object.is_ordinary() || JsProxy::from_object(object.clone()).is_err() {
        return Ok(false);
    }
    originals::is_array_or_revoked(object, context)
}

/// The primitive inside a `Number`, `String` or `Boolean` object.
pub fn boxed_primitive(object: &JsObject) -> Option<JsValue> {
    if let Some(number) = object.downcast_ref::<f64>() {
        return Some(JsValue::from(*number));
    }
    if let Some(boolean) = object.downcast_ref::<bool>() {
        return Some(JsValue::from(*boolean));
    }
    object.downcast_ref::<JsString>().map(|string| JsValue::from(string.clone()))
}
