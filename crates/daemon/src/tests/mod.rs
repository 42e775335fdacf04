//! What a daemon guarantees to its clients, and itself against them.

mod clients;
mod ends;
mod lines;
mod support;
