//! Time zones: what Temporal knows of them, and what they are called.

use std::cell::RefCell;

use boa_engine::{
    Context, JsNativeError, JsResult, JsString, JsValue,
    object::builtins::{JsArray, JsFunction},
};

use belljar_guest_engine::scripts;

use super::{
    locale::Locale,
    locales,
    table::{ZONE_NAMES, ZONES},
};

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

/// What a zone is called at an offset: its name in the locale, where it has one, or else the
/// offset.
pub(super) fn name(zone: &str, offset: f64, is_summer: bool, style: &str, locale: &Locale) -> String {
    let is_long = style.starts_with("long");
    if !style.ends_with("Offset") {
        let row = ZONES.binary_search_by(|(name, _)| (*name).cmp(zone)).ok().and_then(|place| ZONES.get(place));
        let names = row.and_then(|(_, row)| ZONE_NAMES.get(usize::from(*row)));
        let place = 4 * locale.place + 2 * usize::from(is_long) + usize::from(is_summer);
        if let Some(name) = names.and_then(|names| names.get(place)).and_then(|place| locales::whole_name(*place)) {
            return name.to_owned();
        }
    }
    let written = &locale.data().offsets;
    let minutes = (offset / 60_000.0) as i64;
    let sign = if minutes < 0 { written.minus } else { "+" };
    let (hours, minutes) = (minutes.abs() / 60, minutes.abs() % 60);
    let (prefix, colon) = (written.prefix, written.colon);
    match (is_long, hours, minutes) {
        (_, 0, 0) => written.zero.to_owned(),
        (true, ..) => format!("{prefix}{sign}{hours:02}{colon}{minutes:02}"),
        (false, _, 0) => format!("{prefix}{sign}{hours}"),
        (false, ..) => format!("{prefix}{sign}{hours}{colon}{minutes:02}"),
    }
}
