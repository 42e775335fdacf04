//! Time zones: what Temporal knows of them.

use std::cell::RefCell;

use boa_engine::{
    Context, JsNativeError, JsResult, JsString, JsValue,
    object::builtins::{JsArray, JsFunction},
};

use belljar_guest_engine::scripts;

thread_local! {
    static ASK: RefCell<Option<JsFunction>> = const { RefCell::new(None) };
}

/// Asks Temporal for a zone's name and its offset at a time, with what Temporal is before any
/// script could change it.
const QUESTION: &str = "{
    const { Instant, ZonedDateTime } = Temporal;
    const from = Instant.fromEpochMilliseconds.bind(Instant);
    const read = (name) => Function.prototype.call.bind(Object.getOwnPropertyDescriptor(ZonedDateTime.prototype, name).get);
    const [id, offset] = [read('timeZoneId'), read('offsetNanoseconds')];
    const zoned = Function.prototype.call.bind(Instant.prototype.toZonedDateTimeISO);
    (milliseconds, zone) => { const at = zoned(from(milliseconds), zone); return [id(at), offset(at) / 1e6] }
}";

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let ask = scripts::evaluate(QUESTION, None, context)?.as_function();
    ASK.set(ask);
    Ok(())
}

/// The usual name of a zone, which must exist.
pub(super) fn canonical(zone: &str, context: &mut Context) -> JsResult<String> {
    let upper = zone.to_ascii_uppercase();
    if matches!(upper.as_str(), "UTC" | "GMT" | "ETC/UTC" | "ETC/GMT" | "ETC/UCT" | "ZULU") {
        return Ok("UTC".to_owned());
    }
    match at(0.0, zone, context) {
        Ok((name, _)) => Ok(name),
        Err(_) => {
            let zone: String = zone.chars().take(60).collect();
            let message = format!("there is no time zone '{zone}': it is written as in 'America/New_York', or 'UTC'");
            Err(JsNativeError::range().with_message(message).into())
        }
    }
}

/// Milliseconds by which a zone is ahead of UTC at a time.
pub(super) fn offset(time: f64, zone: &str, context: &mut Context) -> JsResult<f64> {
    if zone == "UTC" { Ok(0.0) } else { Ok(at(time, zone, context)?.1) }
}

fn at(time: f64, zone: &str, context: &mut Context) -> JsResult<(String, f64)> {
    let missing = || JsNativeError::typ().with_message("there is no Temporal");
    let ask = ASK.with_borrow(Clone::clone).ok_or_else(missing)?;
    let answer = ask.call(&JsValue::undefined(), &[time.into(), JsString::from(zone).into()], context)?;
    let answer = JsArray::from_object(answer.as_object().ok_or_else(missing)?)?;
    let name = answer.get(0, context)?.to_string(context)?.to_std_string_lossy();
    Ok((name, answer.get(1, context)?.to_number(context)?))
}
