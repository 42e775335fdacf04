//! `belljar run` of a component that others built. It runs in a confined process, and only on Unix.

#[cfg(not(unix))]
mod absent;
#[cfg(unix)]
mod unix;

use std::path::Path;

#[cfg(not(unix))]
pub(super) use absent::{replay, run};
#[cfg(unix)]
pub(super) use unix::{replay, run};

/// The extensions of a component's file: WebAssembly, or its text form.
const ENDINGS: [&str; 2] = ["wasm", "wat"];

/// Whether a file is run as a component.
pub(super) fn is_component(file: &Path) -> bool {
    let ending = file.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}
