//! Converts a `CallToolResult`, which a child wrote.

#[cfg(any(test, fuzzing))]
#[cfg_attr(test, allow(unreachable_pub, reason = "public for the fuzzer alone"))]
pub mod fuzzing;

mod filtered;
mod python;

pub(crate) use filtered::{large_blocks, scripts_value, with_filtered, with_parts};
pub(crate) use python::{Written, may_be_written_so, written};

pub(crate) use belljar_model::{result_text as text, result_value as value};
