//! Builds the guest, where its sources have changed.
//!
//! The result is kept below `target/guest`, outside of cargo's profiles, so that `dev`, `release`,
//! `check`, `clippy` and `doc` share one guest. `ARCHITECTURE.md` says what is rebuilt when.

#![allow(clippy::print_stdout, reason = "it is how a build script speaks to cargo")]

mod guest;
mod packed;

use std::{env, path::PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-env-changed={}", guest::COMPONENT_VARIABLE);
    println!("cargo::rerun-if-env-changed={}", guest::PROFILE_VARIABLE);
    println!("cargo::rustc-env=BELLJAR_COMPONENT={}", guest::component().display());
}

/// The target folder of the build: the nearest above `OUT_DIR` that cargo has tagged as one.
fn target_directory() -> PathBuf {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let tagged = out.ancestors().find(|folder| folder.join("CACHEDIR.TAG").exists()).map(PathBuf::from);
    tagged.unwrap_or(out)
}
