//! Decides which run starts now, which waits, and which is rejected.
//!
//! Two things are bounded independently. *Live* runs hold an instance and its memory, whether they
//! compute or wait for a tool: there are at most `max_live` of them, and together they may take at
//! most `live_memory`. *Computing* runs hold a core: they take turns of one tick (see `turn`), so
//! that any number of them leaves a share for the others, and for the rest of the process.
//!
//! Behind the live runs there is a bounded queue. Clients take turns in it: a busy client delays
//! only its own runs. When it is full, the last run of the client with the most runs in it is
//! rejected to make room for a client with fewer.

use std::{
    collections::VecDeque,
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use belljar_model::{ByteSize, ErrorKind, LimitHit, LimitName, RunError};
use parking_lot::Mutex;
use tokio::sync::{Notify, oneshot};

use crate::SandboxOptions;

/// The shortest and the longest time after which a client is told to try again.
const RETRY: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(60));
/// The weight of the last run in the estimate of how long runs take: one part in this many.
const WEIGHT: u32 = 8;

/// The entrance of a sandbox.
pub(crate) struct Admission {
    max_live: u32,
    live_memory: u64,
    max_queued: usize,
    queue_timeout: Duration,
    state: Mutex<AdmissionState>,
    /// Notified when a run has to queue.
    queueing: Notify,
}

struct AdmissionState {
    free_slots: u32,
    free_memory: u64,
    /// The clients that have runs in the queue; the first of them is next.
    clients: VecDeque<WaitingClient>,
    queued: usize,
    last_number: u64,
    /// How long runs hold their slot, on average.
    typical: Option<Duration>,
}

struct WaitingClient {
    name: String,
    waiting: VecDeque<Waiting>,
}

struct Waiting {
    number: u64,
    memory: u64,
    admitted: oneshot::Sender<Slot>,
}

/// How much of a sandbox's capacity its live runs take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    /// How many runs may be live.
    pub slots: u32,
    /// How many runs are live.
    pub taken_slots: u32,
    /// How much memory live runs may take together.
    pub memory: ByteSize,
    /// How much of it is reserved for the runs that are live.
    pub taken_memory: ByteSize,
}

/// The right to a live run, returned when it is dropped.
pub(crate) struct Slot {
    admission: Option<Arc<Admission>>,
    memory: u64,
    since: Instant,
}

impl Admission {
    pub(crate) fn new(options: &SandboxOptions) -> Arc<Self> {
        // With a bound of zero, each run would count as larger than the bound: it still gets its
        // turn, alone.
        let live_memory = options.live_memory.as_u64().max(1);
        Arc::new(Self {
            max_live: options.max_live,
            live_memory,
            max_queued: options.max_queued as usize,
            queue_timeout: options.queue_timeout,
            state: Mutex::new(AdmissionState {
                free_slots: options.max_live,
                free_memory: live_memory,
                clients: VecDeque::new(),
                queued: 0,
                last_number: 0,
                typical: None,
            }),
            queueing: Notify::new(),
        })
    }

    /// A slot for a run of `client` that may take this much memory, at once or after waiting.
    ///
    /// # Cancellation
    /// Dropping the future gives up the place in the queue.
    pub(crate) async fn admit(self: &Arc<Self>, client: &str, memory: ByteSize) -> Result<Slot, RunError> {
        // A run that may take more than all runs together still runs: alone.
        let memory = memory.as_u64().min(self.live_memory);
        let (number, admitted) = {
            let mut state = self.state.lock();
            if state.queued == 0 && state.fits(memory) {
                return Ok(state.take(self, memory));
            }
            if state.queued >= self.max_queued && !state.makes_room_for(client) {
                let max = self.max_queued as u64;
                return Err(self.busy(&state, LimitHit { name: LimitName::MaxQueued, max, used: max + 1 }));
            }
            state.enqueue(client, memory)
        };
        self.queueing.notify_waiters();
        let mut place = Place { admission: self, number: Some(number) };
        match tokio::time::timeout(self.queue_timeout, admitted).await {
            Ok(Ok(slot)) => {
                place.number = None;
                Ok(slot)
            }
            // Rejected, to make room for another client.
            Ok(Err(_)) => {
                let max = self.max_queued as u64;
                Err(self.busy(&self.state.lock(), LimitHit { name: LimitName::MaxQueued, max, used: max + 1 }))
            }
            Err(_) => {
                let waited = milliseconds(self.queue_timeout);
                let hit = LimitHit { name: LimitName::QueueTimeout, max: waited, used: waited };
                Err(self.busy(&self.state.lock(), hit))
            }
        }
    }

    /// How much is taken.
    pub(crate) fn load(&self) -> Load {
        let (free_slots, free_memory) = {
            let state = self.state.lock();
            (state.free_slots, state.free_memory)
        };
        Load {
            slots: self.max_live,
            taken_slots: self.max_live.saturating_sub(free_slots),
            memory: ByteSize::b(self.live_memory),
            taken_memory: ByteSize::b(self.live_memory.saturating_sub(free_memory)),
        }
    }

    /// Waits until a run queues.
    pub(crate) async fn is_wanted(&self) {
        loop {
            let mut queueing = pin!(self.queueing.notified());
            // Registered before the check, so that no later change is missed.
            queueing.as_mut().enable();
            if self.state.lock().queued > 0 {
                return;
            }
            queueing.await;
        }
    }

    fn busy(&self, state: &AdmissionState, hit: LimitHit) -> RunError {
        let retry_after = self.retry_after(state);
        let live = self.max_live - state.free_slots;
        let seconds = retry_after.as_secs_f64();
        RunError::new(
            ErrorKind::Busy,
            format!(
                "belljar is busy: {live} runs are live and {} wait before this one; retry after {seconds:.1} s",
                state.queued
            ),
        )
        .with_hint(
            "try again later; [runs] in the configuration sets how many runs may be live (max_live, live_memory) and how many may \
             queue (max_queued, queue_timeout)",
        )
        .with_limit(hit)
        .with_retry_after(retry_after)
    }

    /// When the current queue will be empty, if runs take as long as they have so far.
    fn retry_after(&self, state: &AdmissionState) -> Duration {
        let before = u32::try_from(state.queued).unwrap_or(u32::MAX).saturating_add(1);
        let rounds = before.div_ceil(self.max_live.max(1));
        state.typical.unwrap_or(RETRY.0).saturating_mul(rounds).clamp(RETRY.0, RETRY.1)
    }

    /// Returns a run's resources, and admits the runs that fit now.
    fn release(self: &Arc<Self>, memory: u64, held: Duration) {
        {
            let mut state = self.state.lock();
            state.free_slots += 1;
            state.free_memory += memory;
            state.typical = Some(match state.typical {
                Some(typical) => (typical * (WEIGHT - 1) + held) / WEIGHT,
                None => held,
            });
        }
        self.admit_waiting();
    }

    fn admit_waiting(self: &Arc<Self>) {
        loop {
            let (waiting, slot) = {
                let mut state = self.state.lock();
                let Some(waiting) = state.next() else { return };
                let slot = state.take(self, waiting.memory);
                (waiting, slot)
            };
            // Outside of the lock: if the waiter is gone, its slot comes back here.
            if let Err(mut slot) = waiting.admitted.send(slot) {
                let mut state = self.state.lock();
                state.free_slots += 1;
                state.free_memory += slot.memory;
                slot.admission = None;
            }
        }
    }
}

impl AdmissionState {
    fn fits(&self, memory: u64) -> bool {
        self.free_slots > 0 && self.free_memory >= memory
    }

    fn take(&mut self, admission: &Arc<Admission>, memory: u64) -> Slot {
        self.free_slots = self.free_slots.saturating_sub(1);
        self.free_memory = self.free_memory.saturating_sub(memory);
        Slot { admission: Some(admission.clone()), memory, since: Instant::now() }
    }

    fn enqueue(&mut self, client: &str, memory: u64) -> (u64, oneshot::Receiver<Slot>) {
        self.last_number += 1;
        self.queued += 1;
        let (admitted, receiver) = oneshot::channel();
        let waiting = Waiting { number: self.last_number, memory, admitted };
        match self.clients.iter_mut().find(|each| each.name == client) {
            Some(of_client) => of_client.waiting.push_back(waiting),
            None => self.clients.push_back(WaitingClient { name: client.to_owned(), waiting: [waiting].into() }),
        }
        (self.last_number, receiver)
    }

    /// The next run in the queue, if there is room for it. A run that needs more than is free
    /// blocks those behind it, or it would never start.
    fn next(&mut self) -> Option<Waiting> {
        let memory = self.clients.front()?.waiting.front()?.memory;
        if !self.fits(memory) {
            return None;
        }
        let mut client = self.clients.pop_front()?;
        let waiting = client.waiting.pop_front()?;
        self.queued -= 1;
        if !client.waiting.is_empty() {
            self.clients.push_back(client);
        }
        Some(waiting)
    }

    /// Rejects the last run of the client with the most runs in the queue, if it has more than
    /// `client` would have.
    fn makes_room_for(&mut self, client: &str) -> bool {
        let own = self.clients.iter().find(|each| each.name == client).map_or(0, |each| each.waiting.len());
        let Some(greediest) = self.clients.iter_mut().max_by_key(|each| each.waiting.len()) else { return false };
        if greediest.waiting.len() <= own + 1 {
            return false;
        }
        // The waiting run notices that its sender was dropped.
        greediest.waiting.pop_back();
        self.queued -= 1;
        true
    }

    fn remove(&mut self, number: u64) {
        for client in &mut self.clients {
            if let Some(at) = client.waiting.iter().position(|waiting| waiting.number == number) {
                client.waiting.remove(at);
                self.queued -= 1;
                break;
            }
        }
        self.clients.retain(|client| !client.waiting.is_empty());
    }
}

/// A place in the queue, which is freed when this is dropped.
struct Place<'admission> {
    admission: &'admission Arc<Admission>,
    number: Option<u64>,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            self.admission.state.lock().remove(number);
            // It may have been the one that blocked the others.
            self.admission.admit_waiting();
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if let Some(admission) = self.admission.take() {
            admission.release(self.memory, self.since.elapsed());
        }
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
