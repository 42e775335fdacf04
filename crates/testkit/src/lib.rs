//! Helpers for tests and benches that start child servers.
//!
//! The child servers themselves, which misbehave on purpose, are the binary
//! `belljar-testkit-child`, whose first argument says how. It writes JSON-RPC by hand, so that it
//! can break every rule that a library would keep.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod authority;
pub mod issuer;
mod processes;
pub mod web;

use std::path::{Path, PathBuf};

use belljar_model::{ServerSpec, StdioCommand, Transport};

pub use processes::{is_gone_within, is_running};

/// The binary's name.
pub const CHILD: &str = "belljar-testkit-child";

/// The name of the binary that serves what the protocol's conformance suite asks for.
pub const CONFORMANCE: &str = "belljar-testkit-conformance";

/// The name of the binary that is belljar's side towards servers, for that suite.
pub const CONFORMANCE_CLIENT: &str = "belljar-testkit-client";

/// Finds the built `belljar-testkit-child` beside the running test, in whatever folder cargo builds
/// into.
///
/// Tests of this package know its path from `CARGO_BIN_EXE_belljar-testkit-child` instead. Other
/// packages must have built it before: `cargo build -p belljar-testkit`.
pub fn child_binary() -> Option<PathBuf> {
    binary(CHILD)
}

/// The same for `belljar-testkit-conformance`.
pub fn conformance_binary() -> Option<PathBuf> {
    binary(CONFORMANCE)
}

/// The same for `belljar-testkit-client`.
pub fn conformance_client_binary() -> Option<PathBuf> {
    binary(CONFORMANCE_CLIENT)
}

fn binary(name: &str) -> Option<PathBuf> {
    let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let running = std::env::current_exe().ok()?;
    running.ancestors().skip(1).map(|folder| folder.join(&name)).find(|path| path.is_file())
}

/// A child server called `name` that misbehaves as `arguments` say.
pub fn child_server(name: &str, binary: &Path, arguments: &[&str]) -> ServerSpec {
    let command = StdioCommand {
        command: binary.to_string_lossy().into_owned(),
        args: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
        env: Default::default(),
        cwd: None,
        sandbox: None,
    };
    ServerSpec::new(name, Transport::Stdio(command))
}
