//! The generations of a long-running process, one for each reading of its configuration.
//!
//! A reload creates new children beside the existing ones. Runs that have begun continue with
//! theirs, which are stopped after the last of these runs. An invalid configuration changes
//! nothing.

use std::{
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use belljar_config::{DaemonSettings, HttpSettings};
use belljar_daemon::{
    DaemonError, codes,
    requests::{Live, Reloaded},
};
use belljar_engine::Engine;
use belljar_gateway::{RunLedger, Toolbox};
use belljar_hooks::Told;
use belljar_model::{Limits, RunId, RunsPatch};
use belljar_telemetry::{Gauges, Room, Telemetry};
use belljar_upstream::ClientAbilities;
use futures::{FutureExt as _, future::BoxFuture};
use parking_lot::{Mutex, MutexGuard};
use serde_json::value::to_raw_value;
use tokio::{sync::watch, task::JoinSet};
use tokio_util::sync::CancellationToken;

use super::{
    generation::Generation,
    local::Local,
    port::{Backend, Backends},
};
use crate::{
    approvals::Asking,
    arguments::ConfigArguments,
    artifacts::KeptArtifacts,
    failure::Failure,
    setup::{self, Loaded},
    traces,
};

/// All generations: the current one, and those that runs still use.
pub(crate) struct Generations {
    arguments: ConfigArguments,
    profile: Option<String>,
    engine: Engine,
    fixed: Fixed,
    state: Mutex<GenerationsState>,
    /// One reload at a time.
    reading: tokio::sync::Mutex<()>,
    over: CancellationToken,
    /// What hooks have told agents, under whichever configuration.
    told: Mutex<Told>,
    telemetry: Arc<Telemetry>,
    /// The last metrics, and when they were asked for.
    scraped: Mutex<Option<(Instant, String)>>,
}

/// How often metrics are collected at most, however often they are requested.
const SCRAPE_EVERY: Duration = Duration::from_secs(1);

struct GenerationsState {
    current: Generation,
    in_use: watch::Sender<()>,
    ending: JoinSet<()>,
    /// The tasks that listen to the runs of each generation, if telemetry is wanted.
    listening: Option<JoinSet<()>>,
    /// The toolboxes of the generations that are listened to.
    toolboxes: Toolboxes,
}

type Toolboxes = Arc<Mutex<Vec<Weak<Toolbox>>>>;

/// The runs of all generations that have begun but not ended.
fn live(toolboxes: &Toolboxes) -> Vec<RunId> {
    let mut toolboxes = toolboxes.lock();
    toolboxes.retain(|toolbox| toolbox.strong_count() > 0);
    toolboxes.iter().filter_map(Weak::upgrade).flat_map(|toolbox| toolbox.live_runs()).collect()
}

/// What a reload does not change: it belongs to the process.
#[derive(PartialEq)]
struct Fixed {
    runs: RunsPatch,
    daemon: DaemonSettings,
    http: HttpSettings,
}

impl Fixed {
    fn of(loaded: &Loaded) -> Self {
        let config = &loaded.config;
        Self { runs: config.runs.clone(), daemon: config.daemon.clone(), http: config.http.clone() }
    }

    /// The tables that differ.
    fn changed(&self, other: &Self) -> Vec<String> {
        let tables = [
            ("[runs]", self.runs != other.runs),
            ("[daemon]", self.daemon != other.daemon),
            ("[http]", self.http != other.http),
        ];
        tables.into_iter().filter(|(_, is_changed)| *is_changed).map(|(name, _)| name.to_owned()).collect()
    }
}

impl Generations {
    /// The first generation. `profile` is the owner's name for this entry.
    pub(crate) async fn begin(
        loaded: Loaded,
        arguments: ConfigArguments,
        profile: Option<String>,
    ) -> Result<Self, Failure> {
        let fixed = Fixed::of(&loaded);
        let engine = setup::engine(&loaded.config.runs).await?;
        let (current, in_use) = Generation::new(loaded, engine.clone(), profile.as_deref());
        Ok(Self {
            arguments,
            profile,
            engine,
            fixed,
            state: Mutex::new(GenerationsState {
                current,
                in_use,
                ending: JoinSet::new(),
                listening: None,
                toolboxes: Toolboxes::default(),
            }),
            reading: tokio::sync::Mutex::default(),
            over: CancellationToken::new(),
            told: Mutex::default(),
            telemetry: Arc::default(),
            scraped: Mutex::default(),
        })
    }

    /// Starts to count what runs do.
    pub(crate) fn begin_telemetry(&self) {
        let mut state = self.state();
        state.listening.get_or_insert_with(JoinSet::new);
        state.listen(&self.telemetry);
    }

    /// What is known about the runs of this process.
    pub(crate) fn telemetry(&self) -> &Arc<Telemetry> {
        &self.telemetry
    }

    /// Where runs are kept, if they are.
    pub(crate) fn ledger(&self) -> Option<RunLedger> {
        self.current().setup.toolbox.ledger().cloned()
    }

    /// The limits of a run that asks for none.
    pub(crate) fn limits(&self) -> Limits {
        self.current().setup.limits.clone()
    }

    /// The metrics as they are now, or were a moment ago.
    pub(crate) async fn metrics(&self) -> String {
        let known = self.scraped.lock().clone();
        if let Some((_, text)) = known.filter(|(at, _)| at.elapsed() < SCRAPE_EVERY) {
            return text;
        }
        let toolbox = self.current().setup.toolbox.clone();
        let approvals = match toolbox.ledger() {
            Some(kept) => kept.ledger.waiting_questions().await.ok(),
            None => None,
        };
        let toolboxes = self.state().toolboxes.clone();
        let room = self.engine.load().map(|load| Room {
            slots: (load.slots, load.taken_slots),
            memory: (load.memory.as_u64(), load.taken_memory.as_u64()),
        });
        let (children, live, spans) = (toolbox.status(), live(&toolboxes), traces::counts());
        let gauges = Gauges { children, approvals, live, room, resident: resident_memory(), spans };
        let text = self.telemetry.metrics(&gauges);
        *self.scraped.lock() = Some((Instant::now(), text.clone()));
        text
    }

    /// What runs are doing now, from the same events as the metrics and the page.
    pub(crate) async fn live(&self, run: Option<RunId>) -> Result<Live, DaemonError> {
        self.telemetry.watch_runs();
        let toolbox = self.current().setup.toolbox.clone();
        let waiting = match toolbox.ledger() {
            Some(kept) => kept.ledger.waiting_questions().await.ok(),
            None => None,
        };
        let raw = |error| DaemonError::new(codes::INTERNAL, format!("the answer is not JSON: {error}"));
        let run = run.and_then(|run| self.telemetry.run(run)).map(|run| to_raw_value(&run)).transpose().map_err(raw)?;
        let runs = to_raw_value(&self.telemetry.runs()).map_err(raw)?;
        let children = to_raw_value(&toolbox.status()).map_err(raw)?;
        Ok(Live { runs, run, children, waiting })
    }

    /// Whether a run has begun and not ended, in any generation of this process.
    pub(crate) fn is_live(&self, run: RunId) -> bool {
        let toolboxes = self.state().toolboxes.clone();
        live(&toolboxes).contains(&run)
    }

    /// Cancels a live run of any generation, and returns whether there is one with this name.
    pub(crate) fn cancel(&self, run: RunId) -> bool {
        let toolboxes = self.state().toolboxes.clone();
        toolboxes.lock().iter().filter_map(Weak::upgrade).any(|toolbox| toolbox.cancel(run))
    }

    /// The generation for a request that begins now.
    pub(crate) fn current(&self) -> Generation {
        self.state().current.clone()
    }

    /// Starts the servers that the owner wants warm.
    pub(crate) fn begin_warm(&self) {
        self.state().current.setup.toolbox.upstream().begin_warm();
    }

    /// Reads the configuration again, for all later requests.
    pub(crate) async fn reload(&self) -> Result<Reloaded, Failure> {
        let _one = self.reading.lock().await;
        let arguments = self.arguments.clone();
        let read = tokio::task::spawn_blocking(move || setup::read_to_call(&arguments)).await;
        let loaded = read.map_err(|error| Failure::internal(format!("reading it failed: {error}")))??;
        let servers = loaded.config.servers.len();
        let need_restart = self.fixed.changed(&Fixed::of(&loaded));
        let (current, in_use) = Generation::new(loaded, self.engine.clone(), self.profile.as_deref());
        current.setup.toolbox.upstream().begin_warm();
        let over = self.over.clone();
        let mut state = self.state();
        // Removes the tasks that have ended.
        while state.ending.try_join_next().is_some() {}
        let toolbox = std::mem::replace(&mut state.current, current).setup.toolbox.clone();
        state.listen(&self.telemetry);
        let used = std::mem::replace(&mut state.in_use, in_use);
        state.ending.spawn(async move {
            tokio::select! {
                () = used.closed() => {}
                () = over.cancelled() => {}
            }
            toolbox.shutdown().await;
        });
        Ok(Reloaded { servers, need_restart })
    }

    /// Stops all children, including those that runs still use.
    pub(crate) async fn shutdown(&self) {
        self.over.cancel();
        let (setup, mut ending) = {
            let mut state = self.state();
            (state.current.setup.clone(), std::mem::take(&mut state.ending))
        };
        setup.toolbox.shutdown().await;
        setup.told.close().await;
        while ending.join_next().await.is_some() {}
    }

    /// Whether a hook says this for the first time. From then on it counts as said.
    pub(super) fn is_said_first(&self, key: u64) -> bool {
        self.told.lock().is_first(key)
    }

    fn state(&self) -> MutexGuard<'_, GenerationsState> {
        self.state.lock()
    }
}

/// The resident memory of this process, if the system reports it.
fn resident_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kib: u64 =
        status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?.split_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1024)
}

impl GenerationsState {
    /// Listens to the runs of the current generation, if telemetry is wanted. The task ends with
    /// the generation's events.
    fn listen(&mut self, telemetry: &Arc<Telemetry>) {
        if let Some(listening) = &mut self.listening {
            while listening.try_join_next().is_some() {}
            let (toolbox, all) = (&self.current.setup.toolbox, self.toolboxes.clone());
            all.lock().push(Arc::downgrade(toolbox));
            listening.spawn(telemetry.clone().listen_among(toolbox.events(), move || live(&all)));
        }
    }
}

impl Backends for Generations {
    /// A request keeps the servers that it began with alive until it ends.
    fn backend(&self) -> BoxFuture<'_, Result<Box<dyn Backend>, Failure>> {
        std::future::ready(Ok(Box::new(Local::of(self.current())) as Box<dyn Backend>)).boxed()
    }

    fn instructions(&self) -> Arc<str> {
        self.state().current.instructions.clone()
    }

    fn asking(&self) -> Asking {
        self.state().current.asking.clone()
    }

    fn artifacts(&self) -> Option<KeptArtifacts> {
        self.state().current.artifacts.clone()
    }

    fn longest(&self) -> Duration {
        self.state().current.setup.limits.timeout
    }

    fn is_heard_meanwhile(&self) -> bool {
        true
    }

    fn set_client_abilities(&self, abilities: ClientAbilities) {
        self.state().current.setup.toolbox.upstream().set_client_abilities(abilities);
    }

    fn reload(&self) -> BoxFuture<'_, Result<Option<Reloaded>, Failure>> {
        Self::reload(self).map(|reloaded| reloaded.map(Some)).boxed()
    }

    fn shutdown(&self) -> BoxFuture<'_, ()> {
        Self::shutdown(self).boxed()
    }
}
