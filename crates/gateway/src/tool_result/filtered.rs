//! Changes a part of the text of a `CallToolResult`. It is taken apart and put together as text, so
//! that no number loses a digit and no member is lost.

use std::ops::Range;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};

/// The place of the server's own `structuredContent` after filtering.
const UNFILTERED: &str = "belljar/unfiltered";
/// Marks a result that was filtered.
const FILTERED: &str = "belljar/filtered";

/// The members of an object, in their order, as text.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'a> Members<'a> {
    fn of(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// The value of a member. If there are two of that name, the last counts, as in a tree.
    fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().rev().find(|(member, _)| member == name).map(|(_, value)| *value)
    }

    /// The text without some members and with others after the rest.
    fn with(&self, new: &[(&str, &str)]) -> String {
        let is_old = |name: &str| !new.iter().any(|(other, _)| *other == name);
        let old = self.0.iter().filter(|(name, _)| is_old(name)).map(|(name, value)| (name.as_str(), value.get()));
        let members: Vec<String> =
            old.chain(new.iter().copied()).map(|(name, value)| format!("{}:{value}", Value::from(name))).collect();
        format!("{{{}}}", members.join(","))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfObject;

        impl<'de> Visitor<'de> for OfObject {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }

        deserializer.deserialize_map(OfObject).map(Members)
    }
}

/// A content block, of which only the text matters.
#[derive(Deserialize)]
struct Block {
    text: Option<String>,
}

/// The text of what a script would get of a successful result.
pub(crate) fn scripts_value(result: &str) -> Option<Box<RawValue>> {
    let members = Members::of(result)?;
    if let Some(structured) = members.get("structuredContent").filter(|structured| structured.get() != "null") {
        return Some(structured.to_owned());
    }
    let Some(content) = members.get("content") else { return to_raw_value(&()).ok() };
    let blocks: Option<Vec<Block>> = serde_json::from_str(content.get()).ok();
    let texts = blocks.filter(|blocks| !blocks.is_empty());
    let texts = texts.and_then(|blocks| blocks.into_iter().map(|block| block.text).collect::<Option<Vec<_>>>());
    let Some(text) = texts.map(|texts| texts.join("\n")) else { return Some(content.to_owned()) };
    if text.trim_start().starts_with(['{', '['])
        && let Ok(parsed) = serde_json::from_str::<&RawValue>(&text)
    {
        return Some(parsed.to_owned());
    }
    to_raw_value(&text).ok()
}

/// The positions of the blocks in a result's content that have more than `above` bytes, if a script
/// gets the content. If the result has structured content, the script gets that instead.
pub(crate) fn large_blocks(result: &str, above: u64) -> Vec<Range<usize>> {
    let Some(members) = Members::of(result) else { return Vec::new() };
    if members.get("structuredContent").is_some_and(|structured| structured.get() != "null") {
        return Vec::new();
    }
    let content = members.get("content").and_then(|content| serde_json::from_str::<Vec<&RawValue>>(content.get()).ok());
    let place = |block: &&RawValue| {
        // The blocks are slices of the text.
        let start = (block.get().as_ptr() as usize).checked_sub(result.as_ptr() as usize)?;
        let place = start..start.checked_add(block.get().len())?;
        (place.len() as u64 > above && result.get(place.clone()) == Some(block.get())).then_some(place)
    };
    content.iter().flatten().filter_map(place).collect()
}

/// A text with some of its parts replaced. The parts are in order.
pub(crate) fn with_parts(text: &str, parts: &[(Range<usize>, String)]) -> Option<String> {
    let mut made = String::with_capacity(text.len());
    let mut done = 0;
    for (place, part) in parts {
        made.push_str(text.get(done..place.start)?);
        made.push_str(part);
        done = place.end;
    }
    made.push_str(text.get(done..)?);
    Some(made)
}

/// The result with the output of a filter.
pub(crate) fn with_filtered(result: &str, filtered: &str) -> Option<String> {
    let members = Members::of(result)?;
    let meta = members.get("_meta").and_then(|meta| Members::of(meta.get())).unwrap_or(Members(Vec::new()));
    let own = members.get("structuredContent").filter(|structured| structured.get() != "null");
    let meta = match own {
        Some(own) => meta.with(&[(FILTERED, "true"), (UNFILTERED, own.get())]),
        None => meta.with(&[(FILTERED, "true")]),
    };
    Some(members.with(&[("structuredContent", filtered), ("_meta", &meta)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(result: &str) -> String {
        scripts_value(result).expect("a value").get().to_owned()
    }

    #[test]
    fn a_filter_gets_what_a_script_would_get_digit_by_digit() {
        assert_eq!(
            value(r#"{"content":[],"structuredContent":{"a":123456789012345678901234567890}}"#),
            r#"{"a":123456789012345678901234567890}"#
        );
        assert_eq!(value(r#"{"content":[{"type":"text","text":"[1, 1.10]"}],"structuredContent":null}"#), "[1, 1.10]");
        assert_eq!(value(r#"{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#), r#""a\nb""#);
        assert_eq!(value(r#"{"content":[{"type":"text","text":"[not"}]}"#), r#""[not""#);
        assert_eq!(value(r#"{"content":[{"type":"image","data":"x"}]}"#), r#"[{"type":"image","data":"x"}]"#);
        assert_eq!(value("{}"), "null");
    }

    #[test]
    fn large_blocks_are_replaced_and_all_else_stays_digit_by_digit() {
        let text = r#"{"content":[], "n":12345678901234567890123, "content": [ {"a":1}, "a large block", 7 ],"isError":false}"#;
        let found = large_blocks(text, 7);
        assert_eq!(found.iter().map(|place| &text[place.clone()]).collect::<Vec<_>>(), [r#""a large block""#]);
        let parts = [(found[0].clone(), "{}".to_owned())];
        assert_eq!(with_parts(text, &parts).expect("a text"), text.replace(r#""a large block""#, "{}"));
        let structured = text.replace("\"n\":", "\"structuredContent\":");
        for none in ["[]", "{}", r#"{"content":"a large block"}"#, &structured] {
            assert_eq!(large_blocks(none, 3), Vec::<Range<usize>>::new(), "{none}");
        }
    }

    #[test]
    fn all_else_of_a_result_stays_as_it_was() {
        let text = r#"{"content":[{"type":"text","text":"x"}],"_meta":{"b":1.10,"belljar/unfiltered":0},"more":12345678901234567890123}"#;
        let found = with_filtered(text, "[1]").expect("an object");
        assert_eq!(
            found,
            r#"{"content":[{"type":"text","text":"x"}],"more":12345678901234567890123,"structuredContent":[1],"_meta":{"b":1.10,"belljar/unfiltered":0,"belljar/filtered":true}}"#
        );
        let text = r#"{"structuredContent":{"a":1},"content":[],"structuredContent":{"a":2},"_meta":[]}"#;
        let found = with_filtered(text, "\"x\"").expect("an object");
        assert_eq!(
            found,
            r#"{"content":[],"structuredContent":"x","_meta":{"belljar/filtered":true,"belljar/unfiltered":{"a":2}}}"#
        );
        assert_eq!(with_filtered("[]", "1"), None);
    }
}
