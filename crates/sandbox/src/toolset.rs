//! Tools made of Rust closures.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
    time::Duration,
};

use belljar_catalog::{Catalog, ServerCatalog, Tool as KnownTool, namespaces, script_answers};
use belljar_model::{Effect, EffectRules, JsonText, ToolDefinition, ToolPath};
use futures::{FutureExt as _, future::BoxFuture};
use serde_json::{Map, Value, json};

use crate::{CallError, Directory, GrantedTool, Namespace, Tool, Tools, Unavailable, tool::Schema};

type Handler = Arc<dyn Fn(Map<String, Value>) -> BoxFuture<'static, Result<Value, String>> + Send + Sync>;

/// Tools made of closures, for programs that add their own.
///
/// A name that is not a JavaScript identifier also has an alias, like the tools of other servers:
/// `my-server` is also `my_server`.
#[derive(Clone, Default)]
pub struct ToolSet {
    servers: Vec<Plugged>,
    handlers: BTreeMap<ToolPath, (Handler, Option<Arc<Schema>>)>,
    /// What is derived from the definitions, on first use.
    known: OnceLock<Arc<Known>>,
}

/// The tools of one server.
#[derive(Clone)]
struct Plugged {
    name: String,
    definitions: Vec<ToolDefinition>,
    effects: EffectRules,
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
        let Tool { definition, effect, schema } = tool;
        let path = ToolPath::new(server, definition.name.as_str());
        self.known = OnceLock::new();
        self.handlers.insert(path, (Arc::new(move |arguments| handler(arguments).boxed()), schema.map(Arc::new)));
        let at = self.servers.iter().position(|each| each.name == server).unwrap_or_else(|| {
            let (definitions, effects) = (Vec::new(), EffectRules::default());
            self.servers.push(Plugged { name: server.to_owned(), definitions, effects });
            self.servers.len() - 1
        });
        if let Some(server) = self.servers.get_mut(at) {
            server.effects.declared.insert(definition.name.clone(), effect);
            server.definitions.retain(|known| known.name != definition.name);
            server.definitions.push(definition);
        }
        self
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
        let namespace =
            |names: belljar_catalog::Names| Namespace::new(names.exact(), names.bound().map(str::to_owned).collect());
        namespaces(&names).into_iter().map(namespace).collect()
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
        let (path, known) = (tool.path.clone(), self.known().clone());
        async move {
            let (handler, schema) = handler.ok_or_else(|| CallError::new(format!("there is no tool {path}")))?;
            let Ok(Value::Object(arguments)) = arguments.to_value() else {
                return Err(CallError::new(format!("the arguments of {path} are not a JSON object")));
            };
            let arguments = match (schema, known.catalog.find(&path)) {
                (Some(schema), Some(tool)) => admitted(&schema, tool, arguments)?,
                _ => arguments,
            };
            let answer = tokio::time::timeout(limit, handler(arguments)).await;
            Ok(JsonText::from_value(&match answer.map_err(|_| CallError::timed_out(limit))? {
                Ok(value) => json!({ "content": [], "structuredContent": value }),
                Err(message) => json!({ "content": [{ "type": "text", "text": message }], "isError": true }),
            }))
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

/// The arguments, if they fit the tool's schema.
fn admitted(schema: &Schema, tool: &KnownTool, arguments: Map<String, Value>) -> Result<Map<String, Value>, CallError> {
    let refused = |problem: String| CallError::refused(format!("{}: {problem}", tool.expression()));
    match schema.checked(arguments) {
        Ok(arguments) => Ok(arguments),
        Err(problem) => Err(refused(problem).with_hint(format!("the tool is {}", tool.signature()))),
    }
}
