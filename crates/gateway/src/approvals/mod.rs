//! Calls that a rule holds back until a person agrees.
//!
//! A call with the verdict `ask` is [`Held`], and only [`Held::settle`] returns what may be sent:
//! after the owner was asked and agreed, and the ledger has noted that the decision was used for
//! exactly this call. In every other case, including errors, nothing is sent.
//!
//! The question is kept in the ledger, because the decision often comes from another process. What
//! a script or a model reads about it names neither the question nor a command.
//!
//! - `held`: the result of a check, and the call that is held back;
//! - `settle`: asks about a held call, waits, and returns what may be sent;
//! - `waiting`: who waits for decisions in this process;
//! - `options`: who can be asked, and who is notified.

mod held;
mod options;
mod settle;
mod waiting;

pub(crate) use held::{Checked, Held, NotSent};
pub use options::{Approvals, Teller};
pub(crate) use settle::Asking;
pub(crate) use waiting::Waiting;
