//! Whether the arguments of a call are what the JSON Schema of its tool asks for, and in words what
//! is wrong if they are not.
//!
//! A schema may be a stranger's: it may be huge, endless or wrong. [`Plan`] says what it costs
//! before it is compiled, and what a check of some arguments costs before it is made; whoever asks
//! decides whether that is too much. Nothing is ever fetched for a schema, patterns take time
//! linear in what they look at, and defaults are not filled in.
//!
//! `check.rs` compiles a schema and checks with it, `parts.rs` and `cost.rs` are the estimate and
//! `pattern.rs` that of its patterns, `problems.rs` puts what is wrong into words with `names.rs`
//! for what was meant, `undeclared.rs` finds names that a schema does not list, and `gaps.rs` is
//! for arguments of which only a part is known.
//!
//! This crate knows tools by their schemas alone. It does no I/O, and starts no thread and no
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
