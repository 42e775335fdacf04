//! The package of belljar's benches.
