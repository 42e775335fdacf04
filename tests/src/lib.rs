//! The package of belljar's tests.
