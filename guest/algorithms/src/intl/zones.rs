//! What time zones are called.

use super::{
    locale::Locale,
    locales,
    table::{ZONE_NAMES, ZONES},
};

/// What a zone is called at an offset: its name in the locale, where it has one, or else the
/// offset.
pub fn name(zone: &str, offset: f64, is_summer: bool, style: &str, locale: &Locale) -> String {
    let is_long = style.starts_with("long");
    if !style.ends_with("Offset") {
        let row = ZONES.binary_search_by(|(name, _)| (*name).cmp(zone)).ok().and_then(|place| ZONES.get(place));
        let names = row.and_then(|(_, row)| ZONE_NAMES.get(usize::from(*row)));
        let place = 4 * locale.place + 2 * usize::from(is_long) + usize::from(is_summer);
        if let Some(name) = names.and_then(|names| names.get(place)).and_then(|place| locales::whole_name(*place)) {
            return name.to_owned();
        }
    }
    let written = &locale.data().offsets;
    let minutes = (offset / 60_000.0) as i64;
    let sign = if minutes < 0 { written.minus } else { "+" };
    let (hours, minutes) = (minutes.abs() / 60, minutes.abs() % 60);
    let (prefix, colon) = (written.prefix, written.colon);
    match (is_long, hours, minutes) {
        (_, 0, 0) => written.zero.to_owned(),
        (true, ..) => format!("{prefix}{sign}{hours:02}{colon}{minutes:02}"),
        (false, _, 0) => format!("{prefix}{sign}{hours}"),
        (false, ..) => format!("{prefix}{sign}{hours}{colon}{minutes:02}"),
    }
}
