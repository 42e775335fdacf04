//! The envelope in which orchestrators ask: one JSON object in, one JSON object out, whatever
//! happens.
//!
//! The effect that a request declares is a ceiling, and never a permission to do more: what a tool
//! does beyond it is refused.

mod answer;
mod request;

pub(crate) use answer::{Answer, Meta, Refusal, outcome};
pub(crate) use request::{EXECUTE_CODE, Isolation, Request, TEXT_BYTES};
