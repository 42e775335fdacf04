//! The rules, compared with what is known about the servers.

use std::sync::Arc;

use belljar_model::{ServerSpec, ToolDefinition, ToolPath, TrustedEffect};
use belljar_policy::{Broken, Policy, ServerTools};

use super::LoadedPolicy;

/// The tools of a server, if its list is known.
pub(crate) type KnownTools = Option<Arc<Vec<ToolDefinition>>>;

/// The rules, together with what is known about the servers.
pub(crate) struct Known<'k> {
    pub(crate) rules: &'k LoadedPolicy,
    pub(crate) policy: &'k Arc<Policy>,
    pub(crate) servers: &'k [ServerSpec],
    lists: Vec<KnownTools>,
}

impl<'k> Known<'k> {
    /// With what is known from disk.
    pub(crate) fn of(rules: &'k LoadedPolicy, servers: &'k [ServerSpec]) -> Self {
        let lists = rules.lists(servers, None).into_iter().map(|listed| listed.map(|listed| Arc::new(listed.tools)));
        Self::with(rules, servers, lists.collect())
    }

    /// With these lists, in the order of the servers.
    pub(crate) fn with(rules: &'k LoadedPolicy, servers: &'k [ServerSpec], lists: Vec<KnownTools>) -> Self {
        Self { rules, policy: &rules.policy, servers, lists }
    }

    /// A tool's trusted effect, and the conditions that make no sense with its server's list.
    /// `None` if there is no such server.
    pub(crate) fn of_tool(&self, path: &ToolPath) -> Option<OfTool> {
        let (at, spec) = self.servers.iter().enumerate().find(|(_, spec)| spec.name == path.server())?;
        let tools = self.lists.get(at).and_then(|list| list.as_ref()).map(|tools| tools.as_slice());
        let listed = tools.and_then(|tools| tools.iter().find(|tool| tool.name == path.tool()));
        let trusted = match listed {
            Some(tool) => spec.effects.trusted(tool),
            None => spec.effects.trusted(&ToolDefinition::unknown(path.tool())),
        };
        let server = ServerTools { name: &spec.name, effects: &spec.effects, tools };
        let (broken, _) = self.policy.broken(&server);
        Some(OfTool { trusted, broken, is_listed: listed.is_some() })
    }
}

/// What is known about a tool.
pub(crate) struct OfTool {
    pub(crate) trusted: TrustedEffect,
    pub(crate) broken: Broken,
    pub(crate) is_listed: bool,
}
