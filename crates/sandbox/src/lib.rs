//! Runs JavaScript and TypeScript that nobody reviewed: in a WebAssembly component, within limits, with the tools that you
//! plug in and nothing else.
//!
//! A [`Sandbox`] holds the compiled interpreter and its pool of slots; [`Sandbox::run`] takes a [`Program`], its
//! [`Limits`] and its [`Tools`], and ends in an [`Outcome`], whatever the script does. Each run has an instance of its
//! own, which is thrown away after it.
//!
//! ```
//! use std::sync::Arc;
//! use belljar_sandbox::{Effect, Image, Program, Sandbox, ToolSet};
//! use serde_json::json;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let sandbox = Sandbox::new(&Image::embedded(), Default::default())?;
//! let tools = ToolSet::new().with("weather", "forecast", Effect::ReadOnly, async |arguments| {
//!     Ok(json!({ "city": arguments["city"], "celsius": 21 }))
//! });
//! let program = Program::new(
//!     "const cities: string[] = ['Bern', 'Oslo'];
//!      const all = await Promise.all(cities.map(city => weather.forecast({ city })));
//!      return all.map(each => `${each.city}: ${each.celsius} °C`);",
//! );
//! let outcome = sandbox.run(program).tools(Arc::new(tools)).await;
//! assert_eq!(outcome.result?.as_str(), r#"["Bern: 21 °C","Oslo: 21 °C"]"#);
//! # Ok(())
//! # }
//! ```
//!
//! This crate knows wasmtime, and nothing of MCP, of configuration or of processes. The host never parses a script: that
//! happens inside the instance. Every value from there is hostile until it has been checked and bounded.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod admission;
pub mod apart;
mod divergence;
mod failure;
mod frame;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod holdings;
mod host;
mod inbox;
mod limiter;
mod options;
mod overflow;
mod parking;
mod plan;
mod pool;
mod program;
mod recorder;
mod rehearsal;
mod replay;
mod request;
mod rest;
mod run;
mod sandbox;
mod stand_in;
mod ticker;
mod tools;
mod toolset;
mod turn;

pub use belljar_image::{CodeOrigin, Image};
#[cfg(feature = "embedded")]
pub use belljar_image::{EMBEDDED_DIGESTS, EmbeddedDigests};
pub use belljar_model::{ByteSize, Effect, Limits, Outcome, Recorded, RunError, ToolPath};
pub use belljar_recording::Recording;
pub use divergence::{Divergence, ReplayError};
pub use failure::value_too_large;
pub use options::SandboxOptions;
pub use parking::Parked;
pub use plan::{Finding, KnownArguments, MAX_PLAN_BYTES, Objection, PlannedCall, PlannedCalls, Reach};
pub use pool::open_page_map;
pub use program::{GoingOn, Program};
pub use request::{Run, RunRequest, Runner};
pub use sandbox::{Sandbox, SandboxError};
pub use tools::{AnswerRoom, CallFault, Directory, GrantedTool, Namespace, Tools, Unavailable};
pub use toolset::ToolSet;
