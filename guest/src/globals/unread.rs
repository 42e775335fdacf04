//! Texts that are data and are used as something else: what `JSON.parse` was given that is no JSON, what it had to round, and results of
//! tools that are taken for lists.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
};

use boa_engine::{Context, JsString};

use super::{
    CallSite,
    namespace::ToolRef,
    parse::{self, Notation, notation_of},
};
use crate::{
    glass::belljar::sandbox::console,
    source,
    values::decode::{self, LargeIntegers},
};

/// What is called on a text by those who take it for a list.
const OF_LISTS: [&str; 9] = ["map", "filter", "forEach", "reduce", "find", "some", "every", "flatMap", "sort"];

thread_local! {
    /// The last text that each tool gave, by the tool's name in a script.
    static TEXTS: RefCell<BTreeMap<String, JsString>> = const { RefCell::new(BTreeMap::new()) };
    /// The last text that was no JSON. It is looked at where the run fails of that.
    static NOT_JSON: RefCell<Option<JsString>> = const { RefCell::new(None) };
    static ROUNDED: RefCell<Option<Rounded>> = const { RefCell::new(None) };
}

/// The integers that became other numbers.
struct Rounded {
    count: usize,
    /// `9007199254740993 at $.rows[0].id (line 3)`
    first: String,
}

/// Keeps a text that is no JSON, for the hint of its error.
pub(crate) fn not_json(text: &JsString) {
    NOT_JSON.set(Some(text.clone()));
}

/// The notation of the text that `JSON.parse` refused with this message, where there is one.
pub(super) fn notation_of_refused(message: &str, context: &mut Context) -> Option<Notation> {
    let text = NOT_JSON.with_borrow(Clone::clone)?;
    let error = decode::parse(&text, context).err()?;
    let is_of_this = error.as_native().is_some_and(|native| native.message() == message);
    if is_of_this { notation_of(&text, context) } else { None }
}

/// Keeps a text that a tool gave, for the hint of an error.
pub(super) fn gave_text(tool: &ToolRef, text: &JsString) {
    TEXTS.with_borrow_mut(|texts| texts.insert(format!("{}.{}", tool.server, tool.name), text.clone()));
}

/// What to try where a method of arrays is called on a text that holds a list. `message` is the engine's.
pub(super) fn hint_for_text(message: &str, servers: &BTreeSet<String>, context: &mut Context) -> Option<String> {
    let (name, method) = message.strip_suffix(" is not a function")?.rsplit_once('.')?;
    if !OF_LISTS.contains(&method) {
        return None;
    }
    let call = source::call_behind(name, servers);
    let (call, text) = TEXTS.with_borrow(|texts| match call {
        Some(call) => texts.get(&call).map(|text| (call, text.clone())),
        // Without a name for the value, there must be one text that it can be.
        None if name.starts_with('(') && texts.len() == 1 => {
            texts.iter().next().map(|(call, text)| (call.clone(), text.clone()))
        }
        None => None,
    })?;
    let shown = if name.starts_with('(') { "text" } else { name };
    if let Some(notation) = notation_of(&text, context) {
        return Some(format!(
            "what {call}(…) returned is a text, not an array: it is {}, so use tools.parse({shown}).{method}(…)",
            notation.name()
        ));
    }
    let fault = parse::python_fault(&text)?;
    Some(format!(
        "what {call}(…) returned is a text, not an array: it begins as Python's notation does, and cannot be parsed: {fault}; cut out \
         what you need, as with {shown}.matchAll(…)"
    ))
}

/// Notes the integers of a text that `JSON.parse` rounded.
pub(crate) fn rounded(large: &LargeIntegers, context: &mut Context) {
    let is_first = ROUNDED.with_borrow_mut(|rounded| match rounded {
        Some(rounded) => {
            rounded.count += large.count;
            false
        }
        None => true,
    });
    if !is_first {
        return;
    }
    let position = CallSite::here(context).ok().and_then(|site| site.position(context));
    let line = position.map(|position| format!(" (line {})", position.line)).unwrap_or_default();
    let first = format!("{} at {}{line}", large.digits, large.first);
    ROUNDED.set(Some(Rounded { count: large.count, first }));
}

/// Says once, at the end of a run, what was rounded.
pub(crate) fn report_rounded() {
    let Some(Rounded { count, first }) = ROUNDED.take() else { return };
    let (what, which) = match count {
        1 => ("an integer".to_owned(), String::new()),
        count => (format!("{count} integers"), "first ".to_owned()),
    };
    console::write(
        console::Level::Warn,
        &format!(
            "JSON.parse rounded {what} beyond 2^53, which a number cannot hold: {which}{first}; tools.parse(text) gives such integers as \
             strings of their digits"
        ),
    );
}
