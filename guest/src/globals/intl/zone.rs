//! Time zones: what Temporal knows of them, and the names that English gives to a few.

use std::cell::RefCell;

use boa_engine::{
    Context, JsNativeError, JsResult, JsString, JsValue, Source,
    object::builtins::{JsArray, JsFunction},
};

use super::locale::Region;

thread_local! {
    static ASK: RefCell<Option<JsFunction>> = const { RefCell::new(None) };
}

/// Asks Temporal for a zone's name and its offset at a time, with what Temporal is before any script could change it.
const QUESTION: &str = "{
    const { Instant, ZonedDateTime } = Temporal;
    const from = Instant.fromEpochMilliseconds.bind(Instant);
    const read = (name) => Function.prototype.call.bind(Object.getOwnPropertyDescriptor(ZonedDateTime.prototype, name).get);
    const [id, offset] = [read('timeZoneId'), read('offsetNanoseconds')];
    const zoned = Function.prototype.call.bind(Instant.prototype.toZonedDateTimeISO);
    (milliseconds, zone) => { const at = zoned(from(milliseconds), zone); return [id(at), offset(at) / 1e6] }
}";

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let ask = context.eval(Source::from_bytes(QUESTION))?.as_function();
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

/// Zones, the first letters of their names, and their names.
const NAMED: &[(&[&str], Region, &str, &str)] = &[
    (&["America/New_York", "America/Detroit", "America/Toronto", "US/Eastern"], Region::UnitedStates, "E", "Eastern"),
    (&["America/Chicago", "America/Winnipeg", "US/Central"], Region::UnitedStates, "C", "Central"),
    (&["America/Denver", "America/Phoenix", "America/Boise", "US/Mountain"], Region::UnitedStates, "M", "Mountain"),
    (&["America/Los_Angeles", "America/Vancouver", "US/Pacific"], Region::UnitedStates, "P", "Pacific"),
    (&["America/Anchorage"], Region::UnitedStates, "AK", "Alaska"),
];

/// What a zone is called at an offset.
pub(super) fn name(zone: &str, offset: f64, is_summer: bool, is_long: bool, region: Region) -> String {
    if zone == "UTC" {
        return if is_long { "Coordinated Universal Time" } else { "UTC" }.to_owned();
    }
    let american = NAMED.iter().find(|(zones, ..)| zones.contains(&zone));
    if let Some((_, _, letters, name)) = american {
        if is_long {
            return format!("{name} {} Time", if is_summer { "Daylight" } else { "Standard" });
        }
        if region != Region::Britain {
            return format!("{letters}{}T", if is_summer { "D" } else { "S" });
        }
    }
    if !is_long && region == Region::Britain {
        let is_central = [
            "Europe/Berlin",
            "Europe/Paris",
            "Europe/Madrid",
            "Europe/Rome",
            "Europe/Vienna",
            "Europe/Zurich",
            "Europe/Amsterdam",
            "Europe/Brussels",
            "Europe/Stockholm",
            "Europe/Prague",
            "Europe/Warsaw",
        ]
        .contains(&zone);
        match (zone, is_summer) {
            ("Europe/London", true) => return "BST".to_owned(),
            ("Europe/London", false) => return "GMT".to_owned(),
            _ if is_central => return if is_summer { "CEST" } else { "CET" }.to_owned(),
            _ => {}
        }
    }
    let minutes = (offset / 60_000.0) as i64;
    let (sign, hours, minutes) = (if minutes < 0 { '-' } else { '+' }, minutes.abs() / 60, minutes.abs() % 60);
    match (is_long, hours, minutes) {
        (_, 0, 0) => "GMT".to_owned(),
        (true, ..) => format!("GMT{sign}{hours:02}:{minutes:02}"),
        (false, _, 0) => format!("GMT{sign}{hours}"),
        (false, ..) => format!("GMT{sign}{hours}:{minutes:02}"),
    }
}
