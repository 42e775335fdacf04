//! What belongs to the benches, and to a test that repeats one of them in small. What measures share is in `crates/measures`.

#![forbid(unsafe_code)]

pub mod soak;
