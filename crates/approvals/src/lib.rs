//! What a person is asked before a call is sent, and what their decision is bound to.
//!
//! A rule with the verdict `ask` holds a call back. A [`Question`] is what the owner is shown. Its
//! [`Binding`] identifies the call: the run, the call's number, the arguments as they would be
//! sent, the tool's definition, the rule, the caller, and the deadline. A decision is valid for
//! that call only: its binding is compared with the call that is about to be sent, and it is used
//! once. A [`Group`] is all calls of a run that the owner is asked about for the same reason; the
//! owner can agree to them with any arguments.
//!
//! This crate does no I/O: where questions are kept and who sees them is decided elsewhere. Nothing
//! here ever makes a decision.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod binding;
mod group;
mod id;
mod part;
mod question;
mod state;

pub use binding::{Binding, Digest, digest};
pub use group::Group;
pub use id::{QuestionId, QuestionIdError};
pub use part::Part;
pub use question::{By, Change, Channel, Decision, Desk, Past, Question};
pub use state::{Refusal, State};
