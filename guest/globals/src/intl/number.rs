//! `Intl.NumberFormat`, and `toLocaleString` of numbers.

use boa_engine::{
    Context, JsData, JsNativeError, JsObject, JsResult, JsValue, JsVariant,
    class::{Class, ClassBuilder},
    js_string,
};
use boa_gc::{Finalize, Trace};

use belljar_guest_algorithms::intl::{
    decimal::Decimal,
    locale::is_known,
    number::{Number, Rounding, Style},
};

use super::{bind, bound, data, joined, listed, made, members, object, settings, text};

#[derive(Debug, Clone, Trace, Finalize, JsData)]
pub(super) struct NumberFormat {
    // Holds no object that could be collected.
    #[unsafe_ignore_trace]
    pub(super) style: Style,
}

impl Class for NumberFormat {
    const NAME: &'static str = "NumberFormat";

    fn data_constructor(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<Self> {
        Ok(Self { style: settings::style(arguments.first(), arguments.get(1), context)? })
    }

    fn construct(new_target: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsObject> {
        made::<Self>(new_target, arguments, context)
    }

    fn init(class: &mut ClassBuilder<'_>) -> JsResult<()> {
        members(
            class,
            "Intl.NumberFormat",
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

/// `toLocaleString` of numbers and BigInts.
pub(super) fn number_to_locale_string(
    this: &JsValue,
    arguments: &[JsValue],
    context: &mut Context,
) -> JsResult<JsValue> {
    let value = match this.as_object() {
        Some(object) => match object.downcast_ref::<f64>() {
            Some(number) => JsValue::from(*number),
            None => object
                .downcast_ref::<boa_engine::JsBigInt>()
                .map_or_else(JsValue::undefined, |big| JsValue::from(big.clone())),
        },
        None => this.clone(),
    };
    if !value.is_number() && !value.is_bigint() {
        return Err(JsNativeError::typ()
            .with_message("toLocaleString of a number was called on something else")
            .into());
    }
    let style = settings::style(arguments.first(), arguments.get(1), context)?;
    Ok(joined(&style.parts(&number(&value, context)?)))
}

/// The number that a value means, exact also where it is a text.
pub(super) fn number(value: &JsValue, context: &mut Context) -> JsResult<Number> {
    let value = match value.variant() {
        JsVariant::Object(_) => value.to_primitive(context, boa_engine::value::PreferredType::Number)?,
        _ => value.clone(),
    };
    let spelt = match value.variant() {
        JsVariant::BigInt(big) => Decimal::parse(&big.to_string()),
        JsVariant::String(text) => Decimal::parse(text.to_std_string_lossy().trim()),
        _ => None,
    };
    if let Some(decimal) = spelt {
        return Ok(Number::Finite(decimal));
    }
    let number = value.to_number(context)?;
    Ok(if number.is_nan() {
        Number::NaN
    } else if number.is_infinite() {
        Number::Infinite { is_negative: number < 0.0 }
    } else {
        Number::Finite(Decimal::of(number))
    })
}

fn format(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let value = arguments.first().cloned().unwrap_or_default();
    Ok(joined(&data::<NumberFormat>(this)?.style.parts(&number(&value, context)?)))
}

fn format_to_parts(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let value = arguments.first().cloned().unwrap_or_default();
    let parts = data::<NumberFormat>(this)?.style.parts(&number(&value, context)?);
    listed(&parts, context)
}

fn format_range(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let style = data::<NumberFormat>(this)?.style.clone();
    if !style.locale.is_english() && style.kind != "decimal" {
        let message =
            "formatRange is there in English and for plain numbers: format both ends, and put '–' between them";
        return Err(JsNativeError::range().with_message(message).into());
    }
    let mut ends = Vec::new();
    for index in 0..2 {
        let value = arguments.get(index).cloned().unwrap_or_default();
        let number = number(&value, context)?;
        if matches!(number, Number::NaN) {
            return Err(JsNativeError::range().with_message("formatRange takes two numbers").into());
        }
        ends.push(style.parts(&number).into_iter().map(|(_, text)| text).collect::<String>());
    }
    let numbers = &style.locale.data().numbers;
    let range = if ends[0] == ends[1] { format!("{}{}", numbers.about, ends[0]) } else { ends.join(numbers.range) };
    Ok(text(&range))
}

fn resolved_options(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let style = data::<NumberFormat>(this)?.style.clone();
    let is = |kind: &str, value: JsValue| if style.kind == kind { value } else { JsValue::undefined() };
    let (mut fraction, mut significant) =
        ([JsValue::undefined(), JsValue::undefined()], [JsValue::undefined(), JsValue::undefined()]);
    match style.rounding {
        Rounding::Fraction { least, most } => fraction = [least.into(), most.into()],
        Rounding::Significant { least, most } => significant = [least.into(), most.into()],
        Rounding::Compact => (fraction, significant) = ([0.into(), 0.into()], [1.into(), 2.into()]),
    }
    let [least_fraction, most_fraction] = fraction;
    let [least_significant, most_significant] = significant;
    let members = [
        ("locale", text(&style.locale.tag)),
        ("numberingSystem", js_string!("latn").into()),
        ("style", text(style.kind)),
        ("currency", is("currency", text(&style.currency))),
        ("currencyDisplay", is("currency", text(style.currency_display))),
        ("currencySign", is("currency", text(style.currency_sign))),
        ("unit", is("unit", text(&style.unit))),
        ("unitDisplay", is("unit", text(style.unit_display))),
        ("minimumIntegerDigits", style.least_whole.into()),
        ("minimumFractionDigits", least_fraction),
        ("maximumFractionDigits", most_fraction),
        ("minimumSignificantDigits", least_significant),
        ("maximumSignificantDigits", most_significant),
        ("useGrouping", if style.grouping == "false" { JsValue::from(false) } else { text(style.grouping) }),
        ("notation", text(style.notation)),
        (
            "compactDisplay",
            if style.notation == "compact" { text(style.compact_display) } else { JsValue::undefined() },
        ),
        ("signDisplay", text(style.sign)),
    ];
    Ok(object(&members, context)?.into())
}
