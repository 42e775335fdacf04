//! Asks a person about a call that is held back, waits, and returns what may be sent once they
//! agree.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use belljar_approvals::{Binding, Change, Question, QuestionId, Refusal, State, digest};
use belljar_ledger::{Ledger, LedgerError, QuestionFilter};
use belljar_model::{AskWay, Denial, Effect, RunStep, ToolPath, Verdict};
use belljar_policy::{AskTerms, Decision};
use belljar_sandbox::AnswerRoom;
use futures::{FutureExt as _, future::BoxFuture};
use rand::{TryRngCore as _, rngs::OsRng};
use tokio::{sync::oneshot, time::timeout};

use super::{
    held::{Checked, Held, NotSent},
    options::{Approvals, Teller},
};
use crate::{
    Toolbox,
    locks::LockError,
    rests::Waits,
    rules::{self, AsRules},
    run_log::RunLog,
};

/// The longest arguments that a person is asked about. Nobody can agree to what nobody reads.
const MAX_SHOWN_BYTES: usize = 64 * 1024;
/// The questions that one run may ask. A person who is asked more often stops reading.
const MAX_QUESTIONS: u64 = 100;
/// A call of a run that a question is about.
pub(crate) struct Asking<'a> {
    pub(crate) toolbox: &'a Arc<Toolbox>,
    pub(crate) log: &'a Arc<RunLog>,
    pub(crate) who: &'a AsRules,
    pub(crate) approvals: Option<Approvals>,
    pub(crate) teller: Option<&'a Teller>,
    /// Tells the run that it waits for a person.
    pub(crate) room: Option<&'a AnswerRoom>,
    pub(crate) number: u64,
    pub(crate) path: &'a ToolPath,
    pub(crate) effect: Effect,
    /// Whether the call may be made twice, as known before anybody was asked.
    pub(crate) may_repeat: bool,
    /// Waits until the server takes calls of the run, in case another run holds it.
    pub(crate) enter: &'a (dyn Fn() -> BoxFuture<'a, Result<(), LockError>> + Sync),
}

/// Why a call that a person was asked about is not sent.
#[derive(Debug, thiserror::Error)]
enum Unsent {
    #[error("there is nobody here to ask: the owner must decide")]
    Nobody,
    #[error("nobody can be asked here in a way that the rule names: the owner must decide")]
    NoWay,
    #[error("this run has asked the owner {MAX_QUESTIONS} times, the limit")]
    TooMany,
    #[error("{0}")]
    TooManyOpen(Refusal),
    #[error("its arguments have {0} bytes, and a person is shown {MAX_SHOWN_BYTES} at most: send less at once")]
    TooLong(usize),
    #[error("the question could not be asked: {0}")]
    Unkept(#[from] LedgerError),
    #[error("the question could not be named: the system gave no random number")]
    Unnamed,
    #[error("the owner said no")]
    Denied,
    #[error("the owner was asked and did not decide within {}", humantime(*.0))]
    Expired(Duration),
    #[error("the client that was asked is gone, and has not decided")]
    Unanswered,
    #[error("the question was withdrawn")]
    Withdrawn,
    #[error("the owner did not decide at once, and the run cannot be put aside until they do: {0}")]
    CannotWait(Arc<str>),
    #[error("the owner's decision does not count for it: {0}")]
    Refused(#[from] Refusal),
    #[error("its arguments do not fit the tool any more: {0}")]
    NoLongerFits(String),
    #[error("{0}")]
    NotFree(#[from] LockError),
}

impl Held {
    /// Asks the owner, and waits. The result may be sent once.
    ///
    /// # Errors
    /// Why it is not sent.
    ///
    /// # Cancellation
    /// The question is withdrawn.
    pub(crate) async fn settle(self, asking: &Asking<'_>) -> Result<Checked, Denial> {
        let (path, decision) = (asking.path, self.decision.clone());
        self.ask(asking).await.map_err(|end| end.of(path, &decision))
    }

    /// Nobody can be asked about it.
    pub(crate) fn denied(&self, path: &ToolPath) -> Denial {
        End::from(Unsent::Nobody).of(path, &self.decision)
    }

    async fn ask(self, asking: &Asking<'_>) -> Result<Checked, End> {
        let Asking { toolbox, log, approvals, number, path, effect, .. } = asking;
        let reachable = approvals.filter(|approvals| approvals.desk.is_some() || approvals.by_command);
        let ledger = toolbox.told().ledger.as_ref().map(|kept| kept.ledger.clone());
        let (Some(approvals), Some(ledger)) = (reachable, ledger) else { return Err(Unsent::Nobody.into()) };
        let ways = self.decision.ask.ways();
        let desk = approvals.desk.filter(|desk| ways.has(desk.way)).map(|desk| desk.id);
        let for_command = approvals.by_command && (ways.has(AskWay::Cli) || ways.has(AskWay::Page));
        if log.unsettled().has(*number) && !asking.may_repeat {
            // It was sent before and is not sent again, so nobody needs to agree.
            let Checked { arguments, warning, .. } = self.checked;
            return Ok(Checked { arguments, warning, decision: Some(self.decision) });
        }
        if let Some(id) = log.gate().asked_before(*number) {
            return self.ask_on(asking, ledger, id).await;
        }
        if desk.is_none() && !for_command {
            tracing::warn!(run = %log.run(), tool = %path, "a rule asks only by {ways}, and nobody can be reached that way");
            return Err(Unsent::NoWay.into());
        }
        let now = SystemTime::now();
        let wait = self.decision.ask.expires.unwrap_or(approvals.wait);
        let binding = self.binding(asking, now + wait);
        let question = Question {
            id: QuestionId::from_bits(OsRng.try_next_u64().map_err(|_| Unsent::Unnamed)?),
            binding,
            effect: *effect,
            why: self.why(),
            arguments: String::new(),
            so_far: log.so_far(),
            asked: now,
            desk,
            for_command,
            allow_yes: approvals.allow_yes,
        };
        let (id, until) = (question.id, question.binding.expires);
        // Nothing was asked before, so the owner has agreed to nothing.
        if log.has_asked() {
            let claimed = ledger.change_question(Change::Claim(Box::new(question.clone()))).await;
            if claimed.map_err(Unsent::from)?.is_ok() {
                let asked = Asked { ledger, id, log: (*log).clone(), is_over: false };
                return self.agreed(asking, asked).await;
            }
        }
        let text = self.checked.arguments.as_str();
        if text.len() > MAX_SHOWN_BYTES {
            return Err(Unsent::TooLong(text.len()).into());
        }
        if let Some(reason) = log.gate().refused().now_or_never() {
            return Err(Unsent::CannotWait(reason).into());
        }
        if !log.takes_a_question(MAX_QUESTIONS) {
            return Err(Unsent::TooMany.into());
        }
        let question = Question { arguments: text.to_owned(), ..question };
        tracing::info!(run = %log.run(), call = number, tool = %path, "the owner is asked");
        let asked = Asked { ledger, id, log: (*log).clone(), is_over: false };
        let decided = toolbox.waiting().for_decision(&asked.ledger, id);
        let told = asking.teller.filter(|_| ways.has(AskWay::Webhook)).map(|teller| (teller, question.clone()));
        let kept = asked.ledger.change_question(Change::Ask(Box::new(question))).await.map_err(Unsent::from)?;
        if let Err(refusal) = kept {
            let unsent = match refusal {
                Refusal::TooManyOpen(_) => Unsent::TooManyOpen(refusal),
                other => Unsent::Refused(other),
            };
            // There is no question to withdraw.
            return Err(asked.ends(unsent));
        }
        if let Some((teller, question)) = told {
            teller(&question);
        }
        self.wait(asking, asked, decided, (until, wait)).await
    }

    /// Waits for the decision about a call that the run made before it was put aside.
    async fn ask_on(mut self, asking: &Asking<'_>, ledger: Arc<dyn Ledger>, id: QuestionId) -> Result<Checked, End> {
        let Asking { toolbox, log, .. } = asking;
        let asked = Asked { ledger, id, log: (*log).clone(), is_over: false };
        let decided = toolbox.waiting().for_decision(&asked.ledger, id);
        let filter = QuestionFilter { id: Some(id), ..QuestionFilter::default() };
        let kept = asked.ledger.questions(filter).await.map_err(Unsent::from)?.pop().ok_or(Refusal::Unknown)?;
        let question = kept.question;
        if self.decision.verdict != Verdict::Ask {
            // Rules that no longer ask do not cancel the question.
            let (rule, why) = (question.binding.rule.clone(), question.why.clone());
            let ask = AskTerms { who: Some(question.binding.ways), expires: None };
            self.decision = Decision { verdict: Verdict::Ask, rule, why, ask, measured: None };
        }
        let until = question.binding.expires;
        let wait = until.duration_since(question.asked).unwrap_or_default();
        match kept.state {
            State::Open => self.wait(asking, asked, decided, (until, wait)).await,
            // It was sent, and the run restarted before it had the answer. A call that may be made
            // twice can be sent again. If the ledger knows the call, it was decided in time.
            State::Sent if asking.may_repeat => {
                let at = if log.unsettled().has(asking.number) { question.asked } else { SystemTime::now() };
                question.binding.admits(&self.binding(asking, until), at)?;
                let Checked { arguments, warning, .. } = self.checked;
                Ok(Checked { arguments, warning, decision: Some(self.decision) })
            }
            State::Sent => Err(asked.ends(Unsent::Refused(Refusal::Decided(State::Sent)))),
            state => self.settled(asking, asked, state, wait).await,
        }
    }

    async fn wait(
        self,
        asking: &Asking<'_>,
        asked: Asked,
        decided: oneshot::Receiver<State>,
        (until, wait): (SystemTime, Duration),
    ) -> Result<Checked, End> {
        // From here on the time counts as the person's.
        let parked = asking.room.map(AnswerRoom::park);
        let log = asking.log;
        log.tell(|| RunStep::Parked { call: asking.number, tool: ToolPath::clone(asking.path) });
        let (question, tool, rule) = (asked.id, asking.path.clone(), self.decision.rule.clone());
        let waiting = log.gate().enter(asking.number, Waits { question, tool, rule, until });
        let left = until.duration_since(SystemTime::now()).unwrap_or_default();
        let ended = tokio::select! {
            state = asked.state(decided, left) => state,
            reason = log.gate().refused() => Err(Unsent::CannotWait(reason)),
        };
        // Unless the run has been put aside by now.
        waiting.leave().await;
        log.tell(|| RunStep::Resumed { call: asking.number });
        drop(parked);
        self.settled(asking, asked, ended?, wait).await
    }

    async fn settled(self, asking: &Asking<'_>, asked: Asked, state: State, wait: Duration) -> Result<Checked, End> {
        match state {
            State::Approved => self.agreed(asking, asked).await,
            State::Denied => Err(asked.ends(Unsent::Denied)),
            State::Expired => Err(asked.ends(Unsent::Expired(wait))),
            State::Unanswered => Err(asked.ends(Unsent::Unanswered)),
            State::Open | State::Sent | State::Withdrawn => Err(asked.ends(Unsent::Withdrawn)),
        }
    }

    /// The owner agreed. The rules are evaluated again, since a person takes time, and the decision
    /// is marked as used before anything is returned.
    async fn agreed(self, asking: &Asking<'_>, asked: Asked) -> Result<Checked, End> {
        asking.toolbox.look_again(asking.path.server()).await;
        let again = asking.toolbox.checked(asking.path, self.checked.arguments.clone(), &asking.who.counted()).await;
        let now = match again {
            // The rules allow it by now. It no longer needs a decision, but has one.
            Ok(checked) => Self { checked, decision: self.decision.clone() },
            Err(NotSent::MustBeAsked(held)) => *held,
            Err(NotSent::Denied(denial)) => return Err(End::Denied(denial)),
            Err(NotSent::Refused(refusal)) => return Err(Unsent::NoLongerFits(refusal.message).into()),
            Err(NotSent::NotAPath(fault)) => return Err(Unsent::NoLongerFits(fault.to_string()).into()),
        };
        // Measuring for the rules had to enter servers too. Anything slow comes before the last
        // check.
        (asking.enter)().await.map_err(Unsent::from)?;
        asking.toolbox.look_again(asking.path.server()).await;
        let binding = now.binding(asking, SystemTime::now());
        asked.used(binding).await?;
        let Checked { arguments, .. } = now.checked;
        // The outcome reports the call as it was asked about.
        Ok(Checked { arguments, decision: Some(self.decision), warning: self.checked.warning })
    }

    /// The owner's reason, and the rule's measured count.
    fn why(&self) -> Option<Arc<str>> {
        match (&self.decision.why, &self.decision.measured) {
            (Some(why), Some(measured)) => Some(format!("{why} ({measured})").into()),
            (why, measured) => why.clone().or_else(|| measured.clone()),
        }
    }

    fn binding(&self, asking: &Asking<'_>, expires: SystemTime) -> Binding {
        Binding {
            run: asking.log.run(),
            number: asking.number,
            tool: asking.path.clone(),
            arguments: digest(self.checked.arguments.as_str().as_bytes()),
            definition: asking.toolbox.definition_digest(asking.path),
            rule: self.decision.rule.clone(),
            ways: self.decision.ask.ways(),
            principal: asking.who.principal().into(),
            expires,
        }
    }
}

/// How asking ended without a call.
enum End {
    Unsent(Unsent),
    /// The rules deny it by now.
    Denied(Denial),
}

impl<E: Into<Unsent>> From<E> for End {
    fn from(unsent: E) -> Self {
        Self::Unsent(unsent.into())
    }
}

impl End {
    fn of(self, path: &ToolPath, decision: &Decision) -> Denial {
        let unsent = match self {
            Self::Denied(denial) => return denial,
            Self::Unsent(unsent) => unsent,
        };
        let by = rules::named(decision);
        rules::denial_of(
            decision,
            Verdict::Ask,
            format!("{path} was not called: {by} asks a person first, and {unsent}"),
        )
    }
}

/// An open question. It is withdrawn when nobody waits for its decision any more.
struct Asked {
    ledger: Arc<dyn Ledger>,
    id: QuestionId,
    log: Arc<RunLog>,
    is_over: bool,
}

impl Asked {
    /// The decision, or a timeout.
    async fn state(&self, decided: oneshot::Receiver<State>, wait: Duration) -> Result<State, Unsent> {
        if let Ok(state) = timeout(wait, decided).await {
            return Ok(state.unwrap_or(State::Withdrawn));
        }
        Ok(match self.ledger.change_question(Change::End(self.id, State::Expired)).await? {
            // A decision may have come at the last moment.
            Err(Refusal::Decided(state)) => state,
            _ => State::Expired,
        })
    }

    /// Uses the decision for the call with this binding.
    async fn used(mut self, binding: Binding) -> Result<(), Unsent> {
        self.ledger.change_question(Change::Use(self.id, Box::new(binding))).await??;
        self.is_over = true;
        Ok(())
    }

    fn ends(mut self, unsent: Unsent) -> End {
        self.is_over = !matches!(unsent, Unsent::Withdrawn);
        unsent.into()
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        // The question of a suspended run stays open.
        let is_over = self.is_over || self.log.gate().is_closed();
        if !is_over && !self.ledger.offer_change(Change::End(self.id, State::Withdrawn)) {
            // It expires by itself, and its run is over, so a decision would have no effect.
            tracing::warn!("the ledger has no room for the end of a question to the owner");
        }
    }
}

/// A duration as people write it, in whole seconds.
fn humantime(duration: Duration) -> String {
    match duration.as_secs() {
        0 => format!("{} ms", duration.as_millis()),
        seconds if seconds % 60 == 0 => format!("{} min", seconds / 60),
        seconds => format!("{seconds} s"),
    }
}
