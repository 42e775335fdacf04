//! `Uint8Array.fromBase64`, `fromHex`, `setFromBase64`, `setFromHex`, `toBase64` and `toHex`, as
//! ECMAScript 2026 has them.

use std::fmt::Write as _;

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD},
};
use boa_engine::{
    Context, JsNativeError, JsObject, JsResult, JsString, JsValue, NativeFunction,
    builtins::typed_array::TypedArrayKind,
    js_string,
    object::builtins::{JsArrayBuffer, JsTypedArray},
};

use belljar_guest_algorithms::web::base::{Alphabet, Decoded, LastChunk, base64, hex};
use belljar_guest_engine::objects::{Native, function, put, put_hidden};

use super::{byte_array, view};

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let class = context.intrinsics().constructors().typed_uint8_array();
    let (constructor, prototype) = (class.constructor(), class.prototype());
    let of_class: [(&str, usize, Native); 2] = [("fromBase64", 1, from_base64), ("fromHex", 1, from_hex)];
    let of_arrays: [(&str, usize, Native); 4] = [
        ("setFromBase64", 1, set_from_base64),
        ("setFromHex", 1, set_from_hex),
        ("toBase64", 0, to_base64),
        ("toHex", 0, to_hex),
    ];
    let of_class = of_class.into_iter().map(|method| (&constructor, method));
    let of_arrays = of_arrays.into_iter().map(|method| (&prototype, method));
    for (object, (name, length, native)) in of_class.chain(of_arrays) {
        let method = function(name, length, NativeFunction::from_fn_ptr(native), context);
        put_hidden(object, name, method, context)?;
    }
    Ok(())
}

fn from_base64(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let text = text(arguments, "Uint8Array.fromBase64")?;
    let (alphabet, last_chunk) = decoding(arguments, context)?;
    let decoded = base64(text.iter(), alphabet, last_chunk, usize::MAX);
    check(decoded.fault)?;
    byte_array(&decoded.bytes, context)
}

fn from_hex(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let decoded = hex(text(arguments, "Uint8Array.fromHex")?.iter(), usize::MAX);
    check(decoded.fault)?;
    byte_array(&decoded.bytes, context)
}

fn set_from_base64(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let array = Bytes::of(this, "setFromBase64")?;
    let text = text(arguments, "Uint8Array.prototype.setFromBase64")?;
    let (alphabet, last_chunk) = decoding(arguments, context)?;
    let place = array.place(context)?;
    place.set(base64(text.iter(), alphabet, last_chunk, place.length), context)
}

fn set_from_hex(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let array = Bytes::of(this, "setFromHex")?;
    let text = text(arguments, "Uint8Array.prototype.setFromHex")?;
    let place = array.place(context)?;
    place.set(hex(text.iter(), place.length), context)
}

fn to_base64(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let array = Bytes::of(this, "toBase64")?;
    let options = options(arguments.first())?;
    let alphabet = alphabet(options.as_ref(), context)?;
    let omits_padding = match options {
        Some(options) => options.get(js_string!("omitPadding"), context)?.to_boolean(),
        None => false,
    };
    let engine = match (alphabet, omits_padding) {
        (Alphabet::Standard, false) => STANDARD,
        (Alphabet::Standard, true) => STANDARD_NO_PAD,
        (Alphabet::Url, false) => URL_SAFE,
        (Alphabet::Url, true) => URL_SAFE_NO_PAD,
    };
    array.place(context)?.with(|bytes| JsString::from(engine.encode(bytes)).into())
}

fn to_hex(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    Bytes::of(this, "toHex")?.place(context)?.with(|bytes| {
        let mut text = String::with_capacity(bytes.len().saturating_mul(2));
        for byte in bytes {
            let _ = write!(text, "{byte:02x}");
        }
        JsString::from(text).into()
    })
}

/// A `Uint8Array`, and no other typed array.
struct Bytes<'v> {
    array: &'v JsValue,
    method: &'static str,
}

impl<'v> Bytes<'v> {
    fn of(array: &'v JsValue, method: &'static str) -> JsResult<Self> {
        let object = array.as_object().and_then(|object| JsTypedArray::from_object(object).ok());
        match object.and_then(|array| array.kind()) {
            Some(TypedArrayKind::Uint8) => Ok(Self { array, method }),
            _ => Err(type_error(&format!(
                "Uint8Array.prototype.{method} was called on something that is not a Uint8Array"
            ))),
        }
    }

    /// Where its bytes are now: whoever reads an option may have moved them.
    fn place(&self, context: &mut Context) -> JsResult<Place> {
        let place = view(self.array, context)?.filter(|(buffer, offset, length)| {
            buffer.data().is_some_and(|data| data.get(*offset..*offset + *length).is_some())
        });
        match place {
            Some((buffer, offset, length)) => Ok(Place { buffer, offset, length }),
            None => {
                let message =
                    format!("Uint8Array.prototype.{} was called on an array whose buffer is gone", self.method);
                Err(type_error(&message))
            }
        }
    }
}

struct Place {
    buffer: JsArrayBuffer,
    offset: usize,
    length: usize,
}

impl Place {
    fn with(&self, look: impl FnOnce(&[u8]) -> JsValue) -> JsResult<JsValue> {
        let data = self.buffer.data();
        let bytes = data.as_ref().and_then(|data| data.get(self.offset..self.offset + self.length));
        Ok(look(bytes.unwrap_or_default()))
    }

    /// Puts what was read in, also where something is wrong after it, and says how much that was.
    fn set(&self, decoded: Decoded, context: &mut Context) -> JsResult<JsValue> {
        if let Some(mut data) = self.buffer.data_mut()
            && let Some(target) = data.get_mut(self.offset..self.offset + decoded.bytes.len())
        {
            target.copy_from_slice(&decoded.bytes);
        }
        check(decoded.fault)?;
        let result = JsObject::with_object_proto(context.intrinsics());
        put(&result, "read", decoded.read, context)?;
        put(&result, "written", decoded.bytes.len(), context)?;
        Ok(result.into())
    }
}

fn check(fault: Option<&'static str>) -> JsResult<()> {
    fault.map_or(Ok(()), |fault| Err(JsNativeError::syntax().with_message(fault).into()))
}

fn type_error(message: &str) -> boa_engine::JsError {
    JsNativeError::typ().with_message(message.to_owned()).into()
}

/// The text to decode, which nothing is converted to.
fn text(arguments: &[JsValue], function: &str) -> JsResult<JsString> {
    let text = arguments.first().and_then(JsValue::as_string);
    text.ok_or_else(|| type_error(&format!("{function} takes a string")))
}

fn options(value: Option<&JsValue>) -> JsResult<Option<JsObject>> {
    match value.filter(|value| !value.is_undefined()) {
        None => Ok(None),
        Some(value) => value.as_object().map(Some).ok_or_else(|| type_error("the options must be an object")),
    }
}

fn decoding(arguments: &[JsValue], context: &mut Context) -> JsResult<(Alphabet, LastChunk)> {
    let options = options(arguments.get(1))?;
    let alphabet = alphabet(options.as_ref(), context)?;
    let last_chunk = option(options.as_ref(), "lastChunkHandling", context)?;
    let last_chunk = match last_chunk.as_deref() {
        None | Some("loose") => LastChunk::Loose,
        Some("strict") => LastChunk::Strict,
        Some("stop-before-partial") => LastChunk::StopBeforePartial,
        Some(_) => return Err(type_error("lastChunkHandling must be 'loose', 'strict' or 'stop-before-partial'")),
    };
    Ok((alphabet, last_chunk))
}

fn alphabet(options: Option<&JsObject>, context: &mut Context) -> JsResult<Alphabet> {
    match option(options, "alphabet", context)?.as_deref() {
        None | Some("base64") => Ok(Alphabet::Standard),
        Some("base64url") => Ok(Alphabet::Url),
        Some(_) => Err(type_error("alphabet must be 'base64' or 'base64url'")),
    }
}

/// An option that is a string; the empty one if it is something else, which no option is.
fn option(options: Option<&JsObject>, name: &str, context: &mut Context) -> JsResult<Option<String>> {
    let Some(options) = options else { return Ok(None) };
    let value = options.get(JsString::from(name), context)?;
    Ok((!value.is_undefined()).then(|| value.as_string().map_or_else(String::new, |text| text.to_std_string_lossy())))
}
