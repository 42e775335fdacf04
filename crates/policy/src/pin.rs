//! Tools whose definitions are pinned: `pin = true`.
//!
//! A model reads a server's description of a tool before it calls the tool. The definition is
//! pinned when it is first seen; if the server later describes the tool differently, the owner is
//! asked about its calls until they have accepted the new definition.

use std::fmt::Write as _;

use belljar_model::{ToolDefinition, ToolPath, Verdict};
use serde_json::Value;

use crate::{AskTerms, Decision, glob::ToolGlob};

/// Stands in place of a rule's name if a pin decided.
pub(crate) const PIN: &str = "pin";

const WHY: &str = "its server describes it otherwise than when it was pinned";

/// The tools whose definitions are pinned.
#[derive(Debug)]
pub(crate) struct Pins {
    pub(crate) offset: usize,
    /// The tools; `None` means every tool.
    pub(crate) tools: Option<Vec<ToolGlob>>,
}

impl Pins {
    pub(crate) fn has(&self, tool: &ToolPath) -> bool {
        self.tools.as_ref().is_none_or(|globs| globs.iter().any(|glob| glob.matches(tool)))
    }

    /// Whether a tool of this server can be among them.
    pub(crate) fn has_server(&self, name: &str) -> bool {
        self.tools.as_ref().is_none_or(|globs| globs.iter().any(|glob| glob.server.matches(name)))
    }
}

impl Decision {
    /// The same for a tool whose definition differs from the pinned one: the owner is asked about
    /// calls that would be allowed.
    #[must_use]
    pub fn held_by_pin(self) -> Self {
        match self.verdict {
            Verdict::Allow => {
                let (rule, why) = (Some(PIN.into()), Some(WHY.into()));
                Self { verdict: Verdict::Ask, rule, why, ask: AskTerms::default(), measured: None }
            }
            Verdict::Ask | Verdict::Deny => self,
        }
    }
}

/// A definition as it is stored and compared, without differences that do not matter in JSON.
pub fn pinned(definition: &ToolDefinition) -> String {
    let mut value = serde_json::to_value(definition).unwrap_or_default();
    value.sort_all_objects();
    value.to_string()
}

/// A stored definition, formatted for a person. Control characters and the like are not removed.
pub fn laid_out(pinned: &str) -> String {
    let Ok(Value::Object(members)) = serde_json::from_str(pinned) else { return pinned.to_owned() };
    let mut text = String::new();
    for (key, value) in members {
        match value {
            Value::Null => {}
            Value::String(value) => {
                let _ = writeln!(text, "{key}: {value}");
            }
            value => {
                let _ = writeln!(text, "{key}: {value:#}");
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_kept_is_all_that_a_model_reads_and_its_order_makes_no_difference() {
        let definition = |value: Value| pinned(&ToolDefinition::from_json(value).expect("a tool"));
        let one = json!({ "name": "get", "description": "Gets\nit", "inputSchema": { "type": "object",
            "properties": { "a": { "type": "string" }, "b": {} } }, "annotations": { "readOnlyHint": true } });
        let other = json!({ "annotations": { "readOnlyHint": true }, "inputSchema": { "properties": { "b": {},
            "a": { "type": "string" } }, "type": "object" }, "description": "Gets\nit", "name": "get", "_meta": 1 });
        assert_eq!(definition(one.clone()), definition(other));
        for (pointer, changed) in [
            ("/name", json!("got")),
            ("/description", json!("Gets it")),
            ("/inputSchema/properties/a/type", json!("number")),
            ("/annotations/readOnlyHint", json!(false)),
        ] {
            let mut other = one.clone();
            *other.pointer_mut(pointer).expect("it is there") = changed;
            assert_ne!(definition(one.clone()), definition(other), "{pointer}");
        }
        let mut more = one.clone();
        more["outputSchema"] = json!({ "type": "object" });
        assert_ne!(definition(one.clone()), definition(more));
        let text = laid_out(&definition(one));
        assert!(text.contains("description: Gets\nit\n") && text.contains("\"read_only\": true"), "{text}");
    }
}
