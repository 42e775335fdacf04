//! Texts that are data and are used as something else: what `JSON.parse` was given that is no JSON,
//! what it had to round, and results of tools that are taken for lists.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
};

use boa_engine::{Context, JsString};

use belljar_guest_source as source;
use belljar_guest_values::decode;

use super::{
    parse::{self, Notation, notation_of},
    servers::ToolRef,
};

/// What is called on a text by those who take it for a list.
const OF_LISTS: [&str; 9] = ["map", "filter", "forEach", "reduce", "find", "some", "every", "flatMap", "sort"];

thread_local! {
    /// The last text that each tool gave, by the tool's name in a script.
    static TEXTS: RefCell<BTreeMap<String, JsString>> = const { RefCell::new(BTreeMap::new()) };
}

/// The notation of the text that `JSON.parse` refused with this message, where there is one.
pub(super) fn notation_of_refused(message: &str, context: &mut Context) -> Option<Notation> {
    let text = belljar_guest_builtins::refused_text()?;
    let error = decode::parse(&text, context).err()?;
    let is_of_this = error.as_native().is_some_and(|native| native.message() == message);
    if is_of_this { notation_of(&text, context) } else { None }
}

/// Keeps a text that a tool gave, for the hint of an error.
pub(super) fn gave_text(tool: &ToolRef, text: &JsString) {
    TEXTS.with_borrow_mut(|texts| texts.insert(format!("{}.{}", tool.server, tool.name), text.clone()));
}

/// What to try where a method of arrays is called on a text that holds a list. `message` is the
/// engine's.
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
