//! JavaScript values to JSON text, by the rules of `JSON.stringify`.
//!
//! What leaves the jar follows them too, except where they make a surprise of a value: a `Map`
//! becomes an object if all its keys are strings, else an array of pairs; a `Set` becomes an array;
//! bytes become their base64; an `Error` becomes an object with its name, its message and its own
//! members; `undefined` as the whole value becomes `null`. A BigInt, a promise that was not
//! awaited, a cycle, and nesting beyond what the host takes are errors that name the place. Of what
//! is kept for later runs, all that is not plain data is such an error.

mod extended;
mod lost;
mod members;
mod plain;
mod shapes;
mod sink;
mod special;
mod walk;

use boa_engine::{Context, JsError, JsNativeError, JsString, JsValue};

pub use special::boxed_primitive;
pub use walk::Replacer;
use walk::{Rules, Stop, Walk};

/// The host accepts no deeper value.
const MAX_DEPTH: usize = 127;
/// What `JSON.stringify` takes: deeper than any data, and no more than where looking for cycles
/// would become slow.
const MAX_DEPTH_OF_TEXT: usize = 5_000;

/// Why a value could not be written.
pub enum NotWritten {
    /// Something of the script's threw this, or the value has what JSON cannot hold.
    Thrown(JsError),
    /// It is too large.
    TooLong { used: u64, max: u32 },
}

/// The run's value as JSON, within `max_output` bytes, and what to say of what JSON did not take of
/// it.
///
/// In extended JSON, undefined (but for members of objects, which are left out) and bytes are what
/// they are.
pub fn output(
    value: &JsValue,
    max_output: u32,
    is_extended: bool,
    context: &mut Context,
) -> Result<(String, Option<String>), NotWritten> {
    let mut walk = Walk::new(Rules::crossing("the value", is_extended), max_output as usize, context);
    match walk.whole(value) {
        Ok(_) => {}
        Err(Stop::Thrown(error)) => return Err(NotWritten::Thrown(error)),
        Err(Stop::Full) => return Err(NotWritten::TooLong { used: walk.sink.used(), max: max_output }),
    }
    let lost = walk.lost.text("the value");
    let text = walk.sink.finish().map_err(|used| NotWritten::TooLong { used, max: max_output })?;
    Ok((text, lost))
}

/// The arguments of a call as JSON, within `max` bytes, and what to say of what JSON did not take
/// of them. `what` is what messages call them.
pub fn arguments(
    value: &JsValue,
    what: &str,
    max: usize,
    is_extended: bool,
    context: &mut Context,
) -> Result<(String, Option<String>), JsError> {
    let mut walk = Walk::new(Rules::crossing(what, is_extended), max, context);
    let used = match walk.whole(value) {
        Ok(_) => match walk.sink.finish() {
            Ok(text) => return Ok((text, walk.lost.without_left_out().text(what))),
            Err(used) => used,
        },
        Err(Stop::Thrown(error)) => return Err(error),
        Err(Stop::Full) => walk.sink.used(),
    };
    let message = format!("{what} have {used} bytes as JSON; the limit is {max}");
    Err(JsNativeError::range().with_message(message).into())
}

/// A value that is kept as JSON for later runs, within `max` bytes: what comes back is what went
/// in. So there is no `toJSON`, and all that JSON has no word for is a TypeError that names its
/// place. (Members that are undefined are left out, as everywhere.) `name` is what the value is
/// called.
pub fn kept(value: &JsValue, name: &str, max: usize, context: &mut Context) -> Result<String, JsError> {
    let mut walk = Walk::new(Rules::kept(name), max, context);
    let used = match walk.whole(value) {
        Ok(_) => match walk.sink.finish() {
            Ok(text) => return Ok(text),
            Err(used) => used,
        },
        Err(Stop::Thrown(error)) => return Err(error),
        Err(Stop::Full) => walk.sink.used(),
    };
    let message = format!("{name} has {used} bytes as JSON; the limit is {max}");
    Err(JsNativeError::range().with_message(message).into())
}

/// What `JSON.stringify` gives: nothing where it leaves the whole value out.
pub fn text(
    value: &JsValue,
    replacer: Replacer,
    gap: String,
    context: &mut Context,
) -> Result<Option<JsString>, JsError> {
    let mut walk = Walk::new(Rules::standard(replacer, gap), usize::MAX, context);
    match walk.whole(value) {
        Ok(false) => Ok(None),
        Ok(true) => Ok(Some(JsString::from(walk.sink.finish().unwrap_or_default()))),
        Err(Stop::Thrown(error)) => Err(error),
        Err(Stop::Full) => Err(JsNativeError::range().with_message("the JSON text is too long").into()),
    }
}
