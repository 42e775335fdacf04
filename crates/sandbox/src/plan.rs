//! The calls in a script's source, and what is known about them before it runs.
//!
//! The guest finds them and reports them as JSON (`catalog.plan` in wit/sandbox.wit). Like
//! everything from there, they are not trusted: they grant nothing and call nothing.

use belljar_model::{JsonBounds, JsonText};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The longest text in which a guest reports the calls of a script, in bytes.
pub const MAX_PLAN_BYTES: usize = 64 * 1024;
/// The most calls that a guest may report.
const MAX_CALLS: usize = 200;
/// No findings, as a text.
pub(crate) const NO_FINDINGS: &str = "[]";

/// The calls of a script.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedCalls {
    /// In the order of the source.
    pub calls: Vec<PlannedCall>,
    /// How many more calls there are.
    pub more: u64,
    /// Whether the script may make calls that it chooses while it runs.
    pub others: bool,
}

/// A place in the source where a tool is called.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedCall {
    /// The position of the server in [`Tools::namespaces`](crate::Tools::namespaces).
    pub server: usize,
    /// The property that is called.
    pub tool: String,
    /// How certain it is that the call is made.
    pub reach: Reach,
    /// Whether the script fails if the call does.
    pub fatal: bool,
    /// Whether it may be made more than once.
    #[serde(rename = "loop")]
    pub in_loop: bool,
    /// From 1.
    pub line: u32,
    /// From 1, in UTF-16 code units.
    pub column: u32,
    /// What is known about the arguments, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<KnownArguments>,
}

/// How certain it is that a call is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reach {
    /// It is made in any case.
    Certain,
    /// Whether it is made depends on a condition, a loop or a callback.
    Possible,
    /// The source checks first whether the tool is there, or catches the call's error.
    Guarded,
}

/// What is known about a call's arguments. All places are JSON pointers into `value`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct KnownArguments {
    /// The arguments. Unknown values are null, and unknown texts are empty.
    pub value: Map<String, Value>,
    /// Places with unknown values, which may be absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
    /// Places with unknown texts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub texts: Vec<String>,
    /// Objects that may have more members.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<String>,
}

/// What is known about a call before its script runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// Nothing is wrong with it, as far as is known.
    Nothing,
    /// The server has no tool of this name.
    NoSuchTool {
        /// Whether the list of its tools is the current one.
        certain: bool,
    },
    /// It would be refused.
    Objection(Objection),
}

/// What is wrong with a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Objection {
    /// What would happen, for the script's author.
    pub message: String,
    /// What to try.
    pub hint: Option<String>,
    /// Whether the owner's rules deny it.
    pub denied: bool,
    /// Whether it is certain. If not, the call may still succeed.
    pub certain: bool,
}

impl PlannedCalls {
    /// Parses a guest's text; `None` if it is malformed, or too long.
    pub fn parse(text: &str) -> Option<Self> {
        let text = JsonText::parse(text.to_owned(), &JsonBounds::with_bytes(MAX_PLAN_BYTES)).ok()?;
        let calls: Self = serde_json::from_value(text.to_value().ok()?).ok()?;
        (calls.calls.len() <= MAX_CALLS).then_some(calls)
    }

    /// The text form.
    pub fn to_text(&self) -> String {
        serde_json::json!(self).to_string()
    }
}

impl KnownArguments {
    /// Whether everything about them is known.
    pub fn is_complete(&self) -> bool {
        self.unknown.is_empty() && self.texts.is_empty() && self.open.is_empty()
    }
}

impl Finding {
    /// Findings in the form in which they are recorded, and sent to another process.
    pub fn to_text(findings: &[Self]) -> String {
        serde_json::json!(findings).to_string()
    }

    /// Parses that form. If it is malformed, nothing is known.
    pub fn from_text(text: &str) -> Vec<Self> {
        serde_json::from_str(text).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_guest_says_of_calls_is_read_within_bounds() {
        let call = r#"{"server":0,"tool":"read","reach":"certain","fatal":true,"loop":false,"line":1,"column":7,
            "arguments":{"value":{"path":null},"unknown":["/path"],"texts":[],"open":[""]}}"#;
        let text = |calls: &[&str]| format!(r#"{{"calls":[{}],"more":0,"others":false}}"#, calls.join(","));
        let parsed = PlannedCalls::parse(&text(&[call])).expect("a plan");
        assert_eq!(parsed.calls[0].arguments.as_ref().map(KnownArguments::is_complete), Some(false));
        assert_eq!(PlannedCalls::parse(&parsed.to_text()), Some(parsed));
        let deep = format!("{}1{}", "[".repeat(5_000), "]".repeat(5_000));
        let too_many = text(&[call; MAX_CALLS + 1]);
        let too_long = text(&[&call.replace("read", &"r".repeat(MAX_PLAN_BYTES))]);
        for hostile in ["", "null", "{}", &deep, &too_many, &too_long, &text(&[&call.replace("0,", "-1,")])] {
            assert_eq!(PlannedCalls::parse(hostile), None, "{:.80}", hostile);
        }
    }

    #[test]
    fn findings_are_told_as_text_and_read_again() {
        let objection = Objection { message: "no".into(), hint: None, denied: true, certain: false };
        let findings = [Finding::Nothing, Finding::NoSuchTool { certain: true }, Finding::Objection(objection)];
        assert_eq!(Finding::from_text(&Finding::to_text(&findings)), findings);
        assert_eq!(Finding::from_text("[{}]"), []);
    }
}
