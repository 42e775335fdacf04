//! What is fuzzed here, with what must hold: `fuzz/` feeds it, and the test below replays what was found.

use belljar_catalog::{ServerCatalog, namespaces};
use belljar_model::{EffectRules, JsonBounds, JsonText, ToolDefinition};
use serde_json::{Value, json};

use super::{Check, MAX_VISITS_IN_PLACE};

/// What ends a part of a target's input.
const PART: &str = "\n----\n";
/// Visits that a check may take here: one that may take more is only begun in the shipped code, on a thread of its own.
const MAX_VISITS: u64 = 20 * MAX_VISITS_IN_PLACE;

/// Any schema over any arguments: judged in bounded time, or left aside; and a refusal is fit for a message.
pub fn arguments(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut parts = text.split(PART);
    let mut part = || {
        let text = parts.next().unwrap_or_default().to_owned();
        JsonText::parse(text, &JsonBounds::with_bytes(usize::MAX)).ok()?.to_value().ok()
    };
    let (Some(schema @ Value::Object(_)), Some(arguments @ Value::Object(_))) = (part(), part()) else { return };
    let tool = ToolDefinition::from_json(json!({ "name": "tool", "inputSchema": schema })).expect("it has a name");
    let names = namespaces(&["server"]).remove(0);
    let catalog = ServerCatalog::ready(names, vec![tool], &EffectRules::default());
    let tool = catalog.tool("tool").expect("it was listed");
    let Ok(check) = Check::try_compile(tool) else { return };
    if check.cost.of(&arguments) > MAX_VISITS {
        return;
    }
    let is_valid = check.validator.is_valid(&arguments);
    let (given_back, refusal) = check.judge(arguments.clone());
    assert_eq!(given_back, arguments);
    let Some(refusal) = refusal else { return };
    assert!(!is_valid, "what fits is refused: {}", refusal.message);
    for text in [&refusal.message, &refusal.hint] {
        assert!(text.len() < 64 * 1024, "{} bytes", text.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_fuzzed_of_arguments_holds_still() {
        crate::replay::replay("arguments", arguments);
    }
}
