//! What of the sandbox and the gateway looks at foreign values and needs no wasmtime, by path: those crates link it.

#![allow(dead_code, unreachable_pub, reason = "the modules are more than what the targets reach")]

/// What a target is called by.
pub mod fuzzing {
    pub use crate::{arguments::fuzzing::arguments, guest::guest_reports, tool_result::fuzzing::tool_result};
}

#[path = "../../crates/gateway/src/arguments/mod.rs"]
mod arguments;
#[path = "../../crates/sandbox/src/frame.rs"]
mod frame;
#[path = "../../crates/sandbox/src/fuzzing.rs"]
mod guest;
#[path = "../../crates/sandbox/src/holdings.rs"]
mod holdings;
#[path = "../../crates/gateway/src/tool_result/mod.rs"]
mod tool_result;
#[path = "../../crates/sandbox/src/tools.rs"]
mod tools;

use tools::{Directory, GrantedTool};
