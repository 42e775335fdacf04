//! Connections with a test runner, and a client that can send anything.

mod calls;
mod hostile;
mod runs;
mod support;
