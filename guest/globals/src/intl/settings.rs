//! How a number is written: what the options of `Intl.NumberFormat` settle.

use boa_engine::{Context, JsNativeError, JsResult, JsValue};

use belljar_guest_algorithms::intl::{
    decimal::Mode,
    number::{Rounding, Style},
    units,
};

use super::{Options, locale};

/// The style that the arguments of `Intl.NumberFormat` ask for.
pub(super) fn style(locales: Option<&JsValue>, options: Option<&JsValue>, context: &mut Context) -> JsResult<Style> {
    let locale = locale::of(locales, context)?;
    let options = Options::of(options, context)?;
    let kind = options.word("style", &["decimal", "percent", "currency", "unit"], context)?.unwrap_or("decimal");
    let currency = options.text("currency", context)?.unwrap_or_default().to_ascii_uppercase();
    if kind == "currency" && currency.is_empty() {
        let message = "style 'currency' needs a currency as well, as in { style: 'currency', currency: 'USD' }";
        return Err(JsNativeError::typ().with_message(message).into());
    }
    if !currency.is_empty() && (currency.len() != 3 || !currency.bytes().all(|byte| byte.is_ascii_alphabetic())) {
        let message = "a currency is three letters, as in 'USD'";
        return Err(JsNativeError::range().with_message(message).into());
    }
    let currency_displays = ["symbol", "narrowSymbol", "code", "name"];
    let currency_display = options.word("currencyDisplay", &currency_displays, context)?.unwrap_or("symbol");
    let currency_sign = options.word("currencySign", &["standard", "accounting"], context)?.unwrap_or("standard");
    let unit = options.text("unit", context)?.unwrap_or_default();
    if kind == "unit" && unit.is_empty() {
        let message = "style 'unit' needs a unit as well, as in { style: 'unit', unit: 'megabyte' }";
        return Err(JsNativeError::typ().with_message(message).into());
    }
    if !unit.is_empty() && units::unit(&unit, "short", true).is_none() {
        let unit: String = unit.chars().take(40).collect();
        let message =
            format!("there is no unit '{unit}': see ECMA-402 for those that there are, as 'megabyte' and 'hour'");
        return Err(JsNativeError::range().with_message(message).into());
    }
    let unit_display = options.word("unitDisplay", &["short", "narrow", "long"], context)?.unwrap_or("short");
    let notations = ["standard", "scientific", "engineering", "compact"];
    let notation = options.word("notation", &notations, context)?.unwrap_or("standard");
    let compact_display = options.word("compactDisplay", &["short", "long"], context)?.unwrap_or("short");
    let in_english = match () {
        () if notation == "compact" => Some("notation 'compact'"),
        () if kind == "unit" => Some("style 'unit'"),
        () if kind == "currency" && currency_display == "name" => Some("currencyDisplay 'name'"),
        () => None,
    };
    if let Some(what) = in_english.filter(|_| !locale.is_english()) {
        let tag: String = locale.tag.chars().take(40).collect();
        let message = format!("{what} is there in English alone, and not in '{tag}': give 'en-US', or leave it out");
        return Err(JsNativeError::range().with_message(message).into());
    }
    let grouping = grouping(&options, notation, context)?;
    let signs = ["auto", "never", "always", "exceptZero", "negative"];
    let sign = options.word("signDisplay", &signs, context)?.unwrap_or("auto");
    let least_whole = options.whole("minimumIntegerDigits", 1, 21, context)?.unwrap_or(1);
    let digits = match kind {
        "currency" => units::currency_digits(&currency),
        _ => 0,
    };
    let (default_least, default_most) = match kind {
        "currency" => (digits, digits),
        "percent" => (0, 0),
        _ => (0, 3),
    };
    let rounding = rounding(&options, notation, (default_least, default_most), context)?;
    let mode = mode(&options, context)?;
    Ok(Style {
        locale,
        kind,
        currency,
        currency_display,
        currency_sign,
        unit,
        unit_display,
        notation,
        compact_display,
        grouping,
        sign,
        least_whole,
        rounding,
        mode,
    })
}

fn rounding(
    options: &Options,
    notation: &str,
    (default_least, default_most): (usize, usize),
    context: &mut Context,
) -> JsResult<Rounding> {
    let least_fraction = options.whole("minimumFractionDigits", 0, 100, context)?;
    let most_fraction = options.whole("maximumFractionDigits", 0, 100, context)?;
    let least_significant = options.whole("minimumSignificantDigits", 1, 21, context)?;
    let most_significant = options.whole("maximumSignificantDigits", 1, 21, context)?;
    let backwards = |what: &str| {
        let message = format!("minimum{what}Digits is more than maximum{what}Digits");
        JsNativeError::range().with_message(message)
    };
    if least_significant.is_some() || most_significant.is_some() {
        let least = least_significant.unwrap_or(1);
        let most = most_significant.unwrap_or(21);
        return if least > most {
            Err(backwards("Significant").into())
        } else {
            Ok(Rounding::Significant { least, most })
        };
    }
    match (least_fraction, most_fraction) {
        (None, None) if notation == "compact" => Ok(Rounding::Compact),
        (None, None) => Ok(Rounding::Fraction { least: default_least, most: default_most }),
        (Some(least), None) => Ok(Rounding::Fraction { least, most: default_most.max(least) }),
        (None, Some(most)) => Ok(Rounding::Fraction { least: default_least.min(most), most }),
        (Some(least), Some(most)) if least > most => Err(backwards("Fraction").into()),
        (Some(least), Some(most)) => Ok(Rounding::Fraction { least, most }),
    }
}

fn grouping(options: &Options, notation: &str, context: &mut Context) -> JsResult<&'static str> {
    let value = options.get("useGrouping", context)?;
    if value.is_undefined() {
        return Ok(if notation == "compact" { "min2" } else { "auto" });
    }
    if !value.to_boolean() {
        return Ok("false");
    }
    if value.is_boolean() {
        return Ok("always");
    }
    Ok(match options.word("useGrouping", &["auto", "always", "min2", "true", "false"], context)? {
        Some("min2") => "min2",
        Some("always") => "always",
        _ => "auto",
    })
}

fn mode(options: &Options, context: &mut Context) -> JsResult<Mode> {
    let modes = ["ceil", "floor", "expand", "trunc", "halfCeil", "halfFloor", "halfExpand", "halfTrunc", "halfEven"];
    Ok(match options.word("roundingMode", &modes, context)? {
        Some("ceil") => Mode::Ceil,
        Some("floor") => Mode::Floor,
        Some("expand") => Mode::Expand,
        Some("trunc") => Mode::Trunc,
        Some("halfCeil") => Mode::HalfCeil,
        Some("halfFloor") => Mode::HalfFloor,
        Some("halfTrunc") => Mode::HalfTrunc,
        Some("halfEven") => Mode::HalfEven,
        _ => Mode::HalfExpand,
    })
}
