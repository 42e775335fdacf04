//! The walls around the engine's process, where there is no Linux: none, so it does not start.

use crate::ConfineError;

/// Says that there are no files to take away here.
///
/// # Errors
/// Always.
pub fn before_threads() -> Result<(), ConfineError> {
    Err(ConfineError::Unsupported(std::env::consts::OS))
}

/// Says that there is no such limit here.
///
/// # Errors
/// Always.
pub fn bound_memory(_bytes: u64) -> Result<(), ConfineError> {
    Err(ConfineError::Unsupported(std::env::consts::OS))
}

/// Says that there is no filter here.
///
/// # Errors
/// Always.
pub fn before_work() -> Result<(), ConfineError> {
    Err(ConfineError::Unsupported(std::env::consts::OS))
}
