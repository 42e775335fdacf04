//! One global object per child server, whose properties are its tools.
//!
//! A namespace is made for each server at the start of a run, and nothing more: which tools there are is asked of the host when the
//! script first looks, a tool's function is made when it is first read, and its handle is opened when it is first called. So a run
//! over a thousand tools starts as fast as a run over none.
//!
//! To the script a namespace is a frozen object without a prototype: reading what is not there throws, with the nearest name.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

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
    MissingTool, Program,
    belljar::sandbox::tools::{self as glass, Tool},
};
use belljar_guest_engine::{
    call_site::CallSite,
    objects::{self, with_hint},
    originals,
};

use super::{call::call, tool_error};

/// A tool that the script has named: where its handle is, and what it is called in messages.
#[derive(Debug, Clone)]
pub(crate) struct ToolRef {
    namespace: u32,
    entry: u32,
    pub(super) server: String,
    pub(super) name: String,
}

impl ToolRef {
    /// Whether both are one tool, under whatever name.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.namespace == other.namespace && self.entry == other.entry
    }
}

/// Never a property, whatever a server calls its tools: it would make the namespace a promise. `tools.call` reaches such a tool.
const NEVER_BOUND: &str = "then";

/// Under which the host offers the lock of a server that keeps state between calls. No tool has these names; of both, a script sees one
/// function.
const ACQUIRE: &str = "$exclusive";
const RELEASE: &str = "$release";

/// Names that are read of every object by the language or by habit. A namespace answers `undefined` rather than throw,
/// so that it can be awaited, logged and compared.
const PROBED: [&str; 12] = [
    "then",
    "catch",
    "finally",
    "toJSON",
    "toString",
    "valueOf",
    "constructor",
    "prototype",
    "__proto__",
    "length",
    "name",
    "inspect",
];

#[derive(Default)]
struct Run {
    servers: Vec<Server>,
    max_arguments: usize,
}

struct Server {
    name: String,
    /// The global variables that hold its namespace.
    globals: Vec<String>,
    /// Its namespace.
    object: JsObject,
    /// Asked of the host once.
    directory: Option<Result<Rc<str>, String>>,
    /// The entries that take and give back its lock, where it keeps state between calls.
    lock: Option<(u32, u32)>,
    /// `$exclusive`, once it was read.
    exclusive: Option<JsValue>,
    functions: BTreeMap<u32, JsFunction>,
    handles: BTreeMap<u32, Rc<Tool>>,
}

thread_local! {
    /// The constructor of proxies, and the traps of all namespaces.
    static PROXIES: RefCell<Option<(JsObject, JsObject)>> = const { RefCell::new(None) };
    /// What makes `$exclusive` of a server. Part of the snapshot.
    static EXCLUSIVE: RefCell<Option<JsObject>> = const { RefCell::new(None) };
    static RUN: RefCell<Run> = RefCell::default();
}

/// Makes the namespaces of this run.
pub(super) fn bind(program: &Program, context: &mut Context) -> JsResult<()> {
    let global = context.global_object();
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
        servers.push(Server {
            name: namespace.server.clone(),
            globals: namespace.globals.clone(),
            object,
            directory: None,
            lock: None,
            exclusive: None,
            functions: BTreeMap::new(),
            handles: BTreeMap::new(),
        });
    }
    RUN.set(Run { servers, max_arguments: program.max_arguments as usize });
    Ok(())
}

/// The name of the server whose namespace an object is.
pub(crate) fn namespace_name(object: &JsObject) -> Option<String> {
    RUN.with_borrow(|run| {
        run.servers.iter().find(|server| JsObject::equals(&server.object, object)).map(|server| server.name.clone())
    })
}

/// The most bytes that the arguments of one call may have as JSON.
pub(super) fn max_arguments() -> usize {
    RUN.with_borrow(|run| run.max_arguments)
}

/// The servers' names, for messages.
pub(super) fn servers() -> Vec<String> {
    RUN.with_borrow(|run| run.servers.iter().map(|server| server.name.clone()).collect())
}

/// The names of all globals that hold a namespace.
pub(super) fn globals() -> BTreeSet<String> {
    RUN.with_borrow(|run| run.servers.iter().flat_map(|server| server.globals.iter().cloned()).collect())
}

/// The name of the server that goes by a name: its own, or that of one of its globals.
pub(super) fn server_of(name: &str) -> Option<String> {
    RUN.with_borrow(|run| {
        let exact = run.servers.iter().find(|server| server.name == name);
        let found =
            exact.or_else(|| run.servers.iter().find(|server| server.globals.iter().any(|other| other == name)));
        found.map(|server| server.name.clone())
    })
}

/// The tool of a path. A server also goes by the names of its globals.
pub(super) fn find(server: &str, tool: &str, context: &mut Context) -> JsResult<ToolRef> {
    let Some(number) = number_of_server(server) else {
        let (message, hint) = texts_of_no_server(server);
        return Err(with_hint(&message, &hint, context));
    };
    match lookup(number, tool) {
        Ok(Some(entry)) => Ok(ToolRef { namespace: number, entry, server: server_name(number), name: tool.to_owned() }),
        Ok(None) => Err(unknown(number, tool, context)),
        Err(reason) => Err(unavailable(number, tool, &reason, context)),
    }
}

/// The tool's handle, opened once and kept for the run.
pub(super) fn open(tool: &ToolRef) -> Result<Rc<Tool>, String> {
    let opened = RUN.with_borrow(|run| run.servers.get(tool.namespace as usize)?.handles.get(&tool.entry).cloned());
    if let Some(handle) = opened {
        return Ok(handle);
    }
    let handle = Rc::new(glass::open(tool.namespace, tool.entry)?);
    RUN.with_borrow_mut(|run| {
        if let Some(server) = run.servers.get_mut(tool.namespace as usize) {
            server.handles.insert(tool.entry, handle.clone());
        }
    });
    Ok(handle)
}

/// The directory of a namespace, from the host at the first question.
fn directory(number: u32) -> Result<Rc<str>, String> {
    let known = RUN.with_borrow(|run| run.servers.get(number as usize).and_then(|server| server.directory.clone()));
    if let Some(directory) = known {
        return directory;
    }
    let directory: Result<Rc<str>, String> = glass::directory(number).map(Rc::from);
    let lock = directory.as_ref().ok().and_then(|names| Some((entry(names, ACQUIRE)?, entry(names, RELEASE)?)));
    RUN.with_borrow_mut(|run| {
        if let Some(server) = run.servers.get_mut(number as usize) {
            server.directory = Some(directory.clone());
            server.lock = lock;
        }
    });
    directory
}

fn lookup(number: u32, name: &str) -> Result<Option<u32>, String> {
    if name.is_empty() || name.contains('\n') || is_lock(name) {
        return Ok(None);
    }
    Ok(entry(&directory(number)?, name))
}

fn entry(directory: &str, name: &str) -> Option<u32> {
    directory.split('\n').position(|entry| entry == name).and_then(|entry| u32::try_from(entry).ok())
}

fn is_lock(name: &str) -> bool {
    name == ACQUIRE || name == RELEASE
}

/// Whether all calls of a tool's server share what it keeps, so that those of different intentions mix.
pub(super) fn shares_state(tool: &ToolRef) -> bool {
    let has_lock = |run: &Run| run.servers.get(tool.namespace as usize).is_some_and(|server| server.lock.is_some());
    !is_lock(&tool.name) && RUN.with_borrow(has_lock)
}

/// Whether two tools are of one server.
pub(super) fn are_of_one_server(one: &ToolRef, other: &ToolRef) -> bool {
    one.namespace == other.namespace && !is_lock(&one.name) && !is_lock(&other.name)
}

fn server_name(number: u32) -> String {
    RUN.with_borrow(|run| run.servers.get(number as usize).map(|server| server.name.clone())).unwrap_or_default()
}

/// The function of a tool, made once for the run.
fn tool_function(number: u32, entry: u32, name: &str, context: &mut Context) -> JsFunction {
    let made = RUN.with_borrow(|run| run.servers.get(number as usize)?.functions.get(&entry).cloned());
    if let Some(function) = made {
        return function;
    }
    let tool = Captured(ToolRef { namespace: number, entry, server: server_name(number), name: name.to_owned() });
    let native = NativeFunction::from_copy_closure_with_captures(
        |_, arguments, tool: &Captured, context| call(&tool.0, false, arguments, context),
        tool,
    );
    let function = objects::function(name, 1, native, context);
    RUN.with_borrow_mut(|run| {
        if let Some(server) = run.servers.get_mut(number as usize) {
            server.functions.insert(entry, function.clone());
        }
    });
    function
}

/// A function that rejects, saying why its server is not available: what a script can catch where it awaits.
fn unavailable_function(number: u32, name: &str, reason: &str, context: &mut Context) -> JsFunction {
    let tool = ToolRef { namespace: number, entry: 0, server: server_name(number), name: name.to_owned() };
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
    let known = RUN.with_borrow(|run| {
        run.servers.get(number as usize).map(|server| (server.lock, server.exclusive.clone())).unwrap_or_default()
    });
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
    RUN.with_borrow_mut(|run| {
        if let Some(server) = run.servers.get_mut(number as usize) {
            server.exclusive = Some(made.clone());
        }
    });
    Ok(made)
}

fn unknown(number: u32, name: &str, context: &mut Context) -> JsError {
    let Unknown { message, hint, missing } = Unknown::tool(number, name);
    let error = with_hint(&message, &hint, context);
    match error.as_opaque().and_then(JsValue::as_object) {
        Some(object) => put_missing(&object, missing, context).err().unwrap_or(error),
        None => error,
    }
}

/// What is said of a tool that is not there: what happened, and what to try.
pub struct Unknown {
    pub message: String,
    pub hint: String,
    pub missing: MissingTool,
}

impl Unknown {
    fn tool(number: u32, name: &str) -> Self {
        let server = server_name(number);
        let mut near = None;
        let hint = match directory(number) {
            Ok(directory) => match super::hints::nearest(name, directory.split('\n').filter(|name| *name != RELEASE)) {
                Some(found) => {
                    near = Some(found.to_owned());
                    format!("did you mean {server}.{found}?")
                }
                None => listed(&server, &directory),
            },
            Err(reason) => reason,
        };
        let message = format!("{server}.{name} is not a function: there is no such tool");
        Self { message, hint, missing: MissingTool { server, tool: name.to_owned(), near } }
    }
}

/// Which tool is not there, as hidden properties of the error that says so.
pub(super) fn put_missing(error: &JsObject, missing: MissingTool, context: &mut Context) -> JsResult<()> {
    let MissingTool { server, tool, near } = missing;
    objects::put_hidden(error, "server", JsString::from(server), context)?;
    objects::put_hidden(error, "tool", JsString::from(tool), context)?;
    match near {
        Some(near) => objects::put_hidden(error, "near", JsString::from(near), context),
        None => Ok(()),
    }
}

/// Which tool is not there, of an error that says so.
pub fn missing_of(error: &JsObject, context: &mut Context) -> Option<MissingTool> {
    let mut text = |name: &str| {
        let value = originals::own_data_property(error, JsString::from(name), context)?;
        Some(value.as_string()?.to_std_string_lossy())
    };
    Some(MissingTool { server: text("server")?, tool: text("tool")?, near: text("near") })
}

/// The number of the namespace that a global holds.
pub fn number_of_global(global: &str) -> Option<u32> {
    let is_its = |server: &Server| server.globals.iter().any(|other| other == global);
    position(is_its)
}

/// The same by the name of a server in a path, which also goes by those of its globals.
pub fn number_of_server(name: &str) -> Option<u32> {
    position(|server| server.name == name).or_else(|| number_of_global(name))
}

fn position(is_wanted: impl Fn(&Server) -> bool) -> Option<u32> {
    RUN.with_borrow(|run| run.servers.iter().position(is_wanted)).and_then(|number| u32::try_from(number).ok())
}

/// What is said of a call of a tool that is not there; nothing of a name that is read of every object.
pub fn unknown_tool(number: u32, name: &str) -> Option<Unknown> {
    (!PROBED.contains(&name)).then(|| Unknown::tool(number, name))
}

/// What is said of a path whose server is not there.
pub fn texts_of_no_server(server: &str) -> (String, String) {
    let known = servers();
    let near =
        super::hints::nearest(server, known.iter().map(String::as_str)).map(|near| format!("did you mean {near}?"));
    let hint = near.unwrap_or_else(|| format!("the servers here are: {}", known.join(", ")));
    (format!("there is no server '{server}'"), hint)
}

/// The names of a server's tools, as far as they are few.
fn listed(server: &str, directory: &str) -> String {
    const MOST: usize = 40;
    let mut names: Vec<&str> = directory.split('\n').filter(|name| is_plain(name) && !is_lock(name)).collect();
    let more = names.len().saturating_sub(MOST);
    names.truncate(MOST);
    let rest = if more > 0 { format!(", and {more} more: see tools.list({server:?})") } else { String::new() };
    format!("{server} has {}{rest}", names.join(", "))
}

/// Whether a name can stand after a dot. (A tool whose name cannot has an alias that can.)
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|character| character.is_alphanumeric() || matches!(character, '_' | '$'))
}

fn unavailable(number: u32, name: &str, reason: &str, context: &mut Context) -> JsError {
    let tool = ToolRef { namespace: number, entry: 0, server: server_name(number), name: name.to_owned() };
    let made = CallSite::here(context)
        .and_then(|site| tool_error::tool_error(site, &tool, reason, JsValue::undefined(), None, context));
    made.unwrap_or_else(|error| error)
}

/// The target of a namespace's proxy holds its number; it is filled and frozen when the script asks for all that there is.
#[derive(Debug, Trace, Finalize, boa_engine::JsData)]
struct NamespaceTarget(#[unsafe_ignore_trace] u32);

/// Makes the traps of all namespaces, once and as part of the snapshot: ten functions for each server would cost more than its first call.
pub(super) fn install(prelude: &JsValue, context: &mut Context) -> JsResult<()> {
    let traps = JsObject::with_null_proto();
    let functions: [(&str, NativeFunctionPointer); 10] = [
        ("get", trap_get),
        ("has", trap_has),
        ("ownKeys", trap_own_keys),
        ("getOwnPropertyDescriptor", trap_descriptor),
        ("isExtensible", trap_is_extensible),
        ("preventExtensions", trap_prevent_extensions),
        ("set", trap_refuse),
        ("defineProperty", trap_refuse),
        ("deleteProperty", trap_refuse),
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
    let (_, number) = target(arguments)?;
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
    let is_bound = |name: String| name != NEVER_BOUND && matches!(lookup(number, &name), Ok(Some(_)));
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
    let Some(value) = originals::own_data_property(&target, key, context) else { return Ok(JsValue::undefined()) };
    // Without a prototype, where a script may have left a `get` or a `set`.
    let descriptor = JsObject::with_null_proto();
    objects::put(&descriptor, "value", value, context)?;
    objects::put(&descriptor, "writable", false, context)?;
    objects::put(&descriptor, "enumerable", true, context)?;
    objects::put(&descriptor, "configurable", false, context)?;
    Ok(descriptor.into())
}

fn trap_is_extensible(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (target, number) = target(arguments)?;
    fill(&target, number, context)?;
    Ok(JsValue::from(false))
}

fn trap_prevent_extensions(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (target, number) = target(arguments)?;
    fill(&target, number, context)?;
    Ok(JsValue::from(true))
}

fn trap_refuse(_: &JsValue, arguments: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (_, number) = target(arguments)?;
    let server = server_name(number);
    Err(with_hint(&format!("{server} is frozen"), "keep values in variables of your own", context))
}

/// Fills the target with all functions and freezes it, once: from then on it is what the traps report.
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
            let function = tool_function(number, entry, name, context);
            target.create_data_property(PropertyKey::from(JsString::from(name)), function, context)?;
        }
    }
    target.set_integrity_level(IntegrityLevel::Frozen, context).map(|_| ())
}
