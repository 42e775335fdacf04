//! What a daemon guarantees to its clients, and itself against them.

mod clients;
mod ends;
mod framing;
mod support;
