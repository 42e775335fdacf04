//! The answers of `tools.list`, `tools.search` and `tools.describe` in a script, as JSON, for a
//! child's tools and an embedder's alike.

use serde_json::{Value, json};

use crate::{Answer, Catalog, Detail, Observed, Query, Tool};

/// The most tokens of the declarations that a search returns. A script can take many, since it can
/// filter.
const SEARCH_BUDGET: usize = 50_000;

/// The tools in order, each with a short description.
pub fn listed<'t>(tools: impl Iterator<Item = &'t Tool>) -> Value {
    let summary = |tool: &Tool| json!({ "path": tool.path(), "effect": tool.effect(), "summary": tool.summary() });
    tools.map(summary).collect()
}

/// The question that a script asks.
pub fn question(text: String, limit: usize) -> Query {
    Query { limit: Some(limit), budget: Some(SEARCH_BUDGET), detail: Some(Detail::Full), ..Query::new(text) }
}

/// What was found, the best first.
pub fn found(answer: &Answer) -> Value {
    let found = answer.results.iter().map(|found| {
        json!({ "path": found.path, "effect": found.effect, "summary": found.summary, "declaration": found.declaration })
    });
    found.collect()
}

/// Everything known of a tool.
pub fn described(tool: &Tool, observed: Option<&Observed>) -> Value {
    let definition = tool.definition();
    json!({
        "path": tool.path(),
        "effect": tool.effect(),
        "description": definition.description,
        "signature": tool.signature_with(observed),
        "declaration": tool.declaration_with(observed),
        "inputSchema": definition.input_schema,
        "outputSchema": definition.output_schema,
    })
}

/// Why a server's tools are not listed.
pub fn no_such_server(catalog: &Catalog, name: &str) -> String {
    let near = catalog.nearest_server(name).map(|near| format!(": did you mean {}?", near.name()));
    format!("there is no server '{name}'{}", near.unwrap_or_default())
}

/// Why a tool is not described. `signature` is that of the nearest one.
pub fn no_such_tool(catalog: &Catalog, path: &str, signature: impl FnOnce(&Tool) -> String) -> String {
    let near = catalog.nearest_tool(path);
    let near = near.map(|near| format!(": did you mean {}? It is {}", near.path(), signature(near)));
    format!("there is no tool '{path}'{}", near.unwrap_or_default())
}
