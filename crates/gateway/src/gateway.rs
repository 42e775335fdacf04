//! Runs scripts over the toolbox.

#[cfg(unix)]
mod component;
mod resume;

use std::{
    future::{pending, ready},
    sync::Arc,
    time::Duration,
};

use belljar_engine::Engine;
use belljar_ledger::{Asker, Digest, Holder, LedgerError};
use belljar_model::{
    ByteSize, CallRecord, Effect, ErrorKind, JsonText, LedgerLevel, Limits, LimitsPatch, MissingTool, Outcome,
    Recorded, RequestTrace, RunError, RunId, ToolPath, text_exceeds,
};
use belljar_recording::Remarks;
use belljar_sandbox::{Program, Recording, ReplayError, Tools};
use belljar_upstream::Caller;
use futures::{FutureExt as _, future::BoxFuture};

#[cfg(unix)]
pub use component::{ComponentJob, ComponentPlan};

use crate::{
    Approvals, Teller, Toolbox,
    artifacts::{self, ArtifactStore, KnownFiles, PutAway, Shown},
    grant::{Grant, Planned, ScriptCalls},
    hosted::{HostedRun, Joined, untaken},
    labels::Carrier,
    live_runs::CANCELLED_BY_OWNER,
    locks::RunLocks,
    media,
    plan::CallPlan,
    rests::{Terms, waiting_error},
    rules::AsRules,
    run_log::{Follower, RunLog},
    skills::{SKILLS, Skills},
    told::Told,
    traced::TracedRequest,
};

/// Runs scripts over all configured children.
#[derive(Clone)]
pub struct Gateway {
    toolbox: Arc<Toolbox>,
    engine: Engine,
    limits: Limits,
    client: String,
    max_recording: Option<ByteSize>,
    origin: &'static str,
    asker: Asker,
    profile: Option<Arc<str>>,
    holder: Option<Holder>,
    shows_previews: bool,
    ceiling: Effect,
    level: Option<LedgerLevel>,
    approvals: Option<Approvals>,
    teller: Option<Teller>,
    follower: Option<Follower>,
    request: Option<Arc<TracedRequest>>,
}

/// What a script would call, as far as its source shows.
#[derive(Debug, Default)]
pub struct ScriptPlan {
    /// The calls, in the order of the source.
    pub calls: Vec<CallPlan>,
    /// How many calls there are beside the listed ones.
    pub more: u64,
    /// Whether the script may make calls that it chooses while it runs.
    pub others: bool,
    /// Why the script could not be read, or which name in it is unknown.
    pub error: Option<RunError>,
}

impl Gateway {
    /// A gateway whose runs have at most `limits`, with a sandbox in this process or an engine in
    /// its own.
    pub fn new(toolbox: Arc<Toolbox>, engine: impl Into<Engine>, limits: Limits) -> Self {
        let engine: Engine = engine.into();
        if let Some(skills) = toolbox.skills() {
            skills.read_with(&engine);
        }
        Self {
            toolbox,
            engine,
            limits,
            client: String::new(),
            max_recording: None,
            origin: "library",
            asker: Asker::default(),
            profile: None,
            holder: None,
            shows_previews: false,
            ceiling: Effect::External,
            level: None,
            approvals: None,
            teller: None,
            follower: None,
            request: None,
        }
    }

    /// The same gateway for a client of this name. In the queue, clients take turns.
    #[must_use]
    pub fn for_client(&self, client: impl Into<String>) -> Self {
        Self { client: client.into(), ..self.clone() }
    }

    /// The same gateway for the run of this request, which may be part of its client's trace.
    #[must_use]
    pub fn with_request(&self, request: RequestTrace) -> Self {
        Self { request: Some(Arc::new(TracedRequest::new(request))), ..self.clone() }
    }

    /// Whether a run has begun for its request. Until then no event mentions the request.
    pub fn has_run_for_request(&self) -> bool {
        self.request.as_ref().is_some_and(|request| request.has_run())
    }

    /// Who follows a run, and the request that it is for.
    fn heard(&self) -> (Option<Follower>, Option<&TracedRequest>) {
        (self.follower.clone(), self.request.as_deref())
    }

    /// The same gateway for runs with this origin, which the ledger keeps.
    #[must_use]
    pub fn with_origin(&self, origin: &'static str) -> Self {
        Self { origin, ..self.clone() }
    }

    /// The same gateway for runs of this asker, which the ledger keeps.
    #[must_use]
    pub fn with_asker(&self, asker: Asker) -> Self {
        Self { asker, ..self.clone() }
    }

    /// The same gateway for an entry with this profile, which the owner chose and rules can name.
    #[must_use]
    pub fn with_profile(&self, profile: &str) -> Self {
        Self { profile: Some(profile.into()), ..self.clone() }
    }

    /// The same gateway for runs with things that live on between runs and belong to this holder.
    /// Without a holder, scripts have none.
    #[must_use]
    pub fn with_holder(&self, holder: Holder) -> Self {
        Self { holder: Some(holder), ..self.clone() }
    }

    /// The same gateway, whose scripts may only call tools up to this effect. The owner, not the
    /// server, says what a tool does.
    #[must_use]
    pub fn with_ceiling(&self, ceiling: Effect) -> Self {
        Self { ceiling, ..self.clone() }
    }

    /// The same gateway with this level for the ledger, whatever the level of other runs is. Only
    /// the owner may choose it.
    #[must_use]
    pub fn with_ledger_level(&self, level: LedgerLevel) -> Self {
        Self { level: Some(level), ..self.clone() }
    }

    /// The same gateway with somebody who can be asked about calls. Without one, a call that needs
    /// a person's agreement is an error.
    #[must_use]
    pub fn with_approvals(&self, approvals: Approvals) -> Self {
        Self { approvals: Some(approvals), ..self.clone() }
    }

    /// The same gateway with somebody who is notified of each question, if the rule wants that.
    #[must_use]
    pub fn with_teller(&self, teller: Teller) -> Self {
        Self { teller: Some(teller), ..self.clone() }
    }

    /// The same gateway with a follower, who hears what happens in its runs.
    #[must_use]
    pub fn with_follower(&self, follower: Follower) -> Self {
        Self { follower: Some(follower), ..self.clone() }
    }

    /// The same gateway for a model, which is shown previews of a large value and of long logs. The
    /// whole of each then becomes an artifact of the gateway's holder. Without a holder, or without
    /// a store for artifacts, nothing changes.
    #[must_use]
    pub fn with_previews(&self) -> Self {
        Self { shows_previews: true, ..self.clone() }
    }

    /// The same gateway with other limits.
    #[must_use]
    pub fn with_limits(&self, limits: Limits) -> Self {
        Self { limits, ..self.clone() }
    }

    /// The same gateway, which records its runs within this many bytes each:
    /// [`Outcome::recording`].
    #[must_use]
    pub fn with_recording(&self, max: ByteSize) -> Self {
        Self { max_recording: Some(max), ..self.clone() }
    }

    /// Repeats a recorded run. No tool is called, and no child is started.
    ///
    /// # Errors
    /// [`ReplayError`]: the first difference, or why nothing was replayed.
    pub async fn replay(&self, recording: &Recording) -> Result<Outcome, ReplayError> {
        script_of(recording)?;
        let ceiling = self.replay_ceiling();
        let mut outcome = self.engine.replay(recording, &ceiling).await?;
        media::take_out(&mut outcome, &ceiling);
        forget_missing(&mut outcome);
        Ok(outcome)
    }

    /// Runs another script against the answers of a recorded run. No tool is called, and no child
    /// is started.
    ///
    /// # Errors
    /// [`ReplayError`], when nothing was run.
    pub async fn rehearse(&self, source: &str, recording: &Recording) -> Result<Outcome, ReplayError> {
        script_of(recording)?;
        let ceiling = self.replay_ceiling();
        let mut outcome = self.engine.rehearse(source, recording, &ceiling).await?;
        media::take_out(&mut outcome, &ceiling);
        forget_missing(&mut outcome);
        Ok(outcome)
    }

    /// The children, for searches and single calls.
    pub fn toolbox(&self) -> &Arc<Toolbox> {
        &self.toolbox
    }

    /// Converts a script to the form of a named one: unchanged if it exports a function, or else
    /// wrapped in one. Nothing is run.
    ///
    /// # Errors
    /// Why it cannot be converted, for its author.
    pub async fn named_script(&self, source: &str) -> Result<String, String> {
        Skills::named(&self.engine, source).await
    }

    /// A script's run for a client. It starts when the result is awaited.
    pub fn execute(&self, source: impl Into<String>) -> Execution<'_> {
        self.execution(Work::Script(source.into()))
    }

    /// Resumes a run that waits for the owner's decisions. It starts when the result is awaited. If
    /// nothing is decided yet, it waits as long as a waiting run keeps its slot. After that, the
    /// outcome is again of the kind `approval`.
    pub fn resume(&self, run: RunId) -> Execution<'_> {
        self.execution(Work::Run(run))
    }

    fn execution(&self, work: Work) -> Execution<'_> {
        let (caller, cancelled) = (Caller::default(), pending().boxed());
        Execution { gateway: self, work, hosted: None, asked: None, caller, cancelled }
    }

    async fn executed(
        &self,
        source: String,
        hosted: Option<HostedRun>,
        asked: &LimitsPatch,
        caller: Caller,
        cancelled: BoxFuture<'_, ()>,
    ) -> Outcome {
        let limits = match asked.within(&self.limits) {
            Ok(limits) => limits,
            Err(fault) => {
                let hint = "request less, or have belljar's owner raise the limit in its configuration";
                return Outcome::refused(RunError::new(ErrorKind::Usage, fault.to_string()).with_hint(hint));
            }
        };
        let limits = match self.previews().filter(|_| hosted.is_none()) {
            Some(artifacts) => artifacts::roomier(limits, asked, &artifacts.settings),
            None => limits,
        };
        let cancelled = self.with_skills(cancelled).await;
        // The program would not be there when the run goes on.
        let can_rest = hosted.is_none();
        let asked_digest = self.digest_of(&source, asked).filter(|_| can_rest);
        if let Some(run) = self.resting_of(asked_digest).await {
            // Boxed, because it needs a large state, and most runs do without it.
            return Box::pin(self.gone_on(caller, run, cancelled)).await;
        }
        let (told, heard, bytes) = (self.toolbox.told(), self.heard(), Some(source.as_bytes()));
        let log = match RunLog::begin(told, self.origin, &self.asker, bytes, self.level, heard).await {
            Ok(log) => log,
            Err(error) => return Outcome::refused(error),
        };
        let artifacts = self.artifacts().is_some() && hosted.is_none();
        let grant = Grant::new(self.toolbox.clone(), &source, limits.timeout, caller, log.clone())
            .with_ceiling(self.ceiling)
            .with_caller(AsRules::new(self.asker.clone(), self.profile.clone()))
            // What a program hands its runs belongs to the program.
            .with_holder(self.holder.clone().filter(|_| hosted.is_none()))
            .with_artifacts(artifacts)
            .with_approvals(self.approvals, self.teller.clone());
        let grant = Arc::new(match &hosted {
            Some(hosted) => grant.with_servers(hosted.own.servers()),
            None => grant,
        });
        let ends = Ends(grant.locks());
        let rest_after = self.rest_after().filter(|_| can_rest);
        let max_recording = self.max_recording_of(&log);
        let keep = grant.has_keep();
        let program = Program { max_recording, rest_after, keep, artifacts, ..Program::new(source) };
        let program = program.with_client(self.client.as_str());
        let keeps_media = hosted.is_some();
        let functions = hosted.as_ref().map(|hosted| hosted.functions.clone());
        let (program, tools): (Program, Arc<dyn Tools>) = match hosted {
            Some(hosted) => {
                let HostedRun { prelude, builtins, extended_value, .. } = hosted.clone();
                let program = Program { prelude, builtins, extended_value, ..program };
                (program, Arc::new(Joined::new(hosted, self.toolbox.clone(), grant.clone())))
            }
            None => (program, grant.clone()),
        };
        let cancelled = first_of(cancelled, log.owners_word().cancelled());
        let outcome = self.engine.run(program).limits(&limits).tools(tools).cancel_on(cancelled).await;
        drop(ends);
        let overfull = functions.and_then(|functions| functions.overfull());
        Box::pin(self.ended(Ran { log, grant, limits, asked, asked_digest, keeps_media, overfull }, outcome)).await
    }

    /// Reads the named scripts again for a run that can be cancelled. After that, the lists of its
    /// servers are known, even to a resumed run.
    async fn with_skills<'c>(&self, mut cancelled: BoxFuture<'c, ()>) -> BoxFuture<'c, ()> {
        if !self.toolbox.has_skills() {
            return cancelled;
        }
        let read = async {
            self.toolbox.refresh_skills().await;
            if let Some(skills) = self.toolbox.position_of(SKILLS) {
                self.toolbox.server(skills).await;
            }
        };
        tokio::select! {
            () = read => cancelled,
            // The run begins, and ends at once.
            () = &mut cancelled => ready(()).boxed(),
        }
    }

    /// The calls in a script, what they may change, and what the owner's rules say about them. The
    /// script is not run, nothing is called, and no server is started: only cached tool lists are
    /// used.
    pub async fn plan(&self, source: String) -> ScriptPlan {
        self.toolbox.refresh_skills().await;
        let planned = Planned::default();
        let (told, level) = (Told::silent(), Some(LedgerLevel::Off));
        let begun = RunLog::begin(&told, self.origin, &self.asker, None, level, (None, None)).await;
        let log = match begun {
            Ok(log) => log,
            Err(error) => return ScriptPlan { error: Some(error), ..ScriptPlan::default() },
        };
        let grant = Grant::new(self.toolbox.clone(), &source, self.limits.timeout, Caller::default(), log)
            .with_ceiling(self.ceiling)
            .with_caller(AsRules::new(self.asker.clone(), self.profile.clone()))
            .planning(planned.clone());
        // The names are known, and nobody is asked.
        let (artifacts, keep) = (self.toolbox.artifacts().is_some(), self.toolbox.keep().enabled);
        let program = Program::new(source).with_client(self.client.as_str()).only_planned();
        let program = Program { artifacts, keep, ..program };
        let outcome = self.engine.run(program).limits(&self.limits).tools(Arc::new(grant)).await;
        let found = planned.lock().take();
        let ScriptCalls { calls, more, others } =
            found.unwrap_or(ScriptCalls { calls: Vec::new(), more: 0, others: false });
        ScriptPlan { calls, more, others, error: outcome.result.err() }
    }

    /// How long a run that waits for people stays live, if it can be put aside.
    fn rest_after(&self) -> Option<Duration> {
        let approvals = self.approvals.filter(|approvals| approvals.by_command)?;
        let can_be = self.engine.can_put_aside()
            && self.toolbox.told().ledger.is_some()
            && self.toolbox.policy().is_some_and(|policy| policy.asks());
        can_be.then_some(approvals.hold)
    }

    /// How many bytes the recording of a run may have.
    fn max_recording_of(&self, log: &RunLog) -> Option<ByteSize> {
        let of_rest = self.rest_after().and_then(|_| Some(self.toolbox.told().ledger.as_ref()?.max_recording));
        self.max_recording.max(log.max_recording()).max(of_rest)
    }

    /// The digest of the request and its asker, if such a run can be put aside.
    fn digest_of(&self, source: &str, asked: &LimitsPatch) -> Option<Digest> {
        self.rest_after()?;
        let holder = self.holder.as_ref().map(|holder| (&holder.principal, &holder.workspace));
        let who = (self.asker.principal(), self.asker.client(), self.origin, self.profile.as_deref(), holder);
        let places = self.toolbox.places();
        let text = serde_json::to_vec(&(who, source, asked, LimitsPatch::from(&self.limits), places)).ok()?;
        self.toolbox.told().ledger.as_ref()?.ledger.digest(&text)
    }

    /// The waiting run of an earlier identical request. A caller who asks again because the answer
    /// came too late does not want everything to happen twice.
    async fn resting_of(&self, asked: Option<Digest>) -> Option<RunId> {
        let ledger = &self.toolbox.told().ledger.as_ref()?.ledger;
        match ledger.resting_of(asked?).await {
            Ok(run) => run,
            Err(fault) => {
                tracing::debug!("runs that wait could not be looked for: {fault}");
                None
            }
        }
    }

    /// The artifacts of this gateway's runs, if they have any.
    fn artifacts(&self) -> Option<&ArtifactStore> {
        self.toolbox.artifacts().filter(|_| self.holder.is_some() && self.level != Some(LedgerLevel::Off))
    }

    /// The same, if large values are shown as previews.
    fn previews(&self) -> Option<&ArtifactStore> {
        self.artifacts().filter(|_| self.shows_previews)
    }

    /// The limits that a recording may ask for. It may be of a run whose value was stored as an
    /// artifact.
    fn replay_ceiling(&self) -> Limits {
        match self.toolbox.artifacts() {
            Some(artifacts) => artifacts::roomier(self.limits.clone(), &LimitsPatch::default(), &artifacts.settings),
            None => self.limits.clone(),
        }
    }

    /// Whether a person at the command line asks, as opposed to a model.
    fn is_command(&self) -> bool {
        self.origin == "run"
    }

    /// Puts aside a run whose calls all wait for people.
    async fn put_aside(&self, ran: &Ran<'_>, outcome: &mut Outcome) {
        let Ran { log, grant, asked_digest, .. } = ran;
        let terms = Terms {
            profile: grant.who().profile().map(str::to_owned),
            ceiling: Some(grant.ceiling()),
            workspace: grant.holder().map(|holder| holder.workspace.to_string()),
            labels: self.toolbox.carried(grant.who()),
            counts: grant.who().counts().used(),
            passed: grant.who().gates().all(),
            remarks: grant.remarks().all(),
            asked: *asked_digest,
            places: self.toolbox.places(),
            ..log.terms()
        };
        let state = match &outcome.recording {
            Some(Recorded::Whole(recording)) => terms.with_recording(recording),
            _ => None,
        };
        let kept = match state {
            Some(state) => log.rest(&outcome.usage, *asked_digest, (terms.until(), state)).await,
            None => Err(LedgerError::Overloaded),
        };
        if self.max_recording.is_none() {
            outcome.recording = None;
        }
        log.judgements().note_in(outcome);
        outcome.result = Err(match kept {
            Ok(()) => waiting_error(log.run(), &terms.waits, self.is_command()),
            Err(fault) => {
                terms.waits.iter().for_each(|wait| log.withdraw(wait.question()));
                let text = format!("the run waited for the owner's decision, and could not be put aside: {fault}");
                let error = RunError::new(ErrorKind::Internal, text).with_hint("no call that waited was sent");
                log.end(&self.toolbox, Some(&error), &outcome.usage, None).await;
                error
            }
        });
        self.toolbox.keep_observations(true).await;
        self.toolbox.keep_measures_now_and_then();
    }

    /// The result of a run that has ended or was put aside.
    async fn ended(&self, ran: Ran<'_>, mut outcome: Outcome) -> Outcome {
        outcome.run = Some(ran.log.run());
        if ran.log.gate().is_closed() && outcome.result.as_ref().is_err_and(|error| error.kind == ErrorKind::Approval) {
            Box::pin(self.put_aside(&ran, &mut outcome)).await;
            return outcome;
        }
        let Ran { log, grant, limits, asked, keeps_media, overfull, .. } = ran;
        let max_recording = self.max_recording_of(&log);
        log.judgements().note_in(&mut outcome);
        let put_away = self.previews().zip(grant.holder()).filter(|_| !keeps_media);
        // A resumed run has the limits that it began with.
        let shown = match put_away {
            Some(_) => Limits {
                max_output: limits.max_output.min(self.limits.max_output),
                max_logs: limits.max_logs.min(self.limits.max_logs),
                max_log_lines: limits.max_log_lines.min(self.limits.max_log_lines),
                ..limits
            },
            None => limits,
        };
        let logs = put_away.and_then(|_| artifacts::cut_logs(&mut outcome.logs, Shown::of(&shown)));
        let carrier = Carrier { who: grant.who(), run: log.run() };
        let is_large = |value: &JsonText| text_exceeds(value, shown.max_output.as_u64());
        let stays_whole = put_away.is_some() && outcome.result.as_ref().is_ok_and(is_large);
        let mut known = KnownFiles::new();
        if !(keeps_media || stays_whole) {
            if let Some(of_run) = self.artifacts().zip(grant.holder()) {
                known = artifacts::with_files(&mut outcome, &shown, of_run, (&self.toolbox, carrier)).await;
            }
            media::take_out(&mut outcome, &shown);
        }
        // The rest of the value may be too large, and then a limit has ended the run.
        if has_ended_itself(&outcome) {
            grant.write_kept().await;
        }
        let mut remarks = Remarks { logs: grant.remarks().take().collect(), ..Remarks::default() };
        outcome.logs.extend(remarks.logs.iter().cloned());
        if let Err(error) = &mut outcome.result {
            let hint = error.hint.clone();
            if let Some(limit) = overfull.filter(|_| error.kind == ErrorKind::Cancelled) {
                *error = untaken(limit);
                remarks.calls = Some(error.message.clone());
            } else if error.kind == ErrorKind::Cancelled && log.owners_word().is_cancelled() {
                error.hint = Some(CANCELLED_BY_OWNER.to_owned());
            }
            self.show_what_was_meant(error);
            self.show_where_to_look(error, &outcome.calls);
            self.show_what_was_asked(error, asked);
            remarks.hint = error.hint.clone().filter(|_| error.hint != hint);
        }
        outcome.recording = outcome.recording.map(|recorded| remarked(recorded, &remarks, max_recording));
        // The ledger needs a copy only if the caller wants the recording too.
        let recording = match (self.max_recording, log.max_recording()) {
            (None, Some(_)) => outcome.recording.take(),
            (Some(_), Some(_)) => outcome.recording.clone(),
            (Some(_), None) => None,
            (None, None) => {
                outcome.recording = None;
                None
            }
        };
        if let Some((artifacts, holder)) = put_away {
            let labels = self.toolbox.carried(grant.who());
            PutAway { artifacts, holder, run: log.run(), labels, known }.from(&mut outcome, logs).await;
        }
        log.end(&self.toolbox, outcome.result.as_ref().err(), &outcome.usage, recording).await;
        self.toolbox.keep_observations(true).await;
        self.toolbox.keep_measures_now_and_then();
        outcome
    }

    /// Says which limit the caller set, if they asked for less than the maximum and may ask for
    /// more. Nobody else is told to raise a limit, since a client cannot.
    fn show_what_was_asked(&self, error: &mut RunError, asked: &LimitsPatch) {
        let Some((name, (given, most))) =
            error.limit.as_ref().and_then(|limit| Some((limit.name, asked.asked_below(limit.name, &self.limits)?)))
        else {
            return;
        };
        let remark = format!("this run asked for limits.{name} {given}, and may ask for {most}");
        error.hint = Some(match error.hint.take() {
            Some(hint) => format!("{hint}; {remark}"),
            None => remark,
        });
    }

    /// A hint to ask the server which paths it allows.
    fn show_where_to_look(&self, error: &mut RunError, calls: &[CallRecord]) {
        if error.hint.is_some() || !OUTSIDE.iter().any(|mark| error.message.contains(mark)) {
            return;
        }
        let of_this =
            |call: &&CallRecord| call.error.as_ref().is_some_and(|said| error.message.contains(said.as_str()));
        let lister = calls.iter().find(of_this).and_then(|call| self.toolbox.lister_of_folders(&call.server));
        error.hint = lister.map(|lister| format!("{lister}({{}}) names the folders that are allowed"));
    }

    /// A hint for a missing tool: that the owner's rules hide it, or the signature of the tool that
    /// was probably meant.
    fn show_what_was_meant(&self, error: &mut RunError) {
        let Some(missing) = error.missing.take() else { return };
        let MissingTool { server, tool, near } = *missing;
        if let Some(denial) = self.toolbox.denied(&ToolPath::new(&*server, &*tool)) {
            error.hint = Some(denial.message);
            return;
        }
        let signature = near.and_then(|near| self.toolbox.signature_of_known(&format!("{server}.{near}")));
        if let (Some(hint), Some(signature)) = (&mut error.hint, signature) {
            hint.push_str(&format!(" It is {signature}"));
        }
    }
}

/// A requested run. It begins when it is awaited, and ends in an [`Outcome`].
///
/// The defaults are the limits of the gateway, a caller who answers nothing, and no cancellation.
///
/// # Cancellation
/// Dropping the future ends the run and cancels its calls.
#[must_use = "a run begins when it is awaited"]
pub struct Execution<'a> {
    gateway: &'a Gateway,
    work: Work,
    hosted: Option<HostedRun>,
    asked: Option<&'a LimitsPatch>,
    caller: Caller,
    cancelled: BoxFuture<'a, ()>,
}

/// What an execution does.
enum Work {
    Script(String),
    /// A run that was put aside.
    Run(RunId),
}

impl<'a> Execution<'a> {
    /// The limits of a script. Its client may lower each limit of the gateway, and raise none. A
    /// resumed run keeps the limits that it began with.
    pub fn limits(mut self, asked: &'a LimitsPatch) -> Self {
        self.asked = Some(asked);
        self
    }

    /// Makes a script's run one for a program that serves functions of its own. It is never put
    /// aside.
    pub fn hosted(mut self, run: HostedRun) -> Self {
        self.hosted = Some(run);
        self
    }

    /// Who answers the questions of children.
    pub fn caller(mut self, caller: Caller) -> Self {
        self.caller = caller;
        self
    }

    /// Ends the run when `cancelled` completes. The outcome then has its logs and calls so far.
    pub fn cancel_on(mut self, cancelled: impl Future<Output = ()> + Send + 'a) -> Self {
        self.cancelled = cancelled.boxed();
        self
    }
}

impl<'a> IntoFuture for Execution<'a> {
    type Output = Outcome;
    type IntoFuture = BoxFuture<'a, Outcome>;

    fn into_future(self) -> Self::IntoFuture {
        let Self { gateway, work, hosted, asked, caller, cancelled } = self;
        match work {
            Work::Script(source) => async move {
                let unchanged = LimitsPatch::default();
                gateway.executed(source, hosted, asked.unwrap_or(&unchanged), caller, cancelled).await
            }
            .boxed(),
            Work::Run(run) => gateway.gone_on(caller, run, cancelled).boxed(),
        }
    }
}

/// A run that has ended.
struct Ran<'a> {
    log: Arc<RunLog>,
    grant: Arc<Grant>,
    limits: Limits,
    /// The limits that were requested.
    asked: &'a LimitsPatch,
    asked_digest: Option<Digest>,
    /// Whether images and files stay in the value.
    keeps_media: bool,
    /// The number of bytes of answers that it might leave untaken, if it was cancelled for leaving
    /// more.
    overfull: Option<usize>,
}

/// Whether the script ended by itself, with a value or an error, as opposed to a limit or a caller.
fn has_ended_itself(outcome: &Outcome) -> bool {
    use ErrorKind::{Denied, Exception, Tool};
    outcome.result.as_ref().map_or_else(|error| matches!(error.kind, Exception | Tool | Denied), |_| true)
}

/// Checks that the recording is of a script. A recording does not contain a component.
fn script_of(recording: &Recording) -> Result<(), ReplayError> {
    match recording.start().script() {
        Some(_) => Ok(()),
        None => {
            let error = RunError::new(ErrorKind::Usage, "the recording is of a component, whose file is not in it");
            Err(ReplayError::Run(error.with_hint("name the file: belljar replay RECORDING --component guest.wasm")))
        }
    }
}

/// A hint from a recording is complete, and without servers no other hint can be completed.
fn forget_missing(outcome: &mut Outcome) {
    if let Err(error) = &mut outcome.result {
        error.missing = None;
    }
}

/// Says which folders a server allows, for a path outside of them.
const OUTSIDE: [&str; 3] = ["outside allowed", "not in allowed", "outside of allowed"];

/// The recording with the additions to the outcome at its end, so that a replay ends the same way.
fn remarked(recorded: Recorded, remarks: &Remarks, max: Option<ByteSize>) -> Recorded {
    match recorded {
        Recorded::Whole(bytes) if !remarks.is_empty() => match remarks.behind(bytes, max.unwrap_or_default()) {
            Ok(bytes) => Recorded::Whole(bytes),
            Err(error) => Recorded::NotReplayable { reason: error.to_string() },
        },
        as_it_is => as_it_is,
    }
}

/// Completes with the first of two.
async fn first_of(one: impl Future<Output = ()>, other: impl Future<Output = ()>) {
    tokio::select! {
        () = one => {}
        () = other => {}
    }
}

/// Releases what a run holds when it ends or is dropped, since parts of it may live on for a
/// moment.
struct Ends(Arc<RunLocks>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.end();
    }
}
