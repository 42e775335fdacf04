//! `crypto.subtle`, of which there is `digest`: what has no key needs no keys.

use boa_engine::{Context, JsNativeError, JsResult, JsString, JsValue, object::builtins::JsPromise};
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha384, Sha512};

use super::{array_buffer, bytes, exception::exception, required, singleton};

/// Makes the object that is `crypto.subtle`, and no global.
pub(super) fn subtle(context: &mut Context) -> JsResult<JsValue> {
    let object = singleton("SubtleCrypto", &[("digest", 2, digest)], context)?;
    Ok(object.into())
}

/// `crypto.subtle.digest(algorithm, data)`: a promise, also of what is wrong.
fn digest(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let digested = digested(arguments, context);
    Ok(match digested {
        Ok(digest) => JsPromise::resolve(digest, context)?.into(),
        Err(error) => JsPromise::reject(error, context)?.into(),
    })
}

fn digested(arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let algorithm = required(arguments, 0, "crypto.subtle.digest")?;
    let name = match algorithm.as_object() {
        Some(object) => object.get(JsString::from("name"), context)?,
        None => algorithm.clone(),
    };
    if name.is_undefined() {
        let message =
            "crypto.subtle.digest takes the name of an algorithm first, as in crypto.subtle.digest('SHA-256', bytes)";
        return Err(JsNativeError::typ().with_message(message).into());
    }
    let name = name.to_string(context)?.to_std_string_lossy();
    let data = bytes(required(arguments, 1, "crypto.subtle.digest")?, "crypto.subtle.digest", context)?;
    let digest = match name.to_ascii_uppercase().as_str() {
        "SHA-1" => Sha1::digest(&data).to_vec(),
        "SHA-256" => Sha256::digest(&data).to_vec(),
        "SHA-384" => Sha384::digest(&data).to_vec(),
        "SHA-512" => Sha512::digest(&data).to_vec(),
        _ => {
            let message =
                format!("crypto.subtle.digest knows SHA-1, SHA-256, SHA-384 and SHA-512, and was given {name}");
            return Err(exception("NotSupportedError", &message, context));
        }
    };
    Ok(array_buffer(&digest, context)?.into())
}
