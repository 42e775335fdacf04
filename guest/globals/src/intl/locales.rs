//! What is known of each locale: patterns of dates, names, and the signs of numbers.
//!
//! The data itself is `table.rs`, which a program writes. It lies in the image as it is, so that a script that formats
//! nothing pays nothing for it.

use super::table::{LOCALES, NAMES, PATTERNS};

/// How a locale writes. The numbers are places in `PATTERNS` and `NAMES`.
pub(super) struct Data {
    pub(super) tag: &'static str,
    /// By era, weekday, year, month and day, as `Fields::date_place` counts them.
    pub(super) dates: [u16; 432],
    /// What stands between each of these and a time.
    pub(super) joints: [u16; 432],
    /// By hours, zone, period, fraction, hour, minute and second, as `Fields::time_place` counts them.
    pub(super) times: [u16; 432],
    /// The same with a weekday alone, long, short and narrow.
    pub(super) weekday_times: [u16; 1296],
    /// Full, long, medium, short.
    pub(super) date_styles: [u16; 4],
    /// Full to short before a time of twelve hours, and of twenty-four, with what stands between.
    pub(super) styled_dates: [u16; 8],
    /// Full to short with twelve hours, and with twenty-four.
    pub(super) time_styles: [u16; 8],
    /// Long, short, narrow.
    pub(super) eras: [u16; 3],
    /// Names of the parts of a day, long, short, narrow.
    pub(super) periods: [u16; 3],
    pub(super) is_twelve: bool,
    pub(super) offsets: Offsets,
    pub(super) numbers: Numbers,
}

/// How an offset from UTC is written.
pub(super) struct Offsets {
    pub(super) zero: &'static str,
    pub(super) prefix: &'static str,
    pub(super) minus: &'static str,
    pub(super) colon: &'static str,
}

/// The signs of numbers.
pub(super) struct Numbers {
    pub(super) decimal: &'static str,
    pub(super) group: &'static str,
    pub(super) money_decimal: &'static str,
    pub(super) money_group: &'static str,
    pub(super) minus: &'static str,
    pub(super) exponent: &'static str,
    /// Digits from which on they are grouped.
    pub(super) first_grouped: usize,
    /// Digits of each group but the last, which has three.
    pub(super) group_size: usize,
    pub(super) percent: &'static str,
    /// Amounts without, with a minus and with a plus; the same in accounting; all again for symbols that have a letter
    /// next to the number.
    pub(super) amounts: [&'static str; 12],
    /// Between the ends of a range.
    pub(super) range: &'static str,
    /// Before a range whose ends are written alike.
    pub(super) about: &'static str,
}

/// The place of a locale in the table: of its own, or the one that stands for its language. (English has customs of its
/// own in a few regions, and those of Britain in all others.)
pub(super) fn find(tag: &str) -> Option<usize> {
    let end = tag.split('-').skip(1).position(|part| part.len() == 1);
    let base: Vec<&str> = tag.split('-').take(end.map_or(usize::MAX, |end| end + 1)).collect();
    let whole = base.join("-");
    let known = |tag: &str| LOCALES.iter().position(|locale| locale.tag == tag);
    let of_language = match whole.as_str() {
        "en" | "en-PR" | "en-PH" | "en-VI" | "en-GU" => "en-US",
        "sv" => "sv-SE",
        "de" => "de-DE",
        "fr" => "fr-FR",
        "es" => "es-ES",
        "it" => "it-IT",
        "nl" => "nl-NL",
        "da" => "da-DK",
        "nb" | "no" | "no-NO" => "nb-NO",
        "ja" => "ja-JP",
        "pt" => "pt-BR",
        other => other,
    };
    known(of_language).or_else(|| if whole.starts_with("en-") { known("en-GB") } else { None })
}

/// The locales that there are, for a message.
pub(super) fn listed() -> String {
    LOCALES.iter().map(|locale| locale.tag).collect::<Vec<_>>().join(", ")
}

pub(super) fn pattern(place: u16) -> &'static str {
    PATTERNS.get(usize::from(place)).copied().unwrap_or_default()
}

/// One of a list of names.
pub(super) fn name(list: usize, index: usize) -> &'static str {
    NAMES.get(list).and_then(|names| names.split('|').nth(index)).unwrap_or_default()
}

/// A name that is no list.
pub(super) fn whole_name(place: u16) -> Option<&'static str> {
    if place == 0 { None } else { NAMES.get(usize::from(place)).copied() }
}
