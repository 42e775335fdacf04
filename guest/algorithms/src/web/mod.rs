//! What web runtimes read and write: encoded bytes, and bytes as text.

pub mod base;
pub mod decoder;
