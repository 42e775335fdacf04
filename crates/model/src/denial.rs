//! A call that the owner's rules did not allow.

use serde::{Deserialize, Serialize};

use crate::Verdict;

/// Why a call was not sent. The text comes from the owner and belljar, never from a child.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denial {
    /// `deny`, or `ask` if nobody could be asked.
    pub verdict: Verdict,
    /// The rule that decided, or `None` for the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The owner's reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Everything in one sentence.
    pub message: String,
}
