//! Taking over the servers that MCP clients are configured with: what is there, what of it belljar
//! would take and what it would leave out and why, and the writing of belljar.toml.
//!
//! What is taken is written as it stands: a reference to a variable stays a reference, and a secret
//! that a client's file holds goes into the written file and nowhere else. What is said of a server
//! is its whole entry, its secrets masked: see [`crate::masked`]. A project's file is a stranger's:
//! it is looked into, and taken only by whoever asked for it.

mod convert;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;
mod places;
mod plan;
#[cfg(test)]
mod tests;
mod text;
mod write;

pub use places::{Client, Folders};
pub use plan::{Decision, Found, Item, Plan, Source};
pub use write::{WriteError, Written, write};

/// The JSON Schema of belljar.toml, for editors. It is written beside an imported configuration,
/// which refers to it.
pub const SCHEMA: &str = include_str!("../../belljar.schema.json");

/// The name of the schema's file.
pub const SCHEMA_FILE: &str = "belljar.schema.json";
