//! Numbers as texts: signs, groups, units and currencies around rounded digits.

use super::{
    Part,
    decimal::{Decimal, Mode},
    locale::Locale,
    units,
};

/// A number to format.
pub enum Number {
    Finite(Decimal),
    Infinite { is_negative: bool },
    NaN,
}

/// What the options have settled.
#[derive(Debug, Clone)]
pub struct Style {
    pub locale: Locale,
    pub kind: &'static str,
    pub currency: String,
    pub currency_display: &'static str,
    pub currency_sign: &'static str,
    pub unit: String,
    pub unit_display: &'static str,
    pub notation: &'static str,
    pub compact_display: &'static str,
    pub grouping: &'static str,
    pub sign: &'static str,
    pub least_whole: usize,
    pub rounding: Rounding,
    pub mode: Mode,
}

/// Which digits are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    Fraction {
        least: usize,
        most: usize,
    },
    Significant {
        least: usize,
        most: usize,
    },
    /// Of compact numbers: two digits, or all those before the point.
    Compact,
}

impl Style {
    /// A number in pieces.
    pub fn parts(&self, number: &Number) -> Vec<Part> {
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
