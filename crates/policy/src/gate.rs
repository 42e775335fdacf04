//! Conditions on other calls: `after`, an earlier call that succeeded, and `measure`, a read-only
//! call whose count decides.

use std::{sync::Arc, time::Duration};

use belljar_model::{ToolPath, display};
use serde_json::{Map, Value};

use crate::{
    argument::{ArgumentPath, Found},
    glob::ToolGlob,
};

/// The longest time for which an earlier call counts.
pub(crate) const MAX_WITHIN: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// An earlier call that a rule requires.
#[derive(Debug)]
pub struct Gate {
    /// The rule's name.
    pub(crate) rule: Arc<str>,
    pub(crate) tools: Vec<ToolGlob>,
    pub(crate) within: Option<Duration>,
    pub(crate) same: Vec<ArgumentPath>,
}

impl Gate {
    /// The rule that requires it.
    pub fn rule(&self) -> &Arc<str> {
        &self.rule
    }

    /// How long such a call in another run of the principal counts; `None` if only a call in the
    /// same run counts.
    pub fn within(&self) -> Option<Duration> {
        self.within
    }

    /// The values that must be equal in both calls, as text; `None` if one is missing.
    pub fn values(&self, arguments: &Map<String, Value>) -> Option<String> {
        let value = |path: &ArgumentPath| match path.find(arguments) {
            Found::Value(value) => Some(value.clone()),
            Found::Missing | Found::Unknown => None,
        };
        let mut values = Value::Array(self.same.iter().map(value).collect::<Option<_>>()?);
        values.sort_all_objects();
        Some(values.to_string())
    }

    /// The condition as it was written.
    pub(crate) fn text(&self) -> String {
        let tools: Vec<String> =
            self.tools.iter().map(|glob| format!("{}.{}", glob.server.text(), glob.tool.text())).collect();
        let same: Vec<&str> = self.same.iter().map(ArgumentPath::text).collect();
        let same = if same.is_empty() { String::new() } else { format!(" with the same {}", same.join(", ")) };
        display::line(&format!("after [{}]{same}", tools.join(", "))).into_owned()
    }
}

/// A call that is made first, and whose count decides about the judged call.
#[derive(Debug, PartialEq)]
pub struct Measure {
    pub(crate) tool: ToolPath,
    pub(crate) offset: usize,
    /// Its arguments. Names in braces stand for arguments of the judged call.
    pub(crate) arguments: Map<String, Value>,
    /// The position of the count in the result.
    pub(crate) count: String,
    pub(crate) max: u64,
}

impl Measure {
    /// The tool that is called.
    pub fn tool(&self) -> &ToolPath {
        &self.tool
    }

    /// The highest allowed count.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// Its arguments; `None` if an argument of the judged call is missing.
    pub fn arguments(&self, of: &Map<String, Value>) -> Option<Map<String, Value>> {
        match filled(&Value::Object(self.arguments.clone()), of)? {
            Value::Object(arguments) => Some(arguments),
            _ => None,
        }
    }

    /// The count in a result: the elements of a list, the members of an object, or the whole
    /// number.
    pub fn count_in(&self, result: &Value) -> Option<u64> {
        match result.pointer(&self.count)? {
            Value::Array(list) => u64::try_from(list.len()).ok(),
            Value::Object(members) => u64::try_from(members.len()).ok(),
            Value::Number(number) => number.as_u64(),
            _ => None,
        }
    }

    /// The count as a text for the person who decides.
    pub(crate) fn said(&self, count: Option<u64>) -> String {
        let (tool, max) = (display::line(&self.tool.to_string()).into_owned(), self.max);
        match count {
            Some(count) => format!("{tool} counts {count}, at most {max} pass"),
            None => format!("{tool} gave no count, at most {max} pass"),
        }
    }
}

/// The name in a text such as `{path}`.
pub(crate) fn placeholder(text: &str) -> Option<&str> {
    text.strip_prefix('{')?.strip_suffix('}')
}

/// A value from the file, whose depth is bounded, with the names in braces replaced by these
/// arguments.
fn filled(value: &Value, of: &Map<String, Value>) -> Option<Value> {
    Some(match value {
        Value::String(text) => match placeholder(text) {
            Some(name) => match ArgumentPath::parse(name).ok()?.find(of) {
                Found::Value(value) => value.clone(),
                Found::Missing | Found::Unknown => return None,
            },
            None => value.clone(),
        },
        Value::Array(list) => Value::Array(list.iter().map(|value| filled(value, of)).collect::<Option<_>>()?),
        Value::Object(members) => {
            let filled = |(name, value): (&String, &Value)| Some((name.clone(), filled(value, of)?));
            Value::Object(members.iter().map(filled).collect::<Option<_>>()?)
        }
        other => other.clone(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_count_is_that_of_a_list_or_an_object_or_a_whole_number() {
        let counted = |pointer: &str, result: Value| {
            let (arguments, count) = (Map::new(), pointer.to_owned());
            Measure { tool: ToolPath::new("s", "t"), offset: 0, arguments, count, max: 1 }.count_in(&result)
        };
        assert_eq!(counted("/references", json!({ "references": [1, 2, 3] })), Some(3));
        assert_eq!(counted("", json!([1, 2])), Some(2));
        assert_eq!(counted("/files", json!({ "files": { "a": 1 } })), Some(1));
        assert_eq!(counted("/total", json!({ "total": 7 })), Some(7));
        for (pointer, result) in [
            ("/total", json!({ "total": -7 })),
            ("/total", json!({ "total": "7" })),
            ("/x", json!({})),
            ("", json!(1.5)),
        ] {
            assert_eq!(counted(pointer, result.clone()), None, "{pointer} {result}");
        }
    }
}
