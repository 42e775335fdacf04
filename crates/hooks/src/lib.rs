//! The hooks of coding agents: what they send before a tool call, what they take as an answer, and
//! how the owner's rules decide.
//!
//! `client` knows whom a hook speaks to, `input` reads what that client sends and `transcript` what
//! it has written down, `paths` knows what in a call may be a path, `rule` finds the rule that fits
//! a call and what it says, `told` remembers what was said, `own` knows the commands that are the
//! owner's alone, `introduction` is what a session begins with, and `answer` writes what the client
//! takes.
//!
//! All of it is guidance and never a wall: what cannot be understood is answered with the client's
//! own "go on". Nothing here reads a file, knows the time, or believes what a client sends; what of
//! it is repeated in an answer is quoted as JSON.

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
