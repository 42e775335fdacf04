//! The arguments of the two tools.

use belljar_model::{ErrorKind, LimitsPatch, RunError, RunId};
use serde::{Deserialize, Deserializer};

use super::definitions::EXECUTE;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchRequest {
    #[serde(default)]
    pub(super) query: String,
    pub(super) server: Option<String>,
    pub(super) detail: Option<String>,
    pub(super) limit: Option<usize>,
    pub(super) budget: Option<usize>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ExecuteRequest {
    pub(super) code: Option<String>,
    /// A waiting run to resume.
    pub(super) run: Option<RunId>,
    #[serde(default, deserialize_with = "null_is_none")]
    pub(super) limits: LimitsPatch,
}

/// Either a script or a run, not both.
pub(super) fn neither_or_both() -> RunError {
    RunError::new(ErrorKind::Usage, format!("the arguments of {EXECUTE} are wrong: it takes either code or run"))
        .with_hint("run continues a run that waits, instead of running code")
}

/// Models write `null` for what they leave out.
fn null_is_none<'de, D: Deserializer<'de>>(deserializer: D) -> Result<LimitsPatch, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}
