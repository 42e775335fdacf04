//! What a script finds beside the language: `console`, timers, `tools`, `ToolError`, `PolicyError`,
//! and one namespace for each child server.
//!
//! [`install`] makes what is the same for every run, before the snapshot; [`bind`] makes what
//! belongs to one run.

mod answers;
mod artifacts;
mod call;
mod console;
mod held;
mod hints;
mod intl;
mod keep;
mod missing;
mod misuse;
mod named;
mod namespace;
mod parse;
pub mod pending;
mod results;
mod servers;
mod shape;
mod shown;
mod skills;
mod spread;
mod timers;
mod tool_error;
mod tools;
mod unread;
mod unseen;
mod using;
mod web;

use boa_engine::{Context, JsResult, js_string};

use belljar_guest_bindings::Program;
use belljar_guest_builtins as builtins;
use belljar_guest_engine::scripts;

pub use call::{answer, running};
#[cfg(not(target_family = "wasm"))]
pub use console::take_logged;
pub use hints::{argument_hint, hint_for, warning};
pub use keep::hand_over;
pub use missing::{Unknown, missing_of, texts_of_no_server, unknown_tool};
pub use servers::{has_builtins, is_own, is_positional, number_of_global, number_of_server, tool_of_function};
pub use skills::frames as frames_of;
pub use timers::{drop_timers, elapsed, run_due_timer};
pub use tool_error::{is_policy_error, is_tool_error};
pub use unseen::warning as warning_of_reads;
pub use using::using_helpers;
pub use web::start_of_run;

/// Makes the globals that every run has. Part of the snapshot.
pub fn install(context: &mut Context) -> JsResult<()> {
    belljar_guest_engine::keep_originals(context)?;
    builtins::install(context)?;
    let prelude = scripts::evaluate(include_str!("prelude.js"), Some("belljar"), context)?;
    tool_error::install(context)?;
    console::install(context)?;
    timers::install(context)?;
    tools::install(context)?;
    artifacts::install(context)?;
    keep::install(context)?;
    namespace::install(&prelude, context)?;
    spread::install(&prelude, context)?;
    web::install(context)?;
    intl::install(context)?;
    using::install(prelude);
    shown::install();
    // Boa's own, which no other engine has as a global.
    context.global_object().delete_property_or_throw(js_string!("TypedArray"), context)?;
    Ok(())
}

/// Makes the globals of this run.
pub fn bind(program: &Program, context: &mut Context) -> JsResult<()> {
    namespace::bind(program, context)
}

/// The prelude has ended: from here on nothing changes what the host has added.
pub fn end_prelude(program: &Program, context: &mut Context) -> JsResult<()> {
    namespace::end_prelude(program, context)
}
