//! `keep`: values that live on for later runs.
//!
//! A proxy: a member is loaded from the host when it is first touched, and is the script's own from
//! then on. When the script has ended, what was assigned, deleted, or changed in place is handed to
//! the host, which writes it if the script ended by itself. `$update` is the exception: it asks and
//! writes at once.
//!
//! The host is told with each change which version it replaces, so that it can say whether another
//! run's change is lost. A member that could not be read is not written: what is there is not
//! replaced by what was made of nothing.

use std::{cell::RefCell, rc::Rc};

use boa_engine::{
    Context, JsError, JsNativeError, JsObject, JsResult, JsString, JsSymbol, JsValue, NativeFunction,
    builtins::promise::Promise,
    js_string,
    object::builtins::{JsArray, JsFunction},
    property::PropertyKey,
};

use belljar_guest_bindings::{
    Program,
    belljar::sandbox::{console, workspace},
};
use belljar_guest_engine::{call_site::CallSite, objects, originals::own_data_property};
use belljar_guest_values::{Place, decode, encode};

use super::{
    named::Named,
    servers::PROBED,
    tool_error::{failed, refused},
};

/// Its name.
const NAME: &str = "keep";
/// The member that changes a value in one step.
const UPDATE: &str = "$update";
/// Bytes of the name of a value, which the host bounds again.
const MAX_NAME: usize = 256;
/// Bytes of a value as JSON: what the host takes at most, whatever its owner allows.
const MAX_VALUE: usize = 64 * 1024 * 1024;
/// How often `$update` tries, while other runs are faster.
const MAX_TRIES: u32 = 1_000;
/// Reasons that are said of values that cannot be read.
const MAX_SAID: usize = 5;
/// What every object has, and this one too where there is no value of the name.
const METHODS: [&str; 6] =
    ["hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf"];

thread_local! {
    /// The global, which is part of the snapshot.
    static KEEP: RefCell<Option<JsObject>> = const { RefCell::new(None) };
    static UPDATE_FUNCTION: RefCell<Option<JsFunction>> = const { RefCell::new(None) };
    /// The values that the script has touched, in that order.
    static TOUCHED: RefCell<Vec<Touched>> = const { RefCell::new(Vec::new()) };
    /// The names of all values, once the script has asked for them.
    static NAMES: RefCell<Option<Names>> = const { RefCell::new(None) };
    static NAMED: Named = const { Named::new(NAME) };
    /// Why values could not be read, as far as it was said.
    static SAID: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// The names that the host has listed; there is none where it could not read them.
#[derive(Clone, Default)]
struct Names {
    listed: Rc<[JsString]>,
    /// Whether there are no others.
    is_whole: bool,
}

/// A value that the script has touched.
struct Touched {
    name: JsString,
    /// What the host has of it, as far as it was asked.
    stored: Stored,
    /// What the script has of it.
    now: Now,
}

#[derive(Clone)]
enum Stored {
    NotAsked,
    Unreadable,
    Known(Known),
}

/// What the host has.
#[derive(Clone, Default)]
struct Known {
    /// The value as JSON; nothing where there is none.
    text: Option<Rc<str>>,
    /// Its version as a number in JSON, or `null`.
    version: Rc<str>,
}

#[derive(Clone)]
enum Now {
    /// What the host has.
    Stored,
    /// The same as a value, which the script may have changed in place.
    Read(JsValue),
    /// What the script has assigned.
    Assigned(JsValue),
    /// The script has deleted it.
    Deleted,
}

/// Makes the global, as part of the snapshot.
pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let traps = JsObject::with_null_proto();
    let functions: [(&str, objects::Native); 8] = [
        ("get", trap_get),
        ("set", trap_set),
        ("has", trap_has),
        ("deleteProperty", trap_delete),
        ("ownKeys", trap_own_keys),
        ("getOwnPropertyDescriptor", trap_descriptor),
        ("defineProperty", trap_define),
        ("preventExtensions", |_, _, _| Ok(JsValue::from(false))),
    ];
    for (name, native) in functions {
        let function = objects::function(name, 0, NativeFunction::from_fn_ptr(native), context);
        objects::put(&traps, name, function, context)?;
    }
    let update = objects::function(UPDATE, 2, NativeFunction::from_fn_ptr(update), context);
    let proxy = context.intrinsics().constructors().proxy().constructor();
    let target = JsObject::with_null_proto();
    KEEP.set(Some(proxy.construct(&[target.into(), traps.into()], None, context)?));
    UPDATE_FUNCTION.set(Some(update));
    Ok(())
}

/// Gives it to this run, if one of its texts has the name.
pub(super) fn bind(program: &Program, context: &mut Context) -> JsResult<()> {
    NAMED.with(|named| named.bind(program, KEEP.with_borrow(Clone::clone), context))
}

/// Gives it to a run that may have it, if this text has the name.
pub(super) fn bind_for(text: &str, context: &mut Context) -> JsResult<()> {
    NAMED.with(|named| named.bind_for(text, KEEP.with_borrow(Clone::clone), context))
}

/// Whether an object is the global.
pub(super) fn is_keep(object: &JsObject) -> bool {
    KEEP.with_borrow(|keep| keep.as_ref().is_some_and(|keep| JsObject::equals(keep, object)))
}

/// Hands what the script has changed to the host, when it has ended.
pub fn hand_over(context: &mut Context) {
    for Touched { name, stored, now } in TOUCHED.take() {
        if let Err(reason) = handed_over(&name, &stored, &now, context) {
            console::write(console::Level::Warn, &format!("{} is not kept: {reason}", shown(&name)));
        }
    }
}

fn handed_over(name: &JsString, stored: &Stored, now: &Now, context: &mut Context) -> Result<(), String> {
    let (value, is_assigned) = match now {
        Now::Stored => return Ok(()),
        Now::Read(value) if !value.is_object() => return Ok(()),
        Now::Read(value) => (Some(value), false),
        Now::Assigned(value) => (Some(value), true),
        Now::Deleted => (None, true),
    };
    let text = match value {
        Some(value) => Some(encode::kept(value, &shown(name), MAX_VALUE, context).map_err(|error| {
            let message = message_of(error, context);
            message.strip_prefix(&format!("{} cannot be kept: ", shown(name))).map(str::to_owned).unwrap_or(message)
        })?),
        None => None,
    };
    let since = match stored {
        Stored::Known(known) if known.text.as_deref() == text.as_deref() => return Ok(()),
        Stored::Known(known) => format!(",\"version\":{}", known.version),
        Stored::NotAsked => String::new(),
        Stored::Unreadable if is_assigned => {
            return Err("what there is under this name could not be read, and is not replaced".to_owned());
        }
        Stored::Unreadable => return Ok(()),
    };
    let name = quoted(name);
    let question = match text {
        Some(text) => format!("{{\"set\":{{\"name\":{name}{since},\"value\":{text}}}}}"),
        None => format!("{{\"delete\":{{\"name\":{name}{since}}}}}"),
    };
    workspace::keep(&question).map(|_| ()).map_err(|refusal| parted(refusal, context).message)
}

/// The text of an error.
fn message_of(error: JsError, context: &mut Context) -> String {
    match error.as_native() {
        Some(native) => native.message().to_owned(),
        None => error
            .into_opaque(context)
            .map_or_else(|error| error.to_string(), |value| belljar_guest_values::inspect::text(&value, context)),
    }
}

fn trap_get(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let key = arguments.get(1).cloned().unwrap_or_default();
    let Some(name) = key.as_string() else {
        let is_tag = key.as_symbol() == Some(JsSymbol::to_string_tag());
        return Ok(if is_tag { js_string!(NAME).into() } else { JsValue::undefined() });
    };
    if name == js_string!(UPDATE) {
        return Ok(UPDATE_FUNCTION.with_borrow(|update| update.clone().map(JsValue::from)).unwrap_or_default());
    }
    if !may_be_kept(&name) {
        return Ok(JsValue::undefined());
    }
    if is_probe_of_nothing(&name, context)? {
        let is_method = METHODS.iter().any(|method| name == *method);
        let of_all = context.intrinsics().constructors().object().prototype();
        return if is_method { of_all.get(name, context) } else { Ok(JsValue::undefined()) };
    }
    Ok(value_of(&name, context)?.unwrap_or_default())
}

fn trap_set(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let key = arguments.get(1).cloned().unwrap_or_default();
    let name = name_of(&key, context)?;
    let value = arguments.get(2).cloned().unwrap_or_default();
    assign(&name, value, context)?;
    Ok(JsValue::from(true))
}

fn trap_has(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let Some(name) = arguments.get(1).and_then(JsValue::as_string).filter(may_be_kept) else {
        return Ok(JsValue::from(false));
    };
    if is_probe_of_nothing(&name, context)? {
        return Ok(JsValue::from(false));
    }
    Ok(JsValue::from(value_of(&name, context)?.is_some()))
}

fn trap_delete(_: &JsValue, arguments: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    if let Some(name) = arguments.get(1).and_then(JsValue::as_string).filter(may_be_kept) {
        touch(&name, |touched| touched.now = Now::Deleted);
    }
    Ok(JsValue::from(true))
}

fn trap_own_keys(_: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let listed = names(context)?.listed;
    let (gone, added) = TOUCHED.with_borrow(|touched| {
        let is_listed = |name: &JsString| listed.contains(name);
        let gone: Vec<JsString> = touched
            .iter()
            .filter(|each| match (&each.now, &each.stored) {
                (Now::Deleted, _) => true,
                (Now::Assigned(_), _) => false,
                (_, Stored::Known(known)) => known.text.is_none(),
                _ => false,
            })
            .map(|each| each.name.clone())
            .collect();
        let has_value = |each: &&Touched| match (&each.now, &each.stored) {
            (Now::Assigned(_), _) => true,
            (Now::Read(_) | Now::Stored, Stored::Known(known)) => known.text.is_some(),
            _ => false,
        };
        let added: Vec<JsString> =
            touched.iter().filter(has_value).map(|each| each.name.clone()).filter(|name| !is_listed(name)).collect();
        (gone, added)
    });
    let keys = listed.iter().filter(|name| !gone.contains(name)).cloned().chain(added);
    Ok(JsArray::from_iter(keys.map(JsValue::from), context).into())
}

fn trap_descriptor(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let Some(name) = arguments.get(1).and_then(JsValue::as_string).filter(may_be_kept) else {
        return Ok(JsValue::undefined());
    };
    if is_probe_of_nothing(&name, context)? {
        return Ok(JsValue::undefined());
    }
    let Some(value) = value_of(&name, context)? else { return Ok(JsValue::undefined()) };
    // Without a prototype, where a script may have left a `get` or a `set`.
    let descriptor = JsObject::with_null_proto();
    objects::put(&descriptor, "value", value, context)?;
    for attribute in ["writable", "enumerable", "configurable"] {
        objects::put(&descriptor, attribute, true, context)?;
    }
    Ok(descriptor.into())
}

/// `Object.defineProperty(keep, name, { value })` assigns.
fn trap_define(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let key = arguments.get(1).cloned().unwrap_or_default();
    let name = name_of(&key, context)?;
    let descriptor = arguments.get(2).and_then(JsValue::as_object);
    let value = descriptor.and_then(|descriptor| own_data_property(&descriptor, js_string!("value"), context));
    match value {
        Some(value) => {
            assign(&name, value, context)?;
            Ok(JsValue::from(true))
        }
        None => {
            let hint = format!("assign a value: {} = …", shown(&name));
            Err(objects::with_hint(&format!("{} can only have a value", shown(&name)), &hint, context))
        }
    }
}

/// `keep.$update(name, value => …)`: changes a value in one step, as far as other runs see it.
fn update(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    const AS_IN: &str = "as in keep.$update(\"count\", (count) => (count ?? 0) + 1)";
    let name = arguments.first().filter(|name| name.is_string()).cloned();
    let Some(name) = name else {
        return Err(objects::with_hint("keep.$update takes a name as a text first", AS_IN, context));
    };
    let name = name_of(&name, context)?;
    let Some(make) = arguments.get(1).and_then(JsValue::as_callable) else {
        return Err(objects::with_hint("keep.$update takes a function second", AS_IN, context));
    };
    if is_changed(&name, context)? {
        let message = format!("{} was changed in this run, and is not written yet", shown(&name));
        return Err(objects::with_hint(&message, "use either assignments or keep.$update for one name", context));
    }
    let mut known = match load(&name, context)? {
        Stored::Known(known) => known,
        _ => {
            let message = format!("{} cannot be updated: what there is could not be read", shown(&name));
            return Err(failed(CallSite::here(context)?, &message, Some("the log says why"), context)?);
        }
    };
    for _ in 0..MAX_TRIES {
        let value = known.value(context)?.unwrap_or_default();
        let made = make.call(&JsValue::undefined(), &[value], context)?;
        if made.as_object().is_some_and(|made| made.is::<Promise>()) {
            let message = "the function of keep.$update gave a promise";
            let hint = "wait for what it needs before, and give the new value itself: it may be called again";
            return Err(objects::with_hint(message, hint, context));
        }
        if made.is_undefined() {
            let message = "the function of keep.$update gave undefined";
            return Err(objects::with_hint(message, "it must return the new value", context));
        }
        let text = encode::kept(&made, &shown(&name), MAX_VALUE, context)?;
        let question =
            format!("{{\"swap\":{{\"name\":{},\"version\":{},\"value\":{text}}}}}", quoted(&name), known.version);
        let answer = match workspace::keep(&question) {
            Ok(answer) => answer,
            Err(refusal) => {
                let Refusal { message, hint, is_argument } = parted(refusal, context);
                let message = format!("{} is not updated: {message}", shown(&name));
                let make = if is_argument { refused } else { failed };
                return Err(make(CallSite::here(context)?, &message, hint.as_deref(), context)?);
            }
        };
        match answer.strip_prefix("{\"done\":").and_then(|rest| rest.strip_suffix('}')) {
            Some(version) => {
                let known = Known { text: Some(text.into()), version: version.into() };
                let value = known.value(context)?.unwrap_or_default();
                touch(&name, |touched| {
                    touched.stored = Stored::Known(known);
                    touched.now = Now::Read(value.clone());
                });
                return Ok(value);
            }
            None => {
                known = Known::of(&answer).ok_or_else(unreadable_answer)?;
                let stored = Stored::Known(known.clone());
                touch(&name, |touched| (touched.stored, touched.now) = (stored, Now::Stored));
            }
        }
    }
    let message = format!("{} is not updated: other runs were faster {MAX_TRIES} times", shown(&name));
    Err(failed(CallSite::here(context)?, &message, Some("try it again later"), context)?)
}

/// Whether the script has changed a value, by assignment or in place.
fn is_changed(name: &JsString, context: &mut Context) -> JsResult<bool> {
    let found = TOUCHED.with_borrow(|touched| {
        touched.iter().find(|each| each.name == *name).map(|each| (each.stored.clone(), each.now.clone()))
    });
    Ok(match found {
        None | Some((_, Now::Stored)) => false,
        Some((_, Now::Assigned(_) | Now::Deleted)) => true,
        Some((Stored::Known(known), Now::Read(value))) if value.is_object() => {
            let text = encode::kept(&value, &shown(name), MAX_VALUE, context)?;
            known.text.as_deref() != Some(&text)
        }
        Some((_, Now::Read(_))) => false,
    })
}

fn assign(name: &JsString, value: JsValue, context: &mut Context) -> JsResult<()> {
    encode::kept(&value, &shown(name), MAX_VALUE, context)?;
    touch(name, |touched| touched.now = Now::Assigned(value));
    Ok(())
}

/// The value that the script finds.
fn value_of(name: &JsString, context: &mut Context) -> JsResult<Option<JsValue>> {
    let now =
        TOUCHED.with_borrow(|touched| touched.iter().find(|each| each.name == *name).map(|each| each.now.clone()));
    match now {
        Some(Now::Deleted) => return Ok(None),
        Some(Now::Read(value) | Now::Assigned(value)) => return Ok(Some(value)),
        Some(Now::Stored) | None => {}
    }
    let Stored::Known(known) = load(name, context)? else { return Ok(None) };
    let value = known.value(context)?;
    if let Some(value) = &value {
        touch(name, |touched| touched.now = Now::Read(value.clone()));
    }
    Ok(value)
}

/// What the host has, which is asked once.
fn load(name: &JsString, context: &mut Context) -> JsResult<Stored> {
    let stored =
        TOUCHED.with_borrow(|touched| touched.iter().find(|each| each.name == *name).map(|each| each.stored.clone()));
    match stored {
        Some(Stored::NotAsked) | None => {}
        Some(stored) => return Ok(stored),
    }
    let is_absent =
        NAMES.with_borrow(|names| names.as_ref().is_some_and(|names| names.is_whole && !names.listed.contains(name)));
    let stored = if is_absent {
        Stored::Known(Known { text: None, version: "null".into() })
    } else {
        match workspace::keep(&format!("{{\"get\":{}}}", quoted(name))) {
            Ok(answer) => Stored::Known(Known::of(&answer).ok_or_else(unreadable_answer)?),
            Err(refusal) => {
                unread(refusal, context);
                Stored::Unreadable
            }
        }
    };
    touch(name, |touched| touched.stored = stored.clone());
    Ok(stored)
}

/// The names of all values, asked once.
fn names(context: &mut Context) -> JsResult<Names> {
    if let Some(names) = NAMES.with_borrow(Clone::clone) {
        return Ok(names);
    }
    let names = match workspace::keep("{\"keys\":{}}") {
        Ok(answer) => Names { listed: texts(&answer, context)?.into(), is_whole: true },
        Err(refusal) => {
            unread(refusal, context);
            Names::default()
        }
    };
    NAMES.set(Some(names.clone()));
    Ok(names)
}

/// The texts of a list.
fn texts(answer: &str, context: &mut Context) -> JsResult<Vec<JsString>> {
    let Some(listed) = decode::decode(answer, context)?.value.as_object() else { return Ok(Vec::new()) };
    let listed = JsArray::from_object(listed)?;
    let mut texts = Vec::new();
    for at in 0..listed.length(context)? {
        texts.extend(listed.get(at, context)?.as_string());
    }
    Ok(texts)
}

/// Says why something cannot be read, each reason once.
fn unread(refusal: String, context: &mut Context) {
    let Refusal { message, hint, .. } = parted(refusal, context);
    let hint = hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
    let text = format!("kept values cannot be read: {message}{hint}");
    let is_new = SAID.with_borrow_mut(|said| {
        let is_new = said.len() < MAX_SAID && !said.contains(&text);
        if is_new {
            said.push(text.clone());
        }
        is_new
    });
    if is_new {
        console::write(console::Level::Warn, &text);
    }
}

impl Known {
    /// What an answer says: `{"version":…,"value":…}`, or `{}` where there is nothing.
    fn of(answer: &str) -> Option<Self> {
        if answer == "{}" {
            return Some(Self { text: None, version: "null".into() });
        }
        let (version, value) = answer.strip_prefix("{\"version\":")?.strip_suffix('}')?.split_once(",\"value\":")?;
        Some(Self { text: Some(value.into()), version: version.into() })
    }

    /// The value, made anew.
    fn value(&self, context: &mut Context) -> JsResult<Option<JsValue>> {
        let Some(text) = &self.text else { return Ok(None) };
        Ok(Some(decode::parse(&JsString::from(&**text), context)?.value))
    }
}

fn unreadable_answer() -> JsError {
    JsNativeError::typ().with_message("what the host said of a kept value cannot be read").into()
}

/// Changes what is known of a value.
fn touch(name: &JsString, change: impl FnOnce(&mut Touched)) {
    TOUCHED.with_borrow_mut(|touched| {
        let at = touched.iter().position(|each| each.name == *name).unwrap_or_else(|| {
            touched.push(Touched { name: name.clone(), stored: Stored::NotAsked, now: Now::Stored });
            touched.len() - 1
        });
        if let Some(touched) = touched.get_mut(at) {
            change(touched);
        }
    });
}

/// Whether a name that is read of every object is that of no value: so `await` and `JSON.stringify`
/// ask for the list of names, and not for each that they try.
fn is_probe_of_nothing(name: &JsString, context: &mut Context) -> JsResult<bool> {
    let is_probe = PROBED.iter().chain(&METHODS).any(|probe| name == probe);
    let is_touched = || TOUCHED.with_borrow(|touched| touched.iter().any(|each| each.name == *name));
    Ok(is_probe && !is_touched() && !names(context)?.listed.contains(name))
}

/// Whether a value can have this name.
fn may_be_kept(name: &JsString) -> bool {
    fault_of(name).is_none()
}

/// Why no value can have this name.
fn fault_of(name: &JsString) -> Option<String> {
    let Ok(text) = name.to_std_string() else {
        return Some("is not a text of whole characters".to_owned());
    };
    if text.is_empty() {
        return Some("is empty".to_owned());
    }
    if text.starts_with('$') {
        return Some("begins with $, as the methods of keep do".to_owned());
    }
    (text.len() > MAX_NAME).then(|| format!("has {} bytes; the limit is {MAX_NAME}", text.len()))
}

/// The name of a value, of a property key that the script has given.
fn name_of(key: &JsValue, context: &mut Context) -> JsResult<JsString> {
    let Some(name) = key.as_string() else {
        return Err(objects::with_hint("a symbol cannot name a kept value", "use a text", context));
    };
    match fault_of(&name) {
        None => Ok(name),
        Some(fault) => {
            let start: String = name.to_std_string_lossy().chars().take(40).collect();
            Err(objects::with_hint(&format!("the name {start:?} of a kept value {fault}"), "use another name", context))
        }
    }
}

/// How a script writes a value's name.
fn shown(name: &JsString) -> String {
    Place::member_of(NAME, name).text()
}

/// A text as JSON.
fn quoted(name: &JsString) -> String {
    let mut out = String::from("\"");
    for character in name.to_std_string_lossy().chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            control if control < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

struct Refusal {
    message: String,
    hint: Option<String>,
    is_argument: bool,
}

/// The parts of a refusal. One that is not as the contract says is the message.
fn parted(refusal: String, context: &mut Context) -> Refusal {
    let parts = decode::decode(&refusal, context).ok().and_then(|decoded| decoded.value.as_object());
    let mut part = |name: &str| own_data_property(parts.as_ref()?, PropertyKey::from(JsString::from(name)), context);
    let is_argument = part("argument").is_some_and(|argument| argument.to_boolean());
    let [message, hint] = ["message", "hint"].map(|name| Some(part(name)?.as_string()?.to_std_string_lossy()));
    Refusal { message: message.unwrap_or(refusal), hint, is_argument }
}
