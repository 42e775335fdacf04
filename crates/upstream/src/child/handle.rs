//! One child: a configured server, or one instance of it.
//!
//! Its state is a [`Machine`](crate::child::state::Machine) under one lock, so any number of
//! callers that need the child at once share one start. The start itself is a separate task: a
//! caller that gives up does not affect the others.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use belljar_model::{ByteSize, JsonText, ServerSpec, ToolPath};
use parking_lot::Mutex;
use tokio::{
    sync::SemaphorePermit,
    time::{Instant, sleep_until, timeout},
};
use tokio_util::task::AbortOnDropHandle;

use crate::{
    child::{
        core::{ChildState, Core, Retirement, Shared},
        life,
        meter::{CallKind, Meter},
        state::{Demand, Phase},
        status::ServerStatus,
    },
    connection::{
        client_requests::Caller,
        in_flight::InFlight,
        requests::{CallLimit, Connection},
    },
    error::{CallError, StartError},
    limits,
    tools::known_tools::KnownTools,
};

/// A child. Dropping it kills the process, if there is one.
pub(crate) struct Child {
    pub(crate) core: Arc<Core>,
    life: Mutex<Option<AbortOnDropHandle<()>>>,
}

impl Child {
    pub(crate) fn new(
        spec: ServerSpec,
        key: Option<String>,
        shared: Arc<Shared>,
        known_tools: Arc<KnownTools>,
        meter: Meter,
        predecessor: Option<Arc<Child>>,
    ) -> Self {
        let predecessor = predecessor.map(|child| -> Retirement { Box::pin(async move { child.retire().await }) });
        let core = Arc::new(Core::new(spec, key, shared, known_tools, meter, predecessor));
        Self { core, life: Mutex::default() }
    }

    pub(crate) fn status(&self) -> ServerStatus {
        self.core.status()
    }

    /// Whether any part of it exists.
    pub(crate) fn is_cold(&self) -> bool {
        self.core.state.borrow().machine.phase() == Phase::Cold
    }

    /// Makes sure that the next caller is told that the state is lost, before it relies on it.
    pub(crate) fn lose_state(&self, how: &str) {
        *self.core.lost.lock() = Some(how.to_owned());
    }

    /// Starts the child unless it is running, being started, or has just failed.
    pub(crate) fn begin(&self) {
        self.demand();
    }

    /// Makes a call when its turn comes.
    ///
    /// # Cancellation
    /// Dropping the future cancels the call at the child.
    pub(crate) async fn call(
        &self,
        path: &ToolPath,
        mut arguments: JsonText,
        limit: CallLimit,
        max_result: ByteSize,
        caller: &Caller,
    ) -> Result<JsonText, CallError> {
        let _turn = self.turn(limit).await?;
        let server = || path.server().to_owned();
        if let Some(how) = self.core.lost.lock().take() {
            self.demand();
            return Err(CallError::StateLost { server: server(), how });
        }
        let mut may_repeat = None;
        let mut begun = Instant::now();
        loop {
            let ready = self.ready().await.inspect_err(|_| self.core.meter.unavailable());
            let (connection, _in_flight) = ready.map_err(|fault| CallError::Unavailable { server: server(), fault })?;
            let kind = self.core.kind_of_call();
            if kind == CallKind::Warm {
                begun = Instant::now();
            }
            if may_repeat.is_none() {
                // The tool is known by now: its server has listed it.
                arguments = self.core.known_tools.without_own(path.tool(), arguments);
            }
            let (known_tools, at_least) = (&self.core.known_tools, caller.counts_as());
            let may_be = || !caller.is_once() && known_tools.may_repeat(path.tool(), at_least);
            let repeats = *may_repeat.get_or_insert_with(may_be);
            let quiet = known_tools.call_timeout(path.tool(), at_least).map_or(limit.quiet, |own| own.min(limit.quiet));
            let limit = CallLimit { quiet, ..limit };
            // Only a repeatable call keeps its arguments while it waits for the answer.
            let sent = if repeats { arguments.clone() } else { std::mem::replace(&mut arguments, JsonText::null()) };
            self.core.calls.fetch_add(1, Ordering::Relaxed);
            let answer = connection.call(path, sent, limit, max_result, caller).await;
            match &answer {
                Err(CallError::Died { .. }) if repeats => {
                    tracing::info!(
                        server = path.server(),
                        tool = path.tool(),
                        "it died during a call, which is made again"
                    );
                    may_repeat = Some(false);
                    begun = Instant::now();
                    continue;
                }
                Err(CallError::Died { .. } | CallError::Cancelled { .. }) => {}
                Err(CallError::Timeout { .. }) => connection.in_flight.timed_out(),
                _ => {
                    connection.in_flight.answered();
                    self.core.answered();
                }
            }
            self.core.meter.called(kind, begun.elapsed(), &answer);
            return answer;
        }
    }

    /// Waits until the child can be called, and starts it if necessary.
    ///
    /// # Cancellation
    /// Dropping the future does not stop the start.
    pub(crate) async fn ready(&self) -> Result<(Arc<Connection>, InFlight), Arc<StartError>> {
        let mut state = self.core.state.subscribe();
        let mut waited_for = None;
        loop {
            if self.core.shared.stop.is_cancelled() {
                return Err(Arc::new(StartError::ShuttingDown));
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
                // Between the child's end and its report there is nothing to use: callers wait for
                // the next life.
                Demand::Use => {
                    if let Some(connection) = connection.filter(|connection| !connection.is_over())
                        && let Some(in_flight) = connection.in_flight.admit()
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
                    return Err(Arc::new(StartError::Interrupted));
                },
                () = self.core.shared.stop.cancelled() => {}
            }
        }
    }

    /// Ends the child's life, if it has one, when its calls have ended. The next demand begins
    /// another.
    pub(crate) async fn retire(&self) {
        let has_ended =
            |state: &ChildState| !matches!(state.machine.phase(), Phase::Starting | Phase::Ready | Phase::Stopping);
        let mut state = self.core.state.subscribe();
        if !has_ended(&state.borrow()) {
            self.core.retire.notify_one();
            let _ = state.wait_for(has_ended).await;
        }
    }

    /// Waits for the end of the child's life, if it has one. The caller has cancelled
    /// [`Shared::stop`].
    pub(crate) async fn ended(&self) {
        let life = self.life.lock().take();
        if let Some(life) = life {
            // A life that panicked has ended too.
            let _ = life.await;
        }
        // Others may be waiting for the same.
        let has_ended =
            |state: &ChildState| !matches!(state.machine.phase(), Phase::Starting | Phase::Ready | Phase::Stopping);
        let _ = self.core.state.subscribe().wait_for(has_ended).await;
    }

    fn demand(&self) -> Demand {
        let mut life = self.life.lock();
        // After `stop` is cancelled, `life` is taken: see `ended`. So no life is begun that nobody
        // would wait for.
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
    async fn turn(&self, limit: CallLimit) -> Result<SemaphorePermit<'_>, CallError> {
        if let Ok(turn) = self.core.turns.try_acquire() {
            return Ok(turn);
        }
        let server = || self.core.spec.name.clone();
        let _queued = Queued::new(&self.core.queued)
            .ok_or_else(|| CallError::QueueFull { server: server(), waiting: limits::CALLS_QUEUED })?;
        match timeout(limit.total, self.core.turns.acquire()).await {
            Ok(Ok(turn)) => Ok(turn),
            // It is never closed.
            Ok(Err(_)) => Err(CallError::Cancelled { server: server() }),
            Err(_) => Err(CallError::QueueTimeout { server: server(), limit: limit.total }),
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
        // The life is aborted by its handle, which kills the group as well, but perhaps only after
        // the runtime is gone.
        if let Some(group) = self.core.group.lock().take() {
            group.kill();
        }
    }
}
