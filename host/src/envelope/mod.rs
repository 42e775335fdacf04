//! The envelope for orchestrators: one JSON object in, one JSON object out, whatever happens.
//!
//! The declared effect of a request is a ceiling: anything that a tool does beyond it is refused.

mod affected;
mod answer;
mod request;

pub(crate) use answer::{Answer, Meta, Refusal, outcome};
pub(crate) use request::{EXECUTE_CODE, Isolation, Request, TEXT_BYTES};
