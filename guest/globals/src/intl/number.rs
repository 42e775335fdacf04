//! `Intl.NumberFormat`, and `toLocaleString` of numbers.

use boa_engine::{
    Context, JsData, JsNativeError, JsObject, JsResult, JsValue, JsVariant,
    class::{Class, ClassBuilder},
    js_string,
};
use boa_gc::{Finalize, Trace};

use super::{
    Part, bind, bound, data,
    decimal::Decimal,
    joined, listed,
    locale::is_known,
    made, members, object,
    settings::{Rounding, Style},
    text, units,
};

#[derive(Debug, Clone, Trace, Finalize, JsData)]
pub(super) struct NumberFormat {
    // Holds no object that could be collected.
    #[unsafe_ignore_trace]
    pub(super) style: Style,
}

/// A number to format.
pub(super) enum Number {
    Finite(Decimal),
    Infinite { is_negative: bool },
    NaN,
}

impl Class for NumberFormat {
    const NAME: &'static str = "NumberFormat";

    fn data_constructor(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<Self> {
        Ok(Self { style: Style::of(arguments.first(), arguments.get(1), context)? })
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
    let style = Style::of(arguments.first(), arguments.get(1), context)?;
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

impl Style {
    /// A number in pieces.
    pub(super) fn parts(&self, number: &Number) -> Vec<Part> {
        let (is_negative, is_zero, is_one, body) = match number {
            Number::NaN => (false, false, false, vec![("nan", "NaN".to_owned())]),
            Number::Infinite { is_negative } => (*is_negative, false, false, vec![("infinity", "∞".to_owned())]),
            Number::Finite(decimal) => {
                let decimal = if self.kind == "percent" { decimal.clone().shifted(2) } else { decimal.clone() };
                self.body(&decimal)
            }
        };
        let sign = match self.sign {
            "never" => "",
            "always" => {
                if is_negative {
                    "-"
                } else {
                    "+"
                }
            }
            "exceptZero" if is_zero || matches!(number, Number::NaN) => "",
            "exceptZero" => {
                if is_negative {
                    "-"
                } else {
                    "+"
                }
            }
            "negative" if is_zero => "",
            _ => {
                if is_negative {
                    "-"
                } else {
                    ""
                }
            }
        };
        self.around(sign, is_one, body)
    }

    /// The sign, what the number is of, and the number.
    fn around(&self, sign: &str, is_one: bool, body: Vec<Part>) -> Vec<Part> {
        let numbers = &self.locale.data().numbers;
        if self.kind == "currency" && self.currency_display != "name" {
            let symbol = match self.currency_display {
                "code" => self.currency.as_str(),
                "narrowSymbol" => units::narrow_symbol(&self.currency, &self.locale),
                _ => units::symbol(&self.currency, &self.locale),
            };
            let plain = numbers.amounts[0];
            let is_before = plain.find("{c}") < plain.find("{0}");
            let edge = if is_before { symbol.chars().next_back() } else { symbol.chars().next() };
            // A symbol that ends in a letter may stand apart.
            let place = 6 * usize::from(edge.is_some_and(char::is_alphabetic))
                + 3 * usize::from(self.currency_sign == "accounting")
                + match sign {
                    "-" => 1,
                    "+" => 2,
                    _ => 0,
                };
            return self.filled(numbers.amounts.get(place).copied().unwrap_or_default(), symbol, body);
        }
        let mut parts = Vec::new();
        match sign {
            "-" => parts.push(("minusSign", numbers.minus.to_owned())),
            "+" => parts.push(("plusSign", "+".to_owned())),
            _ => {}
        }
        match self.kind {
            "percent" => parts.extend(self.filled(numbers.percent, "", body)),
            "currency" => {
                parts.extend(body);
                parts.push(("literal", " ".to_owned()));
                parts.push(("currency", units::currency_name(&self.currency).to_owned()));
            }
            "unit" => {
                parts.extend(body);
                let unit = units::unit(&self.unit, self.unit_display, is_one).unwrap_or_default();
                if let Some(rest) = unit.strip_prefix(' ') {
                    parts.push(("literal", " ".to_owned()));
                    parts.push(("unit", rest.to_owned()));
                } else {
                    parts.push((if self.unit == "percent" { "percentSign" } else { "unit" }, unit));
                }
            }
            _ => parts.extend(body),
        }
        parts
    }

    /// Fills a pattern in: `{0}` is the number, `{c}` the currency, and the signs stand for
    /// themselves.
    fn filled(&self, pattern: &str, symbol: &str, body: Vec<Part>) -> Vec<Part> {
        let mut body = Some(body);
        let mut parts = Vec::new();
        let mut rest = pattern;
        while !rest.is_empty() {
            let (literal, field) = rest.split_once('{').unwrap_or((rest, ""));
            if !literal.is_empty() {
                parts.push(("literal", literal.to_owned()));
            }
            let (field, behind) = field.split_once('}').unwrap_or((field, ""));
            match field {
                "0" => parts.extend(body.take().unwrap_or_default()),
                "c" => parts.push(("currency", symbol.to_owned())),
                "-" => parts.push(("minusSign", self.locale.data().numbers.minus.to_owned())),
                "+" => parts.push(("plusSign", "+".to_owned())),
                "%" => parts.push(("percentSign", "%".to_owned())),
                _ => {}
            }
            rest = behind;
        }
        parts
    }

    /// Whether the number, as it is written, is negative, zero, and one; and its digits.
    fn body(&self, decimal: &Decimal) -> (bool, bool, bool, Vec<Part>) {
        let mut exponent = self.exponent(decimal);
        let mut rounded = self.rounded(&decimal.clone().shifted(-exponent));
        // 999.9 thousand is a million.
        if self.notation != "standard" && !rounded.is_zero() {
            let again = self.exponent(&rounded.clone().shifted(exponent));
            if again != exponent {
                exponent = again;
                rounded = self.rounded(&decimal.clone().shifted(-exponent));
            }
        }
        let least_fraction = match self.rounding {
            Rounding::Fraction { least, .. } => least,
            Rounding::Significant { least, .. } => {
                let places = least as i64 - i64::from(rounded.magnitude()) - 1;
                usize::try_from(places).unwrap_or(0)
            }
            Rounding::Compact => 0,
        };
        let (whole, fraction) = rounded.written(self.least_whole, least_fraction);
        let is_one = whole == "1" && fraction.is_empty() && exponent == 0;
        let mut parts = self.grouped(&whole);
        if !fraction.is_empty() {
            let numbers = &self.locale.data().numbers;
            let decimal = if self.kind == "currency" { numbers.money_decimal } else { numbers.decimal };
            parts.push(("decimal", decimal.to_owned()));
            parts.push(("fraction", fraction));
        }
        match self.notation {
            "compact" if exponent > 0 => {
                let index = (exponent / 3 - 1) as usize;
                if self.compact_display == "long" {
                    parts.push(("literal", " ".to_owned()));
                    parts.push(("compact", ["thousand", "million", "billion", "trillion"][index.min(3)].to_owned()));
                } else {
                    parts.push(("compact", ["K", "M", "B", "T"][index.min(3)].to_owned()));
                }
            }
            "scientific" | "engineering" => {
                parts.push(("exponentSeparator", self.locale.data().numbers.exponent.to_owned()));
                if exponent < 0 {
                    parts.push(("exponentMinusSign", self.locale.data().numbers.minus.to_owned()));
                }
                parts.push(("exponentInteger", exponent.abs().to_string()));
            }
            _ => {}
        }
        (rounded.is_negative, rounded.is_zero(), is_one, parts)
    }

    /// The power of ten that is said beside the digits.
    fn exponent(&self, decimal: &Decimal) -> i32 {
        let magnitude = decimal.magnitude();
        match self.notation {
            "scientific" => magnitude,
            "engineering" => magnitude.div_euclid(3) * 3,
            "compact" => (magnitude.div_euclid(3) * 3).clamp(0, 12),
            _ => 0,
        }
    }

    fn rounded(&self, decimal: &Decimal) -> Decimal {
        match self.rounding {
            Rounding::Fraction { most, .. } => decimal.to_fraction(most, self.mode),
            Rounding::Significant { most, .. } => decimal.to_significant(most, self.mode),
            Rounding::Compact if decimal.magnitude() >= 1 => decimal.to_fraction(0, self.mode),
            Rounding::Compact => decimal.to_significant(2, self.mode),
        }
    }

    fn grouped(&self, whole: &str) -> Vec<Part> {
        let numbers = &self.locale.data().numbers;
        let least = match self.grouping {
            "false" => usize::MAX,
            "min2" => 5,
            "always" => 4,
            _ => numbers.first_grouped,
        };
        if whole.len() < least {
            return vec![("integer", whole.to_owned())];
        }
        let sign = if self.kind == "currency" { numbers.money_group } else { numbers.group };
        let mut parts = Vec::new();
        let mut rest = whole;
        while !rest.is_empty() {
            // The last group has three digits, those before it as many as the locale says.
            let length = match rest.len().saturating_sub(3) {
                0 => rest.len(),
                before if before % numbers.group_size == 0 => numbers.group_size,
                before => before % numbers.group_size,
            };
            let (group, others) = rest.split_at(length);
            if !parts.is_empty() {
                parts.push(("group", sign.to_owned()));
            }
            parts.push(("integer", group.to_owned()));
            rest = others;
        }
        parts
    }
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
