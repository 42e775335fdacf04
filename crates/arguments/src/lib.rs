//! Checks the arguments of a call against the JSON Schema of its tool, and describes in words what
//! is wrong.
//!
//! A schema may come from a stranger: it may be huge, endless or wrong. [`Plan`] estimates the cost
//! of compiling it, and of a check of given arguments, beforehand; the caller decides whether that
//! is too much. Nothing is ever fetched for a schema, patterns take time linear in their input, and
//! defaults are not filled in.
//!
//! `check.rs` compiles a schema and checks with it; `parts.rs` and `cost.rs` make the estimate, and
//! `pattern.rs` that of patterns; `problems.rs` puts problems into words, with `names.rs` for the
//! names that were meant; `undeclared.rs` finds names that a schema does not list; `gaps.rs`
//! handles arguments that are known only in part.
//!
//! This crate knows tools only by their schemas. It does no I/O, and starts no thread and no
//! process.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod check;
mod cost;
mod gaps;
mod names;
mod parts;
mod pattern;
mod price;
mod problems;
mod undeclared;

pub use check::{Compiled, MAX_COST_IN_PLACE, MAX_SCHEMA_BYTES, Plan, Unfit};
pub use cost::VISIT;
pub use gaps::Gaps;
pub use parts::Unbounded;
pub use undeclared::Undeclared;
