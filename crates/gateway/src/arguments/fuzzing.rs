//! The fuzzed function and its invariant: `fuzz/` feeds it, and the test below replays its corpus.

use belljar_arguments::MAX_COST_IN_PLACE;
use belljar_catalog::{ServerCatalog, namespaces};
use belljar_model::{EffectRules, JsonBounds, JsonText, ToolDefinition};
use serde_json::{Value, json};

use super::Check;

/// The separator between parts of a target's input.
const PART: &str = "\n----\n";
/// The highest cost of a check here. Shipped code starts costlier ones only in a worker process.
const MAX_COST: u64 = 20 * MAX_COST_IN_PLACE;

/// Arguments are checked against any schema in bounded time, or the check is skipped, and a refusal
/// fits into a message.
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
    let Some(check) = Check::of(tool) else { return };
    let Some(compiled) = &check.compiled else { return };
    if check.plan.cost_within(MAX_COST, &arguments).is_none() {
        return;
    }
    let Some(problems) = compiled.problems(&arguments) else { return };
    assert!(!compiled.fits(&arguments), "what fits is refused: {problems}");
    assert!(problems.len() < 64 * 1024, "{} bytes", problems.len());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_fuzzed_of_arguments_holds_still() {
        crate::replay::replay("arguments", arguments);
    }
}
