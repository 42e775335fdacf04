//! What the arguments of a call say, kept in a few bytes until its answer comes.

use std::{
    fmt,
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

use belljar_model::JsonText;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::bounds::{OBSERVED_NAME_BYTES, OBSERVED_NODES};

/// The texts in the arguments of a call, as far as one of them can be the name of a member.
///
/// They are kept as hashes, because a call may wait for long and many may wait at once. Two texts with one hash cost no more than a
/// name that is taken for data.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words(Vec<u64>);

impl Words {
    /// The words of a call's arguments. No tree is made of them.
    pub fn of(arguments: &JsonText) -> Self {
        let mut words = Vec::new();
        // A number that serde does not take ends the reading; the words before it are kept.
        let _ = Inside(&mut words).deserialize(&mut serde_json::Deserializer::from_str(arguments.as_str()));
        words.sort_unstable();
        words.dedup();
        Self(words)
    }

    /// Whether `name` is among them, in whatever case.
    pub(super) fn has(&self, name: &str) -> bool {
        name.len() <= OBSERVED_NAME_BYTES && self.0.binary_search(&hash(name)).is_ok()
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.to_lowercase().hash(&mut hasher);
    hasher.finish()
}

/// Reads a value and what is inside it, and keeps its texts. Its depth is bounded, because the value is that of a [`JsonText`].
struct Inside<'a>(&'a mut Vec<u64>);

impl<'de> DeserializeSeed<'de> for Inside<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.0.len() >= OBSERVED_NODES {
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
            self.0.push(hash(text));
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        while elements.next_element_seed(Inside(self.0))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while members.next_key::<IgnoredAny>()?.is_some() {
            members.next_value_seed(Inside(self.0))?;
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
        assert_eq!(of(&json!({ "many": many })).0.len(), OBSERVED_NODES);
    }
}
