//! Reads and replaces single arguments in the text of a call's arguments.
//!
//! Paths and keys concern few arguments of few servers. The others stay text: a tree takes many
//! times as much memory, and a call may wait for a long time.

use std::{borrow::Cow, fmt};

use belljar_model::JsonText;
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{MapAccess, Visitor},
    ser::SerializeMap as _,
};
use serde_json::{Map, Value, value::RawValue};

/// The arguments of a call, with values as text. If a name occurs twice the last counts, as in a
/// tree.
struct Arguments<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

/// The size of the values of arguments that `is_wanted` selects.
pub(crate) fn bytes(text: &JsonText, is_wanted: impl Fn(&str) -> bool) -> usize {
    let arguments = Arguments::of(text).0;
    arguments.iter().filter(|(name, _)| is_wanted(name)).map(|(_, value)| value.get().len()).sum()
}

/// The trees of arguments that `is_wanted` selects.
pub(crate) fn some(text: &JsonText, is_wanted: impl Fn(&str) -> bool) -> Map<String, Value> {
    let arguments = Arguments::of(text).0.into_iter().filter(|(name, _)| is_wanted(name));
    arguments.filter_map(|(name, value)| Some((name.into_owned(), serde_json::from_str(value.get()).ok()?))).collect()
}

/// The text with the arguments in `others` replaced.
pub(crate) fn with(text: &JsonText, others: &Map<String, Value>) -> JsonText {
    let texts: Vec<(&String, Box<RawValue>)> =
        others.iter().filter_map(|(name, value)| Some((name, serde_json::value::to_raw_value(value).ok()?))).collect();
    let mut arguments = Arguments::of(text);
    for (name, value) in &mut arguments.0 {
        if let Some((_, other)) = texts.iter().find(|(other, _)| other.as_str() == name) {
            *value = other;
        }
    }
    arguments.into_text()
}

/// The text without the arguments of these names.
pub(crate) fn without(text: &JsonText, names: &[&str]) -> JsonText {
    let mut arguments = Arguments::of(text);
    arguments.0.retain(|(name, _)| !names.contains(&name.as_ref()));
    arguments.into_text()
}

impl<'a> Arguments<'a> {
    /// `None` if the text is not an object.
    fn of(text: &'a JsonText) -> Self {
        let mut arguments: Self = serde_json::from_str(text.as_str()).unwrap_or(Self(Vec::new()));
        let mut seen = std::collections::HashSet::new();
        arguments.0.reverse();
        arguments.0.retain(|(name, _)| seen.insert(name.clone()));
        arguments.0.reverse();
        arguments
    }

    fn into_text(self) -> JsonText {
        JsonText::from_serializable(&self)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Arguments<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Arguments<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
                /// A name, borrowed where it has no escapes.
                #[derive(Deserialize)]
                struct Name<'n>(#[serde(borrow)] Cow<'n, str>);

                let mut arguments = Vec::new();
                while let Some((Name(name), value)) = members.next_entry()? {
                    arguments.push((name, value));
                }
                Ok(Arguments(arguments))
            }
        }

        deserializer.deserialize_map(Members)
    }
}

impl Serialize for Arguments<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use belljar_model::JsonBounds;
    use serde_json::json;

    use super::*;

    fn text(text: &str) -> JsonText {
        JsonText::parse(text.to_owned(), &JsonBounds::with_bytes(1_000)).expect("JSON")
    }

    #[test]
    fn one_argument_is_read_replaced_and_removed_and_the_others_stay_as_they_are() {
        let given = text(r#"{"a": [1, 2.0], "path": "x", "esc\u0061ped": null}"#);
        assert_eq!(Value::Object(some(&given, |name| name == "path")), json!({"path": "x"}));
        assert_eq!(Value::Object(some(&given, |name| name == "escaped")), json!({"escaped": null}));
        assert_eq!(bytes(&given, |name| name == "a" || name == "path"), 8 + 3);
        let Value::Object(others) = json!({"path": "/root/x", "unheard": 1}) else { panic!("an object") };
        assert_eq!(with(&given, &others).as_str(), r#"{"a":[1, 2.0],"path":"/root/x","escaped":null}"#);
        assert_eq!(without(&given, &["a", "escaped"]).as_str(), r#"{"path":"x"}"#);
    }

    #[test]
    fn of_two_arguments_with_one_name_the_child_gets_the_one_that_was_judged() {
        let given = text(r#"{"path": "/etc/passwd", "path": "/tmp/x"}"#);
        let judged = some(&given, |name| name == "path");
        assert_eq!(Value::Object(judged.clone()), json!({"path": "/tmp/x"}));
        assert_eq!(with(&given, &judged).as_str(), r#"{"path":"/tmp/x"}"#);
        let given = text(r#"{"path": "/tmp/x", "p\u0061th": "/etc/passwd"}"#);
        assert_eq!(with(&given, &some(&given, |name| name == "path")).as_str(), r#"{"path":"/etc/passwd"}"#);
    }

    #[test]
    fn what_is_not_an_object_has_no_arguments() {
        assert!(some(&text("[1]"), |_| true).is_empty());
        assert_eq!(without(&text("[1]"), &[]).as_str(), "{}");
    }
}
