//! What lives between runs, as far as a sandbox knows it: the bounds of questions, and the form of
//! refusals.

use serde::{Deserialize, Serialize};

/// The largest value that a script can save, as JSON; the owner may allow less. Four of them fit
/// into the default memory of a script.
pub const MAX_ARTIFACT_BYTES: usize = 64 << 20;
/// The longest question: such a value, and its name around it.
pub(crate) const MAX_QUESTION_BYTES: usize = MAX_ARTIFACT_BYTES + (64 << 10);

/// Questions of one run. Each costs the host work that no fuel counts.
pub const MAX_QUESTIONS: u64 = 10_000;

/// Why a question about what lives between runs has no answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct NotAnswered {
    /// What happened, for the script's author.
    pub message: String,
    /// What to try.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Whether what was asked is wrong: the script gets a `TypeError`.
    #[serde(default, rename = "argument")]
    pub is_argument: bool,
}

impl NotAnswered {
    /// An answer could not be given, although the question was right.
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: Some(hint.into()), is_argument: false }
    }

    /// What was asked is wrong.
    pub fn argument(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { is_argument: true, ..Self::new(message, hint) }
    }

    /// The run has asked too often.
    pub fn too_often(what: &str) -> Self {
        let text = format!("the run has asked {MAX_QUESTIONS} times for {what}, which is the limit");
        Self::new(text, "ask for more at once, or in a later run")
    }

    /// The text that crosses to the guest, and is recorded.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Parses the refusal from such a text. Any other text becomes the message.
    pub fn from_text(text: &str) -> Self {
        let plain = || Self { message: text.to_owned(), hint: None, is_argument: false };
        serde_json::from_str(text).unwrap_or_else(|_| plain())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_crosses_as_the_contract_says() {
        let failed = NotAnswered::new("no", "later").to_text();
        assert_eq!(failed, r#"{"message":"no","hint":"later","argument":false}"#);
        let wrong = NotAnswered::argument("no", "x");
        assert!(wrong.to_text().ends_with(r#""argument":true}"#));
        assert_eq!(NotAnswered::from_text(&wrong.to_text()), wrong);
        assert_eq!(NotAnswered::from_text("the run has ended").message, "the run has ended");
    }
}
