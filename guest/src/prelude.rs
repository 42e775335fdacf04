//! What a host runs before the script: JavaScript of its own, in which the script has no position.

use boa_engine::Context;

use belljar_guest_bindings::{Failure, FailureKind, Program, belljar::sandbox::console};
use belljar_guest_engine::{originals, scripts};
use belljar_guest_globals as globals;

use crate::{failure, interpreter::failing};

/// What stacks call it.
const NAME: &str = "prelude";

/// Runs the prelude, and closes what only it may change.
///
/// # Errors
/// It throws, or is not a program: the failure says that it is not the script's.
pub(crate) fn run(code: &str, program: &Program, context: &mut Context) -> Result<(), Failure> {
    // The host is told of the end after a success alone: a run that ends before it ends in here.
    console::prelude(true);
    evaluate(code, program, context)?;
    console::prelude(false);
    Ok(())
}

fn evaluate(code: &str, program: &Program, context: &mut Context) -> Result<(), Failure> {
    // As the script is.
    context.strict(true);
    let parsed = scripts::parse(code, Some(NAME), context);
    context.strict(false);
    let evaluated = match parsed {
        Ok(script) => script.evaluate(context),
        Err(error) => {
            let message = error.as_native().map_or_else(|| error.to_string(), |native| native.message().to_owned());
            let message = format!("SyntaxError: {}", message.trim_start_matches("SyntaxError: "));
            return Err(failure::of_prelude(failure::plain(FailureKind::Syntax, &message), None));
        }
    };
    if let Err(error) = evaluated {
        let error = error.into_opaque(context).map(boa_engine::JsError::from_opaque).unwrap_or_else(|error| error);
        let raw = error.as_opaque().and_then(boa_engine::JsValue::as_object);
        let line = raw.and_then(|error| line_in(&originals::raw_stack(&error, context)));
        return Err(failure::of_prelude(failing(error, context), line));
    }
    globals::end_prelude(program, context).map_err(|error| failing(error, context))
}

/// The line of the innermost frame of a prelude, in a stack as the engine writes it.
fn line_in(stack: &str) -> Option<u32> {
    let place = stack.lines().find_map(|line| line.split_once("(prelude:"))?.1;
    place.split(':').next()?.parse().ok()
}
