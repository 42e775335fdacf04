//! The children and what they offer.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use belljar_catalog::{Answer, Catalog, Names, Query, ServerCatalog, namespaces};
use belljar_model::{Effect, ServerSpec, ToolDefinition, ToolPath};
use belljar_upstream::{BuiltIns, Options, ServerStatus, StartFault, Upstream};
use futures::future::join_all;

use crate::arguments::Checks;

/// Every configured child: its names, its tools once they are known, and its connection.
pub struct Toolbox {
    upstream: Upstream,
    servers: Vec<Server>,
}

struct Server {
    names: Names,
    effects: BTreeMap<String, Effect>,
    known: Mutex<Option<Known>>,
}

impl Server {
    fn last_known(&self) -> Option<Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// What is made of a tool list, and made anew when the list changes.
#[derive(Clone)]
struct Known {
    list: Arc<Vec<ToolDefinition>>,
    catalog: Arc<ServerCatalog>,
    checks: Arc<Checks>,
}

impl Toolbox {
    /// A toolbox of `specs`, none of which is started yet.
    pub fn new(specs: Vec<ServerSpec>, built_ins: BuiltIns, options: Options) -> Self {
        let exact: Vec<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
        let servers = namespaces(&exact)
            .into_iter()
            .zip(&specs)
            .map(|(names, spec)| Server { names, effects: spec.effects.clone(), known: Mutex::default() })
            .collect();
        Self { servers, upstream: Upstream::new(specs, built_ins, options) }
    }

    /// The connections to the children.
    pub fn upstream(&self) -> &Upstream {
        &self.upstream
    }

    /// The state of each child, in the order of the configuration.
    pub fn status(&self) -> Vec<ServerStatus> {
        self.upstream.status()
    }

    /// Stops all children, in less than five seconds.
    pub async fn shutdown(&self) {
        self.upstream.shutdown().await;
    }

    /// Starts, in the background, the children whose names stand in `source`.
    pub fn begin_mentioned(&self, source: &str) {
        for server in &self.servers {
            if source.contains(server.names.exact()) || source.contains(server.names.alias()) {
                self.upstream.begin(server.names.exact());
            }
        }
    }

    /// Searches the tools of all children, or of the one that the query names; they are started if they are not running.
    pub async fn search(&self, query: &Query) -> Answer {
        self.catalog(query.server.as_deref()).await.search(query)
    }

    /// The catalogue, after starting all children, or `only` one. A child that cannot be started is in it with its reason.
    pub(crate) async fn catalog(&self, only: Option<&str>) -> Catalog {
        let is_named =
            |server: &Server| only.is_none_or(|name| server.names.exact() == name || server.names.alias() == name);
        let servers = self.servers.iter().map(async |server| {
            if is_named(server) {
                self.known_or_fault(server).await
            } else {
                let not_started = || Arc::new(ServerCatalog::not_started(server.names.clone()));
                server.last_known().map_or_else(not_started, |known| known.catalog)
            }
        });
        Catalog::new(join_all(servers).await)
    }

    /// What checks the arguments of a tool's calls, once its server's tools are known.
    pub(crate) fn checks(&self, path: &ToolPath) -> Option<Arc<Checks>> {
        let server = self.servers.iter().find(|server| server.names.exact() == path.server())?;
        server.last_known().map(|known| known.checks)
    }

    /// How the script sees each server, in order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &Names> {
        self.servers.iter().map(|server| &server.names)
    }

    /// The catalogue of one server, started if need be.
    pub(crate) async fn server(&self, position: usize) -> Option<Result<Arc<ServerCatalog>, Arc<StartFault>>> {
        let server = self.servers.get(position)?;
        Some(self.known(server).await)
    }

    async fn known(&self, server: &Server) -> Result<Arc<ServerCatalog>, Arc<StartFault>> {
        let tools = self.upstream.tools(server.names.exact()).await?;
        let mut known = server.known.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some(known) if Arc::ptr_eq(&known.list, &tools) => Ok(known.catalog.clone()),
            _ => {
                let catalog = ServerCatalog::ready(server.names.clone(), tools.as_ref().clone(), &server.effects);
                let catalog = Arc::new(catalog);
                let checks = Arc::new(Checks::new(catalog.clone()));
                *known = Some(Known { list: tools, catalog: catalog.clone(), checks });
                Ok(catalog)
            }
        }
    }

    async fn known_or_fault(&self, server: &Server) -> Arc<ServerCatalog> {
        self.known(server).await.unwrap_or_else(|fault| {
            let hint = fault.hint().unwrap_or_default();
            Arc::new(ServerCatalog::unavailable(server.names.clone(), &fault.reason(), &hint))
        })
    }
}
