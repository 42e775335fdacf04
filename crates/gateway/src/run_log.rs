//! What becomes of a run and of its calls in the ledger, and what views of the run hear of it.
//!
//! A call whose trusted effect is not read-only is written before it is sent, on its own path: after a crash the ledger says which calls may
//! have happened. Read-only calls wait for nothing, and are written with the end of the run.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use belljar_approvals::Past;
use belljar_ledger::{Asker, Call, CallEnd, CallState, Entry, KeptRecording, Ledger, LedgerFault, RunEnd, RunStart};
use belljar_model::{
    ByteSize, Denial, Effect, ErrorKind, JsonText, LedgerLevel, Recorded, RedactRule, RunError, RunEvent, RunId,
    RunStep, ToolPath, Usage,
};
use belljar_policy::Decision;
use rand::{TryRngCore as _, rngs::OsRng};
use serde::Deserialize;
use tokio::{sync::broadcast, task::spawn_blocking};

use crate::{Toolbox, judgements::Judgements, redacted};

/// Ended calls that wait for the end of their run. More are written meanwhile, a hundred kilobytes at a time.
const WAITING_CALLS: usize = 256;

/// Events that a slow listener may be behind. It loses what is older, and is told how much.
const EVENTS: usize = 1024;

/// Rows of what a run did that a person is shown.
const PAST: usize = 50;

/// Where runs are kept.
#[derive(Clone)]
pub struct RunLedger {
    /// The ledger.
    pub ledger: Arc<dyn Ledger>,
    /// Whether nothing runs, and nothing that may change something is called, where it cannot be kept.
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
    events: broadcast::Sender<RunEvent>,
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
        RunEvents(self.events.subscribe())
    }
}

/// What happens in runs, for one who watches and may be slow.
pub struct RunEvents(broadcast::Receiver<RunEvent>);

/// What somebody who watches gets.
#[derive(Debug, Clone, PartialEq)]
pub enum Watched {
    /// Something happened.
    Event(RunEvent),
    /// So many events are lost, between the last and the next: whoever watches was slower than the runs.
    Lost(u64),
}

impl RunEvents {
    /// What comes next; nothing, when no run will come any more.
    ///
    /// # Cancellation
    /// Nothing is lost.
    pub async fn next(&mut self) -> Option<Watched> {
        match self.0.recv().await {
            Ok(event) => Some(Watched::Event(event)),
            Err(broadcast::error::RecvError::Lagged(lost)) => Some(Watched::Lost(lost)),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}

/// One run, as it is told.
pub(crate) struct RunLog {
    told: Arc<Told>,
    /// Where it is kept, if it is, and how much.
    kept: Option<(RunLedger, LedgerLevel)>,
    start: RunStart,
    clock: Instant,
    calls: Mutex<Calls>,
    judgements: Judgements,
    history: Mutex<History>,
}

/// What the run did so far, for a person who is to decide about a call of it.
#[derive(Default)]
struct History {
    past: Vec<Past>,
    questions: u64,
}

#[derive(Default)]
struct Calls {
    /// Those without an intent whose answer has not come.
    open: BTreeMap<u64, Call>,
    /// Those that have ended.
    ended: Vec<Call>,
    /// Whether the run has.
    is_over: bool,
}

impl RunLog {
    /// Begins a run that `asker` asked for by way of `origin`. `level` is what its owner wants to
    /// be kept of it, if that is not what is kept of all.
    ///
    /// # Errors
    /// The ledger is required and cannot be written.
    pub(crate) async fn begin(
        told: &Arc<Told>,
        origin: &'static str,
        asker: &Asker,
        source: Option<&str>,
        level: Option<LedgerLevel>,
    ) -> Result<Arc<Self>, RunError> {
        let bits = OsRng.try_next_u64().map_err(|error| {
            RunError::new(ErrorKind::Internal, format!("the system gave no random number to name the run by: {error}"))
        })?;
        let kept = told.ledger.as_ref().map(|ledger| (ledger.clone(), level.unwrap_or(ledger.level)));
        let kept = kept.filter(|(_, level)| *level != LedgerLevel::Off);
        let start = RunStart {
            run: RunId::from_bits(bits),
            at: SystemTime::now(),
            origin,
            asker: asker.clone(),
            source_bytes: source.map(|source| source.len() as u64),
            source: source.and_then(|source| kept.as_ref()?.0.ledger.digest(source.as_bytes())),
        };
        if let Some((RunLedger { ledger, required, .. }, _)) = &kept {
            let entry = Entry::Begin(start.clone());
            // What is not required has said itself that it failed.
            let written = if *required { ledger.commit(entry).await } else { ledger.write(entry).await.or(Ok(())) };
            written.map_err(|fault| {
                RunError::new(ErrorKind::Config, format!("nothing was run: {fault}")).with_hint(fault.hint())
            })?;
        }
        let log = Self {
            told: told.clone(),
            kept,
            start,
            clock: Instant::now(),
            calls: Mutex::default(),
            judgements: Judgements::default(),
            history: Mutex::default(),
        };
        log.tell(RunStep::Begun { origin });
        Ok(Arc::new(log))
    }

    /// How many bytes its recording may have, where it is kept.
    pub(crate) fn max_recording(&self) -> Option<ByteSize> {
        let (ledger, level) = self.kept.as_ref()?;
        (*level == LedgerLevel::Recordings).then_some(ledger.max_recording)
    }

    /// The name of the run.
    pub(crate) fn run(&self) -> RunId {
        self.start.run
    }

    /// Notes a call that is about to be sent, and keeps its intent first where it may change something.
    ///
    /// # Errors
    /// The intent cannot be kept, and the ledger is required: the call must not be sent.
    pub(crate) async fn sending(
        self: &Arc<Self>,
        number: u64,
        tool: &ToolPath,
        (effect, trusted): (Effect, Effect),
        arguments: &JsonText,
        decision: Option<&Decision>,
    ) -> Result<SentCall, LedgerFault> {
        self.tell(RunStep::CallBegun { call: number, tool: tool.clone(), effect });
        let has_intent = trusted != Effect::ReadOnly;
        if let Some((RunLedger { ledger, required, .. }, _)) = &self.kept {
            let text = arguments.as_str().as_bytes();
            let call = Call {
                number,
                tool: tool.clone(),
                effect,
                trusted,
                begun: self.clock.elapsed(),
                arguments_bytes: text.len() as u64,
                arguments: ledger.digest(text),
                verdict: decision.map(|decision| decision.verdict),
                rule: decision.and_then(|decision| decision.rule.clone()),
                end: None,
            };
            if has_intent {
                let kept = ledger.commit(Entry::Calls { start: self.start.clone(), calls: vec![call] }).await;
                if *required {
                    kept?;
                }
            } else {
                self.lock().open.insert(number, call);
            }
        }
        self.tell(RunStep::Sent { call: number });
        Ok(SentCall { log: self.clone(), number, tool: tool.clone(), has_intent, sent: Instant::now() })
    }

    /// Notes what the owner's rules said of a call, for the outcome.
    pub(crate) fn judged(&self, number: u64, tool: &ToolPath, decision: &Decision) {
        self.judgements.add(number, tool, decision.verdict, decision.rule.clone());
    }

    /// Notes a call that the owner's rules did not allow.
    pub(crate) async fn denied(
        &self,
        number: u64,
        tool: &ToolPath,
        (effect, trusted): (Effect, Effect),
        denial: &Denial,
    ) {
        let rule: Option<Arc<str>> = denial.rule.as_deref().map(Arc::from);
        self.judgements.add(number, tool, denial.verdict, rule.clone());
        self.tell(RunStep::CallBegun { call: number, tool: tool.clone(), effect });
        self.tell(RunStep::Answered { call: number, ok: false });
        if self.kept.is_none() {
            return;
        }
        let end = CallEnd { state: CallState::Denied, took: Duration::ZERO, answer_bytes: None, answer: None };
        self.keep_ended(Call {
            number,
            tool: tool.clone(),
            effect,
            trusted,
            begun: self.clock.elapsed(),
            arguments_bytes: 0,
            arguments: None,
            verdict: Some(denial.verdict),
            rule,
            end: Some(end),
        })
        .await;
    }

    /// The calls that have ended, in their order; the last [`PAST`] kinds of them.
    pub(crate) fn so_far(&self) -> Vec<Past> {
        self.history().past.clone()
    }

    /// Counts a question to the owner. Whether it may be asked.
    pub(crate) fn takes_a_question(&self, max: u64) -> bool {
        let mut history = self.history();
        let is_one = history.questions < max;
        history.questions = history.questions.saturating_add(1);
        is_one
    }

    fn remember(&self, tool: &ToolPath, ok: bool) {
        let past = &mut self.history().past;
        let tool = tool.to_string();
        match past.last_mut() {
            Some(last) if last.tool == tool && last.ok == ok => last.calls += 1,
            _ => {
                if past.len() == PAST {
                    past.remove(0);
                }
                past.push(Past { tool, ok, calls: 1 });
            }
        }
    }

    fn history(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the owner's rules said of the calls.
    pub(crate) fn judgements(&self) -> &Judgements {
        &self.judgements
    }

    /// Keeps a call that has ended until the run does, or writes it with others.
    async fn keep_ended(&self, call: Call) {
        let full = {
            let mut calls = self.lock();
            calls.ended.push(call);
            (calls.ended.len() >= WAITING_CALLS).then(|| std::mem::take(&mut calls.ended))
        };
        if let (Some(calls), Some((RunLedger { ledger, .. }, _))) = (full, &self.kept) {
            // Where a write fails the ledger says so itself.
            let _ = ledger.write(Entry::Calls { start: self.start.clone(), calls }).await;
        }
    }

    /// Writes the end of the run, with the calls that wait for it.
    pub(crate) async fn end(
        &self,
        toolbox: &Arc<Toolbox>,
        error: Option<&RunError>,
        usage: &Usage,
        recorded: Option<Recorded>,
    ) {
        let recording = match recorded {
            Some(recorded) => self.redacted(toolbox, recorded).await,
            None => None,
        };
        let Some(end) = self.over(error, usage, recording) else { return };
        if let Some((RunLedger { ledger, .. }, _)) = &self.kept {
            // It has said itself that it failed; the run is over all the same.
            let _ = ledger.write(Entry::End(Box::new(end))).await;
        }
    }

    /// The recording as it may be kept. It may be large, and is taken apart on a thread of its own.
    async fn redacted(&self, toolbox: &Arc<Toolbox>, recorded: Recorded) -> Option<KeptRecording> {
        let (RunLedger { ledger, max_recording, redact, .. }, _) = self.kept.clone()?;
        let toolbox = toolbox.clone();
        let kept = spawn_blocking(move || redacted::kept(recorded, &redact, &toolbox, ledger.as_ref(), max_recording));
        let lost = |_| KeptRecording::NotReplayable { reason: "it could not be redacted".to_owned() };
        Some(kept.await.unwrap_or_else(lost))
    }

    /// The end of the run, once.
    fn over(&self, error: Option<&RunError>, usage: &Usage, recording: Option<KeptRecording>) -> Option<RunEnd> {
        let calls = {
            let mut calls = self.lock();
            if std::mem::replace(&mut calls.is_over, true) {
                return None;
            }
            let mut ended = std::mem::take(&mut calls.ended);
            ended.extend(std::mem::take(&mut calls.open).into_values());
            ended
        };
        self.tell(RunStep::Ended { error: error.map(|error| error.kind) });
        Some(RunEnd {
            start: self.start.clone(),
            took: self.clock.elapsed(),
            error: error.map(|error| error.kind),
            line: error.and_then(|error| error.line),
            usage: usage.clone(),
            calls,
            recording,
        })
    }

    /// Whether anybody listens.
    pub(crate) fn is_watched(&self) -> bool {
        self.told.events.receiver_count() > 0
    }

    /// Tells those who listen.
    pub(crate) fn tell(&self, step: RunStep) {
        if self.is_watched() {
            let _ = self.told.events.send(RunEvent { run: self.run(), step });
        }
    }

    fn lock(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RunLog {
    fn drop(&mut self) {
        // A run whose caller went away.
        let error = RunError::new(ErrorKind::Cancelled, "the caller went away");
        if let Some(end) = self.over(Some(&error), &Usage::default(), None)
            && let Some((RunLedger { ledger, .. }, _)) = &self.kept
            && !ledger.offer(Entry::End(Box::new(end)))
        {
            tracing::warn!(run = %self.run(), "the end of a cancelled run is not in the ledger, which has no room for it");
        }
    }
}

/// A call that has been sent.
pub(crate) struct SentCall {
    log: Arc<RunLog>,
    number: u64,
    tool: ToolPath,
    has_intent: bool,
    sent: Instant,
}

impl SentCall {
    /// Notes how it ended. Whether it failed.
    pub(crate) async fn ended(self, answer: Option<&JsonText>) -> bool {
        let state = answer.map_or(CallState::Fault, |answer| match is_error(answer) {
            true => CallState::ToolError,
            false => CallState::Ok,
        });
        let (log, number) = (&self.log, self.number);
        log.tell(RunStep::Answered { call: number, ok: state == CallState::Ok });
        let has_failed = state != CallState::Ok;
        log.remember(&self.tool, !has_failed);
        let Some((RunLedger { ledger, .. }, _)) = &log.kept else { return has_failed };
        let text = answer.map(|answer| answer.as_str().as_bytes());
        let end = CallEnd {
            state,
            took: self.sent.elapsed(),
            answer_bytes: text.map(|text| text.len() as u64),
            answer: text.and_then(|text| ledger.digest(text)),
        };
        // Where a write fails the ledger says so itself, and the answer is there all the same.
        if self.has_intent {
            let _ = ledger.write(Entry::Answered { run: log.run(), number, end }).await;
            return has_failed;
        }
        let open = log.lock().open.remove(&number);
        if let Some(call) = open {
            log.keep_ended(Call { end: Some(end), ..call }).await;
        }
        has_failed
    }
}

/// Whether a `CallToolResult` says that the tool failed. No tree is made of it.
fn is_error(answer: &JsonText) -> bool {
    #[derive(Deserialize)]
    struct Said {
        #[serde(default, rename = "isError")]
        is_error: Option<bool>,
    }
    answer.as_str().contains("\"isError\"")
        && serde_json::from_str::<Said>(answer.as_str()).is_ok_and(|said| said.is_error == Some(true))
}

/// How long closing a ledger is waited for.
pub(crate) const CLOSING: Duration = Duration::from_secs(5);
