//! The argument that a condition examines.

use serde_json::{Map, Value};

use crate::error::{ProblemKind, shown};

/// The most names and `[]` in one path.
const SEGMENTS: usize = 16;

/// A path such as `to`, `owner.id` or `items[].path`. A backslash escapes a dot or a bracket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ArgumentPath {
    text: String,
    segments: Vec<Segment>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Segment {
    Member(String),
    /// Every element of a list.
    Each,
}

/// The result of following a path without `[]`.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Found<'v> {
    Value(&'v Value),
    /// Nothing, in an object.
    Missing,
    /// A value on the path is not an object, or has a name that some servers treat as the same.
    Unknown,
}

/// An object's value for a name. Some servers read `PATH` as `path`, and use the last one if both
/// exist: if there is a name that differs only in case, the value is unknown.
pub(crate) fn member<'v>(object: &'v Map<String, Value>, name: &str) -> Found<'v> {
    if object.keys().any(|other| other != name && is_same_but_for_case(other, name)) {
        return Found::Unknown;
    }
    object.get(name).map_or(Found::Missing, Found::Value)
}

fn is_same_but_for_case(one: &str, other: &str) -> bool {
    // When case is ignored, the long s and the Kelvin sign become ASCII letters.
    let folded =
        |text: &str| text.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect::<Vec<_>>();
    one.eq_ignore_ascii_case(other) || (!(one.is_ascii() && other.is_ascii()) && folded(one) == folded(other))
}

impl ArgumentPath {
    pub(crate) fn parse(text: &str) -> Result<Self, ProblemKind> {
        let refused = |problem| ProblemKind::ArgumentPath { path: shown(text), problem };
        let (mut segments, mut name, mut characters) = (Vec::new(), String::new(), text.chars().peekable());
        // Whether a name must follow next, and whether one may.
        let (mut wants_name, mut is_closed) = (true, false);
        while let Some(character) = characters.next() {
            match character {
                '.' | '[' if wants_name && name.is_empty() => return Err(refused("a name is empty")),
                '.' => {
                    if !is_closed {
                        segments.push(Segment::Member(std::mem::take(&mut name)));
                    }
                    (wants_name, is_closed) = (true, false);
                }
                '[' => {
                    if !is_closed {
                        segments.push(Segment::Member(std::mem::take(&mut name)));
                    }
                    if characters.next() != Some(']') {
                        return Err(refused("write [] for every element of a list; there is no other index"));
                    }
                    segments.push(Segment::Each);
                    (wants_name, is_closed) = (false, true);
                }
                _ if is_closed => return Err(refused("after [] comes a dot, [] or the end")),
                ']' => return Err(refused("a bracket is closed that was not opened")),
                '\\' => match characters.next() {
                    Some(escaped @ ('.' | '[' | ']' | '\\')) => name.push(escaped),
                    _ => return Err(refused("a backslash may only come before a dot, a bracket or a backslash")),
                },
                _ => name.push(character),
            }
        }
        if !is_closed {
            if name.is_empty() {
                return Err(refused("a name is empty"));
            }
            segments.push(Segment::Member(name));
        }
        if segments.len() > SEGMENTS {
            return Err(refused("it has more than 16 parts"));
        }
        Ok(Self { text: text.to_owned(), segments })
    }

    /// The path as it was written.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Whether it leads to elements of lists.
    pub(crate) fn has_each(&self) -> bool {
        self.segments.contains(&Segment::Each)
    }

    /// The value at the end of a path without `[]`.
    pub(crate) fn find<'v>(&self, arguments: &'v Map<String, Value>) -> Found<'v> {
        let mut members = Some(arguments);
        let mut found = Found::Unknown;
        for segment in &self.segments {
            let (Segment::Member(name), Some(object)) = (segment, members) else { return Found::Unknown };
            match member(object, name) {
                Found::Value(value) => (found, members) = (Found::Value(value), value.as_object()),
                // A missing value has no members either.
                not_there => return not_there,
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn path(text: &str) -> ArgumentPath {
        ArgumentPath::parse(text).expect(text)
    }

    #[test]
    fn paths_are_names_dots_and_pairs_of_brackets() {
        let member = |name: &str| Segment::Member(name.to_owned());
        assert_eq!(path("a").segments(), [member("a")]);
        assert_eq!(path("a.b[].c").segments(), [member("a"), member("b"), Segment::Each, member("c")]);
        assert_eq!(path("a[][]").segments(), [member("a"), Segment::Each, Segment::Each]);
        assert_eq!(path(r"a\.b\[\]\\").segments(), [member(r"a.b[]\")]);
        for bad in
            ["", ".", "a.", ".a", "a..b", "[]", "a[0]", "a[", "a]", "a[]b", "a.[]", r"a\", r"a\b", &"a.".repeat(20)]
        {
            assert!(ArgumentPath::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_missing_is_told_from_what_cannot_be_looked_into() {
        let arguments = json!({"a": {"b": 1}, "n": null, "t": "x"});
        let found = |text: &str| path(text).find(arguments.as_object().expect("an object"));
        assert!(matches!(found("a.b"), Found::Value(Value::Number(_))));
        assert!(matches!(found("n"), Found::Value(Value::Null)));
        assert!(matches!(found("a.c"), Found::Missing));
        assert!(matches!(found("z.c"), Found::Missing));
        assert!(matches!(found("n.c"), Found::Unknown));
        assert!(matches!(found("t.length"), Found::Unknown));
    }

    #[test]
    fn of_names_that_differ_in_case_alone_nothing_is_known() {
        let arguments = json!({"Task": 1, "path": 1, "PATH": 2, "a": {"\u{212a}ey": 1}, "other": 3});
        let found = |text: &str| path(text).find(arguments.as_object().expect("an object"));
        for name in ["task", "Ta\u{17f}k", "path", "PATH", "a.key"] {
            assert!(matches!(found(name), Found::Unknown), "{name}");
        }
        assert!(matches!(found("Task"), Found::Value(_)) && matches!(found("other"), Found::Value(_)));
        assert!(matches!(found("others"), Found::Missing));
    }
}
