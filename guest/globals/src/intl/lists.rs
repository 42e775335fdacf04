//! `Intl.PluralRules`, `Intl.ListFormat` and `Intl.RelativeTimeFormat`.

use boa_engine::{
    Context, JsData, JsNativeError, JsObject, JsResult, JsValue,
    class::{Class, ClassBuilder},
    object::builtins::JsArray,
};
use boa_gc::{Finalize, Trace};

use belljar_guest_engine::objects::put;

use belljar_guest_algorithms::intl::{
    Part,
    locale::{Locale, Region, is_english},
    number::Style,
};

use super::{Options, data, joined, listed, locale, members, number::number, object, settings, text};
use crate::web::items;

/// `Intl.PluralRules`: which form of a word goes with a number.
#[derive(Debug, Clone, Trace, Finalize, JsData)]
pub(super) struct PluralRules {
    // Neither holds an object that could be collected.
    #[unsafe_ignore_trace]
    locale: Locale,
    #[unsafe_ignore_trace]
    style: Style,
    is_ordinal: bool,
}

impl Class for PluralRules {
    const NAME: &'static str = "PluralRules";

    fn data_constructor(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<Self> {
        let options = Options::of(arguments.get(1), context)?;
        let is_ordinal = options.word("type", &["cardinal", "ordinal"], context)? == Some("ordinal");
        let locale = locale::english("Intl.PluralRules", arguments.first(), context)?;
        // The digits count: 1 is one, 1.0 is not.
        let digits = JsObject::with_object_proto(context.intrinsics());
        for name in [
            "minimumIntegerDigits",
            "minimumFractionDigits",
            "maximumFractionDigits",
            "minimumSignificantDigits",
            "maximumSignificantDigits",
        ] {
            put(&digits, name, options.get(name, context)?, context)?;
        }
        Ok(Self { locale, style: settings::style(None, Some(&digits.into()), context)?, is_ordinal })
    }

    fn init(class: &mut ClassBuilder<'_>) -> JsResult<()> {
        members(
            class,
            "Intl.PluralRules",
            &[("select", 1, select), ("resolvedOptions", 0, plural_options)],
            is_english,
        );
        Ok(())
    }
}

fn select(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let rules = data::<PluralRules>(this)?;
    let value = arguments.first().cloned().unwrap_or_default().to_number(context)?;
    let parts = rules.style.parts(&number(&JsValue::from(value.abs()), context)?);
    let written: String = parts.iter().filter(|(kind, _)| *kind != "group").map(|(_, text)| text.as_str()).collect();
    let category = if rules.is_ordinal {
        match (
            written.parse::<u64>().map(|number| number % 10),
            written.ends_with("11") || written.ends_with("12") || written.ends_with("13"),
        ) {
            (Ok(1), false) => "one",
            (Ok(2), false) => "two",
            (Ok(3), false) => "few",
            _ => "other",
        }
    } else if written == "1" {
        "one"
    } else {
        "other"
    };
    Ok(text(category))
}

fn plural_options(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let rules = data::<PluralRules>(this)?;
    let categories: &[&str] = if rules.is_ordinal { &["few", "one", "two", "other"] } else { &["one", "other"] };
    let categories = JsArray::from_iter(categories.iter().map(|category| text(category)), context);
    let kind = if rules.is_ordinal { "ordinal" } else { "cardinal" };
    let members = [("locale", text(&rules.locale.tag)), ("type", text(kind)), ("pluralCategories", categories.into())];
    Ok(object(&members, context)?.into())
}

/// `Intl.ListFormat`: `a, b, and c`.
#[derive(Debug, Clone, Trace, Finalize, JsData)]
pub(super) struct ListFormat {
    // Holds no object that could be collected.
    #[unsafe_ignore_trace]
    locale: Locale,
    #[unsafe_ignore_trace]
    kind: &'static str,
    #[unsafe_ignore_trace]
    style: &'static str,
}

impl Class for ListFormat {
    const NAME: &'static str = "ListFormat";

    fn data_constructor(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<Self> {
        let locale = locale::english("Intl.ListFormat", arguments.first(), context)?;
        let options = Options::of(arguments.get(1), context)?;
        let kind = options.word("type", &["conjunction", "disjunction", "unit"], context)?.unwrap_or("conjunction");
        let style = options.word("style", &["long", "short", "narrow"], context)?.unwrap_or("long");
        Ok(Self { locale, kind, style })
    }

    fn init(class: &mut ClassBuilder<'_>) -> JsResult<()> {
        let methods: [(&str, usize, super::Native); 3] = [
            ("format", 1, |this, arguments, context| Ok(joined(&list_parts(this, arguments, context)?))),
            ("formatToParts", 1, |this, arguments, context| {
                let parts = list_parts(this, arguments, context)?;
                listed(&parts, context)
            }),
            ("resolvedOptions", 0, |this, _, context| {
                let list = data::<Self>(this)?;
                let members =
                    [("locale", text(&list.locale.tag)), ("type", text(list.kind)), ("style", text(list.style))];
                Ok(object(&members, context)?.into())
            }),
        ];
        members(class, "Intl.ListFormat", &methods, is_english);
        Ok(())
    }
}

fn list_parts(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<Vec<Part>> {
    let list = data::<ListFormat>(this)?;
    let mut elements = Vec::new();
    for item in items(&arguments.first().cloned().unwrap_or_default(), context)? {
        match item.as_string() {
            Some(item) => elements.push(item.to_std_string_lossy()),
            None => return Err(JsNativeError::typ().with_message("Intl.ListFormat takes a list of texts").into()),
        }
    }
    let word = match (list.kind, list.style) {
        ("disjunction", _) => "or",
        ("conjunction", "long") => "and",
        ("conjunction", "short") if list.locale.region == Region::UnitedStates => "&",
        ("conjunction", "short") => "and",
        _ => "",
    };
    let between = if (list.kind, list.style) == ("unit", "narrow") { " " } else { ", " };
    let count = elements.len();
    let mut parts = Vec::new();
    for (index, element) in elements.into_iter().enumerate() {
        if index > 0 {
            let comma = if count > 2 && list.locale.region == Region::UnitedStates { "," } else { "" };
            let literal = match index + 1 == count {
                true if !word.is_empty() => format!("{comma} {word} "),
                _ => between.to_owned(),
            };
            parts.push(("literal", literal));
        }
        parts.push(("element", element));
    }
    Ok(parts)
}

/// `Intl.RelativeTimeFormat`: `3 days ago`.
#[derive(Debug, Clone, Trace, Finalize, JsData)]
pub(super) struct RelativeTimeFormat {
    // Neither holds an object that could be collected.
    #[unsafe_ignore_trace]
    locale: Locale,
    #[unsafe_ignore_trace]
    style: &'static str,
    #[unsafe_ignore_trace]
    numbers: Style,
    is_wordy: bool,
}

impl Class for RelativeTimeFormat {
    const NAME: &'static str = "RelativeTimeFormat";

    fn data_constructor(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<Self> {
        let locale = locale::english("Intl.RelativeTimeFormat", arguments.first(), context)?;
        let options = Options::of(arguments.get(1), context)?;
        let style = options.word("style", &["long", "short", "narrow"], context)?.unwrap_or("long");
        let is_wordy = options.word("numeric", &["always", "auto"], context)? == Some("auto");
        Ok(Self { locale, style, numbers: settings::style(None, None, context)?, is_wordy })
    }

    fn init(class: &mut ClassBuilder<'_>) -> JsResult<()> {
        let methods: [(&str, usize, super::Native); 3] = [
            ("format", 2, |this, arguments, context| {
                let (parts, _) = relative_parts(this, arguments, context)?;
                Ok(joined(&parts))
            }),
            ("formatToParts", 2, relative_to_parts),
            ("resolvedOptions", 0, |this, _, context| {
                let format = data::<Self>(this)?;
                let numeric = if format.is_wordy { "auto" } else { "always" };
                let members = [
                    ("locale", text(&format.locale.tag)),
                    ("style", text(format.style)),
                    ("numeric", text(numeric)),
                    ("numberingSystem", text("latn")),
                ];
                Ok(object(&members, context)?.into())
            }),
        ];
        members(class, "Intl.RelativeTimeFormat", &methods, is_english);
        Ok(())
    }
}

const UNITS: [&str; 8] = ["second", "minute", "hour", "day", "week", "month", "quarter", "year"];

fn relative_to_parts(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (parts, unit) = relative_parts(this, arguments, context)?;
    let mut objects = Vec::new();
    for (kind, value) in &parts {
        let unit = if *kind == "literal" { JsValue::undefined() } else { text(unit) };
        let members = [("type", text(kind)), ("value", text(value)), ("unit", unit)];
        objects.push(JsValue::from(object(&members, context)?));
    }
    Ok(JsArray::from_iter(objects, context).into())
}

fn relative_parts(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<(Vec<Part>, &'static str)> {
    let format = data::<RelativeTimeFormat>(this)?;
    let amount = arguments.first().cloned().unwrap_or_default().to_number(context)?;
    let given = arguments.get(1).cloned().unwrap_or_default().to_string(context)?.to_std_string_lossy();
    let singular = given.strip_suffix('s').unwrap_or(&given);
    let Some(unit) = UNITS.into_iter().find(|unit| *unit == singular) else {
        let message = format!("the unit may be {}", UNITS.join(", "));
        return Err(JsNativeError::range().with_message(message).into());
    };
    if !amount.is_finite() {
        return Err(JsNativeError::range().with_message("Intl.RelativeTimeFormat takes a finite number").into());
    }
    if format.is_wordy
        && let Some(word) = word(unit, amount, format.style)
    {
        return Ok((vec![("literal", word)], unit));
    }
    let number = number(&JsValue::from(amount.abs()), context)?;
    let mut parts = format.numbers.parts(&number);
    let is_one = parts.len() == 1 && parts.first().is_some_and(|(_, text)| text == "1");
    let name = unit_name(unit, format.style, is_one);
    if amount.is_sign_negative() {
        parts.push(("literal", format!("{name} ago")));
    } else {
        parts.insert(0, ("literal", "in ".to_owned()));
        parts.push(("literal", name));
    }
    Ok((parts, unit))
}

/// `yesterday`, `next week`, `now`.
fn word(unit: &str, amount: f64, style: &str) -> Option<String> {
    let word = match (unit, amount) {
        ("second", 0.0) => "now".to_owned(),
        ("day", -1.0) => "yesterday".to_owned(),
        ("day", 0.0) => "today".to_owned(),
        ("day", 1.0) => "tomorrow".to_owned(),
        ("hour" | "minute", 0.0) => format!("this {unit}"),
        ("second" | "hour" | "minute" | "day", _) => return None,
        (_, amount) => {
            let name = if style == "long" { unit.to_owned() } else { short(unit, true).to_owned() };
            match amount {
                -1.0 => format!("last {name}"),
                0.0 => format!("this {name}"),
                1.0 => format!("next {name}"),
                _ => return None,
            }
        }
    };
    Some(word)
}

fn unit_name(unit: &str, style: &str, is_one: bool) -> String {
    match style {
        "long" => format!(" {unit}{}", if is_one { "" } else { "s" }),
        "short" => format!(" {}", short(unit, is_one)),
        _ => {
            if unit == "month" {
                "mo".to_owned()
            } else {
                unit.chars().take(1).collect()
            }
        }
    }
}

fn short(unit: &str, is_one: bool) -> &'static str {
    match (unit, is_one) {
        ("second", _) => "sec.",
        ("minute", _) => "min.",
        ("hour", _) => "hr.",
        ("day", true) => "day",
        ("day", false) => "days",
        ("week", _) => "wk.",
        ("month", _) => "mo.",
        ("quarter", true) => "qtr.",
        ("quarter", false) => "qtrs.",
        _ => "yr.",
    }
}
