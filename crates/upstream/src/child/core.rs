//! The state that a child's life and its owner share, under one lock, and how it is reported.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use belljar_model::ServerSpec;
use parking_lot::Mutex;
use tokio::{
    sync::{Notify, Semaphore, broadcast, watch},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use crate::{
    child::{
        meter::{CallKind, Meter},
        state::{Demand, Machine, Phase},
        status::{ServerState, ServerStatus, Spoken},
    },
    connection::{
        client_requests::ClientAbilities, listing::Listing, protocol_revision::Opening, requests::Connection,
    },
    error::{Exit, StartError},
    options::{BuiltIns, Options},
    process::group::Group,
    tools::known_tools::KnownTools,
};

/// Ends another child when it is awaited, and owns that child until then.
pub(crate) type Retirement = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What all children of an upstream share.
pub(crate) struct Shared {
    pub(crate) options: Options,
    pub(crate) built_ins: BuiltIns,
    /// Cancelled when the children are to end.
    pub(crate) stop: CancellationToken,
    pub(crate) events: broadcast::Sender<ServerStatus>,
    /// What the client can do for children that start from now on.
    pub(crate) abilities: Mutex<ClientAbilities>,
    /// A permit for each instance for principals.
    pub(crate) places: Arc<Semaphore>,
}

/// What a child's life and its owner share.
pub(crate) struct Core {
    pub(crate) spec: ServerSpec,
    pub(crate) key: Option<String>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) known_tools: Arc<KnownTools>,
    /// How it is greeted.
    pub(crate) opening: Opening,
    /// Signals that the child is to end, although belljar continues.
    pub(crate) retire: Notify,
    /// Ends the child that this one replaces, before this one starts.
    pub(crate) predecessor: Mutex<Option<Retirement>>,
    pub(super) state: watch::Sender<ChildState>,
    pub(super) group: Mutex<Option<Arc<Group>>>,
    pub(super) turns: Semaphore,
    pub(super) queued: AtomicUsize,
    pub(super) calls: AtomicU64,
    /// Measures the child together with the other instances of its server.
    pub(super) meter: Meter,
    /// Whether nobody has called it since it became ready.
    pub(super) is_fresh: AtomicBool,
    /// How a stateful child was lost, until a caller was told.
    pub(super) lost: Mutex<Option<String>>,
}

/// A child's state, and what is known of it.
pub(super) struct ChildState {
    pub(super) machine: Machine,
    pub(super) connection: Option<Arc<Connection>>,
    pub(super) pid: Option<u32>,
    pub(super) spoken: Spoken,
    pub(super) ready_at: Option<Instant>,
    pub(super) times_ready: u32,
    pub(super) trouble: Option<Trouble>,
    /// Counts the starts, so that waiters for one learn its result.
    pub(super) attempt: u64,
    pub(super) failed_attempt: Option<(u64, Arc<StartError>)>,
}

/// The last failure.
pub(super) enum Trouble {
    Start(Arc<StartError>),
    Death(String),
    List(String),
}

impl Core {
    pub(super) fn new(
        spec: ServerSpec,
        key: Option<String>,
        shared: Arc<Shared>,
        known_tools: Arc<KnownTools>,
        meter: Meter,
        predecessor: Option<Retirement>,
    ) -> Self {
        let state = ChildState {
            machine: Machine::new(spec.life.breaker, shared.options.backoff),
            connection: None,
            pid: None,
            spoken: Spoken::default(),
            ready_at: None,
            times_ready: 0,
            trouble: None,
            attempt: 0,
            failed_attempt: None,
        };
        Self {
            opening: Opening::of(&spec, shared.options.cache.as_ref(), &shared.options.client_version),
            turns: Semaphore::new(spec.life.concurrency.get().min(Semaphore::MAX_PERMITS)),
            spec,
            key,
            shared,
            known_tools,
            retire: Notify::new(),
            predecessor: Mutex::new(predecessor),
            state: watch::Sender::new(state),
            group: Mutex::default(),
            queued: AtomicUsize::new(0),
            calls: AtomicU64::new(0),
            meter,
            is_fresh: AtomicBool::new(false),
            lost: Mutex::default(),
        }
    }

    /// The child is needed, or it is kept up.
    pub(crate) fn demand(&self) -> Demand {
        let mut demand = Demand::Wait;
        let has_begun = self.state.send_if_modified(|state| {
            demand = state.machine.demand(Instant::now());
            let has_begun = matches!(demand, Demand::Begin);
            state.attempt += u64::from(has_begun);
            has_begun
        });
        if has_begun {
            self.announce();
        }
        demand
    }

    /// When the next life may begin, if the last one failed.
    pub(crate) fn next_try(&self) -> Option<Instant> {
        self.state.borrow().machine.next_try()
    }

    /// The process exists.
    pub(crate) fn spawned(&self, pid: Option<u32>, group: Option<Arc<Group>>) {
        *self.group.lock() = group;
        self.change(|state| state.pid = pid);
    }

    /// The child can be called, so long after its start began.
    pub(crate) fn became_ready(&self, connection: Arc<Connection>, spoken: Spoken, listing: Listing, took: Duration) {
        self.known_tools.learn(listing.tools);
        self.is_fresh.store(true, Ordering::Relaxed);
        self.meter.started(took, self.state.borrow().times_ready > 0);
        self.change(|state| {
            state.machine.ready();
            (state.connection, state.spoken, state.ready_at) = (Some(connection), spoken, Some(Instant::now()));
            state.times_ready = state.times_ready.saturating_add(1);
            if !matches!(state.trouble, Some(Trouble::Death(_))) {
                state.trouble = None;
            }
            if let Some(complaint) = listing.complaint {
                state.trouble = Some(Trouble::List(complaint));
            }
        });
    }

    /// The child has listed its tools again.
    pub(crate) fn relisted(&self, listing: Listing) {
        self.known_tools.learn(listing.tools);
        self.change(|state| {
            if matches!(state.trouble, Some(Trouble::List(_))) {
                state.trouble = None;
            }
            if let Some(complaint) = listing.complaint {
                state.trouble = Some(Trouble::List(complaint));
            }
        });
    }

    /// Whether the next call is the first of this life.
    pub(super) fn kind_of_call(&self) -> CallKind {
        if self.is_fresh.load(Ordering::Relaxed) && self.is_fresh.swap(false, Ordering::Relaxed) {
            CallKind::First
        } else {
            CallKind::Warm
        }
    }

    /// The child has answered a call.
    pub(super) fn answered(&self) {
        self.state.send_if_modified(|state| {
            state.machine.answered();
            false
        });
    }

    /// The child could not be started, and nothing of it is left.
    pub(crate) fn failed(&self, fault: StartError) {
        let fault = Arc::new(fault.without(&self.spec.transport, &self.shared.options.withheld));
        self.end(|state| {
            state.failed_attempt = Some((state.attempt, fault.clone()));
            if matches!(*fault, StartError::ShuttingDown) {
                return state.machine.stopped();
            }
            tracing::warn!(server = self.spec.name, "not started: {fault}");
            state.trouble = Some(Trouble::Start(fault.clone()));
            state.machine.start_failed(fault, Instant::now());
            self.meter.start_failed(state.machine.has_tripped());
        });
    }

    /// The child is being ended, although it has not failed.
    pub(crate) fn stopping(&self) {
        self.change(|state| state.machine.stopping());
    }

    /// We ended the child after it was ready, and nothing of it is left.
    pub(crate) fn stopped(&self) {
        self.end(|state| state.machine.stopped());
    }

    /// The child has ended by itself after it was ready, and nothing of it is left.
    pub(crate) fn died(&self, exit: Exit) {
        tracing::warn!(server = self.spec.name, "died: {exit}");
        let how = format!("the server died ({exit})");
        if self.spec.life.stateful {
            *self.lost.lock() = Some(exit.to_string());
        }
        self.end(|state| {
            state.machine.died(&how, Instant::now());
            self.meter.died(state.machine.has_tripped());
            state.trouble = Some(Trouble::Death(how));
        });
    }

    /// The life was aborted, by a panic or by the end of the runtime.
    pub(crate) fn broke_off(&self) {
        match self.state.borrow().machine.phase() {
            Phase::Starting | Phase::Ready | Phase::Stopping => {}
            _ => return,
        }
        self.failed(StartError::Interrupted);
    }

    fn end(&self, change: impl FnOnce(&mut ChildState)) {
        *self.group.lock() = None;
        self.change(|state| {
            (state.pid, state.connection, state.ready_at) = (None, None, None);
            change(state);
        });
    }

    fn change(&self, change: impl FnOnce(&mut ChildState)) {
        self.state.send_modify(change);
        self.announce();
    }

    fn announce(&self) {
        // There may be no listener.
        let _ = self.shared.events.send(self.status());
    }

    pub(super) fn status(&self) -> ServerStatus {
        let state = self.state.borrow();
        let phase = state.machine.phase();
        let (last_error, hint) = match &state.trouble {
            None => (None, None),
            Some(Trouble::Start(fault)) => (Some(fault.reason()), fault.hint()),
            Some(Trouble::Death(reason)) => {
                let hint = match phase {
                    Phase::Failing { .. } => Some("it is started again on the next demand"),
                    Phase::Open { .. } => Some(
                        "it fails again and again, and is tried again after a while; run the command by hand to see why",
                    ),
                    _ => None,
                };
                (Some(reason.clone()), hint.map(str::to_owned))
            }
            Some(Trouble::List(complaint)) => (Some(complaint.clone()), None),
        };
        let in_flight = state.connection.as_ref().map_or(0, |connection| connection.in_flight.in_flight());
        ServerStatus {
            name: self.spec.name.clone(),
            key: self.key.clone(),
            principal: None,
            state: match phase {
                Phase::Cold => ServerState::Cold,
                Phase::Starting => ServerState::Starting,
                Phase::Ready if in_flight > 0 => ServerState::Busy,
                Phase::Ready => ServerState::Ready,
                Phase::Failing { .. } => ServerState::Failing,
                Phase::Open { .. } => ServerState::Open,
                Phase::Stopping => ServerState::Stopping,
            },
            transport: self.spec.transport.as_str(),
            era: state.spoken.era.clone(),
            version: state.spoken.version.clone(),
            tools: self.known_tools.tools().map(|tools| tools.len()),
            pid: state.pid,
            uptime_ms: state.ready_at.map(|time| u64::try_from(time.elapsed().as_millis()).unwrap_or(u64::MAX)),
            calls: self.calls.load(Ordering::Relaxed),
            restarts: state.times_ready.saturating_sub(1),
            last_error,
            hint,
        }
    }
}
