//! `tools.parse`: the value of a text that is data in some notation. Servers answer in many.
//!
//! Nothing is guessed: a text is of a notation if all of it is. Each reader takes time linear in
//! the text and does not call itself; what it builds counts against the run's memory, as with
//! `JSON.parse`.

mod csv;
mod front_matter;
mod lines;

use boa_engine::{Context, JsNativeError, JsResult, JsString, JsValue};

use belljar_guest_engine::objects::with_hint;
use belljar_guest_values::decode::{self, Described};
use belljar_notation::{may_be_python, python_to_json};

/// What the second argument may name, in the order in which they are tried without one.
const NOTATIONS: [(&str, Notation); 5] = [
    ("json", Notation::Json),
    ("jsonl", Notation::Lines),
    ("python", Notation::Python),
    ("keys", Notation::Keys),
    ("csv", Notation::Csv),
];

/// A way to write data.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notation {
    Json,
    /// A JSON text in each line.
    Lines,
    Python,
    /// Lines of `key: value`, as in front matter.
    Keys,
    Csv,
}

impl Notation {
    /// What people call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::Lines => "JSON lines",
            Self::Python => "Python's notation",
            Self::Keys => "lines of `key: value`",
            Self::Csv => "CSV",
        }
    }

    fn read(self, text: &JsString, is_asked_for: bool, context: &mut Context) -> Result<JsValue, Described> {
        if self == Self::Json {
            return decode::read(text, context);
        }
        let utf8 = text.to_std_string_lossy();
        match self {
            Self::Json => decode::read(text, context),
            Self::Lines => lines::read(&utf8, context),
            Self::Python => python(&utf8, context),
            Self::Keys => front_matter::read(&utf8, is_asked_for, context),
            Self::Csv => csv::read(&utf8, is_asked_for, context),
        }
    }
}

/// `tools.parse(text, notation?)`.
pub(super) fn parse(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let given = arguments.first().cloned().unwrap_or_default();
    let Some(text) = given.as_string() else { return of_other(given, context) };
    let wanted = match arguments.get(1).filter(|wanted| !wanted.is_undefined()) {
        None => None,
        Some(wanted) => {
            let name = wanted.to_string(context)?.to_std_string_lossy();
            let found = NOTATIONS.iter().find(|(known, _)| *known == name).map(|(_, notation)| *notation);
            let Some(found) = found else {
                let known = NOTATIONS.map(|(name, _)| format!("{name:?}")).join(", ");
                let message = format!("tools.parse knows no notation {name:?}: it is one of {known}");
                return Err(JsNativeError::typ().with_message(message).into());
            };
            Some(found)
        }
    };
    if let Some(notation) = wanted {
        return notation.read(&text, true, context).map_err(|fault| {
            let message = format!("tools.parse: the text is not {}: {}", notation.name(), in_words(&fault));
            JsNativeError::syntax().with_message(message).into()
        });
    }
    let mut faults = Vec::new();
    for (_, notation) in NOTATIONS {
        match notation.read(&text, false, context) {
            Ok(value) => return Ok(value),
            Err(fault) => faults.push(format!("{}: {}", notation.name(), in_words(&fault))),
        }
    }
    let message = format!("tools.parse: the text is in no notation that it knows ({})", faults.join("; "));
    Err(JsNativeError::syntax().with_message(message).into())
}

/// The notation of a text that is no JSON, if all of it is in one that `tools.parse` reads.
pub(super) fn notation_of(text: &JsString, context: &mut Context) -> Option<Notation> {
    let mut others = NOTATIONS.into_iter().map(|(_, notation)| notation).filter(|notation| *notation != Notation::Json);
    others.find(|notation| notation.read(text, false, context).is_ok())
}

/// What keeps a text from being Python's notation that begins as if it were that.
pub(super) fn python_fault(text: &JsString) -> Option<String> {
    let text = text.to_std_string_lossy();
    if !may_be_python(&text) {
        return None;
    }
    let fault = python_to_json(&text).err()?;
    let (line, column) = fault.place(&text);
    Some(in_words(&Described { what: fault.kind.to_string(), line, column }))
}

/// What is not a text is data already.
fn of_other(given: JsValue, context: &mut Context) -> JsResult<JsValue> {
    let is_promise = given.as_object().is_some_and(|object| object.is::<boa_engine::builtins::promise::Promise>());
    if is_promise {
        let hint = "put `await` before the call whose promise it is";
        return Err(with_hint("tools.parse takes a text, and got a promise", hint, context));
    }
    if given.is_undefined() {
        let hint = "tools.parse(text) gives the value of a text that is JSON, JSON lines, Python's notation, lines of `key: value` or CSV";
        return Err(with_hint("tools.parse takes a text, and got undefined", hint, context));
    }
    Ok(given)
}

fn python(text: &str, context: &mut Context) -> Result<JsValue, Described> {
    if !may_be_python(text) {
        return Err(Described { what: "no list, tuple, set or dict begins".to_owned(), line: 1, column: 1 });
    }
    let json = python_to_json(text).map_err(|fault| {
        let (line, column) = fault.place(text);
        Described { what: fault.kind.to_string(), line, column }
    })?;
    decode::read(&JsString::from(json.as_str()), context)
}

fn in_words(Described { what, line, column }: &Described) -> String {
    format!("{what} (line {line}, column {column})")
}

#[cfg(test)]
mod tests;
