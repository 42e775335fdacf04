#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod calls;
mod components;
mod convert;
mod engine;
mod failure;
mod imports;
mod limiter;
mod logs;
mod reading;
mod refusal;
mod request;
mod run;
mod server;
mod tool_error;
mod wasi;

pub use components::{Component, Components, ComponentsError, Linked};
pub use imports::{Imports, MAX_COMPONENT_BYTES, RunExport, ToolInterface};
pub use reading::from_file;
pub use refusal::Refusal;
pub use request::ComponentRun;
pub use server::{Order, Server, Target, targets};
