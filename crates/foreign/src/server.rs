//! The servers whose tools components import.

use std::sync::Arc;

use belljar_catalog::{
    Catalog, ServerCatalog, ServerState, namespaces,
    wit::{Function, Mapping, packages},
};
use belljar_model::{EffectRules, ToolDefinition, nearest};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    imports::{Imports, MAX_NAMED, ToolFunction, shown},
    refusal::Refusal,
};

/// A server whose tools a component may import.
#[derive(Debug, Clone)]
pub struct Server {
    pub(crate) catalog: Arc<ServerCatalog>,
    pub(crate) mapping: Arc<Mapping>,
}

/// One imported function, and the tool behind it.
pub struct Target<'s> {
    /// The server that has the tool.
    pub server: &'s Server,
    /// The function, which includes the tool that it calls.
    pub function: &'s Function,
    /// The name of its interface, as it is imported.
    pub import: &'s str,
    /// The name of the function, as it is imported.
    pub name: &'s str,
    pub(crate) function_at: usize,
    pub(crate) is_async: bool,
}

impl Server {
    /// The servers of a catalogue, under the names of their packages. The catalogue must contain
    /// all configured servers, because names of packages depend on each other.
    pub fn all(catalog: &Catalog) -> Vec<Self> {
        let names: Vec<&str> = catalog.servers().iter().map(|server| server.name()).collect();
        let server = |(package, server): (String, &Arc<ServerCatalog>)| Self {
            catalog: server.clone(),
            mapping: Arc::new(Mapping::new(&package, server)),
        };
        packages(&names).into_iter().zip(catalog.servers()).map(server).collect()
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.catalog.name()
    }

    /// Why its tools are not known, if the server cannot be used.
    pub fn unavailable(&self) -> Option<&str> {
        match self.catalog.state() {
            ServerState::Unavailable { reason, .. } => Some(reason),
            _ => None,
        }
    }

    /// The names under which a script would find its tools, without those tools that a component
    /// cannot call.
    pub fn properties(&self) -> impl Iterator<Item = &str> {
        let tools = self.catalog.tools().iter().filter(|tool| tool.path().is_importable());
        tools.map(|tool| tool.names().alias())
    }
}

impl Target<'_> {
    /// The name under which a script would find the tool.
    pub fn property(&self) -> &str {
        let tool = self.server.catalog.tool(self.function.path.tool());
        tool.map_or(&*self.function.name, |tool| tool.names().alias())
    }
}

/// The tools behind all functions that a component imports.
///
/// # Errors
/// [`Refusal::Missing`] names everything that does not exist.
pub fn targets<'s>(imports: &'s Imports, servers: &'s [Server]) -> Result<Vec<Target<'s>>, Refusal> {
    let (mut targets, mut missing) = (Vec::new(), Vec::new());
    for interface in &imports.interfaces {
        let Some(server) = servers.iter().find(|server| server.mapping.package() == interface.package) else {
            let near = nearest(&interface.package, servers.iter().map(|server| server.mapping.package()));
            let near = near.map(|near| format!("; did you mean belljar:{near}?")).unwrap_or_default();
            missing.push(format!("{} (no server is configured that has this package{near})", shown(&interface.import)));
            continue;
        };
        if let Some(reason) = server.unavailable() {
            missing.push(format!("{} ({} is not available: {reason})", shown(&interface.import), server.name()));
            continue;
        }
        for ToolFunction { name, mark } in &interface.functions {
            let functions = server.mapping.functions();
            let Some(function_at) = server.mapping.position(mark) else {
                let (shown_name, import) = (shown(name), shown(&interface.import));
                if let Some(other) = server.mapping.function(name) {
                    let why = format!("it was built for another tool than {}, which has this name now", other.path);
                    missing.push(format!("{shown_name} of {import} ({why})"));
                    continue;
                }
                // A name that the message will not contain needs no hint.
                let near = if missing.len() < MAX_NAMED {
                    nearest(name, functions.iter().map(|function| function.name.as_str()))
                } else {
                    None
                };
                let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
                let server = server.name();
                missing.push(format!(
                    "{shown_name} of {import} ({server} has no such tool, or the owner's rules let nobody call it{near})"
                ));
                continue;
            };
            let Some(function) = functions.get(function_at) else { continue };
            let is_async = interface.is_async;
            targets.push(Target { server, function, import: &interface.import, name, function_at, is_async });
        }
    }
    if missing.is_empty() {
        return Ok(targets);
    }
    let more = missing.len().saturating_sub(MAX_NAMED);
    missing.truncate(MAX_NAMED);
    Err(Refusal::Missing { names: missing, more })
}

/// The names of the servers that lack a tool which a component imports, as far as their tools are
/// known.
pub fn lacking<'s>(imports: &Imports, servers: &'s [Server]) -> Vec<&'s str> {
    let lacks = |server: &&Server| {
        let of_server = imports.interfaces.iter().filter(|interface| interface.package == server.mapping.package());
        let mut functions = of_server.flat_map(|interface| &interface.functions);
        server.unavailable().is_none() && functions.any(|function| server.mapping.position(&function.mark).is_none())
    };
    servers.iter().filter(lacks).map(Server::name).collect()
}

/// What a component's process needs to know about a run: the servers that the component imports,
/// and its input. The process makes the same mapping from the same lists.
#[derive(Debug, Serialize, Deserialize)]
pub struct Order {
    servers: Vec<Listed>,
    input: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Listed {
    name: String,
    package: String,
    tools: Vec<Value>,
}

impl Order {
    /// The order for a component that has these imports.
    pub fn new(imports: &Imports, servers: &[Server], input: Option<String>) -> Self {
        let is_imported =
            |server: &&Server| imports.interfaces.iter().any(|interface| interface.package == server.mapping.package());
        let listed = |server: &Server| Listed {
            name: server.name().to_owned(),
            package: server.mapping.package().to_owned(),
            tools: server.catalog.tools().iter().map(|tool| as_json(tool.definition())).collect(),
        };
        Self { servers: servers.iter().filter(is_imported).map(listed).collect(), input }
    }

    /// The order as text.
    pub fn to_text(&self) -> String {
        json!(self).to_string()
    }

    /// Reads such a text: the servers, and the input. `None` if it is malformed.
    pub fn parse(text: &str) -> Option<(Vec<Server>, Option<String>)> {
        let Self { servers, input } = serde_json::from_str(text).ok()?;
        let server = |Listed { name, package, tools }: Listed| {
            let names = namespaces(&[&name]).into_iter().next()?;
            let tools = tools.into_iter().filter_map(|tool| ToolDefinition::from_json(tool).ok()).collect();
            let catalog = Arc::new(ServerCatalog::ready(names, tools, &EffectRules::default()));
            let mapping = Arc::new(Mapping::new(&package, &catalog));
            Some(Server { catalog, mapping })
        };
        Some((servers.into_iter().map(server).collect::<Option<_>>()?, input))
    }
}

/// The parts of a definition on which its types depend.
fn as_json(definition: &ToolDefinition) -> Value {
    json!({
        "name": definition.name,
        "inputSchema": definition.input_schema,
        "outputSchema": definition.output_schema,
    })
}
