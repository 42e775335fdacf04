//! All servers together: a run looks tools up here, and questions are answered here.

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use belljar_model::{ToolPath, nearest};

use crate::{bounds::NEAREST_BYTES, server::ServerCatalog, tool::Tool, vocabulary::Vocabulary};

/// Every configured server, as known at one moment. It is immutable: hold it in an [`Arc`] and
/// replace it when a server changes.
#[derive(Debug, Default)]
pub struct Catalog {
    servers: Vec<Arc<ServerCatalog>>,
    by_name: HashMap<String, usize>,
    by_namespace: HashMap<String, usize>,
    vocabulary: OnceLock<Vocabulary>,
}

impl Catalog {
    /// Joins servers, in the order of the configuration. This is cheap: the costly part was done
    /// when each server's catalogue was made.
    ///
    /// Their names come from one call of [`namespaces`](crate::namespaces). If not, and names
    /// clash, the first server wins.
    pub fn new(servers: Vec<Arc<ServerCatalog>>) -> Self {
        let (mut by_name, mut by_namespace) = (HashMap::new(), HashMap::new());
        for (at, server) in servers.iter().enumerate() {
            by_name.entry(server.name().to_owned()).or_insert(at);
            for name in server.names().bound() {
                by_namespace.entry(name.to_owned()).or_insert(at);
            }
        }
        Self { servers, by_name, by_namespace, vocabulary: OnceLock::new() }
    }

    /// The words of all servers. The first search builds it, in some milliseconds for thousands of
    /// tools.
    pub(crate) fn vocabulary(&self) -> &Vocabulary {
        self.vocabulary.get_or_init(|| Vocabulary::new(&self.servers))
    }

    /// The servers, in the order of the configuration.
    pub fn servers(&self) -> &[Arc<ServerCatalog>] {
        &self.servers
    }

    /// The server with this configured name.
    pub fn server(&self, name: &str) -> Option<&Arc<ServerCatalog>> {
        self.by_name.get(name).and_then(|at| self.servers.get(*at))
    }

    /// The server with this global, under its exact name or its alias.
    pub fn namespace(&self, name: &str) -> Option<&Arc<ServerCatalog>> {
        self.by_namespace.get(name).and_then(|at| self.servers.get(*at))
    }

    /// Every tool of every server that is ready.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.servers.iter().flat_map(|server| server.tools())
    }

    /// The tool with this path.
    pub fn find(&self, path: &ToolPath) -> Option<&Tool> {
        self.server(path.server())?.tool(path.tool())
    }

    /// The tool that `namespace.property` means in a script.
    pub fn resolve(&self, namespace: &str, property: &str) -> Option<&Tool> {
        self.namespace(namespace)?.property(property)
    }

    /// The tool that a text names, as people and models write it: by its path, or as a script calls
    /// it. The path wins.
    pub fn lookup(&self, text: &str) -> Option<&Tool> {
        let (server, tool) = text.split_once('.')?;
        self.server(server).and_then(|server| server.tool(tool)).or_else(|| self.resolve(server, tool))
    }

    /// The server that `name` was probably meant to be, by its configured name.
    pub fn nearest_server(&self, name: &str) -> Option<&Arc<ServerCatalog>> {
        let names = self.servers.iter().flat_map(|server| server.names().bound().chain([server.name()]));
        let meant = nearest(name, names)?;
        self.server(meant).or_else(|| self.namespace(meant))
    }

    /// The tool that a text was probably meant to name, for a "did you mean".
    ///
    /// `fs.read_fil` is looked up in `fs`, or in the server that was probably meant. If that has
    /// nothing similar, or the text names no server, all servers are searched for a tool with
    /// nearly that name.
    pub fn nearest_tool(&self, text: &str) -> Option<&Tool> {
        if text.len() > NEAREST_BYTES {
            return None;
        }
        let (server, tool) = text.split_once('.').unwrap_or(("", text));
        let known = self.server(server).or_else(|| self.namespace(server));
        if let Some(server) = known.or_else(|| self.nearest_server(server)) {
            let names = server.tools().iter().flat_map(|tool| tool.names().bound());
            if let Some(meant) = nearest(tool, comparable(tool, names)) {
                return server.property(meant);
            }
        }
        let meant = nearest(tool, comparable(tool, self.tools().map(|tool| tool.names().alias())))?;
        self.tools().find(|tool| tool.names().alias() == meant)
    }
}

/// The candidates of similar length, before anything costly is done with them.
fn comparable<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> impl Iterator<Item = &'a str> {
    let length = name.len();
    candidates.filter(move |candidate| candidate.len().abs_diff(length) <= length / 2 + 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{catalog, real};

    #[test]
    fn a_tool_is_found_by_path_and_by_what_a_script_writes() {
        let catalog = real();
        let path: ToolPath = "notion.API-get-user".parse().expect("a path");
        let tool = catalog.find(&path).expect("the tool");
        assert_eq!(tool.expression(), "notion.API_get_user");
        for (namespace, property) in [("notion", "API-get-user"), ("notion", "API_get_user")] {
            assert_eq!(catalog.resolve(namespace, property).expect("a property").path(), &path);
        }
        assert!(catalog.lookup("chrome_devtools.click").is_some());
        assert!(catalog.lookup("chrome-devtools.click").is_some());
        assert!(catalog.lookup("click").is_none());
    }

    #[test]
    fn a_wrong_name_leads_to_the_one_that_was_meant() {
        let catalog = real();
        let nearest = |text: &str| catalog.nearest_tool(text).map(|tool| tool.expression().to_owned());
        assert_eq!(nearest("filesystem.read_fil").as_deref(), Some("filesystem.read_file"));
        assert_eq!(nearest("filesystem.readFile").as_deref(), Some("filesystem.read_file"));
        assert_eq!(nearest("filesytem.read_file").as_deref(), Some("filesystem.read_file"));
        assert_eq!(nearest("memory.move_file").as_deref(), Some("filesystem.move_file"));
        assert_eq!(nearest("browser_clik").as_deref(), Some("playwright.browser_click"));
        assert_eq!(nearest("filesystem.quantum_entangle"), None);
        assert_eq!(nearest(""), None);
    }

    #[test]
    fn servers_are_known_by_what_they_are_called() {
        let catalog = catalog(&[("console", "[]"), ("my-fs", r#"[{"name": "read"}]"#)]);
        assert!(catalog.namespace("console").is_none());
        assert_eq!(catalog.namespace("console_").expect("its alias").name(), "console");
        assert_eq!(catalog.resolve("my_fs", "read").expect("the tool").path().to_string(), "my-fs.read");
        assert_eq!(catalog.nearest_server("my_f").expect("near").name(), "my-fs");
    }
}
