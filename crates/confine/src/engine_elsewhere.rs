//! The walls around the engine's process on systems other than Linux. There are none, so the
//! process does not start.

use crate::ConfineError;

/// Fails, because file access cannot be denied here.
///
/// # Errors
/// Always.
pub fn before_threads() -> Result<(), ConfineError> {
    Err(ConfineError::Unsupported(std::env::consts::OS))
}

/// Fails, because this system has no such limit.
///
/// # Errors
/// Always.
pub fn bound_memory(_bytes: u64) -> Result<(), ConfineError> {
    Err(ConfineError::Unsupported(std::env::consts::OS))
}

/// Fails, because this system has no filter.
///
/// # Errors
/// Always.
pub fn before_work() -> Result<(), ConfineError> {
    Err(ConfineError::Unsupported(std::env::consts::OS))
}

/// Fails, because this system has no filter.
///
/// # Errors
/// Always.
pub fn before_compiling() -> Result<(), ConfineError> {
    Err(ConfineError::Unsupported(std::env::consts::OS))
}
