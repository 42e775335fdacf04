//! Tool lists that earlier processes have left, for who must not start a server.

use std::{sync::Arc, time::SystemTime};

use belljar_model::{ServerSpec, ToolDefinition};
use cap_std::fs::Dir;
use tokio_util::task::TaskTracker;

use crate::tools::{affinity, cache::Cache};

/// What a server listed once.
#[derive(Debug, Clone)]
pub struct Listed {
    /// The tools as callers see them.
    pub tools: Vec<ToolDefinition>,
    /// When they were listed last.
    pub at: SystemTime,
}

/// What belljar of this version has kept of a server's tools in `folder`, if it has something.
/// Blocks.
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
