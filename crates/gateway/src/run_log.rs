//! Reports a run and its calls to the ledger and to listeners.
//!
//! A call whose trusted effect is not read-only is written before it is sent, so that after a crash
//! the ledger shows which calls may have happened. Read-only calls wait for nothing, and are
//! written with the end of the run.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant, SystemTime},
};

use belljar_approvals::{Change, Past, QuestionId, State};
use belljar_ledger::{
    Asker, Call, CallEnd, CallState, Digest, Entry, KeptRecording, Ledger, LedgerError, RestingRun, RunEnd, RunRest,
    RunStart,
};
use belljar_model::{
    ByteSize, CallContent, Denial, Effect, ErrorKind, JsonText, LedgerLevel, Recorded, RunError, RunEvent, RunId,
    RunStep, ToolPath, TraceContext, Usage, Verdict, says_error,
};
use belljar_policy::Decision;
use belljar_sandbox::CallError;
use belljar_upstream::Caller;
use parking_lot::{Mutex, MutexGuard};
use rand::{TryRngCore as _, rngs::OsRng};
use tokio::{runtime::Handle, task::spawn_blocking};

use crate::{
    Toolbox,
    content::ContentOf,
    judgements::Judgements,
    live_runs::OwnersWord,
    redacted,
    rests::{Gate, Judged, Terms},
    told::{RunLedger, Told},
    traced::{Traced, TracedRequest},
    unsettled::{Earlier, Unsettled},
};

/// Ended calls that wait for the end of their run. When there are more, they are written in batches
/// of about a hundred kilobytes.
const WAITING_CALLS: usize = 256;

/// Rows of a run's past that a person is shown.
const PAST: usize = 50;

/// Follows a run for its caller. It is called on the run's own path, and must not wait.
pub type Follower = Arc<dyn Fn(&RunStep) + Send + Sync>;

/// One run, as it is reported.
pub(crate) struct RunLog {
    told: Arc<Told>,
    follower: Option<Follower>,
    /// Where the run is kept and how much of it, if it is kept.
    kept: Option<(RunLedger, LedgerLevel)>,
    start: RunStart,
    clock: Instant,
    calls: Mutex<Calls>,
    judgements: Judgements,
    history: Mutex<History>,
    gate: Gate,
    /// Calls that it sent before its process was killed.
    unsettled: Unsettled,
    /// Whether the run does something new. A resumed run first repeats what it did before.
    is_live: AtomicBool,
    /// How long the run had taken when it was put aside, if it was.
    before: Option<Duration>,
    traced: Traced,
    /// Its span before it was first put aside.
    first_span: Option<TraceContext>,
    owners_word: OwnersWord,
}

/// What the run has done so far, for a person who decides about one of its calls.
#[derive(Default)]
struct History {
    past: Vec<Past>,
    questions: u64,
}

#[derive(Default)]
struct Calls {
    /// Calls without an intent whose answer has not come.
    open: BTreeMap<u64, Call>,
    /// Calls that have ended.
    ended: Vec<Call>,
    /// Whether the run has ended.
    is_over: bool,
}

impl RunLog {
    /// Begins a run that `asker` started by way of `origin`. `level` is how much of it the owner
    /// wants to keep, if that differs from other runs.
    ///
    /// # Errors
    /// The ledger is required and cannot be written.
    pub(crate) async fn begin(
        told: &Arc<Told>,
        origin: &'static str,
        asker: &Asker,
        source: Option<&[u8]>,
        level: Option<LedgerLevel>,
        (follower, request): (Option<Follower>, Option<&TracedRequest>),
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
            source: source.and_then(|source| kept.as_ref()?.0.ledger.digest(source)),
        };
        if let Some((RunLedger { ledger, required, .. }, _)) = &kept {
            let entry = Entry::Begin(start.clone());
            // A ledger that is not required has already logged its failure.
            let written = if *required { ledger.commit(entry).await } else { ledger.write(entry).await.or(Ok(())) };
            written.map_err(|fault| {
                RunError::new(ErrorKind::Config, format!("the script was not run: {fault}")).with_hint(fault.hint())
            })?;
        }
        let owners_word = told.live.enter(start.run);
        let log = Self {
            told: told.clone(),
            follower,
            kept,
            start,
            clock: Instant::now(),
            calls: Mutex::default(),
            judgements: Judgements::default(),
            history: Mutex::default(),
            gate: Gate::new(BTreeMap::new()),
            unsettled: Unsettled::default(),
            is_live: AtomicBool::new(true),
            before: None,
            traced: Traced::begin(told.sampling.as_ref(), request, None),
            first_span: None,
            owners_word,
        };
        log.tell_begun();
        Ok(Arc::new(log))
    }

    /// Resumes a run that was put aside.
    pub(crate) fn go_on(
        told: &Arc<Told>,
        origin: &'static str,
        asker: &Asker,
        (run, resting): (RunId, &RestingRun),
        terms: &Terms,
        (follower, request): (Option<Follower>, Option<&TracedRequest>),
    ) -> Arc<Self> {
        let kept = told.ledger.as_ref().map(|ledger| (ledger.clone(), terms.level().unwrap_or(ledger.level)));
        let (source_bytes, source) = resting.source;
        let judgements = Judgements::default();
        for Judged { number, server, tool, verdict, rule } in &terms.judged {
            judgements.add(*number, &ToolPath::new(server, tool), *verdict, rule.as_deref().map(Arc::from));
        }
        let log = Self {
            told: told.clone(),
            follower,
            kept,
            start: RunStart { run, at: resting.at, origin, asker: asker.clone(), source_bytes, source },
            clock: Instant::now(),
            calls: Mutex::default(),
            judgements,
            history: Mutex::new(History { past: terms.past.clone(), questions: terms.questions }),
            gate: Gate::new(terms.questions_by_call()),
            unsettled: Unsettled::default(),
            is_live: AtomicBool::new(false),
            before: Some(resting.took),
            traced: Traced::begin(told.sampling.as_ref(), request, terms.trace()),
            first_span: terms.trace(),
            owners_word: told.live.enter(run),
        };
        log.tell_begun();
        Arc::new(log)
    }

    fn tell_begun(&self) {
        let RunStart { origin, asker, .. } = &self.start;
        self.tell(|| RunStep::Begun {
            origin,
            principal: asker.principal().map(Arc::from),
            client: asker.client().map(Arc::from),
            trace: self.traced.recorded().cloned(),
        });
    }

    fn tell_ended(&self, error: Option<ErrorKind>, usage: Option<&Usage>) {
        self.told.live.leave(self.run(), &self.owners_word);
        self.tell(|| RunStep::Ended {
            error,
            ms: milliseconds(self.took()),
            guest_ms: usage.and_then(|usage| usage.guest_ms),
            fuel: usage.and_then(|usage| usage.fuel),
            told_bytes: usage.map(|usage| usage.output_bytes.saturating_add(usage.log_bytes)),
        });
    }

    /// Notes that from now on the run does something new.
    pub(crate) fn is_live(&self) {
        self.is_live.store(true, Relaxed);
    }

    /// Suspends a resumed run again, if it has done nothing new.
    pub(crate) async fn lay_down(&self) {
        self.calls.lock().is_over = true;
        self.tell_ended(Some(ErrorKind::Approval), None);
        if let Some((RunLedger { ledger, .. }, _)) = &self.kept
            && let Err(fault) = ledger.lay_down(self.run()).await
        {
            tracing::warn!(run = %self.run(), "a run that waits for a decision goes on when this process has ended: {fault}");
        }
    }

    /// The gate where its calls wait for people.
    pub(crate) fn gate(&self) -> &Gate {
        &self.gate
    }

    /// The calls that it sent before its process was killed.
    pub(crate) fn unsettled(&self) -> &Unsettled {
        &self.unsettled
    }

    /// What the script gets for a call that it made before its process was killed, with a remark
    /// for its author, or `None` if the call is to be sent. If the rules now deny the call, its
    /// arguments are not known.
    pub(crate) async fn settled(
        &self,
        (number, tool): (u64, &ToolPath),
        effect: Effect,
        arguments: Option<&JsonText>,
        (may_repeat, has_key): (bool, bool),
    ) -> Option<(Result<JsonText, CallError>, Option<String>)> {
        if self.unsettled.is_empty() {
            return None;
        }
        let ledger = self.kept.as_ref().map(|(kept, _)| &kept.ledger);
        let digest = arguments.and_then(|arguments| ledger?.digest(arguments.as_str().as_bytes()));
        let earlier = self.unsettled.settle(number, tool, digest, (may_repeat, has_key));
        let answer = earlier.answer(tool)?;
        let ok = matches!(earlier, Earlier::Done(_));
        self.tell(|| RunStep::CallBegun { call: number, tool: tool.clone(), effect });
        self.tell_answered((number, tool), effect, None, (ok, false), (Some(Duration::ZERO), None, None));
        self.remember(tool, ok);
        if let (Some(state), Some(ledger)) = (earlier.assumed(), ledger) {
            let end = CallEnd { state, took: Duration::ZERO, answer_bytes: None, answer: None };
            // The ledger itself logs a failed write.
            let _ = ledger.write(Entry::Answered { run: self.run(), number, end }).await;
        }
        Some(answer)
    }

    /// Withdraws a question of the run.
    pub(crate) fn withdraw(&self, question: QuestionId) {
        if let Some(ledger) = &self.told.ledger
            && !ledger.ledger.offer_change(Change::End(question, State::Withdrawn))
        {
            tracing::warn!("the ledger has no room for the end of a question to the owner");
        }
    }

    /// Why the run cannot be put aside, if it cannot, given the size of its recording.
    pub(crate) async fn cannot_rest(&self, recorded: Option<u64>, max: ByteSize) -> Option<String> {
        let Some((RunLedger { ledger, .. }, _)) = &self.kept else {
            return Some("nothing is kept of it, since the ledger is off".to_owned());
        };
        let Some(recorded) = recorded else { return Some("what it took in is too large to be kept".to_owned()) };
        match ledger.resting_bytes().await {
            Ok(others) if others.saturating_add(recorded) > max.as_u64() => Some(format!(
                "the runs that wait have {others} bytes, with their questions to the owner; the limit is {max}"
            )),
            Ok(_) => None,
            Err(fault) => Some(fault.to_string()),
        }
    }

    /// What is known of the run besides its recording.
    pub(crate) fn terms(&self) -> Terms {
        let History { past, questions } = &*self.history();
        let terms =
            Terms { judged: self.judgements.all(), past: past.clone(), questions: *questions, ..Terms::default() };
        let terms = terms.with_waits(self.gate.waiting()).with_trace(self.first_trace());
        match &self.kept {
            Some((_, level)) => terms.with_level(*level),
            None => terms,
        }
    }

    /// Suspends the run, which waits at its gate.
    ///
    /// # Errors
    /// It cannot be kept. Then the run is not over.
    pub(crate) async fn rest(
        &self,
        usage: &Usage,
        asked: Option<Digest>,
        (until, state): (SystemTime, Vec<u8>),
    ) -> Result<(), LedgerError> {
        let Some((RunLedger { ledger, .. }, _)) = &self.kept else { return Err(LedgerError::Closed) };
        let (start, calls) = (self.start.clone(), std::mem::take(&mut self.calls.lock().ended));
        let took = self.took();
        let rest = RunRest { start, took, usage: usage.clone(), calls, until, asked, state };
        ledger.commit(Entry::Rest(Box::new(rest))).await?;
        self.calls.lock().is_over = true;
        self.tell_ended(Some(ErrorKind::Approval), Some(usage));
        Ok(())
    }

    fn took(&self) -> Duration {
        self.before.unwrap_or_default() + self.clock.elapsed()
    }

    /// How many bytes its recording may have, if it is kept.
    pub(crate) fn max_recording(&self) -> Option<ByteSize> {
        let (ledger, level) = self.kept.as_ref()?;
        (*level == LedgerLevel::Recordings).then_some(ledger.max_recording)
    }

    /// The ledger in which it is kept, if it is.
    pub(crate) fn ledger(&self) -> Option<&Arc<dyn Ledger>> {
        self.kept.as_ref().map(|(kept, _)| &kept.ledger)
    }

    /// When the run was requested.
    pub(crate) fn began(&self) -> SystemTime {
        self.start.at
    }

    /// The span of a call, for the child.
    pub(crate) fn span_of(&self, number: u64) -> Option<TraceContext> {
        self.traced.of_call(number)
    }

    /// The same caller, with the run's span.
    pub(crate) fn traced_caller(&self, caller: Caller) -> Caller {
        match self.traced.own() {
            Some(run) => caller.with_run_trace(run.clone()),
            None => caller,
        }
    }

    /// The first span of the run that is recorded.
    fn first_trace(&self) -> Option<TraceContext> {
        self.first_span.clone().or_else(|| self.traced.recorded().map(|trace| trace.run.clone()))
    }

    /// Whether the owner has cancelled the run.
    pub(crate) fn owners_word(&self) -> &OwnersWord {
        &self.owners_word
    }

    /// The name of the run.
    pub(crate) fn run(&self) -> RunId {
        self.start.run
    }

    /// Notes a call that is about to be sent. If the call may change something, its intent is
    /// written first. Its trace contains the arguments as far as `content` allows, if the trace
    /// takes contents.
    ///
    /// # Errors
    /// The intent cannot be written, and the ledger is required: the call must not be sent.
    pub(crate) async fn sending(
        self: &Arc<Self>,
        number: u64,
        tool: &ToolPath,
        (effect, trusted, may_repeat): (Effect, Effect, bool),
        (arguments, content): (&JsonText, Content<'_>),
        decision: Option<&Decision>,
    ) -> Result<SentCall, LedgerError> {
        self.tell(|| RunStep::CallBegun { call: number, tool: tool.clone(), effect });
        let has_intent = trusted != Effect::ReadOnly;
        if let Some((RunLedger { ledger, required, .. }, _)) = &self.kept {
            let text = arguments.as_str().as_bytes();
            let call = Call {
                number,
                tool: tool.clone(),
                effect,
                trusted,
                begun: self.took(),
                arguments_bytes: text.len() as u64,
                arguments: ledger.digest(text),
                verdict: decision.map(|decision| decision.verdict),
                rule: decision.and_then(|decision| decision.rule.clone()),
                may_repeat,
                end: None,
            };
            if has_intent {
                let kept = ledger.commit(Entry::Calls { start: self.start.clone(), calls: vec![call] }).await;
                if *required {
                    kept?;
                }
            } else {
                self.calls.lock().open.insert(number, call);
            }
        }
        let content = match content {
            Content::Of(toolbox) if self.takes_content() => ContentOf::call(toolbox, tool),
            _ => None,
        };
        let taken = match &content {
            Some(content) => content.arguments(arguments).await,
            None => None,
        };
        self.tell(|| RunStep::Sent { call: number, arguments: taken });
        let verdict = decision.map(|decision| decision.verdict);
        let tool = tool.clone();
        Ok(SentCall { log: self.clone(), number, tool, effect, verdict, has_intent, content, sent: Instant::now() })
    }

    /// Notes the rules' verdict on a call, for the outcome.
    pub(crate) fn judged(&self, number: u64, tool: &ToolPath, decision: &Decision) {
        self.tell_judged(number, tool, decision.verdict, decision.rule.as_deref());
        self.judgements.add(number, tool, decision.verdict, decision.rule.clone());
    }

    /// `took` is `None` for a call that was not sent.
    fn tell_answered(
        &self,
        (call, tool): (u64, &ToolPath),
        effect: Effect,
        verdict: Option<Verdict>,
        (ok, fault): (bool, bool),
        (took, bytes, result): (Option<Duration>, Option<u64>, Option<Arc<CallContent>>),
    ) {
        let (sent, ms) = (took.is_some(), milliseconds(took.unwrap_or_default()));
        self.tell(|| RunStep::Answered {
            call,
            tool: tool.clone(),
            effect,
            verdict,
            sent,
            ok,
            fault,
            ms,
            bytes,
            result,
        });
    }

    fn tell_judged(&self, call: u64, tool: &ToolPath, verdict: Verdict, rule: Option<&str>) {
        self.tell(|| RunStep::Judged { call, tool: tool.clone(), verdict, rule: rule.map(str::to_owned) });
    }

    /// Notes a call that the owner's rules denied.
    pub(crate) async fn denied(
        &self,
        number: u64,
        tool: &ToolPath,
        (effect, trusted): (Effect, Effect),
        denial: &Denial,
    ) {
        let rule: Option<Arc<str>> = denial.rule.as_deref().map(Arc::from);
        self.tell_judged(number, tool, denial.verdict, rule.as_deref());
        self.judgements.add(number, tool, denial.verdict, rule.clone());
        self.tell(|| RunStep::CallBegun { call: number, tool: tool.clone(), effect });
        self.tell_answered((number, tool), effect, Some(denial.verdict), (false, false), (None, None, None));
        if self.kept.is_none() {
            return;
        }
        let end = CallEnd { state: CallState::Denied, took: Duration::ZERO, answer_bytes: None, answer: None };
        self.keep_ended(Call {
            number,
            tool: tool.clone(),
            effect,
            trusted,
            begun: self.took(),
            arguments_bytes: 0,
            arguments: None,
            verdict: Some(denial.verdict),
            rule,
            may_repeat: false,
            end: Some(end),
        })
        .await;
    }

    /// The calls that have ended, in order; only the last [`PAST`] kinds of them.
    pub(crate) fn so_far(&self) -> Vec<Past> {
        self.history().past.clone()
    }

    /// Whether the owner was asked anything.
    pub(crate) fn has_asked(&self) -> bool {
        self.history().questions > 0
    }

    /// Counts a question to the owner, and returns whether it may be asked.
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
        self.history.lock()
    }

    /// The rules' verdicts on the calls.
    pub(crate) fn judgements(&self) -> &Judgements {
        &self.judgements
    }

    /// Keeps a call that has ended until the run ends, or writes it with others.
    async fn keep_ended(&self, call: Call) {
        let full = {
            let mut calls = self.calls.lock();
            calls.ended.push(call);
            (calls.ended.len() >= WAITING_CALLS).then(|| std::mem::take(&mut calls.ended))
        };
        if let (Some(calls), Some((RunLedger { ledger, .. }, _))) = (full, &self.kept) {
            // The ledger itself logs a failed write.
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
            let end = Entry::End(Box::new(end));
            // An identical request, in any process, must not find this run still going on.
            let kept = if self.before.is_some() { ledger.commit(end).await } else { ledger.write(end).await };
            // The ledger has logged its failure, and the run is over in any case.
            let _ = kept;
        }
    }

    /// The recording as it may be kept. It may be large, so it is redacted on its own thread.
    async fn redacted(&self, toolbox: &Arc<Toolbox>, recorded: Recorded) -> Option<KeptRecording> {
        let (RunLedger { ledger, max_recording, redact, .. }, _) = self.kept.clone()?;
        let toolbox = toolbox.clone();
        let kept = spawn_blocking(move || redacted::kept(recorded, &redact, &toolbox, ledger.as_ref(), max_recording));
        let lost = |_| KeptRecording::NotReplayable { reason: "it could not be redacted".to_owned() };
        Some(kept.await.unwrap_or_else(lost))
    }

    /// Marks the run as ended, once.
    fn over(&self, error: Option<&RunError>, usage: &Usage, recording: Option<KeptRecording>) -> Option<RunEnd> {
        let calls = {
            let mut calls = self.calls.lock();
            if std::mem::replace(&mut calls.is_over, true) {
                return None;
            }
            let mut ended = std::mem::take(&mut calls.ended);
            ended.extend(std::mem::take(&mut calls.open).into_values());
            ended
        };
        self.tell_ended(error.map(|error| error.kind), Some(usage));
        Some(RunEnd {
            start: self.start.clone(),
            took: self.took(),
            error: error.map(|error| error.kind),
            line: error.and_then(|error| error.line),
            usage: usage.clone(),
            calls,
            recording,
        })
    }

    /// Whether the run's trace is recorded and takes the contents of calls.
    fn takes_content(&self) -> bool {
        self.traced.recorded().is_some() && self.told.sampling.as_ref().is_some_and(|sampling| sampling.takes_content())
    }

    /// Whether anybody listens.
    pub(crate) fn is_watched(&self) -> bool {
        self.follower.is_some() || self.is_heard()
    }

    /// Whether anybody listens to the events of this run.
    fn is_heard(&self) -> bool {
        self.told.is_heard(self.traced.recorded().is_some())
    }

    /// Whether the caller of the run hears what happens in it.
    pub(crate) fn is_followed(&self) -> bool {
        self.follower.is_some()
    }

    /// Sends a step to the listeners.
    pub(crate) fn tell(&self, step: impl FnOnce() -> RunStep) {
        if self.is_watched() {
            let step = step();
            if let Some(follower) = &self.follower {
                follower(&step);
            }
            if self.is_heard() {
                self.told.send(RunEvent { run: self.run(), at: SystemTime::now(), step });
            }
        }
    }
}

fn milliseconds(took: Duration) -> f64 {
    took.as_secs_f64() * 1e3
}

impl Drop for RunLog {
    fn drop(&mut self) {
        self.told.live.leave(self.start.run, &self.owners_word);
        if !self.is_live.load(Relaxed) && !self.calls.lock().is_over {
            // It waits as before.
            self.tell_ended(Some(ErrorKind::Approval), None);
            if let (Some((RunLedger { ledger, .. }, _)), Ok(runtime)) = (&self.kept, Handle::try_current()) {
                let (ledger, run) = (ledger.clone(), self.run());
                runtime.spawn(async move {
                    if let Err(fault) = ledger.lay_down(run).await {
                        tracing::warn!(%run, "a run that waits for a decision goes on when this process has ended: {fault}");
                    }
                });
            }
            return;
        }
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

/// Whether a trace may contain what a call carries.
#[derive(Clone, Copy)]
pub(crate) enum Content<'t> {
    /// Yes, without what these tools and the rules hide.
    Of(&'t Toolbox),
    /// No, since it is not known what to leave out.
    Hidden,
}

/// A call that has been sent.
pub(crate) struct SentCall {
    log: Arc<RunLog>,
    number: u64,
    tool: ToolPath,
    effect: Effect,
    verdict: Option<Verdict>,
    has_intent: bool,
    content: Option<ContentOf>,
    sent: Instant,
}

impl SentCall {
    /// Notes how it ended, and returns whether it failed.
    pub(crate) async fn ended(self, answer: Option<&JsonText>) -> bool {
        let state = answer.map_or(CallState::Fault, |answer| match says_error(answer) {
            true => CallState::ToolError,
            false => CallState::Ok,
        });
        let (log, number) = (&self.log, self.number);
        let (ok, took) = (state == CallState::Ok, self.sent.elapsed());
        let fault = state == CallState::Fault;
        let bytes = answer.map(|answer| answer.as_str().len() as u64);
        let result = match self.content.as_ref().zip(answer) {
            Some((content, answer)) => content.result(answer).await,
            None => None,
        };
        let answered = (Some(took), bytes, result);
        log.tell_answered((number, &self.tool), self.effect, self.verdict, (ok, fault), answered);
        let has_failed = state != CallState::Ok;
        log.remember(&self.tool, !has_failed);
        let Some((RunLedger { ledger, .. }, _)) = &log.kept else { return has_failed };
        let text = answer.map(|answer| answer.as_str().as_bytes());
        let end = CallEnd {
            state,
            took,
            answer_bytes: text.map(|text| text.len() as u64),
            answer: text.and_then(|text| ledger.digest(text)),
        };
        // The ledger itself logs a failed write, and the answer is returned in any case.
        if self.has_intent {
            let _ = ledger.write(Entry::Answered { run: log.run(), number, end }).await;
            return has_failed;
        }
        let open = log.calls.lock().open.remove(&number);
        if let Some(call) = open {
            log.keep_ended(Call { end: Some(end), ..call }).await;
        }
        has_failed
    }
}
