//! The runs that were given to a process, and how many there may be.
//!
//! The process has its own queue and slots, and should keep to them, but the gateway does not trust
//! that. What a run may hold on this side is bounded, so the number of runs that hold something
//! must be bounded too.

use std::{collections::HashMap, sync::Arc};

use belljar_model::{ByteSize, ErrorKind, LimitHit, LimitName, Limits, RunError};
use belljar_sandbox::SandboxOptions;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Duration, Instant},
};

use super::{
    lost::{Lost, Violation},
    run::Run,
};
use crate::protocol::{bounds, from_worker};

/// How many runs beyond slots and queue may be on their way to the process or back; the process
/// decides which of them are rejected.
const MAX_IN_TRANSIT: usize = 256;
/// When to try again if not even these places are free.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Places for runs.
pub(super) struct Places {
    free: Arc<Semaphore>,
    max_queued: u64,
}

/// A place, which is freed when this is dropped.
pub(super) struct Place(#[expect(dead_code, reason = "held for its drop")] OwnedSemaphorePermit);

impl Places {
    pub(super) fn new(options: &SandboxOptions) -> Self {
        let all = (options.max_live as usize).saturating_add(options.max_queued as usize);
        let all = all.saturating_add(MAX_IN_TRANSIT).min(Semaphore::MAX_PERMITS);
        Self { free: Arc::new(Semaphore::new(all)), max_queued: u64::from(options.max_queued) }
    }

    /// A place, if there is one.
    pub(super) fn take(&self) -> Result<Place, RunError> {
        self.free.clone().try_acquire_owned().map(Place).map_err(|_| {
            let max = self.max_queued;
            RunError::new(ErrorKind::Busy, "belljar is busy: more runs wait for the engine's process than may queue")
                .with_hint("try again later; [runs] in the configuration sets how many runs may queue (max_queued)")
                .with_limit(LimitHit { name: LimitName::MaxQueued, max, used: max.saturating_add(1) })
                .with_retry_after(RETRY_AFTER)
        })
    }
}

/// The runs that a process knows.
pub(super) struct Runs {
    known: HashMap<u64, Entry>,
    last: u64,
    max_live: u64,
    /// How many runs have made a call or asked a question, and have not ended.
    live: u64,
    /// Why the process has ended, or is about to be ended.
    lost: Option<Lost>,
    is_closed: bool,
}

struct Entry {
    state: EntryState,
    _place: Place,
}

enum EntryState {
    Live {
        run: Arc<Run>,
        has_begun: bool,
    },
    /// A dropped run whose end the process has not reported yet.
    Dropped {
        limits: Limits,
        max_recording: Option<ByteSize>,
        since: Instant,
    },
}

impl Runs {
    pub(super) fn new(options: &SandboxOptions) -> Self {
        // The thread that ran a script frees its slot a moment before it reports the run's end.
        // There is one such run for each run that can compute.
        let untold = u64::from(options.max_computing.max(1));
        let max_live = u64::from(options.max_live).saturating_add(untold);
        Self { known: HashMap::new(), last: 0, max_live, live: 0, lost: None, is_closed: false }
    }

    /// Begins a run under a number of its own, unless the process is lost or accepts no more runs.
    pub(super) fn begin<T>(&mut self, place: Place, begin: impl FnOnce(u64) -> (Arc<Run>, T)) -> Option<(Arc<Run>, T)> {
        if !self.is_open() {
            return None;
        }
        self.last += 1;
        let (run, ended) = begin(self.last);
        let state = EntryState::Live { run: run.clone(), has_begun: false };
        self.known.insert(self.last, Entry { state, _place: place });
        Some((run, ended))
    }

    /// The run to which a frame of this kind belongs, unless it was dropped, and the maximum size
    /// of the frame's body.
    pub(super) fn find(&mut self, number: u64, kind: u8) -> Result<(Option<Arc<Run>>, Option<u64>), Violation> {
        let entry = self.known.get_mut(&number).ok_or(Violation::Run)?;
        match &mut entry.state {
            EntryState::Dropped { limits, max_recording, .. } => {
                Ok((None, bounds::bound(kind, limits, *max_recording)))
            }
            EntryState::Live { run, has_begun } => {
                if !*has_begun && !matches!(kind, from_worker::OUTCOME | from_worker::REPLAYED) {
                    *has_begun = true;
                    self.live += 1;
                    if self.live > self.max_live {
                        return Err(Violation::Live);
                    }
                }
                Ok((Some(run.clone()), bounds::bound(kind, run.limits(), run.max_recording())))
            }
        }
    }

    /// Drops a run that nobody waits for. Returns false if there is nothing for the process to give
    /// up.
    pub(super) fn give_up(&mut self, number: u64) -> bool {
        let Some(entry) = self.known.get_mut(&number) else { return false };
        let EntryState::Live { run, has_begun } = &entry.state else { return false };
        self.live -= u64::from(*has_begun);
        entry.state = EntryState::Dropped {
            limits: run.limits().clone(),
            max_recording: run.max_recording(),
            since: Instant::now(),
        };
        true
    }

    /// Removes a run that has ended, or is gone.
    pub(super) fn remove(&mut self, number: u64) {
        if let Some(Entry { state: EntryState::Live { has_begun: true, .. }, .. }) = self.known.remove(&number) {
            self.live -= 1;
        }
    }

    /// When the first run that still exists in the process was dropped.
    pub(super) fn first_dropped(&self) -> Option<Instant> {
        let dropped = self.known.values().filter_map(|entry| match entry.state {
            EntryState::Dropped { since, .. } => Some(since),
            EntryState::Live { .. } => None,
        });
        dropped.min()
    }

    /// Whether runs may be begun.
    pub(super) fn is_open(&self) -> bool {
        self.lost.is_none() && !self.is_closed
    }

    /// Lets no further run begin. The reason is not known yet.
    pub(super) fn close(&mut self) {
        self.is_closed = true;
    }

    /// The process is about to be ended. The first reason counts.
    pub(super) fn condemn(&mut self, why: Lost) {
        self.lost.get_or_insert(why);
    }

    pub(super) fn lost(&self) -> Option<Lost> {
        self.lost.clone()
    }

    /// Forgets all runs. Returns those that somebody waits for, and the reason that counts.
    pub(super) fn lose_all(&mut self, lost: &Lost) -> (Vec<Arc<Run>>, Lost) {
        let lost = self.lost.get_or_insert_with(|| lost.clone()).clone();
        self.live = 0;
        let live = std::mem::take(&mut self.known).into_values().filter_map(|entry| match entry.state {
            EntryState::Live { run, .. } => Some(run),
            EntryState::Dropped { .. } => None,
        });
        (live.collect(), lost)
    }
}
