//! Converts the cause that stopped a component to the error that its author reads.

use belljar_model::{ErrorKind, LimitHit, LimitName, Limits, RunError};
use belljar_sandbox::common;
use wasmtime::Trap;
use wasmtime_wasi::I32Exit;

use crate::{refusal::bounded, run::fuel_out};

/// What is known about a stopped instance.
pub(crate) struct Stopped {
    /// The limit that the host found to be exceeded.
    pub(crate) hit: Option<LimitHit>,
    /// The memory that the instance requested and did not get.
    pub(crate) denied: Option<u64>,
}

/// The error for a limit.
pub(crate) fn of_limit(hit: LimitHit) -> RunError {
    let mut error = common::limit(hit);
    error.message = error.message.replace("the script", "the component");
    error.hint = error.hint.map(|hint| hint.replace("the script", "the component"));
    error
}

/// The error of a run that could not be set up.
pub(crate) fn internal(error: &wasmtime::Error) -> RunError {
    RunError::new(ErrorKind::Internal, format!("the run could not be set up: {error:#}"))
}

/// The cause that stopped the instance: a limit, or a fault of its own.
pub(crate) fn trapped(error: &wasmtime::Error, stopped: Stopped, limits: &Limits) -> RunError {
    if let Some(hit) = stopped.hit {
        return of_limit(hit);
    }
    if let Some(used) = stopped.denied {
        return of_limit(LimitHit { name: LimitName::Memory, max: limits.memory.as_u64(), used });
    }
    if let Some(I32Exit(code)) = error.downcast_ref::<I32Exit>() {
        return RunError::new(ErrorKind::Exception, format!("the component ended itself with exit code {code}"))
            .with_hint("return from run instead: its ok text is the value, its error the message");
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => of_limit(fuel_out(limits)),
        Some(Trap::StackOverflow) => {
            let mut error = of_limit(LimitHit { name: LimitName::Stack, max: 0, used: 0 });
            // The depth cannot be measured.
            error.limit = None;
            error.message = "the component's calls nest too deeply".to_owned();
            error
        }
        Some(Trap::AsyncDeadlock) => {
            RunError::new(ErrorKind::Deadlock, "the component waits for what can never happen")
        }
        Some(trap) => RunError::new(ErrorKind::Exception, format!("the component trapped: {trap}"))
            .with_hint("what it wrote to stderr before is in the logs"),
        None => {
            RunError::new(ErrorKind::Exception, bounded(format!("the component was stopped: {}", error.root_cause())))
                .with_hint("what it wrote to stderr before is in the logs")
        }
    }
}
