//! Executes a run: who is asked about its calls, and whether it becomes a task.

use std::sync::{Arc, atomic::AtomicU8};

use belljar_daemon::requests::{Execute, Origin};
use belljar_http::{Asks, Call, Ending, Tasks};
use belljar_ledger::Ledger;
use belljar_model::{ErrorKind, Outcome, RunError};
use futures::FutureExt as _;
use rmcp::{
    ErrorData, RoleServer,
    model::{CallToolResponse, CallToolResult},
    service::RequestContext,
};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{
    answer::{self, told},
    asking::{Asked, Way},
    client::Questions,
    definitions::EXECUTE,
    elicitation,
    progress::Following,
    requester::{Requester, ended, owner, principal},
    requests::{ExecuteRequest, neither_or_both},
    rounds::{NoRound, Retry, Rounds},
    seen::Seen,
    workspace::Workspaces,
};
use crate::{
    backend::{Backends, Meanwhile},
    traces::Asked as Traced,
};

/// Executes runs.
#[derive(Clone)]
pub(super) struct Runs {
    pub(super) backends: Arc<dyn Backends>,
    /// Answers children's questions to the client.
    pub(super) questions: Questions,
    pub(super) tasks: Tasks,
    /// The log level that the client on stdin and stdout has set.
    pub(super) log_level: Arc<AtomicU8>,
    pub(super) workspaces: Workspaces,
}

/// The client's user, if they are asked by requests: the number of their desk, and the ledger with
/// its questions.
type Desk = (u64, Arc<dyn Ledger>);

impl Runs {
    /// Runs a script, and asks the client's user about calls: meanwhile, or in place of an answer.
    /// `traced` stays there if the request gets no further than to here.
    pub(super) async fn execute(
        &self,
        arguments: Value,
        retry: Option<Retry>,
        traced: &mut Option<Traced>,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let request: ExecuteRequest = match serde_json::from_value(arguments) {
            Ok(request) => request,
            Err(error) => {
                let error = RunError::new(ErrorKind::Usage, format!("the arguments of {EXECUTE} are wrong: {error}"))
                    .with_hint("it takes {code: string, limits?: {timeout?: \"30s\", …}}");
                return Ok(told(Outcome::refused(error)).into());
            }
        };
        let asking = self.backends.asking();
        let (asked, desk) = match Way::of(&asking, context) {
            Way::Rounds(ledger) => {
                let rounds = Rounds { ledger, principal: principal(context) };
                let mut round = match rounds.begin(request, retry).await {
                    Ok(round) => round,
                    Err(NoRound::Refused(error)) => return Err(error),
                    Err(NoRound::Told(result)) => return Ok((*result).into()),
                };
                let asked = Asked { desk: Some(round.desk), with_answer: round.is_asked_with_answer };
                let answer = self.carried_out(round.take_request(), (asked, None), traced.take(), context);
                let answer = Box::pin(answer).await?;
                return Ok(match answer {
                    CallToolResponse::Complete(result) => rounds.end(round, result).await,
                    // The waiting is reported when its task has ended.
                    other => other,
                });
            }
            _ if retry.is_some() => {
                let message = "belljar has not asked this client anything: leave out requestState and inputResponses";
                return Err(ErrorData::invalid_params(message, None));
            }
            Way::Requests(desk, ledger) => {
                (Asked { desk: Some(desk), with_answer: false }, Some((desk, ledger.clone())))
            }
            Way::Nobody => (Asked::default(), None),
        };
        Box::pin(self.carried_out(request, (asked, desk), traced.take(), context)).await
    }

    /// Executes a request, and sends the client what it wants to hear meanwhile. A long run becomes
    /// a task, if the client supports them.
    async fn carried_out(
        &self,
        request: ExecuteRequest,
        asked: (Asked, Option<Desk>),
        traced: Option<Traced>,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let workspace = self.workspaces.of(context).await;
        let asked = (asked, workspace, traced);
        let following = Following::new(context, &self.log_level);
        let knows_tasks = context.client_capabilities().is_some_and(|abilities| abilities.supports_tasks());
        let seen = Some(&following.seen).filter(|_| knows_tasks || following.is_wanted(context)).cloned();
        if !knows_tasks {
            let run = Box::pin(self.done(request, Requester::of(context), asked, seen, ended(context)));
            return Ok(following.told_meanwhile(context, run).await.into());
        }
        let cancel = CancellationToken::new();
        let says = following.seen.clone();
        let call = Call {
            owner: owner(context),
            longest: self.backends.longest(),
            cancel: cancel.clone(),
            status: Arc::new(move || Some(says.says())),
            asks: Asks::default(),
        };
        let (runs, requester) = (self.clone(), Requester::of_task(context, &call.asks));
        let work = async move {
            let called_off = requester.admission.clone();
            let ended = async {
                match called_off {
                    None => cancel.cancelled().await,
                    Some(admission) => tokio::select! {
                        () = cancel.cancelled() => {}
                        () = admission.called_off() => {}
                    },
                }
            };
            ending(Box::pin(runs.done(request, requester, asked, seen, ended)).await)
        };
        following.told_meanwhile(context, self.tasks.answer(call, work, ended(context))).await
    }

    /// Executes a request, and asks the client's user about calls meanwhile.
    async fn done(
        &self,
        request: ExecuteRequest,
        requester: Requester,
        ((asked, desk), workspace, traced): ((Asked, Option<Desk>), String, Option<Traced>),
        seen: Option<Seen>,
        ended: impl Future<Output = ()> + Send,
    ) -> CallToolResult {
        if request.code.is_some() == request.run.is_some() {
            let result = told(Outcome::refused(neither_or_both()));
            end(traced, &result);
            return result;
        }
        let desk = desk.as_ref().map(|(desk, ledger)| (*desk, ledger));
        let execute = Execute {
            code: request.code,
            run: request.run,
            limits: request.limits,
            origin: Origin::Serve,
            client: requester.client.clone(),
            desk: asked.desk,
            asked_with_answer: asked.with_answer,
            principal: requester.principal(),
            workspace: Some(workspace),
            request: Some(requester.trace.clone()),
            ..Execute::default()
        };
        let meanwhile = Meanwhile {
            follower: seen.map(|seen| seen.follower()),
            client: requester.asked_by_children(&self.questions),
        };
        let work = async {
            let mut backend = match self.backends.backend().await {
                Ok(backend) => backend,
                Err(failure) => {
                    let result = answer::of(Err(failure));
                    end(traced, &result);
                    return result;
                }
            };
            answer::of(backend.execute(execute, meanwhile, ended.boxed()).await)
        };
        asked_meanwhile(&requester, desk, work).await
    }
}

/// The end of a request that got no further.
fn end(traced: Option<Traced>, result: &CallToolResult) {
    if let Some(traced) = traced {
        traced.ended(answer::failure_of(result));
    }
}

/// How a task ends.
fn ending(result: CallToolResult) -> Ending {
    let error = result.structured_content.as_ref().and_then(|outcome| outcome.get("error"));
    let kind = error.and_then(|error| error.get("kind")).and_then(Value::as_str);
    if kind != Some(ErrorKind::Cancelled.as_str()) {
        return Ending::Done(result);
    }
    let calls =
        result.structured_content.as_ref().and_then(|outcome| outcome.get("usage")?.get("tool_calls")?.as_u64());
    let message = match calls {
        Some(calls @ 1..) => {
            // It is not known here whether one of them was still held back for approval.
            format!(
                "the run was cancelled; it had begun {calls} tool calls, and those that were sent may have taken effect"
            )
        }
        _ => "the run was cancelled".to_owned(),
    };
    Ending::Cancelled(result, message)
}

/// Does the work, and asks the person at this desk meanwhile.
async fn asked_meanwhile(
    requester: &Requester,
    desk: Option<(u64, &Arc<dyn Ledger>)>,
    work: impl Future<Output = CallToolResult>,
) -> CallToolResult {
    match desk {
        None => work.await,
        Some((desk, ledger)) => tokio::select! {
            result = work => result,
            never = elicitation::ask(&requester.peer, desk, ledger) => match never {},
        },
    }
}
