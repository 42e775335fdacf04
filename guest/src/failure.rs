//! From an error of the engine to the failure that its author can act on.

use boa_engine::{Context, JsError, JsObject, JsValue, js_string};

use crate::{
    glass::{Failure, FailureKind},
    globals,
    source::{Origin, Position, SCRIPT_NAME, SyntaxFault},
    values::inspect,
};

/// Bytes of one message; the host bounds it again.
const MAX_MESSAGE: usize = 8 * 1024;

/// What stopped the script.
pub(crate) enum Failing {
    /// It threw this value.
    Thrown(JsValue),
    /// The engine gave up, in a way that no script can catch.
    Engine(String),
    /// Its value is too large.
    Output { used: u64, max: u32 },
}

impl Failing {
    /// What an error of the engine means.
    pub(crate) fn of(error: JsError, context: &mut Context) -> Self {
        match error.into_opaque(context) {
            Ok(value) => Self::Thrown(value),
            Err(error) => Self::Engine(error.to_string()),
        }
    }

    /// The failure, with positions of the author's source.
    pub(crate) fn describe(self, origin: &Origin, context: &mut Context) -> Failure {
        match self {
            Self::Thrown(value) => thrown(&value, origin, context),
            Self::Engine(message) => Failure {
                hint: Some("a function calls itself too often: use a loop, or a list of what is left to do".to_owned()),
                ..plain(FailureKind::Stack, &message)
            },
            Self::Output { used, max } => Failure {
                hint: Some("return less: filter, slice or count in the script".to_owned()),
                used: Some(used),
                ..plain(FailureKind::Output, &format!("the value has {used} bytes as JSON; the limit is {max}"))
            },
        }
    }
}

/// A failure of which only the message is known.
pub(crate) fn plain(kind: FailureKind, message: &str) -> Failure {
    Failure { kind, message: bounded(message), line: None, column: None, stack: None, hint: None, used: None }
}

/// Everything waits, and nothing is on its way.
pub(crate) fn deadlock() -> Failure {
    Failure {
        hint: Some("a promise is awaited that nothing can resolve: is its resolve function ever called?".to_owned()),
        ..plain(FailureKind::Deadlock, "the script waits for a promise that can never settle")
    }
}

/// The source could not be translated.
pub(crate) fn of_syntax(fault: SyntaxFault) -> Failure {
    Failure {
        line: fault.position.map(|position| position.line),
        column: fault.position.map(|position| position.column),
        hint: fault.hint,
        ..plain(FailureKind::Syntax, &fault.message)
    }
}

fn thrown(value: &JsValue, origin: &Origin, context: &mut Context) -> Failure {
    let Some(error) = value.as_object().filter(|object| object.is::<boa_engine::builtins::error::Error>()) else {
        let shown = inspect::nested(value, context);
        return Failure {
            hint: Some("throw an Error, so that its position and stack are known".to_owned()),
            ..plain(FailureKind::Exception, &format!("the script threw {shown}, which is no Error"))
        };
    };
    let kind = if globals::is_tool_error(&error, context) { FailureKind::Tool } else { FailureKind::Exception };
    let message = headline(&error, context);
    let (stack, position) = stack(&error, origin, context);
    let own_hint = globals::own_data_property(&error, js_string!("hint"), context).and_then(|hint| hint.as_string());
    let hint = match own_hint {
        Some(hint) => Some(bounded(&hint.to_std_string_lossy())),
        None => globals::hint_for(&message, context),
    };
    Failure {
        line: position.map(|position| position.line),
        column: position.map(|position| position.column),
        stack,
        hint,
        ..plain(kind, &message)
    }
}

/// `TypeError: message`, without calling anything that the script may have put in the way.
pub(crate) fn headline(error: &JsObject, context: &mut Context) -> String {
    let text = |key, context: &mut Context| {
        let mut holder = Some(error.clone());
        // The name stands at the prototype, rarely more than two steps up.
        for _ in 0..8 {
            let object = holder?;
            if let Some(value) = globals::own_data_property(&object, js_string!(key), context) {
                return value.as_string().map(|text| text.to_std_string_lossy());
            }
            holder = object.prototype();
        }
        None
    };
    let name = text("name", context).unwrap_or_else(|| "Error".to_owned());
    let message = text("message", context).unwrap_or_default();
    if message.is_empty() { name } else { format!("{name}: {message}") }
}

/// The call stack in the author's positions, and the innermost of them.
fn stack(error: &JsObject, origin: &Origin, context: &mut Context) -> (Option<String>, Option<Position>) {
    let Some(raw) = error.get(js_string!("stack"), context).ok().and_then(|stack| stack.as_string()) else {
        return (None, None);
    };
    let raw = raw.to_std_string_lossy();
    let mut lines = Vec::new();
    let mut innermost = None;
    for line in raw.lines().filter_map(|line| line.trim().strip_prefix("at ")) {
        let Some((function, place)) = line.rsplit_once(" (") else { continue };
        let mut parts = place.trim_end_matches(')').rsplitn(3, ':');
        let (column, row, path) = (parts.next(), parts.next(), parts.next());
        if path != Some(SCRIPT_NAME) {
            continue;
        }
        let number = |text: Option<&str>| text.and_then(|text| text.parse::<u32>().ok());
        let (Some(row), Some(column)) = (number(row), number(column)) else { continue };
        let Some(position) = origin.original(row, column) else { continue };
        innermost = innermost.or(Some(position));
        lines.push(format!("at {function} ({SCRIPT_NAME}:{}:{})", position.line, position.column));
    }
    let stack = (!lines.is_empty()).then(|| lines.join("\n"));
    (stack, innermost)
}

fn bounded(text: &str) -> String {
    let mut end = text.len().min(MAX_MESSAGE);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut bounded = text.get(..end).unwrap_or_default().to_owned();
    if end < text.len() {
        bounded.push('…');
    }
    bounded
}
