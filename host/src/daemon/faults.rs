//! Errors at the daemon's socket as a command reports them, and vice versa.

use belljar_daemon::{ConnectError, DaemonError, RequestError, StartError, codes};
use belljar_model::{ErrorKind, RunError};

use crate::{environment, failure::Failure};

/// A request's error as a command reports it.
pub(crate) fn failed(fault: RequestError) -> Failure {
    match fault {
        RequestError::Refused(fault) => {
            let kind = match fault.code {
                codes::CANCELLED => ErrorKind::Cancelled,
                codes::BUSY | codes::STOPPING => ErrorKind::Busy,
                codes::INVALID_PARAMS => ErrorKind::Usage,
                codes::INVALID_CONFIG => ErrorKind::Config,
                _ => ErrorKind::Internal,
            };
            let error = RunError::new(kind, fault.message.clone());
            match fault.hint() {
                Some(hint) => error.with_hint(hint).into(),
                None => error.into(),
            }
        }
        fault @ RequestError::Ended { .. } => RunError::new(ErrorKind::Internal, fault.to_string())
            .with_hint("it was killed or crashed; calls that it had begun may have taken effect. The next command starts a new daemon")
            .into(),
        fault => RunError::new(ErrorKind::Internal, fault.to_string())
            .with_hint("`belljar daemon restart` starts a new one; --no-daemon works without one")
            .into(),
    }
}

/// A failure as sent to the daemon's client.
pub(crate) fn fault_of(failure: &Failure) -> DaemonError {
    let code = match failure.kind() {
        ErrorKind::Cancelled => codes::CANCELLED,
        ErrorKind::Busy => codes::BUSY,
        ErrorKind::Usage => codes::INVALID_PARAMS,
        ErrorKind::Config => codes::INVALID_CONFIG,
        _ => codes::INTERNAL,
    };
    let (message, hint) = failure.told();
    let fault = DaemonError::new(code, message);
    match hint {
        Some(hint) => fault.with_hint(hint),
        None => fault,
    }
}

/// Why there is no connection to a daemon.
pub(crate) fn unreachable(fault: ConnectError) -> Failure {
    match fault {
        ConnectError::Greeting(fault) => failed(fault),
        fault => RunError::new(ErrorKind::Config, fault.to_string())
            .with_hint("remove the socket, or set XDG_RUNTIME_DIR to a folder of your own")
            .into(),
    }
}

pub(super) fn not_started(fault: StartError) -> Failure {
    match fault {
        StartError::Connect(fault) => unreachable(fault),
        StartError::Failed { message, hint } => {
            let error = RunError::new(ErrorKind::Internal, format!("the daemon did not start: {message}"));
            match hint {
                Some(hint) => error.with_hint(hint).into(),
                None => error.into(),
            }
        }
        fault => {
            let hint = match environment::state_folder() {
                Some(folder) => format!("its log is in {}; --no-daemon works without one", folder.display()),
                None => "--no-daemon works without one".to_owned(),
            };
            RunError::new(ErrorKind::Internal, fault.to_string()).with_hint(hint).into()
        }
    }
}
