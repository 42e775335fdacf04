//! The types that all of belljar shares.
//!
//! Tool paths, effects, limits, the outcome of a run and its errors are defined here, so that the
//! crates around the sandbox (`sandbox`, `catalog`, `upstream`, `config`) need to know this crate
//! and not each other.
//!
//! Nothing here does I/O, and nothing here recurses over foreign data: values that come from a
//! script or a child server are carried as [`JsonText`], which is checked for size and depth before
//! anything may build a tree from it.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod artifact;
mod ask_ways;
mod call_result;
mod child_environment;
mod denial;
mod digits;
pub mod display;
mod duration;
mod effect;
mod effect_rules;
mod error;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod hook;
mod json;
pub mod json_scan;
mod keep;
mod ledger;
mod life;
mod limits;
mod measured;
mod media;
mod nearest;
mod outcome;
mod path;
mod position;
mod preview;
mod projects;
mod redact;
mod run_event;
mod run_id;
mod runs;
mod script_value;
mod server;
mod tool;
mod trace;
mod verdict;

pub use artifact::{
    ArtifactId, ArtifactIdError, ArtifactKind, ArtifactName, ArtifactNameError, ArtifactRef, ArtifactSettings,
};
pub use ask_ways::{AskWay, AskWays};
pub use bytesize::ByteSize;
pub use call_result::{result_text, result_value, result_value_in, says_error};
pub use child_environment::{ChildEnvironment, VariablePattern, WithheldVariables};
pub use denial::Denial;
pub use duration::{DurationError, MAX_DURATION, duration_text, parse_duration};
pub use effect::{Effect, UnknownEffect};
pub use effect_rules::{EffectRules, TrustedEffect};
pub use error::{ErrorKind, FailedIn, LimitHit, MissingTool, RunError, Thrown, WaitingCall};
pub use hook::{HookMode, HookRule};
pub use json::{JsonBounds, JsonError, JsonText};
pub use keep::KeepSettings;
pub use ledger::{LedgerKeep, LedgerLevel, LedgerSettings, RedactRule, UnknownLevel};
pub use life::{
    Activation, Affinity, Breaker, EffectDefault, EffectDefaults, Framing, KeyPiece, Life, PathRules, Repeat, Share,
};
pub use limits::{LimitError, LimitKind, LimitName, LimitSpec, Limits, LimitsPatch};
pub use measured::{ErrorShare, Histogram, MEASURED_DAYS, Measures, ServerFigures, TargetFigure, Targets, Timing};
pub use media::{
    FileBlock, MAX_FILES, Media, artifact_uri, base64, file_block, file_handle, handles, may_hold_handles,
    may_hold_media, put_back, take_media, text_exceeds,
};
pub use nearest::nearest;
pub use outcome::{CallRecord, KeptOf, KeptPart, LogEntry, LogLevel, Outcome, Recorded, Usage};
pub use path::{PathError, ToolPath};
pub use position::Position;
pub use preview::{PREVIEW_BYTES, preview};
pub use projects::{Project, Projects};
pub use redact::{MASK, Redactor};
pub use run_event::{CallContent, RunEvent, RunStep};
pub use run_id::{RunId, RunIdError, RunIdStart};
pub use runs::RunsPatch;
pub use script_value::{Bytes, BytesKind, ScriptValue, ValueError};
pub use server::{
    AffectedPointers, Asks, ChildSandbox, Era, HttpEndpoint, HttpProtocol, OAuthClient, ServerSpec, Sharing,
    StdioCommand, Transport,
};
pub use tool::{Annotations, DefinitionError, ToolDefinition};
pub use trace::{
    RequestFailure, RequestTrace, RunTrace, ServedRequest, TRACEPARENT, TRACESTATE, TraceContext, TraceParentError,
};
pub use verdict::{UnknownVerdict, Verdict};
