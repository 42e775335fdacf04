//! What is known of each locale: patterns of dates, names, and the signs of numbers.
//!
//! The data itself is `table.rs`, which a program writes. It lies in the image as it is, so that a
//! script that formats nothing pays nothing for it.

use super::table::{LOCALES, NAMES, PATTERNS};

/// The place of a locale in the table: of its own, or the one that stands for its language.
/// (English has customs of its own in a few regions, and those of Britain in all others.)
pub fn find(tag: &str) -> Option<usize> {
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
pub fn listed() -> String {
    LOCALES.iter().map(|locale| locale.tag).collect::<Vec<_>>().join(", ")
}

pub fn pattern(place: u16) -> &'static str {
    PATTERNS.get(usize::from(place)).copied().unwrap_or_default()
}

/// One of a list of names.
pub fn name(list: usize, index: usize) -> &'static str {
    NAMES.get(list).and_then(|names| names.split('|').nth(index)).unwrap_or_default()
}

/// A name that is no list.
pub fn whole_name(place: u16) -> Option<&'static str> {
    if place == 0 { None } else { NAMES.get(usize::from(place)).copied() }
}
