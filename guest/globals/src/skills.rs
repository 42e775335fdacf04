//! Scripts of belljar's owner that have a name: `skills.NAME(args)`.
//!
//! To the host, such a call is one like any other: it is begun, its arguments are checked against
//! the schema, the owner's rules judge it, and it is recorded. What comes back says no more than
//! that it may run. Then the script runs here, in a scope of its own, with the arguments as they
//! were checked. Its text is part of what `catalog.describe` answers, asked once for each script
//! that is called: a replay has the text of then.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    rc::Rc,
};

use boa_engine::{
    Context, JsError, JsNativeError, JsObject, JsResult, JsString, JsValue, NativeFunction,
    builtins::promise::ResolvingFunctions, js_string, object::builtins::JsPromise,
};
use boa_gc::{Finalize, Trace};

use belljar_guest_bindings::belljar::sandbox::catalog;
use belljar_guest_engine::{
    call_site::CallSite,
    inside::{self, Inside},
    objects,
    originals::own_data_property,
    scripts,
    stack::{self, Frame},
};
use belljar_guest_source as source;
use belljar_guest_values::decode;

use super::{
    artifacts, keep,
    servers::{self, ToolRef},
    using,
};

/// The server whose tools they are.
pub(super) const SERVER: &str = "skills";
/// The member of a description that has the text. It is left out of what scripts are told.
const SOURCE: &str = "source";
/// What the host answers where a script may run.
const MAY_RUN: &str = r#"{"_meta":{"belljar/script":true},"content":[]}"#;
/// Errors of which is kept where the script was called that threw them.
const MAX_NOTED: usize = 1_000;
/// Frames that are shown of the calls behind an error.
const MAX_FRAMES: usize = 20;

thread_local! {
    static KNOWN: RefCell<BTreeMap<String, Option<Rc<Skill>>>> = const { RefCell::new(BTreeMap::new()) };
    /// Calls that the host has not answered yet, by their places: each is one of its own.
    static BEGUN: RefCell<Vec<(CallSite, Begun)>> = const { RefCell::new(Vec::new()) };
    /// Where the scripts were called that threw, by what they threw.
    static THROWN: RefCell<Vec<(JsObject, String)>> = const { RefCell::new(Vec::new()) };
}

/// A script with a name.
pub(super) struct Skill {
    name: String,
    /// As stacks name it.
    file: String,
    text: String,
    /// A promise of its function, once it was asked for.
    function: RefCell<Option<JsPromise>>,
    is_loading: Cell<bool>,
}

/// A call of one, which the host judges.
pub(super) struct Begun {
    skill: Rc<Skill>,
    arguments: String,
    outer: Inside,
}

/// The script behind a tool of the server, if it is one.
fn of(name: &str, context: &mut Context) -> Option<Rc<Skill>> {
    if let Some(known) = KNOWN.with_borrow(|known| known.get(name).cloned()) {
        return known;
    }
    let skill = described(name, context).map(Rc::new);
    KNOWN.with_borrow_mut(|known| known.insert(name.to_owned(), skill.clone()));
    skill
}

fn described(name: &str, context: &mut Context) -> Option<Skill> {
    let answer = catalog::describe(&format!("{SERVER}.{name}")).ok()?;
    let described = decode::decode(&answer, context).ok()?.value.as_object()?;
    let mut text = |member: &str| {
        let value = own_data_property(&described, JsString::from(member), context)?.as_string()?;
        Some(value.to_std_string_lossy())
    };
    let (text, file, path) = (text(SOURCE)?, text("file")?, text("path")?);
    let name = path.split_once('.')?.1.to_owned();
    Some(Skill { name, file, text, function: RefCell::default(), is_loading: Cell::default() })
}

/// What scripts are shown of a description.
pub(super) fn shown(described: &JsValue, context: &mut Context) -> JsResult<()> {
    if let Some(described) = described.as_object() {
        described.delete_property_or_throw(js_string!(SOURCE), context)?;
    }
    Ok(())
}

/// Scripts that call each other in a circle.
pub(super) struct Circle {
    pub(super) message: String,
    pub(super) hint: &'static str,
}

/// Begins a call of what has this name, if that is a script, in the place where the script is that
/// calls it. Says whether it is one.
///
/// # Errors
/// It would be called by itself.
#[cold]
pub(super) fn begin(name: &str, arguments: &str, site: &CallSite, context: &mut Context) -> Result<bool, Circle> {
    let Some(skill) = of(name, context) else { return Ok(false) };
    if let Some(mut names) = inside::since(&skill.name) {
        names.push(skill.name.clone());
        let way: Vec<String> = names.iter().map(|name| format!("{SERVER}.{name}")).collect();
        let message = format!("{SERVER}.{} would be called by itself: {}", skill.name, way.join(" → "));
        let hint = "scripts with names may call each other, but not in a circle";
        return Err(Circle { message, hint });
    }
    let begun = Begun { skill, arguments: arguments.to_owned(), outer: inside::now() };
    BEGUN.with_borrow_mut(|all| all.push((site.clone(), begun)));
    Ok(true)
}

/// The call of a script that was begun at a place, once.
#[cold]
pub(super) fn taken(site: &CallSite) -> Option<Begun> {
    BEGUN.with_borrow_mut(|all| {
        let at = all.iter().position(|(other, _)| other.is(site))?;
        Some(all.swap_remove(at).1)
    })
}

/// Whether the host has let a script run that this run does not have.
pub(super) fn is_missing(tool: &ToolRef, answer: &str) -> bool {
    tool.server == SERVER && answer == MAY_RUN
}

/// What there is to say of it, and what to try.
pub(super) fn missing(tool: &ToolRef) -> (String, &'static str) {
    let message = format!("{SERVER}.{} was not there, or could not be called, when this run first used it", tool.name);
    (message, "run the script again; the owner sees more with belljar skills check")
}

/// Runs a script that the host has let pass, and settles the promise of its call with what comes of
/// it.
#[cold]
pub(super) fn run(begun: Begun, site: &CallSite, settle: &ResolvingFunctions, context: &mut Context) -> JsResult<()> {
    let (settled, value) = match started(begun, site, context) {
        Ok(promise) => (&settle.resolve, promise),
        Err(error) => (&settle.reject, error.into_opaque(context)?),
    };
    settled.call(&JsValue::undefined(), &[value], context).map(|_| ())
}

/// A promise of the value of a script.
fn started(begun: Begun, site: &CallSite, context: &mut Context) -> JsResult<JsValue> {
    let Begun { skill, arguments, outer } = begun;
    let inside = inside::of(&skill.name, outer);
    let called = site.stack(context);
    inside::with(inside, || {
        let arguments = decode::decode(&arguments, context)?.value;
        let function = loaded(&skill, context)?;
        let call = NativeFunction::from_copy_closure_with_captures(
            |_, function, Captured(arguments, name), context| {
                let function = function.first().and_then(JsValue::as_callable);
                match function {
                    Some(function) => function.call(&JsValue::undefined(), std::slice::from_ref(arguments), context),
                    None => {
                        let message = format!("the default export of {name} is not a function");
                        Err(JsNativeError::typ().with_message(message).into())
                    }
                }
            },
            Captured(arguments, skill.file.clone()),
        );
        let note = NativeFunction::from_copy_closure_with_captures(
            |_, reason, called: &Called, _| {
                let reason = reason.first().cloned().unwrap_or_default();
                if let Some(error) = reason.as_object() {
                    THROWN.with_borrow_mut(|thrown| {
                        if thrown.len() < MAX_NOTED {
                            thrown.push((error, called.0.clone()));
                        }
                    });
                }
                Err(JsError::from_opaque(reason))
            },
            Called(called),
        );
        let (call, note) = (objects::function("", 1, call, context), objects::function("", 1, note, context));
        let value = function.then(Some(call), None, context)?.then(None, Some(note), context)?;
        Ok(value.into())
    })
}

#[derive(Trace, Finalize)]
struct Captured(JsValue, #[unsafe_ignore_trace] String);

#[derive(Trace, Finalize)]
struct Called(#[unsafe_ignore_trace] String);

/// The function of a script, read once in a run.
fn loaded(skill: &Skill, context: &mut Context) -> JsResult<JsPromise> {
    if let Some(function) = skill.function.borrow().clone() {
        return Ok(function);
    }
    if skill.is_loading.replace(true) {
        return Err(JsNativeError::typ().with_message(format!("{} is being read", skill.file)).into());
    }
    let function = read(skill, context);
    skill.is_loading.set(false);
    let function = function?;
    skill.function.replace(Some(function.clone()));
    Ok(function)
}

fn read(skill: &Skill, context: &mut Context) -> JsResult<JsPromise> {
    let globals = servers::globals();
    let found = source::Globals {
        is_server: &|name| globals.contains(name),
        is_function: &|_| false,
        has_tools: servers::has_builtins(),
        may_differ: servers::has_prelude(),
    };
    let translated = source::translate_named(&skill.text, &found).map_err(|fault| {
        let place = fault.position.map(|position| format!(":{}:{}", position.line, position.column));
        let message = fault.message.trim_start_matches("SyntaxError: ");
        let message = format!("{}{}: {message}", skill.file, place.unwrap_or_default());
        JsError::from(JsNativeError::syntax().with_message(message))
    })?;
    translated.origin.keep_of(&skill.file);
    artifacts::bind_for(&skill.text, context)?;
    keep::bind_for(&skill.text, context)?;
    // In strict mode, as the script is.
    context.strict(true);
    let parsed = scripts::parse(&translated.code, Some(&skill.file), context);
    context.strict(false);
    let made = parsed?.evaluate(context)?;
    let Some(made) = made.as_callable() else {
        return JsPromise::resolve(JsValue::undefined(), context);
    };
    let helpers = translated.has_using.then(using::using_helpers);
    let promise = made.call(&JsValue::undefined(), helpers.as_slice(), context)?;
    match promise.as_object() {
        Some(promise) => JsPromise::from_object(promise),
        None => JsPromise::resolve(promise, context),
    }
}

/// The frames of an error, and behind them, where it was thrown in scripts with names, those of
/// their calls.
pub fn frames(error: &JsObject, raw: &str) -> Vec<Frame> {
    let mut frames = stack::frames(raw);
    if !inside::has_any() {
        return frames;
    }
    THROWN.with_borrow(|thrown| {
        let calls = thrown.iter().filter(|(other, _)| JsObject::equals(other, error));
        for (_, called) in calls {
            if frames.len() >= MAX_FRAMES {
                break;
            }
            frames.extend(stack::frames(called));
        }
    });
    frames
}
