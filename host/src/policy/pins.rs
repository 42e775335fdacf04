//! Tools whose definition differs from the one that the owner accepted.

use std::collections::BTreeMap;

use belljar_ledger::{Ledger, LedgerError, PinnedServer, Pins};
use belljar_model::{ServerSpec, ToolPath};
use belljar_policy::{pinned, suspicions};

use super::{LoadedPolicy, lists};
use crate::failure::Failure;

/// A tool that differs from its pin.
pub(crate) struct Changed {
    pub(crate) tool: ToolPath,
    pub(crate) before: Option<String>,
    pub(crate) now: String,
    pub(crate) warnings: Vec<String>,
}

/// The tools that differ from their pins, and the servers for which that is unknown. A server that
/// is checked for the first time is pinned.
pub(crate) async fn changed(
    rules: &LoadedPolicy,
    servers: &[ServerSpec],
    only: Option<&str>,
    ledger: &dyn Ledger,
) -> Result<(Vec<Changed>, Vec<String>), Failure> {
    let is_meant = |tool: &ToolPath| {
        only.is_none_or(|only| only == tool.server() || only.parse::<ToolPath>().is_ok_and(|only| only == *tool))
    };
    let is_wanted =
        |name: &str| rules.policy.pins_server(name) && only.is_none_or(|only| only.split('.').next() == Some(name));
    let lists = lists(servers, None, is_wanted);
    let (mut changed, mut unknown) = (Vec::new(), Vec::new());
    for (spec, listed) in servers.iter().zip(lists) {
        let Some(listed) = listed else {
            if is_wanted(&spec.name) {
                unknown.push(spec.name.clone());
            }
            continue;
        };
        let path = |tool: &str| ToolPath::new(&spec.name, tool);
        let of_pins = listed.tools.iter().filter(|tool| rules.policy.is_pinned(&path(&tool.name)));
        let tools: BTreeMap<String, String> = of_pins.map(|tool| (tool.name.clone(), pinned(tool))).collect();
        let pins = Pins { rules: rules.name(), server: spec.name.clone(), tools };
        let PinnedServer { tools: before, .. } = ledger.pins(pins.clone()).await.map_err(unusable)?;
        for (tool, now) in pins.tools {
            let before = before.get(&tool).cloned();
            if before.as_ref() == Some(&now) || !is_meant(&path(&tool)) {
                continue;
            }
            let definition = listed.tools.iter().find(|listed| listed.name == tool);
            let found = definition.map(suspicions).unwrap_or_default();
            let warnings = found.into_iter().map(|found| format!("{}: {}", found.place, found.problem)).collect();
            changed.push(Changed { tool: path(&tool), before, now, warnings });
        }
    }
    Ok((changed, unknown))
}

/// The error if the ledger cannot say what was accepted.
pub(crate) fn unusable(fault: LedgerError) -> Failure {
    Failure::config(fault.to_string(), fault.hint())
}
