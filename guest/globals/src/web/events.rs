//! `Event`, `CustomEvent` and `EventTarget`, which are written in the script's own language
//! (`events.js`).

use boa_engine::{Context, JsNativeError, JsResult, JsValue, NativeFunction, js_string};

use belljar_guest_engine::{objects::function, scripts};
use belljar_guest_values::inspect;

/// Listeners that one target may have.
const MAX_LISTENERS: i32 = 10_000;

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let code = include_str!("events.js");
    let make = scripts::evaluate(code, Some("belljar"), context)?;
    let make = make.as_callable().ok_or_else(|| JsNativeError::typ().with_message("events.js is a function"))?;
    let report = function("report", 1, NativeFunction::from_fn_ptr(report), context);
    let performance = context.global_object().get(js_string!("performance"), context)?;
    let now = match performance.as_object() {
        Some(performance) => performance.get(js_string!("now"), context)?,
        None => JsValue::undefined(),
    };
    make.call(&JsValue::undefined(), &[report.into(), now, MAX_LISTENERS.into()], context)?;
    Ok(())
}

fn report(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let thrown = arguments.first().map_or_else(String::new, |thrown| inspect::text(thrown, context));
    crate::console::report(&format!("a listener of an EventTarget threw: {thrown}"));
    Ok(JsValue::undefined())
}
