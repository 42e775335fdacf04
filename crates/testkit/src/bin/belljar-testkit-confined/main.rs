//! A process that builds the engine's walls around itself and then tries to get out, as its first
//! argument says.
//!
//! A hostile component cannot make system calls; only a hole in wasmtime could. So the walls are
//! tested directly: this process enters them like the engine's process does, writes `confined` on
//! stdout, and makes one attempt. It exits with 0 if the attempt succeeded, and with 1 if it
//! failed; a wall may also end it.

#![forbid(unsafe_code)]

use std::process::ExitCode;

#[cfg(target_os = "linux")]
mod attempts;

fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    return attempts::run(&std::env::args().nth(1).unwrap_or_default());
    #[cfg(not(target_os = "linux"))]
    ExitCode::from(2)
}
