//! The servers of this run: which there are, what tools each has, and what was made of them.
//!
//! Which tools there are is asked of the host when that is first needed, and a tool's handle is
//! opened when it is first called.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use boa_engine::{JsObject, JsValue, object::builtins::JsFunction};

use belljar_guest_bindings::belljar::sandbox::tools::{self as host, Tool};

/// A tool that the script has named: where its handle is, and what it is called in messages.
#[derive(Debug, Clone)]
pub(crate) struct ToolRef {
    namespace: u32,
    entry: u32,
    pub(super) server: String,
    pub(super) name: String,
}

impl ToolRef {
    /// The tool of an entry of a server's directory.
    pub(super) fn new(namespace: u32, entry: u32, name: &str) -> Self {
        Self { namespace, entry, server: server_name(namespace), name: name.to_owned() }
    }

    /// Whether both are one tool, under whatever name.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.namespace == other.namespace && self.entry == other.entry
    }
}

/// Under which the host offers the lock of a server that keeps state between calls. No tool has
/// these names; of both, a script sees one function.
pub(super) const ACQUIRE: &str = "$exclusive";
pub(super) const RELEASE: &str = "$release";

/// Names that are read of every object by the language or by habit. A namespace answers `undefined`
/// rather than throw, so that it can be awaited, logged and compared.
pub(super) const PROBED: [&str; 12] = [
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

pub(super) struct Server {
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

impl Server {
    /// A server of which nothing was asked yet.
    pub(super) fn new(name: String, globals: Vec<String>, object: JsObject) -> Self {
        Self {
            name,
            globals,
            object,
            directory: None,
            lock: None,
            exclusive: None,
            functions: BTreeMap::new(),
            handles: BTreeMap::new(),
        }
    }
}

thread_local! {
    static RUN: RefCell<Run> = RefCell::default();
}

/// Sets the servers of this run.
pub(super) fn begin(servers: Vec<Server>, max_arguments: usize) {
    RUN.set(Run { servers, max_arguments });
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

/// The tool's handle, opened once and kept for the run.
pub(super) fn open(tool: &ToolRef) -> Result<Rc<Tool>, String> {
    let opened = RUN.with_borrow(|run| run.servers.get(tool.namespace as usize)?.handles.get(&tool.entry).cloned());
    if let Some(handle) = opened {
        return Ok(handle);
    }
    let handle = Rc::new(host::open(tool.namespace, tool.entry)?);
    RUN.with_borrow_mut(|run| {
        if let Some(server) = run.servers.get_mut(tool.namespace as usize) {
            server.handles.insert(tool.entry, handle.clone());
        }
    });
    Ok(handle)
}

/// The directory of a namespace, from the host at the first question.
pub(super) fn directory(number: u32) -> Result<Rc<str>, String> {
    let known = RUN.with_borrow(|run| run.servers.get(number as usize).and_then(|server| server.directory.clone()));
    if let Some(directory) = known {
        return directory;
    }
    let directory: Result<Rc<str>, String> = host::directory(number).map(Rc::from);
    let lock = directory.as_ref().ok().and_then(|names| Some((entry(names, ACQUIRE)?, entry(names, RELEASE)?)));
    RUN.with_borrow_mut(|run| {
        if let Some(server) = run.servers.get_mut(number as usize) {
            server.directory = Some(directory.clone());
            server.lock = lock;
        }
    });
    directory
}

pub(super) fn lookup(number: u32, name: &str) -> Result<Option<u32>, String> {
    if name.is_empty() || name.contains('\n') || is_lock(name) {
        return Ok(None);
    }
    Ok(entry(&directory(number)?, name))
}

fn entry(directory: &str, name: &str) -> Option<u32> {
    directory.split('\n').position(|entry| entry == name).and_then(|entry| u32::try_from(entry).ok())
}

pub(super) fn is_lock(name: &str) -> bool {
    name == ACQUIRE || name == RELEASE
}

/// Whether all calls of a tool's server share what it keeps, so that those of different intentions
/// mix.
pub(super) fn shares_state(tool: &ToolRef) -> bool {
    let has_lock = |run: &Run| run.servers.get(tool.namespace as usize).is_some_and(|server| server.lock.is_some());
    !is_lock(&tool.name) && RUN.with_borrow(has_lock)
}

/// Whether two tools are of one server.
pub(super) fn are_of_one_server(one: &ToolRef, other: &ToolRef) -> bool {
    one.namespace == other.namespace && !is_lock(&one.name) && !is_lock(&other.name)
}

pub(super) fn server_name(number: u32) -> String {
    RUN.with_borrow(|run| run.servers.get(number as usize).map(|server| server.name.clone())).unwrap_or_default()
}

/// The function of a tool, if it was made.
pub(super) fn function(number: u32, entry: u32) -> Option<JsFunction> {
    RUN.with_borrow(|run| run.servers.get(number as usize)?.functions.get(&entry).cloned())
}

/// Keeps the function of a tool for the run.
pub(super) fn keep_function(number: u32, entry: u32, function: &JsFunction) {
    RUN.with_borrow_mut(|run| {
        if let Some(server) = run.servers.get_mut(number as usize) {
            server.functions.insert(entry, function.clone());
        }
    });
}

/// The entries that take and give back the lock of a server, and its `$exclusive`, if it was made.
pub(super) fn lock(number: u32) -> (Option<(u32, u32)>, Option<JsValue>) {
    RUN.with_borrow(|run| {
        run.servers.get(number as usize).map(|server| (server.lock, server.exclusive.clone())).unwrap_or_default()
    })
}

/// Keeps `$exclusive` of a server for the run.
pub(super) fn keep_exclusive(number: u32, made: &JsValue) {
    RUN.with_borrow_mut(|run| {
        if let Some(server) = run.servers.get_mut(number as usize) {
            server.exclusive = Some(made.clone());
        }
    });
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
