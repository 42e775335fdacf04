//! Pre-initialises the guest's component and compiles it ahead of time, if it is to be embedded.

#![allow(clippy::print_stdout, reason = "it is how a build script speaks to cargo")]

#[cfg(feature = "embedded")]
#[path = "../src/engine.rs"]
mod engine;
#[cfg(feature = "embedded")]
mod image;
#[cfg(feature = "embedded")]
mod snapshot;
#[cfg(feature = "embedded")]
mod symbols;
#[cfg(feature = "embedded")]
mod unneeded;

fn main() {
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=src/engine.rs");
    #[cfg(feature = "embedded")]
    image::make(belljar_component::PATH.as_ref());
}
