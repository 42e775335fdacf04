//! A small JSON value that shows the shape of a large one.

use std::{collections::HashSet, ops::Range};

use crate::{
    JsonText,
    json_scan::{Token, TokenKind, Tokens, characters},
};

/// The longest preview, in bytes of JSON.
pub const PREVIEW_BYTES: usize = 4096;

/// Stands for what is left out.
const CUT: &str = "\u{2026}";

/// How much of a value is shown.
#[derive(Clone, Copy)]
struct Detail {
    /// Elements of an array.
    elements: usize,
    /// Members of an object.
    members: usize,
    /// Characters of a text.
    characters: usize,
    /// Characters of a member's name.
    name: usize,
    /// Levels of arrays and objects.
    depth: usize,
}

/// From much to little: the first that fits is shown. The last always does.
const DETAILS: [Detail; 6] = [
    Detail { elements: 3, members: 40, characters: 200, name: 100, depth: 8 },
    Detail { elements: 3, members: 20, characters: 200, name: 60, depth: 6 },
    Detail { elements: 3, members: 20, characters: 80, name: 40, depth: 4 },
    Detail { elements: 2, members: 12, characters: 60, name: 40, depth: 3 },
    Detail { elements: 2, members: 8, characters: 40, name: 30, depth: 2 },
    Detail { elements: 1, members: 5, characters: 20, name: 20, depth: 1 },
];

/// How many values are looked at closely, whatever the text contains.
const VALUES: usize = 20_000;
/// Each part of a value may look at this fraction (one in four) of what its container may look at,
/// so that a large first part leaves room for those after it.
const SHARE: usize = 4;
/// How many values each part may look at in any case.
const LEAST: usize = 8;

/// A value of the same shape, of at most [`PREVIEW_BYTES`]: arrays have their first three elements,
/// texts their first 200 characters, and what is left out is counted in a text that begins with an
/// ellipsis, as the last element (`"… 4,997 more"`), as a member named `…`, or at the end of the
/// text. If that is still too large, less is shown.
///
/// It takes linear time, and looks at a bounded number of values.
pub fn preview(json: &JsonText) -> JsonText {
    let text = json.as_str();
    let mut tokens = Tokens::of(text);
    let part = match tokens.next() {
        Some(first) => Part::read(&mut tokens, &first, DETAILS[0].depth, &mut VALUES.clone(), VALUES),
        None => return JsonText::null(),
    };
    for detail in DETAILS {
        let mut shown = Shown { text, json: String::new(), detail };
        if shown.part(&part, detail.depth)
            && let Ok(json) = JsonText::parse(shown.json, &crate::JsonBounds::with_bytes(PREVIEW_BYTES))
        {
            return json;
        }
    }
    JsonText::null()
}

/// A value, as much of it as any preview shows.
enum Part {
    /// A number, `true`, `false` or `null`.
    Scalar(Range<usize>),
    /// A text, without its quotes.
    Text(Range<usize>),
    Array {
        first: Vec<Part>,
        count: usize,
    },
    Object {
        /// Names without their quotes, and values.
        first: Vec<(Range<usize>, Part)>,
        count: usize,
    },
}

impl Part {
    /// The value that begins with a token. `left` is how many values may still be looked at in all,
    /// and `share` how many in this value.
    fn read(tokens: &mut Tokens<'_>, begin: &Token, depth: usize, left: &mut usize, share: usize) -> Self {
        *left = left.saturating_sub(1);
        match begin.kind {
            TokenKind::BeginArray | TokenKind::BeginObject => {}
            TokenKind::Text => return Self::Text(inside(&begin.at)),
            _ => return Self::Scalar(begin.at.clone()),
        }
        let is_array = begin.kind == TokenKind::BeginArray;
        if depth == 0 {
            let (_, count) = tokens.skip_value(begin);
            return if is_array {
                Self::Array { first: Vec::new(), count }
            } else {
                Self::Object { first: Vec::new(), count }
            };
        }
        let most = if is_array { DETAILS[0].elements } else { DETAILS[0].members };
        let (mut elements, mut members, mut count, mut used) = (Vec::new(), Vec::new(), 0_usize, 0_usize);
        let mut name = 0..0;
        while let Some(token) = tokens.next() {
            match token.kind {
                TokenKind::EndArray | TokenKind::EndObject => break,
                TokenKind::Key => {
                    name = inside(&token.at);
                    continue;
                }
                _ => count += 1,
            }
            if count > most || *left == 0 || used >= share {
                tokens.skip_value(&token);
                continue;
            }
            let before = *left;
            let part = Self::read(tokens, &token, depth - 1, left, (share / SHARE).max(LEAST));
            used += before - *left;
            if is_array {
                elements.push(part);
            } else {
                members.push((name.clone(), part));
            }
        }
        if is_array { Self::Array { first: elements, count } } else { Self::Object { first: members, count } }
    }
}

fn inside(quoted: &Range<usize>) -> Range<usize> {
    let start = quoted.start + 1;
    start..quoted.end.saturating_sub(1).max(start)
}

/// A preview that is being written.
struct Shown<'text> {
    text: &'text str,
    json: String,
    detail: Detail,
}

impl Shown<'_> {
    /// Writes a value, and returns whether there was room for it.
    fn part(&mut self, part: &Part, depth: usize) -> bool {
        match part {
            Part::Scalar(at) => {
                let scalar = self.text.get(at.clone()).unwrap_or("null");
                if scalar.len() <= self.detail.characters.max(30) {
                    self.json.push_str(scalar);
                } else {
                    // A number with very many digits.
                    let shown = cut(scalar.chars(), self.detail.characters);
                    self.string(&shown);
                }
            }
            Part::Text(at) => {
                let shown = cut(characters(self.text.get(at.clone()).unwrap_or_default()), self.detail.characters);
                self.string(&shown);
            }
            Part::Array { first, count } => {
                self.json.push('[');
                let shown = if depth == 0 { 0 } else { first.len().min(self.detail.elements) };
                for (place, part) in first.iter().take(shown).enumerate() {
                    if place > 0 {
                        self.json.push(',');
                    }
                    if !self.part(part, depth - 1) {
                        return false;
                    }
                }
                if *count > shown {
                    if shown > 0 {
                        self.json.push(',');
                    }
                    self.string(&more(*count, shown));
                }
                self.json.push(']');
            }
            Part::Object { first, count } => {
                self.json.push('{');
                let shown = if depth == 0 { 0 } else { first.len().min(self.detail.members) };
                let mut names = HashSet::new();
                for (name, part) in first.iter().take(shown) {
                    let name = characters(self.text.get(name.clone()).unwrap_or_default());
                    self.name(cut(name, self.detail.name), &mut names);
                    if !self.part(part, depth - 1) {
                        return false;
                    }
                }
                if *count > shown {
                    self.name(CUT.to_owned(), &mut names);
                    self.string(&more(*count, shown));
                }
                self.json.push('}');
            }
        }
        self.json.len() <= PREVIEW_BYTES
    }

    /// Writes a member's name, and makes it unique if other names were cut to the same text.
    fn name(&mut self, name: String, names: &mut HashSet<String>) {
        if !names.is_empty() {
            self.json.push(',');
        }
        let mut unique = name.clone();
        for number in 2.. {
            if names.insert(unique.clone()) {
                break;
            }
            unique = format!("{name} ({number})");
        }
        self.string(&unique);
        self.json.push(':');
    }

    fn string(&mut self, text: &str) {
        self.json.push_str(&serde_json::Value::from(text).to_string());
    }
}

fn more(count: usize, shown: usize) -> String {
    let left = thousands(count.saturating_sub(shown));
    if shown == 0 { format!("{CUT} {left}") } else { format!("{CUT} {left} more") }
}

/// The first characters, and how many more there are.
fn cut(mut characters: impl Iterator<Item = char>, most: usize) -> String {
    let mut shown: String = characters.by_ref().take(most).collect();
    match characters.count() {
        0 => {}
        left => shown.push_str(&format!("{CUT} {} characters more", thousands(left))),
    }
    shown
}

/// A number with a comma after every three digits.
fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

#[cfg(test)]
mod tests {
    use rand_free::Random;
    use serde_json::{Value, json};

    use super::*;
    use crate::JsonBounds;

    /// Numbers that look random, the same in each run.
    mod rand_free {
        pub(super) struct Random(pub(super) u64);

        impl Random {
            pub(super) fn below(&mut self, end: u64) -> u64 {
                // Of xorshift64*.
                self.0 ^= self.0 >> 12;
                self.0 ^= self.0 << 25;
                self.0 ^= self.0 >> 27;
                (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % end
            }

            pub(super) fn one_of<T: Clone>(&mut self, all: &[T]) -> T {
                let at = self.below(all.len() as u64);
                all[usize::try_from(at).unwrap()].clone()
            }
        }
    }

    fn shown(value: &Value) -> Value {
        let json = preview(&JsonText::from_value(value));
        assert!(json.as_str().len() <= PREVIEW_BYTES, "{}", json.as_str().len());
        json.to_value().expect("JSON")
    }

    fn shown_text(json: String) -> Value {
        let bounds = JsonBounds { bytes: usize::MAX, depth: JsonBounds::DEPTH, values: usize::MAX };
        let json = preview(&JsonText::parse(json, &bounds).expect("JSON"));
        assert!(json.as_str().len() <= PREVIEW_BYTES, "{}", json.as_str().len());
        json.to_value().expect("JSON")
    }

    #[test]
    fn arrays_and_texts_are_cut_and_counted_in_a_value_of_the_same_shape() {
        let rows: Vec<Value> = (0..5000).map(|id| json!({"id": id, "text": "\u{e9}".repeat(1234)})).collect();
        let row =
            |id: u64| json!({"id": id, "text": format!("{}\u{2026} 1,034 characters more", "\u{e9}".repeat(200))});
        assert_eq!(
            shown(&json!({"rows": rows, "next": null, "ok": true})),
            json!({"rows": [row(0), row(1), row(2), "\u{2026} 4,997 more"], "next": null, "ok": true})
        );
    }

    #[test]
    fn what_is_small_is_shown_as_it_is() {
        for value in
            [json!(null), json!([]), json!({}), json!("text"), json!(-1.5e300), json!({"a": [1, 2, {"b": "\u{2026}"}]})]
        {
            assert_eq!(shown(&value), value);
        }
    }

    #[test]
    fn hostile_shapes_are_previewed_within_the_bound() {
        let wide = format!("{{{}}}", (0..300_000).map(|n| format!("\"{n}\":{n}")).collect::<Vec<_>>().join(","));
        let wide = shown_text(wide);
        assert_eq!(wide["0"], 0);
        assert_eq!(wide["\u{2026}"], "\u{2026} 299,960 more");

        let deep = format!("{}{}", "[".repeat(127), "]".repeat(127));
        assert!(shown_text(deep).is_array());

        let names = format!(
            "{{{}}}",
            (0..50).map(|n| format!("\"{}{n}\":1", "k".repeat(100_000))).collect::<Vec<_>>().join(",")
        );
        assert!(
            shown_text(names).as_object().expect("an object").len() > 3,
            "names that are cut to the same stay apart"
        );

        assert!(shown_text(format!("1{}", "0".repeat(1_000_000))).is_string());
        let number = JsonText::parse("1e400".to_owned(), &JsonBounds::with_bytes(10)).expect("JSON");
        assert_eq!(preview(&number).as_str(), "1e400", "no tree can hold it");

        let controls = format!(
            "{{{}}}",
            (0..40).map(|n| format!("\"{n}{0}\":\"{0}\"", "\\u0001".repeat(300))).collect::<Vec<_>>().join(",")
        );
        assert!(shown_text(controls).is_object());

        let mut bushy = "0".to_owned();
        for _ in 0..7 {
            bushy = format!("{{{}}}", (0..6).map(|n| format!("\"{n}\":{bushy}")).collect::<Vec<_>>().join(","));
        }
        assert!(shown_text(bushy).is_object());

        assert_eq!(shown(&json!({"\u{2026}": 1, "\u{2026} (2)": 2})), json!({"\u{2026}": 1, "\u{2026} (2)": 2}));
        assert_eq!(shown_text(r#"{"a":1,"a":2}"#.to_owned()), json!({"a": 1, "a (2)": 2}));
    }

    #[test]
    fn a_large_first_part_leaves_room_for_those_after_it() {
        let large: Vec<Value> = (0..3)
            .map(|_| {
                Value::Object((0..40).map(|n| (n.to_string(), json!({"a": {"b": {"c": "x".repeat(50)}}}))).collect())
            })
            .collect();
        let shown = shown(&json!({"first": large, "second": [1, 2]}));
        assert_eq!(shown["second"], json!([1, 2]));
    }

    #[test]
    fn each_preview_is_json_within_its_bound_and_of_its_values_kind() {
        let mut random = Random(0x5eed_0fbe_11ab_1e55);
        for _ in 0..2000 {
            let value = value(&mut random, 0);
            let shown = shown(&value);
            assert_eq!(shown.is_array(), value.is_array(), "{value}");
            assert_eq!(shown.is_object(), value.is_object(), "{value}");
            assert_eq!(shown.is_string(), value.is_string(), "{value}");
            if let (Some(shown), Some(whole)) = (shown.as_object(), value.as_object()) {
                for (name, value) in shown.iter().filter(|(name, _)| !name.contains('\u{2026}')) {
                    assert_eq!(value.is_object(), whole[name].is_object(), "{name}");
                    assert_eq!(value.is_array(), whole[name].is_array(), "{name}");
                }
            }
        }
    }

    fn value(random: &mut Random, depth: u64) -> Value {
        match random.below(if depth > 9 { 4 } else { 8 }) {
            0 => json!(random.below(1 << 30)),
            1 => random.one_of(&[json!(null), json!(true), json!(false), json!(-0.25)]),
            2 | 3 => text(random).into(),
            4 | 5 => (0..random.below(6)).map(|_| value(random, depth + 1)).collect(),
            _ => {
                let most = if random.below(20) == 0 { 60 } else { 6 };
                let members = 0..random.below(most);
                Value::Object(members.map(|_| (text(random), value(random, depth + 1))).collect())
            }
        }
    }

    fn text(random: &mut Random) -> String {
        const CHARACTERS: [char; 12] =
            ['a', 'Z', '0', ' ', '"', '\\', '\n', '\0', '\u{7f}', '\u{e9}', '\u{2026}', '\u{1f600}'];
        let length = if random.below(10) == 0 { 500 } else { 12 };
        (0..random.below(length)).map(|_| random.one_of(&CHARACTERS)).collect()
    }
}
