//! One configured child: what state it is in, and who may start it.
//!
//! The state changes under one lock, so any number of callers who need the child at once share one start. The start itself
//! is a task of its own: a caller who gives up takes nothing from the others.

use std::sync::{Arc, Mutex, PoisonError};

use belljar_model::{ServerSpec, ToolDefinition};
use tokio::{
    sync::{broadcast, watch},
    time::Instant,
};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use crate::{
    connection::Connection,
    fault::{Exit, StartFault},
    life,
    listing::Listing,
    options::{BuiltIns, Options},
    process::Group,
    status::{ServerState, ServerStatus},
};

/// The tools of a child that is running.
pub(crate) type Tools = Arc<Vec<ToolDefinition>>;

/// A configured child. Dropping it kills the process, if there is one.
pub(crate) struct Child {
    core: Arc<Core>,
    life: Mutex<Option<AbortOnDropHandle<()>>>,
}

/// What a child's life and its owner share.
pub(crate) struct Core {
    pub(crate) spec: ServerSpec,
    pub(crate) options: Arc<Options>,
    pub(crate) built_ins: Arc<BuiltIns>,
    /// Cancelled when the children are to end.
    pub(crate) stop: CancellationToken,
    state: watch::Sender<State>,
    events: broadcast::Sender<ServerStatus>,
    group: Mutex<Option<Arc<Group>>>,
}

#[derive(Default)]
struct State {
    phase: Phase,
    tools: Option<Tools>,
    pid: Option<u32>,
    times_ready: u32,
    trouble: Option<Trouble>,
}

#[derive(Default)]
enum Phase {
    #[default]
    Cold,
    Starting,
    Ready(Arc<Connection>),
    Failed {
        fault: Arc<StartFault>,
        until: Instant,
    },
    Stopped,
}

enum Trouble {
    Start(Arc<StartFault>),
    Death(String),
    List(String),
}

impl Child {
    pub(crate) fn new(
        spec: ServerSpec,
        options: Arc<Options>,
        built_ins: Arc<BuiltIns>,
        stop: CancellationToken,
        events: broadcast::Sender<ServerStatus>,
    ) -> Self {
        let (state, group) = (watch::Sender::default(), Mutex::default());
        let core = Arc::new(Core { spec, options, built_ins, stop, state, events, group });
        Self { core, life: Mutex::default() }
    }

    pub(crate) fn name(&self) -> &str {
        &self.core.spec.name
    }

    pub(crate) fn status(&self) -> ServerStatus {
        self.core.status()
    }

    /// Starts the child unless it is running, being started, or has just failed to.
    pub(crate) fn demand(&self) {
        let mut life = self.life.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever cancels `stop` then takes `life`: see `ended`. So no life is begun that nobody would wait for.
        if !self.core.stop.is_cancelled() && self.core.begin() {
            *life = Some(AbortOnDropHandle::new(tokio::spawn(life::live(self.core.clone()))));
        }
    }

    /// The connection and the tools, once the child is ready.
    ///
    /// # Cancellation
    /// Dropping the future leaves the start to the others, or to itself.
    pub(crate) async fn ready(&self) -> Result<(Arc<Connection>, Tools), Arc<StartFault>> {
        let mut state = self.core.state.subscribe();
        let (mut was_over, mut demand) = (false, false);
        self.demand();
        loop {
            if self.core.stop.is_cancelled() {
                return Err(Arc::new(StartFault::ShuttingDown));
            }
            {
                let state = state.borrow_and_update();
                match &state.phase {
                    // Between a child's death and its `Stopped` its remains are cleared away: whoever comes then waits for the
                    // next life, and is not told of a death that is not the end of their own call.
                    Phase::Ready(connection) if connection.is_over() => was_over = true,
                    Phase::Ready(connection) => {
                        return Ok((connection.clone(), state.tools.clone().unwrap_or_default()));
                    }
                    Phase::Failed { fault, .. } => return Err(fault.clone()),
                    Phase::Stopped if was_over => demand = true,
                    // It was ready and died before this caller was woken.
                    Phase::Stopped | Phase::Cold => return Err(Arc::new(StartFault::Interrupted)),
                    Phase::Starting => {}
                }
            }
            if demand {
                // Once: a child that dies again and again fails its callers.
                (was_over, demand) = (false, false);
                self.demand();
                continue;
            }
            if state.changed().await.is_err() {
                return Err(Arc::new(StartFault::Interrupted));
            }
        }
    }

    /// Waits for the end of the child's life, if it has one. The caller has cancelled [`Core::stop`].
    pub(crate) async fn ended(&self) {
        let life = self.life.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(life) = life {
            // A life that panicked has ended too.
            let _ = life.await;
        }
        // Somebody else may be waiting for the same.
        let is_over = |state: &State| !matches!(state.phase, Phase::Starting | Phase::Ready(_));
        let _ = self.core.state.subscribe().wait_for(is_over).await;
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // The life is aborted by its handle and kills the group as well, but perhaps later than the runtime lives.
        if let Some(group) = self.core.group.lock().unwrap_or_else(PoisonError::into_inner).take() {
            group.kill();
        }
    }
}

impl Core {
    /// Moves to `starting`, if the state calls for a start.
    fn begin(&self) -> bool {
        let begun = self.state.send_if_modified(|state| {
            let wanted = match &state.phase {
                Phase::Cold | Phase::Stopped => true,
                Phase::Failed { until, .. } => *until <= Instant::now(),
                Phase::Starting | Phase::Ready(_) => false,
            };
            if wanted {
                state.phase = Phase::Starting;
            }
            wanted
        });
        if begun {
            self.announce();
        }
        begun
    }

    /// The process exists.
    pub(crate) fn spawned(&self, pid: Option<u32>, group: Option<Arc<Group>>) {
        *self.group.lock().unwrap_or_else(PoisonError::into_inner) = group;
        self.change(|state| state.pid = pid);
    }

    /// The child can be called.
    pub(crate) fn became_ready(&self, connection: Arc<Connection>, listing: Listing) {
        self.change(|state| {
            state.phase = Phase::Ready(connection);
            state.times_ready = state.times_ready.saturating_add(1);
            if !matches!(state.trouble, Some(Trouble::Death(_))) {
                state.trouble = None;
            }
            state.take_listing(listing);
        });
    }

    /// The child has listed its tools anew.
    pub(crate) fn relisted(&self, listing: Listing) {
        self.change(|state| {
            if matches!(state.trouble, Some(Trouble::List(_))) {
                state.trouble = None;
            }
            state.take_listing(listing);
        });
    }

    /// The child could not be started, and nothing of it is left.
    pub(crate) fn failed(&self, fault: StartFault) {
        let fault = Arc::new(fault);
        self.end(|state| {
            if matches!(*fault, StartFault::ShuttingDown) {
                state.phase = Phase::Stopped;
                return;
            }
            tracing::warn!(server = self.spec.name, "not started: {fault}");
            state.trouble = Some(Trouble::Start(fault.clone()));
            let until = Instant::now() + self.options.retry_after;
            state.phase = Phase::Failed { fault, until };
        });
    }

    /// The child has ended after it was ready, by itself if there is an `exit`, and nothing of it is left.
    pub(crate) fn stopped(&self, exit: Option<Exit>) {
        self.end(|state| {
            state.phase = Phase::Stopped;
            if let Some(exit) = exit {
                tracing::warn!(server = self.spec.name, "died: {exit}");
                state.trouble = Some(Trouble::Death(format!("the server died ({exit})")));
            }
        });
    }

    /// The life was broken off, by a panic or by an end of the runtime.
    pub(crate) fn broke_off(&self) {
        self.end(|state| {
            if matches!(state.phase, Phase::Starting | Phase::Ready(_)) {
                state.phase = Phase::Stopped;
            }
        });
    }

    fn end(&self, change: impl FnOnce(&mut State)) {
        *self.group.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.change(|state| {
            state.pid = None;
            change(state);
        });
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        self.state.send_modify(change);
        self.announce();
    }

    fn announce(&self) {
        // Nobody need be listening.
        let _ = self.events.send(self.status());
    }

    fn status(&self) -> ServerStatus {
        let state = self.state.borrow();
        let (last_error, hint) = match &state.trouble {
            None => (None, None),
            Some(Trouble::Start(fault)) => (Some(fault.reason()), fault.hint()),
            Some(Trouble::Death(reason)) => {
                let hint = "it is started again on the next demand".to_owned();
                (Some(reason.clone()), Some(hint).filter(|_| matches!(state.phase, Phase::Stopped)))
            }
            Some(Trouble::List(complaint)) => (Some(complaint.clone()), None),
        };
        ServerStatus {
            name: self.spec.name.clone(),
            state: match state.phase {
                Phase::Cold => ServerState::Cold,
                Phase::Starting => ServerState::Starting,
                Phase::Ready(_) => ServerState::Ready,
                Phase::Failed { .. } => ServerState::Failed,
                Phase::Stopped => ServerState::Stopped,
            },
            transport: self.spec.transport.as_str(),
            tools: state.tools.as_ref().map(|tools| tools.len()),
            pid: state.pid,
            restarts: state.times_ready.saturating_sub(1),
            last_error,
            hint,
        }
    }
}

impl State {
    fn take_listing(&mut self, listing: Listing) {
        self.tools = Some(Arc::new(listing.tools));
        if let Some(complaint) = listing.complaint {
            self.trouble = Some(Trouble::List(complaint));
        }
    }
}
