//! A call that the owner's rules did not let through.

use serde::{Deserialize, Serialize};

use crate::Verdict;

/// Why a call was not sent. Its words are the owner's and belljar's, and no child's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denial {
    /// `deny`, or `ask` where nobody could be asked.
    pub verdict: Verdict,
    /// The rule that says so; `None` where it is the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The owner's reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// All of it in a sentence.
    pub message: String,
}
