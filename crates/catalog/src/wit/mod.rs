//! Tool definitions as WIT: a package for each child server, for components in any language.
//!
//! ```wit
//! package belljar:mcp-github@0.1.0;
//!
//! interface tools {
//!   use types.{ create-issue-args };
//!   type create-issue-t68d1ff4c2a952f2e67d7 = tool-error;
//!   create-issue: func(args: create-issue-args)
//!     -> result<json, create-issue-t68d1ff4c2a952f2e67d7>;
//! }
//! ```
//!
//! A schema becomes data before it becomes text: a [`Mapping`] has, for each function, the tool
//! that it calls, and for each value that crosses, its JSON form. Code that answers a component's
//! calls reads the mapping from which the text was printed. Nothing is ever read back from WIT.
//! docs/COMPONENTS.md has the rules.
//!
//! - `form.rs`: what crosses, as data;
//! - `names.rs`: the rule for names;
//! - `docs.rs`: foreign text in comments of WIT, and of what binders make of them;
//! - `lower.rs`, `union.rs`, `field.rs`: the schemas of one tool as forms;
//! - `mapping.rs`: one server's tools, with all their names;
//! - `print.rs`: a mapping as interfaces;
//! - `any.rs`: the package that finds any tool by its name;
//! - `interface.rs`: the names of interfaces, as components import them;
//! - `package.rs`: several servers as the files of one folder, with their dependencies and worlds.

mod any;
mod docs;
mod field;
mod form;
mod interface;
mod lower;
mod mapping;
mod names;
mod package;
mod print;
#[cfg(test)]
mod round_trip;
#[cfg(test)]
mod tests;
mod union;

pub use any::AnyTool;
pub use form::{Case, Definition, Field, Form, Kind, Payload, Record};
pub use interface::{Interface, InterfaceError, InterfaceKind};
pub use mapping::{Function, Mapping};
pub use names::{is_mark, mark, packages};
pub use package::{File, Package, Selection, Worlds};
