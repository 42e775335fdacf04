//! The clocks of a run: wall time, time inside the guest, and time waiting.

use std::time::{Duration, Instant};

use belljar_model::{LimitHit, LimitName, Limits};
use belljar_recording::Spent;
use parking_lot::Mutex;

/// How often to check a resting run whose time is nearly used up. It may overrun by this much once
/// it continues.
const RESTING_LOOK: Duration = Duration::from_millis(50);

/// Measures a run, and reports when its time is used up.
pub struct Meter {
    timeout: Duration,
    compute: Duration,
    wait: Duration,
    clocks: Mutex<Clocks>,
}

struct Clocks {
    started: Instant,
    computed: Duration,
    waited: Duration,
    rested: Duration,
    /// What the run had used before it was put aside.
    before: Duration,
    /// Nothing counts while a resumed run repeats what it did before.
    is_replay: bool,
    /// When the current phase began.
    since: Instant,
    phase: Phase,
}

/// The phase of a run, for its clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The guest is running.
    Computing,
    /// The guest waits for the host.
    Waiting,
    /// The guest waits only for a person. No clock counts that.
    Resting,
    /// The guest could continue, and waits for its turn. Only the wall clock counts that.
    Queued,
}

impl Meter {
    /// The clocks of a run with these limits, which does not compute yet.
    pub fn new(limits: &Limits) -> Self {
        let now = Instant::now();
        Self {
            timeout: limits.timeout,
            compute: limits.compute,
            wait: limits.wait,
            clocks: Mutex::new(Clocks {
                started: now,
                computed: Duration::ZERO,
                waited: Duration::ZERO,
                rested: Duration::ZERO,
                before: Duration::ZERO,
                is_replay: false,
                since: now,
                phase: Phase::Queued,
            }),
        }
    }

    /// Counts nothing until the run [goes on](Meter::go_on). Until then its fuel bounds it.
    pub(crate) fn begin_again(&self) {
        self.clocks.lock().is_replay = true;
    }

    /// The run has reached the point where it was put aside, having used this much, and goes on.
    pub(crate) fn go_on(&self, spent: Spent) {
        let mut clocks = self.clocks.lock();
        (clocks.started, clocks.since) = (Instant::now(), Instant::now());
        clocks.before = Duration::from_micros(spent.wall);
        clocks.computed = Duration::from_micros(spent.computed);
        clocks.waited = Duration::from_micros(spent.waited);
        clocks.rested = Duration::ZERO;
        clocks.is_replay = false;
    }

    /// What the run has used, as [`Meter::go_on`] takes it.
    pub(crate) fn spent(&self) -> Spent {
        let (wall, computed, waited) = self.read();
        let microseconds = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        Spent { wall: microseconds(wall), computed: microseconds(computed), waited: microseconds(waited) }
    }

    /// From now on the run is in this phase.
    pub fn enter(&self, phase: Phase) {
        let mut clocks = self.clocks.lock();
        let now = Instant::now();
        let past = now - clocks.since;
        match clocks.phase {
            Phase::Computing => clocks.computed += past,
            Phase::Waiting => clocks.waited += past,
            Phase::Resting => clocks.rested += past,
            Phase::Queued => {}
        }
        (clocks.since, clocks.phase) = (now, phase);
    }

    /// Sets whether a waiting run waits for people alone.
    pub fn stand(&self, for_people: bool) {
        let phase = self.clocks.lock().phase;
        match (phase, for_people) {
            (Phase::Waiting, true) => self.enter(Phase::Resting),
            (Phase::Resting, false) => self.enter(Phase::Waiting),
            _ => {}
        }
    }

    /// The time limit that a run has exceeded while computing. Checked at each tick.
    pub fn check(&self) -> Result<(), LimitHit> {
        let clocks = self.clocks.lock();
        if clocks.is_replay {
            return Ok(());
        }
        let inside = if clocks.phase == Phase::Computing { clocks.since.elapsed() } else { Duration::ZERO };
        let computed = clocks.computed + inside;
        if computed > self.compute {
            return Err(hit(LimitName::Compute, self.compute, computed));
        }
        let wall = (clocks.before + clocks.started.elapsed()).saturating_sub(clocks.rested);
        if wall > self.timeout {
            return Err(hit(LimitName::Timeout, self.timeout, wall));
        }
        Ok(())
    }

    /// The time limit that a waiting run has exceeded, or how long to wait before it can exceed
    /// one.
    pub fn overdue(&self) -> Result<LimitHit, Duration> {
        let (wall, _, waited) = self.read();
        if self.clocks.lock().is_replay {
            return Err(RESTING_LOOK);
        }
        if wall >= self.timeout {
            return Ok(hit(LimitName::Timeout, self.timeout, wall));
        }
        if waited >= self.wait {
            return Ok(hit(LimitName::Wait, self.wait, waited));
        }
        // A run cannot wait for longer than wall time passes.
        let left = (self.timeout - wall).min(self.wait - waited);
        // No time passes for a resting run, however often this checks.
        Err(if self.clocks.lock().phase == Phase::Resting { left.max(RESTING_LOOK) } else { left })
    }

    /// Wall time without rest, time inside, and time waiting.
    pub fn read(&self) -> (Duration, Duration, Duration) {
        let clocks = self.clocks.lock();
        let waiting = if clocks.phase == Phase::Waiting { clocks.since.elapsed() } else { Duration::ZERO };
        let resting = if clocks.phase == Phase::Resting { clocks.since.elapsed() } else { Duration::ZERO };
        let wall = (clocks.before + clocks.started.elapsed()).saturating_sub(clocks.rested + resting);
        (wall, clocks.computed, clocks.waited + waiting)
    }
}

fn hit(name: LimitName, max: Duration, used: Duration) -> LimitHit {
    let milliseconds = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    LimitHit { name, max: milliseconds(max), used: milliseconds(used) }
}
