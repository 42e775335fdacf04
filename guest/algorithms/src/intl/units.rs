//! The symbols of currencies, and the names of currencies and units in English.

use super::{
    locale::Locale,
    locales,
    table::{CURRENCIES, SYMBOLS},
};

/// Codes, and names in the plural.
const CURRENCY_NAMES: &[(&str, &str)] = &[
    ("USD", "US dollars"),
    ("EUR", "euros"),
    ("GBP", "British pounds"),
    ("JPY", "Japanese yen"),
    ("CNY", "Chinese yuan"),
    ("INR", "Indian rupees"),
    ("CAD", "Canadian dollars"),
    ("AUD", "Australian dollars"),
    ("NZD", "New Zealand dollars"),
    ("MXN", "Mexican pesos"),
    ("BRL", "Brazilian reals"),
    ("KRW", "South Korean won"),
    ("HKD", "Hong Kong dollars"),
    ("TWD", "New Taiwan dollars"),
    ("ILS", "Israeli new shekels"),
    ("VND", "Vietnamese dong"),
    ("PHP", "Philippine pesos"),
    ("XAF", "Central African CFA francs"),
    ("XOF", "West African CFA francs"),
    ("XCD", "East Caribbean dollars"),
    ("CHF", "Swiss francs"),
    ("SEK", "Swedish kronor"),
    ("NOK", "Norwegian kroner"),
    ("DKK", "Danish kroner"),
    ("PLN", "Polish zlotys"),
    ("CZK", "Czech korunas"),
    ("HUF", "Hungarian forints"),
    ("RUB", "Russian rubles"),
    ("UAH", "Ukrainian hryvnias"),
    ("TRY", "Turkish Lira"),
    ("ZAR", "South African rand"),
    ("SGD", "Singapore dollars"),
    ("THB", "Thai baht"),
    ("NGN", "Nigerian nairas"),
];

/// The symbol of a currency in a locale: its own dollar is `$`, those of others say whose they are.
pub fn symbol<'a>(code: &'a str, locale: &Locale) -> &'a str {
    written(code, locale, 0)
}

pub fn narrow_symbol<'a>(code: &'a str, locale: &Locale) -> &'a str {
    written(code, locale, 1)
}

fn written<'a>(code: &'a str, locale: &Locale, width: usize) -> &'a str {
    let row = CURRENCIES.binary_search_by(|(other, _)| (*other).cmp(code)).ok().and_then(|place| CURRENCIES.get(place));
    let symbols = row.and_then(|(_, row)| SYMBOLS.get(usize::from(*row)));
    symbols
        .and_then(|symbols| symbols.get(2 * locale.place + width))
        .and_then(|place| locales::whole_name(*place))
        .unwrap_or(code)
}

/// The name in the plural. (With two digits after the point also one dollar is `1.00 US dollars`.)
pub fn currency_name(code: &str) -> &str {
    CURRENCY_NAMES.iter().find(|currency| currency.0 == code).map_or(code, |currency| currency.1)
}

/// Digits after the point, by ISO 4217.
pub fn currency_digits(code: &str) -> usize {
    match code {
        "BIF" | "CLP" | "DJF" | "GNF" | "ISK" | "JPY" | "KMF" | "KRW" | "PYG" | "RWF" | "UGX" | "UYI" | "VND"
        | "VUV" | "XAF" | "XOF" | "XPF" => 0,
        "BHD" | "IQD" | "JOD" | "KWD" | "LYD" | "OMR" | "TND" => 3,
        _ => 2,
    }
}

/// A unit: its name, how it is written short (of one, of several) and narrow, and long (of one, of
/// several).
pub struct Unit {
    name: &'static str,
    short: (&'static str, &'static str),
    narrow: &'static str,
    long: (&'static str, &'static str),
}

macro_rules! units {
    ($($name:literal $one:literal $other:literal $narrow:literal $long:literal $plural:literal;)*) => {
        &[$(Unit { name: $name, short: ($one, $other), narrow: $narrow, long: ($long, $plural) }),*]
    };
}

/// What ECMA-402 sanctions.
const UNITS: &[Unit] = units! {
    "acre" " ac" " ac" "ac" " acre" " acres";
    "bit" " bit" " bit" "bit" " bit" " bits";
    "byte" " byte" " byte" "B" " byte" " bytes";
    "celsius" "°C" "°C" "°C" " degree Celsius" " degrees Celsius";
    "centimeter" " cm" " cm" "cm" " centimeter" " centimeters";
    "day" " day" " days" "d" " day" " days";
    "degree" " deg" " deg" "°" " degree" " degrees";
    "fahrenheit" "°F" "°F" "°" " degree Fahrenheit" " degrees Fahrenheit";
    "fluid-ounce" " fl oz" " fl oz" "fl oz" " fluid ounce" " fluid ounces";
    "foot" " ft" " ft" "′" " foot" " feet";
    "gallon" " gal" " gal" "gal" " gallon" " gallons";
    "gigabit" " Gb" " Gb" "Gb" " gigabit" " gigabits";
    "gigabyte" " GB" " GB" "GB" " gigabyte" " gigabytes";
    "gram" " g" " g" "g" " gram" " grams";
    "hectare" " ha" " ha" "ha" " hectare" " hectares";
    "hour" " hr" " hr" "h" " hour" " hours";
    "inch" " in" " in" "″" " inch" " inches";
    "kilobit" " kb" " kb" "kb" " kilobit" " kilobits";
    "kilobyte" " kB" " kB" "kB" " kilobyte" " kilobytes";
    "kilogram" " kg" " kg" "kg" " kilogram" " kilograms";
    "kilometer" " km" " km" "km" " kilometer" " kilometers";
    "liter" " L" " L" "L" " liter" " liters";
    "megabit" " Mb" " Mb" "Mb" " megabit" " megabits";
    "megabyte" " MB" " MB" "MB" " megabyte" " megabytes";
    "meter" " m" " m" "m" " meter" " meters";
    "microsecond" " μs" " μs" "μs" " microsecond" " microseconds";
    "mile" " mi" " mi" "mi" " mile" " miles";
    "mile-scandinavian" " smi" " smi" "smi" " mile-scandinavian" " miles-scandinavian";
    "milliliter" " mL" " mL" "mL" " milliliter" " milliliters";
    "millimeter" " mm" " mm" "mm" " millimeter" " millimeters";
    "millisecond" " ms" " ms" "ms" " millisecond" " milliseconds";
    "minute" " min" " min" "m" " minute" " minutes";
    "month" " mth" " mths" "m" " month" " months";
    "nanosecond" " ns" " ns" "ns" " nanosecond" " nanoseconds";
    "ounce" " oz" " oz" "oz" " ounce" " ounces";
    "percent" "%" "%" "%" " percent" " percent";
    "petabyte" " PB" " PB" "PB" " petabyte" " petabytes";
    "pound" " lb" " lb" "#" " pound" " pounds";
    "second" " sec" " sec" "s" " second" " seconds";
    "stone" " st" " st" "st" " stone" " stones";
    "terabit" " Tb" " Tb" "Tb" " terabit" " terabits";
    "terabyte" " TB" " TB" "TB" " terabyte" " terabytes";
    "week" " wk" " wks" "w" " week" " weeks";
    "yard" " yd" " yd" "yd" " yard" " yards";
    "year" " yr" " yrs" "y" " year" " years";
};

/// What a number of a unit is followed by, a space included; none of a unit that is not known.
pub fn unit(name: &str, display: &str, is_one: bool) -> Option<String> {
    let find = |name: &str| UNITS.iter().find(|unit| unit.name == name);
    let written = |unit: &Unit, is_one: bool| match display {
        "narrow" => unit.narrow,
        "long" if is_one => unit.long.0,
        "long" => unit.long.1,
        _ if is_one => unit.short.0,
        _ => unit.short.1,
    };
    if let Some(unit) = find(name) {
        return Some(written(unit, is_one).to_owned());
    }
    let (unit, per) = name.split_once("-per-")?;
    let (first, second) = (written(find(unit)?, is_one), written(find(per)?, true).trim_start());
    Some(match (display, name) {
        ("long", _) => format!("{first} per {second}"),
        (_, "mile-per-hour") => " mph".replace(' ', if display == "narrow" { "" } else { " " }),
        (_, "mile-per-gallon") => " mpg".replace(' ', if display == "narrow" { "" } else { " " }),
        _ => format!(
            "{first}/{}",
            if per == "hour" {
                "h"
            } else if per == "second" {
                "s"
            } else {
                second
            }
        ),
    })
}
