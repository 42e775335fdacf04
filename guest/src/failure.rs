//! From an error of the engine to the failure that its author can act on.

use boa_engine::{
    Context, JsError, JsObject, JsValue,
    builtins::error::{Error, ErrorKind},
    js_string,
};

use belljar_guest_bindings::{Failure, FailureKind, MissingTool, Thrown};
use belljar_guest_engine::{
    errors::{headline, name_and_message},
    originals, plain,
    stack::{self, Frame},
    waits,
};
use belljar_guest_globals as globals;
use belljar_guest_source::{self as source, Position, SyntaxFault};
use belljar_guest_values::{encode::NotWritten, inspect};

/// Bytes of one message; the host bounds it again.
const MAX_MESSAGE: usize = 8 * 1024;
/// What the engine says, as V8 does, of too many calls inside each other.
const FULL_STACK: &str = "Maximum call stack size exceeded";
/// Causes that are told of one error.
const MAX_CAUSES: usize = 4;
/// Functions that wait and are listed.
const MAX_WAITING: usize = 10;

/// What stopped the script.
pub(crate) enum Failing {
    /// It threw this value.
    Thrown(JsValue),
    /// The engine gave up, in a way that no script can catch.
    Engine(Vec<Frame>),
    /// Its value is too large.
    Output { used: u64, max: u32 },
}

impl Failing {
    /// What an error of the engine means.
    pub(crate) fn of(error: JsError, context: &mut Context) -> Self {
        match error.into_opaque(context) {
            Ok(value) => Self::Thrown(value),
            Err(error) => Self::Engine(stack::frames(&error.to_string())),
        }
    }

    /// Why the script's value could not be written.
    pub(crate) fn of_value(not_written: NotWritten, context: &mut Context) -> Self {
        match not_written {
            NotWritten::Thrown(error) => Self::of(error, context),
            NotWritten::TooLong { used, max } => Self::Output { used, max },
        }
    }

    /// The failure, with positions of the author's source.
    pub(crate) fn describe(self, context: &mut Context) -> Failure {
        match self {
            Self::Thrown(value) => thrown(&value, context),
            Self::Engine(frames) => Failure {
                line: frames.iter().find_map(Frame::in_script).map(|position| position.line),
                column: frames.iter().find_map(Frame::in_script).map(|position| position.column),
                stack: stack::text(&frames),
                hint: Some("write what this line does in another way".to_owned()),
                ..plain(FailureKind::Exception, "the interpreter could not go on: this is a defect of the interpreter")
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
    Failure {
        kind,
        message: bounded(message),
        thrown: None,
        line: None,
        column: None,
        stack: None,
        hint: None,
        missing: None,
        used: None,
    }
}

/// Everything waits, and nothing is on its way.
pub(crate) fn deadlock() -> Failure {
    let frames = stack::of_waiting(&waits::all());
    Failure {
        line: frames.first().map(|frame| frame.position.line),
        column: frames.first().map(|frame| frame.position.column),
        stack: stack::text(frames.get(..MAX_WAITING).unwrap_or(&frames)),
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

/// Whether the stack that is full is one of the host's: its `RangeError` is one by its prototype
/// alone, and the engine's own, and those that `new` makes, are created as such.
fn is_of_hosts_stack(error: &JsObject, message: &str) -> bool {
    message == FULL_STACK && error.downcast_ref::<Error>().is_none_or(|error| *error != Error::new(ErrorKind::Range))
}

fn thrown(value: &JsValue, context: &mut Context) -> Failure {
    let Some(error) = value.as_object().filter(|object| object.is::<Error>()) else {
        let shown = inspect::nested(value, context);
        let position = source::thrown_value();
        return Failure {
            line: position.map(|position| position.line),
            column: position.map(|position| position.column),
            hint: Some("throw an Error, so that its position and stack are known".to_owned()),
            thrown: Some(Thrown { name: "Error".to_owned(), message: bounded(&bare_text(value, &shown)) }),
            ..plain(FailureKind::Exception, &format!("the script threw {shown}, which is not an Error"))
        };
    };
    let (name, message) = name_and_message(&error, context);
    let bare = Thrown { name: bounded(&name), message: bounded(&message) };
    let kind = match (&*name, &*message) {
        _ if globals::is_tool_error(&error) => FailureKind::Tool,
        _ if globals::is_policy_error(&error) => FailureKind::Denied,
        ("RangeError", FULL_STACK) if !is_of_hosts_stack(&error, &message) => FailureKind::Stack,
        _ => FailureKind::Exception,
    };
    let frames = globals::frames_of(&error, &originals::raw_stack(&error, context));
    // What is read in the source is read in the script's.
    let at = frames.first().and_then(Frame::in_script);
    let position = frames.iter().find_map(Frame::in_script);
    let named = frames.first().and_then(Frame::in_named).map(|place| format!(" (in {place})")).unwrap_or_default();
    let hint = match own_hint(&error, context) {
        // The arguments of a call that was refused, which stands where the error does.
        Some(hint) if name == "TypeError" => match globals::argument_hint(&message, at, context) {
            Some(argument) => Some(format!("{argument}; {hint}")),
            None => Some(hint),
        },
        Some(hint) => Some(hint),
        None => hint_for(&error, &name, &message, at, context),
    };
    let mut missing = missing(&error, context);
    let (causes, of_cause) = causes(&error, context);
    let hint = hint.or_else(|| {
        let (hint, missing_there) = of_cause?;
        missing = missing_there;
        Some(hint)
    });
    Failure {
        line: position.map(|position| position.line),
        column: position.map(|position| position.column),
        stack: stack::text(&frames),
        hint: hint.filter(|hint| is_of_this_run(hint)),
        missing,
        thrown: Some(bare),
        ..plain(kind, &format!("{}{named}{causes}", headline(&name, &message)))
    }
}

/// Whether a hint speaks of nothing that this run is without.
pub(crate) fn is_of_this_run(hint: &str) -> bool {
    const OF_TOOLS: [&str; 8] = ["list(", "search(", "describe(", "route(", "parse(", "call(", "raw(", "search"];
    globals::has_builtins()
        || !hint.split("tools").skip(1).any(|rest| match rest.strip_prefix('.') {
            Some(member) => OF_TOOLS.iter().any(|method| member.starts_with(method)),
            None => rest.starts_with(" has list,"),
        })
}

/// The prelude failed, of which the script's author knows nothing: the place is said in its
/// message.
pub(crate) fn of_prelude(failure: Failure, line: Option<u32>) -> Failure {
    let place = line.map(|line| format!(" in line {line}")).unwrap_or_default();
    let message = format!("the host's prelude failed{place}: {}", failure.message);
    Failure {
        thrown: failure.thrown,
        hint: Some("this is not about the script, of which nothing was run: its host has to change it".to_owned()),
        ..plain(failure.kind, &message)
    }
}

/// What was thrown, as a message: a text is its own.
fn bare_text(value: &JsValue, shown: &str) -> String {
    value.as_string().map_or_else(|| shown.to_owned(), |text| text.to_std_string_lossy())
}

/// What the engine's errors of this name and message usually come from.
fn hint_for(
    error: &JsObject,
    name: &str,
    message: &str,
    at: Option<Position>,
    context: &mut Context,
) -> Option<String> {
    if is_of_hosts_stack(error, message) {
        return None;
    }
    let operand = error.downcast_ref::<Error>().and_then(|error| error.operand_name(context));
    globals::hint_for(name, message, operand.as_deref(), at, context)
}

fn own_hint(error: &JsObject, context: &mut Context) -> Option<String> {
    let hint = originals::own_data_property(error, js_string!("hint"), context)?.as_string()?;
    Some(bounded(&hint.to_std_string_lossy()))
}

/// The tool that is not there, of an error that is about one.
fn missing(error: &JsObject, context: &mut Context) -> Option<MissingTool> {
    if globals::is_tool_error(error) || globals::is_policy_error(error) {
        return None;
    }
    let MissingTool { server, tool, near } = globals::missing_of(error, context)?;
    Some(MissingTool { server: bounded(&server), tool: bounded(&tool), near: near.map(|near| bounded(&near)) })
}

/// What an error says that it comes from, each with its line, and the hint of the first cause that
/// has one, with the tool that the hint is about.
fn causes(error: &JsObject, context: &mut Context) -> (String, Option<(String, Option<MissingTool>)>) {
    let mut text = String::new();
    let mut found = None;
    let mut error = error.clone();
    for _ in 0..MAX_CAUSES {
        // `Promise.any` fails of several.
        let errors = originals::own_data_property(&error, js_string!("errors"), context);
        let first = errors.and_then(|errors| plain::element(&errors.as_object()?, 0));
        let (what, cause) = match (originals::own_data_property(&error, js_string!("cause"), context), first) {
            (Some(cause), _) => ("caused by", cause),
            (None, Some(first)) => ("the first", first),
            (None, None) => break,
        };
        let Some(inner) = cause.as_object().filter(|object| object.is::<Error>()) else {
            text.push_str(&format!("; {what}: {}", inspect::cell(&cause, false, context)));
            break;
        };
        let (name, message) = name_and_message(&inner, context);
        text.push_str(&format!("; {what}: {}", headline(&name, &message)));
        let frames = globals::frames_of(&inner, &originals::raw_stack(&inner, context));
        let position = frames.first().and_then(Frame::in_script);
        if let Some(position) = position {
            text.push_str(&format!(" (line {})", position.line));
        }
        if found.is_none() {
            let hint = own_hint(&inner, context).or_else(|| hint_for(&inner, &name, &message, position, context));
            found = hint.map(|hint| (hint, missing(&inner, context)));
        }
        error = inner;
    }
    (text, found)
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
