//! Made-up tool lists for a search, if none of the user's are known.

use std::sync::Arc;

use belljar_model::ToolDefinition;
use serde_json::json;

use super::Listed;

const SERVERS: usize = 10;
const TOOLS_OF_EACH: usize = 100;

const VERBS: [&str; 10] = ["get", "list", "create", "update", "delete", "search", "send", "copy", "merge", "export"];
const NOUNS: [&str; 20] = [
    "file", "page", "issue", "user", "invoice", "message", "branch", "table", "image", "calendar", "contact", "order",
    "report", "ticket", "channel", "document", "payment", "device", "task", "event",
];

/// 1,000 tools of ten servers, each a verb, a noun and a number, with three parameters.
pub(super) fn servers() -> Vec<Listed> {
    let of = |server: usize| {
        let tools = (server * TOOLS_OF_EACH..(server + 1) * TOOLS_OF_EACH).filter_map(tool).collect();
        Listed { name: format!("server{server}"), tools: Some(Arc::new(tools)), is_built_in: true }
    };
    (0..SERVERS).map(of).collect()
}

fn tool(number: usize) -> Option<ToolDefinition> {
    let (verb, noun) = (VERBS.get(number % VERBS.len())?, NOUNS.get(number / VERBS.len() % NOUNS.len())?);
    let definition = json!({
        "name": format!("{verb}_{noun}_{number}"),
        "description": format!("Can {verb} a {noun} of the workspace {number}. The {noun} must exist, and you must be allowed to {verb} it."),
        "inputSchema": { "type": "object", "required": ["id"], "properties": {
            "id": { "type": "string", "description": format!("which {noun} to {verb}") },
            "fields": { "type": "array", "items": { "type": "string" }, "description": "fields to return" },
            "limit": { "type": "integer", "description": "how many to return at most" }
        } }
    });
    ToolDefinition::from_json(definition).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_a_thousand_and_no_two_are_the_same() {
        let servers = servers();
        let names: std::collections::BTreeSet<String> = servers
            .iter()
            .flat_map(|server| server.tools.iter().flat_map(|tools| tools.iter()))
            .map(|tool| tool.name.clone())
            .collect();
        assert_eq!((servers.len(), names.len()), (10, 1_000));
    }
}
