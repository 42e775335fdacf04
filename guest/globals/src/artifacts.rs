//! `artifacts`: large values, texts and files that runs have left, and values that this run saves.
//!
//! Each question is asked at once, and its promise is settled when it is returned: the guest stands
//! still meanwhile, as for `tools.search`.

use std::cell::RefCell;

use boa_engine::{
    Context, JsError, JsObject, JsResult, JsString, JsValue, JsVariant, NativeFunction, object::builtins::JsPromise,
};

use belljar_guest_bindings::{
    Program,
    belljar::sandbox::{console, workspace},
};
use belljar_guest_engine::{call_site::CallSite, objects, originals::own_data_property};
use belljar_guest_values::{
    decode,
    encode::{self, NotWritten},
};

use super::{
    call::resolve,
    named::Named,
    tool_error::{failed, located, refused},
};

/// The most bytes of a value as JSON: the host takes no more, and the owner may allow less.
const MAX_VALUE: u32 = 64 << 20;
/// Characters of a name or an id, and of the words of a search.
const MAX_NAME: usize = 1_000;
const MAX_WORDS: usize = 4_000;
/// Hits where the script names no number, and the most of them.
const DEFAULT_HITS: f64 = 10.0;
const MAX_HITS: f64 = 100.0;
/// The most that a position in a text can be.
const MAX_POSITION: f64 = 9_007_199_254_740_991.0;

thread_local! {
    /// The object. Part of the snapshot; a run that may have it gets it.
    static OBJECT: RefCell<Option<JsObject>> = const { RefCell::new(None) };
    static NAMED: Named = const { Named::new("artifacts") };
}

/// What a method asks of the host.
type Question = fn(&[JsValue], &mut Context) -> Result<String, Fault>;

/// Why a promise is rejected.
enum Fault {
    /// The script's own code threw this, or the engine did.
    Thrown(JsError),
    /// A `TypeError` if the arguments are wrong, and an `Error` if what was asked has failed.
    Refused { message: String, hint: Option<String>, is_argument: bool },
}

impl Fault {
    fn argument(message: impl Into<String>, hint: &str) -> Self {
        Self::Refused { message: message.into(), hint: Some(hint.to_owned()), is_argument: true }
    }

    /// As a value with the place of the call: a rejection gives it none.
    fn into_reason(self, context: &mut Context) -> JsResult<JsValue> {
        let (message, hint, is_argument) = match self {
            Self::Thrown(error) => return located(error, context),
            Self::Refused { message, hint, is_argument } => (message, hint, is_argument),
        };
        let site = CallSite::here(context)?;
        let made = if is_argument { refused } else { failed };
        made(site, &message, hint.as_deref(), context)?.into_opaque(context)
    }
}

impl From<JsError> for Fault {
    fn from(error: JsError) -> Self {
        Self::Thrown(error)
    }
}

/// Makes the object, as part of the snapshot.
pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let artifacts = JsObject::with_object_proto(context.intrinsics());
    let methods: [(&str, usize, objects::Native); 5] = [
        ("get", 1, |_, arguments, context| asked(get, arguments, context)),
        ("text", 2, |_, arguments, context| asked(text, arguments, context)),
        ("search", 2, |_, arguments, context| asked(search, arguments, context)),
        ("list", 0, |_, arguments, context| asked(|_, _| Ok(r#"{"list":{}}"#.to_owned()), arguments, context)),
        ("save", 2, |_, arguments, context| asked(save, arguments, context)),
    ];
    for (name, length, native) in methods {
        let method = objects::function(name, length, NativeFunction::from_fn_ptr(native), context);
        objects::put(&artifacts, name, method, context)?;
    }
    OBJECT.set(Some(artifacts));
    Ok(())
}

/// Gives it to this run, if one of its texts has the name.
pub(super) fn bind(program: &Program, context: &mut Context) -> JsResult<()> {
    NAMED.with(|named| named.bind(program, OBJECT.with_borrow(Clone::clone), context))
}

/// Gives it to a run that may have it, if this text has the name.
pub(super) fn bind_for(text: &str, context: &mut Context) -> JsResult<()> {
    NAMED.with(|named| named.bind_for(text, OBJECT.with_borrow(Clone::clone), context))
}

/// A promise of the answer.
fn asked(question: Question, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (promise, settle) = JsPromise::new_pending(context);
    match question(arguments, context).and_then(|question| answered(&question, context)) {
        Ok(value) => resolve(&settle, value, context)?,
        Err(fault) => {
            let reason = fault.into_reason(context)?;
            settle.reject.call(&JsValue::undefined(), &[reason], context)?;
        }
    }
    Ok(promise.into())
}

fn answered(question: &str, context: &mut Context) -> Result<JsValue, Fault> {
    match workspace::artifacts(question) {
        Ok(answer) => Ok(decode::decode(&answer, context)?.value),
        Err(refusal) => Err(parted(refusal, context)),
    }
}

/// The parts of a refusal. One that is not as the contract says is the message.
fn parted(refusal: String, context: &mut Context) -> Fault {
    let parts = decode::decode(&refusal, context).ok().and_then(|decoded| decoded.value.as_object());
    let mut part = |name: &str| own_data_property(parts.as_ref()?, JsString::from(name), context);
    let is_argument = part("argument").is_some_and(|argument| argument.to_boolean());
    let [message, hint] = ["message", "hint"].map(|name| Some(part(name)?.as_string()?.to_std_string_lossy()));
    Fault::Refused { message: message.unwrap_or(refusal), hint, is_argument }
}

fn get(arguments: &[JsValue], context: &mut Context) -> Result<String, Fault> {
    let id = id("artifacts.get", arguments.first(), context)?;
    Ok(format!(r#"{{"get":{}}}"#, quoted(&id)))
}

fn text(arguments: &[JsValue], context: &mut Context) -> Result<String, Fault> {
    let id = id("artifacts.text", arguments.first(), context)?;
    let options = options("artifacts.text", "{ from: 0, to: 10000 }", arguments.get(1))?;
    let mut question = format!(r#"{{"text":{{"id":{}"#, quoted(&id));
    for name in ["from", "to"] {
        let Some(value) = member(options.as_ref(), name, context) else { continue };
        match value.as_number() {
            Some(number) if (0.0..=MAX_POSITION).contains(&number) && number.fract() == 0.0 => {
                question.push_str(&format!(r#","{name}":{number:.0}"#));
            }
            // As of String.prototype.slice: to the end.
            Some(number) if number == f64::INFINITY && name == "to" => {}
            _ => {
                let message = format!("`{name}` of artifacts.text must be a whole number from 0 on");
                let hint = "positions count as those of String.prototype.slice do; without `to` it goes to the end";
                return Err(Fault::argument(message, hint));
            }
        }
    }
    question.push_str("}}");
    Ok(question)
}

fn search(arguments: &[JsValue], context: &mut Context) -> Result<String, Fault> {
    let words = arguments.first().and_then(JsValue::as_string).filter(|words| !words.is_empty()).ok_or_else(|| {
        Fault::argument(
            "artifacts.search takes the words as a text first",
            "as in artifacts.search(\"connection refused\", { in: id, limit: 5 })",
        )
    })?;
    let words: String = words.to_std_string_lossy().chars().take(MAX_WORDS).collect();
    let options = options("artifacts.search", "{ in: id, limit: 5 }", arguments.get(1))?;
    let limit = match member(options.as_ref(), "limit", context) {
        None => DEFAULT_HITS,
        Some(limit) => limit.as_number().filter(|limit| !limit.is_nan()).ok_or_else(|| {
            Fault::argument("`limit` of artifacts.search must be a number", "there are at most 100 hits")
        })?,
    };
    let mut question = format!(r#"{{"search":{{"words":{},"#, quoted(&words));
    if let Some(within) = member(options.as_ref(), "in", context) {
        let within = id("`in` of artifacts.search", Some(&within), context)?;
        question.push_str(&format!(r#""in":{},"#, quoted(&within)));
    }
    question.push_str(&format!(r#""limit":{:.0}}}}}"#, limit.clamp(1.0, MAX_HITS).floor()));
    Ok(question)
}

fn save(arguments: &[JsValue], context: &mut Context) -> Result<String, Fault> {
    const HINT: &str =
        "as in artifacts.save(\"pages\", pages); artifacts.get(\"pages\") gives it back in a later script";
    let name = arguments.first().and_then(JsValue::as_string).filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| Fault::argument("artifacts.save takes a name as a text first", HINT))?;
    let name = bounded("the name of an artifact", &name)?;
    let value = arguments.get(1).cloned().unwrap_or_default();
    let wrong = match value.variant() {
        JsVariant::Undefined => Some("undefined"),
        JsVariant::Symbol(_) => Some("a symbol"),
        JsVariant::Object(object) if object.is_callable() => Some("a function"),
        JsVariant::Object(object) if JsPromise::from_object(object.clone()).is_ok() => {
            Some("a promise: put `await` before it")
        }
        _ => None,
    };
    if let Some(wrong) = wrong {
        return Err(Fault::argument(format!("artifacts.save takes a value that is JSON, and got {wrong}"), HINT));
    }
    let (json, lost) = match encode::output(&value, MAX_VALUE, false, context) {
        Ok(written) => written,
        Err(NotWritten::Thrown(error)) => return Err(error.into()),
        Err(NotWritten::TooLong { used, max }) => {
            let message = format!("the value has {used} bytes as JSON; the limit is {max}");
            return Err(Fault::argument(message, "save it in parts, under names of their own"));
        }
    };
    if let Some(lost) = lost {
        console::write(console::Level::Warn, &lost);
    }
    let name = quoted(&name);
    let mut question = String::with_capacity(json.len() + name.len() + 32);
    for part in [r#"{"save":{"name":"#, &name, r#","value":"#, &json, "}}"] {
        question.push_str(part);
    }
    Ok(question)
}

/// An id or a name: a text, or something that has one, such as what `list` and `search` give.
fn id(what: &str, value: Option<&JsValue>, context: &mut Context) -> Result<String, Fault> {
    let value = value.cloned().unwrap_or_default();
    let found = value.as_string().or_else(|| {
        let object = value.as_object()?;
        ["id", "artifact"]
            .iter()
            .find_map(|name| own_data_property(&object, JsString::from(*name), context)?.as_string())
    });
    match found.filter(|id| !id.is_empty()) {
        Some(id) => bounded("the id of an artifact", &id),
        None => {
            let hint = "artifacts.list() gives those that there are; artifacts.get(id) reads one";
            Err(Fault::argument(format!("{what} takes the id or the name of an artifact"), hint))
        }
    }
}

fn bounded(what: &str, text: &JsString) -> Result<String, Fault> {
    let text = text.to_std_string_lossy();
    if text.chars().nth(MAX_NAME).is_some() {
        let message = format!("{what} may have at most {MAX_NAME} characters");
        return Err(Fault::argument(message, "give it a short name"));
    }
    Ok(text)
}

fn options(what: &str, example: &str, value: Option<&JsValue>) -> Result<Option<JsObject>, Fault> {
    match value {
        None => Ok(None),
        Some(value) if value.is_undefined() => Ok(None),
        Some(value) => match value.as_object().filter(|object| !object.is_callable()) {
            Some(object) => Ok(Some(object)),
            None => {
                let hint = format!("as in {example}");
                Err(Fault::argument(format!("{what} takes options as an object second"), &hint))
            }
        },
    }
}

/// A member of options that is given.
fn member(options: Option<&JsObject>, name: &str, context: &mut Context) -> Option<JsValue> {
    own_data_property(options?, JsString::from(name), context).filter(|value| !value.is_null_or_undefined())
}

/// A text as JSON.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            control if control < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_text_is_quoted_as_json_has_it() {
        assert_eq!(quoted("a \"b\" \\ \n\u{7f}ü😀"), "\"a \\\"b\\\" \\\\ \\u000a\u{7f}ü😀\"");
    }
}
