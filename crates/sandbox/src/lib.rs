#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod admission;
mod answer_room;
pub mod apart;
mod bindings;
mod calls;
pub mod common;
mod compared;
mod divergence;
mod failure;
mod frame;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod handle;
mod handler;
mod holdings;
mod host;
mod inbox;
mod journal;
mod limiter;
mod meter;
mod names;
mod namespace;
mod options;
mod overflow;
mod parking;
mod place;
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
mod tool;
mod tools;
mod toolset;
mod turn;
mod workspace;

pub use admission::Load;
pub use answer_room::AnswerRoom;
pub use belljar_image::{CodeOrigin, Image, ImageError};
#[cfg(feature = "embedded")]
pub use belljar_image::{EMBEDDED_DIGESTS, EmbeddedDigests};
pub use belljar_model::{
    ByteSize, Bytes, BytesKind, CallRecord, Denial, Effect, ErrorKind, JsonBounds, JsonError, JsonText, LimitHit,
    LimitName, Limits, LimitsPatch, LogEntry, LogLevel, MissingTool, Outcome, Recorded, RunError, RunStep, ScriptValue,
    Thrown, ToolPath, Usage, ValueError,
};
pub use belljar_recording::{EngineId, ReadError, Recording};
pub use cap_std::fs::Dir;
pub use divergence::{Divergence, ReplayError};
pub use failure::value_too_large;
pub use futures::future::BoxFuture;
pub use names::{MAX_NAME_BYTES, MAX_NAMES, NameError, check_globals, check_properties};
pub use namespace::{AnswerStyle, CallStyle, Function, Namespace};
pub use options::SandboxOptions;
pub use parking::Parked;
pub use plan::{Finding, KnownArguments, MAX_PLAN_BYTES, Objection, PlannedCall, PlannedCalls, Reach};
pub use pool::open_page_map;
pub use program::{GoingOn, Program};
pub use request::{Run, RunRequest, Runner};
pub use sandbox::{Sandbox, SandboxError};
pub use serde_json::{self, Map, Value, json};
pub use tool::{SchemaError, Tool};
pub use tools::{CallError, Directory, GrantedTool, Tools, Unavailable};
pub use toolset::ToolSet;
pub use workspace::{MAX_ARTIFACT_BYTES, MAX_QUESTIONS, NotAnswered};
