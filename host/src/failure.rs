//! An error that ends a command before it has an outcome, and its exit code.

use std::process::ExitCode;

use belljar_config::ConfigError;
use belljar_model::{ErrorKind, Outcome, RunError};
use belljar_sandbox::ReplayError;

use crate::output;

/// A command that could not do its work.
pub(crate) struct Failure(Box<RunError>);

impl Failure {
    pub(crate) fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self(Box::new(RunError::new(ErrorKind::Usage, message).with_hint(hint)))
    }

    pub(crate) fn config(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self(Box::new(RunError::new(ErrorKind::Config, message).with_hint(hint)))
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self(Box::new(RunError::new(ErrorKind::Internal, message)))
    }

    /// What happened, and what to try.
    pub(crate) fn told(&self) -> (String, Option<String>) {
        (self.0.message.clone(), self.0.hint.clone())
    }

    /// What kind of failure it is.
    pub(crate) fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Prints what happened, and returns the exit code.
    pub(crate) fn report(self, json: bool) -> ExitCode {
        let code = exit_code(&self.0);
        if json {
            output::print_json(&Outcome::refused(*self.0));
        } else {
            output::complain(&self.0.message, self.0.hint.as_deref());
        }
        code
    }
}

impl From<ReplayError> for Failure {
    fn from(error: ReplayError) -> Self {
        let message = error.to_string();
        match error {
            ReplayError::Run(error) => error.into(),
            ReplayError::Diverged(_) => RunError::new(ErrorKind::Diverged, message)
                .with_hint("the file was changed, or it was made by a belljar that runs scripts differently")
                .into(),
            ReplayError::Limits(fault) => {
                let hint = format!("raise limits.{} in the configuration", fault.name);
                Failure::config(format!("the run was recorded with another limit: {fault}"), hint)
            }
            ReplayError::Time(hit) => RunError::new(ErrorKind::Timeout, message).with_limit(hit).into(),
            _ => Failure::internal(message),
        }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self(Box::new(RunError::new(ErrorKind::Config, error.to_string())))
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        Self(Box::new(error))
    }
}

/// 0 is success; 1 a script's or a tool's failure; 2 wrong usage or configuration; 3 a failure of
/// belljar itself; 4 a run that waits for the owner's decision.
pub(crate) fn exit_code(error: &RunError) -> ExitCode {
    exit_code_of(error.kind)
}

/// The same for a kind of error.
pub(crate) fn exit_code_of(kind: ErrorKind) -> ExitCode {
    ExitCode::from(exit_number_of(kind))
}

/// Its number, to compare several.
pub(crate) fn exit_number_of(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::Usage | ErrorKind::Config => 2,
        ErrorKind::Internal => 3,
        ErrorKind::Approval => 4,
        _ => 1,
    }
}
