//! What a component imports and exports, as its process reports it. `reading.rs` reads it.

use serde::{Deserialize, Serialize};

/// The largest component, in bytes.
pub const MAX_COMPONENT_BYTES: usize = 64 << 20;
/// The most functions that it may import from servers.
pub(crate) const MAX_FUNCTIONS: usize = 10_000;
/// The most missing imports that are named; further ones are only counted.
pub(crate) const MAX_NAMED: usize = 20;
/// The export that is called.
pub(crate) const RUN: &str = "run";

/// What a component imports from belljar, and how it is run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Imports {
    /// The interfaces of servers, in the component's order.
    pub interfaces: Vec<ToolInterface>,
    /// The interfaces with which it finds tools while it runs.
    #[serde(default)]
    pub any_tool: Vec<AnyToolInterface>,
    /// How its `run` is called.
    pub run: RunExport,
}

/// Some tools of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolInterface {
    /// The name by which it is imported.
    pub import: String,
    /// The server's package, without `belljar:` and the version.
    pub package: String,
    /// Whether its functions are async.
    pub is_async: bool,
    /// The functions.
    pub functions: Vec<ToolFunction>,
}

/// A function of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolFunction {
    /// The name by which it is imported. By now, another tool may have it.
    pub name: String,
    /// The [mark](belljar_catalog::wit::mark()) of the tool that it was built for.
    pub mark: String,
}

/// An interface that finds any tool by its path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AnyToolInterface {
    /// The name by which it is imported.
    pub import: String,
    /// Whether its calls are async functions.
    pub is_async: bool,
    /// The functions.
    pub functions: Vec<String>,
}

/// The form of `run`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunExport {
    /// Whether it takes an input.
    pub takes_input: bool,
}

/// A name, made safe to show.
pub(crate) fn shown(name: &str) -> String {
    name.chars().take(200).collect()
}
