//! Counters and histograms of all runs since this process began to listen.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use belljar_gateway::Watched;
use belljar_model::{Effect, RunEvent, RunId, RunStep, Verdict};
use belljar_upstream::{ServerState, ServerStatus};

use crate::{exposition::Exposition, histogram::Histogram, labels::Names};

/// The most children whose last state is kept. There are fewer, but their keys come from calls.
const MAX_CHILDREN: usize = 4096;
/// The approximate number of bytes of English or JSON in one token of a model.
const BYTES_OF_A_TOKEN: u64 = 4;

/// Values that are read from their source when somebody asks for the metrics.
#[derive(Debug, Clone, Default)]
pub struct Gauges {
    /// The children.
    pub children: Vec<ServerStatus>,
    /// Questions that wait for the owner's decision, or `None` if that is not known.
    pub approvals: Option<u64>,
    /// Runs that have started but not ended.
    pub live: Vec<RunId>,
    /// How much of the sandbox live runs use, or `None` if that is not known.
    pub room: Option<Room>,
    /// The resident bytes of this process's memory, or `None` if that is not known.
    pub resident: Option<u64>,
    /// How many spans were sent and how many lost, if runs are traced.
    pub spans: Option<(u64, u64)>,
}

/// How much of a sandbox live runs use, and how much there is.
#[derive(Debug, Clone, Copy, Default)]
pub struct Room {
    /// How many runs may be live, and how many are.
    pub slots: (u32, u32),
    /// The bytes that live runs may take together, and those that the current ones may take.
    pub memory: (u64, u64),
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct CallLabels {
    server: Arc<str>,
    tool: Arc<str>,
    effect: &'static str,
    verdict: &'static str,
    outcome: &'static str,
}

/// The counts.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    names: Names,
    runs: BTreeMap<(&'static str, &'static str), u64>,
    calls: BTreeMap<CallLabels, u64>,
    run_seconds: Histogram,
    queue_seconds: Histogram,
    call_seconds: BTreeMap<Arc<str>, Histogram>,
    changes: BTreeMap<(Arc<str>, &'static str), u64>,
    /// The last state of each child, by its server, key and principal.
    states: BTreeMap<(String, Option<String>, Option<String>), ServerState>,
    origins: BTreeMap<RunId, &'static str>,
    queued: BTreeMap<RunId, Instant>,
    fuel: u64,
    /// Bytes of the answers that each run has received so far.
    answers: BTreeMap<RunId, u64>,
    answer_bytes: u64,
    told_bytes: u64,
    /// Bytes that the callers of runs did not have to read.
    spared_bytes: u64,
    computed: Duration,
    lost: u64,
}

impl Metrics {
    /// Counts an event. `live` returns the live runs, and is called after a loss.
    pub(crate) fn take(&mut self, watched: &Watched, live: impl FnOnce() -> Vec<RunId>) {
        match watched {
            Watched::Event(RunEvent { run, step, .. }) => self.step(*run, step),
            Watched::Child(ServerStatus { name, key, principal, state, .. }) => {
                if self.states.len() >= MAX_CHILDREN {
                    self.states.clear();
                }
                let child = (name.clone(), key.clone(), principal.clone());
                // A state is reported again when more is known about it.
                if self.states.insert(child, *state) != Some(*state) {
                    let change = (self.names.server(name), state.as_str());
                    *self.changes.entry(change).or_default() += 1;
                }
            }
            Watched::Lost(events) => {
                self.lost = self.lost.saturating_add(*events);
                let live = live();
                self.queued.retain(|run, _| live.contains(run));
                self.origins.retain(|run, _| live.contains(run));
                self.answers.retain(|run, _| live.contains(run));
            }
        }
    }

    fn step(&mut self, run: RunId, step: &RunStep) {
        match step {
            RunStep::Begun { origin, .. } => {
                self.origins.insert(run, origin);
            }
            RunStep::Queued => {
                self.queued.insert(run, Instant::now());
            }
            RunStep::Admitted | RunStep::Started => {
                if let Some(since) = self.queued.remove(&run) {
                    self.queue_seconds.add(since.elapsed());
                }
            }
            RunStep::Answered { tool, effect, verdict, sent, ok, ms, bytes, .. } => {
                if let Some(bytes) = bytes {
                    self.answer_bytes = self.answer_bytes.saturating_add(*bytes);
                    // A call may still end after its run is over.
                    if self.origins.contains_key(&run) {
                        let of_run = self.answers.entry(run).or_default();
                        *of_run = of_run.saturating_add(*bytes);
                    }
                }
                let (server, tool) = self.names.of(tool);
                if *sent {
                    self.call_seconds.entry(server.clone()).or_default().add(duration(*ms));
                }
                let outcome = match (sent, ok) {
                    (false, _) => "denied",
                    (true, true) => "ok",
                    (true, false) => "failed",
                };
                let verdict = verdict.map_or("none", Verdict::as_str);
                let labels = CallLabels { server, tool, effect: Effect::as_str(*effect), verdict, outcome };
                *self.calls.entry(labels).or_default() += 1;
            }
            RunStep::Ended { error, ms, guest_ms, fuel, told_bytes } => {
                self.queued.remove(&run);
                let (answers, told) = (self.answers.remove(&run).unwrap_or(0), told_bytes.unwrap_or(0));
                self.told_bytes = self.told_bytes.saturating_add(told);
                // If a run failed or was suspended, its caller may still have to read the answers
                // that it received.
                if error.is_none() {
                    self.spared_bytes = self.spared_bytes.saturating_add(answers.saturating_sub(told));
                }
                let origin = self.origins.remove(&run).unwrap_or("unknown");
                let outcome = error.map_or("ok", |kind| kind.as_str());
                *self.runs.entry((outcome, origin)).or_default() += 1;
                self.run_seconds.add(duration(*ms));
                self.fuel = self.fuel.saturating_add(fuel.unwrap_or(0));
                self.computed = self.computed.saturating_add(duration(guest_ms.unwrap_or(0.0)));
            }
            _ => {}
        }
    }

    /// All metrics as text.
    pub(crate) fn text(&mut self, gauges: &Gauges) -> String {
        let mut text = Exposition::default();
        self.write_runs(&mut text, gauges);
        self.write_calls(&mut text);
        self.write_children(&mut text, &gauges.children);
        self.write_context(&mut text);
        write_room(&mut text, gauges);
        if let Some(approvals) = gauges.approvals {
            text.metric("belljar_approvals_waiting", "gauge", "Questions to the owner that wait for a decision.");
            text.sample("belljar_approvals_waiting", &[], approvals);
        }
        text.metric("belljar_events_lost_total", "counter", "Events that were lost, because counting was too slow.");
        text.sample("belljar_events_lost_total", &[], self.lost);
        if let Some((sent, lost)) = gauges.spans {
            text.metric(
                "belljar_spans_total",
                "counter",
                "Spans of traces that the collector answered for, or that were lost.",
            );
            text.sample("belljar_spans_total", &[("outcome", "sent")], sent);
            text.sample("belljar_spans_total", &[("outcome", "lost")], lost);
        }
        text.into_text()
    }

    fn write_runs(&self, text: &mut Exposition, gauges: &Gauges) {
        text.metric("belljar_runs_total", "counter", "Runs that ended, by the kind of their error, or ok.");
        for ((outcome, origin), count) in &self.runs {
            text.sample("belljar_runs_total", &[("outcome", outcome), ("origin", origin)], count);
        }
        let queued = self.queued.keys().filter(|run| gauges.live.contains(run)).count();
        text.metric("belljar_runs_live", "gauge", "Runs that have begun and not ended, those in the queue included.");
        text.sample("belljar_runs_live", &[], gauges.live.len());
        text.metric("belljar_runs_queued", "gauge", "Runs that wait for a slot.");
        text.sample("belljar_runs_queued", &[], queued);
        text.metric("belljar_run_duration_seconds", "histogram", "From the beginning of a run to its end.");
        text.histogram("belljar_run_duration_seconds", &[], &self.run_seconds);
        text.metric(
            "belljar_queue_duration_seconds",
            "histogram",
            "How long runs that had to queue waited for a slot.",
        );
        text.histogram("belljar_queue_duration_seconds", &[], &self.queue_seconds);
        text.metric("belljar_fuel_total", "counter", "Fuel that scripts used.");
        text.sample("belljar_fuel_total", &[], self.fuel);
        text.metric("belljar_computed_seconds_total", "counter", "Time inside scripts.");
        text.sample("belljar_computed_seconds_total", &[], self.computed.as_secs_f64());
    }

    fn write_calls(&self, text: &mut Exposition) {
        text.metric("belljar_calls_total", "counter", "Tool calls that ended, with the verdict of the owner's rules.");
        for (CallLabels { server, tool, effect, verdict, outcome }, count) in &self.calls {
            let labels =
                [("server", &**server), ("tool", tool), ("effect", effect), ("verdict", verdict), ("outcome", outcome)];
            text.sample("belljar_calls_total", &labels, count);
        }
        text.metric("belljar_call_duration_seconds", "histogram", "From the sending of a call to its answer.");
        for (server, histogram) in &self.call_seconds {
            text.histogram("belljar_call_duration_seconds", &[("server", server)], histogram);
        }
    }

    /// Writes how much of a model's context the answers of tools would take, and how much the runs
    /// take.
    fn write_context(&self, text: &mut Exposition) {
        text.metric("belljar_answer_bytes_total", "counter", "Bytes of answers of tools that runs took in.");
        text.sample("belljar_answer_bytes_total", &[], self.answer_bytes);
        text.metric("belljar_told_bytes_total", "counter", "Bytes of the values and logs of runs.");
        text.sample("belljar_told_bytes_total", &[], self.told_bytes);
        text.metric(
            "belljar_tokens_spared_total",
            "counter",
            "Estimate: a token for each 4 bytes of answers beyond what the run told.",
        );
        text.sample("belljar_tokens_spared_total", &[], self.spared_bytes / BYTES_OF_A_TOKEN);
    }

    fn write_children(&mut self, text: &mut Exposition, children: &[ServerStatus]) {
        let mut now: BTreeMap<(Arc<str>, &str), u64> = BTreeMap::new();
        for ServerStatus { name, state, .. } in children {
            *now.entry((self.names.server(name), ServerState::as_str(*state))).or_default() += 1;
        }
        text.metric("belljar_children", "gauge", "Child servers, by their state.");
        for ((server, state), count) in &now {
            text.sample("belljar_children", &[("server", server), ("state", state)], count);
        }
        text.metric("belljar_child_changes_total", "counter", "Changes of state of child servers, by the new state.");
        for ((server, state), count) in &self.changes {
            text.sample("belljar_child_changes_total", &[("server", server), ("state", state)], count);
        }
    }
}

fn write_room(text: &mut Exposition, gauges: &Gauges) {
    if let Some(Room { slots: (slots, taken_slots), memory: (memory, taken_memory) }) = gauges.room {
        let (taken, free) = ([("state", "taken")], [("state", "free")]);
        text.metric("belljar_slots", "gauge", "Slots for live runs.");
        text.sample("belljar_slots", &taken, taken_slots);
        text.sample("belljar_slots", &free, slots.saturating_sub(taken_slots));
        text.metric("belljar_run_memory_bytes", "gauge", "Memory that live runs may take, and what is left of it.");
        text.sample("belljar_run_memory_bytes", &taken, taken_memory);
        text.sample("belljar_run_memory_bytes", &free, memory.saturating_sub(taken_memory));
    }
    if let Some(resident) = gauges.resident {
        text.metric("process_resident_memory_bytes", "gauge", "Resident memory of this process.");
        text.sample("process_resident_memory_bytes", &[], resident);
    }
}

/// Converts our milliseconds; a number that is not a duration counts as zero.
fn duration(ms: f64) -> Duration {
    Duration::try_from_secs_f64(ms / 1e3).unwrap_or_default()
}
