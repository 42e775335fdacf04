//! Resumes a run that was put aside.

use std::{
    collections::BTreeSet,
    pin::Pin,
    sync::Arc,
    time::{Duration, SystemTime},
};

use belljar_approvals::{Change, QuestionId, State};
use belljar_ledger::{Holder, Ledger, LedgerError, NotResting, QuestionFilter, RestingRun};
use belljar_model::{ErrorKind, LimitsPatch, Outcome, RunError, RunId, ToolPath, Usage};
use belljar_recording::Entry;
use belljar_sandbox::{GoingOn, Recording, ReplayError};
use belljar_upstream::Caller;
use futures::{StreamExt as _, future::BoxFuture, stream::FuturesUnordered};
use tokio::time::timeout;

use super::{Ends, Gateway, Ran, first_of};
use crate::{
    grant::Grant,
    live_runs::CANCELLED_BY_OWNER,
    rests::{KeptWait, Terms, waiting_error},
    rules::AsRules,
    run_log::RunLog,
};

impl Gateway {
    pub(super) async fn gone_on(&self, caller: Caller, run: RunId, cancelled: BoxFuture<'_, ()>) -> Outcome {
        let mut cancelled = self.with_skills(cancelled).await;
        match Box::pin(self.resumed(caller, run, Pin::new(&mut cancelled))).await {
            Ok(outcome) => outcome,
            Err(error) => Outcome { run: Some(run), ..Outcome::refused(*error) },
        }
    }

    async fn resumed(
        &self,
        caller: Caller,
        run: RunId,
        mut cancelled: Pin<&mut (impl Future<Output = ()> + Send)>,
    ) -> Result<Outcome, Box<RunError>> {
        let unusable = |fault: LedgerError| RunError::new(ErrorKind::Config, fault.to_string()).with_hint(fault.hint());
        let ledger = self.toolbox.told().ledger.as_ref().map(|kept| kept.ledger.clone());
        let ledger = ledger.ok_or_else(|| not_resting(run, NotResting::Unknown))?;
        let found = ledger.resting(run).await.map_err(unusable)?;
        // To other principals, the run does not exist and never did.
        let is_ours = match &found {
            Ok(resting) => resting.principal.as_deref() == self.asker.principal(),
            Err(_) => {
                let kept = ledger.run(run).await.map_err(unusable)?;
                kept.is_some_and(|(kept, _)| kept.principal.as_deref() == self.asker.principal())
            }
        };
        if !is_ours {
            return Err(not_resting(run, NotResting::Unknown).into());
        }
        let resting = found.map_err(|reason| self.not_resting(run, reason))?;
        let (terms, _) = opened(run, &resting)?;
        self.is_where_it_began(run, &terms)?;
        if let Some(desk) = self.approvals.and_then(|approvals| approvals.desk) {
            let moved = ledger.change_question(Change::Move(run, desk)).await.map_err(unusable)?;
            moved.map_err(|refusal| RunError::new(ErrorKind::Internal, refusal.to_string()))?;
        }
        // The owner's word about calls that were sent counts as a decision.
        let is_settled = resting.assumed.is_some();
        let is_decided = async { if is_settled { Ok(true) } else { self.is_decided(&ledger, &terms).await } };
        tokio::select! {
            is_decided = is_decided => if !is_decided.map_err(unusable)? {
                return Err(waiting_error(run, &terms.waits, self.is_command()).into());
            },
            // The caller stops waiting for the decision; the run keeps waiting.
            () = cancelled.as_mut() => return Err(waiting_error(run, &terms.waits, self.is_command()).into()),
        }
        // Another caller may have been faster.
        let taken = ledger.take_up(run).await.map_err(unusable)?;
        let resting = taken.map_err(|reason| self.not_resting(run, reason))?;
        let (terms, recording) = opened(run, &resting)?;
        // From here on, any failure before the run goes on suspends it again.
        let told = self.toolbox.told();
        let log = RunLog::go_on(told, self.origin, &self.asker, (run, &resting), &terms, self.heard());
        let recording = Recording::read(recording);
        let answered = recording.as_ref().map(answered).unwrap_or_default();
        let calls = ledger.run(run).await.map_err(unusable)?.map(|(_, calls)| calls).unwrap_or_default();
        log.unsettled().know(calls, &answered, resting.assumed);
        // Questions that were asked by a killed process after the run was resumed are asked again.
        let open = QuestionFilter { open: true, run: Some(run), ..QuestionFilter::default() };
        let open = ledger.questions(open).await.map_err(unusable)?.into_iter().map(|kept| kept.question.id);
        let kept: Vec<QuestionId> = terms.waits.iter().map(KeptWait::question).collect();
        open.filter(|id| !kept.contains(id)).for_each(|stale| log.withdraw(stale));
        let recording = match recording {
            Ok(recording) => recording,
            Err(error) => return Err(self.lost(&log, &terms, error.to_string()).await),
        };
        drop(resting);
        Box::pin(self.go_on(caller, (log, terms), &recording, cancelled)).await
    }

    async fn go_on(
        &self,
        caller: Caller,
        (log, terms): (Arc<RunLog>, Terms),
        recording: &Recording,
        cancelled: Pin<&mut (impl Future<Output = ()> + Send)>,
    ) -> Result<Outcome, Box<RunError>> {
        let start = recording.start();
        // The calls that waited are sent first.
        let paths = terms.waits.iter().filter_map(|wait| wait.said.tool.parse::<ToolPath>().ok());
        paths.for_each(|path| self.toolbox.upstream().begin(path.server()));
        // Resuming a run in a different way gives it no more rights than it began with.
        let ceiling = terms.ceiling.map_or(self.ceiling, |ceiling| ceiling.min(self.ceiling));
        let who = AsRules::new(self.asker.clone(), terms.profile.as_deref().map(Arc::from));
        who.counts().go_on(&terms.counts);
        who.gates().go_on(&terms.passed);
        self.toolbox.carry_on(&who, &terms.labels);
        let grant = Arc::new(
            Grant::new(self.toolbox.clone(), &start.source, start.limits.timeout, caller, log.clone())
                .with_ceiling(ceiling)
                .with_caller(who)
                .with_holder(self.holder_of(&terms))
                .with_artifacts(start.surroundings.artifacts)
                .with_approvals(self.approvals, self.teller.clone())
                .with_servers(start.servers.iter().map(|server| server.name.as_str()))
                .going_on(),
        );
        let (texts, told) = &terms.remarks;
        texts.iter().for_each(|text| grant.remarks().add(text.clone()));
        told.iter().for_each(|text| grant.remarks().tell(text.clone()));
        let ends = Ends(grant.locks());
        let going_on = GoingOn {
            client: self.client.clone(),
            max_recording: self.max_recording_of(&log),
            rest_after: self.rest_after(),
        };
        let cancelled = first_of(cancelled, log.owners_word().cancelled());
        let gone_on = Box::pin(self.engine.resume(recording, going_on, &start.limits, grant.clone(), cancelled)).await;
        drop(ends);
        let outcome = match gone_on {
            Ok(outcome) => outcome,
            Err(ReplayError::Run(error)) if log.owners_word().is_cancelled() => {
                return Err(self.given_up(&log, &terms, error.with_hint(CANCELLED_BY_OWNER)).await);
            }
            // It waits as before.
            Err(ReplayError::Run(error)) => {
                log.lay_down().await;
                return Err(error.into());
            }
            Err(error) => return Err(self.lost(&log, &terms, error.to_string()).await),
        };
        let asked = LimitsPatch::default();
        let asked_digest = terms.asked;
        Ok(Box::pin(self.ended(
            Ran {
                log,
                grant,
                limits: start.limits.clone(),
                asked: &asked,
                asked_digest,
                keeps_media: false,
                overfull: None,
            },
            outcome,
        ))
        .await)
    }

    /// Whose things the run has: those of the caller who resumes it, in the workspace in which it
    /// began.
    fn holder_of(&self, terms: &Terms) -> Option<Holder> {
        let (holder, workspace) = self.holder.as_ref().zip(terms.workspace.as_deref())?;
        Some(Holder { workspace: workspace.into(), ..holder.clone() })
    }

    /// Ends a run that cannot be resumed. None of its waiting calls is sent.
    async fn lost(&self, log: &Arc<RunLog>, terms: &Terms, reason: String) -> Box<RunError> {
        let text =
            format!("the run cannot go on from where it waited, and none of the calls that waited was sent: {reason}");
        self.given_up(log, terms, RunError::new(ErrorKind::Diverged, text)).await
    }

    /// Ends a run that has done nothing new. None of its waiting calls is sent.
    async fn given_up(&self, log: &Arc<RunLog>, terms: &Terms, error: RunError) -> Box<RunError> {
        terms.waits.iter().for_each(|wait| log.withdraw(wait.question()));
        log.is_live();
        log.end(&self.toolbox, Some(&error), &Usage::default(), None).await;
        Box::new(error)
    }

    /// Whether a waiting call is decided or expired, now or while the run may keep its slot.
    async fn is_decided(&self, ledger: &Arc<dyn Ledger>, terms: &Terms) -> Result<bool, LedgerError> {
        let ids: Vec<QuestionId> = terms.waits.iter().map(KeptWait::question).collect();
        let decided: FuturesUnordered<_> =
            ids.iter().map(|id| self.toolbox.waiting().for_decision(ledger, *id)).collect();
        let states = ledger.question_states(ids.clone()).await?;
        if states.len() < ids.len() || states.iter().any(|(_, state)| *state != State::Open) {
            return Ok(true);
        }
        let first = terms.waits.iter().map(KeptWait::until).min();
        let left = first.and_then(|until| until.duration_since(SystemTime::now()).ok()).unwrap_or_default();
        let hold = self.approvals.map_or(Duration::ZERO, |approvals| approvals.hold);
        let is_decided = timeout(left.min(hold), decided.into_future()).await.is_ok();
        Ok(is_decided || left <= hold)
    }

    /// Why a run is not resumed, and what to do about it.
    fn not_resting(&self, run: RunId, reason: NotResting) -> RunError {
        let error = not_resting(run, reason);
        match reason {
            NotResting::Interrupted if self.is_command() => error.with_hint(format!(
                "belljar runs show {run} lists them; say what happened to them: belljar resume {run} --assume failed, or done"
            )),
            NotResting::Interrupted => error.with_hint("the owner must say what happened to them"),
            _ => error,
        }
    }

    /// Refuses to resume a run whose servers are different here, since approved calls would be sent
    /// to them. The run keeps waiting.
    fn is_where_it_began(&self, run: RunId, terms: &Terms) -> Result<(), RunError> {
        let here = self.toolbox.places();
        let is_other = |(server, place): &(&String, &String)| here.get(*server).is_some_and(|here| here != *place);
        let Some((server, _)) = terms.places.iter().find(is_other) else { return Ok(()) };
        let text = format!(
            "{run} began with another configuration, or before it was changed: '{server}' is another server here"
        );
        let hint = match self.is_command() {
            true => format!("go on with the configuration with which it began: belljar resume {run} --config FILE"),
            false => "go on with it where it began; send its code to begin anew here".to_owned(),
        };
        Err(RunError::new(ErrorKind::Config, text).with_hint(hint))
    }
}

/// The state that a run is resumed from.
fn opened(run: RunId, resting: &RestingRun) -> Result<(Terms, &[u8]), RunError> {
    Terms::and_recording(&resting.state).ok_or_else(|| not_resting(run, NotResting::Sealed))
}

/// The calls whose answers are in a recording.
fn answered(recording: &Recording) -> BTreeSet<u64> {
    let of_call = |entry| match entry {
        Entry::Answer { number, .. } => Some(number),
        _ => None,
    };
    recording.entries().filter_map(of_call).collect()
}

fn not_resting(run: RunId, reason: NotResting) -> RunError {
    let kind = if reason == NotResting::Running { ErrorKind::Busy } else { ErrorKind::Usage };
    RunError::new(kind, format!("{run} cannot go on: {reason}"))
}
