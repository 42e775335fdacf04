//! `DOMException`: what the web's functions throw.

use std::cell::RefCell;

use boa_engine::{Context, JsError, JsObject, JsResult, JsString, JsValue, js_string};

use belljar_guest_engine::objects::put_hidden;

thread_local! {
    static PROTOTYPE: RefCell<Option<JsObject>> = const { RefCell::new(None) };
}

/// Keeps the prototype of the class, which the prelude has made.
pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let class = context.global_object().get(js_string!("DOMException"), context)?.as_object();
    let prototype = match class {
        Some(class) => class.get(js_string!("prototype"), context)?.as_object(),
        None => None,
    };
    PROTOTYPE.set(prototype);
    Ok(())
}

/// The number that old code knows an exception by.
fn code(name: &str) -> i32 {
    match name {
        "InvalidCharacterError" => 5,
        "TypeMismatchError" => 17,
        "AbortError" => 20,
        "QuotaExceededError" => 22,
        "TimeoutError" => 23,
        "DataCloneError" => 25,
        _ => 0,
    }
}

/// A new `DOMException`, which has the stack of now.
pub(super) fn object(name: &str, message: &str, context: &mut Context) -> JsResult<JsValue> {
    let constructor = context.intrinsics().constructors().error().constructor();
    let error = constructor.construct(&[JsString::from(message).into()], None, context)?;
    error.set_prototype(PROTOTYPE.with_borrow(Clone::clone));
    put_hidden(&error, "name", JsString::from(name), context)?;
    put_hidden(&error, "code", code(name), context)?;
    Ok(error.into())
}

/// A `DOMException` to throw.
pub(super) fn exception(name: &str, message: &str, context: &mut Context) -> JsError {
    match object(name, message, context) {
        Ok(error) => JsError::from_opaque(error),
        Err(error) => error,
    }
}
