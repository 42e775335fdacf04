//! Splitting at white space, which is what most expressions given to `split` are for:
//! `text.split(/\s+/)`.

use std::ops::Range;

use boa_engine::{JsString, string::JsStrVariant};

/// The source of the pattern that is known here. No flag changes what it matches.
pub(super) const SOURCE: &str = r"\s+";

/// Where `text` has white space, each stretch as a whole.
pub(super) fn stretches(text: &JsString) -> Vec<Range<usize>> {
    match text.variant() {
        JsStrVariant::Latin1(bytes) => in_units(bytes.iter().copied().map(u16::from)),
        JsStrVariant::Utf16(units) => in_units(units.iter().copied()),
    }
}

fn in_units(units: impl Iterator<Item = u16>) -> Vec<Range<usize>> {
    let mut stretches = Vec::new();
    let mut start = None;
    let mut length = 0;
    for (at, unit) in units.enumerate() {
        length = at + 1;
        if is_space(unit) {
            start.get_or_insert(at);
        } else if let Some(start) = start.take() {
            stretches.push(start..at);
        }
    }
    stretches.extend(start.map(|start| start..length));
    stretches
}

/// White space and line terminators, as the language has them.
fn is_space(unit: u16) -> bool {
    match unit {
        0x21..=0x9F => false,
        0x09..=0x0D | 0x20 | 0xA0 => true,
        0x1680 | 0x2000..=0x200A | 0x2028 | 0x2029 | 0x202F | 0x205F | 0x3000 | 0xFEFF => true,
        _ => false,
    }
}
