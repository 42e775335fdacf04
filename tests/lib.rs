//! Empty: this package exists for its test binary, `guarantees`.
