//! Which of belljar's own tools a run for a program gets.

use std::collections::{BTreeMap, BTreeSet};

use belljar_model::nearest;

use super::HostTools;
use crate::Toolbox;

/// belljar's own tools that a run gets. By default it gets none.
#[derive(Debug, Clone, Default)]
pub struct OwnTools {
    /// The servers in the order of the configuration, each with the tools that it is bounded to.
    servers: Vec<(String, Option<BTreeSet<String>>)>,
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
    /// The program has something of the same name.
    #[error("'{name}' is the name of one of belljar's servers and of a namespace or function of yours: rename yours")]
    Taken {
        /// The name.
        name: String,
    },
}

impl OwnTools {
    /// All of them.
    pub fn all(toolbox: &Toolbox) -> Self {
        Self { servers: toolbox.names().map(|names| (names.exact().to_owned(), None)).collect() }
    }

    /// Those of these servers, and these tools, each as `SERVER` or `SERVER.TOOL`.
    ///
    /// # Errors
    /// [`OwnToolsError::Unknown`]
    pub fn some<'n>(toolbox: &Toolbox, which: impl IntoIterator<Item = &'n str>) -> Result<Self, OwnToolsError> {
        let mut wanted: BTreeMap<&str, Option<BTreeSet<String>>> = BTreeMap::new();
        for path in which {
            let (server, tool) = path.split_once('.').map_or((path, None), |(server, tool)| (server, Some(tool)));
            let Some(server) = toolbox.exact_name(server) else {
                let near = nearest(server, toolbox.names().map(|names| names.exact())).map(str::to_owned);
                return Err(OwnToolsError::Unknown { name: server.chars().take(100).collect(), near });
            };
            match tool {
                None => {
                    wanted.insert(server, None);
                }
                Some(tool) => {
                    let tools = wanted.entry(server).or_insert_with(|| Some(BTreeSet::new()));
                    if let Some(tools) = tools {
                        tools.insert(tool.to_owned());
                    }
                }
            }
        }
        let servers = toolbox
            .names()
            .filter_map(|names| wanted.remove(names.exact()).map(|tools| (names.exact().to_owned(), tools)));
        Ok(Self { servers: servers.collect() })
    }

    /// Whether both can be in one run.
    ///
    /// # Errors
    /// [`OwnToolsError::Taken`]
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
        self.servers.iter().map(|(name, _)| name.as_str())
    }

    pub(super) fn has(&self, server: &str) -> bool {
        self.servers.iter().any(|(name, _)| name == server)
    }

    /// Whether a tool is one of them.
    pub(super) fn allows(&self, server: &str, tool: &str) -> bool {
        let bounded = self.servers.iter().find(|(name, _)| name == server);
        bounded.is_some_and(|(_, tools)| tools.as_ref().is_none_or(|tools| tools.contains(tool)))
    }

    /// Whether all tools of a server are among them.
    pub(super) fn allows_all_of(&self, server: &str) -> bool {
        self.servers.iter().any(|(name, tools)| name == server && tools.is_none())
    }
}
