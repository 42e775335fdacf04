//! What a tool's result says its call has changed, at the places that the owner has named.

use belljar_model::AffectedPointers;
use serde_json::Value;

/// What a call has changed, as far as its result says so.
#[derive(Debug, Default)]
pub(crate) struct Affected {
    pub(crate) files: Option<Vec<String>>,
    pub(crate) symbols: Option<Vec<String>>,
}

impl Affected {
    /// What is at these places.
    pub(crate) fn of(value: &Value, pointers: &AffectedPointers) -> Self {
        Self { files: texts(value, &pointers.files), symbols: texts(value, &pointers.symbols) }
    }
}

/// The texts at these pointers, each once and in order, including those in lists. `None` if there
/// are none.
fn texts(value: &Value, pointers: &[String]) -> Option<Vec<String>> {
    let mut seen = std::collections::HashSet::new();
    let found = pointers.iter().flat_map(|pointer| at(value, pointer)).flat_map(|found| match found {
        Value::Array(list) => list.iter().collect(),
        one => vec![one],
    });
    let texts: Vec<String> =
        found.filter_map(Value::as_str).filter(|text| seen.insert(*text)).map(str::to_owned).collect();
    (!texts.is_empty()).then_some(texts)
}

/// Where a pointer leads: with `*`, to every element or member.
fn at<'v>(value: &'v Value, pointer: &str) -> Vec<&'v Value> {
    let mut places = vec![value];
    for step in pointer.split('/').skip(1) {
        let name = step.replace("~1", "/").replace("~0", "~");
        let below = |place: &'v Value| -> Vec<&'v Value> {
            match place {
                Value::Array(list) if step == "*" => list.iter().collect(),
                Value::Object(members) if step == "*" => members.values().collect(),
                Value::Array(list) => name.parse().ok().and_then(|index: usize| list.get(index)).into_iter().collect(),
                Value::Object(members) => members.get(&name).into_iter().collect(),
                _ => Vec::new(),
            }
        };
        places = places.into_iter().flat_map(below).collect();
    }
    places
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_stands_at_a_pointer_is_found_once_and_in_order() {
        let value = json!({
            "changes": [{ "path": "b.rs" }, { "path": "a.rs" }, { "path": "b.rs" }, { "path": 3 }, {}],
            "list": ["x", "y", 1], "a/b": { "c~d": "z" }, "one": "o"
        });
        for (pointers, expected) in [
            (&["/changes/*/path"][..], Some(vec!["b.rs", "a.rs"])),
            (&["/list", "/one"], Some(vec!["x", "y", "o"])),
            (&["/list/*"], Some(vec!["x", "y"])),
            (&["/a~1b/c~0d"], Some(vec!["z"])),
            (&["/changes/1/path"], Some(vec!["a.rs"])),
            (&["/nothing/*", "/changes/x", "/one/deeper", ""], None),
            (&[], None),
        ] {
            let pointers: Vec<String> = pointers.iter().map(|pointer| (*pointer).to_owned()).collect();
            assert_eq!(
                texts(&value, &pointers).as_deref(),
                expected.map(|all| all.into_iter().map(str::to_owned).collect::<Vec<_>>()).as_deref()
            );
        }
    }
}
