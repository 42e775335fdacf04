//! The two clocks of a run: time inside the guest, and time waited.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use belljar_model::{LimitHit, Limits};

/// Measures a run, and says when it has had its time.
pub(crate) struct Meter {
    timeout: Duration,
    compute: Duration,
    wait: Duration,
    clocks: Mutex<Clocks>,
}

struct Clocks {
    started: Instant,
    computed: Duration,
    waited: Duration,
    /// Since when the guest is being run, or waits.
    since: Instant,
    phase: Phase,
    /// The guest has used up its turn and wants to go on.
    has_yielded: bool,
    /// Imports in which the guest stands still until the host has the answer.
    standing: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Inside,
    Waiting,
    /// Between two turns of computing: the executor has other things to do.
    Paused,
}

impl Meter {
    pub(crate) fn new(limits: &Limits) -> Self {
        let now = Instant::now();
        Self {
            timeout: limits.timeout,
            compute: limits.compute,
            wait: limits.wait,
            clocks: Mutex::new(Clocks {
                started: now,
                computed: Duration::ZERO,
                waited: Duration::ZERO,
                since: now,
                phase: Phase::Paused,
                has_yielded: false,
                standing: 0,
            }),
        }
    }

    /// The guest is run from now on.
    pub(crate) fn enter(&self) {
        let mut clocks = self.lock();
        let now = Instant::now();
        // It has been handed what it waited for within its turn.
        if clocks.phase == Phase::Waiting {
            let waited = now - clocks.since;
            clocks.waited += waited;
        }
        clocks.since = now;
        clocks.phase = Phase::Inside;
    }

    /// The guest has come to a halt. True if it waits for the host; false if it only used up its turn.
    pub(crate) fn leave(&self) -> bool {
        let mut clocks = self.lock();
        let now = Instant::now();
        let computed = now - clocks.since;
        clocks.computed += computed;
        clocks.since = now;
        let waits = !std::mem::take(&mut clocks.has_yielded);
        clocks.phase = if waits { Phase::Waiting } else { Phase::Paused };
        waits
    }

    /// What the guest waited for may be there: from now on it waits for its turn, which is no wait of the script's.
    pub(crate) fn resume(&self) {
        let mut clocks = self.lock();
        if clocks.phase == Phase::Waiting {
            let now = Instant::now();
            let waited = now - clocks.since;
            clocks.waited += waited;
            clocks.since = now;
            clocks.phase = Phase::Paused;
        }
    }

    /// The guest stands still inside an import, or goes on.
    pub(crate) fn stand(&self, still: bool) {
        let mut clocks = self.lock();
        clocks.standing = if still { clocks.standing + 1 } else { clocks.standing.saturating_sub(1) };
    }

    /// Whether the guest stands still inside an import: then it can be handed no answer.
    pub(crate) fn is_standing(&self) -> bool {
        self.lock().standing > 0
    }

    /// Called at each tick while the guest computes: ends its turn, or the run.
    pub(crate) fn tick(&self) -> Result<(), LimitHit> {
        let mut clocks = self.lock();
        let inside = if clocks.phase == Phase::Inside { clocks.since.elapsed() } else { Duration::ZERO };
        let computed = clocks.computed + inside;
        if computed > self.compute {
            return Err(hit("compute", self.compute, computed));
        }
        let wall = clocks.started.elapsed();
        if wall > self.timeout {
            return Err(hit("timeout", self.timeout, wall));
        }
        clocks.has_yielded = true;
        Ok(())
    }

    /// The limit that a run has met while it stood still, or how long to wait before there can be one.
    pub(crate) fn overdue(&self) -> Result<LimitHit, Duration> {
        let (wall, _, waited) = self.read();
        if wall >= self.timeout {
            return Ok(hit("timeout", self.timeout, wall));
        }
        if waited >= self.wait {
            return Ok(hit("wait", self.wait, waited));
        }
        // No wait is longer than the time that passes.
        Err((self.timeout - wall).min(self.wait - waited))
    }

    /// Wall time, time inside, time waited.
    pub(crate) fn read(&self) -> (Duration, Duration, Duration) {
        let clocks = self.lock();
        let waiting = if clocks.phase == Phase::Waiting { clocks.since.elapsed() } else { Duration::ZERO };
        (clocks.started.elapsed(), clocks.computed, clocks.waited + waiting)
    }

    fn lock(&self) -> MutexGuard<'_, Clocks> {
        self.clocks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn hit(name: &'static str, max: Duration, used: Duration) -> LimitHit {
    let milliseconds = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    LimitHit { name, max: milliseconds(max), used: milliseconds(used), unit: "ms" }
}
