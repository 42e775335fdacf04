//! The children and their tools.
//!
//! `built.rs` has the parts with which a toolbox is made, `servers.rs` the servers as they are
//! configured, `listed.rs` their tool lists and what is derived from each list, and `tools.rs` what
//! is known of one tool.

mod built;
mod listed;
mod servers;
mod tools;

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Weak},
};

use belljar_catalog::{Catalog, Names, ServerCatalog, namespaces};
use belljar_model::{
    EffectRules, JsonText, KeepSettings, PathRules, RunId, ServerSpec, Share, Sharing, ToolDefinition, Transport,
};
use belljar_policy::{Broken, Decision, Policy, ToolPolicy};
use belljar_upstream::{BuiltIns, Options, Reached, ServerStatus, Upstream};
use parking_lot::Mutex;
use serde_json::{Value, json};
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
    pins::Changed,
    result_filters::ResultFilters,
    routing::Routing,
    rules::Rules,
    skills::Skills,
    started,
    suspicious::Suspicious,
    told::{CLOSING, RunEvents, RunLedger, Told},
};

/// Each configured child: its names, its tools once they are known, and its connection.
pub struct Toolbox {
    upstream: Upstream,
    servers: Vec<BoundServer>,
    observations: Arc<Observations>,
    check_workers: Option<Arc<CheckWorkers>>,
    /// The catalogue that was requested last. Its indexes are valid as long as no server changes.
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
    /// The owner's named scripts, which are the tools of the last server.
    skills: Option<Arc<Skills>>,
    /// How much scripts may keep for later runs.
    keep: KeepSettings,
    /// How each server is reached, for its spans.
    reached: Arc<BTreeMap<String, Reached>>,
    suspicious: Suspicious,
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
    /// Its start arguments that show where it works.
    started_with: OnceCell<Vec<started::Argument>>,
    share: Share,
    lock: ServerLock,
    /// The locks of principals' instances, as long as a run uses one.
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
        let reached = specs.iter().map(|spec| (spec.name.clone(), Reached::of(&spec.transport))).collect();
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
            reached: Arc::new(reached),
            suspicious: Suspicious::default(),
        }
    }

    /// How much scripts may keep for later runs.
    pub(crate) fn keep(&self) -> &KeepSettings {
        &self.keep
    }

    /// The owner's named scripts, if there may be any.
    pub(crate) fn skills(&self) -> Option<&Arc<Skills>> {
        self.skills.as_ref()
    }

    /// Whether there may be named scripts.
    pub fn has_skills(&self) -> bool {
        self.skills.is_some()
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

    /// The owner's rules, if there are any.
    pub fn policy(&self) -> Option<&Arc<Policy>> {
        self.rules.as_ref().map(Rules::policy)
    }

    /// Where artifacts are kept, if they are.
    pub fn artifacts(&self) -> Option<&ArtifactStore> {
        self.artifacts.as_ref()
    }

    /// The events of runs and children from now on. A slow listener loses some, and is told how
    /// many.
    pub fn events(&self) -> RunEvents {
        self.told.events(self.upstream.subscribe(), &self.reached)
    }

    /// The same for a listener that needs only the events of runs whose traces are recorded. Other
    /// events cost nothing if nobody else listens.
    pub fn traced_events(&self) -> RunEvents {
        self.told.traced_events(self.upstream.subscribe(), &self.reached)
    }

    /// The runs that have begun and not ended.
    pub fn live_runs(&self) -> Vec<RunId> {
        self.told.live.all()
    }

    /// Cancels a live run for the owner, whoever started it, and returns whether there is such a
    /// run. It ends with an error of the kind `cancelled`, and so do its calls, which their servers
    /// may have carried out.
    pub fn cancel(&self, run: RunId) -> bool {
        self.told.live.cancel(run)
    }

    /// Where runs are kept, if they are.
    pub fn ledger(&self) -> Option<&RunLedger> {
        self.told.ledger.as_ref()
    }

    /// The waiters for the owner's decisions.
    pub(crate) fn waiting(&self) -> &Arc<Waiting> {
        &self.waiting
    }

    /// The ledger and listeners that are notified of runs.
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

    /// The state of each child, with the first warnings about text in tools' definitions that
    /// addresses a model, as far as the lists are known, and the number of further warnings. Starts
    /// nothing.
    pub async fn seen_servers(&self, most: usize) -> (Value, usize) {
        let (mut warnings, mut all) = (Vec::new(), 0);
        for server in &self.servers {
            let name = server.names.exact();
            let Some(tools) = self.upstream.known_tools(name).await else { continue };
            let found = self.suspicious.of(name, tools).await;
            all += found.len();
            let told = found.iter().take(most.saturating_sub(warnings.len())).map(
                |(tool, found)| json!({ "server": name, "tool": tool, "place": found.place, "message": found.problem }),
            );
            warnings.extend(told);
        }
        let more = all - warnings.len();
        (json!({ "servers": self.status(), "warnings": warnings }), more)
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

    /// The permit for a large tree of arguments.
    pub(crate) fn large_trees(&self) -> Arc<Semaphore> {
        self.large_trees.clone()
    }
}
