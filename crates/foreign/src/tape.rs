//! Everything that a run takes in goes through here: it is recorded, or, in a replay, comes from a
//! recording.

use std::sync::Arc;

use belljar_model::{CallRecord, JsonText, Outcome, Recorded};
use belljar_recording::{Cause, Clock, Question};
use belljar_sandbox::{
    CallError, Directory, GrantedTool, Tools,
    common::{CallEnd, HandOver, Recorder, Replay, Stop},
};
use parking_lot::Mutex;

/// The recording of a run in progress, or the one that it repeats. Clones share it.
#[derive(Clone)]
pub(crate) struct Tape(Arc<Mutex<State>>);

struct State {
    recorder: Recorder,
    replay: Option<Replay>,
    /// Why the run cannot be repeated although it is recorded.
    spoilt: Option<&'static str>,
    /// Whether the recording has nothing more for the run.
    has_stopped: bool,
    /// The last reading of a clock.
    last: u64,
}

/// The answer to a call, from a recording.
pub(crate) type Recalled = (u64, Result<JsonText, CallError>, Option<CallEnd>);

impl Tape {
    /// The tape of a run that is recorded, if the recorder has a writer.
    pub(crate) fn of_run(recorder: Recorder) -> Self {
        Self::new(recorder, None)
    }

    /// The tape of a run that is repeated.
    pub(crate) fn of_replay(replay: Replay) -> Self {
        Self::new(Recorder::new(None), Some(replay))
    }

    fn new(recorder: Recorder, replay: Option<Replay>) -> Self {
        Self(Arc::new(Mutex::new(State { recorder, replay, spoilt: None, has_stopped: false, last: 0 })))
    }

    pub(crate) fn is_replay(&self) -> bool {
        self.0.lock().replay.is_some()
    }

    /// Whether the run must end because its recording does.
    pub(crate) fn has_stopped(&self) -> bool {
        self.0.lock().has_stopped
    }

    /// A reading of a clock, in milliseconds: `live`, or the recorded one. WASI's clocks cannot
    /// fail, so after the end of the recording the clock stands still until the run is ended.
    pub(crate) fn clock(&self, clock: Clock, live: impl FnOnce() -> u64) -> u64 {
        let mut state = self.0.lock();
        let State { recorder, replay, has_stopped, last, .. } = &mut *state;
        match replay {
            None => {
                *last = live();
                recorder.clock(clock, *last);
            }
            Some(replay) => match replay.clock(clock) {
                Ok(reading) => *last = reading,
                Err(Stop) => *has_stopped = true,
            },
        }
        *last
    }

    /// Which pollables were ready, if that comes from a recording.
    pub(crate) fn recalled_poll(&self, pollables: u32, waits: bool) -> Option<Result<Vec<u32>, Stop>> {
        let mut state = self.0.lock();
        let answer = state.replay.as_mut()?.catalog(Question::Poll { pollables, waits });
        state.has_stopped |= answer.is_err();
        Some(answer.map(|answer| {
            let ready: Vec<u32> = answer.ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
            ready.into_iter().filter(|at| *at < pollables).collect()
        }))
    }

    /// Records which pollables were ready.
    pub(crate) fn polled(&self, pollables: u32, waits: bool, ready: &[u32]) {
        let mut state = self.0.lock();
        if state.recorder.is_on() {
            let answer = serde_json::json!(ready).to_string();
            state.recorder.catalog(Question::Poll { pollables, waits }, Ok(&answer));
        }
    }

    /// The tools of a namespace, or why there are none.
    pub(crate) async fn directory(&self, at: usize, tools: &dyn Tools) -> Result<Result<Arc<Directory>, String>, Stop> {
        let namespace = u32::try_from(at).unwrap_or(u32::MAX);
        if let Some(recalled) = self.recalled_directory(namespace) {
            return recalled;
        }
        let directory = tools.directory(at).await.map_err(|fault| fault.reason);
        self.0.lock().recorder.directory(namespace, directory.as_deref().map_err(String::as_str));
        Ok(directory)
    }

    fn recalled_directory(&self, namespace: u32) -> Option<Result<Result<Arc<Directory>, String>, Stop>> {
        let mut state = self.0.lock();
        let recalled = state.replay.as_mut()?.directory(namespace);
        state.has_stopped |= recalled.is_err();
        Some(recalled.map(|recalled| recalled.map(Arc::new)))
    }

    /// Records a call that is about to be made, with the fuel used so far.
    pub(crate) fn call(&self, number: u64, tool: &GrantedTool, arguments: &str, fuel: u64) -> Result<(), Stop> {
        let mut state = self.0.lock();
        if let Some(replay) = &mut state.replay {
            let is_same = replay.call(number, &tool.path, arguments, fuel);
            state.has_stopped |= is_same.is_err();
            return is_same;
        }
        state.recorder.call(number, tool, arguments, fuel);
        Ok(())
    }

    /// The answer that the component gets next, if it comes from a recording. `is_open` returns
    /// whether the component waits for a number.
    pub(crate) fn recalled_answer(&self, is_open: impl Fn(u64) -> bool) -> Result<Recalled, Stop> {
        let mut state = self.0.lock();
        let State { replay, has_stopped, .. } = &mut *state;
        let Some(replay) = replay else { return Err(Stop) };
        let next = replay.next_completion().and_then(|next| match next {
            HandOver::Answer { number, result, kept } if is_open(number) => Ok((number, result, kept)),
            HandOver::Answer { number, .. } | HandOver::Elapsed { number } => Err(replay.not_open(number)),
            // Runs of components are never suspended.
            HandOver::Live(..) | HandOver::PutAside => Err(Stop),
        });
        *has_stopped |= next.is_err();
        next
    }

    /// Records the answer that the component gets.
    pub(crate) fn answer(&self, number: u64, result: &Result<JsonText, CallError>, record: Option<&CallRecord>) {
        self.0.lock().recorder.answer(number, result, record);
    }

    /// The recorded calls whose answers the component never got.
    pub(crate) fn recalled_unanswered(&self) -> Vec<(u64, Option<CallEnd>)> {
        self.0.lock().replay.as_ref().map(Replay::unanswered).unwrap_or_default()
    }

    /// Records a call whose answer the component never got.
    pub(crate) fn unanswered(&self, number: u64, record: Option<&CallRecord>) {
        self.0.lock().recorder.unanswered(number, record);
    }

    /// Notes that the run depends on when something happened, so that it cannot be repeated.
    pub(crate) fn spoil(&self, reason: &'static str) {
        self.0.lock().spoilt.get_or_insert(reason);
    }

    /// The recording of a run that has ended.
    pub(crate) fn end(&self, cause: Cause<'_>, outcome: &Outcome) -> Option<Recorded> {
        let mut state = self.0.lock();
        let recorded = state.recorder.end(cause, outcome)?;
        Some(match state.spoilt {
            Some(reason) => Recorded::NotReplayable { reason: reason.to_owned() },
            None => recorded,
        })
    }

    /// Returns the replay when the run has ended.
    pub(crate) fn into_replay(self) -> Option<Replay> {
        self.0.lock().replay.take()
    }
}
