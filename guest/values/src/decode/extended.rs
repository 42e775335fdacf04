//! Extended JSON: what an object whose only member is `$belljar` stands for.
//!
//! What is read is as deep as the host lets a text be, and so is what calls itself here.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use boa_engine::{
    Context, JsNativeError, JsObject, JsResult, JsString, JsValue, builtins::array_buffer::AlignedVec, js_string,
    object::builtins::JsArrayBuffer, property::PropertyKey,
};

use belljar_guest_engine::plain;

use super::{Builder, Decoded, Encoding, Reader};

/// The member that makes an object special, and how little of a text can be about it.
const MARK: &str = "$belljar";
const HINTS: [&str; 2] = ["belljar", "\\u"];

/// The value of an extended JSON text from the host. Numbers are what `JSON.parse` makes of them.
///
/// # Errors
/// The text is not JSON, or says of something that it is special and not what it is.
pub fn extended(text: &str, context: &mut Context) -> JsResult<Decoded> {
    let mut builder = Builder::new(Reader::new(text.as_bytes(), Encoding::Utf8), false, context);
    let value = builder.text().map_err(|fault| fault.describe(text.as_bytes(), Encoding::Utf8))?;
    let large = builder.large;
    let is_special = HINTS.iter().any(|hint| text.contains(hint));
    let value = if is_special { revived(value, context)? } else { value };
    Ok(Decoded { value, large })
}

/// What a value of plain JSON stands for.
fn revived(value: JsValue, context: &mut Context) -> JsResult<JsValue> {
    let Some(object) = value.as_object() else { return Ok(value) };
    let keys = keys(&object, context)?;
    if let Some(content) = marked(&object, &keys) {
        return special(&content, context);
    }
    for key in keys {
        if let Some(member) = plain::member(&object, &key).filter(JsValue::is_object) {
            let revived = revived(member.clone(), context)?;
            put(&object, key, &member, revived);
        }
    }
    Ok(value)
}

/// What stands behind the only member of an object, if that is the mark.
fn marked(object: &JsObject, keys: &[PropertyKey]) -> Option<JsValue> {
    match keys {
        [only] if *only == mark() && !object.is_array() => plain::member(object, only),
        _ => None,
    }
}

fn special(content: &JsValue, context: &mut Context) -> JsResult<JsValue> {
    if content.as_string().is_some_and(|text| text == js_string!("undefined")) {
        return Ok(JsValue::undefined());
    }
    let Some(object) = content.as_object().filter(|object| !object.is_array()) else { return Err(unknown()) };
    let names = keys(&object, context)?;
    let member = |name: &str| plain::member(&object, &PropertyKey::from(JsString::from(name)));
    match (names.len(), member("bytes"), member("type"), member("object")) {
        (2, Some(bytes), Some(name), None) => {
            let (Some(bytes), Some(name)) = (bytes.as_string(), name.as_string()) else { return Err(unknown()) };
            let decoded = BASE64_STANDARD.decode(bytes.to_std_string_lossy());
            let bytes = decoded.map_err(|_| fault("bytes that are not base64"))?;
            of_bytes(&name.to_std_string_lossy(), &bytes, context)
        }
        (1, None, None, Some(inner)) => {
            let Some(inner) = inner.as_object() else { return Err(unknown()) };
            let keys = keys(&inner, context)?;
            let Some(member) = marked(&inner, &keys) else { return Err(unknown()) };
            let revived = revived(member.clone(), context)?;
            put(&inner, mark(), &member, revived);
            Ok(inner.into())
        }
        _ => Err(unknown()),
    }
}

/// Bytes as a value of this type.
fn of_bytes(name: &str, bytes: &[u8], context: &mut Context) -> JsResult<JsValue> {
    let constructors = context.intrinsics().constructors();
    let (class, element) = match name {
        "ArrayBuffer" => (None, 1),
        "DataView" => (Some(constructors.data_view()), 1),
        "Int8Array" => (Some(constructors.typed_int8_array()), 1),
        "Uint8Array" => (Some(constructors.typed_uint8_array()), 1),
        "Uint8ClampedArray" => (Some(constructors.typed_uint8clamped_array()), 1),
        "Int16Array" => (Some(constructors.typed_int16_array()), 2),
        "Uint16Array" => (Some(constructors.typed_uint16_array()), 2),
        "Float16Array" => (Some(constructors.typed_float16_array()), 2),
        "Int32Array" => (Some(constructors.typed_int32_array()), 4),
        "Uint32Array" => (Some(constructors.typed_uint32_array()), 4),
        "Float32Array" => (Some(constructors.typed_float32_array()), 4),
        "Float64Array" => (Some(constructors.typed_float64_array()), 8),
        "BigInt64Array" => (Some(constructors.typed_bigint64_array()), 8),
        "BigUint64Array" => (Some(constructors.typed_biguint64_array()), 8),
        _ => return Err(fault("bytes of an unknown type")),
    };
    if !bytes.len().is_multiple_of(element) {
        return Err(fault("bytes that are no whole number of elements"));
    }
    let class = class.map(|class| class.constructor());
    let buffer = JsArrayBuffer::from_byte_block(AlignedVec::from_slice(64, bytes), context)?;
    match class {
        None => Ok(buffer.into()),
        Some(class) => Ok(class.construct(&[buffer.into()], None, context)?.into()),
    }
}

/// The keys of an object of data. Of an array, its length is none.
fn keys(object: &JsObject, context: &mut Context) -> JsResult<Vec<PropertyKey>> {
    let mut keys = object.own_property_keys(context)?;
    if object.is_array() {
        keys.retain(|key| matches!(key, PropertyKey::Index(_)));
    }
    Ok(keys)
}

/// Puts what a member stands for in its place.
fn put(object: &JsObject, key: PropertyKey, member: &JsValue, revived: JsValue) {
    if !JsValue::strict_equals(member, &revived) {
        object.insert_property(key, plain::property(revived));
    }
}

fn mark() -> PropertyKey {
    PropertyKey::from(js_string!(MARK))
}

fn unknown() -> boa_engine::JsError {
    fault("an object whose only member is \"$belljar\", and that means nothing")
}

fn fault(what: &str) -> boa_engine::JsError {
    JsNativeError::typ().with_message(format!("the host's value has {what}")).into()
}
