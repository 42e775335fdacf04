//! What certainly stands against a call that a script is sure to make, before it runs.
//!
//! It is judged by what judges the call itself, and by the list of tools that the run has. Where a
//! rule depends on the moment, as one that counts does, it is left to the call.

use belljar_model::{Effect, JsonBounds, JsonText, ToolPath};
use belljar_sandbox::Objection;
use serde_json::Value;

use crate::{Toolbox, idempotency};

/// A key that stands for the one that the call will get.
const ANY_KEY: &str = "0";

/// What stands against a call with these arguments, which are JSON as the guest has written it.
///
/// # Cancellation
/// Nothing is changed.
pub(crate) async fn objection(
    toolbox: &Toolbox,
    ceiling: Effect,
    path: ToolPath,
    arguments: String,
) -> Option<Objection> {
    if path.is_lock() {
        return None;
    }
    if let Some(objection) = over(ceiling, toolbox.trusted_effect_of(&path), &path) {
        return Some(objection);
    }
    let checks = toolbox.checks(&path)?;
    let bounds = JsonBounds::with_bytes(arguments.len());
    let arguments = JsonText::parse(arguments, &bounds).ok()?;
    let arguments = match toolbox.key_argument(&path) {
        Some(member) => idempotency::with_key(arguments, member, ANY_KEY),
        None => arguments,
    };
    let Ok(Value::Object(arguments)) = arguments.to_value() else { return None };
    let refusal = checks.admit(path.tool(), arguments).await.err()?;
    Some(Objection { message: refusal.message, hint: Some(refusal.hint) })
}

/// What stands against a call of a tool that does more than its caller may.
pub(crate) fn over(ceiling: Effect, effect: Effect, path: &ToolPath) -> Option<Objection> {
    (effect > ceiling).then(|| Objection {
        message: format!("{path} is {effect}, and whoever runs this script may use what is {ceiling}"),
        hint: Some("the owner of belljar says what a tool does, by 'effects' in its configuration".to_owned()),
    })
}
