//! The ledger and the listeners, who are told of all runs.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use belljar_ledger::Ledger;
use belljar_model::{ByteSize, LedgerLevel, RedactRule, RunEvent};
use tokio::{sync::broadcast, time::sleep};

/// How many events a slow listener may be behind. It loses older ones, and is told how many.
const EVENTS: usize = 2048;

/// How often listeners look for events while runs go on. Waking them for each event would cost a
/// run a quarter of a call.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// How long they keep looking after the last event.
const LINGER: Duration = Duration::from_millis(50);

/// How long closing a ledger may take.
pub(crate) const CLOSING: Duration = Duration::from_secs(5);

/// Where runs are kept.
#[derive(Clone)]
pub struct RunLedger {
    /// The ledger.
    pub ledger: Arc<dyn Ledger>,
    /// Whether a ledger is required: without it nothing runs, and nothing that may change something
    /// is called.
    pub required: bool,
    /// How much is kept of a run, unless its owner asks for something else.
    pub level: LedgerLevel,
    /// How many bytes the recording of a run may have, where recordings are kept.
    pub max_recording: ByteSize,
    /// What is left out of recordings.
    pub redact: Arc<[RedactRule]>,
}

/// The ledger and the listeners, who are told of runs.
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

    /// The events from now on.
    pub(crate) fn events(&self) -> RunEvents {
        RunEvents { events: self.events.subscribe(), heard: None }
    }
}

/// The events of runs, for a listener that may be slow.
pub struct RunEvents {
    events: broadcast::Receiver<RunEvent>,
    /// When the last one came.
    heard: Option<Instant>,
}

/// What a listener gets.
#[derive(Debug, Clone, PartialEq)]
pub enum Watched {
    /// An event.
    Event(RunEvent),
    /// So many events were lost here, because the listener was slower than the runs.
    Lost(u64),
}

impl RunEvents {
    /// The next event, some milliseconds after it happened, or `None` if there will be no more
    /// runs.
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
