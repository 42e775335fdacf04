//! The words in the arguments of a call, kept in a few bytes until its answer comes.

use std::{
    borrow::Cow,
    fmt,
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

use belljar_model::JsonText;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::bounds::{OBSERVED_NAME_BYTES, OBSERVED_NODES};

/// The texts in the arguments of a call that could be the name of a member.
///
/// They are kept as hashes, because a call may wait for a long time and many may wait at once. If
/// two texts have the same hash, the worst effect is that a name is taken for data.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words {
    hashes: Vec<u64>,
    /// Whether one of the arguments is a program, such as a database query, which determines the
    /// result.
    program: bool,
}

/// Names of arguments that are programs.
const PROGRAMS: [&str; 12] = [
    "code",
    "cypher",
    "expression",
    "function",
    "graphql",
    "jq",
    "jsonpath",
    "js",
    "script",
    "sql",
    "statement",
    "xpath",
];
/// How queries begin, if an argument with another name contains one.
const QUERIES: [&str; 4] = ["select", "with", "pragma", "explain"];

impl Words {
    /// The words of a call's arguments. No tree is built.
    pub fn of(arguments: &JsonText) -> Self {
        let mut words = Self::default();
        // A number that serde rejects ends the reading; the words before it are kept.
        let _ = Inside(&mut words, false).deserialize(&mut serde_json::Deserializer::from_str(arguments.as_str()));
        words.hashes.sort_unstable();
        words.hashes.dedup();
        words
    }

    /// Whether a program in the arguments chose the names in the result.
    pub(crate) fn has_program(&self) -> bool {
        self.program
    }

    /// Whether `name` is among them, ignoring case.
    pub(super) fn has(&self, name: &str) -> bool {
        name.len() <= OBSERVED_NAME_BYTES && self.hashes.binary_search(&hash(name)).is_ok()
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.to_lowercase().hash(&mut hasher);
    hasher.finish()
}

/// Whether a text is a query: at least two words, and the first one begins a query.
fn is_query(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let begins = words.next().is_some_and(|first| QUERIES.iter().any(|known| first.eq_ignore_ascii_case(known)));
    let is_select = |word: &str| word.eq_ignore_ascii_case("from") || word.contains(['(', '*', '=', ';']);
    begins && words.take(MOST_WORDS).any(is_select)
}

/// Words of a text that are checked for the start of a query.
const MOST_WORDS: usize = 200;

/// Reads a value and its contents, and keeps its texts. The second field says that its text is a
/// program.
///
/// Nothing else is kept. The depth is bounded, because the value comes from a [`JsonText`].
struct Inside<'a>(&'a mut Words, bool);

impl<'de> DeserializeSeed<'de> for Inside<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.0.hashes.len() >= OBSERVED_NODES {
            return IgnoredAny::deserialize(deserializer).map(|_| ());
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Inside<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON value")
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        if text.len() <= OBSERVED_NAME_BYTES {
            self.0.hashes.push(hash(text));
        }
        self.0.program |= self.1 || is_query(text);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        while elements.next_element_seed(Inside(self.0, self.1))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key::<Cow<'de, str>>()? {
            members.next_value_seed(Inside(self.0, PROGRAMS.iter().any(|known| name.eq_ignore_ascii_case(known))))?;
        }
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_that_are_programs_are_known_by_their_name_or_their_text() {
        let has_program = |arguments: serde_json::Value| Words::of(&JsonText::from_value(&arguments)).has_program();
        for program in [
            json!({ "query": "SELECT name FROM customers" }),
            json!({ "query": "\n  with a as (select 1) select * from a" }),
            json!({ "q": "pragma table_info('x')" }),
            json!({ "function": "() => document.title" }),
            json!({ "options": { "Expression": "1 + 1" } }),
            json!({ "sql": ["x"] }),
        ] {
            assert!(has_program(program.clone()), "{program}");
        }
        for other in [
            json!({ "query": "tea" }),
            json!({ "query": "select" }),
            json!({ "title": "Select a colour" }),
            json!({ "path": "select from.txt" }),
            json!({ "text": "with many words of no language" }),
            json!({ "code": 7 }),
            json!({}),
        ] {
            assert!(!has_program(other.clone()), "{other}");
        }
    }

    fn of(arguments: &serde_json::Value) -> Words {
        Words::of(&JsonText::from_value(arguments))
    }

    #[test]
    fn every_text_in_the_arguments_is_a_word_and_no_name_is() {
        let words = of(&json!({"a": "Ada", "b": [{"c": "lov\u{e9}"}, 1, -2, 1.5, true, null], "long": "x".repeat(60)}));
        assert!(words.has("ada") && words.has("ADA") && words.has("lov\u{e9}"));
        assert!(!words.has("a") && !words.has("c") && !words.has(&"x".repeat(60)));
    }

    #[test]
    fn arguments_of_any_size_leave_a_bounded_number_of_words() {
        let many: Vec<String> = (0..100_000).map(|number| number.to_string()).collect();
        assert_eq!(of(&json!({ "many": many })).hashes.len(), OBSERVED_NODES);
    }
}
