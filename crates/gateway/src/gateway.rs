//! Scripts over the toolbox.

use std::sync::Arc;

use belljar_engine::Engine;
use belljar_ledger::Asker;
use belljar_model::{
    ByteSize, CallRecord, Effect, ErrorKind, LedgerLevel, Limits, LimitsPatch, Outcome, Recorded, RunError,
};
use belljar_recording::Remarks;
use belljar_sandbox::{Program, Recording, ReplayError};
use belljar_upstream::Caller;

use crate::{Approvals, Toolbox, grant::Grant, locks::RunLocks, media, rules::AsRules, run_log::RunLog};

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
    ceiling: Effect,
    level: Option<LedgerLevel>,
    approvals: Option<Approvals>,
}

impl Gateway {
    /// A gateway whose runs have at most `limits`, over a sandbox of this process or an engine in one of its own.
    pub fn new(toolbox: Arc<Toolbox>, engine: impl Into<Engine>, limits: Limits) -> Self {
        Self {
            toolbox,
            engine: engine.into(),
            limits,
            client: String::new(),
            max_recording: None,
            origin: "library",
            asker: Asker::default(),
            profile: None,
            ceiling: Effect::External,
            level: None,
            approvals: None,
        }
    }

    /// The same gateway for a client of this name: where runs must queue, clients take turns.
    #[must_use]
    pub fn for_client(&self, client: impl Into<String>) -> Self {
        Self { client: client.into(), ..self.clone() }
    }

    /// The same gateway for runs that are asked for here: the ledger says so of them.
    #[must_use]
    pub fn with_origin(&self, origin: &'static str) -> Self {
        Self { origin, ..self.clone() }
    }

    /// The same gateway for runs that somebody asks for: the ledger says so of them.
    #[must_use]
    pub fn with_asker(&self, asker: Asker) -> Self {
        Self { asker, ..self.clone() }
    }

    /// The same gateway for an entry to which the owner gave this profile: rules can name it.
    #[must_use]
    pub fn with_profile(&self, profile: &str) -> Self {
        Self { profile: Some(profile.into()), ..self.clone() }
    }

    /// The same gateway, whose scripts call no tool that may do more than this. What a tool does is what its owner says, and not its server.
    #[must_use]
    pub fn with_ceiling(&self, ceiling: Effect) -> Self {
        Self { ceiling, ..self.clone() }
    }

    /// The same gateway for runs of which so much is to be kept, whatever is kept of others. It is for the owner alone to say.
    #[must_use]
    pub fn with_ledger_level(&self, level: LedgerLevel) -> Self {
        Self { level: Some(level), ..self.clone() }
    }

    /// The same gateway for runs about whose calls somebody can be asked. Without that, a call that
    /// must be asked for is an error.
    #[must_use]
    pub fn with_approvals(&self, approvals: Approvals) -> Self {
        Self { approvals: Some(approvals), ..self.clone() }
    }

    /// The same gateway with other limits.
    #[must_use]
    pub fn with_limits(&self, limits: Limits) -> Self {
        Self { limits, ..self.clone() }
    }

    /// The same gateway, whose runs are recorded within so many bytes each: [`Outcome::recording`].
    #[must_use]
    pub fn with_recording(&self, max: ByteSize) -> Self {
        Self { max_recording: Some(max), ..self.clone() }
    }

    /// Repeats a recorded run. No tool is called, and no child is started.
    ///
    /// # Errors
    /// [`ReplayError`]: the first difference, or why nothing was replayed.
    pub async fn replay(&self, recording: &Recording) -> Result<Outcome, ReplayError> {
        let mut outcome = self.engine.replay(recording, &self.limits).await?;
        media::take_out(&mut outcome, &self.limits);
        Ok(outcome)
    }

    /// Runs another script against the answers of a recorded run. No tool is called, and no child is started.
    ///
    /// # Errors
    /// [`ReplayError`], when nothing was run.
    pub async fn rehearse(&self, source: &str, recording: &Recording) -> Result<Outcome, ReplayError> {
        let mut outcome = self.engine.rehearse(source, recording, &self.limits).await?;
        media::take_out(&mut outcome, &self.limits);
        Ok(outcome)
    }

    /// The children, for searches and single calls.
    pub fn toolbox(&self) -> &Arc<Toolbox> {
        &self.toolbox
    }

    /// Runs a script for a client, who may lower each limit and raise none.
    ///
    /// # Cancellation
    /// Dropping the future ends the run and cancels its calls.
    pub async fn execute(&self, source: String, asked: &LimitsPatch) -> Outcome {
        self.execute_until(source, asked, std::future::pending()).await
    }

    /// Runs a script until it ends or `cancelled` does. A cancelled run has an outcome too: what it had logged and called by then.
    pub async fn execute_until(
        &self,
        source: String,
        asked: &LimitsPatch,
        cancelled: impl Future<Output = ()> + Send,
    ) -> Outcome {
        self.execute_for(Caller::default(), source, asked, cancelled).await
    }

    /// The same for a caller whose client answers what children ask.
    pub async fn execute_for(
        &self,
        caller: Caller,
        source: String,
        asked: &LimitsPatch,
        cancelled: impl Future<Output = ()> + Send,
    ) -> Outcome {
        let limits = match asked.within(&self.limits) {
            Ok(limits) => limits,
            Err(fault) => {
                let hint = "ask for less, or let the owner of belljar raise the limit in its configuration";
                return Outcome::refused(RunError::new(ErrorKind::Usage, fault.to_string()).with_hint(hint));
            }
        };
        let log = match RunLog::begin(self.toolbox.told(), self.origin, &self.asker, Some(&source), self.level).await {
            Ok(log) => log,
            Err(error) => return Outcome::refused(error),
        };
        // A server whose name stands in the source will most probably be asked for: it can start while the script is read.
        self.toolbox.begin_mentioned(&source);
        let grant = Arc::new(
            Grant::new(self.toolbox.clone(), &source, limits.timeout, caller, log.clone())
                .with_ceiling(self.ceiling)
                .with_caller(AsRules::new(self.asker.clone(), self.profile.clone()))
                .with_approvals(self.approvals),
        );
        let ends = Ends(grant.locks());
        let max_recording = self.max_recording.max(log.max_recording());
        let program = Program { max_recording, ..Program::new(source) };
        let program = program.with_client(self.client.as_str());
        let mut outcome = self.engine.run_until(program, &limits, grant.clone(), cancelled).await;
        drop(ends);
        outcome.run = Some(log.run());
        log.judgements().note_in(&mut outcome);
        let mut remarks = Remarks { logs: grant.remarks().take().collect(), hint: None };
        outcome.logs.extend(remarks.logs.iter().cloned());
        media::take_out(&mut outcome, &limits);
        if let Err(error) = &mut outcome.result {
            let hint = error.hint.clone();
            self.show_what_was_meant(error);
            self.show_where_to_look(error, &outcome.calls);
            self.show_what_was_asked(error, asked);
            remarks.hint = error.hint.clone().filter(|_| error.hint != hint);
        }
        outcome.recording = outcome.recording.map(|recorded| remarked(recorded, &remarks, max_recording));
        // The ledger's copy is made where the caller wants one too.
        let recording = match (self.max_recording, log.max_recording()) {
            (None, _) => outcome.recording.take(),
            (Some(_), Some(_)) => outcome.recording.clone(),
            (Some(_), None) => None,
        };
        log.end(&self.toolbox, outcome.result.as_ref().err(), &outcome.usage, recording).await;
        self.toolbox.keep_observations(true).await;
        outcome
    }

    /// Whoever asked for less than there was to be had may ask for more. Nobody else is told to raise a limit: a client cannot.
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

    /// Whoever was refused a path asks the server which ones there are.
    fn show_where_to_look(&self, error: &mut RunError, calls: &[CallRecord]) {
        if error.hint.is_some() || !OUTSIDE.iter().any(|mark| error.message.contains(mark)) {
            return;
        }
        let of_this =
            |call: &&CallRecord| call.error.as_ref().is_some_and(|said| error.message.contains(said.as_str()));
        let lister = calls.iter().find(of_this).and_then(|call| self.toolbox.lister_of_folders(&call.server));
        error.hint = lister.map(|lister| format!("{lister}({{}}) names the folders that are allowed"));
    }

    /// A hint at a tool gets its signature: knowing the name is half of a right call.
    fn show_what_was_meant(&self, error: &mut RunError) {
        if error.message.contains("is not a function")
            && let Some(denial) = self.toolbox.denied_in(&error.message)
        {
            error.hint = Some(denial.message);
            return;
        }
        let Some(hint) = &mut error.hint else { return };
        let meant = hint.strip_prefix("did you mean ").and_then(|meant| meant.strip_suffix('?'));
        if let Some(signature) = meant.and_then(|meant| self.toolbox.signature_of_known(meant)) {
            hint.push_str(&format!(" It is {signature}"));
        }
    }
}

/// What servers say of a path that is not in their folders.
const OUTSIDE: [&str; 3] = ["outside allowed", "not in allowed", "outside of allowed"];

/// The recording with what was added to the outcome behind it, so that a replay ends in the same.
fn remarked(recorded: Recorded, remarks: &Remarks, max: Option<ByteSize>) -> Recorded {
    match recorded {
        Recorded::Whole(bytes) if !remarks.is_empty() => match remarks.behind(bytes, max.unwrap_or_default()) {
            Ok(bytes) => Recorded::Whole(bytes),
            Err(error) => Recorded::NotReplayable { reason: error.to_string() },
        },
        as_it_is => as_it_is,
    }
}

/// Gives back what a run has for itself when it is over, or dropped: others of its parts may live on for a moment.
struct Ends(Arc<RunLocks>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.end();
    }
}
