//! What `$1`, `$&` and the like stand for in the text that replaces a match.

use std::ops::Range;

use boa_engine::{
    Context, JsObject, JsResult, JsString, JsValue,
    string::{JsStr, JsStrVariant},
};

use super::Builder;

/// A match, as a template asks for its parts.
pub(crate) trait Captured {
    fn text(&self) -> &JsString;
    fn range(&self) -> Range<usize>;
    /// A group by its number, from 1.
    fn group(&self, number: usize) -> Option<Range<usize>>;
    fn named(&self, name: &JsString) -> Option<Range<usize>>;
}

enum Part {
    Literal(Range<usize>),
    Match,
    Before,
    After,
    Group(usize),
    Named(JsString),
}

/// A replacement, read once for all matches.
pub(crate) struct Template {
    source: JsString,
    parts: Vec<Part>,
}

impl Template {
    /// Reads a replacement for matches that have so many groups, and perhaps names for these.
    pub(crate) fn parse(source: &JsString, groups: usize, has_names: bool) -> Self {
        let parts = match source.variant() {
            JsStrVariant::Latin1(bytes) => parts(bytes, groups, has_names),
            JsStrVariant::Utf16(units) => parts(units, groups, has_names),
        };
        Self { source: source.clone(), parts }
    }

    /// Appends what this stands for at one match.
    pub(crate) fn expand(&self, result: &mut Builder, matched: &dyn Captured) {
        for part in &self.parts {
            let range = match part {
                Part::Literal(range) => {
                    result.push_part(&self.source, range.start, range.end);
                    continue;
                }
                Part::Match => matched.range(),
                Part::Before => 0..matched.range().start,
                Part::After => matched.range().end..matched.text().len(),
                Part::Group(number) => matched.group(*number).unwrap_or_default(),
                Part::Named(name) => matched.named(name).unwrap_or_default(),
            };
            result.push_part(matched.text(), range.start, range.end);
        }
    }
}

/// For a match that is described by an array which may be a script's.
impl Template {
    /// What this stands for, where the groups are values and their names are asked of an object.
    pub(crate) fn expand_with(
        &self,
        text: &JsString,
        position: usize,
        matched: &JsString,
        captures: &[JsValue],
        named: Option<&JsObject>,
        context: &mut Context,
    ) -> JsResult<JsString> {
        let mut result = Builder::new();
        for part in &self.parts {
            match part {
                Part::Literal(range) => result.push_part(&self.source, range.start, range.end),
                Part::Match => result.push(matched.as_str()),
                Part::Before => result.push_part(text, 0, position),
                Part::After => result.push_part(text, position.saturating_add(matched.len()), text.len()),
                Part::Group(number) => {
                    if let Some(capture) = captures.get(number - 1).and_then(JsValue::as_string) {
                        result.push(capture.as_str());
                    }
                }
                Part::Named(name) => {
                    let Some(named) = named else { continue };
                    let value = named.get(name.clone(), context)?;
                    if !value.is_undefined() {
                        result.push(value.to_string(context)?.as_str());
                    }
                }
            }
        }
        Ok(result.finish())
    }
}

fn parts<T: Copy + Into<u16>>(units: &[T], groups: usize, has_names: bool) -> Vec<Part> {
    let at = |index: usize| units.get(index).map(|unit| (*unit).into());
    let digit =
        |index: usize| at(index).filter(|unit| (0x30..=0x39).contains(unit)).map(|unit| usize::from(unit - 0x30));
    let mut parts = Vec::new();
    let (mut literal, mut index) = (0, 0);
    while let Some(offset) =
        units.get(index..).and_then(|rest| rest.iter().position(|unit| (*unit).into() == u16::from(b'$')))
    {
        let dollar = index + offset;
        let special = match at(dollar + 1).and_then(|unit| u8::try_from(unit).ok()) {
            // The first of the two is part of the literal text, the second is passed over.
            Some(b'$') => Some((Part::Literal(dollar..dollar + 1), 2)),
            Some(b'&') => Some((Part::Match, 2)),
            Some(b'`') => Some((Part::Before, 2)),
            Some(b'\'') => Some((Part::After, 2)),
            Some(b'0'..=b'9') => group(digit(dollar + 1), digit(dollar + 2), groups),
            Some(b'<') if has_names => name(units, dollar + 2),
            _ => None,
        };
        let Some((part, length)) = special else {
            index = dollar + 1;
            continue;
        };
        parts.push(Part::Literal(literal..dollar));
        parts.push(part);
        index = dollar + length;
        literal = index;
    }
    parts.push(Part::Literal(literal..units.len()));
    parts
}

/// Two digits are a number if there is such a group, else the first one is.
fn group(first: Option<usize>, second: Option<usize>, groups: usize) -> Option<(Part, usize)> {
    let is_group = |number: &usize| (1..=groups).contains(number);
    let first = first?;
    if let Some(number) = second.map(|second| first * 10 + second).filter(is_group) {
        return Some((Part::Group(number), 3));
    }
    Some(first).filter(is_group).map(|number| (Part::Group(number), 2))
}

fn name<T: Copy + Into<u16>>(units: &[T], start: usize) -> Option<(Part, usize)> {
    let rest = units.get(start..)?;
    let length = rest.iter().position(|unit| (*unit).into() == u16::from(b'>'))?;
    let name: Vec<u16> = rest.iter().take(length).map(|unit| (*unit).into()).collect();
    Some((Part::Named(JsString::from(JsStr::utf16(&name))), length + 3))
}
