//! A run as its client may see it while it goes on: what it waits for, and its script's logs.

use std::{collections::BTreeMap, sync::Arc, time::Instant};

use belljar_gateway::Follower;
use belljar_model::{LogLevel, RunStep, ToolPath, display};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::mpsc;

/// Calls in flight that are listed one by one. Further ones are counted.
const MAX_CALLS: usize = 256;
/// Log entries of a script that wait for a slow client. Further ones are counted.
const MAX_ENTRIES: usize = 256;

/// One run.
#[derive(Clone)]
pub(super) struct Seen(Arc<Inner>);

struct Inner {
    began: Instant,
    state: Mutex<SeenState>,
    log: Option<mpsc::Sender<Entry>>,
}

/// A script's log entry.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) level: LogLevel,
    pub(super) text: String,
    /// How many entries were omitted before it.
    pub(super) left_out: u64,
}

#[derive(Default)]
struct SeenState {
    is_queued: bool,
    calls: BTreeMap<u64, Waiting>,
    left_out: u64,
}

/// A call that the run waits for.
struct Waiting {
    tool: ToolPath,
    since: Instant,
    /// Whether a person must decide about it.
    is_parked: bool,
    /// Its server's last progress message.
    said: Option<String>,
}

impl Seen {
    /// A run that begins now.
    pub(super) fn new() -> Self {
        Self::with(None)
    }

    /// The same, with its script's logs.
    pub(super) fn with_log() -> (Self, mpsc::Receiver<Entry>) {
        let (log, entries) = mpsc::channel(MAX_ENTRIES);
        (Self::with(Some(log)), entries)
    }

    fn with(log: Option<mpsc::Sender<Entry>>) -> Self {
        Self(Arc::new(Inner { began: Instant::now(), state: Mutex::default(), log }))
    }

    /// Receives what the gateway reports about the run.
    pub(super) fn follower(&self) -> Follower {
        let seen = self.clone();
        Arc::new(move |step| seen.note(step))
    }

    /// How long the client has waited, in seconds.
    pub(super) fn seconds(&self) -> f64 {
        self.0.began.elapsed().as_secs_f64().round()
    }

    /// What the run is doing, on one line.
    pub(super) fn says(&self) -> String {
        let seconds = self.seconds();
        let state = self.state();
        if state.is_queued {
            return format!("the script has been waiting for a free slot for {seconds} s");
        }
        let running = format!("the script has been running for {seconds} s");
        let Some(first) = state.calls.values().min_by_key(|call| (call.is_parked, call.since)) else { return running };
        let tool = first.tool.to_string();
        let tool = display::line(&tool);
        let waited = first.since.elapsed().as_secs();
        let others = match state.calls.len() - 1 {
            0 => String::new(),
            1 => " and another call".to_owned(),
            count => format!(" and {count} other calls"),
        };
        match (first.is_parked, &first.said) {
            (true, _) => format!("{running}; it waits for the owner to decide about a call of {tool}{others}"),
            (false, None) => format!("{running}; it waits for {tool} ({waited} s){others}"),
            (false, Some(said)) => format!("{running}; it waits for {tool} ({waited} s: {said}){others}"),
        }
    }

    fn note(&self, step: &RunStep) {
        let mut state = self.state();
        let waiting =
            |tool: &ToolPath, is_parked| Waiting { tool: tool.clone(), since: Instant::now(), is_parked, said: None };
        match step {
            RunStep::Queued => state.is_queued = true,
            RunStep::Admitted | RunStep::Started => state.is_queued = false,
            RunStep::Parked { call, tool } if state.calls.len() < MAX_CALLS => {
                state.calls.insert(*call, waiting(tool, true));
            }
            RunStep::Resumed { call } => {
                state.calls.remove(call);
            }
            RunStep::CallBegun { call, tool, .. } if state.calls.len() < MAX_CALLS => {
                state.calls.insert(*call, waiting(tool, false));
            }
            RunStep::Progress { call, text } => {
                if let Some(call) = state.calls.get_mut(call) {
                    call.said = Some(text.clone());
                }
            }
            RunStep::Answered { call, .. } => {
                state.calls.remove(call);
            }
            RunStep::Log { level, text } => {
                if let Some(log) = &self.0.log {
                    let entry = Entry { level: *level, text: text.clone(), left_out: state.left_out };
                    // A slow reader does not delay the run.
                    state.left_out = if log.try_send(entry).is_ok() { 0 } else { state.left_out.saturating_add(1) };
                }
            }
            _ => {}
        }
    }

    fn state(&self) -> MutexGuard<'_, SeenState> {
        // Nothing under the lock can panic halfway.
        self.0.state.lock()
    }
}

#[cfg(test)]
mod tests {
    use belljar_model::Effect;

    use super::*;

    fn begun(seen: &Seen, call: u64, tool: &str) {
        seen.note(&RunStep::CallBegun { call, tool: tool.parse().expect("a path"), effect: Effect::ReadOnly });
    }

    fn answered(seen: &Seen, call: u64, tool: &str) {
        let (tool, effect) = (tool.parse().expect("a path"), Effect::ReadOnly);
        seen.note(&RunStep::Answered {
            call,
            tool,
            effect,
            verdict: None,
            sent: true,
            ok: true,
            fault: false,
            ms: 1.0,
            bytes: None,
            result: None,
        });
    }

    #[test]
    fn a_run_says_what_it_waits_for() {
        let seen = Seen::new();
        seen.note(&RunStep::Queued);
        assert_eq!(seen.says(), "the script has been waiting for a free slot for 0 s");
        seen.note(&RunStep::Admitted);
        assert_eq!(seen.says(), "the script has been running for 0 s");
        begun(&seen, 1, "fs.copy");
        begun(&seen, 2, "fs.read");
        assert_eq!(seen.says(), "the script has been running for 0 s; it waits for fs.copy (0 s) and another call");
        seen.note(&RunStep::Progress { call: 1, text: "3 of 10".to_owned() });
        answered(&seen, 2, "fs.read");
        assert_eq!(seen.says(), "the script has been running for 0 s; it waits for fs.copy (0 s: 3 of 10)");
        answered(&seen, 1, "fs.copy");
        seen.note(&RunStep::Parked { call: 3, tool: "fs.write".parse().expect("a path") });
        let says = "the script has been running for 0 s; it waits for the owner to decide about a call of fs.write";
        assert_eq!(seen.says(), says);
        seen.note(&RunStep::Resumed { call: 3 });
        assert_eq!(seen.says(), "the script has been running for 0 s");
    }

    #[test]
    fn a_client_that_reads_no_log_loses_entries_and_is_told_how_many() {
        let (seen, mut entries) = Seen::with_log();
        let log = |text: &str| seen.note(&RunStep::log(LogLevel::Warn, text));
        for _ in 0..MAX_ENTRIES + 2 {
            log("x");
        }
        assert_eq!(entries.try_recv().map(|entry| entry.left_out), Ok(0));
        log("y");
        let last = std::iter::from_fn(|| entries.try_recv().ok()).last();
        assert_eq!(last, Some(Entry { level: LogLevel::Warn, text: "y".to_owned(), left_out: 2 }));
    }
}
