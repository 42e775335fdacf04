//! The owner's rules for calls: which tools, with which arguments, for whom.
//!
//! There are three principles. **A deny always wins; among the rules that allow or ask, the first
//! match in the order of the file decides; if none matches, the default for the effect decides.**
//! Conditions are true, false or unknown; **unknown matches rules that deny or ask, and never one
//! that allows**. And a rule that can have no effect is an error when the file is read.
//!
//! ```toml
//! default = { read_only = "allow", mutating = "ask", external = "ask" }
//!
//! [[rule]]
//! id = "prod"
//! tools = ["prod-*.*"]
//! destructive = true
//! then = "deny"
//! why = "nothing is destroyed in production"
//!
//! [[rule]]
//! id = "write-below-out"
//! tools = ["fs.write_file"]
//! args.path = { not_under = ["/work/out"] }
//! then = "deny"
//!
//! [[rule]]
//! id = "small-refunds"
//! tools = ["stripe.refund"]
//! args.amount = { max = 100 }
//! args.currency = { in = ["usd", "eur"] }
//! then = "allow"
//!
//! [[test]]
//! call = "stripe.refund"
//! args = { amount = 99.5, currency = "usd" }
//! expect = "allow by small-refunds"
//! ```
//!
//! This crate does no I/O: the host provides [`Places`], which knows where paths lead.
//! docs/POLICY.md has every key.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod argument;
mod ask;
mod at_most;
mod condition;
#[cfg(test)]
mod decisions;
mod error;
mod explain;
mod gate;
mod glob;
mod history;
mod hours;
mod index;
mod labels;
mod listed;
mod lists;
mod number;
mod pin;
mod policy;
#[cfg(test)]
mod properties;
mod read;
mod rule;
mod schema;
mod shadow;
mod suspicion;
mod test_row;
mod tool_policy;

pub use ask::AskTerms;
pub use at_most::{AtMost, Period};
pub use belljar_model::Position;
pub use error::{Problem, ProblemKind, Problems};
pub use explain::{Explanation, Finding, Step};
pub use gate::{Gate, Measure};
pub use history::{Assumed, History};
pub use hours::LocalTime;
pub use labels::Labels;
pub use listed::ListedRule;
pub use lists::{Broken, Comparison, Mistake, ServerTools};
pub use pin::{laid_out, pinned};
pub use policy::{Call, Caller, Decision, Places, Policy, absolute_folder};
pub use suspicion::{Suspicion, suspicions};
pub use test_row::{DecidedBy, Expectation, TestRow};
pub use tool_policy::ToolPolicy;
