//! Tools made of Rust closures.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use belljar_model::{Effect, JsonText, ToolPath, nearest};
use futures::{FutureExt as _, future::BoxFuture};
use serde_json::{Map, Value, json};

use crate::{CallFault, Directory, GrantedTool, Namespace, Tools, Unavailable};

type Handler = Arc<dyn Fn(Map<String, Value>) -> BoxFuture<'static, Result<Value, String>> + Send + Sync>;

/// Tools made of closures, for programs that plug in their own. Names should be JavaScript identifiers.
#[derive(Clone, Default)]
pub struct ToolSet {
    servers: Vec<(String, Arc<Directory>)>,
    tools: Vec<GrantedTool>,
    handlers: BTreeMap<ToolPath, Handler>,
}

impl ToolSet {
    /// No tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool: `server.name(arguments)` in a script. What `handler` returns is the value of the call; its error is
    /// thrown as a `ToolError`.
    #[must_use]
    pub fn with<F, R>(mut self, server: &str, name: &str, effect: Effect, handler: F) -> Self
    where
        F: Fn(Map<String, Value>) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Value, String>> + Send + 'static,
    {
        let path = ToolPath::new(server, name);
        self.handlers.insert(path.clone(), Arc::new(move |arguments| handler(arguments).boxed()));
        self.tools.push(GrantedTool { path, effect });
        let of_server = self.tools.iter().filter(|tool| tool.path.server() == server);
        let directory = Arc::new(Directory::new(of_server.map(|tool| (tool.path.tool().to_owned(), tool.clone()))));
        match self.servers.iter_mut().find(|(name, _)| name == server) {
            Some((_, existing)) => *existing = directory,
            None => self.servers.push((server.to_owned(), directory)),
        }
        self
    }

    fn described(&self, matches: impl Fn(&GrantedTool) -> bool) -> Vec<Value> {
        let matching = self.tools.iter().filter(|tool| matches(tool));
        matching.map(|tool| json!({ "path": tool.path, "effect": tool.effect })).collect()
    }
}

impl Tools for ToolSet {
    fn namespaces(&self) -> Vec<Namespace> {
        let servers = self.servers.iter().map(|(name, _)| name.clone());
        servers.map(|server| Namespace { globals: vec![server.clone()], server }).collect()
    }

    fn directory(&self, namespace: usize) -> BoxFuture<'_, Result<Arc<Directory>, Unavailable>> {
        let directory = self.servers.get(namespace).map(|(_, directory)| directory.clone());
        let answer = directory.ok_or_else(|| Unavailable { reason: format!("there is no namespace {namespace}") });
        std::future::ready(answer).boxed()
    }

    fn call(
        &self,
        tool: &GrantedTool,
        arguments: JsonText,
        limit: Duration,
    ) -> BoxFuture<'static, Result<JsonText, CallFault>> {
        let handler = self.handlers.get(&tool.path).cloned();
        let path = tool.path.clone();
        async move {
            let handler = handler.ok_or_else(|| CallFault::new(format!("there is no tool {path}")))?;
            let Ok(Value::Object(arguments)) = arguments.to_value() else {
                return Err(CallFault::new(format!("the arguments of {path} are no JSON object")));
            };
            let answer = tokio::time::timeout(limit, handler(arguments)).await;
            Ok(JsonText::from_value(&match answer.map_err(|_| CallFault::timed_out(limit))? {
                Ok(value) => json!({ "content": [], "structuredContent": value }),
                Err(message) => json!({ "content": [{ "type": "text", "text": message }], "isError": true }),
            }))
        }
        .boxed()
    }

    fn list(&self, server: Option<String>) -> BoxFuture<'_, Result<JsonText, String>> {
        let answer = match &server {
            Some(server) if !self.servers.iter().any(|(name, _)| name == server) => {
                let near = nearest(server, self.servers.iter().map(|(name, _)| name.as_str()));
                let near = near.map(|near| format!(": did you mean {near}?")).unwrap_or_default();
                Err(format!("there is no server '{server}'{near}"))
            }
            _ => Ok(self.described(|tool| server.as_ref().is_none_or(|server| tool.path.server() == server))),
        };
        std::future::ready(answer.map(|tools| JsonText::from_value(&Value::from(tools)))).boxed()
    }

    fn search(&self, query: String, limit: usize) -> BoxFuture<'_, JsonText> {
        let query = query.to_lowercase();
        let mut found = self
            .described(|tool| query.split_whitespace().any(|word| tool.path.to_string().to_lowercase().contains(word)));
        found.truncate(limit);
        std::future::ready(JsonText::from_value(&Value::from(found))).boxed()
    }

    fn describe(&self, path: String) -> BoxFuture<'_, Result<JsonText, String>> {
        let tool = self.tools.iter().find(|tool| tool.path.to_string() == path);
        let answer = tool.map(|tool| JsonText::from_value(&json!({ "path": tool.path, "effect": tool.effect })));
        std::future::ready(answer.ok_or_else(|| format!("there is no tool '{path}'"))).boxed()
    }
}
