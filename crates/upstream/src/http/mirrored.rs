//! Arguments that a request repeats in headers, because its tool's schema says so with
//! `x-mcp-header`.
//!
//! An intermediary can use them without looking at the body. A tool whose marks break the
//! protocol's rules is not used at all, since their meaning is unknown.

use std::{
    borrow::Cow,
    collections::{BTreeSet, HashMap},
};

use http::HeaderName;
use serde::Deserialize;
use serde_json::{Map, Value, value::RawValue};

use crate::{limits, text::one_line};

const MARK: &str = "x-mcp-header";
const PREFIX: &str = "mcp-param-";
/// The longest header name that a tool may choose.
const NAME_BYTES: usize = 128;
/// The most headers of one tool.
const MOST: usize = 32;
/// The longest value that goes into a header: servers accept some 8 KiB of all headers together. A
/// longer one is left out, and the server refuses the call.
const VALUE_BYTES: usize = 4 * 1024;

/// An argument that goes into a header, too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mirrored {
    /// The path of names to it.
    path: Vec<String>,
    header: HeaderName,
}

/// The arguments that a schema marks.
///
/// # Errors
/// What is wrong with its marks.
pub(crate) fn of_schema(schema: &Map<String, Value>) -> Result<Vec<Mirrored>, String> {
    let mut found = Marks::default();
    found.read(schema, &mut Some(Vec::new()))?;
    Ok(found.mirrored)
}

#[derive(Default)]
struct Marks {
    mirrored: Vec<Mirrored>,
    names: BTreeSet<String>,
}

impl Marks {
    /// Reads a schema that is reached from the outermost by `properties` alone, or, without a path,
    /// in another way.
    fn read(&mut self, schema: &Map<String, Value>, path: &mut Option<Vec<String>>) -> Result<(), String> {
        for (key, value) in schema {
            match (key.as_str(), value) {
                (MARK, name) => self.add(name, schema, path.as_deref().unwrap_or_default())?,
                ("properties", Value::Object(properties)) => {
                    for (name, property) in properties {
                        if let Some(path) = path {
                            path.push(name.clone());
                        }
                        self.read_value(property, path)?;
                        if let Some(path) = path {
                            path.pop();
                        }
                    }
                }
                // Values, not schemas.
                ("default" | "const" | "enum" | "examples", _) => {}
                // Here members have arbitrary names.
                ("$defs" | "definitions" | "dependentSchemas" | "patternProperties", Value::Object(schemas)) => {
                    schemas.values().try_for_each(|schema| self.read_value(schema, &mut None))?;
                }
                (_, value) => self.read_value(value, &mut None)?,
            }
        }
        Ok(())
    }

    fn read_value(&mut self, value: &Value, path: &mut Option<Vec<String>>) -> Result<(), String> {
        match value {
            Value::Object(schema) => self.read(schema, path),
            Value::Array(schemas) => schemas.iter().try_for_each(|schema| self.read_value(schema, &mut None)),
            _ => Ok(()),
        }
    }

    /// Adds the argument at `path`, which is empty if there is no path to it.
    fn add(&mut self, name: &Value, schema: &Map<String, Value>, path: &[String]) -> Result<(), String> {
        let wrong = |what: &str| Err(format!("an {MARK} {what}"));
        if path.is_empty() {
            return wrong("is not that of an argument");
        }
        if !matches!(schema.get("type").and_then(Value::as_str), Some("string" | "integer" | "boolean")) {
            return wrong("is that of an argument that is neither a string, an integer nor a boolean");
        }
        let Some(name) = name.as_str().filter(|name| !name.is_empty() && name.len() <= NAME_BYTES) else {
            return wrong("is empty, too long or not a string");
        };
        let Ok(header) = HeaderName::try_from(format!("{PREFIX}{name}")) else {
            return Err(format!("the {MARK} '{}' cannot be the name of a header", one_line(name, 80)));
        };
        if !self.names.insert(name.to_ascii_lowercase()) {
            return Err(format!("the {MARK} '{name}' is that of two arguments"));
        }
        if self.mirrored.len() == MOST {
            return Err(format!("more than {MOST} arguments have an {MARK}"));
        }
        self.mirrored.push(Mirrored { path: path.to_vec(), header });
        Ok(())
    }
}

/// The marked arguments of all tools of a server, from its last list.
#[derive(Debug, Default)]
pub(crate) struct MirroredArguments(HashMap<String, Vec<Mirrored>>);

impl MirroredArguments {
    /// Reads an answer to `tools/list`.
    pub(crate) fn learn(&mut self, answer: &[u8]) {
        #[derive(Deserialize)]
        struct Answer<'a> {
            #[serde(borrow)]
            result: Page<'a>,
        }
        #[derive(Deserialize)]
        struct Page<'a> {
            #[serde(borrow)]
            tools: Vec<&'a RawValue>,
        }
        #[derive(Deserialize)]
        struct Tool {
            name: String,
            #[serde(default, rename = "inputSchema")]
            schema: Map<String, Value>,
        }
        // Other errors in a list are reported where it is read for its tools.
        let Ok(Answer { result: Page { tools } }) = serde_json::from_slice(answer) else { return };
        for tool in tools.into_iter().take(limits::LIST_TOOLS) {
            let is_marked = tool.get().contains(MARK);
            if !is_marked && self.0.is_empty() {
                continue;
            }
            let Ok(Tool { name, schema }) = serde_json::from_str(tool.get()) else { continue };
            let mirrored = if is_marked { of_schema(&schema).unwrap_or_default() } else { Vec::new() };
            if mirrored.is_empty() {
                self.0.remove(&name);
            } else if self.0.len() < limits::LIST_TOOLS || self.0.contains_key(&name) {
                self.0.insert(name, mirrored);
            }
        }
    }

    /// The headers of a call, with their texts.
    pub(crate) fn of_call(&self, tool: &str, arguments: &RawValue) -> Vec<(HeaderName, String)> {
        let mirrored = self.0.get(tool).into_iter().flatten();
        mirrored.filter_map(|one| Some((one.header.clone(), text_at(arguments, &one.path)?))).collect()
    }
}

/// The text of the string, integer or boolean at `path`, if there is one.
fn text_at(arguments: &RawValue, path: &[String]) -> Option<String> {
    let mut value = arguments;
    for name in path {
        let members: HashMap<Cow<'_, str>, &RawValue> = serde_json::from_str(value.get()).ok()?;
        value = members.get(name.as_str())?;
    }
    let text = match value.get() {
        long if long.len() > 2 * VALUE_BYTES => return None,
        text if text.starts_with('"') => serde_json::from_str(text).ok()?,
        text @ ("true" | "false") => text.to_owned(),
        text => serde_json::from_str::<i64>(text).ok()?.to_string(),
    };
    (text.len() <= VALUE_BYTES).then_some(text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(schema: Value) -> Result<Vec<String>, String> {
        let Value::Object(schema) = schema else { panic!("no schema") };
        let mirrored = of_schema(&schema)?;
        Ok(mirrored.iter().map(|one| format!("{}: {}", one.header, one.path.join("."))).collect())
    }

    fn marked(kind: &str, name: &Value) -> Value {
        json!({ "type": kind, MARK: name })
    }

    #[test]
    fn marks_are_read_along_properties_and_nowhere_else() {
        let region = marked("string", &json!("Region"));
        let nested =
            json!({ "properties": { "a": { "properties": { "b": marked("integer", &json!("B")) } }, "r": region } });
        assert_eq!(read(nested), Ok(vec!["mcp-param-b: a.b".to_owned(), "mcp-param-region: r".to_owned()]));
        // A property of that name is not a mark, and neither is a value that looks like one.
        assert_eq!(read(json!({ "properties": { MARK: { "type": "string", "default": { MARK: "X" } } } })), Ok(vec![]));
        for elsewhere in [
            json!({ MARK: "Root", "type": "string" }),
            json!({ "properties": { "a": { "type": "array", "items": region } } }),
            json!({ "anyOf": [{ "properties": { "a": region } }] }),
            json!({ "$defs": { "a": region } }),
        ] {
            assert!(read(elsewhere.clone()).is_err(), "{elsewhere}");
        }
    }

    #[test]
    fn a_mark_that_cannot_be_a_header_is_refused() {
        for bad in
            [json!(""), json!("a b"), json!("a:b"), json!("Région"), json!("a\r\nb"), json!(7), json!("x".repeat(129))]
        {
            assert!(read(json!({ "properties": { "a": marked("string", &bad) } })).is_err(), "{bad}");
        }
        for kind in ["number", "object", "array", "null"] {
            assert!(read(json!({ "properties": { "a": marked(kind, &json!("A")) } })).is_err(), "{kind}");
        }
        let twice = json!({ "a": marked("string", &json!("Same")), "b": marked("string", &json!("SAME")) });
        assert!(read(json!({ "properties": twice })).is_err());
        let many: Map<String, Value> =
            (0..=MOST).map(|n| (format!("a{n}"), marked("string", &json!(format!("H{n}"))))).collect();
        assert!(read(json!({ "properties": many })).is_err());
    }

    #[test]
    fn what_a_call_has_for_a_mark_goes_into_a_header() {
        let schema = json!({ "properties": {
            "text": marked("string", &json!("Text")), "count": marked("integer", &json!("Count")), "flag": marked("boolean", &json!("Flag")),
            "inner": { "properties": { "deep": marked("string", &json!("Deep")) } },
        } });
        let mut known = MirroredArguments::default();
        let list = |tools: Value| json!({ "jsonrpc": "2.0", "id": 1, "result": { "tools": tools } }).to_string();
        known.learn(list(json!([{ "name": "t", "inputSchema": schema }, { "name": "u" }, 7])).as_bytes());
        let of = |known: &MirroredArguments, arguments: Value| {
            let arguments = RawValue::from_string(arguments.to_string()).expect("JSON");
            let mut headers: Vec<_> =
                known.of_call("t", &arguments).into_iter().map(|(name, text)| format!("{name}={text}")).collect();
            headers.sort_unstable();
            headers
        };
        let all = json!({ "text": "a\nb", "count": -7, "flag": false, "inner": { "deep": "" }, "other": 1 });
        assert_eq!(
            of(&known, all),
            ["mcp-param-count=-7", "mcp-param-deep=", "mcp-param-flag=false", "mcp-param-text=a\nb"]
        );
        let odd = json!({ "text": null, "count": 1.5, "flag": [true], "inner": "deep" });
        assert!(of(&known, odd).is_empty());
        assert!(of(&known, json!({ "text": "x".repeat(VALUE_BYTES + 1) })).is_empty());
        // Listed again without marks, it has none.
        known.learn(list(json!([{ "name": "t", "inputSchema": { "type": "object" } }])).as_bytes());
        assert!(of(&known, json!({ "text": "a" })).is_empty());
    }
}
