//! A recording without what is not to be kept: what the owner's rules name, and what a tool's own schemas call a secret.
//!
//! What was taken out is replaced by its keyed digest, so that two recordings can still be compared. Such a recording cannot be replayed: a
//! script would get other answers.

use std::collections::BTreeSet;

use belljar_ledger::{KeptRecording, Ledger};
use belljar_model::{ByteSize, Recorded, RedactRule, ToolPath};
use belljar_recording::{Answer, Entry, Kept, Recording, Writer};
use serde_json::Value;

use crate::Toolbox;

/// Places of a schema that are looked at. Larger ones are a server's way to keep a host busy.
const MAX_PLACES: usize = 10_000;
/// Members of a path in a schema; values may nest deeper, and are taken out with what holds them.
const MAX_DEPTH: usize = 32;

/// What is said in the place of texts that cannot be taken apart.
const REDACTED: &str = "[redacted]";

/// What is taken out of the calls of one tool: JSON pointers, in which `*` stands for every member or element.
#[derive(Debug, Default, PartialEq, Eq)]
struct Places {
    arguments: BTreeSet<String>,
    answer: BTreeSet<String>,
}

/// The recording as it may be kept.
pub(crate) fn kept(
    recorded: Recorded,
    rules: &[RedactRule],
    toolbox: &Toolbox,
    ledger: &dyn Ledger,
    max: ByteSize,
) -> KeptRecording {
    let bytes = match recorded {
        Recorded::Whole(bytes) => bytes,
        Recorded::NotReplayable { reason } => return KeptRecording::NotReplayable { reason },
    };
    match without(&bytes, max, ledger, &|path| places(rules, toolbox, path)) {
        Ok(None) => KeptRecording::Whole(bytes),
        Ok(Some(redacted)) => KeptRecording::Redacted(redacted),
        Err(reason) => KeptRecording::NotReplayable { reason },
    }
}

fn places(rules: &[RedactRule], toolbox: &Toolbox, path: &ToolPath) -> Places {
    let name = path.to_string();
    let named = rules.iter().filter(|rule| rule.matches(&name)).flat_map(|rule| rule.pointers.iter().cloned());
    let named: BTreeSet<String> = named.collect();
    let mut places = Places { arguments: named.clone(), answer: named };
    if let Some((input, output)) = toolbox.schemas_of(path) {
        places.arguments.extend(secret_places(&input));
        places.answer.extend(output.iter().flat_map(secret_places));
    }
    places
}

/// The places that a schema calls `writeOnly`, or a password.
fn secret_places(schema: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![(String::new(), schema, 0)];
    let mut seen = 0;
    while let Some((pointer, schema, depth)) = open.pop() {
        seen += 1;
        if seen > MAX_PLACES || depth > MAX_DEPTH {
            // What is too large to be understood is taken out as a whole.
            return BTreeSet::from([String::new()]);
        }
        let is_secret = schema.get("writeOnly") == Some(&Value::Bool(true))
            || schema.get("format").and_then(Value::as_str) == Some("password");
        if is_secret {
            found.insert(pointer);
            continue;
        }
        if let Some(members) = schema.get("properties").and_then(Value::as_object) {
            let inside = |(name, schema): (&String, _)| (format!("{pointer}/{}", escaped(name)), schema, depth + 1);
            open.extend(members.iter().map(inside));
        }
        for of_all in ["items", "additionalProperties"] {
            open.extend(schema.get(of_all).map(|schema| (format!("{pointer}/*"), schema, depth + 1)));
        }
        for options in ["anyOf", "oneOf", "allOf"] {
            let options = schema.get(options).and_then(Value::as_array).into_iter().flatten();
            open.extend(options.map(|schema| (pointer.clone(), schema, depth + 1)));
        }
    }
    found
}

/// The recording without these places; nothing where none of them is in it.
fn without(
    bytes: &[u8],
    max: ByteSize,
    ledger: &dyn Ledger,
    places: &dyn Fn(&ToolPath) -> Places,
) -> Result<Option<Vec<u8>>, String> {
    let recording = Recording::read(bytes).map_err(|error| format!("it could not be redacted: {error}"))?;
    let mut writer = Writer::new(recording.start(), max);
    let mut tools = std::collections::BTreeMap::new();
    let mut known = std::collections::BTreeMap::new();
    let mut is_changed = false;
    let mut end = None;
    for entry in recording.entries() {
        match entry {
            Entry::Clock { clock, milliseconds, count } => writer.clock_read(clock, milliseconds, count),
            Entry::Directory { namespace, listing } => {
                let listing = listing.map(|listing| listing.properties().collect::<Vec<_>>().into_iter());
                writer.directory(namespace, listing);
            }
            Entry::Catalog { question, answer } => writer.catalog(question, answer),
            Entry::Call { number, server, tool, arguments, fuel } => {
                let path = ToolPath::new(server, tool);
                let places: &Places = known.entry(path.clone()).or_insert_with(|| places(&path));
                tools.insert(number, path);
                let redacted = in_text(arguments, &places.arguments, ledger);
                is_changed |= redacted.is_some();
                writer.call(number, server, tool, redacted.as_deref().unwrap_or(arguments), fuel);
            }
            Entry::Timer { number, milliseconds } => writer.timer(number, milliseconds),
            Entry::Answer { number, answer, kept } => {
                let places = tools.get(&number).and_then(|path| known.get(path));
                let hides = places.is_some_and(|places| !places.answer.is_empty());
                let redacted = match (&answer, places) {
                    (Answer::Result(text), Some(places)) => in_result(text, &places.answer, ledger),
                    (Answer::Fault { .. }, Some(_)) if hides => Some(String::new()),
                    _ => None,
                };
                is_changed |= redacted.is_some();
                let answer = match (answer, &redacted) {
                    (Answer::Result(_), Some(text)) => Answer::Result(text),
                    // What a server says of its failure may quote anything.
                    (Answer::Fault { is_refusal, .. }, Some(_)) => {
                        Answer::Fault { message: REDACTED, hint: None, is_refusal }
                    }
                    (answer, None) => answer,
                };
                writer.answer(number, answer, kept.map(|kept| without_error(kept, hides)));
            }
            Entry::Elapsed { number } => writer.elapsed(number),
            Entry::Unanswered { number, kept } => writer.unanswered(number, kept),
            Entry::End(found) => end = Some(found),
        }
    }
    if !is_changed {
        return Ok(None);
    }
    let end = end.ok_or("it has no end")?;
    writer.end(end).map(Some).map_err(|full| full.to_string())
}

fn without_error(kept: Kept<'_>, hides: bool) -> Kept<'_> {
    Kept { error: kept.error.map(|error| if hides { REDACTED } else { error }), ..kept }
}

/// A `CallToolResult` without these places of its value: of what is structured, and of texts that are JSON. A text that is not is taken out
/// as a whole, since nobody knows what it repeats.
fn in_result(text: &str, places: &BTreeSet<String>, ledger: &dyn Ledger) -> Option<String> {
    if places.is_empty() {
        return None;
    }
    let Ok(mut result) = serde_json::from_str::<Value>(text) else { return Some(format!("\"{REDACTED}\"")) };
    if let Some(structured) = result.get_mut("structuredContent") {
        take_out(structured, places, ledger);
    }
    if let Some(Value::Array(blocks)) = result.get_mut("content") {
        for block in blocks {
            match block.get_mut("text") {
                Some(Value::String(text)) => match serde_json::from_str::<Value>(text) {
                    Ok(mut value @ (Value::Object(_) | Value::Array(_))) => {
                        take_out(&mut value, places, ledger);
                        *text = value.to_string();
                    }
                    _ => *text = digest(&Value::String(std::mem::take(text)), ledger),
                },
                _ => *block = Value::String(digest(block, ledger)),
            }
        }
    }
    Some(result.to_string())
}

/// A JSON text without these places; nothing where none of them is in it.
fn in_text(text: &str, places: &BTreeSet<String>, ledger: &dyn Ledger) -> Option<String> {
    if places.is_empty() {
        return None;
    }
    let Ok(mut value) = serde_json::from_str::<Value>(text) else { return Some(format!("\"{REDACTED}\"")) };
    take_out(&mut value, places, ledger).then(|| value.to_string())
}

/// Replaces what is at these places by its digest. Whether there was anything.
fn take_out(value: &mut Value, places: &BTreeSet<String>, ledger: &dyn Ledger) -> bool {
    let mut is_changed = false;
    for pointer in places {
        let names: Vec<String> =
            pointer.split('/').skip(1).map(|name| name.replace("~1", "/").replace("~0", "~")).collect();
        let mut open = vec![(&mut *value, names.as_slice())];
        while let Some((value, names)) = open.pop() {
            match (names.split_first(), value) {
                (None, value) => {
                    *value = Value::String(digest(value, ledger));
                    is_changed = true;
                }
                (Some((name, rest)), Value::Object(members)) => {
                    let named = members.iter_mut().filter(|(member, _)| name == "*" || *member == name);
                    open.extend(named.map(|(_, value)| (value, rest)));
                }
                (Some((name, rest)), Value::Array(elements)) => {
                    let index = name.parse::<usize>().ok();
                    let named = elements.iter_mut().enumerate().filter(|(at, _)| name == "*" || Some(*at) == index);
                    open.extend(named.map(|(_, value)| (value, rest)));
                }
                _ => {}
            }
        }
    }
    is_changed
}

/// What stands in the place of a value: the same for the same value, and nothing that tells it.
fn digest(value: &Value, ledger: &dyn Ledger) -> String {
    match ledger.digest(value.to_string().as_bytes()) {
        Some(digest) => format!("[redacted {}]", digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>()),
        None => REDACTED.to_owned(),
    }
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use belljar_ledger::{Options, SqliteLedger};
    use belljar_model::LedgerKeep;
    use serde_json::json;

    use super::*;

    fn places(pointers: &[&str]) -> BTreeSet<String> {
        pointers.iter().map(|pointer| (*pointer).to_owned()).collect()
    }

    fn ledger() -> SqliteLedger {
        // Without a folder there is no key, so no digest stands in for what is taken out.
        SqliteLedger::new(None, Options { fsync: false, keep: LedgerKeep::default() })
    }

    #[test]
    fn schemas_name_their_secrets() {
        let schema = json!({
            "properties": {
                "user": { "type": "string" },
                "pass/word": { "type": "string", "format": "password" },
                "keys": { "items": { "properties": { "value": { "writeOnly": true } } } },
                "either": { "anyOf": [{ "type": "null" }, { "properties": { "pin": { "writeOnly": true } } }] }
            },
            "additionalProperties": { "format": "password" }
        });
        assert_eq!(secret_places(&schema), places(&["/*", "/either/pin", "/keys/*/value", "/pass~1word"]));
        let deep = (0..100).fold(json!({ "writeOnly": true }), |inside, _| json!({ "items": inside }));
        assert_eq!(secret_places(&deep), places(&[""]));
    }

    #[test]
    fn what_is_named_is_taken_out_wherever_it_is() {
        let ledger = ledger();
        let text = r#"{"a":1,"list":[{"body":"x","id":1},{"body":"y","id":2}],"o/p":{"q":2}}"#;
        let redacted = |pointers: &[&str]| in_text(text, &places(pointers), &ledger);
        assert_eq!(redacted(&["/none", "/a/b", "/list/7"]), None);
        assert_eq!(
            redacted(&["/list/*/body", "/o~1p/q"]).expect("changed"),
            r#"{"a":1,"list":[{"body":"[redacted]","id":1},{"body":"[redacted]","id":2}],"o/p":{"q":"[redacted]"}}"#
        );
        assert_eq!(redacted(&[""]).expect("changed"), r#""[redacted]""#);
        assert_eq!(
            redacted(&["/list/1"]).expect("changed"),
            r#"{"a":1,"list":[{"body":"x","id":1},"[redacted]"],"o/p":{"q":2}}"#
        );
    }

    #[test]
    fn a_result_repeats_nothing_that_was_taken_out() {
        let result = json!({
            "structuredContent": { "body": "secret", "id": 1 },
            "content": [
                { "type": "text", "text": "{\"body\":\"secret\",\"id\":1}" },
                { "type": "text", "text": "the body is secret" },
                { "type": "image", "data": "secret" }
            ]
        });
        let redacted = in_result(&result.to_string(), &places(&["/body"]), &ledger()).expect("changed");
        assert!(!redacted.contains("secret"), "{redacted}");
        assert!(redacted.contains("\"id\":1"), "{redacted}");
        assert_eq!(in_result(&result.to_string(), &BTreeSet::new(), &ledger()), None);
    }
}
