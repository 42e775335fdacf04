//! Why there is no figure.

use std::{io, path::PathBuf};

use belljar_model::RunError;
use belljar_sandbox::SandboxError;

/// Why a measure gave no figure.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// The program whose start is measured cannot be started.
    #[error("{} cannot be started: {error}", program.display())]
    Start {
        /// Its file.
        program: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// Its answer was wrong.
    #[error("{} answered {answer:?} to 1+1", program.display())]
    Answer {
        /// Its file.
        program: PathBuf,
        /// Its standard output, or its standard error where that is empty.
        answer: String,
    },
    /// A folder for the measurement cannot be created.
    #[error("no temporary folder can be made: {0}")]
    Folder(io::Error),
    /// The sandbox cannot be set up.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// A measured script failed.
    #[error("a script of the measure failed: {}", .0.message)]
    Script(Box<RunError>),
    /// An engine for a comparison cannot be set up, or does not run the interpreter.
    #[error("an engine for the comparison cannot be used: {0}")]
    Engine(String),
    /// A task of the measurement ended too early.
    #[error("a task of the measure ended before its time: {0}")]
    Task(String),
}

impl From<wasmtime::Error> for MeasureError {
    fn from(error: wasmtime::Error) -> Self {
        Self::Engine(format!("{error:#}"))
    }
}

impl From<RunError> for MeasureError {
    fn from(error: RunError) -> Self {
        Self::Script(Box::new(error))
    }
}

impl From<tokio::task::JoinError> for MeasureError {
    fn from(error: tokio::task::JoinError) -> Self {
        Self::Task(error.to_string())
    }
}
