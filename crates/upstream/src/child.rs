//! One child: a configured server, or one instance of it.
//!
//! Its state is a [`Machine`] under one lock, so any number of callers who need the child at once share one start. The start
//! itself is a task of its own: a caller who gives up takes nothing from the others.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU64, AtomicUsize, Ordering},
};

use belljar_model::{ByteSize, JsonText, ServerSpec, ToolPath};
use tokio::{
    sync::{Notify, Semaphore, SemaphorePermit, broadcast, watch},
    time::{Instant, sleep_until, timeout},
};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use crate::{
    asking::{Caller, ClientAbilities},
    book::Book,
    connection::{CallLimit, Connection},
    era::Opening,
    fault::{CallFault, Exit, StartFault},
    life, limits,
    listing::Listing,
    load::InFlight,
    options::{BuiltIns, Options},
    process::Group,
    state::{Demand, Machine, Phase},
    status::{ServerState, ServerStatus},
};

/// What all children of an upstream share.
pub(crate) struct Shared {
    pub(crate) options: Options,
    pub(crate) built_ins: BuiltIns,
    /// Cancelled when the children are to end.
    pub(crate) stop: CancellationToken,
    pub(crate) events: broadcast::Sender<ServerStatus>,
    /// What the client can do for children that start from now on.
    pub(crate) abilities: Mutex<ClientAbilities>,
    /// A permit for each instance that there may be for a principal.
    pub(crate) places: Arc<Semaphore>,
}

/// A child. Dropping it kills the process, if there is one.
pub(crate) struct Child {
    pub(crate) core: Arc<Core>,
    life: Mutex<Option<AbortOnDropHandle<()>>>,
}

/// What a child's life and its owner share.
pub(crate) struct Core {
    pub(crate) spec: ServerSpec,
    pub(crate) key: Option<String>,
    pub(crate) shared: Arc<Shared>,
    pub(crate) book: Arc<Book>,
    /// How it is greeted.
    pub(crate) opening: Opening,
    /// Told when the child is to end, although belljar goes on.
    pub(crate) retire: Notify,
    /// The child whose place this one takes; it ends before this one starts.
    pub(crate) predecessor: Mutex<Option<Arc<Child>>>,
    state: watch::Sender<State>,
    group: Mutex<Option<Arc<Group>>>,
    turns: Semaphore,
    queued: AtomicUsize,
    calls: AtomicU64,
    /// How a stateful child was lost, until somebody is told.
    lost: Mutex<Option<String>>,
}

struct State {
    machine: Machine,
    connection: Option<Arc<Connection>>,
    pid: Option<u32>,
    era: Option<String>,
    ready_at: Option<Instant>,
    times_ready: u32,
    trouble: Option<Trouble>,
    /// Counts the starts, so that whoever waited for one hears how it went.
    attempt: u64,
    failed_attempt: Option<(u64, Arc<StartFault>)>,
}

enum Trouble {
    Start(Arc<StartFault>),
    Death(String),
    List(String),
}

impl Child {
    pub(crate) fn new(
        spec: ServerSpec,
        key: Option<String>,
        shared: Arc<Shared>,
        book: Arc<Book>,
        predecessor: Option<Arc<Child>>,
    ) -> Self {
        let state = State {
            machine: Machine::new(spec.life.breaker, shared.options.backoff),
            connection: None,
            pid: None,
            era: None,
            ready_at: None,
            times_ready: 0,
            trouble: None,
            attempt: 0,
            failed_attempt: None,
        };
        let core = Arc::new(Core {
            opening: Opening::of(&spec, shared.options.cache.as_ref(), &shared.options.client_version),
            turns: Semaphore::new(spec.life.concurrency.get().min(Semaphore::MAX_PERMITS)),
            spec,
            key,
            shared,
            book,
            retire: Notify::new(),
            predecessor: Mutex::new(predecessor),
            state: watch::Sender::new(state),
            group: Mutex::default(),
            queued: AtomicUsize::new(0),
            calls: AtomicU64::new(0),
            lost: Mutex::default(),
        });
        Self { core, life: Mutex::default() }
    }

    pub(crate) fn status(&self) -> ServerStatus {
        self.core.status()
    }

    /// Whether there is anything of it.
    pub(crate) fn is_cold(&self) -> bool {
        self.core.state.borrow().machine.phase() == Phase::Cold
    }

    /// Has the next caller told that the state is lost, before it relies on it.
    pub(crate) fn lose_state(&self, how: &str) {
        *self.core.lost.lock().unwrap_or_else(PoisonError::into_inner) = Some(how.to_owned());
    }

    /// Starts the child unless it is running, being started, or has just failed to.
    pub(crate) fn begin(&self) {
        self.demand();
    }

    /// Makes a call, when it is its turn.
    ///
    /// # Cancellation
    /// Dropping the future tells the child to give up.
    pub(crate) async fn call(
        &self,
        path: &ToolPath,
        mut arguments: JsonText,
        limit: CallLimit,
        max_result: ByteSize,
        caller: &Caller,
    ) -> Result<JsonText, CallFault> {
        let _turn = self.turn(limit).await?;
        let server = || path.server().to_owned();
        if let Some(how) = self.core.lost.lock().unwrap_or_else(PoisonError::into_inner).take() {
            self.demand();
            return Err(CallFault::StateLost { server: server(), how });
        }
        let mut may_repeat = None;
        loop {
            let ready = self.ready().await;
            let (connection, _in_flight) = ready.map_err(|fault| CallFault::Unavailable { server: server(), fault })?;
            if may_repeat.is_none() {
                // What the tool is like is known by now: its server has listed it.
                arguments = self.core.book.without_own(path.tool(), arguments);
            }
            let repeats = *may_repeat.get_or_insert_with(|| self.core.book.may_repeat(path.tool()));
            // Only a call that may be made again keeps its arguments while it waits for the answer.
            let sent = if repeats { arguments.clone() } else { std::mem::replace(&mut arguments, JsonText::null()) };
            self.core.calls.fetch_add(1, Ordering::Relaxed);
            let answer = connection.call(path, sent, limit, max_result, caller).await;
            match &answer {
                Err(CallFault::Died { .. }) if repeats => {
                    tracing::info!(
                        server = path.server(),
                        tool = path.tool(),
                        "it died during a call, which is made again"
                    );
                    may_repeat = Some(false);
                    continue;
                }
                Err(CallFault::Died { .. } | CallFault::Cancelled { .. }) => {}
                Err(CallFault::Timeout { .. }) => connection.load.timed_out(),
                _ => {
                    connection.load.answered();
                    self.core.answered();
                }
            }
            return answer;
        }
    }

    /// Waits until the child can be called, and starts it if need be.
    ///
    /// # Cancellation
    /// Dropping the future leaves the start to the others, or to itself.
    pub(crate) async fn ready(&self) -> Result<(Arc<Connection>, InFlight), Arc<StartFault>> {
        let mut state = self.core.state.subscribe();
        let mut waited_for = None;
        loop {
            if self.core.shared.stop.is_cancelled() {
                return Err(Arc::new(StartFault::ShuttingDown));
            }
            let (connection, attempt) = {
                let state = state.borrow_and_update();
                if let (Some(attempt), Some((failed, fault))) = (waited_for, &state.failed_attempt)
                    && attempt == *failed
                {
                    return Err(fault.clone());
                }
                (state.connection.clone(), state.attempt)
            };
            let mut until = None;
            match self.demand() {
                Demand::Refused(fault) => return Err(fault),
                // Between the child's end and the news of it there is nothing to use: whoever comes then waits for the next life.
                Demand::Use => {
                    if let Some(connection) = connection.filter(|connection| !connection.is_over())
                        && let Some(in_flight) = connection.load.admit()
                    {
                        return Ok((connection, in_flight));
                    }
                }
                Demand::Begin => waited_for = Some(attempt + 1),
                Demand::Wait => waited_for = Some(attempt),
                Demand::WaitUntil(time) => until = Some(time),
            }
            let changed = async {
                match until {
                    Some(time) => {
                        tokio::select! {
                            changed = state.changed() => changed,
                            () = sleep_until(time) => Ok(()),
                        }
                    }
                    None => state.changed().await,
                }
            };
            tokio::select! {
                changed = changed => if changed.is_err() {
                    return Err(Arc::new(StartFault::Interrupted));
                },
                () = self.core.shared.stop.cancelled() => {}
            }
        }
    }

    /// Ends the child's life, if it has one, when its calls have ended. The next demand begins another.
    pub(crate) async fn retire(&self) {
        let has_ended =
            |state: &State| !matches!(state.machine.phase(), Phase::Starting | Phase::Ready | Phase::Stopping);
        let mut state = self.core.state.subscribe();
        if !has_ended(&state.borrow()) {
            self.core.retire.notify_one();
            let _ = state.wait_for(has_ended).await;
        }
    }

    /// Waits for the end of the child's life, if it has one. The caller has cancelled [`Shared::stop`].
    pub(crate) async fn ended(&self) {
        let life = self.life.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(life) = life {
            // A life that panicked has ended too.
            let _ = life.await;
        }
        // Somebody else may be waiting for the same.
        let has_ended =
            |state: &State| !matches!(state.machine.phase(), Phase::Starting | Phase::Ready | Phase::Stopping);
        let _ = self.core.state.subscribe().wait_for(has_ended).await;
    }

    fn demand(&self) -> Demand {
        let mut life = self.life.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever cancels `stop` then takes `life`: see `ended`. So no life is begun that nobody would wait for.
        if self.core.shared.stop.is_cancelled() {
            return Demand::Wait;
        }
        let demand = self.core.demand();
        if matches!(demand, Demand::Begin) {
            *life = Some(AbortOnDropHandle::new(tokio::spawn(life::live(self.core.clone()))));
        }
        demand
    }

    /// Waits for a turn among the calls of this child.
    async fn turn(&self, limit: CallLimit) -> Result<SemaphorePermit<'_>, CallFault> {
        if let Ok(turn) = self.core.turns.try_acquire() {
            return Ok(turn);
        }
        let server = || self.core.spec.name.clone();
        let _queued = Queued::new(&self.core.queued)
            .ok_or_else(|| CallFault::QueueFull { server: server(), waiting: limits::CALLS_QUEUED })?;
        match timeout(limit.total, self.core.turns.acquire()).await {
            Ok(Ok(turn)) => Ok(turn),
            // It is never closed.
            Ok(Err(_)) => Err(CallFault::Cancelled { server: server() }),
            Err(_) => Err(CallFault::QueueTimeout { server: server(), limit: limit.total }),
        }
    }
}

/// A place in the queue of a child.
struct Queued<'a>(&'a AtomicUsize);

impl<'a> Queued<'a> {
    fn new(queued: &'a AtomicUsize) -> Option<Self> {
        let place = queued.fetch_add(1, Ordering::Relaxed);
        let queued = Self(queued);
        (place < limits::CALLS_QUEUED).then_some(queued)
    }
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
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
    /// Somebody needs the child, or its own life goes on for good.
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
        *self.group.lock().unwrap_or_else(PoisonError::into_inner) = group;
        self.change(|state| state.pid = pid);
    }

    /// The child can be called.
    pub(crate) fn became_ready(&self, connection: Arc<Connection>, era: Option<String>, listing: Listing) {
        self.book.learn(listing.tools);
        self.change(|state| {
            state.machine.ready();
            (state.connection, state.era, state.ready_at) = (Some(connection), era, Some(Instant::now()));
            state.times_ready = state.times_ready.saturating_add(1);
            if !matches!(state.trouble, Some(Trouble::Death(_))) {
                state.trouble = None;
            }
            if let Some(complaint) = listing.complaint {
                state.trouble = Some(Trouble::List(complaint));
            }
        });
    }

    /// The child has listed its tools anew.
    pub(crate) fn relisted(&self, listing: Listing) {
        self.book.learn(listing.tools);
        self.change(|state| {
            if matches!(state.trouble, Some(Trouble::List(_))) {
                state.trouble = None;
            }
            if let Some(complaint) = listing.complaint {
                state.trouble = Some(Trouble::List(complaint));
            }
        });
    }

    /// The child has answered a call.
    fn answered(&self) {
        self.state.send_if_modified(|state| {
            state.machine.answered();
            false
        });
    }

    /// The child could not be started, and nothing of it is left.
    pub(crate) fn failed(&self, fault: StartFault) {
        let fault = Arc::new(fault);
        self.end(|state| {
            state.failed_attempt = Some((state.attempt, fault.clone()));
            if matches!(*fault, StartFault::ShuttingDown) {
                return state.machine.stopped();
            }
            tracing::warn!(server = self.spec.name, "not started: {fault}");
            state.trouble = Some(Trouble::Start(fault.clone()));
            state.machine.start_failed(fault, Instant::now());
        });
    }

    /// The child is being ended, although nothing is wrong with it.
    pub(crate) fn stopping(&self) {
        self.change(|state| state.machine.stopping());
    }

    /// The child was ended by us after it was ready, and nothing of it is left.
    pub(crate) fn stopped(&self) {
        self.end(|state| state.machine.stopped());
    }

    /// The child has ended by itself after it was ready, and nothing of it is left.
    pub(crate) fn died(&self, exit: Exit) {
        tracing::warn!(server = self.spec.name, "died: {exit}");
        let how = format!("the server died ({exit})");
        if self.spec.life.stateful {
            *self.lost.lock().unwrap_or_else(PoisonError::into_inner) = Some(exit.to_string());
        }
        self.end(|state| {
            state.machine.died(&how, Instant::now());
            state.trouble = Some(Trouble::Death(how));
        });
    }

    /// The life was broken off, by a panic or by an end of the runtime.
    pub(crate) fn broke_off(&self) {
        match self.state.borrow().machine.phase() {
            Phase::Starting | Phase::Ready | Phase::Stopping => {}
            _ => return,
        }
        self.failed(StartFault::Interrupted);
    }

    fn end(&self, change: impl FnOnce(&mut State)) {
        *self.group.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.change(|state| {
            (state.pid, state.connection, state.ready_at) = (None, None, None);
            change(state);
        });
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        self.state.send_modify(change);
        self.announce();
    }

    fn announce(&self) {
        // Nobody need be listening.
        let _ = self.shared.events.send(self.status());
    }

    fn status(&self) -> ServerStatus {
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
        let in_flight = state.connection.as_ref().map_or(0, |connection| connection.load.in_flight());
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
            era: state.era.clone(),
            tools: self.book.tools().map(|tools| tools.len()),
            pid: state.pid,
            uptime_ms: state.ready_at.map(|time| u64::try_from(time.elapsed().as_millis()).unwrap_or(u64::MAX)),
            calls: self.calls.load(Ordering::Relaxed),
            restarts: state.times_ready.saturating_sub(1),
            last_error,
            hint,
        }
    }
}
