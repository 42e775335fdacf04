//! The hooks of coding agents: what they send before a tool call, what they accept as an answer,
//! and how the owner's rules decide.
//!
//! - `client`: which client calls a hook, and for which event;
//! - `input`: parses what the client sends;
//! - `transcript`: parses the calls that the client has written down;
//! - `paths`: finds what may be a path in a call;
//! - `rule`: finds the rule that matches a call, and what it says;
//! - `told`: remembers what was said;
//! - `own`: recognises the commands that only the owner may run;
//! - `introduction`: what an agent is told when its session begins;
//! - `answer`: writes the answer in the client's form.
//!
//! All of this is guidance and never a security boundary: input that cannot be understood is
//! answered with the client's own "go on". Nothing here reads a file, looks at the clock, or trusts
//! what a client sends; any part of it that is repeated in an answer is quoted as JSON.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod answer;
mod client;
mod input;
mod introduction;
mod own;
mod paths;
mod rule;
mod told;
mod transcript;

pub use answer::{Decision, GO_ON, answer};
pub use client::{Client, Event, Speaker};
pub use input::{MAX_INPUT_BYTES, SessionStart, ToolUse};
pub use introduction::introduction;
pub use own::{NOT_YOURS, is_the_owners};
pub use rule::{Fit, fitting};
pub use told::Told;
pub use transcript::calls;
