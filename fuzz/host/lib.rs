//! The modules of the sandbox, the engine and the gateway that handle foreign values and do not
//! need wasmtime, included by path, since those crates link it.

#![allow(dead_code, unreachable_pub, unused_imports, reason = "the modules are more than what the targets reach")]

// The engine's modules know the sandbox, and what reads components, as crates.
extern crate self as belljar_foreign;
extern crate self as belljar_sandbox;
// What reads components names the validator as wasmtime has it.
extern crate self as wasmtime;

pub use wasmparser;

/// The name of a target.
pub mod fuzzing {
    pub use crate::{
        arguments::fuzzing::arguments, client::fuzzing::engine_frames, component::component_bytes,
        guest::guest_reports, tool_result::fuzzing::tool_result,
    };
}

#[path = "../../crates/sandbox/src/apart.rs"]
pub mod apart;

#[path = "../../crates/sandbox/src/answer_room.rs"]
mod answer_room;
#[path = "../../crates/gateway/src/arguments/mod.rs"]
mod arguments;
#[path = "../../crates/sandbox/src/calls.rs"]
mod calls;
#[path = "../../crates/engine/src/client/mod.rs"]
mod client;
#[path = "../../crates/foreign/src/fuzzing.rs"]
mod component;
#[path = "../../crates/sandbox/src/divergence.rs"]
mod divergence;
#[path = "../../crates/foreign/src/features.rs"]
mod features;
#[path = "../../crates/sandbox/src/frame.rs"]
mod frame;
#[path = "../../crates/sandbox/src/fuzzing.rs"]
mod guest;
#[path = "../../crates/sandbox/src/handler.rs"]
mod handler;
#[path = "../../crates/sandbox/src/holdings.rs"]
mod holdings;
#[path = "../../crates/foreign/src/imports.rs"]
mod imports;
#[path = "../../crates/engine/src/memory.rs"]
mod memory;
#[path = "../../crates/sandbox/src/namespace.rs"]
mod namespace;
#[path = "../../crates/gateway/src/observations.rs"]
mod observations;
#[path = "../../crates/sandbox/src/options.rs"]
mod options;
#[path = "../../crates/sandbox/src/overflow.rs"]
mod overflow;
#[path = "../../crates/sandbox/src/parking.rs"]
mod parking;
#[path = "../../crates/sandbox/src/plan.rs"]
mod plan;
#[path = "../../crates/sandbox/src/program.rs"]
mod program;
#[path = "../../crates/engine/src/protocol/mod.rs"]
mod protocol;
#[path = "../../crates/foreign/src/reading.rs"]
mod reading;
#[path = "../../crates/foreign/src/refusal.rs"]
mod refusal;
#[path = "../../crates/sandbox/src/request.rs"]
mod request;
#[path = "../../crates/sandbox/src/tool.rs"]
mod tool;
#[path = "../../crates/gateway/src/tool_result/mod.rs"]
mod tool_result;
#[path = "../../crates/sandbox/src/tools.rs"]
mod tools;
#[path = "../../crates/sandbox/src/toolset.rs"]
mod toolset;
#[path = "../../crates/foreign/src/wasi_items.rs"]
mod wasi_items;
#[path = "../../crates/sandbox/src/workspace.rs"]
mod workspace;

pub use answer_room::AnswerRoom;
pub use belljar_model::{ScriptValue, Thrown};
pub use belljar_recording::Recording;
pub use divergence::{Divergence, ReplayError};
pub use imports::{Imports, MAX_COMPONENT_BYTES};
pub use namespace::{AnswerStyle, CallStyle, Function, Namespace};
pub use options::SandboxOptions;
pub use parking::Parked;
pub use plan::{Finding, KnownArguments, Objection, PlannedCall, PlannedCalls, Reach};
pub use program::Program;
pub use refusal::Refusal;
pub use request::{Run, RunRequest, Runner};
pub use tool::{SchemaError, Tool};
pub use tools::{CallError, Directory, GrantedTool, Tools, Unavailable};
pub use toolset::ToolSet;
pub use workspace::{MAX_ARTIFACT_BYTES, NotAnswered};
