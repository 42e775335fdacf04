//! Imports the servers that MCP clients are configured with: finds them, decides which ones to
//! import and which to skip and why, and writes belljar.toml.
//!
//! Entries are written unchanged: a reference to a variable stays a reference, and a secret in a
//! client's file goes only into the written file. The whole entry of a server is shown, with its
//! secrets masked: see [`crate::masked`]. A project's file comes from a stranger: it is examined,
//! but imported only if the user asks for it.

mod convert;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;
mod places;
mod plan;
#[cfg(test)]
mod tests;
mod text;
mod write;

pub use places::{Folders, ImportClient};
pub use plan::{Decision, Found, Item, Plan, Source};
pub use write::{WriteError, Written, write};

/// The JSON Schema of belljar.toml, for editors. It is written next to an imported configuration,
/// which refers to it.
pub const SCHEMA: &str = include_str!("../../belljar.schema.json");

/// The name of the schema's file.
pub const SCHEMA_FILE: &str = "belljar.schema.json";
