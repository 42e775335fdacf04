//! Tools made of Rust closures.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
    time::Duration,
};

use belljar_catalog::{Catalog, ServerCatalog, Tool as KnownTool, namespaces, script_answers};
use belljar_model::{Effect, EffectRules, JsonText, ScriptValue, ToolDefinition, ToolPath};
use futures::{FutureExt as _, future::BoxFuture};
use serde_json::{Map, Value};

use crate::{
    AnswerStyle, CallError, CallStyle, Directory, Function, GrantedTool, Namespace, Thrown, Tool, Tools, Unavailable,
    handler::Handler, tool::Schema,
};

/// The servers of global functions: of those that take values, and of those that take one object.
const FUNCTIONS: [&str; 2] = ["functions", "named_functions"];

/// Tools made of closures, for programs that add their own.
///
/// A name that is not a JavaScript identifier also has an alias, like the tools of other servers:
/// `my-server` is also `my_server`.
#[derive(Clone, Default)]
pub struct ToolSet {
    servers: Vec<Plugged>,
    handlers: BTreeMap<ToolPath, (Handler, Option<Arc<Schema>>)>,
    functions: Vec<Function>,
    /// What is derived from the definitions, on first use.
    known: OnceLock<Arc<Known>>,
}

/// The tools of one server.
#[derive(Clone)]
struct Plugged {
    name: String,
    definitions: Vec<ToolDefinition>,
    effects: EffectRules,
    style: CallStyle,
    answers: AnswerStyle,
    /// Whether a script finds it under a global name.
    is_global: bool,
}

/// What scripts see of all tools.
struct Known {
    catalog: Catalog,
    directories: Vec<Arc<Directory>>,
}

impl ToolSet {
    /// No tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool of which only the name is known: `server.name(arguments)` in a script. The
    /// result of `handler` is the value of the call; its error is thrown as a `ToolError`.
    #[must_use]
    pub fn with<F, R>(self, server: &str, name: &str, effect: Effect, handler: F) -> Self
    where
        F: Fn(Map<String, Value>) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Value, String>> + Send + 'static,
    {
        self.with_tool(server, Tool::new(name, effect), handler)
    }

    /// Adds a tool with its definition. A call whose arguments do not fit its schema fails with a
    /// `TypeError` that says what is wrong, and never reaches `handler`.
    #[must_use]
    pub fn with_tool<F, R>(mut self, server: &str, tool: Tool, handler: F) -> Self
    where
        F: Fn(Map<String, Value>) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Value, String>> + Send + 'static,
    {
        let server = self.server(server);
        self.put(server, tool, Handler::json(handler));
        self
    }

    /// Adds a tool that is called like any JavaScript function: `handler` gets the script's own
    /// values, including undefined and bytes. The script gets exactly the value that it returns, or
    /// an error with the returned name and message. With [`CallStyle::Object`] there is one value,
    /// an object.
    ///
    /// All tools of a server are called in the style that was given last. The server's name must be
    /// one that [`check_globals`](crate::check_globals) allows.
    #[must_use]
    pub fn with_plain<F, R>(mut self, server: &str, style: CallStyle, tool: Tool, handler: F) -> Self
    where
        F: Fn(Vec<ScriptValue>) -> R + Send + Sync + 'static,
        R: Future<Output = Result<ScriptValue, Thrown>> + Send + 'static,
    {
        let at = self.plain_server(server, style);
        if let Some(server) = self.servers.get_mut(at) {
            server.is_global = true;
        }
        self.put(at, tool, Handler::values(handler));
        self
    }

    /// Adds a global function with the tool's name: `name(…)` in a script. It is called in the same
    /// way as a tool of [`ToolSet::with_plain`].
    #[must_use]
    pub fn with_function<F, R>(mut self, style: CallStyle, tool: Tool, handler: F) -> Self
    where
        F: Fn(Vec<ScriptValue>) -> R + Send + Sync + 'static,
        R: Future<Output = Result<ScriptValue, Thrown>> + Send + 'static,
    {
        let [positional, named] = FUNCTIONS;
        let server = if style == CallStyle::Positional { positional } else { named };
        let namespace = self.plain_server(server, style);
        let name = tool.definition.name.clone();
        self.functions.retain(|function| function.name != name);
        self.functions.push(Function { name: name.clone(), namespace, property: name });
        self.put(namespace, tool, Handler::values(handler));
        self
    }

    /// Its servers and tools, as scripts find them.
    pub fn catalog(&self) -> &Catalog {
        &self.known().catalog
    }

    /// The position of a server, which is added if it is new.
    fn server(&mut self, name: &str) -> usize {
        self.servers.iter().position(|each| each.name == name).unwrap_or_else(|| {
            self.servers.push(Plugged {
                name: name.to_owned(),
                definitions: Vec::new(),
                effects: EffectRules::default(),
                style: CallStyle::Object,
                answers: AnswerStyle::ToolResult,
                is_global: true,
            });
            self.servers.len() - 1
        })
    }

    /// The position of a server whose answers are plain. A new one is not a global.
    fn plain_server(&mut self, name: &str, style: CallStyle) -> usize {
        let known = self.servers.len();
        let at = self.server(name);
        if let Some(server) = self.servers.get_mut(at) {
            (server.style, server.answers) = (style, AnswerStyle::Plain);
            server.is_global &= at < known;
        }
        at
    }

    fn put(&mut self, server: usize, tool: Tool, handler: Handler) {
        self.known = OnceLock::new();
        let Tool { definition, effect, schema } = tool;
        if let Some(server) = self.servers.get_mut(server) {
            let path = ToolPath::new(server.name.as_str(), definition.name.as_str());
            self.handlers.insert(path, (handler, schema.map(Arc::new)));
            server.effects.declared.insert(definition.name.clone(), effect);
            server.definitions.retain(|known| known.name != definition.name);
            server.definitions.push(definition);
        }
    }

    fn known(&self) -> &Arc<Known> {
        self.known.get_or_init(|| {
            let names: Vec<&str> = self.servers.iter().map(|server| server.name.as_str()).collect();
            let servers = namespaces(&names).into_iter().zip(&self.servers).map(|(names, server)| {
                Arc::new(ServerCatalog::ready(names, server.definitions.clone(), &server.effects))
            });
            let catalog = Catalog::new(servers.collect());
            let directories = catalog.servers().iter().map(|server| Arc::new(directory(server))).collect();
            Arc::new(Known { catalog, directories })
        })
    }
}

fn directory(server: &ServerCatalog) -> Directory {
    Directory::new(server.tools().iter().flat_map(|tool| {
        let granted = GrantedTool { path: tool.path().clone(), effect: tool.effect() };
        tool.names().bound().map(move |name| (name.to_owned(), granted.clone()))
    }))
}

impl Tools for ToolSet {
    fn namespaces(&self) -> Vec<Namespace> {
        let names: Vec<&str> = self.servers.iter().map(|server| server.name.as_str()).collect();
        let namespace = |(names, server): (belljar_catalog::Names, &Plugged)| {
            let globals = match server.answers {
                _ if !server.is_global => Vec::new(),
                AnswerStyle::ToolResult => names.bound().map(str::to_owned).collect(),
                // Only the exact name, without an alias.
                AnswerStyle::Plain => vec![server.name.clone()],
            };
            Namespace { server: server.name.clone(), globals, style: server.style, answers: server.answers }
        };
        namespaces(&names).into_iter().zip(&self.servers).map(namespace).collect()
    }

    fn functions(&self) -> Vec<Function> {
        self.functions.clone()
    }

    fn directory(&self, namespace: usize) -> BoxFuture<'_, Result<Arc<Directory>, Unavailable>> {
        let directory = self.known().directories.get(namespace).cloned();
        let answer = directory.ok_or_else(|| Unavailable { reason: format!("there is no namespace {namespace}") });
        std::future::ready(answer).boxed()
    }

    fn call(
        &self,
        tool: &GrantedTool,
        arguments: JsonText,
        limit: Duration,
    ) -> BoxFuture<'static, Result<JsonText, CallError>> {
        let handler = self.handlers.get(&tool.path).cloned();
        let server = self.servers.iter().find(|server| server.name == tool.path.server());
        let (style, answers) = server.map(|server| (server.style, server.answers)).unwrap_or_default();
        let (path, known) = (tool.path.clone(), self.known().clone());
        async move {
            let (handler, schema) = handler.ok_or_else(|| CallError::new(format!("there is no tool {path}")))?;
            let mut arguments = values_of(&arguments, style, answers)
                .map_err(|problem| CallError::refused(format!("the arguments of {path} {problem}")))?;
            if let (Some(schema), Some(tool), CallStyle::Object) = (schema, known.catalog.find(&path), style) {
                let named = match arguments.first().cloned().map(ScriptValue::into_plain) {
                    Some(Value::Object(named)) => named,
                    _ => Map::new(),
                };
                let named = admitted(&schema, tool, named)?;
                if answers == AnswerStyle::ToolResult {
                    arguments = vec![Value::Object(named).into()];
                }
            }
            let answer = tokio::time::timeout(limit, handler.call(arguments, answers)).await;
            answer.map_err(|_| CallError::timed_out(limit))?
        }
        .boxed()
    }

    fn list(&self, server: Option<String>) -> BoxFuture<'_, Result<JsonText, String>> {
        let catalog = &self.known().catalog;
        let answer = match &server {
            None => Ok(script_answers::listed(catalog.tools())),
            Some(name) => match catalog.server(name).or_else(|| catalog.namespace(name)) {
                Some(server) => Ok(script_answers::listed(server.tools().iter())),
                None => Err(script_answers::no_such_server(catalog, name)),
            },
        };
        std::future::ready(answer.map(|tools| JsonText::from_value(&tools))).boxed()
    }

    fn search(&self, query: String, limit: usize) -> BoxFuture<'_, JsonText> {
        let answer = self.known().catalog.search(&script_answers::question(query, limit));
        std::future::ready(JsonText::from_value(&script_answers::found(&answer))).boxed()
    }

    fn describe(&self, path: String) -> BoxFuture<'_, Result<JsonText, String>> {
        let catalog = &self.known().catalog;
        let answer = match catalog.lookup(&path) {
            Some(tool) => Ok(JsonText::from_value(&script_answers::described(tool, None))),
            None => Err(script_answers::no_such_tool(catalog, &path, |near| near.signature().to_owned())),
        };
        std::future::ready(answer).boxed()
    }
}

/// The arguments of a call, one by one.
fn values_of(arguments: &JsonText, style: CallStyle, answers: AnswerStyle) -> Result<Vec<ScriptValue>, String> {
    let is_extended = (style, answers) != (CallStyle::Object, AnswerStyle::ToolResult);
    let arguments = match arguments.to_value() {
        Ok(plain) if !is_extended => plain.into(),
        Ok(_) => ScriptValue::from_json(arguments).map_err(|error| format!("cannot be read: {error}"))?,
        Err(error) => return Err(format!("are not JSON: {error}")),
    };
    match (arguments, style) {
        (ScriptValue::List(values), CallStyle::Positional) => Ok(values),
        (object @ ScriptValue::Object(_), CallStyle::Object) => Ok(vec![object]),
        (_, CallStyle::Positional) => Err("are not a JSON array".to_owned()),
        (_, CallStyle::Object) => Err("are not a JSON object".to_owned()),
    }
}

/// The arguments, if they fit the tool's schema.
fn admitted(schema: &Schema, tool: &KnownTool, arguments: Map<String, Value>) -> Result<Map<String, Value>, CallError> {
    let refused = |problem: String| CallError::refused(format!("{}: {problem}", tool.expression()));
    match schema.checked(arguments) {
        Ok(arguments) => Ok(arguments),
        Err(problem) => Err(refused(problem).with_hint(format!("the tool is {}", tool.signature()))),
    }
}
