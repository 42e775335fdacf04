//! Tool lists from earlier processes, for code that must not start a server.

use std::{sync::Arc, time::SystemTime};

use belljar_model::{ServerSpec, ToolDefinition};
use cap_std::fs::Dir;
use tokio_util::task::TaskTracker;

use crate::tools::{affinity, cache::Cache};

/// A server's earlier list.
#[derive(Debug, Clone)]
pub struct Listed {
    /// The tools as callers see them.
    pub tools: Vec<ToolDefinition>,
    /// When they were last listed.
    pub at: SystemTime,
}

/// The list of a server's tools that this version of belljar has kept in `folder`, if any. Blocks.
pub fn listed(folder: &Arc<Dir>, spec: &ServerSpec, version: &str) -> Option<Listed> {
    let cache = Cache::of(folder, spec, version, &TaskTracker::new())?;
    let at = cache.written()?;
    let tools = cache.read()?;
    let tools = match &spec.life.affinity {
        Some(affinity) => affinity::shown(affinity, spec.life.projects.as_ref(), &tools),
        None => tools,
    };
    Some(Listed { tools, at })
}
