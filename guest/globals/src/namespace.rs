//! One global object per child server, whose properties are its tools.
//!
//! A namespace is made for each server at the start of a run, and nothing more: which tools there
//! are is asked of the host when the script first looks, a tool's function is made when it is first
//! read, and its handle is opened when it is first called. So a run over a thousand tools starts as
//! fast as a run over none.
//!
//! To the script a namespace is a frozen object without a prototype: reading what is not there
//! throws, with the nearest name.

use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

use boa_engine::{
    Context, JsError, JsNativeError, JsObject, JsResult, JsString, JsSymbol, JsValue, NativeFunction, js_string,
    native_function::NativeFunctionPointer,
    object::{
        IntegrityLevel, JsPrototype,
        builtins::{JsArray, JsFunction, JsPromise},
    },
    property::{PropertyDescriptor, PropertyKey},
};
use boa_gc::{Finalize, Trace};

use belljar_guest_bindings::{
    Program,
    belljar::sandbox::{tools as host, workspace::Globals},
};
use belljar_guest_engine::{
    call_site::CallSite,
    objects::{self, with_hint},
    originals::own_data_property,
};

use super::{
    artifacts,
    call::call,
    keep,
    missing::{texts_of_no_server, unknown},
    servers::{
        self, ACQUIRE, Form, Function, PROBED, RELEASE, Server, ToolRef, directory, is_lock, lookup, number_of_server,
        server_name,
    },
    tool_error,
};

/// Never a property, whatever a server calls its tools: it would make the namespace a promise.
/// `tools.call` reaches such a tool.
const NEVER_BOUND: &str = "then";

thread_local! {
    /// The constructor of proxies, and the traps of all namespaces.
    static PROXIES: RefCell<Option<(JsObject, JsObject)>> = const { RefCell::new(None) };
    /// What makes `$exclusive` of a server. Part of the snapshot.
    static EXCLUSIVE: RefCell<Option<JsObject>> = const { RefCell::new(None) };
}

/// Makes the namespaces of this run.
pub(super) fn bind(program: &Program, context: &mut Context) -> JsResult<()> {
    let global = context.global_object();
    if !program.builtins {
        global.delete_property_or_throw(js_string!("tools"), context)?;
    }
    // Before the namespaces and functions, which hide one where they have its name.
    if program.globals.contains(Globals::ARTIFACTS) {
        artifacts::bind(program, context)?;
    }
    if program.globals.contains(Globals::KEEP) {
        keep::bind(program, context)?;
    }
    let mut servers = Vec::new();
    for (number, namespace) in (0_u32..).zip(&program.namespaces) {
        let object = make(number, context)?;
        for name in &namespace.globals {
            let descriptor = PropertyDescriptor::builder()
                .value(object.clone())
                .writable(false)
                .enumerable(true)
                .configurable(false)
                .build();
            global.define_property_or_throw(JsString::from(name.as_str()), descriptor, context)?;
        }
        let form = Form { positional: namespace.positional, plain: namespace.plain };
        servers.push(Server::new(namespace.server.clone(), namespace.globals.clone(), form, object));
    }
    let mut functions = BTreeMap::new();
    for host::Function { name, namespace, property } in &program.functions {
        let function = global_function(name, *namespace, property, context);
        // A prelude may put something around it.
        define_function(name, function, program.prelude.is_some(), context)?;
        functions.insert(name.clone(), Function { namespace: *namespace, property: property.clone() });
    }
    servers::begin(servers, functions, program);
    Ok(())
}

/// The prelude has ended: what it has made of the functions stays.
pub(super) fn end_prelude(program: &Program, context: &mut Context) -> JsResult<()> {
    servers::end_prelude();
    let global = context.global_object();
    for host::Function { name, .. } in &program.functions {
        let value = own_data_property(&global, JsString::from(name.as_str()), context);
        if let Some(function) = value.filter(JsValue::is_callable) {
            define_function(name, function, false, context)?;
        }
    }
    Ok(())
}

fn define_function(name: &str, function: impl Into<JsValue>, is_open: bool, context: &mut Context) -> JsResult<()> {
    let descriptor =
        PropertyDescriptor::builder().value(function).writable(is_open).enumerable(true).configurable(is_open).build();
    context.global_object().define_property_or_throw(JsString::from(name), descriptor, context).map(|_| ())
}

/// A global function that is a tool, which is looked for at the first call.
fn global_function(name: &str, namespace: u32, property: &str, context: &mut Context) -> JsFunction {
    let captured = CapturedFunction { name: Rc::from(name), namespace, property: property.to_owned() };
    let native = NativeFunction::from_copy_closure_with_captures(
        |_, arguments, CapturedFunction { name, namespace, property }, context| {
            let reason = match lookup(*namespace, property) {
                Ok(Some(entry)) => {
                    let tool = ToolRef::new(*namespace, entry, property).by_function(name);
                    return call(&tool, false, arguments, context);
                }
                Ok(None) => format!("there is no tool behind {name}"),
                Err(reason) => reason,
            };
            let tool = ToolRef::new(*namespace, 0, property).by_function(name);
            let site = CallSite::here(context)?;
            let error = tool_error::tool_error(site, &tool, &reason, JsValue::undefined(), None, context)?;
            Ok(JsPromise::reject(error, context)?.into())
        },
        captured,
    );
    objects::function(name, 1, native, context)
}

#[derive(Trace, Finalize)]
struct CapturedFunction {
    #[unsafe_ignore_trace]
    name: Rc<str>,
    #[unsafe_ignore_trace]
    namespace: u32,
    #[unsafe_ignore_trace]
    property: String,
}

/// The tool of a path. A server also goes by the names of its globals.
pub(super) fn find(server: &str, tool: &str, context: &mut Context) -> JsResult<ToolRef> {
    let Some(number) = number_of_server(server) else {
        let (message, hint) = texts_of_no_server(server);
        return Err(with_hint(&message, &hint, context));
    };
    match lookup(number, tool) {
        Ok(Some(entry)) => Ok(ToolRef::new(number, entry, tool)),
        Ok(None) => Err(unknown(number, tool, context)),
        Err(reason) => Err(unavailable(number, tool, &reason, context)),
    }
}

/// The function of a tool, made once for the run.
fn tool_function(number: u32, entry: u32, name: &str, context: &mut Context) -> JsFunction {
    if let Some(function) = servers::function(number, entry) {
        return function;
    }
    let tool = Captured(ToolRef::new(number, entry, name));
    let native = NativeFunction::from_copy_closure_with_captures(
        |_, arguments, tool: &Captured, context| call(&tool.0, false, arguments, context),
        tool,
    );
    let function = objects::function(name, 1, native, context);
    servers::keep_function(number, entry, &function);
    function
}

/// A function that rejects, saying why its server is not available: what a script can catch where
/// it awaits.
fn unavailable_function(number: u32, name: &str, reason: &str, context: &mut Context) -> JsFunction {
    let tool = ToolRef::new(number, 0, name);
    let native = NativeFunction::from_copy_closure_with_captures(
        |_, _, (tool, reason): &(Captured, CapturedText), context| {
            let site = CallSite::here(context)?;
            let error = tool_error::tool_error(site, &tool.0, &reason.0, JsValue::undefined(), None, context)?;
            Ok(JsPromise::reject(error, context)?.into())
        },
        (Captured(tool), CapturedText(reason.to_owned())),
    );
    objects::function(name, 1, native, context)
}

#[derive(Trace, Finalize)]
struct Captured(#[unsafe_ignore_trace] ToolRef);

#[derive(Trace, Finalize)]
struct CapturedText(#[unsafe_ignore_trace] String);

/// `$exclusive` of a server that keeps state, made once for the run.
fn exclusive(number: u32, context: &mut Context) -> JsResult<JsValue> {
    // The host is asked which tools there are, if it was not before.
    if let Err(reason) = directory(number) {
        return Ok(unavailable_function(number, ACQUIRE, &reason, context).into());
    }
    let known = servers::lock(number);
    let server = server_name(number);
    let (Some((acquire, release)), Some(make)) = (known.0, EXCLUSIVE.with_borrow(Clone::clone)) else {
        let hint = format!("{server} keeps no state between calls: call its tools as they are");
        return Err(with_hint(&format!("there is no {server}.{ACQUIRE}"), &hint, context));
    };
    if let Some(made) = known.1 {
        return Ok(made);
    }
    let acquire = tool_function(number, acquire, ACQUIRE, context);
    let release = tool_function(number, release, RELEASE, context);
    let name = JsString::from(server.as_str());
    let made = make.call(&JsValue::undefined(), &[acquire.into(), release.into(), name.into()], context)?;
    servers::keep_exclusive(number, &made);
    Ok(made)
}

fn unavailable(number: u32, name: &str, reason: &str, context: &mut Context) -> JsError {
    let tool = ToolRef::new(number, 0, name);
    let made = CallSite::here(context)
        .and_then(|site| tool_error::tool_error(site, &tool, reason, JsValue::undefined(), None, context));
    made.unwrap_or_else(|error| error)
}

/// The target of a namespace's proxy holds its number; it is filled and frozen when the script asks
/// for all that there is.
#[derive(Debug, Trace, Finalize, boa_engine::JsData)]
struct NamespaceTarget(#[unsafe_ignore_trace] u32);

/// Makes the traps of all namespaces, once and as part of the snapshot: ten functions for each
/// server would cost more than its first call.
pub(super) fn install(prelude: &JsValue, context: &mut Context) -> JsResult<()> {
    let traps = JsObject::with_null_proto();
    let functions: [(&str, NativeFunctionPointer); 10] = [
        ("get", trap_get),
        ("has", trap_has),
        ("ownKeys", trap_own_keys),
        ("getOwnPropertyDescriptor", trap_descriptor),
        ("isExtensible", trap_is_extensible),
        ("preventExtensions", trap_prevent_extensions),
        ("set", trap_set),
        ("defineProperty", trap_define),
        ("deleteProperty", trap_delete),
        ("setPrototypeOf", trap_refuse),
    ];
    for (name, native) in functions {
        let function = objects::function(name, 0, NativeFunction::from_fn_ptr(native), context);
        objects::put(&traps, name, function, context)?;
    }
    if let Some(prelude) = prelude.as_object() {
        EXCLUSIVE.set(prelude.get(js_string!("exclusive"), context)?.as_object());
    }
    PROXIES.set(Some((context.intrinsics().constructors().proxy().constructor(), traps)));
    Ok(())
}

fn make(number: u32, context: &mut Context) -> JsResult<JsObject> {
    let target = JsObject::from_proto_and_data(JsPrototype::None, NamespaceTarget(number));
    let Some((proxy, traps)) = PROXIES.with_borrow(Clone::clone) else {
        return Err(JsNativeError::typ().with_message("the interpreter was not initialised").into());
    };
    proxy.construct(&[target.into(), traps.into()], None, context)
}

fn target(arguments: &[JsValue]) -> JsResult<(JsObject, u32)> {
    let target = arguments.first().and_then(JsValue::as_object);
    let number = target.as_ref().and_then(|target| target.downcast_ref::<NamespaceTarget>().map(|target| target.0));
    match (target, number) {
        (Some(target), Some(number)) => Ok((target, number)),
        _ => Err(JsNativeError::typ().with_message("not a namespace").into()),
    }
}

fn trap_get(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (target, number) = target(arguments)?;
    let key = arguments.get(1).cloned().unwrap_or_default();
    let Some(name) = key.as_string() else {
        if key.as_symbol() == Some(JsSymbol::to_string_tag()) {
            return Ok(JsString::from(server_name(number)).into());
        }
        return Ok(JsValue::undefined());
    };
    let name = name.to_std_string_lossy();
    let is_probe = PROBED.contains(&name.as_str());
    if name == NEVER_BOUND {
        return Ok(JsValue::undefined());
    }
    if name == ACQUIRE {
        return exclusive(number, context);
    }
    if servers::is_own(number, &name) {
        return target.get(JsString::from(name.as_str()), context);
    }
    match lookup(number, &name) {
        Ok(Some(entry)) => Ok(tool_function(number, entry, &name, context).into()),
        _ if name == "toString" => Ok(to_string_function(number, context).into()),
        _ if is_probe => Ok(JsValue::undefined()),
        Ok(None) => Err(unknown(number, &name, context)),
        Err(reason) => Ok(unavailable_function(number, &name, &reason, context).into()),
    }
}

/// So that a namespace in a template or a concatenation reads as an object does.
fn to_string_function(number: u32, context: &mut Context) -> JsFunction {
    let text = CapturedText(format!("[object {}]", server_name(number)));
    let native = NativeFunction::from_copy_closure_with_captures(
        |_, _, text: &CapturedText, _| Ok(JsString::from(text.0.as_str()).into()),
        text,
    );
    objects::function("toString", 0, native, context)
}

fn trap_has(_: &JsValue, arguments: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    let (_, number) = target(arguments)?;
    let name = arguments.get(1).and_then(JsValue::as_string).map(|name| name.to_std_string_lossy());
    let is_bound = |name: String| {
        name != NEVER_BOUND && (servers::is_own(number, &name) || matches!(lookup(number, &name), Ok(Some(_))))
    };
    Ok(JsValue::from(name.is_some_and(is_bound)))
}

fn trap_own_keys(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (target, number) = target(arguments)?;
    fill(&target, number, context)?;
    let keys = target.own_property_keys(context)?;
    Ok(JsArray::from_iter(keys.into_iter().map(JsValue::from), context).into())
}

fn trap_descriptor(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (target, number) = target(arguments)?;
    fill(&target, number, context)?;
    let key = arguments.get(1).cloned().unwrap_or_default().to_property_key(context)?;
    let is_open = servers::is_prelude();
    let Some(value) = own_data_property(&target, key, context) else { return Ok(JsValue::undefined()) };
    // Without a prototype, where a script may have left a `get` or a `set`.
    let descriptor = JsObject::with_null_proto();
    objects::put(&descriptor, "value", value, context)?;
    objects::put(&descriptor, "writable", is_open, context)?;
    objects::put(&descriptor, "enumerable", true, context)?;
    objects::put(&descriptor, "configurable", is_open, context)?;
    Ok(descriptor.into())
}

fn trap_is_extensible(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (target, number) = target(arguments)?;
    fill(&target, number, context)?;
    Ok(JsValue::from(servers::is_prelude()))
}

fn trap_prevent_extensions(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (target, number) = target(arguments)?;
    if servers::is_prelude() {
        return Err(with_hint("a prelude cannot freeze a namespace", "it is frozen when the prelude ends", context));
    }
    fill(&target, number, context)?;
    Ok(JsValue::from(true))
}

/// A property that the prelude gives a namespace. (target, key, value)
fn trap_set(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let value = arguments.get(2).cloned().unwrap_or_default();
    put_own(this, arguments, value, context)
}

/// The same by a descriptor. (target, key, descriptor)
fn trap_define(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let Some(descriptor) = arguments.get(2).and_then(JsValue::as_object) else {
        return put_own(this, arguments, JsValue::undefined(), context);
    };
    if descriptor.has_property(js_string!("get"), context)? || descriptor.has_property(js_string!("set"), context)? {
        let hint = "give it a value or a function";
        return Err(with_hint("a namespace cannot have a property with a getter or a setter", hint, context));
    }
    let value = descriptor.get(js_string!("value"), context)?;
    put_own(this, arguments, value, context)
}

fn put_own(this: &JsValue, arguments: &[JsValue], value: JsValue, context: &mut Context) -> JsResult<JsValue> {
    let (target, number) = target(arguments)?;
    let Some(name) = own_name(arguments).filter(|_| servers::is_prelude()) else {
        return trap_refuse(this, arguments, context);
    };
    let key = JsString::from(name.as_str());
    target.create_data_property_or_throw(key, value, context)?;
    servers::note_own(number, &name, true);
    Ok(JsValue::from(true))
}

/// A property that the prelude takes back. What is left is the tool of this name.
fn trap_delete(this: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (target, number) = target(arguments)?;
    let Some(name) = own_name(arguments).filter(|_| servers::is_prelude()) else {
        return trap_refuse(this, arguments, context);
    };
    target.delete_property_or_throw(JsString::from(name.as_str()), context)?;
    servers::note_own(number, &name, false);
    Ok(JsValue::from(true))
}

/// A name that a namespace's own property may have.
fn own_name(arguments: &[JsValue]) -> Option<String> {
    let name = arguments.get(1)?.as_string()?.to_std_string_lossy();
    (name != NEVER_BOUND && !is_lock(&name)).then_some(name)
}

fn trap_refuse(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (_, number) = target(arguments)?;
    let server = server_name(number);
    Err(with_hint(&format!("{server} is frozen"), "keep values in variables of your own", context))
}

/// Fills the target with all functions and freezes it, once: from then on it is what the traps
/// report. While the prelude runs, it is not frozen.
fn fill(target: &JsObject, number: u32, context: &mut Context) -> JsResult<()> {
    if !target.is_extensible(context)? {
        return Ok(());
    }
    // A server that is not available has no tools to show; reading one of them says why.
    if let Ok(directory) = directory(number) {
        for (entry, name) in (0_u32..)
            .zip(directory.split('\n'))
            .filter(|(_, name)| !name.is_empty() && *name != NEVER_BOUND && !is_lock(name))
        {
            if servers::is_own(number, name) {
                continue;
            }
            let function = tool_function(number, entry, name, context);
            target.create_data_property(PropertyKey::from(JsString::from(name)), function, context)?;
        }
    }
    if servers::is_prelude() {
        return Ok(());
    }
    target.set_integrity_level(IntegrityLevel::Frozen, context).map(|_| ())
}
