//! The states of a child, and every transition between them.
//!
//! ```text
//!             demand            handshake, list, activation
//!      cold ─────────▶ starting ───────────────────────────▶ ready ◀─▶ busy (calls in flight)
//!       ▲                 │  ▲                                 │ │
//!       │                 │  │ demand, after the backoff       │ │ idle too long, enough calls,
//!       │          failed │  │                                 │ │ another key, shutdown
//!       │                 ▼  │                            died │ ▼
//!       │               failing ◀──────────────────────────────┤ stopping
//!       │                 │                                    │    │
//!       │                 │ so many failures in a row          │    │
//!       │                 ▼                                    │    │
//!       │                open ◀────────────────────────────────┘    │
//!       │                 │ demand, after the rest: one probe ─▶ starting
//!       └───────────────────────────────────────────────────────────┘ nothing is left of it
//! ```
//!
//! A failure is a start that fails, or a child that dies by itself. Only an answered call ends a
//! row of them: a child that starts well and dies at its first call has not recovered. So after the
//! rest of an open circuit there is one start, and if it fails the circuit is open again.
//!
//! Nothing here waits, and nothing here reads a clock: each event has its time.

use std::{sync::Arc, time::Duration};

use backon::{BackoffBuilder as _, ExponentialBackoff, ExponentialBuilder};
use belljar_model::Breaker;
use tokio::time::Instant;

use crate::{error::StartError, options::Backoff};

/// The phase of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It is not running.
    Cold,
    /// A life has begun.
    Starting,
    /// It can be called.
    Ready,
    /// Its last life failed; the next begins no earlier than this.
    Failing { until: Instant },
    /// It failed too often, and is left alone until this time.
    Open { until: Instant },
    /// Its life is being ended by us.
    Stopping,
}

/// What a caller that needs the child has to do.
#[derive(Debug)]
pub(crate) enum Demand {
    /// Begin a life. The phase is already `starting`.
    Begin,
    /// Use it.
    Use,
    /// Wait for the phase to change.
    Wait,
    /// Ask again at this time.
    WaitUntil(Instant),
    /// There is nothing to wait for.
    Refused(Arc<StartError>),
}

/// One child's state.
#[derive(Debug)]
pub(crate) struct Machine {
    phase: Phase,
    breaker: Breaker,
    backoff: ExponentialBuilder,
    delays: ExponentialBackoff,
    failures: usize,
    /// Why the last life failed, if it failed before it was ready.
    fault: Option<Arc<StartError>>,
    /// The last failure, in words.
    failure: String,
}

impl Machine {
    pub(crate) fn new(breaker: Breaker, backoff: Backoff) -> Self {
        let backoff = ExponentialBuilder::new()
            .with_min_delay(backoff.first)
            .with_max_delay(backoff.most)
            .with_factor(2.0)
            .with_jitter()
            .without_max_times();
        let delays = backoff.build();
        Self { phase: Phase::Cold, breaker, backoff, delays, failures: 0, fault: None, failure: String::new() }
    }

    pub(crate) fn phase(&self) -> Phase {
        self.phase
    }

    /// Somebody needs the child.
    pub(crate) fn demand(&mut self, now: Instant) -> Demand {
        match self.phase {
            Phase::Ready => Demand::Use,
            Phase::Starting | Phase::Stopping => Demand::Wait,
            Phase::Failing { until } if now < until => match &self.fault {
                // A missing command will not appear in a moment, so callers neither wait nor cause
                // a storm of starts.
                Some(fault) => Demand::Refused(fault.clone()),
                None => Demand::WaitUntil(until),
            },
            Phase::Open { until } if now < until => Demand::Refused(Arc::new(StartError::Open {
                failures: self.failures,
                last: self.failure.clone(),
                retry_in: until - now,
            })),
            Phase::Cold | Phase::Failing { .. } | Phase::Open { .. } => {
                self.phase = Phase::Starting;
                Demand::Begin
            }
        }
    }

    /// It can be called from now on.
    pub(crate) fn ready(&mut self) {
        if self.phase == Phase::Starting {
            (self.phase, self.fault) = (Phase::Ready, None);
        }
    }

    /// It has answered a call.
    pub(crate) fn answered(&mut self) {
        if self.failures > 0 {
            (self.failures, self.delays) = (0, self.backoff.build());
        }
    }

    /// A start failed, and nothing of it is left.
    pub(crate) fn start_failed(&mut self, fault: Arc<StartError>, now: Instant) {
        self.failure = fault.reason();
        self.fault = Some(fault);
        self.fail(now);
    }

    /// It died by itself after it was ready, and nothing of it is left.
    pub(crate) fn died(&mut self, how: &str, now: Instant) {
        (self.failure, self.fault) = (how.to_owned(), None);
        self.fail(now);
    }

    /// Its life is being ended by us.
    pub(crate) fn stopping(&mut self) {
        self.phase = Phase::Stopping;
    }

    /// It was ended by us, and nothing of it is left.
    pub(crate) fn stopped(&mut self) {
        self.phase = Phase::Cold;
    }

    /// When the next life may begin, if the last one failed.
    pub(crate) fn next_try(&self) -> Option<Instant> {
        match self.phase {
            Phase::Failing { until } | Phase::Open { until } => Some(until),
            _ => None,
        }
    }

    /// Whether its last failure was one too many.
    pub(crate) fn has_tripped(&self) -> bool {
        matches!(self.phase, Phase::Open { .. })
    }

    fn fail(&mut self, now: Instant) {
        self.failures += 1;
        let is_open = self.failures >= self.breaker.failures.get();
        let delay = if is_open { self.breaker.rest } else { self.delays.next().unwrap_or(Duration::ZERO) };
        let until = now.checked_add(delay).unwrap_or(now);
        self.phase = if is_open { Phase::Open { until } } else { Phase::Failing { until } };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Duration = Duration::from_millis(100);
    const MOST: Duration = Duration::from_secs(30);

    fn machine() -> Machine {
        Machine::new(Breaker::default(), Backoff { first: FIRST, most: MOST })
    }

    fn fault() -> Arc<StartError> {
        Arc::new(StartError::CommandNotFound { command: "x".to_owned() })
    }

    fn begin(machine: &mut Machine, now: Instant) {
        assert!(matches!(machine.demand(now), Demand::Begin));
        assert!(matches!(machine.demand(now), Demand::Wait), "one start serves all who ask");
    }

    #[tokio::test]
    async fn a_child_is_started_once_used_stopped_and_started_again() {
        let (mut machine, now) = (machine(), Instant::now());
        begin(&mut machine, now);
        machine.ready();
        assert!(matches!(machine.demand(now), Demand::Use));
        machine.stopping();
        assert!(matches!(machine.demand(now), Demand::Wait));
        machine.stopped();
        begin(&mut machine, now);
    }

    #[tokio::test]
    async fn the_wait_after_a_death_grows_with_jitter_and_has_a_bound() {
        let breaker = Breaker { failures: 100.try_into().expect("not zero"), rest: MOST };
        let mut machine = Machine::new(breaker, Backoff { first: FIRST, most: MOST });
        let mut now = Instant::now();
        let mut delays = Vec::new();
        for _ in 0..20 {
            begin(&mut machine, now);
            machine.ready();
            machine.died("gone", now);
            let Demand::WaitUntil(until) = machine.demand(now) else { panic!("it waits") };
            delays.push(until - now);
            now = until;
        }
        for (doublings, delay) in delays.iter().enumerate() {
            let least = FIRST.saturating_mul(1 << doublings.min(16)).min(MOST);
            assert!((least..=least * 2).contains(delay), "{doublings}: {delay:?}");
        }
    }

    #[tokio::test]
    async fn a_start_that_failed_is_answered_for_until_it_may_be_tried_again() {
        let (mut machine, now) = (machine(), Instant::now());
        begin(&mut machine, now);
        machine.start_failed(fault(), now);
        assert!(
            matches!(machine.demand(now), Demand::Refused(fault) if matches!(*fault, StartError::CommandNotFound { .. }))
        );
        begin(&mut machine, now + FIRST * 2);
    }

    #[tokio::test]
    async fn five_failures_in_a_row_open_the_circuit_and_one_probe_follows() {
        let (mut machine, mut now) = (machine(), Instant::now());
        for failure in 1..=5 {
            begin(&mut machine, now);
            if failure % 2 == 0 {
                machine.start_failed(fault(), now);
            } else {
                // Ready does not mean recovered: nothing was answered.
                machine.ready();
                machine.died("gone", now);
            }
            if failure < 5 {
                assert!(matches!(machine.phase(), Phase::Failing { .. }));
                now = machine.next_try().expect("it failed");
            }
        }
        let rest = Breaker::default().rest;
        assert_eq!(machine.phase(), Phase::Open { until: now + rest });
        let refused = machine.demand(now + rest / 2);
        assert!(matches!(refused, Demand::Refused(fault) if matches!(*fault, StartError::Open { failures: 5, .. })));
        // The probe, which fails, and the next one, which answers.
        begin(&mut machine, now + rest);
        machine.ready();
        machine.died("gone", now + rest);
        assert_eq!(machine.phase(), Phase::Open { until: now + rest * 2 });
        begin(&mut machine, now + rest * 2);
        machine.ready();
        machine.answered();
        machine.died("gone", now + rest * 2);
        assert!(matches!(machine.phase(), Phase::Failing { .. }));
    }
}
