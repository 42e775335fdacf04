//! What a daemon guarantees to its clients, and how it protects itself from them.

mod clients;
mod ends;
mod framing;
mod support;
