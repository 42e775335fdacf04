//! The children and their tools.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Weak},
};

use belljar_catalog::{Answer, Catalog, Names, Observed, Query, ServerCatalog, ServerState, Tool, Words, namespaces};
use belljar_model::{
    Denial, Effect, EffectRules, JsonText, KeepSettings, PathRules, RunId, ServerSpec, Share, Sharing, ToolDefinition,
    ToolPath, Transport, TrustedEffect, Verdict,
};
use belljar_policy::{Broken, Decision, Policy, ServerTools, Suspicion, ToolPolicy, suspicions};
use belljar_upstream::{BuiltIns, Options, ServerStatus, StartError, Upstream};
use belljar_worker::WorkerProgram;
use cap_std::fs::Dir;
use futures::future::join_all;
use parking_lot::Mutex;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::{
    sync::{OnceCell, RwLock, Semaphore},
    time::timeout,
};

use crate::{
    approvals::Waiting,
    arguments::{CheckWorkers, Checks},
    artifacts::ArtifactStore,
    checked::LARGE_TREES,
    last_kept::LastKept,
    locks::ServerLock,
    observations::Observations,
    observer::Observer,
    pins::Changed,
    redacted::hides_in_answers,
    result_filters::{FilterRemark, ResultFilters},
    routing::Routing,
    rules::{Files, Rules, denial},
    skills::{SKILLS, Skills},
    started,
    told::{CLOSING, RunEvents, RunLedger, Told},
};

/// Each configured child: its names, its tools once they are known, and its connection.
pub struct Toolbox {
    upstream: Upstream,
    servers: Vec<BoundServer>,
    observations: Arc<Observations>,
    check_workers: Option<Arc<CheckWorkers>>,
    /// The catalogue that was requested last. What it has indexed is valid as long as no server
    /// changes.
    joined: Mutex<Joined>,
    large_trees: Arc<Semaphore>,
    told: Arc<Told>,
    rules: Option<Rules>,
    /// The file of the rules; pins are kept for it.
    rules_file: String,
    /// The digest of its configuration.
    configuration: String,
    /// Calls that wait for a decision of the owner.
    waiting: Arc<Waiting>,
    last_kept: LastKept,
    filters: ResultFilters,
    /// Where the artifacts of runs are kept.
    artifacts: Option<ArtifactStore>,
    /// The owner's scripts with names, which are the tools of the last server.
    skills: Option<Arc<Skills>>,
    /// How much scripts may keep for later runs.
    keep: KeepSettings,
}

#[derive(Default)]
struct Joined {
    catalog: Arc<Catalog>,
    /// Lists of its tools for scripts: of one server, or of all.
    lists: BTreeMap<Option<String>, JsonText>,
}

struct BoundServer {
    names: Names,
    effects: EffectRules,
    sharing: Sharing,
    paths: Option<PathRules>,
    routing: Option<Routing>,
    transport: Transport,
    /// Its start arguments that say where it works.
    started_with: OnceCell<Vec<started::Argument>>,
    share: Share,
    lock: ServerLock,
    /// The locks of principals' instances, as long as a run has one.
    principals_locks: Mutex<HashMap<Arc<str>, Weak<RwLock<()>>>>,
    known: Mutex<Option<Known>>,
}

impl BoundServer {
    /// Whether this is its name, in the configuration or in scripts.
    fn is_called(&self, name: &str) -> bool {
        self.names.exact() == name || self.names.alias() == name
    }

    fn last_known(&self) -> Option<Known> {
        self.known.lock().clone()
    }
}

/// What is derived from a tool list, and derived again when the list changes.
#[derive(Clone)]
struct Known {
    list: Arc<Vec<ToolDefinition>>,
    catalog: Arc<ServerCatalog>,
    checks: Arc<Checks>,
    /// What the rules say of each tool that was called.
    judges: Arc<Mutex<BTreeMap<String, Arc<ToolPolicy>>>>,
    /// The tools that are denied to every caller with any arguments: nobody sees them.
    denied: Arc<BTreeMap<String, Decision>>,
    /// The conditions of rules that make no sense with this list.
    broken: Arc<Broken>,
    /// The tools that differ from their pins.
    changed: Arc<Changed>,
}

impl Toolbox {
    /// A toolbox of `specs`, none of which is started yet.
    pub fn new(specs: Vec<ServerSpec>, built_ins: BuiltIns, options: Options) -> Self {
        let filters = ResultFilters::of(&specs);
        let exact: Vec<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
        let servers = namespaces(&exact)
            .into_iter()
            .zip(&specs)
            .map(|(names, spec)| BoundServer {
                names,
                effects: spec.effects.clone(),
                sharing: spec.sharing(),
                paths: spec.life.paths.clone(),
                routing: Routing::of(spec),
                transport: spec.transport.clone(),
                started_with: OnceCell::new(),
                share: spec.life.share,
                lock: ServerLock::default(),
                principals_locks: Mutex::default(),
                known: Mutex::default(),
            })
            .collect();
        Self {
            servers,
            upstream: Upstream::new(specs, built_ins, options),
            observations: Arc::new(Observations::default().with_filtered(filters.kept_as())),
            check_workers: None,
            joined: Mutex::default(),
            large_trees: Arc::new(Semaphore::new(LARGE_TREES)),
            told: Arc::default(),
            rules: None,
            rules_file: String::new(),
            configuration: String::new(),
            waiting: Arc::default(),
            last_kept: LastKept::default(),
            filters,
            artifacts: None,
            skills: None,
            keep: KeepSettings::default(),
        }
    }

    /// Sets how much scripts may keep for later runs.
    #[must_use]
    pub fn with_keep(mut self, keep: KeepSettings) -> Self {
        self.keep = keep;
        self
    }

    /// How much scripts may keep for later runs.
    pub(crate) fn keep(&self) -> &KeepSettings {
        &self.keep
    }

    /// Adds the owner's scripts with names, as the tools of one more server. They are found once a
    /// [`Gateway`](crate::Gateway) was made of this toolbox, whose engine reads them.
    #[must_use]
    pub fn with_skills(mut self, skills: Skills) -> Self {
        let mut exact: Vec<String> = self.servers.iter().map(|server| server.names.exact().to_owned()).collect();
        exact.push(SKILLS.to_owned());
        let exact: Vec<&str> = exact.iter().map(String::as_str).collect();
        let mut names = namespaces(&exact);
        if let Some(own) = names.pop() {
            // An exact name wins over an alias, so that of another server may change.
            self.servers.iter_mut().zip(names).for_each(|(server, names)| server.names = names);
            self.servers.push(BoundServer {
                names: own,
                effects: EffectRules::trusting(),
                sharing: Sharing::Free,
                paths: None,
                routing: None,
                transport: Transport::BuiltIn(SKILLS.to_owned()),
                started_with: OnceCell::new(),
                share: Share::default(),
                lock: ServerLock::default(),
                principals_locks: Mutex::default(),
                known: Mutex::default(),
            });
            self.skills = Some(Arc::new(skills));
        }
        self
    }

    /// The owner's scripts with names, if there may be some.
    pub(crate) fn skills(&self) -> Option<&Arc<Skills>> {
        self.skills.as_ref()
    }

    /// Whether there may be scripts with names.
    pub fn has_skills(&self) -> bool {
        self.skills.is_some()
    }

    /// Lets these rules of the owner judge every call. `specs` are those that the toolbox was made
    /// of.
    #[must_use]
    pub fn with_policy(mut self, policy: Arc<Policy>, specs: &[ServerSpec]) -> Self {
        self.rules = Some(Rules::new(policy, specs));
        self
    }

    /// The file of the rules: pins are kept for this file.
    #[must_use]
    pub fn with_rules_file(mut self, file: impl Into<String>) -> Self {
        self.rules_file = file.into();
        self
    }

    /// The configuration of these servers: a waiting run is resumed only with the same one.
    #[must_use]
    pub fn with_configuration(mut self, name: impl Into<String>) -> Self {
        self.configuration = name.into();
        self
    }

    /// A digest for each server of where its calls go: its configuration, and how it is started or
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

    pub(crate) fn configuration(&self) -> &str {
        &self.configuration
    }

    pub(crate) fn last_kept(&self) -> &LastKept {
        &self.last_kept
    }

    pub(crate) fn rules_file(&self) -> &str {
        &self.rules_file
    }

    /// The tools of a server that differ from their pins, if its list is known.
    pub(crate) fn changed_of(&self, server: &str) -> Option<Arc<Changed>> {
        let server = self.servers.iter().find(|known| known.names.exact() == server)?;
        server.last_known().map(|known| known.changed)
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

    /// The owner's rules, if there are any.
    pub fn policy(&self) -> Option<&Arc<Policy>> {
        self.rules.as_ref().map(Rules::policy)
    }

    /// What the rules say of calls of a tool, with the file system for them, or `None` if there are
    /// no rules.
    pub(crate) fn judge_of(&self, path: &ToolPath) -> Option<(Arc<ToolPolicy>, Files)> {
        let rules = self.rules.as_ref()?;
        let server = self.servers.iter().find(|server| server.names.exact() == path.server());
        let known = server.and_then(BoundServer::last_known);
        let judge = || {
            let effects = server.map(|server| &server.effects);
            let broken = known.as_ref().map(|known| known.broken.clone()).unwrap_or_default();
            let trusted = match self.is_skill(path) {
                true => skill_effect(),
                false => trusted(effects, known.as_ref(), path.tool()),
            };
            Arc::new(rules.policy().for_tool_but(path, trusted, &broken))
        };
        let judge = match &known {
            Some(known) => {
                let mut judges = known.judges.lock();
                judges.entry(path.tool().to_owned()).or_insert_with(judge).clone()
            }
            None => judge(),
        };
        Some((judge, rules.files()))
    }

    /// Why nobody sees this tool of a known server, by one of its names.
    pub(crate) fn denied(&self, path: &ToolPath) -> Option<Denial> {
        let is_named = |server: &&BoundServer| server.names.bound().any(|name| name == path.server());
        let server = self.servers.iter().find(is_named)?;
        let decision = server.last_known()?.denied.get(path.tool())?.clone();
        denial(&ToolPath::new(server.names.exact(), path.tool()), &decision)
    }

    /// Keeps the shapes of undeclared results in this folder, and loads those that it has.
    #[must_use]
    pub fn with_state_folder(mut self, folder: Dir) -> Self {
        self.observations = Arc::new(Observations::in_folder(folder).with_filtered(self.filters.kept_as()));
        self
    }

    /// Has this program check arguments that take more than a millisecond, as a worker process: it
    /// calls [`check_arguments`](crate::check_arguments). Without one, such arguments are left to
    /// the child, with a warning.
    #[must_use]
    pub fn with_check_worker(mut self, program: WorkerProgram) -> Self {
        self.check_workers = Some(Arc::new(CheckWorkers::new(program)));
        self
    }

    /// Has results that the configuration filters filtered by this program, as a worker process: it
    /// answers [`FilterQuestion`](crate::FilterQuestion)s. Without one, such results stay whole,
    /// and the logs of scripts say so.
    #[must_use]
    pub fn with_filter_worker(mut self, program: WorkerProgram) -> Self {
        self.filters = self.filters.with_worker(program);
        self
    }

    /// Keeps runs and calls in this ledger.
    #[must_use]
    pub fn with_ledger(mut self, ledger: RunLedger) -> Self {
        self.told = Arc::new(Told::with(ledger));
        self
    }

    /// Keeps artifacts here.
    #[must_use]
    pub fn with_artifacts(mut self, artifacts: ArtifactStore) -> Self {
        self.artifacts = Some(artifacts);
        self
    }

    /// Where artifacts are kept, if they are.
    pub fn artifacts(&self) -> Option<&ArtifactStore> {
        self.artifacts.as_ref()
    }

    /// The events of runs and children from now on. A slow listener loses some, and is told how
    /// many.
    pub fn events(&self) -> RunEvents {
        self.told.events(self.upstream.subscribe())
    }

    /// The runs that have begun and not ended.
    pub fn live_runs(&self) -> Vec<RunId> {
        self.told.live.all()
    }

    /// Where runs are kept, if they are.
    pub fn ledger(&self) -> Option<&RunLedger> {
        self.told.ledger.as_ref()
    }

    /// The waiters for the owner's decisions.
    pub(crate) fn waiting(&self) -> &Arc<Waiting> {
        &self.waiting
    }

    /// The digest of a tool's definition, if it is known.
    pub(crate) fn definition_digest(&self, path: &ToolPath) -> belljar_approvals::Digest {
        let server = self.servers.iter().find(|server| server.names.exact() == path.server());
        let known = server.and_then(BoundServer::last_known);
        let tool = known.as_ref().and_then(|known| known.catalog.tool(path.tool()));
        let definition = tool.and_then(|tool| serde_json::to_vec(tool.definition()).ok()).unwrap_or_default();
        belljar_approvals::digest(&definition)
    }

    /// The ledger and listeners that are told of runs.
    pub(crate) fn told(&self) -> &Arc<Told> {
        &self.told
    }

    /// The connections to the children.
    pub fn upstream(&self) -> &Upstream {
        &self.upstream
    }

    /// The state of each child, in the order of the configuration.
    pub fn status(&self) -> Vec<ServerStatus> {
        self.upstream.status()
    }

    /// Text in servers' tool definitions that addresses a model, as far as their lists are known.
    /// Starts nothing.
    pub async fn suspicions(&self) -> Vec<(ToolPath, Suspicion)> {
        let mut all = Vec::new();
        for server in &self.servers {
            let name = server.names.exact();
            for tool in self.upstream.known_tools(name).await.iter().flat_map(|tools| tools.iter()) {
                all.extend(suspicions(tool).into_iter().map(|found| (ToolPath::new(name, &tool.name), found)));
            }
        }
        all
    }

    /// The state of each child, with those findings.
    pub async fn seen_servers(&self) -> Value {
        let warnings = self.suspicions().await.into_iter().map(|(path, found)| {
            json!({ "server": path.server(), "tool": path.tool(), "place": found.place, "message": found.problem })
        });
        json!({ "servers": self.status(), "warnings": warnings.collect::<Vec<_>>() })
    }

    /// Stops all children, in less than five seconds.
    pub async fn shutdown(&self) {
        self.keep_observations(false).await;
        self.upstream.shutdown().await;
        self.keep_measures();
        if let Some(RunLedger { ledger, .. }) = &self.told.ledger
            && timeout(CLOSING, ledger.close()).await.is_err()
        {
            tracing::warn!("the ledger of runs did not close in time; the end of the last runs may be missing in it");
        }
    }

    /// Writes the observed shapes to the state folder, if there is one. With `only_news`, changed
    /// counts alone are left for later.
    pub(crate) async fn keep_observations(&self, only_news: bool) {
        let observations = self.observations.clone();
        // Most runs show nothing new, and need no thread for it.
        if !observations.has_unsaved(only_news) {
            return;
        }
        // A failed write has been logged, and a shutdown does not wait for one that panics.
        let _ = tokio::task::spawn_blocking(move || observations.save(only_news)).await;
    }

    /// Where to record the results of a tool's calls, or `None` if its server declares them.
    pub(crate) fn observer(&self, path: &ToolPath, arguments: &JsonText) -> Option<Observer> {
        let server = self.servers.iter().find(|server| server.names.exact() == path.server())?;
        if self.is_of_skills(server) {
            return None;
        }
        let is_declared = server.last_known()?.catalog.tool(path.tool())?.definition().output_schema.is_some();
        let observer =
            || Observer { observations: self.observations.clone(), path: path.clone(), words: Words::of(arguments) };
        (!is_declared).then(observer)
    }

    /// The answer of a call: in JSON where the tool wrote another notation, and filtered where the
    /// owner wants that. What else its author should know is in the remark. The observer is given
    /// back if the caller is to record what comes of it.
    ///
    /// # Cancellation
    /// Nothing is left behind.
    pub(crate) async fn taken(
        &self,
        path: &ToolPath,
        observer: Option<Observer>,
        raw: JsonText,
    ) -> (JsonText, Option<FilterRemark>, Option<Observer>) {
        let raw = match &observer {
            Some(observer) => observer.converted(raw).await,
            None => raw,
        };
        let (taken, remark) = self.filters.take(path, raw).await;
        let observer = observer.filter(|_| remark.is_none());
        (taken, remark, observer)
    }

    /// Whether anything in this tool's answers is left out of what is kept.
    pub(crate) fn hides_in_answers(&self, path: &ToolPath) -> bool {
        self.told.ledger.as_ref().is_none_or(|ledger| hides_in_answers(&ledger.redact, self, path))
    }

    /// What calls have shown of a tool's results.
    pub fn observed(&self, path: &ToolPath) -> Option<Arc<Observed>> {
        self.observations.of(path)
    }

    /// The positions of the servers that are named in `source`.
    pub(crate) fn mentioned(&self, source: &str) -> impl Iterator<Item = usize> {
        let is_mentioned =
            |server: &BoundServer| source.contains(server.names.exact()) || source.contains(server.names.alias());
        self.servers.iter().enumerate().filter(move |(_, server)| is_mentioned(server)).map(|(at, _)| at)
    }

    /// The position of a server, by its configured name.
    pub(crate) fn position_of(&self, name: &str) -> Option<usize> {
        self.servers.iter().position(|server| server.names.exact() == name)
    }

    /// The projects of a server, by its configured name, if it has some.
    pub(crate) fn routing_of(&self, name: &str) -> Option<&Routing> {
        self.servers.iter().find(|server| server.names.exact() == name)?.routing.as_ref()
    }

    /// The configured name of the server that is called so, in the configuration or in scripts.
    pub(crate) fn exact_name(&self, name: &str) -> Option<&str> {
        let exact = self.servers.iter().find(|server| server.names.exact() == name);
        exact.or_else(|| self.servers.iter().find(|server| server.is_called(name))).map(|server| server.names.exact())
    }

    /// The path of a tool that is known, by its name or one that it has in scripts. `server` is the
    /// configured name.
    pub(crate) fn exact_tool(&self, server: &str, tool: &str) -> Option<ToolPath> {
        let server = self.servers.iter().find(|known| known.names.exact() == server)?;
        let catalog = server.last_known()?.catalog;
        let is_called = |known: &&Tool| known.path().tool() == tool || known.names().bound().any(|name| name == tool);
        catalog.tools().iter().find(is_called).map(|tool| tool.path().clone())
    }

    /// The configured name of the server at a position; empty where there is none.
    pub(crate) fn name_of(&self, server: usize) -> &str {
        self.servers.get(server).map(|server| server.names.exact()).unwrap_or_default()
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

    /// The list of `server`'s tools, or of all, in this catalogue. `list` makes it if it was not
    /// requested before.
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

    /// The tool that a text names, of a server that is already known.
    pub(crate) fn signature_of_known(&self, expression: &str) -> Option<String> {
        let catalogs = self.servers.iter().filter_map(BoundServer::last_known).map(|known| known.catalog);
        Catalog::new(catalogs.collect()).lookup(expression).map(|tool| self.signature_of(tool))
    }

    /// How to ask a server for its folders, if it has a tool for that and its tools are known.
    pub(crate) fn lister_of_folders(&self, server: &str) -> Option<String> {
        let server = self.servers.iter().find(|known| known.names.exact() == server)?;
        Some(server.last_known()?.catalog.lister_of_folders()?.expression().to_owned())
    }

    /// A tool's signature on one line, with its observed result.
    pub(crate) fn signature_of(&self, tool: &Tool) -> String {
        tool.signature_with(self.observed(tool.path()).as_deref())
    }

    /// The check for arguments of a tool's calls, once its server's tools are known.
    pub(crate) fn checks(&self, path: &ToolPath) -> Option<Arc<Checks>> {
        let server = self.servers.iter().find(|server| server.names.exact() == path.server())?;
        server.last_known().map(|known| known.checks)
    }

    /// The checks for arguments of functions that a program serves.
    pub(crate) fn checks_of(&self, catalog: Arc<ServerCatalog>) -> Checks {
        Checks::new(catalog, self.check_workers.clone(), Arc::default())
    }

    /// The argument of a tool that gets belljar's key, if the owner has named one.
    pub(crate) fn key_argument(&self, path: &ToolPath) -> Option<&str> {
        let server = self.servers.iter().find(|server| server.names.exact() == path.server())?;
        server.effects.idempotency_keys.get(path.tool()).map(String::as_str)
    }

    /// The schemas of a known tool: of its arguments, and of its result if declared.
    pub(crate) fn schemas_of(&self, path: &ToolPath) -> Option<(Value, Option<Value>)> {
        let server = self.servers.iter().find(|server| server.names.exact() == path.server())?;
        let known = server.last_known()?;
        let definition = known.catalog.tool(path.tool())?.definition();
        let output = definition.output_schema.clone().map(Value::Object);
        Some((Value::Object(definition.input_schema.clone()), output))
    }

    /// Whether any schema of a known tool is like this.
    pub(crate) fn any_schema(&self, is_so: &dyn Fn(&Value) -> bool) -> bool {
        self.servers.iter().filter_map(|server| server.last_known()).any(|known| {
            known.catalog.tools().iter().any(|tool| {
                let definition = tool.definition();
                let schemas = [Some(&definition.input_schema), definition.output_schema.as_ref()];
                schemas.into_iter().flatten().any(|schema| is_so(&Value::Object(schema.clone())))
            })
        })
    }

    /// What a call of a tool may change, for decisions.
    pub(crate) fn trusted_effect_of(&self, path: &ToolPath) -> Effect {
        if self.is_skill(path) {
            return Effect::ReadOnly;
        }
        let known = || {
            let server = self.servers.iter().find(|server| server.names.exact() == path.server())?;
            Some(server.last_known()?.catalog.tool(path.tool())?.trusted_effect().effect())
        };
        known().unwrap_or(Effect::External)
    }

    /// Whether a call of this tool may be made twice: it changes nothing, the owner says that it is
    /// idempotent, or a key identifies it to its server.
    pub(crate) fn may_repeat(&self, path: &ToolPath) -> bool {
        let is_known_so = || {
            let server = self.servers.iter().find(|server| server.names.exact() == path.server())?;
            let trusted = server.last_known()?.catalog.tool(path.tool())?.trusted_effect();
            Some(trusted.effect() == Effect::ReadOnly || trusted.is_idempotent())
        };
        self.key_argument(path).is_some() || is_known_so().unwrap_or(false)
    }

    /// The permit for a large tree of arguments.
    pub(crate) fn large_trees(&self) -> Arc<Semaphore> {
        self.large_trees.clone()
    }

    /// How the script sees each server, in order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &Names> {
        self.servers.iter().map(|server| &server.names)
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

    async fn known(&self, server: &BoundServer) -> Result<Arc<ServerCatalog>, Arc<StartError>> {
        let tools = match &self.skills {
            Some(skills) if server.names.exact() == SKILLS => skills.known().list(),
            _ => self.upstream.tools(server.names.exact()).await?,
        };
        Ok(self.known_by(server, tools).await)
    }

    fn is_of_skills(&self, server: &BoundServer) -> bool {
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

    /// The conditions that make no sense with this list. The server may have changed since they
    /// were written: its rules fail closed, and those of other servers stay unchanged.
    fn broken(&self, server: &BoundServer, tools: &[ToolDefinition]) -> Broken {
        let Some(rules) = &self.rules else { return Broken::default() };
        let name = server.names.exact();
        let (broken, problems) =
            rules.policy().broken(&ServerTools { name, effects: &server.effects, tools: Some(tools) });
        for problem in problems {
            tracing::warn!("the rules, {problem}; for {name}, the rule takes this condition for unknown");
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

/// The trusted effect of a script with a name, also of one that is gone: each tool that it calls is
/// judged by itself.
fn skill_effect() -> TrustedEffect {
    let mut definition = ToolDefinition::unknown(SKILLS);
    definition.annotations.read_only = Some(true);
    EffectRules::trusting().trusted(&definition)
}

/// A tool's trusted effect, even if it is not in the known list.
fn trusted(effects: Option<&EffectRules>, known: Option<&Known>, tool: &str) -> TrustedEffect {
    let listed = known.and_then(|known| known.list.iter().find(|listed| listed.name == tool));
    let nothing_known = EffectRules::default();
    let effects = effects.unwrap_or(&nothing_known);
    match listed {
        Some(tool) => effects.trusted(tool),
        None => effects.trusted(&ToolDefinition::unknown(tool)),
    }
}

/// Whether two catalogues of one server are equal. One without tools is made anew each time.
fn is_same((one, other): (&Arc<ServerCatalog>, &Arc<ServerCatalog>)) -> bool {
    let without_tools = *one.state() != ServerState::Ready && one.state() == other.state();
    Arc::ptr_eq(one, other) || (without_tools && one.name() == other.name())
}
