//! Catalogues for the tests of this crate.

use std::sync::Arc;

use belljar_model::{EffectRules, ToolDefinition};
use serde_json::Value;

use crate::{Catalog, ServerCatalog, namespaces};

/// The tool lists of real servers, as their `tools/list` answered.
pub(crate) const REAL: [(&str, &str); 10] = [
    ("chrome-devtools", include_str!("../testdata/chrome-devtools.json")),
    ("everything", include_str!("../testdata/everything.json")),
    ("filesystem", include_str!("../testdata/filesystem.json")),
    ("git", include_str!("../testdata/git.json")),
    ("github", include_str!("../testdata/github.json")),
    ("memory", include_str!("../testdata/memory.json")),
    ("notion", include_str!("../testdata/notion.json")),
    ("playwright", include_str!("../testdata/playwright.json")),
    ("sqlite", include_str!("../testdata/sqlite.json")),
    ("time", include_str!("../testdata/time.json")),
];

/// All real servers together.
pub(crate) fn real() -> Catalog {
    catalog(&REAL)
}

/// Servers by name, each with its tool list as JSON: an array, or an object with `tools`.
pub(crate) fn catalog(servers: &[(&str, &str)]) -> Catalog {
    let names: Vec<&str> = servers.iter().map(|(name, _)| *name).collect();
    let servers = namespaces(&names).into_iter().zip(servers).map(|(names, (_, tools))| {
        let answer: Value = serde_json::from_str(tools).expect("JSON");
        let list = answer.get("tools").unwrap_or(&answer).as_array().expect("a list");
        let definitions = list.iter().map(|tool| ToolDefinition::from_json(tool.clone()).expect("a tool")).collect();
        Arc::new(ServerCatalog::ready(names, definitions, &EffectRules::default()))
    });
    Catalog::new(servers.collect())
}
