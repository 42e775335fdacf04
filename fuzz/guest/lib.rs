//! The guest's modules as a library that fuzz targets can link: `guest/` itself is nothing but a component.

#![allow(dead_code, unused_imports, reason = "the guest is more than what the targets reach")]

#[path = "../../guest/src/builtins/mod.rs"]
mod builtins;
#[path = "../../guest/src/failure.rs"]
mod failure;
#[path = "../../guest/src/fuzzing.rs"]
pub mod fuzzing;
#[path = "../../guest/src/globals/mod.rs"]
mod globals;
#[path = "../../guest/src/interpreter.rs"]
mod interpreter;
#[path = "../../guest/src/jobs.rs"]
mod jobs;
#[path = "../../guest/src/modules.rs"]
mod modules;
#[path = "../../guest/src/pending.rs"]
mod pending;
#[path = "../../guest/src/place.rs"]
mod place;
#[path = "../../guest/src/plan.rs"]
mod plan;
#[path = "../../guest/src/stack.rs"]
mod stack;
#[path = "../../guest/src/testing.rs"]
mod testing;
#[path = "../../guest/src/values/mod.rs"]
mod values;
#[path = "../../guest/src/waits.rs"]
mod waits;

use belljar_guest_bindings as glass;
use belljar_guest_source as source;
