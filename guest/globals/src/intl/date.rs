//! `Intl.DateTimeFormat`, and `toLocaleString` of dates.

use boa_engine::{
    Context, JsData, JsNativeError, JsObject, JsResult, JsValue,
    class::{Class, ClassBuilder},
    object::builtins::JsDate,
};
use boa_gc::{Finalize, Trace};

use belljar_guest_algorithms::intl::{
    Part,
    calendar::civil,
    locale::{Locale, is_known},
    pattern::{self, Field, Fields, Hours, Moment, Styles, Width},
    zones,
};

use super::{Options, bind, bound, data, joined, listed, locale, made, members, object, text, zone};

const MILLISECONDS_OF_A_DAY: i64 = 86_400_000;

#[derive(Debug, Clone, Trace, Finalize, JsData)]
pub(super) struct DateTimeFormat {
    // Nothing of it holds an object that could be collected.
    #[unsafe_ignore_trace]
    locale: Locale,
    zone: String,
    #[unsafe_ignore_trace]
    fields: Fields,
    #[unsafe_ignore_trace]
    styles: Styles,
    #[unsafe_ignore_trace]
    hours: Hours,
    #[unsafe_ignore_trace]
    date_style: Option<&'static str>,
    #[unsafe_ignore_trace]
    time_style: Option<&'static str>,
}

/// Which fields are shown where none is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Default {
    Date,
    Time,
    All,
}

impl Class for DateTimeFormat {
    const NAME: &'static str = "DateTimeFormat";

    fn data_constructor(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<Self> {
        Self::of(arguments.first(), arguments.get(1), None, Default::Date, context)
    }

    fn construct(new_target: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsObject> {
        made::<Self>(new_target, arguments, context)
    }

    fn init(class: &mut ClassBuilder<'_>) -> JsResult<()> {
        members(
            class,
            "Intl.DateTimeFormat",
            &[
                ("formatToParts", 1, format_to_parts),
                ("formatRange", 2, format_range),
                ("resolvedOptions", 0, resolved_options),
            ],
            is_known,
        );
        bound(class, "format", |this, _, context| {
            data::<Self>(this)?;
            Ok(bind(this, 1, format, context))
        });
        Ok(())
    }
}

pub(super) fn to_locale_string(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    of_date(this, arguments, None, Default::All, context)
}

pub(super) fn to_locale_date_string(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    of_date(this, arguments, Some(Default::Date), Default::Date, context)
}

pub(super) fn to_locale_time_string(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    of_date(this, arguments, Some(Default::Time), Default::Time, context)
}

fn of_date(
    this: &JsValue,
    arguments: &[JsValue],
    required: Option<Default>,
    default: Default,
    context: &mut Context,
) -> JsResult<JsValue> {
    let date = this.as_object().and_then(|object| JsDate::from_object(object).ok());
    let Some(date) = date else {
        return Err(JsNativeError::typ().with_message("this is no Date").into());
    };
    let time = date.get_time(context)?.to_number(context)?;
    if time.is_nan() {
        return Ok(text("Invalid Date"));
    }
    let format = DateTimeFormat::of(arguments.first(), arguments.get(1), required, default, context)?;
    Ok(joined(&format.parts(time, context)?))
}

const NUMBERS: [&str; 2] = ["numeric", "2-digit"];
const NAMES: [&str; 3] = ["long", "short", "narrow"];
const STYLES: [&str; 4] = ["full", "long", "medium", "short"];

fn width(word: &str) -> Width {
    match word {
        "short" => Width::Short,
        "narrow" => Width::Narrow,
        _ => Width::Long,
    }
}

fn field(word: &str) -> Field {
    match word {
        "numeric" => Field::Numeric,
        "2-digit" => Field::TwoDigit,
        name => Field::Name(width(name)),
    }
}

impl DateTimeFormat {
    fn of(
        locales: Option<&JsValue>,
        options: Option<&JsValue>,
        required: Option<Default>,
        default: Default,
        context: &mut Context,
    ) -> JsResult<Self> {
        let locale = locale::of(locales, context)?;
        let options = Options::of(options, context)?;
        let mut fields = asked_for(&options, context)?;
        let zone = match options.text("timeZone", context)? {
            Some(zone) => zone::canonical(&zone, context)?,
            None => "UTC".to_owned(),
        };
        let date_style = options.word("dateStyle", &STYLES, context)?;
        let time_style = options.word("timeStyle", &STYLES, context)?;
        if date_style.is_some() || time_style.is_some() {
            if fields.has_date() || fields.has_time() || fields.zone.is_some() {
                let message = "dateStyle and timeStyle cannot be combined with options such as year or hour: give the one or the other";
                return Err(JsNativeError::typ().with_message(message).into());
            }
            let is_wrong = (required == Some(Default::Date) && time_style.is_some())
                || (required == Some(Default::Time) && date_style.is_some());
            if is_wrong {
                let message = "toLocaleDateString takes no timeStyle, and toLocaleTimeString no dateStyle: toLocaleString takes both";
                return Err(JsNativeError::typ().with_message(message).into());
            }
        } else {
            complete(&mut fields, required, default);
        }
        let hours = hours(&options, &locale, context)?;
        let style = |style: Option<&str>| style.and_then(|style| STYLES.iter().position(|other| *other == style));
        let styles = Styles { date: style(date_style), time: style(time_style) };
        if styles.time.is_some() {
            fields.hour = Some(Field::Numeric);
            fields.zone = [Some("long"), Some("short")].get(styles.time.unwrap_or(2)).copied().flatten();
        }
        Ok(Self { locale, zone, fields, styles, hours, date_style, time_style })
    }

    /// A time, in milliseconds since 1970, as text in pieces.
    fn parts(&self, time: f64, context: &mut Context) -> JsResult<Vec<Part>> {
        let moment = self.moment(time, context)?;
        Ok(pattern::written(&moment, &self.fields, self.styles, self.hours, self.locale.data()))
    }

    fn moment(&self, time: f64, context: &mut Context) -> JsResult<Moment> {
        if !time.is_finite() || time.abs() > 8.64e15 {
            return Err(JsNativeError::range().with_message("the date is invalid").into());
        }
        let offset = zone::offset(time, &self.zone, context)?;
        let local = (time + offset).floor() as i64;
        let (days, rest) = (local.div_euclid(MILLISECONDS_OF_A_DAY), local.rem_euclid(MILLISECONDS_OF_A_DAY));
        let (year, month, day) = civil(days);
        let zone_name = match self.fields.zone {
            Some(style) => {
                // It is summer where the clock is ahead of the least that it is in a year.
                let half = 182.0 * MILLISECONDS_OF_A_DAY as f64;
                let other = if time > 0.0 { time - half } else { time + half };
                let is_summer = offset > zone::offset(other, &self.zone, context)?;
                zones::name(&self.zone, offset, is_summer, style, &self.locale)
            }
            None => String::new(),
        };
        let part = |unit: i64, count: i64| u32::try_from(rest / unit % count).unwrap_or(0);
        Ok(Moment {
            year,
            month,
            day,
            weekday: usize::try_from((days + 4).rem_euclid(7)).unwrap_or(0),
            hour: part(3_600_000, 24),
            minute: part(60_000, 60),
            second: part(1_000, 60),
            millisecond: part(1, 1_000),
            zone_name,
        })
    }
}

/// The fields that the options name.
fn asked_for(options: &Options, context: &mut Context) -> JsResult<Fields> {
    let month = [NUMBERS.as_slice(), NAMES.as_slice()].concat();
    let zones = ["long", "short", "shortOffset", "longOffset"];
    let mut number = |name: &str| Ok::<_, boa_engine::JsError>(options.word(name, &NUMBERS, context)?.map(field));
    let (year, day) = (number("year")?, number("day")?);
    let (hour, minute, second) = (number("hour")?, number("minute")?, number("second")?);
    Ok(Fields {
        weekday: options.word("weekday", &NAMES, context)?.map(width),
        era: options.word("era", &NAMES, context)?.map(width),
        year,
        month: options.word("month", &month, context)?.map(field),
        day,
        period: options.word("dayPeriod", &NAMES, context)?.map(width),
        hour,
        minute,
        second,
        fraction: options.whole("fractionalSecondDigits", 1, 3, context)?.unwrap_or(0),
        zone: options.word("timeZoneName", &zones, context)?,
    })
}

/// Adds what is shown where nothing is asked for.
fn complete(fields: &mut Fields, required: Option<Default>, default: Default) {
    let is_asked = match required {
        Some(Default::Date) => fields.has_date(),
        Some(Default::Time) => fields.has_time(),
        _ => fields.has_date() || fields.has_time(),
    };
    if is_asked {
        return;
    }
    if default != Default::Time {
        (fields.year, fields.month, fields.day) = (Some(Field::Numeric), Some(Field::Numeric), Some(Field::Numeric));
    }
    if default != Default::Date {
        (fields.hour, fields.minute, fields.second) =
            (Some(Field::Numeric), Some(Field::Numeric), Some(Field::Numeric));
    }
}

fn hours(options: &Options, locale: &Locale, context: &mut Context) -> JsResult<Hours> {
    let twelve = options.flag("hour12", context)?;
    let cycle = options.word("hourCycle", &["h11", "h12", "h23", "h24"], context)?;
    Ok(match (twelve, cycle) {
        // Japan counts its twelve hours from 0.
        (Some(true), _) => Hours::Twelve { from_zero: locale.data().tag == "ja-JP" },
        (None, Some("h12")) => Hours::Twelve { from_zero: false },
        (Some(false), _) | (None, Some("h23")) => Hours::TwentyFour { from_one: false },
        (None, Some("h11")) => Hours::Twelve { from_zero: true },
        (None, Some(_)) => Hours::TwentyFour { from_one: true },
        (None, None) if locale.data().is_twelve => Hours::Twelve { from_zero: false },
        (None, None) => Hours::TwentyFour { from_one: false },
    })
}

/// The time that an argument means: now, if there is none.
fn time(value: Option<&JsValue>, context: &mut Context) -> JsResult<f64> {
    match value.filter(|value| !value.is_undefined()) {
        Some(value) => value.to_number(context),
        None => JsDate::now(context)?.to_number(context),
    }
}

fn format(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let format = data::<DateTimeFormat>(this)?;
    let time = time(arguments.first(), context)?;
    Ok(joined(&format.parts(time, context)?))
}

fn format_to_parts(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let format = data::<DateTimeFormat>(this)?;
    let time = time(arguments.first(), context)?;
    let parts = format.parts(time, context)?;
    listed(&parts, context)
}

fn format_range(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let format = data::<DateTimeFormat>(this)?;
    if !format.locale.is_english() {
        let message = "formatRange of dates is there in English alone: format both ends, and put ' – ' between them";
        return Err(JsNativeError::range().with_message(message).into());
    }
    let mut ends = Vec::new();
    for index in 0..2 {
        let Some(value) = arguments.get(index).filter(|value| !value.is_undefined()) else {
            return Err(JsNativeError::typ().with_message("formatRange takes two dates").into());
        };
        let time = value.to_number(context)?;
        ends.push(format.parts(time, context)?.into_iter().map(|(_, text)| text).collect::<String>());
    }
    Ok(text(&if ends[0] == ends[1] { ends.remove(0) } else { ends.join("\u{2009}–\u{2009}") }))
}

fn resolved_options(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let format = data::<DateTimeFormat>(this)?;
    let named = |width: Width| match width {
        Width::Long => "long",
        Width::Short => "short",
        Width::Narrow => "narrow",
    };
    let written = |field: Option<Field>| match field {
        None => JsValue::undefined(),
        Some(Field::Numeric) => text("numeric"),
        Some(Field::TwoDigit) => text("2-digit"),
        Some(Field::Name(width)) => text(named(width)),
    };
    let is_styled = format.date_style.is_some() || format.time_style.is_some();
    let fields = if is_styled { Fields::default() } else { format.fields.clone() };
    let cycle = match format.hours {
        Hours::Twelve { from_zero: true } => "h11",
        Hours::Twelve { from_zero: false } => "h12",
        Hours::TwentyFour { from_one: false } => "h23",
        Hours::TwentyFour { from_one: true } => "h24",
    };
    let has_hour = format.fields.hour.is_some();
    let of_hour = |value: JsValue| if has_hour { value } else { JsValue::undefined() };
    let style = |style: Option<&str>| style.map_or_else(JsValue::undefined, text);
    let members = [
        ("locale", text(&format.locale.tag)),
        ("calendar", text("gregory")),
        ("numberingSystem", text("latn")),
        ("timeZone", text(&format.zone)),
        ("hourCycle", of_hour(text(cycle))),
        ("hour12", of_hour(JsValue::from(matches!(format.hours, Hours::Twelve { .. })))),
        ("weekday", fields.weekday.map_or_else(JsValue::undefined, |width| text(named(width)))),
        ("era", fields.era.map_or_else(JsValue::undefined, |width| text(named(width)))),
        ("year", written(fields.year)),
        ("month", written(fields.month)),
        ("day", written(fields.day)),
        ("dayPeriod", fields.period.map_or_else(JsValue::undefined, |width| text(named(width)))),
        ("hour", written(fields.hour)),
        ("minute", written(fields.minute)),
        ("second", written(fields.second)),
        ("timeZoneName", style(fields.zone)),
        ("dateStyle", style(format.date_style)),
        ("timeStyle", style(format.time_style)),
    ];
    Ok(object(&members, context)?.into())
}
