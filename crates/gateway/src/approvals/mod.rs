//! Calls that a rule holds back until a person agrees.
//!
//! A call with the verdict `ask` is [`Held`], and only [`Held::settle`] gives what may be sent of
//! it: after the owner was asked, agreed, and the ledger has noted that their decision was used,
//! for this call and no other. Whatever else happens, an error included, nothing is sent.
//!
//! The question lies in the ledger, because whoever decides is in another process as often as not.
//! What a script or a model reads of it names neither the question nor a command.
//!
//! - `held`: what a check gives, and the call that is held back;
//! - `settle`: asks about a held call, waits, and gives what may be sent;
//! - `waiting`: who waits for decisions in this process;
//! - `options`: who can be asked, and who is told.

mod held;
mod options;
mod settle;
mod waiting;

pub(crate) use held::{Checked, Held, NotSent};
pub use options::{Approvals, Teller};
pub(crate) use settle::Asking;
pub(crate) use waiting::Waiting;
