//! The servers as they are configured: their names, where their calls go, and how calls of one
//! affect each other.

use std::{
    collections::BTreeMap,
    sync::{Arc, Weak},
};

use belljar_catalog::{Names, Tool};
use belljar_model::{Share, Sharing, ToolPath, Transport};
use sha2::{Digest as _, Sha256};

use super::{BoundServer, Toolbox};
use crate::{locks::ServerLock, routing::Routing};

impl Toolbox {
    /// How the script sees each server, in order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &Names> {
        self.servers.iter().map(|server| &server.names)
    }

    /// The configured name of the server at a position; empty where there is none.
    pub(crate) fn name_of(&self, server: usize) -> &str {
        self.servers.get(server).map(|server| server.names.exact()).unwrap_or_default()
    }

    /// The position of a server, by its configured name.
    pub(crate) fn position_of(&self, name: &str) -> Option<usize> {
        self.servers.iter().position(|server| server.names.exact() == name)
    }

    /// The configured name of the server with this name, in the configuration or in scripts.
    pub(crate) fn exact_name(&self, name: &str) -> Option<&str> {
        let exact = self.servers.iter().find(|server| server.names.exact() == name);
        exact.or_else(|| self.servers.iter().find(|server| server.is_called(name))).map(|server| server.names.exact())
    }

    /// The path of a known tool, by its exact name or a name that it has in scripts. `server` is
    /// the configured name.
    pub(crate) fn exact_tool(&self, server: &str, tool: &str) -> Option<ToolPath> {
        let server = self.servers.iter().find(|known| known.names.exact() == server)?;
        let catalog = server.last_known()?.catalog;
        let is_called = |known: &&Tool| known.path().tool() == tool || known.names().bound().any(|name| name == tool);
        catalog.tools().iter().find(is_called).map(|tool| tool.path().clone())
    }

    /// The positions of the servers that are named in `source`.
    pub(crate) fn mentioned(&self, source: &str) -> impl Iterator<Item = usize> {
        let is_mentioned =
            |server: &BoundServer| source.contains(server.names.exact()) || source.contains(server.names.alias());
        self.servers.iter().enumerate().filter(move |(_, server)| is_mentioned(server)).map(|(at, _)| at)
    }

    /// The projects of a server, by its configured name, if it has any.
    pub(crate) fn routing_of(&self, name: &str) -> Option<&Routing> {
        self.servers.iter().find(|server| server.names.exact() == name)?.routing.as_ref()
    }

    /// How calls at a server affect each other.
    pub(crate) fn sharing(&self, server: usize) -> Sharing {
        self.servers.get(server).map_or(Sharing::Free, |server| server.sharing)
    }

    /// The lock of the server at a position, or of a principal's instance of it.
    pub(crate) fn lock_of(&self, server: usize, principal: Option<&Arc<str>>) -> ServerLock {
        let Some(server) = self.servers.get(server) else { return ServerLock::default() };
        let Some(principal) = principal.filter(|_| server.share == Share::Principal) else {
            return server.lock.clone();
        };
        let mut locks = server.principals_locks.lock();
        if let Some(lock) = locks.get(principal).and_then(Weak::upgrade) {
            return lock;
        }
        locks.retain(|_, lock| lock.strong_count() > 0);
        let lock = ServerLock::default();
        locks.insert(principal.clone(), Arc::downgrade(&lock));
        lock
    }

    /// For each server, a digest of where its calls go: its configuration, and how it is started or
    /// reached.
    pub(crate) fn places(&self) -> BTreeMap<String, String> {
        let place = |server: &BoundServer| {
            let configured = match &server.transport {
                Transport::Stdio(command) => {
                    format!("{:?}", (&command.command, &command.args, &command.env, &command.cwd))
                }
                Transport::Http(endpoint) => format!("{:?}", (&endpoint.url, &endpoint.headers, &endpoint.proxy)),
                other => format!("{other:?}"),
            };
            let configured = match &server.routing {
                Some(routing) => format!("{configured}\n{:?}", routing.folders()),
                None => configured,
            };
            let digest: [u8; 32] = Sha256::digest(format!("{}\n{configured}", self.configuration)).into();
            let digest = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            (server.names.exact().to_owned(), digest)
        };
        self.servers.iter().map(place).collect()
    }
}
