//! Calls of servers that have projects: `tools.route`, and one call of all of them.
//!
//! `{ projects: "all" }` becomes a call for each project, begun here like any other: the host
//! checks, counts and records each for itself.

use std::cell::RefCell;

use boa_engine::{
    Context, JsError, JsNativeError, JsObject, JsResult, JsString, JsValue, js_string, object::builtins::JsFunction,
};

use belljar_guest_bindings::belljar::sandbox::catalog;
use belljar_guest_engine::originals::own_data_property;
use belljar_guest_values::decode;

use super::servers::ToolRef;

/// Characters of words and names that the host is asked with; it bounds them again.
const MAX_QUESTION: usize = 32_000;
/// The argument that asks for a call of all projects, and its value.
const SPREAD: (&str, &str) = ("projects", "all");
/// The same as it stands in the text of a call's arguments.
const SPREAD_TEXT: &str = r#""projects":"all""#;
/// The argument that takes words in place of a name.
const CONTEXT: &str = "context";

thread_local! {
    /// What makes the calls. Part of the snapshot.
    static MAKE: RefCell<Option<JsObject>> = const { RefCell::new(None) };
}

/// What a call of all projects is made of.
pub(super) struct Spread {
    arguments: JsValue,
    /// The argument that names the project.
    argument: JsValue,
    projects: JsValue,
}

/// Keeps the function of the prelude.
pub(super) fn install(prelude: &JsValue, context: &mut Context) -> JsResult<()> {
    if let Some(prelude) = prelude.as_object() {
        MAKE.set(prelude.get(js_string!("spread"), context)?.as_object());
    }
    Ok(())
}

/// `tools.route(server, words)`; without words it names the projects.
pub(super) fn route(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let server = arguments.first().and_then(JsValue::as_string).ok_or_else(|| {
        JsError::from(JsNativeError::typ().with_message("tools.route takes a server's name first, and then the words"))
    })?;
    let words = match arguments.get(1) {
        None => None,
        Some(words) if words.is_undefined() => None,
        Some(words) => match words.as_string() {
            Some(words) => Some(question(&words)),
            None => return Err(JsNativeError::typ().with_message("the words of tools.route must be a text").into()),
        },
    };
    let answer = catalog::route(&question(&server), words.as_deref());
    let answer = answer.map_err(|message| JsError::from(JsNativeError::typ().with_message(message)))?;
    decode::decode(&answer, context).map(|decoded| decoded.value)
}

/// Whether the text of a call's arguments has what a call of all projects has. It costs a call of
/// few arguments nothing.
pub(super) fn may_be_wanted(arguments: &str) -> bool {
    arguments.len() > SPREAD_TEXT.len() && arguments.contains(SPREAD_TEXT)
}

/// Whether a call of a tool is one of all projects. The host is asked only where the arguments look
/// like that.
pub(super) fn wanted(tool: &ToolRef, arguments: &[JsValue], context: &mut Context) -> Option<Spread> {
    let [only] = arguments else { return None };
    let object = only.as_object()?;
    let asked = own_data_property(&object, js_string!(SPREAD.0), context)?.as_string()?;
    if asked != js_string!(SPREAD.1) {
        return None;
    }
    let answer = catalog::route(&format!("{}.{}", tool.server, tool.name), None).ok()?;
    let known = decode::decode(&answer, context).ok()?.value.as_object()?;
    let argument = own_data_property(&known, js_string!("argument"), context)?;
    let projects = own_data_property(&known, js_string!("projects"), context)?;
    let is_given = |name: JsString, context: &mut Context| {
        own_data_property(&object, name, context).is_some_and(|value| !value.is_null_or_undefined())
    };
    // The host says what is wrong with a call that names one project too.
    if is_given(argument.as_string()?, context) || is_given(js_string!(CONTEXT), context) {
        return None;
    }
    Some(Spread { arguments: only.clone(), argument, projects })
}

/// Makes the calls by `one`; the value is a promise of an object with what became of each.
pub(super) fn calls(spread: Spread, one: JsFunction, context: &mut Context) -> JsResult<JsValue> {
    let Spread { arguments, argument, projects } = spread;
    match MAKE.with_borrow(Clone::clone) {
        Some(make) => make.call(&JsValue::undefined(), &[one.into(), projects, argument, arguments], context),
        None => Err(JsNativeError::typ().with_message("the interpreter was not initialised").into()),
    }
}

fn question(text: &JsString) -> String {
    text.to_std_string_lossy().chars().take(MAX_QUESTION).collect()
}
