//! `crypto`: `randomUUID` and `getRandomValues`, from the host's generator, which a run's seed
//! decides, and `subtle` (`digest.rs`).

use std::fmt::Write as _;

use boa_engine::{
    Context, JsNativeError, JsResult, JsValue, builtins::typed_array::TypedArrayKind, object::builtins::JsTypedArray,
};

use belljar_guest_engine::objects::{Native, define, put};

use super::{digest, exception::exception, required, singleton, text, view};

/// Bytes that one call may ask for, as the web has it.
const MAX_BYTES: usize = 65_536;

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let methods: [(&str, usize, Native); 2] =
        [("randomUUID", 0, random_uuid), ("getRandomValues", 1, get_random_values)];
    let crypto = singleton("Crypto", &methods, context)?;
    let subtle = digest::subtle(context)?;
    put(&crypto, "subtle", subtle, context)?;
    define("crypto", crypto, context)
}

fn fill(bytes: &mut [u8]) -> JsResult<()> {
    getrandom::fill(bytes).map_err(|_| JsNativeError::error().with_message("no randomness is to be had").into())
}

fn random_uuid(_: &JsValue, _: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    let mut bytes = [0; 16];
    fill(&mut bytes)?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let mut uuid = String::new();
    for (index, byte) in bytes.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            uuid.push('-');
        }
        let _ = write!(uuid, "{byte:02x}");
    }
    Ok(text(&uuid))
}

fn get_random_values(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let array = required(arguments, 0, "crypto.getRandomValues")?;
    let kind =
        array.as_object().and_then(|object| JsTypedArray::from_object(object).ok()).and_then(|array| array.kind());
    let is_integer =
        !matches!(kind, None | Some(TypedArrayKind::Float16 | TypedArrayKind::Float32 | TypedArrayKind::Float64));
    let view = if is_integer { view(array, context)? } else { None };
    let Some((buffer, offset, length)) = view else {
        let message = "crypto.getRandomValues takes a typed array of integers, as in new Uint8Array(16)";
        return Err(exception("TypeMismatchError", message, context));
    };
    if length > MAX_BYTES {
        let message = format!("crypto.getRandomValues fills at most {MAX_BYTES} bytes at once, and was given {length}");
        return Err(exception("QuotaExceededError", &message, context));
    }
    if let Some(mut data) = buffer.data_mut()
        && let Some(bytes) = data.get_mut(offset..offset + length)
    {
        fill(bytes)?;
    }
    Ok(array.clone())
}
