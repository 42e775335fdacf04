//! Who is told of all runs: the ledger that keeps them, and whoever watches.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use belljar_ledger::Ledger;
use belljar_model::{ByteSize, LedgerLevel, RedactRule, RunEvent};
use tokio::{sync::broadcast, time::sleep};

/// Events that a slow listener may be behind. It loses what is older, and is told how much.
const EVENTS: usize = 2048;

/// How often whoever listens looks while runs go on. To be woken by each event would cost the run
/// as much as a quarter of a call does.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// How long after the last event they go on so.
const LINGER: Duration = Duration::from_millis(50);

/// How long closing a ledger is waited for.
pub(crate) const CLOSING: Duration = Duration::from_secs(5);

/// Where runs are kept.
#[derive(Clone)]
pub struct RunLedger {
    /// The ledger.
    pub ledger: Arc<dyn Ledger>,
    /// Whether nothing runs, and nothing that may change something is called, where it cannot be
    /// kept.
    pub required: bool,
    /// How much is kept of a run, unless its owner asks for something else.
    pub level: LedgerLevel,
    /// How many bytes the recording of a run may have, where recordings are kept.
    pub max_recording: ByteSize,
    /// What is left out of recordings.
    pub redact: Arc<[RedactRule]>,
}

/// Who is told of runs: the ledger, and whoever listens.
pub(crate) struct Told {
    pub(crate) ledger: Option<RunLedger>,
    pub(crate) events: broadcast::Sender<RunEvent>,
}

impl Default for Told {
    fn default() -> Self {
        Self { ledger: None, events: broadcast::channel(EVENTS).0 }
    }
}

impl Told {
    /// The same with a ledger.
    pub(crate) fn with(ledger: RunLedger) -> Self {
        let Self { events, .. } = Self::default();
        Self { ledger: Some(ledger), events }
    }

    /// What happens from now on.
    pub(crate) fn events(&self) -> RunEvents {
        RunEvents { events: self.events.subscribe(), heard: None }
    }
}

/// What happens in runs, for one who watches and may be slow.
pub struct RunEvents {
    events: broadcast::Receiver<RunEvent>,
    /// When the last one came.
    heard: Option<Instant>,
}

/// What somebody who watches gets.
#[derive(Debug, Clone, PartialEq)]
pub enum Watched {
    /// Something happened.
    Event(RunEvent),
    /// So many events are lost, between the last and the next: whoever watches was slower than the
    /// runs.
    Lost(u64),
}

impl RunEvents {
    /// What comes next, some milliseconds after it happened; nothing, when no run will come any
    /// more.
    ///
    /// # Cancellation
    /// Nothing is lost.
    pub async fn next(&mut self) -> Option<Watched> {
        use broadcast::error::{RecvError, TryRecvError};

        let came = loop {
            match self.events.try_recv() {
                Err(TryRecvError::Empty) if self.heard.is_some_and(|heard| heard.elapsed() < LINGER) => {
                    sleep(LOOK_EVERY).await;
                }
                Err(TryRecvError::Empty) => break self.events.recv().await,
                Err(TryRecvError::Lagged(lost)) => break Err(RecvError::Lagged(lost)),
                Err(TryRecvError::Closed) => break Err(RecvError::Closed),
                Ok(event) => break Ok(event),
            }
        };
        self.heard = Some(Instant::now());
        match came {
            Ok(event) => Some(Watched::Event(event)),
            Err(RecvError::Lagged(lost)) => Some(Watched::Lost(lost)),
            Err(RecvError::Closed) => None,
        }
    }
}
