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

use belljar_guest_bindings::{
    Program,
    belljar::sandbox::tools::{self as host, Tool},
};

/// A tool that the script has named: where its handle is, and what it is called in messages.
#[derive(Debug, Clone)]
pub(crate) struct ToolRef {
    namespace: u32,
    entry: u32,
    pub(super) server: String,
    pub(super) name: String,
    /// The global function that it is called by.
    function: Option<Rc<str>>,
}

impl ToolRef {
    /// The tool of an entry of a server's directory.
    pub(super) fn new(namespace: u32, entry: u32, name: &str) -> Self {
        Self { namespace, entry, server: server_name(namespace), name: name.to_owned(), function: None }
    }

    /// The same, called by a global function.
    pub(super) fn by_function(self, function: &Rc<str>) -> Self {
        Self { function: Some(function.clone()), ..self }
    }

    /// What the script calls it by.
    pub(super) fn shown(&self) -> String {
        match &self.function {
            Some(function) => function.as_ref().to_owned(),
            None => format!("{}.{}", self.server, self.name),
        }
    }

    /// How it is called.
    pub(super) fn form(&self) -> Form {
        form(self.namespace)
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

/// How the tools of a server are called.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Form {
    /// By position, with arguments of any type.
    pub(super) positional: bool,
    /// What they answer is the value itself.
    pub(super) plain: bool,
}

/// A global function: which tool it is.
#[derive(Debug, Clone)]
pub(super) struct Function {
    pub(super) namespace: u32,
    pub(super) property: String,
}

struct Run {
    servers: Vec<Server>,
    functions: BTreeMap<String, Function>,
    max_arguments: usize,
    has_builtins: bool,
    has_prelude: bool,
    is_prelude: bool,
}

impl Default for Run {
    fn default() -> Self {
        Self {
            servers: Vec::new(),
            functions: BTreeMap::new(),
            max_arguments: 0,
            has_builtins: true,
            has_prelude: false,
            is_prelude: false,
        }
    }
}

pub(super) struct Server {
    name: String,
    /// The global variables that hold its namespace.
    globals: Vec<String>,
    form: Form,
    /// Its namespace.
    object: JsObject,
    /// What the prelude has given it.
    own: BTreeSet<String>,
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
    pub(super) fn new(name: String, globals: Vec<String>, form: Form, object: JsObject) -> Self {
        Self {
            name,
            globals,
            form,
            object,
            own: BTreeSet::new(),
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

/// Sets the servers and functions of this run.
pub(super) fn begin(servers: Vec<Server>, functions: BTreeMap<String, Function>, program: &Program) {
    RUN.set(Run {
        servers,
        functions,
        max_arguments: program.max_arguments as usize,
        has_builtins: program.builtins,
        has_prelude: program.prelude.is_some(),
        is_prelude: program.prelude.is_some(),
    });
}

/// Whether there are belljar's own globals.
pub fn has_builtins() -> bool {
    RUN.with_borrow(|run| run.has_builtins)
}

/// Whether the host has run something before the script.
pub(super) fn has_prelude() -> bool {
    RUN.with_borrow(|run| run.has_prelude)
}

/// Whether that is running, and may change namespaces.
pub(super) fn is_prelude() -> bool {
    RUN.with_borrow(|run| run.is_prelude)
}

/// From here on nothing changes a namespace.
pub(super) fn end_prelude() {
    RUN.with_borrow_mut(|run| run.is_prelude = false);
}

/// Notes whether the prelude has given a namespace a property of its own.
pub(super) fn note_own(number: u32, name: &str, is_own: bool) {
    RUN.with_borrow_mut(|run| {
        if let Some(server) = run.servers.get_mut(number as usize) {
            if is_own {
                server.own.insert(name.to_owned());
            } else {
                server.own.remove(name);
            }
        }
    });
}

/// Whether the prelude has given a namespace this property.
pub fn is_own(number: u32, name: &str) -> bool {
    RUN.with_borrow(|run| run.servers.get(number as usize).is_some_and(|server| server.own.contains(name)))
}

/// The tool of a global function: its server's number, and the property there.
pub fn tool_of_function(name: &str) -> Option<(u32, String)> {
    RUN.with_borrow(|run| run.functions.get(name).map(|function| (function.namespace, function.property.clone())))
}

/// Whether the tools of a server take arguments by position.
pub fn is_positional(number: u32) -> bool {
    form(number).positional
}

fn form(number: u32) -> Form {
    RUN.with_borrow(|run| run.servers.get(number as usize).map(|server| server.form)).unwrap_or_default()
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
