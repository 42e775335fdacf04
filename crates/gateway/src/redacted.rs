//! A recording without secrets: without the places that the owner's rules name, and those that a
//! tool's own schemas call secret.
//!
//! Each removed value is replaced by its keyed digest, so that two recordings can still be
//! compared. Such a recording cannot be replayed: a script would get other answers.

use std::{cell::LazyCell, collections::BTreeSet};

use belljar_ledger::{KeptRecording, Ledger};
use belljar_model::{ByteSize, Recorded, RedactRule, ToolPath};
use belljar_recording::{Answer, Digests, End, Entry, Kept, Question, Recording, Writer};
use serde_json::Value;

use crate::Toolbox;

/// The most places of a schema that are examined. A larger schema could only serve to keep a host
/// busy.
const MAX_PLACES: usize = 10_000;
/// Members of a path in a schema. Values may nest deeper, and are removed with their container.
const MAX_DEPTH: usize = 32;

/// Replaces texts that cannot be parsed.
const REDACTED: &str = "[redacted]";

/// What is removed from the calls of one tool: JSON pointers, in which `*` stands for every member
/// or element.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Places {
    pub(crate) arguments: BTreeSet<String>,
    pub(crate) answer: BTreeSet<String>,
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
    // Things that live on between runs may come from calls of an earlier run.
    let hides = || !rules.is_empty() || toolbox.any_schema(&names_a_secret);
    match without(&bytes, max, ledger, &hides, &|path| places(rules, toolbox, path)) {
        Ok(None) => KeptRecording::Whole(bytes),
        Ok(Some(redacted)) => KeptRecording::Redacted(redacted),
        Err(reason) => KeptRecording::NotReplayable { reason },
    }
}

/// Whether the rules, or the tool's own schema, hide something in its answers.
pub(crate) fn hides_in_answers(rules: &[RedactRule], toolbox: &Toolbox, path: &ToolPath) -> bool {
    !places(rules, toolbox, path).answer.is_empty()
}

fn places(rules: &[RedactRule], toolbox: &Toolbox, path: &ToolPath) -> Places {
    places_in(rules, path, toolbox.schemas_of(path))
}

/// The places of a tool whose schemas are known, or `None` for another one.
pub(crate) fn known_places(rules: &[RedactRule], toolbox: &Toolbox, path: &ToolPath) -> Option<Places> {
    let schemas = toolbox.schemas_of(path)?;
    Some(places_in(rules, path, Some(schemas)))
}

fn places_in(rules: &[RedactRule], path: &ToolPath, schemas: Option<(Value, Option<Value>)>) -> Places {
    let name = path.to_string();
    let named = rules.iter().filter(|rule| rule.matches(&name)).flat_map(|rule| rule.pointers.iter().cloned());
    let named: BTreeSet<String> = named.collect();
    let mut places = Places { arguments: named.clone(), answer: named };
    if let Some((input, output)) = schemas {
        places.arguments.extend(secret_places(&input));
        places.answer.extend(output.iter().flat_map(secret_places));
    }
    places
}

/// The places that a schema calls `writeOnly`, or a password.
fn secret_places(root: &Value) -> BTreeSet<String> {
    if !names_a_secret(root) {
        return BTreeSet::new();
    }
    let mut found = BTreeSet::new();
    let mut open = vec![Place { pointer: String::new(), schema: root, depth: 0, through: Vec::new() }];
    let mut seen = 0;
    while let Some(place) = open.pop() {
        seen += 1;
        if seen > MAX_PLACES || place.depth > MAX_DEPTH {
            // A schema that is too large to understand has its value removed as a whole.
            return BTreeSet::from([String::new()]);
        }
        let schema = place.schema;
        if is_secret(schema) || schema.get("$dynamicRef").is_some() {
            found.insert(place.pointer);
            continue;
        }
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let target = reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
            match target.filter(|_| !place.through.contains(&reference)) {
                Some(target) => {
                    let mut inside = place.within("", target);
                    inside.through.push(reference);
                    open.push(inside);
                }
                // It is recursive, or refers elsewhere.
                None => {
                    found.insert(place.pointer);
                    continue;
                }
            }
        }
        let named = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        open.extend(named.map(|(name, schema)| place.within(&format!("/{}", escaped(name)), schema)));
        let in_turn = schema.get("prefixItems").and_then(Value::as_array).into_iter().flatten().enumerate();
        open.extend(in_turn.map(|(at, schema)| place.within(&format!("/{at}"), schema)));
        for of_all in OF_ALL {
            open.extend(schema.get(of_all).map(|schema| place.within("/*", schema)));
        }
        let listed = schema.get("items").and_then(Value::as_array).into_iter().flatten();
        let matched = schema.get("patternProperties").and_then(Value::as_object).into_iter().flatten();
        open.extend(listed.chain(matched.map(|(_, schema)| schema)).map(|schema| place.within("/*", schema)));
        for options in ["anyOf", "oneOf", "allOf"] {
            let options = schema.get(options).and_then(Value::as_array).into_iter().flatten();
            open.extend(options.map(|schema| place.within("", schema)));
        }
        let of_some = schema.get("dependentSchemas").and_then(Value::as_object).into_iter().flatten();
        let of_some =
            of_some.map(|(_, schema)| schema).chain(["if", "then", "else"].iter().filter_map(|name| schema.get(name)));
        open.extend(of_some.map(|schema| place.within("", schema)));
    }
    found
}

/// Keywords whose schema is that of each member or element.
const OF_ALL: [&str; 6] =
    ["items", "additionalItems", "additionalProperties", "unevaluatedItems", "unevaluatedProperties", "contains"];

/// A part of a schema, and the part of the value that it describes.
struct Place<'s> {
    pointer: String,
    schema: &'s Value,
    depth: usize,
    /// The references by which it was reached.
    through: Vec<&'s str>,
}

impl<'s> Place<'s> {
    fn within(&self, pointer: &str, schema: &'s Value) -> Self {
        let pointer = format!("{}{pointer}", self.pointer);
        Self { pointer, schema, depth: self.depth + 1, through: self.through.clone() }
    }
}

fn is_secret(schema: &Value) -> bool {
    schema.get("writeOnly") == Some(&Value::Bool(true))
        || schema.get("format").and_then(Value::as_str) == Some("password")
}

/// Whether a schema calls anything secret. Most do not, and are not examined further.
fn names_a_secret(schema: &Value) -> bool {
    let mut open = vec![schema];
    while let Some(value) = open.pop() {
        match value {
            _ if is_secret(value) => return true,
            Value::Object(members) => open.extend(members.values()),
            Value::Array(elements) => open.extend(elements),
            _ => {}
        }
    }
    false
}

/// The recording without these places, or `None` if it has none of them. It cannot be known which
/// part of an artifact or of a kept value came from such a place, so `hides` decides whether to
/// leave out everything that was asked of them. It is called only if the recording has such
/// questions.
fn without(
    bytes: &[u8],
    max: ByteSize,
    ledger: &dyn Ledger,
    hides: &dyn Fn() -> bool,
    places: &dyn Fn(&ToolPath) -> Places,
) -> Result<Option<Vec<u8>>, String> {
    let hides = LazyCell::new(hides);
    let left_out = LeftOut { hides: &|| *hides, places };
    let redacted = written(bytes, max, ledger, left_out, WhatIsKept::AsItIs)?;
    match redacted {
        // What a script keeps may be derived from what is left out.
        Some((_, HasKept(true))) => {
            Ok(written(bytes, max, ledger, left_out, WhatIsKept::LeftOut)?.map(|(redacted, _)| redacted))
        }
        redacted => Ok(redacted.map(|(redacted, _)| redacted)),
    }
}

/// What is left out: the values of these places in calls, and all that lives on between runs if
/// `hides` says so.
#[derive(Clone, Copy)]
struct LeftOut<'a> {
    hides: &'a dyn Fn() -> bool,
    places: &'a dyn Fn(&ToolPath) -> Places,
}

/// Whether a script kept something, or read what was kept.
struct HasKept(bool);

/// How to treat what scripts keep.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WhatIsKept {
    AsItIs,
    LeftOut,
}

fn written(
    bytes: &[u8],
    max: ByteSize,
    ledger: &dyn Ledger,
    LeftOut { hides, places }: LeftOut<'_>,
    kept_values: WhatIsKept,
) -> Result<Option<(Vec<u8>, HasKept)>, String> {
    let recording = Recording::read(bytes).map_err(|error| format!("it could not be redacted: {error}"))?;
    let mut writer = Writer::new(recording.start(), max);
    let mut tools = std::collections::BTreeMap::new();
    let mut known = std::collections::BTreeMap::new();
    let (mut is_changed, mut has_kept) = (false, false);
    let mut end = None;
    for entry in recording.entries() {
        match entry {
            Entry::Clock { clock, milliseconds, count } => writer.clock_entry(clock, milliseconds, count),
            Entry::Directory { namespace, listing } => {
                let listing = listing.map(|listing| listing.properties().collect::<Vec<_>>().into_iter());
                writer.directory(namespace, listing);
            }
            Entry::Catalog { question: question @ (Question::Keep(_) | Question::Artifacts(_)), .. } if hides() => {
                is_changed = true;
                let question = match question {
                    Question::Keep(_) => Question::Keep(REDACTED),
                    _ => Question::Artifacts(REDACTED),
                };
                writer.catalog(question, Err(REDACTED));
            }
            Entry::Catalog { question: question @ (Question::Keep(_) | Question::Artifacts(_)), answer } => {
                has_kept = true;
                match kept_values {
                    WhatIsKept::AsItIs => writer.catalog(question, answer),
                    WhatIsKept::LeftOut => {
                        let of = |text: &str| digest(&Value::String(text.to_owned()), ledger);
                        let (asked, answer) = (of(text_of(question)), answer.map(of).map_err(of));
                        let question = match question {
                            Question::Keep(_) => Question::Keep(&asked),
                            _ => Question::Artifacts(&asked),
                        };
                        writer.catalog(question, answer.as_deref().map_err(String::as_str));
                    }
                }
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
                    // A server's error text may quote anything.
                    (Answer::Fault { is_refusal, denial, name, .. }, Some(_)) => {
                        Answer::Fault { message: REDACTED, hint: None, is_refusal, denial, name }
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
    let end = end.ok_or("it does not end")?;
    // With an unkeyed digest, possible return values could be guessed and compared.
    let Digests { result, logs, calls } = end.digests;
    let [result, logs, calls] = [result, logs, calls].map(|digest| keyed(&digest, ledger));
    let bytes = writer.end(End { digests: Digests { result, logs, calls }, ..end }).map_err(|full| full.to_string())?;
    match recording.remarks() {
        // They name tools and arguments, and contain no values.
        Some(remarks) => {
            let behind = remarks.behind(bytes, max).map_err(|error| error.to_string())?;
            Ok(Some((behind, HasKept(has_kept))))
        }
        None => Ok(Some((bytes, HasKept(has_kept)))),
    }
}

/// The text of a question about things that live on between runs.
fn text_of(question: Question<'_>) -> &str {
    match question {
        Question::Keep(text) | Question::Artifacts(text) => text,
        _ => "",
    }
}

/// A keyed digest in place of a digest: equal where the original was equal. Zeros if there is no
/// key.
fn keyed(digest: &[u8; 32], ledger: &dyn Ledger) -> [u8; 32] {
    let mut keyed = [0; 32];
    let found = ledger.digest(digest).unwrap_or_default();
    keyed.iter_mut().zip(found).for_each(|(to, from)| *to = from);
    keyed
}

fn without_error(kept: Kept<'_>, hides: bool) -> Kept<'_> {
    Kept { error: kept.error.map(|error| if hides { REDACTED } else { error }), ..kept }
}

/// Members of a result that are handled separately, or contain none of its value.
const KNOWN_MEMBERS: [&str; 3] = ["content", "isError", "structuredContent"];

/// A `CallToolResult` without these places: in its structured content, and in texts that are JSON.
/// Any other text is removed as a whole, since it may repeat anything.
pub(crate) fn in_result(text: &str, places: &BTreeSet<String>, ledger: &dyn Ledger) -> Option<String> {
    if places.is_empty() {
        return None;
    }
    let Ok(mut result) = serde_json::from_str::<Value>(text) else { return Some(format!("\"{REDACTED}\"")) };
    if let Some(members) = result.as_object_mut() {
        // Other members that a server adds may repeat anything.
        let others = members.iter_mut().filter(|(name, _)| !KNOWN_MEMBERS.contains(&name.as_str()));
        others.for_each(|(_, value)| *value = Value::String(digest(value, ledger)));
    }
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

/// A JSON text without these places, or `None` if it has none of them.
pub(crate) fn in_text(text: &str, places: &BTreeSet<String>, ledger: &dyn Ledger) -> Option<String> {
    if places.is_empty() {
        return None;
    }
    let Ok(mut value) = serde_json::from_str::<Value>(text) else { return Some(format!("\"{REDACTED}\"")) };
    take_out(&mut value, places, ledger).then(|| value.to_string())
}

/// Replaces the values at these places by their digests. Returns whether there were any.
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

/// The replacement of a value: the same for equal values, and nothing that reveals them.
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
    use belljar_model::{LedgerKeep, Limits};
    use belljar_recording::{Cause, Clock, EngineId, Remarks, Start, Surroundings};
    use serde_json::json;

    use super::*;

    fn places(pointers: &[&str]) -> BTreeSet<String> {
        pointers.iter().map(|pointer| (*pointer).to_owned()).collect()
    }

    fn ledger() -> SqliteLedger {
        // Without a folder there is no key, so no digest replaces what is removed.
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
        let nested = json!({
            "$defs": {
                "Secret": { "type": "string", "writeOnly": true },
                "Pair": { "prefixItems": [{ "type": "string" }, { "$ref": "#/$defs/Secret" }] },
                "Tree": { "properties": { "leaf": { "$ref": "#/$defs/Secret" }, "below": { "$ref": "#/$defs/Tree" } } }
            },
            "properties": {
                "key": { "$ref": "#/$defs/Secret" },
                "pairs": { "type": "array", "items": { "$ref": "#/$defs/Pair" } },
                "tree": { "$ref": "#/$defs/Tree" },
                "elsewhere": { "$ref": "https://example.com/schema.json" },
                "plain": { "type": "string" }
            },
            "patternProperties": { "^x-": { "format": "password" } },
            "if": { "properties": { "kind": {} } },
            "then": { "properties": { "token": { "format": "password" } } }
        });
        assert_eq!(
            secret_places(&nested),
            places(&["/*", "/elsewhere", "/key", "/pairs/*/1", "/token", "/tree/below", "/tree/leaf"])
        );
        let tree = json!({ "$defs": { "T": { "items": { "$ref": "#/$defs/T" } } }, "$ref": "#/$defs/T" });
        assert_eq!(secret_places(&tree), places(&[]), "it holds itself, and no secret");
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
    fn a_redacted_recording_keeps_the_remarks_and_no_digest_that_could_be_tried_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let ledger = SqliteLedger::new(Some(folder.path()), Options { fsync: false, keep: LedgerKeep::default() });
        let start = Start {
            engine: EngineId { component: [1; 32], wasmtime: "1".to_owned() },
            source: "1".to_owned(),
            begun_ms: 5,
            seed: [2; 32],
            limits: Limits::default(),
            servers: Vec::new(),
            surroundings: Surroundings::default(),
        };
        let max = ByteSize::mib(1);
        let recorded = |arguments: &str| {
            let mut writer = Writer::new(&start, max);
            writer.clock_entry(Clock::Wall, 5, 1);
            writer.call(0, "fs", "read", arguments, 7);
            writer.catalog(Question::Artifacts(r#"{"get":"a"}"#), Ok(r#""1234""#));
            writer.clock_entry(Clock::Wall, 5, 2);
            let digests = Digests { result: [3; 32], logs: [4; 32], calls: [5; 32] };
            let bytes = writer.end(End { cause: Cause::Script, fuel: 9, digests }).expect("there is room");
            let remarks = Remarks { hint: Some("a hint".to_owned()), ..Remarks::default() };
            remarks.behind(bytes, max).expect("there is room")
        };
        let of_call = |_: &ToolPath| Places { arguments: places(&["/pin"]), ..Places::default() };
        let redacted = |arguments: &str, hides: bool| {
            without(&recorded(arguments), max, &ledger, &|| hides, &of_call).expect("it can be")
        };
        assert_eq!(redacted(r#"{"path":"a"}"#, false), None);
        let without_artifact = redacted(r#"{"path":"a"}"#, true).expect("it is changed");
        let asked = Recording::read(without_artifact).expect("a recording").entries().find_map(|entry| match entry {
            Entry::Catalog { question: Question::Artifacts(text), answer } => Some((text.to_owned(), answer.is_ok())),
            _ => None,
        });
        assert_eq!(asked, Some((REDACTED.to_owned(), false)));
        let redacted = redacted(r#"{"pin":1234}"#, false).expect("it is changed");
        let read = Recording::read(redacted).expect("a recording");
        assert_eq!(read.remarks().and_then(|remarks| remarks.hint).as_deref(), Some("a hint"));
        let end = read.end().expect("an end");
        assert_eq!((end.cause, end.fuel), (Cause::Script, 9));
        assert!(end.digests.result != [3; 32] && end.digests.result != end.digests.logs);
        let entries = read.entries().map(|entry| match entry {
            Entry::Clock { count, .. } => format!("clock {count}"),
            Entry::Call { arguments, .. } => arguments.get(..17).unwrap_or_default().to_owned(),
            other => format!("{other:?}").chars().take(3).collect(),
        });
        assert_eq!(entries.collect::<Vec<_>>(), ["clock 1", r#"{"pin":"[redacted"#, "Cat", "clock 2", "End"]);
    }

    #[test]
    fn what_a_script_kept_is_left_out_with_what_it_may_be_made_of() {
        let folder = tempfile::tempdir().expect("a folder");
        let ledger = SqliteLedger::new(Some(folder.path()), Options { fsync: false, keep: LedgerKeep::default() });
        let start = Start {
            engine: EngineId { component: [1; 32], wasmtime: "1".to_owned() },
            source: "1".to_owned(),
            begun_ms: 5,
            seed: [2; 32],
            limits: Limits::default(),
            servers: Vec::new(),
            surroundings: Surroundings::default(),
        };
        let max = ByteSize::mib(1);
        let mut writer = Writer::new(&start, max);
        writer.catalog(Question::Keep(r#"{"get":"pin"}"#), Ok(r#"{"version":1,"value":"sesame"}"#));
        writer.call(0, "fs", "read", r#"{"pin":"sesame"}"#, 7);
        writer.catalog(Question::Keep(r#"{"set":{"name":"pin","value":"sesame"}}"#), Err("sesame"));
        let digests = Digests { result: [3; 32], logs: [4; 32], calls: [5; 32] };
        let bytes = writer.end(End { cause: Cause::Script, fuel: 9, digests }).expect("there is room");
        let nothing = |_: &ToolPath| Places::default();
        assert_eq!(without(&bytes, max, &ledger, &|| false, &nothing), Ok(None), "of itself it is kept");
        let hidden = without(&bytes, max, &ledger, &|| true, &nothing).expect("it can be").expect("it is changed");
        let asked = |bytes: Vec<u8>| {
            let read = Recording::read(bytes).expect("a recording");
            read.entries().filter(|entry| matches!(entry, Entry::Catalog { question: Question::Keep(_), .. })).count()
        };
        assert!(!String::from_utf8_lossy(&hidden).contains(r#""value":"sesame""#), "whatever this run has called");
        assert_eq!(asked(hidden), 2);
        let of_call = |_: &ToolPath| Places { arguments: places(&["/pin"]), ..Places::default() };
        let redacted = without(&bytes, max, &ledger, &|| false, &of_call).expect("it can be").expect("it is changed");
        assert!(!String::from_utf8_lossy(&redacted).contains("sesame"));
        assert_eq!(asked(redacted), 2);
    }

    #[test]
    fn a_result_repeats_nothing_that_was_taken_out() {
        let result = json!({
            "structuredContent": { "body": "secret", "id": 1 },
            "_meta": { "server/echo": "secret" },
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
