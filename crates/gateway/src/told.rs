//! The ledger and the listeners, which are notified of all runs.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use belljar_ledger::Ledger;
use belljar_model::{ByteSize, LedgerLevel, RedactRule, RunEvent, RunId};
use belljar_upstream::{Reached, ServerStatus};
use tokio::{
    sync::broadcast::{
        self,
        error::{RecvError, TryRecvError},
    },
    time::sleep,
};

use crate::{live_runs::LiveRuns, traced::Sampling};

/// How many events a slow listener may be behind. It loses older ones, and is told how many it
/// lost.
const EVENTS: usize = 2048;

/// How often listeners look for events while runs go on. Waking them for each event would cost a
/// run a quarter of a call.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// How long they keep looking after the last event.
const LINGER: Duration = Duration::from_millis(50);

/// How long closing a ledger may take.
pub(crate) const CLOSING: Duration = Duration::from_secs(5);

/// Where runs are kept.
#[derive(Clone)]
pub struct RunLedger {
    /// The ledger.
    pub ledger: Arc<dyn Ledger>,
    /// Whether a ledger is required: without it nothing runs, and nothing that may change something
    /// is called.
    pub required: bool,
    /// How much is kept of a run, unless its owner asks for something else.
    pub level: LedgerLevel,
    /// How many bytes the recording of a run may have, where recordings are kept.
    pub max_recording: ByteSize,
    /// What is left out of recordings.
    pub redact: Arc<[RedactRule]>,
}

/// How each configured server is reached.
type Servers = BTreeMap<String, Reached>;

/// The ledger and the listeners, which are notified of runs.
#[derive(Clone)]
pub(crate) struct Told {
    pub(crate) ledger: Option<RunLedger>,
    /// Which runs are traced, if any are.
    pub(crate) sampling: Option<Arc<dyn Sampling>>,
    events: broadcast::Sender<RunEvent>,
    listeners: Arc<AtomicUsize>,
    /// Listeners that need only runs whose traces are recorded.
    tracers: Arc<AtomicUsize>,
    pub(crate) live: Arc<LiveRuns>,
}

impl Default for Told {
    fn default() -> Self {
        let events = broadcast::channel(EVENTS).0;
        let (listeners, tracers, live) = (Arc::default(), Arc::default(), Arc::default());
        Self { ledger: None, sampling: None, events, listeners, tracers, live }
    }
}

impl Told {
    /// Notifies nobody, for what looks like a run but is not one.
    pub(crate) fn silent() -> Arc<Self> {
        Arc::new(Self { events: broadcast::channel(1).0, ..Self::default() })
    }

    /// The events from now on, with the changes of state of these children.
    pub(crate) fn events(&self, children: broadcast::Receiver<ServerStatus>, servers: &Arc<Servers>) -> RunEvents {
        self.heard_by(&self.listeners, children, servers)
    }

    /// The same for a listener that needs only the events of recorded traces. It hears of other
    /// runs only while somebody else listens to them.
    pub(crate) fn traced_events(
        &self,
        children: broadcast::Receiver<ServerStatus>,
        servers: &Arc<Servers>,
    ) -> RunEvents {
        self.heard_by(&self.tracers, children, servers)
    }

    fn heard_by(
        &self,
        listeners: &Arc<AtomicUsize>,
        children: broadcast::Receiver<ServerStatus>,
        servers: &Arc<Servers>,
    ) -> RunEvents {
        let listening = Listening::count(listeners);
        let (events, live, servers) = (self.events.subscribe(), self.live.clone(), servers.clone());
        RunEvents { events, children: Some(children), live, servers, heard: None, _listening: listening }
    }

    /// Whether anybody listens to a run. This is checked several times for each call, and the
    /// channel's own count would take a lock that all runs share.
    pub(crate) fn is_heard(&self, is_recorded: bool) -> bool {
        self.listeners.load(Relaxed) > 0 || (is_recorded && self.tracers.load(Relaxed) > 0)
    }

    /// Sends an event to the listeners.
    pub(crate) fn send(&self, event: RunEvent) {
        // The last of them may have gone meanwhile.
        let _ = self.events.send(event);
    }
}

/// The events of runs and children, for a listener that may be slow.
pub struct RunEvents {
    events: broadcast::Receiver<RunEvent>,
    /// `None` once there are no more children.
    children: Option<broadcast::Receiver<ServerStatus>>,
    live: Arc<LiveRuns>,
    servers: Arc<Servers>,
    /// When the last event of a run came.
    heard: Option<Instant>,
    _listening: Listening,
}

/// Counts as one listener until it is dropped.
struct Listening(Arc<AtomicUsize>);

impl Listening {
    fn count(listeners: &Arc<AtomicUsize>) -> Self {
        listeners.fetch_add(1, Relaxed);
        Self(listeners.clone())
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

/// What a listener gets.
#[derive(Debug, Clone, PartialEq)]
pub enum Watched {
    /// An event of a run.
    Event(RunEvent),
    /// A child changed its state.
    Child(ServerStatus),
    /// This many events were lost here, because the listener was slower than the runs.
    Lost(u64),
}

impl RunEvents {
    /// The next event, some milliseconds after it happened, or `None` if there will be no more
    /// runs.
    ///
    /// # Cancellation
    /// Nothing is lost.
    pub async fn next(&mut self) -> Option<Watched> {
        loop {
            let is_lively = self.heard.is_some_and(|heard| heard.elapsed() < LINGER);
            if let Some(came) = self.waiting() {
                return came;
            }
            if is_lively {
                sleep(LOOK_EVERY).await;
                continue;
            }
            let children = self.children.as_mut();
            tokio::select! {
                came = self.events.recv() => {
                    self.heard = Some(Instant::now());
                    return of_run(came);
                }
                Some(came) = of_child(children) => match came {
                    Some(came) => return Some(came),
                    None => self.children = None,
                },
            }
        }
    }

    /// The next event, if it has come already.
    pub fn next_waiting(&mut self) -> Option<Watched> {
        self.waiting().flatten()
    }

    /// The next event, if there is one already.
    fn waiting(&mut self) -> Option<Option<Watched>> {
        let of_run = match self.events.try_recv() {
            Ok(event) => Some(Some(Watched::Event(event))),
            Err(TryRecvError::Lagged(lost)) => Some(Some(Watched::Lost(lost))),
            Err(TryRecvError::Closed) => Some(None),
            Err(TryRecvError::Empty) => None,
        };
        if of_run.is_some() {
            self.heard = Some(Instant::now());
            return of_run;
        }
        match self.children.as_mut()?.try_recv() {
            Ok(status) => Some(Some(Watched::Child(status))),
            Err(TryRecvError::Lagged(lost)) => Some(Some(Watched::Lost(lost))),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Closed) => {
                self.children = None;
                None
            }
        }
    }

    /// How each configured server is reached.
    pub fn servers(&self) -> &Arc<BTreeMap<String, Reached>> {
        &self.servers
    }

    /// The runs that have begun and not ended. A listener that lost events uses this to find out
    /// which of the runs that it knows are over.
    pub fn live(&self) -> Vec<RunId> {
        self.live.all()
    }
}

fn of_run(came: Result<RunEvent, RecvError>) -> Option<Watched> {
    match came {
        Ok(event) => Some(Watched::Event(event)),
        Err(RecvError::Lagged(lost)) => Some(Watched::Lost(lost)),
        Err(RecvError::Closed) => None,
    }
}

/// `None` where there are no children, and `Some(None)` when there will be no more of them.
async fn of_child(children: Option<&mut broadcast::Receiver<ServerStatus>>) -> Option<Option<Watched>> {
    Some(match children?.recv().await {
        Ok(status) => Some(Watched::Child(status)),
        Err(RecvError::Lagged(lost)) => Some(Watched::Lost(lost)),
        Err(RecvError::Closed) => None,
    })
}
