//! The runs of this moment, and the last ones that ended: what a view shows in addition to the
//! ledger.
//!
//! The ledger has a run's read-only calls only when the run has ended, and never has its logs. This
//! module has what a person sees in the meantime. All of it is bounded, and lost with the process.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use belljar_model::{Effect, ErrorKind, LogLevel, RunEvent, RunId, RunStep, ToolPath, Verdict};
use serde::Serialize;

/// The most runs that are known here: live ones, and ended ones until others need the room.
const MAX_RUNS: usize = 64;
/// The most calls of a run. Later ones are only counted.
const MAX_CALLS: usize = 1000;
/// The most log texts of a run. Earlier ones are only counted.
const MAX_LOGS: usize = 200;
/// The most characters of a progress message.
const MAX_PROGRESS: usize = 200;

/// A run, as known from its events.
#[derive(Debug, Clone, Serialize)]
pub struct LiveRun {
    /// The run.
    pub run: RunId,
    /// When its first event came, in milliseconds since 1970.
    pub at_ms: u64,
    /// Its origin, if the event of its start was received.
    pub origin: Option<&'static str>,
    /// Its principal, if anyone but the owner can ask.
    pub principal: Option<Arc<str>>,
    /// The name that its client gives itself.
    pub client: Option<Arc<str>>,
    /// `queued`, `running`, `ended`, or `unknown` if it is over and its end was lost.
    pub state: &'static str,
    /// The kind of its error, once it has ended with one.
    pub error: Option<ErrorKind>,
    /// How long it took, once it has ended.
    pub ms: Option<f64>,
    /// Its calls, by their numbers.
    pub calls: Vec<LiveCall>,
    /// How many further calls there were.
    pub more_calls: u64,
    /// The last texts that its script wrote.
    pub logs: VecDeque<LiveLog>,
    /// How many texts there were before them.
    pub earlier_logs: u64,
    #[serde(skip)]
    began: Instant,
    #[serde(skip)]
    index: BTreeMap<u64, usize>,
}

/// A call, as known from its events.
#[derive(Debug, Clone, Serialize)]
pub struct LiveCall {
    /// Its number in the run.
    pub number: u64,
    /// Its server.
    pub server: String,
    /// Its tool.
    pub tool: String,
    /// What it changes according to the tool's annotations, once that is known.
    pub effect: Option<Effect>,
    /// The verdict of the owner's rules.
    pub verdict: Option<Verdict>,
    /// The rule that decided.
    pub rule: Option<String>,
    /// `waiting` for a person, `sent`, `ok`, `failed`, `denied`, or `not_sent` if it was still
    /// waiting when its run ended.
    pub state: &'static str,
    /// Milliseconds from the start of the run.
    pub begun_ms: f64,
    /// How long it took, once it has ended.
    pub ms: Option<f64>,
    /// The server's latest progress message.
    pub progress: Option<String>,
}

/// A text that a script wrote.
#[derive(Debug, Clone, Serialize)]
pub struct LiveLog {
    /// The level.
    pub level: LogLevel,
    /// The beginning of the text.
    pub text: String,
    /// Milliseconds from the start of the run.
    pub at_ms: f64,
}

/// The runs of this moment.
#[derive(Debug, Default)]
pub(crate) struct LiveView {
    runs: BTreeMap<RunId, LiveRun>,
    /// The runs in the order of their first events.
    order: VecDeque<RunId>,
}

impl LiveView {
    pub(crate) fn take(&mut self, RunEvent { run, step, .. }: &RunEvent) {
        if !self.runs.contains_key(run) {
            self.make_room();
            self.order.push_back(*run);
        }
        self.runs.entry(*run).or_insert_with(|| LiveRun::new(*run)).take(step);
    }

    /// Marks runs that are over although the event of their end was lost. The ledger has it.
    pub(crate) fn keep_live(&mut self, live: &[RunId]) {
        let is_over = |run: &&mut LiveRun| run.state != "ended" && !live.contains(&run.run);
        for run in self.runs.values_mut().filter(is_over) {
            run.state = "unknown";
        }
    }

    pub(crate) fn run(&self, run: RunId) -> Option<LiveRun> {
        self.runs.get(&run).cloned()
    }

    /// All runs, latest first, without their calls and logs.
    pub(crate) fn runs(&self) -> Vec<LiveRun> {
        self.order.iter().rev().filter_map(|run| self.runs.get(run)).map(LiveRun::summary).collect()
    }

    /// Forgets the oldest run that has ended, or, if all are live, the oldest one.
    fn make_room(&mut self) {
        if self.runs.len() < MAX_RUNS {
            return;
        }
        let has_ended = |run: &RunId| self.runs.get(run).is_none_or(|run| ["ended", "unknown"].contains(&run.state));
        let at = self.order.iter().position(has_ended).unwrap_or(0);
        if let Some(run) = self.order.remove(at) {
            self.runs.remove(&run);
        }
    }
}

impl LiveRun {
    fn new(run: RunId) -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            run,
            at_ms: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
            origin: None,
            principal: None,
            client: None,
            state: "running",
            error: None,
            ms: None,
            calls: Vec::new(),
            more_calls: 0,
            logs: VecDeque::new(),
            earlier_logs: 0,
            began: Instant::now(),
            index: BTreeMap::new(),
        }
    }

    fn summary(&self) -> Self {
        let Self { run, at_ms, origin, state, error, ms, more_calls, earlier_logs, began, .. } = *self;
        Self {
            run,
            at_ms,
            origin,
            principal: self.principal.clone(),
            client: self.client.clone(),
            state,
            error,
            ms,
            calls: Vec::new(),
            more_calls: more_calls + self.calls.len() as u64,
            logs: VecDeque::new(),
            earlier_logs: earlier_logs + self.logs.len() as u64,
            began,
            index: BTreeMap::new(),
        }
    }

    fn take(&mut self, step: &RunStep) {
        match step {
            RunStep::Begun { origin, principal, client, .. } => {
                (self.origin, self.state) = (Some(*origin), "running");
                (self.principal, self.client) = (principal.clone(), client.clone());
            }
            RunStep::Queued => self.state = "queued",
            RunStep::Admitted | RunStep::Started => self.state = "running",
            RunStep::Log { level, text } => self.log(*level, text),
            RunStep::Judged { call, tool, verdict, rule } => {
                if let Some(call) = self.call(*call, tool) {
                    (call.verdict, call.rule) = (Some(*verdict), rule.clone());
                }
            }
            RunStep::Parked { call, tool } => {
                if let Some(call) = self.call(*call, tool) {
                    (call.state, call.ms) = ("waiting", None);
                }
            }
            RunStep::CallBegun { call, tool, effect } => {
                if let Some(call) = self.call(*call, tool) {
                    (call.effect, call.state, call.ms) = (Some(*effect), "sent", None);
                }
            }
            RunStep::Progress { call, text } => {
                if let Some(call) = self.index.get(call).and_then(|at| self.calls.get_mut(*at)) {
                    call.progress = Some(text.chars().take(MAX_PROGRESS).collect());
                }
            }
            RunStep::Answered { call, tool, effect, verdict, sent, ok, ms, .. } => {
                if let Some(call) = self.call(*call, tool) {
                    let verdict = verdict.or(call.verdict);
                    (call.effect, call.verdict, call.ms) = (Some(*effect), verdict, Some(*ms));
                    call.state = match (sent, ok) {
                        (false, _) => "denied",
                        (true, true) => "ok",
                        (true, false) => "failed",
                    };
                }
            }
            RunStep::Ended { error, ms, .. } => {
                (self.state, self.error, self.ms) = ("ended", *error, Some(*ms));
                self.ends_waiting();
            }
            _ => {}
        }
    }

    /// Marks calls that still wait when the run ends: nobody will send them. The calls of a
    /// suspended run start again when it is resumed.
    fn ends_waiting(&mut self) {
        let now = self.began.elapsed().as_secs_f64() * 1e3;
        for call in self.calls.iter_mut().filter(|call| call.state == "waiting") {
            (call.state, call.ms) = ("not_sent", Some(now - call.begun_ms));
        }
    }

    /// The call with this number, unless there are too many.
    fn call(&mut self, number: u64, tool: &ToolPath) -> Option<&mut LiveCall> {
        let at = match self.index.get(&number) {
            Some(at) => *at,
            None if self.calls.len() == MAX_CALLS => {
                self.more_calls += 1;
                return None;
            }
            None => {
                self.index.insert(number, self.calls.len());
                self.calls.push(LiveCall {
                    number,
                    server: tool.server().to_owned(),
                    tool: tool.tool().to_owned(),
                    effect: None,
                    verdict: None,
                    rule: None,
                    state: "sent",
                    begun_ms: self.began.elapsed().as_secs_f64() * 1e3,
                    ms: None,
                    progress: None,
                });
                self.calls.len() - 1
            }
        };
        self.calls.get_mut(at)
    }

    fn log(&mut self, level: LogLevel, text: &str) {
        if self.logs.len() == MAX_LOGS {
            self.logs.pop_front();
            self.earlier_logs += 1;
        }
        let at_ms = self.began.elapsed().as_secs_f64() * 1e3;
        self.logs.push_back(LiveLog { level, text: text.to_owned(), at_ms });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(run: u64, step: RunStep) -> RunEvent {
        RunEvent { run: RunId::from_bits(run), at: SystemTime::UNIX_EPOCH, step }
    }

    #[test]
    fn a_call_that_still_waits_when_its_run_ends_was_not_sent() {
        let (mut view, tool) = (LiveView::default(), || ToolPath::new("s", "t"));
        view.take(&event(1, RunStep::Parked { call: 1, tool: tool() }));
        view.take(&event(1, RunStep::Parked { call: 2, tool: tool() }));
        view.take(&event(1, RunStep::CallBegun { call: 2, tool: tool(), effect: Effect::External }));
        let states = |view: &LiveView| {
            let run = view.run(RunId::from_bits(1)).expect("it is known");
            run.calls.iter().map(|call| (call.state, call.ms.is_some())).collect::<Vec<_>>()
        };
        assert_eq!(states(&view), [("waiting", false), ("sent", false)]);
        let error = Some(ErrorKind::Cancelled);
        view.take(&event(1, RunStep::Ended { error, ms: 1.0, guest_ms: None, fuel: None, told_bytes: None }));
        assert_eq!(states(&view), [("not_sent", true), ("sent", false)]);
        // The run is resumed, and the owner is asked about the call again.
        view.take(&event(1, RunStep::Parked { call: 1, tool: tool() }));
        assert_eq!(states(&view), [("waiting", false), ("sent", false)]);
    }

    #[test]
    fn what_is_kept_of_runs_calls_and_logs_is_bounded() {
        let mut view = LiveView::default();
        let origin = "run";
        for run in 0..100 {
            view.take(&event(run, RunStep::Begun { origin, principal: None, client: None, trace: None }));
            let end = RunStep::Ended { error: None, ms: 1.0, guest_ms: None, fuel: None, told_bytes: None };
            view.take(&event(run, if run == 0 { RunStep::Queued } else { end }));
        }
        assert_eq!(view.runs().len(), MAX_RUNS);
        assert_eq!(view.run(RunId::from_bits(0)).expect("live runs stay").state, "queued");
        for at in 0..5000 {
            view.take(&event(0, RunStep::log(LogLevel::Log, "x")));
            let tool = ToolPath::new("s", "t");
            view.take(&event(0, RunStep::CallBegun { call: at, tool, effect: Effect::External }));
        }
        let run = view.run(RunId::from_bits(0)).expect("it is live");
        assert_eq!((run.calls.len(), run.more_calls), (MAX_CALLS, 4000));
        assert_eq!((run.logs.len(), run.earlier_logs), (MAX_LOGS, 4800));
        view.keep_live(&[]);
        assert_eq!(view.run(RunId::from_bits(0)).map(|run| run.state), Some("unknown"));
    }
}
