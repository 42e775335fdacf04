//! What belljar costs on the machine that it runs on.
//!
//! The measurements are shared by `belljar bench`, which needs no Rust, and the benches in
//! `benches/`. Nothing here prints, or reads the environment or the user's folders; the caller
//! passes in what is measured.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod error;
mod figures;
mod load;
mod machine;
pub mod process;
pub mod report;
mod times;
mod tools;
pub mod walls;

pub use error::MeasureError;
pub use figures::{Listed, Pace, Step, Subject, measure, tokens};
pub use load::{ENDLESS, Gate, endless, patient, sandbox, start};
pub use times::Times;
pub use tools::{WAIT, many_tools, two_tools};
