//! `pin` of the owner's rules: whether a server still describes its tools as it did when they were
//! pinned or accepted.
//!
//! A new list is compared once. A tool that differs is looked up again at each call, since the
//! owner may have accepted it meanwhile in another process. If the pins cannot be read, each pinned
//! tool counts as different.

use std::collections::BTreeMap;

use belljar_ledger::Pins;
use belljar_model::{ToolDefinition, ToolPath};
use belljar_policy::pinned;

use crate::Toolbox;

/// The tools of a server whose definitions differ from the pinned ones, with their current digests.
#[derive(Debug, Default)]
pub(crate) struct Changed(BTreeMap<String, String>);

impl Toolbox {
    /// How this list differs from the pinned one. At a server that was seen before, new tools
    /// differ too.
    pub(crate) async fn changed(&self, server: &str, tools: &[ToolDefinition]) -> Changed {
        let Some(policy) = self.policy().filter(|policy| policy.pins_server(server)) else { return Changed::default() };
        let is_pinned = |tool: &&ToolDefinition| policy.is_pinned(&ToolPath::new(server, &tool.name));
        let mut now: BTreeMap<String, String> =
            tools.iter().filter(is_pinned).map(|tool| (tool.name.clone(), pinned(tool))).collect();
        if let Some(before) = self.pinned(server, now.clone()).await {
            now.retain(|tool, definition| before.get(tool) != Some(definition));
        }
        for tool in now.keys() {
            tracing::warn!(
                server,
                tool,
                "its definition differs from the pinned one: the owner is asked about its calls"
            );
        }
        Changed(now)
    }

    /// Whether calls of this tool are held back by its pin, as far as its server's list is known.
    pub(crate) async fn is_held_by_pin(&self, path: &ToolPath) -> bool {
        if !self.policy().is_some_and(|policy| policy.is_pinned(path)) {
            return false;
        }
        // If a server's list is not known, nothing can be compared.
        let Some(changed) = self.changed_of(path.server()) else { return true };
        let Some(definition) = changed.0.get(path.tool()) else { return false };
        let now = BTreeMap::from([(path.tool().to_owned(), definition.clone())]);
        let accepted = self.pinned(path.server(), now).await;
        accepted.is_none_or(|accepted| accepted.get(path.tool()) != Some(definition))
    }

    /// The pins of a server. If there are none, these tools are pinned from now on. `None` if they
    /// cannot be read.
    async fn pinned(&self, server: &str, tools: BTreeMap<String, String>) -> Option<BTreeMap<String, String>> {
        let Some(kept) = &self.told().ledger else {
            tracing::warn!(server, "tools are pinned, and the ledger that knows their pinned definitions is missing");
            return None;
        };
        let pins = Pins { rules: self.rules_file().to_owned(), server: server.to_owned(), tools };
        match kept.ledger.pins(pins).await {
            Ok(pinned) => Some(pinned.tools),
            Err(fault) => {
                tracing::warn!(server, "tools are pinned, and their pinned definitions cannot be read: {fault}");
                None
            }
        }
    }
}
