//! Which of belljar's own tools a run for a program gets.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use belljar_catalog::{Catalog, Names, ServerCatalog, Tool};
use belljar_model::{ToolPath, nearest};
use futures::future::join_all;

use super::HostTools;
use crate::Toolbox;

/// How many characters a message shows of a name that a program sent.
const SHOWN: usize = 100;
/// How many tools are named if no name is near.
const NAMED: usize = 5;

/// belljar's own tools that a run gets. By default it gets none.
#[derive(Debug, Clone, Default)]
pub struct OwnTools {
    /// The servers, in the order of the configuration.
    servers: Vec<OwnServer>,
}

#[derive(Debug, Clone)]
struct OwnServer {
    name: String,
    /// Whether the run gets all of its tools, and not only those that are named.
    is_whole: bool,
    named: BTreeSet<String>,
}

/// Why a run cannot get these tools.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OwnToolsError {
    /// No server has this name.
    #[error("belljar has no server '{name}'{}", near.as_ref().map(|near| format!(": did you mean '{near}'?")).unwrap_or_default())]
    Unknown {
        /// The name.
        name: String,
        /// What was probably meant.
        near: Option<String>,
    },
    /// The server has no tool of this name.
    #[error("belljar's server '{server}' has no tool '{tool}': {instead}")]
    NoTool {
        /// The server.
        server: String,
        /// The name.
        tool: String,
        /// The nearest name, or some of the existing ones.
        instead: String,
    },
    /// The program has a namespace or function of the same name.
    #[error("'{name}' is the name of one of belljar's servers and of a namespace or function of yours: rename yours")]
    Taken {
        /// The name.
        name: String,
    },
}

impl OwnTools {
    /// All of belljar's own tools.
    pub fn all(toolbox: &Toolbox) -> Self {
        let whole = |name: &str| OwnServer { name: name.to_owned(), is_whole: true, named: BTreeSet::new() };
        Self { servers: toolbox.names().map(|names| whole(names.exact())).collect() }
    }

    /// The tools of these servers, and these single tools, each as `SERVER` or `SERVER.TOOL`.
    ///
    /// # Errors
    /// [`OwnToolsError::Unknown`], if belljar has no such server.
    pub fn some<'n>(toolbox: &Toolbox, which: impl IntoIterator<Item = &'n str>) -> Result<Self, OwnToolsError> {
        let mut wanted: BTreeMap<&str, (bool, BTreeSet<String>)> = BTreeMap::new();
        for path in which {
            let (server, tool) = path.split_once('.').map_or((path, None), |(server, tool)| (server, Some(tool)));
            let Some(server) = toolbox.exact_name(server) else {
                let near = nearest(server, toolbox.names().map(|names| names.exact())).map(str::to_owned);
                return Err(OwnToolsError::Unknown { name: shortened(server), near });
            };
            let (is_whole, named) = wanted.entry(server).or_default();
            match tool {
                None => *is_whole = true,
                Some(tool) => {
                    named.insert(tool.to_owned());
                }
            }
        }
        let server = |names: &Names| {
            let (is_whole, named) = wanted.remove(names.exact())?;
            Some(OwnServer { name: names.exact().to_owned(), is_whole, named })
        };
        Ok(Self { servers: toolbox.names().filter_map(server).collect() })
    }

    /// The same tools, if each that was named exists. A server is started if it was never seen with
    /// that tool. If it cannot be started, its tools stay as they were named, and a call reports
    /// why it fails.
    ///
    /// # Errors
    /// [`OwnToolsError::NoTool`], if a tool does not exist.
    ///
    /// # Cancellation
    /// Dropping the future changes nothing.
    pub async fn known(self, toolbox: &Toolbox) -> Result<Self, OwnToolsError> {
        let servers = self.servers.into_iter().map(async |server| {
            let named = match server.named.is_empty() {
                true => BTreeSet::new(),
                false => known_tools(&server.name, &server.named, toolbox).await?,
            };
            Ok(OwnServer { named, ..server })
        });
        let servers: Result<Vec<OwnServer>, OwnToolsError> = join_all(servers).await.into_iter().collect();
        Ok(Self { servers: servers? })
    }

    /// Checks that these tools and the program's functions can be in one run.
    ///
    /// # Errors
    /// [`OwnToolsError::Taken`], if they have a name in common.
    pub fn check_beside(&self, host: &HostTools, toolbox: &Toolbox) -> Result<(), OwnToolsError> {
        let own = toolbox.names().filter(|names| self.has(names.exact()));
        let taken =
            own.flat_map(|names| std::iter::once(names.exact()).chain(names.bound())).find(|name| host.takes(name));
        match taken {
            Some(name) => Err(OwnToolsError::Taken { name: name.to_owned() }),
            None => Ok(()),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.servers.is_empty()
    }

    /// The names of the servers.
    pub(crate) fn servers(&self) -> impl Iterator<Item = &str> {
        self.servers.iter().map(|server| server.name.as_str())
    }

    pub(super) fn has(&self, server: &str) -> bool {
        self.servers.iter().any(|own| own.name == server)
    }

    /// Whether a tool is one of these tools.
    pub(super) fn allows(&self, server: &str, tool: &str) -> bool {
        self.servers.iter().any(|own| own.name == server && (own.is_whole || own.named.contains(tool)))
    }

    /// Whether all tools of a server are among these tools.
    pub(super) fn allows_all_of(&self, server: &str) -> bool {
        self.servers.iter().any(|own| own.name == server && own.is_whole)
    }
}

/// The tools of a server that have these names, by their exact names.
async fn known_tools(
    server: &str,
    named: &BTreeSet<String>,
    toolbox: &Toolbox,
) -> Result<BTreeSet<String>, OwnToolsError> {
    let Some(position) = toolbox.position_of(server) else { return Ok(named.clone()) };
    let own_names = |catalog: &ServerCatalog| {
        let own_name = |name: &String| own_name(name, catalog, toolbox).ok_or_else(|| name.clone());
        named.iter().map(own_name).collect::<Result<BTreeSet<String>, String>>()
    };
    // If the tool is not in the kept list, the list may be older than the tool.
    if let Some(Ok(known)) = toolbox.known_already(position).await.map(|catalog| own_names(&catalog)) {
        return Ok(known);
    }
    let Some(Ok(catalog)) = toolbox.server(position).await else { return Ok(named.clone()) };
    own_names(&catalog).map_err(|tool| OwnToolsError::NoTool {
        server: server.to_owned(),
        instead: instead(&tool, catalog),
        tool: shortened(&tool),
    })
}

/// The exact name of the tool with this name. A tool that the owner's rules deny counts too: a
/// script that calls it gets an error that names the rule.
fn own_name(name: &str, catalog: &ServerCatalog, toolbox: &Toolbox) -> Option<String> {
    let is_called = |tool: &&Tool| tool.path().tool() == name || tool.names().bound().any(|bound| bound == name);
    let known = catalog.tools().iter().find(is_called).map(|tool| tool.path().tool().to_owned());
    known.or_else(|| toolbox.denied(&ToolPath::new(catalog.names().alias(), name)).map(|_| name.to_owned()))
}

/// What the program could have named instead.
fn instead(tool: &str, catalog: Arc<ServerCatalog>) -> String {
    let path = ToolPath::new(catalog.name(), tool).to_string();
    let names: Vec<String> = catalog.tools().iter().take(NAMED).map(|tool| tool.path().tool().to_owned()).collect();
    let more = catalog.tools().len().saturating_sub(names.len());
    let catalog = Catalog::new(vec![catalog]);
    match (catalog.nearest_tool(&path), names.is_empty(), more) {
        (Some(near), ..) => format!("did you mean '{}'?", near.path().tool()),
        (None, true, _) => "it has none".to_owned(),
        (None, false, 0) => format!("it has {}", names.join(", ")),
        (None, false, more) => format!("it has {} and {more} more", names.join(", ")),
    }
}

fn shortened(name: &str) -> String {
    name.chars().take(SHOWN).collect()
}
