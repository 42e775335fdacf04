//! The lists of the children's tools, and what is derived from each of them: it is derived again
//! when a list changes, and only then.

use std::{collections::BTreeMap, sync::Arc};

use belljar_catalog::{Answer, Catalog, Query, ServerCatalog, ServerState};
use belljar_model::{JsonText, Sharing, ToolDefinition, ToolPath, Transport, Verdict};
use belljar_policy::{Broken, Decision, ServerTools};
use belljar_upstream::StartError;
use futures::future::join_all;

use super::{BoundServer, Joined, Known, Toolbox};
use crate::{arguments::Checks, pins::Changed, skills::SKILLS, started};

impl Toolbox {
    /// Searches the tools of all children, or of the one that the query names. They are started if
    /// they are not running.
    pub async fn search(&self, query: &Query) -> Answer {
        self.catalog(query.server.as_deref()).await.search_with(query, &|path| self.observed(path))
    }

    /// The catalogue, after starting all children or `only` one. A child that cannot be started is
    /// in it with its reason.
    pub(crate) async fn catalog(&self, only: Option<&str>) -> Arc<Catalog> {
        self.catalog_where(|server| only.is_none_or(|name| server.is_called(name))).await
    }

    /// The same for several servers, or all if none is named, for callers that need all tools.
    pub async fn catalog_of(&self, servers: &[&str]) -> Arc<Catalog> {
        let is_named = |server: &BoundServer| servers.is_empty() || servers.iter().any(|name| server.is_called(name));
        self.catalog_where(is_named).await
    }

    async fn catalog_where(&self, is_named: impl Fn(&BoundServer) -> bool) -> Arc<Catalog> {
        let servers = self.servers.iter().map(async |server| {
            if is_named(server) {
                self.known_or_unavailable(server).await
            } else {
                let not_started = || Arc::new(ServerCatalog::not_started(server.names.clone()));
                server.last_known().map_or_else(not_started, |known| known.catalog)
            }
        });
        let servers = join_all(servers).await;
        let mut joined = self.joined.lock();
        let known = joined.catalog.servers();
        if !(known.len() == servers.len() && known.iter().zip(&servers).all(is_same)) {
            *joined = Joined { catalog: Arc::new(Catalog::new(servers)), lists: BTreeMap::new() };
        }
        joined.catalog.clone()
    }

    /// The list of `server`'s tools, or of all tools, in this catalogue. `list` makes it if it was
    /// not requested before.
    pub(crate) fn list(
        &self,
        catalog: &Arc<Catalog>,
        server: Option<&str>,
        list: impl FnOnce() -> JsonText,
    ) -> JsonText {
        let mut joined = self.joined.lock();
        if !Arc::ptr_eq(&joined.catalog, catalog) {
            return list();
        }
        joined.lists.entry(server.map(str::to_owned)).or_insert_with(list).clone()
    }

    /// What is known of a server without starting it: its list from this process, or from an
    /// earlier one.
    pub(crate) async fn known_already(&self, position: usize) -> Option<Arc<ServerCatalog>> {
        let server = self.servers.get(position)?;
        match server.last_known() {
            Some(known) => Some(known.catalog),
            // A server inside this process needs no start.
            None if matches!(server.transport, Transport::BuiltIn(_)) => self.known(server).await.ok(),
            None => {
                let tools = self.upstream.known_tools(server.names.exact()).await?;
                Some(self.known_by(server, tools).await)
            }
        }
    }

    /// The catalogue of one server, started if necessary.
    pub(crate) async fn server(&self, position: usize) -> Option<Result<Arc<ServerCatalog>, Arc<StartError>>> {
        let server = self.servers.get(position)?;
        Some(self.known(server).await)
    }

    /// What this process knows of a server.
    pub(crate) fn last_known(&self, position: usize) -> Option<Arc<ServerCatalog>> {
        self.servers.get(position)?.last_known().map(|known| known.catalog)
    }

    /// Makes sure that a server's list is current: the list on disk may be outdated. Returns
    /// whether it is. If the server cannot be started, the call that follows reports that.
    pub(crate) async fn look_again(&self, server: &str) -> bool {
        let Some(server) = self.servers.iter().find(|known| known.names.exact() == server) else { return false };
        if self.is_of_skills(server) {
            return self.known(server).await.is_ok();
        }
        self.upstream.start(server.names.exact()).await.is_ok() && self.known(server).await.is_ok()
    }

    /// The tools of a server that differ from their pins, if its list is known.
    pub(crate) fn changed_of(&self, server: &str) -> Option<Arc<Changed>> {
        let server = self.servers.iter().find(|known| known.names.exact() == server)?;
        server.last_known().map(|known| known.changed)
    }

    async fn known(&self, server: &BoundServer) -> Result<Arc<ServerCatalog>, Arc<StartError>> {
        let tools = match &self.skills {
            Some(skills) if server.names.exact() == SKILLS => skills.known().list(),
            _ => self.upstream.tools(server.names.exact()).await?,
        };
        Ok(self.known_by(server, tools).await)
    }

    pub(super) fn is_of_skills(&self, server: &BoundServer) -> bool {
        self.skills.is_some() && server.names.exact() == SKILLS
    }

    /// Derives what depends on this list of a server.
    async fn known_by(&self, server: &BoundServer, tools: Arc<Vec<ToolDefinition>>) -> Arc<ServerCatalog> {
        let is_known = server.last_known().is_some_and(|known| Arc::ptr_eq(&known.list, &tools));
        let changed = match is_known {
            true => Changed::default(),
            false => self.changed(server.names.exact(), tools.as_ref()).await,
        };
        let started_with = server.started_with.get_or_init(|| started::arguments(&server.transport)).await;
        let mut known = server.known.lock();
        match &*known {
            Some(known) if Arc::ptr_eq(&known.list, &tools) => known.catalog.clone(),
            _ => {
                let broken = Arc::new(self.broken(server, tools.as_ref()));
                let (seen, denied) = self.seen(server, tools.as_ref(), &broken);
                let catalog = ServerCatalog::ready(server.names.clone(), seen, &server.effects);
                let catalog = catalog.filtered(&self.filters.of_server(server.names.exact()));
                let is_shared = server.sharing != Sharing::Free;
                let catalog = if is_shared { catalog.sharing_state() } else { catalog };
                let catalog = if self.is_of_skills(server) { catalog.of_scripts() } else { catalog };
                let catalog = Arc::new(match &server.paths {
                    Some(rules) => catalog.within(&rules.roots, &rules.arguments),
                    None => catalog.started_with(started_with),
                });
                let (workers, observations) = (self.check_workers.clone(), self.observations.clone());
                let checks = Arc::new(Checks::new(catalog.clone(), workers, observations));
                let (judges, denied) = (Arc::default(), Arc::new(denied));
                *known = Some(Known {
                    list: tools,
                    catalog: catalog.clone(),
                    checks,
                    judges,
                    denied,
                    broken,
                    changed: Arc::new(changed),
                });
                catalog
            }
        }
    }

    /// The conditions of rules that make no sense with this list. The server may have changed since
    /// they were written. Its rules then fail closed, and those of other servers are unaffected.
    fn broken(&self, server: &BoundServer, tools: &[ToolDefinition]) -> Broken {
        let Some(rules) = &self.rules else { return Broken::default() };
        let name = server.names.exact();
        let (broken, problems) =
            rules.policy().broken(&ServerTools { name, effects: &server.effects, tools: Some(tools) });
        for problem in problems {
            tracing::warn!("the rules, {problem}; for {name}, the rule treats this condition as unknown");
        }
        broken
    }

    /// The tools that some caller may use, and those that nobody may.
    fn seen(
        &self,
        server: &BoundServer,
        tools: &[ToolDefinition],
        broken: &Broken,
    ) -> (Vec<ToolDefinition>, BTreeMap<String, Decision>) {
        let (mut seen, mut denied) = (Vec::with_capacity(tools.len()), BTreeMap::new());
        let Some(rules) = &self.rules else { return (tools.to_vec(), denied) };
        for tool in tools {
            let path = ToolPath::new(server.names.exact(), &tool.name);
            let decision =
                rules.policy().for_tool_but(&path, server.effects.trusted(tool), broken).decide_whatever(None);
            match decision.filter(|decision| decision.verdict == Verdict::Deny) {
                Some(decision) => {
                    denied.insert(tool.name.clone(), decision);
                }
                None => seen.push(tool.clone()),
            }
        }
        (seen, denied)
    }

    async fn known_or_unavailable(&self, server: &BoundServer) -> Arc<ServerCatalog> {
        self.known(server).await.unwrap_or_else(|fault| {
            let hint = fault.hint().unwrap_or_default();
            Arc::new(ServerCatalog::unavailable(server.names.clone(), &fault.reason(), &hint))
        })
    }
}

/// Whether two catalogues of one server are the same. A catalogue without tools is made anew each
/// time, so its state is compared.
fn is_same((one, other): (&Arc<ServerCatalog>, &Arc<ServerCatalog>)) -> bool {
    let without_tools = *one.state() != ServerState::Ready && one.state() == other.state();
    Arc::ptr_eq(one, other) || (without_tools && one.name() == other.name())
}
