//! belljar's interpreter as a WebAssembly component.
//!
//! It is for build scripts: the component lies in the target folder of the build, and no program
//! should look for it there when the build has ended.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

/// The path of the component. `init` has not run in it yet.
pub const PATH: &str = env!("BELLJAR_COMPONENT");
