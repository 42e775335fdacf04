//! belljar as an MCP server: two tools, whatever the number of children.
//!
//! `wire` is the connection to the client and bounds what it may have in flight. `definitions` is what a model reads of the
//! tools, `answer` what it gets of a run. `client` passes on what children ask.
//! `asking` says who can be asked about calls, and how: `elicitation` by requests to the client, `rounds` in place of an
//! answer, with what `request_state` seals. What is asked for is done by a `Backend`, here or in the daemon. `over_http` is another way to the
//! same server, `authorization` whose tokens are taken there, `progress` what a client hears of a long run, which `seen` keeps.

#![expect(deprecated, reason = "logging is deprecated, and clients of today ask for it")]

mod answer;
mod asking;
mod authorization;
mod client;
pub(crate) mod definitions;
mod elicitation;
mod over_http;
mod progress;
mod request_state;
mod rounds;
mod seen;
mod wire;

use std::{
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering::Relaxed},
    },
};

use belljar_daemon::requests::{Execute, Origin, Principal, Search};
use belljar_gateway::report;
use belljar_http::{Admission, Asks, Call, Ending, Owner, Scope, TaskLimits, Tasks};
use belljar_ledger::Ledger;
use belljar_model::{Effect, ErrorKind, LimitsPatch, Outcome, RunError, RunId, display};
use belljar_upstream::{AskClient, ClientAbilities};
use futures::FutureExt as _;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, CompleteRequestParams,
        CompleteResult, ContentBlock, ErrorCode, GetTaskParams, GetTaskResult, Implementation, ListPromptsResult,
        ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams, ServerCapabilities,
        ServerConfig, SetLevelRequestMethod, SetLevelRequestParams, Tool, UpdateTaskParams,
    },
    service::{Peer, RequestContext},
};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::backend::{Backends, Meanwhile};
use asking::Asked;
use client::{Client, Questions, Way};
use definitions::{EXECUTE, SEARCH};
use progress::Following;
use rounds::{NoRound, Retry, Rounds};
use seen::Seen;

pub(crate) use over_http::OverHttp;
pub(crate) use wire::Wire;

/// The server.
#[derive(Clone)]
pub(crate) struct Server {
    backends: Arc<dyn Backends>,
    tools: Arc<[Tool]>,
    questions: Questions,
    tasks: Tasks,
    /// What the client of stdin and stdout wants to hear of scripts' logs.
    log_level: Arc<AtomicU8>,
}

impl Server {
    /// A server whose runs become tasks as `tasks` says, for clients that know them.
    pub(crate) fn new(backends: Arc<dyn Backends>, tasks: TaskLimits) -> Self {
        Self {
            backends,
            tools: definitions::tools().into(),
            questions: Questions::default(),
            tasks: Tasks::new(tasks),
            log_level: Arc::default(),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchRequest {
    #[serde(default)]
    query: String,
    server: Option<String>,
    detail: Option<String>,
    limit: Option<usize>,
    budget: Option<usize>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExecuteRequest {
    code: Option<String>,
    /// A run that waits, to go on with.
    run: Option<RunId>,
    #[serde(default, deserialize_with = "null_is_none")]
    limits: LimitsPatch,
}

/// What is asked for is one script, or one run.
fn neither_or_both() -> RunError {
    RunError::new(ErrorKind::Usage, format!("the arguments of {EXECUTE} are wrong: it takes either code or run"))
        .with_hint("run goes on with a run that waits, in place of code")
}

/// Models write `null` for what they leave out.
fn null_is_none<'de, D: Deserializer<'de>>(deserializer: D) -> Result<LimitsPatch, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder().enable_tools().enable_tasks().build();
        capabilities.logging = self.backends.is_heard_meanwhile().then(Default::default);
        let mut info = ServerConfig::new(capabilities);
        info.server_info = Implementation::new("belljar", env!("CARGO_PKG_VERSION"));
        info.with_instructions(&*self.backends.instructions())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.to_vec()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        // The default answers with an empty list, which claims a capability that there is not.
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "prompts are not supported", None))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "resources are not supported", None))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "resources are not supported", None))
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "completion is not supported", None))
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let is_told = client::takes_requests(&context) && self.backends.is_heard_meanwhile();
        let kept = Admission::of(&context).map_or(Some(&*self.log_level), Admission::log_level);
        match kept.filter(|_| is_told) {
            Some(kept) => {
                kept.store(progress::number(request.level), Relaxed);
                Ok(())
            }
            None => Err(ErrorData::method_not_found::<SetLevelRequestMethod>()),
        }
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        may_run(&context)?;
        self.tasks.get(&owner(&context), &request.task_id)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        may_run(&context)?;
        self.tasks.update(&owner(&context), &request.task_id, request.input_responses)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        may_run(&context)?;
        self.tasks.cancel(&owner(&context), &request.task_id)
    }

    async fn call_tool(
        &self,
        mut request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let retry = Retry::of(&mut request);
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        if Admission::of(&context).is_none() {
            // There is one client. No child is started before somebody needs it, so children hear of what this client can do.
            self.backends.set_client_abilities(client::abilities(&context));
        }
        let result = async {
            match request.name.as_ref() {
                SEARCH => Ok(match not_allowed(&context, Scope::Search) {
                    None => self.search(arguments).await.into(),
                    Some(refusal) => refusal.into(),
                }),
                EXECUTE => match not_allowed(&context, Scope::RunReadOnly) {
                    // In a box: what a run needs is large, in more than one place here, and the stack is not.
                    None => Box::pin(self.execute(arguments, retry, &context)).await,
                    Some(refusal) => Ok(refusal.into()),
                },
                other => {
                    let message =
                        format!("there is no tool '{}': there are {SEARCH} and {EXECUTE}", display::line(other));
                    Err(ErrorData::invalid_params(message, None))
                }
            }
        };
        // A panic ends its request and nothing else. Without an answer, the request would count as in flight for ever.
        match AssertUnwindSafe(result).catch_unwind().await {
            Ok(result) => result,
            Err(_) => Err(ErrorData::internal_error("the request failed inside belljar; its log says more", None)),
        }
    }
}

/// Whose tasks are meant.
fn owner(context: &RequestContext<RoleServer>) -> Owner {
    // At stdin and stdout there is one client.
    let Some(admission) = Admission::of(context) else { return Owner { name: Arc::from(""), may_change: true } };
    let principal = admission.principal();
    Owner { name: principal.name().into(), may_change: principal.may(Scope::Run) }
}

impl Server {
    async fn search(&self, arguments: Value) -> CallToolResult {
        let request: SearchRequest = match serde_json::from_value(arguments) {
            Ok(request) => request,
            Err(error) => return refused(&format!("the arguments of {SEARCH} are wrong: {error}")),
        };
        let SearchRequest { query, server, detail, limit, budget } = request;
        let asked = Search { query, server, effect: None, detail, limit, budget };
        answer::of(async { self.backends.backend().await?.search(asked).await }.await)
    }

    /// Runs a script, and asks the client's user what rules ask: meanwhile, or in place of an answer.
    async fn execute(
        &self,
        arguments: Value,
        retry: Option<Retry>,
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
        let (asked, desk) = match asking::Way::of(&asking, context) {
            asking::Way::Rounds(ledger) => {
                let rounds = Rounds { ledger, principal: principal(context) };
                let mut round = match rounds.begin(request, retry).await {
                    Ok(round) => round,
                    Err(NoRound::Refused(error)) => return Err(error),
                    Err(NoRound::Told(result)) => return Ok((*result).into()),
                };
                let asked = Asked { desk: Some(round.desk), with_answer: round.is_asked_with_answer };
                let answer = Box::pin(self.carried_out(round.take_request(), (asked, None), context)).await?;
                return Ok(match answer {
                    CallToolResponse::Complete(result) => rounds.end(round, result).await,
                    // What it waits for is told when its task has ended.
                    other => other,
                });
            }
            _ if retry.is_some() => {
                let message = "belljar has asked this client nothing: requestState and inputResponses are not for it";
                return Err(ErrorData::invalid_params(message, None));
            }
            asking::Way::Requests(desk, ledger) => {
                (Asked { desk: Some(desk), with_answer: false }, Some((desk, ledger.clone())))
            }
            asking::Way::Nobody => (Asked::default(), None),
        };
        Box::pin(self.carried_out(request, (asked, desk), context)).await
    }

    /// Does what was asked, and tells the client meanwhile what it wants to hear. A long run becomes a task, where the client
    /// knows them.
    async fn carried_out(
        &self,
        request: ExecuteRequest,
        asked: (Asked, Option<Desk>),
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
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
        let (server, requester) = (self.clone(), Requester::of_task(context, &call.asks));
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
            ending(Box::pin(server.done(request, requester, asked, seen, ended)).await)
        };
        following.told_meanwhile(context, self.tasks.answer(call, work, ended(context))).await
    }

    /// Does what was asked, and puts to the client's user what rules ask meanwhile.
    async fn done(
        &self,
        request: ExecuteRequest,
        requester: Requester,
        (asked, desk): (Asked, Option<Desk>),
        seen: Option<Seen>,
        ended: impl Future<Output = ()> + Send,
    ) -> CallToolResult {
        if request.code.is_some() == request.run.is_some() {
            return told(Outcome::refused(neither_or_both()));
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
            ..Execute::default()
        };
        let meanwhile = Meanwhile {
            follower: seen.map(|seen| seen.follower()),
            client: requester.asked_by_children(&self.questions),
        };
        let work = async { self.backends.backend().await?.execute(execute, meanwhile, ended.boxed()).await };
        asked_meanwhile(&requester, desk, async { answer::of(work.await) }).await
    }
}

/// Whose token a request has. It is the owner who asks at the socket, as at stdin and stdout.
fn principal(context: &RequestContext<RoleServer>) -> Option<&str> {
    let principal = Admission::of(context)?.principal();
    (!principal.is_owner()).then(|| principal.name())
}

/// The client's user, where they are asked by requests: the number of their desk, and where its questions lie.
type Desk = (u64, Arc<dyn Ledger>);

/// Who asks for a run. A run may outlive its request, and this is what it keeps of it.
struct Requester {
    /// Where it came over HTTP.
    admission: Option<Admission>,
    /// What the client calls itself.
    client: Option<String>,
    /// What it can be asked.
    abilities: ClientAbilities,
    takes_requests: bool,
    peer: Peer<RoleServer>,
    /// Where its task keeps questions, if there may be one.
    asks: Option<Asks>,
}

impl Requester {
    fn of(context: &RequestContext<RoleServer>) -> Self {
        Self {
            admission: Admission::of(context).cloned(),
            client: client::name(context),
            abilities: client::abilities(context),
            takes_requests: client::takes_requests(context),
            peer: context.peer.clone(),
            asks: None,
        }
    }

    fn of_task(context: &RequestContext<RoleServer>, asks: &Asks) -> Self {
        let admission = Admission::of(context).map(Admission::outliving);
        Self { admission, asks: Some(asks.clone()), ..Self::of(context) }
    }

    /// For whom the run is, and how far it may go; nobody but the owner at the socket, at stdin and stdout.
    fn principal(&self) -> Option<Principal> {
        let principal = self.admission.as_ref()?.principal();
        let ceiling = (!principal.may(Scope::Run)).then_some(Effect::ReadOnly);
        (!principal.is_owner()).then(|| Principal { name: principal.name().to_owned(), ceiling })
    }

    /// Whom children may ask what they want to know. Of many clients, none is asked.
    fn asked_by_children(&self, questions: &Questions) -> Option<Arc<dyn AskClient>> {
        if self.admission.is_some() {
            return None;
        }
        let way = match &self.asks {
            Some(asks) if !self.takes_requests => Way::Task(asks.clone()),
            _ => Way::Requests(self.peer.clone()),
        };
        Some(Arc::new(Client::new(way, self.abilities, questions)))
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
            // Whether one of them was still held back for approval is not known here.
            format!(
                "the run was cancelled; it had begun {calls} tool calls, and those that were sent may have taken effect"
            )
        }
        _ => "the run was cancelled".to_owned(),
    };
    Ending::Cancelled(result, message)
}

/// Does the work, and puts to whoever sits at this desk what is asked meanwhile.
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

/// Ends when nobody waits for the answer any more, or nobody is to wait.
async fn ended(context: &RequestContext<RoleServer>) {
    match Admission::of(context) {
        None => context.ct.cancelled().await,
        Some(admission) => tokio::select! {
            () = context.ct.cancelled() => {}
            () = admission.called_off() => {}
        },
    }
}

/// Tasks are runs: a token that is not good for those does not hear of them, nor whether one is there.
fn may_run(context: &RequestContext<RoleServer>) -> Result<(), ErrorData> {
    match lacks(context, Scope::RunReadOnly) {
        None => Ok(()),
        Some(message) => Err(ErrorData::invalid_request(message, None)),
    }
}

/// What a model is told whose token is not good for this.
fn not_allowed(context: &RequestContext<RoleServer>, scope: Scope) -> Option<CallToolResult> {
    lacks(context, scope).map(|message| refused(&message))
}

/// Why a token is not good for this. At stdin and stdout there is no token.
fn lacks(context: &RequestContext<RoleServer>, scope: Scope) -> Option<String> {
    let principal = Admission::of(context)?.principal();
    if principal.may(scope) {
        return None;
    }
    let scopes: Vec<String> = principal.scopes().map(|scope| scope.to_string()).collect();
    Some(format!("the token '{}' does not allow this: its scopes are {}", principal.name(), scopes.join(", ")))
}

/// An outcome as a result.
fn told(mut outcome: Outcome) -> CallToolResult {
    let (report, media) = (report(&outcome), std::mem::take(&mut outcome.media));
    match serde_json::to_value(outcome) {
        Ok(outcome) => answer::of_outcome(report, media, outcome),
        Err(error) => refused(&format!("the outcome has no JSON text: {error}")),
    }
}

/// A failure that the model is to read and mend.
fn refused(message: &str) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(display::block(message, "  "))])
}
