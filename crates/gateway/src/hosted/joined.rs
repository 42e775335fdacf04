//! A program's functions, followed by belljar's own tools, in the form that the sandbox uses.

use std::{future::pending, panic::resume_unwind, sync::Arc, time::Duration};

use belljar_catalog::{Catalog, ServerCatalog, script_answers};
use belljar_model::{EffectRules, JsonText, RunStep, ToolPath};
use belljar_sandbox::{
    AnswerRoom, CallError, Directory, Finding, Function, GrantedTool, Namespace, PlannedCall, PlannedCalls, Tools,
    Unavailable,
};
use futures::{FutureExt as _, future::BoxFuture};
use parking_lot::Mutex;
use tokio::task::spawn_blocking;

use super::HostedRun;
use crate::{Toolbox, grant::Grant};

/// The tools of a run for a program.
pub(crate) struct Joined {
    run: HostedRun,
    toolbox: Arc<Toolbox>,
    /// Its namespaces are the servers of `run.own`, in their order.
    grant: Arc<Grant>,
    found: Mutex<Option<Found>>,
}

/// What the script can find. Its first search makes an index of all words, so it is kept.
struct Found {
    /// What belljar's own servers had when it was made.
    own: Vec<Arc<ServerCatalog>>,
    catalog: Arc<Catalog>,
}

impl Joined {
    pub(crate) fn new(run: HostedRun, toolbox: Arc<Toolbox>, grant: Arc<Grant>) -> Self {
        Self { run, toolbox, grant, found: Mutex::default() }
    }

    /// Whether belljar's own servers have this tool, and the run may call it.
    fn is_own(&self, path: &ToolPath) -> bool {
        !self.run.tools.has(path.server()) && (path.is_lock() || self.run.own.allows(path.server(), path.tool()))
    }

    /// The position of a namespace among belljar's own.
    fn own(&self, namespace: usize) -> Option<usize> {
        namespace.checked_sub(self.run.tools.count())
    }

    fn called(
        &self,
        tool: &GrantedTool,
        arguments: JsonText,
        limit: Duration,
        room: Option<AnswerRoom>,
    ) -> BoxFuture<'static, Result<JsonText, CallError>> {
        self.run.tools.call(&self.run.functions, &tool.path, arguments, limit, room)
    }

    /// Everything that the script can find. This starts belljar's own servers that the run may
    /// call.
    async fn catalog(&self) -> Arc<Catalog> {
        let own = match self.run.own.is_empty() {
            true => Vec::new(),
            false => {
                let names: Vec<&str> = self.run.own.servers().collect();
                let known = self.toolbox.catalog_of(&names).await;
                known.servers().iter().filter(|server| self.run.own.has(server.name())).cloned().collect()
            }
        };
        found_among(&self.found, own, |own| {
            let own = own.iter().map(|server| {
                if self.run.own.allows_all_of(server.name()) { server.clone() } else { self.bounded(server) }
            });
            self.run.tools.catalogs().cloned().chain(own).collect()
        })
    }

    /// The tools of a server that the run may call.
    fn bounded(&self, server: &ServerCatalog) -> Arc<ServerCatalog> {
        let allowed = || server.tools().iter().filter(|tool| self.run.own.allows(server.name(), tool.path().tool()));
        let mut effects = EffectRules::default();
        effects.declared.extend(allowed().map(|tool| (tool.path().tool().to_owned(), tool.effect())));
        let definitions = allowed().map(|tool| tool.definition().clone()).collect();
        Arc::new(ServerCatalog::ready(server.names().clone(), definitions, &effects))
    }

    /// What is known about a call of the program's functions before the script runs.
    fn foreseen(&self, call: &PlannedCall) -> Finding {
        // A prelude may add functions of its own.
        let directory = self.run.tools.directory(call.server).filter(|_| self.run.prelude.is_none());
        match directory {
            Some(known) if known.properties().all(|(name, _)| name != call.tool) => {
                Finding::NoSuchTool { certain: true }
            }
            _ => Finding::Nothing,
        }
    }
}

/// The catalogue that was made before, if belljar's own servers still have the same tools;
/// otherwise a new one.
fn found_among(
    found: &Mutex<Option<Found>>,
    own: Vec<Arc<ServerCatalog>>,
    servers: impl FnOnce(&[Arc<ServerCatalog>]) -> Vec<Arc<ServerCatalog>>,
) -> Arc<Catalog> {
    let mut found = found.lock();
    let is_same = |known: &&Found| {
        known.own.len() == own.len() && known.own.iter().zip(&own).all(|(known, own)| Arc::ptr_eq(known, own))
    };
    if let Some(known) = found.as_ref().filter(is_same) {
        return known.catalog.clone();
    }
    let catalog = Arc::new(Catalog::new(servers(&own)));
    *found = Some(Found { own, catalog: catalog.clone() });
    catalog
}

impl Tools for Joined {
    fn namespaces(&self) -> Vec<Namespace> {
        let own = self.toolbox.names().filter(|names| self.run.own.has(names.exact()));
        let own = own.map(|names| Namespace::new(names.exact(), names.bound().map(str::to_owned).collect()));
        self.run.tools.namespaces().cloned().chain(own).collect()
    }

    fn functions(&self) -> Vec<Function> {
        self.run.tools.functions().to_vec()
    }

    fn directory(&self, namespace: usize) -> BoxFuture<'_, Result<Arc<Directory>, Unavailable>> {
        async move {
            let Some(own) = self.own(namespace) else {
                let directory = self.run.tools.directory(namespace).cloned();
                return directory.ok_or_else(|| Unavailable { reason: format!("there is no namespace {namespace}") });
            };
            let directory = self.grant.directory(own).await?;
            let is_whole = directory.properties().all(|(_, tool)| self.is_own(&tool.path));
            if is_whole {
                return Ok(directory);
            }
            let allowed = directory.properties().filter(|(_, tool)| self.is_own(&tool.path));
            Ok(Arc::new(Directory::new(allowed.map(|(name, tool)| (name.to_owned(), tool.clone())))))
        }
        .boxed()
    }

    fn call(
        &self,
        tool: &GrantedTool,
        arguments: JsonText,
        limit: Duration,
    ) -> BoxFuture<'static, Result<JsonText, CallError>> {
        if self.is_own(&tool.path) {
            return self.grant.call(tool, arguments, limit);
        }
        self.called(tool, arguments, limit, None)
    }

    fn begin(
        &self,
        number: u64,
        tool: &GrantedTool,
        arguments: JsonText,
        limit: Duration,
        room: AnswerRoom,
    ) -> BoxFuture<'static, Result<JsonText, CallError>> {
        if self.is_own(&tool.path) {
            return self.grant.begin(number, tool, arguments, limit, room);
        }
        self.called(tool, arguments, limit, Some(room))
    }

    fn announce(&self, number: u64, tool: &GrantedTool) -> Box<dyn Send> {
        if self.is_own(&tool.path) { self.grant.announce(number, tool) } else { Box::new(()) }
    }

    fn handing_over(&self, number: u64, tool: &ToolPath, answer: Result<&JsonText, &CallError>) {
        if self.is_own(tool) {
            self.grant.handing_over(number, tool, answer);
        }
    }

    fn observe(&self, step: RunStep) {
        self.grant.observe(step);
    }

    fn is_watched(&self) -> bool {
        self.grant.is_watched()
    }

    fn list(&self, server: Option<String>) -> BoxFuture<'_, Result<JsonText, String>> {
        async move {
            let catalog = self.catalog().await;
            let listed = match &server {
                None => script_answers::listed(catalog.tools()),
                Some(name) => match catalog.server(name).or_else(|| catalog.namespace(name)) {
                    Some(server) => script_answers::listed(server.tools().iter()),
                    None => return Err(script_answers::no_such_server(&catalog, name)),
                },
            };
            Ok(JsonText::from_value(&listed))
        }
        .boxed()
    }

    fn search(&self, query: String, limit: usize) -> BoxFuture<'_, JsonText> {
        async move {
            let catalog = self.catalog().await;
            // The first search over thousands of functions takes a while.
            let searched = spawn_blocking(move || {
                let answer = catalog.search(&script_answers::question(query, limit));
                JsonText::from_value(&script_answers::found(&answer))
            });
            match searched.await {
                Ok(answer) => answer,
                Err(error) => match error.try_into_panic() {
                    // A panic ends only this run.
                    Ok(panic) => resume_unwind(panic),
                    // The runtime is ending, and this future with it.
                    Err(_) => pending().await,
                },
            }
        }
        .boxed()
    }

    fn describe(&self, path: String) -> BoxFuture<'_, Result<JsonText, String>> {
        async move {
            let catalog = self.catalog().await;
            match catalog.lookup(&path) {
                Some(tool) => {
                    let described = script_answers::described(tool, None);
                    let is_own = self.is_own(tool.path());
                    let described = if is_own { self.grant.with_script(tool.path(), described) } else { described };
                    Ok(JsonText::from_value(&described))
                }
                None => Err(script_answers::no_such_tool(&catalog, &path, |near| near.signature().to_owned())),
            }
        }
        .boxed()
    }

    fn route(&self, server: String, words: Option<String>) -> BoxFuture<'_, Result<JsonText, String>> {
        match self.toolbox.exact_name(&server).is_some_and(|name| self.run.own.has(name)) {
            true => self.grant.route(server, words),
            false => std::future::ready(Err(format!("there is nothing to choose: '{server}' has no projects"))).boxed(),
        }
    }

    fn plan(&self, calls: PlannedCalls) -> BoxFuture<'_, Vec<Finding>> {
        async move {
            let PlannedCalls { calls, more, others } = calls;
            let mut findings: Vec<Finding> = calls.iter().map(|call| self.foreseen(call)).collect();
            let (places, own): (Vec<usize>, Vec<PlannedCall>) = calls
                .into_iter()
                .enumerate()
                .filter_map(|(at, call)| Some((at, PlannedCall { server: self.own(call.server)?, ..call })))
                .unzip();
            if !own.is_empty() {
                let found = self.grant.plan(PlannedCalls { calls: own, more, others }).await;
                for (at, finding) in places.into_iter().zip(found) {
                    if let Some(place) = findings.get_mut(at) {
                        *place = finding;
                    }
                }
            }
            findings
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests {
    use belljar_catalog::namespaces;
    use belljar_model::ToolDefinition;

    use super::*;

    #[test]
    fn the_index_of_words_is_made_again_only_when_belljars_own_servers_have_changed() {
        let server = |tool: &str| {
            let names = namespaces(&["own"]).remove(0);
            Arc::new(ServerCatalog::ready(names, vec![ToolDefinition::unknown(tool)], &EffectRules::default()))
        };
        let (found, first, second) = (Mutex::default(), server("one"), server("two"));
        let catalog_with = |own: &Arc<ServerCatalog>| found_among(&found, vec![own.clone()], <[_]>::to_vec);
        let catalog = catalog_with(&first);
        assert!(Arc::ptr_eq(&catalog, &catalog_with(&first)), "a second search uses the first one's index");
        let changed = catalog_with(&second);
        assert!(!Arc::ptr_eq(&catalog, &changed));
        assert_eq!(changed.tools().map(|tool| tool.path().tool()).collect::<Vec<_>>(), ["two"]);
        assert!(Arc::ptr_eq(&changed, &catalog_with(&second)));
        assert!(!Arc::ptr_eq(&changed, &found_among(&found, Vec::new(), <[_]>::to_vec)), "one is gone");
    }
}
