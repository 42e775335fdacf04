#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod any_tool;
mod calls;
mod components;
mod convert;
mod engine;
mod failure;
mod features;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod imports;
mod limiter;
mod logs;
mod polls;
mod reading;
mod refusal;
mod replaying;
mod request;
mod run;
mod server;
mod tape;
mod tool_error;
mod turns;
mod wasi;
mod wasi_items;
mod withheld;

pub use components::{Component, Components, ComponentsError, Linked};
pub use imports::{AnyToolInterface, Imports, MAX_COMPONENT_BYTES, RunExport, ToolFunction, ToolInterface};
pub use reading::from_file;
pub use refusal::Refusal;
pub use request::ComponentRun;
pub use server::{Order, Server, Target, lacking, targets};
