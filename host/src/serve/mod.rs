//! belljar as an MCP server: two tools, whatever the number of children.
//!
//! `wire` is the connection to the client and bounds what it may have in flight. `definitions` is what a model reads of the
//! tools, `instructions` what it is told at first, `answer` what it gets of a run. `client` passes on what children ask.
//! `asking` says who can be asked about calls, and how: `elicitation` by requests to the client, `rounds` in place of an
//! answer, with what `request_state` seals. `through_daemon` has the daemon do the work. `over_http` is
//! another way to the same server, `authorization` whose tokens are taken there, `progress` what a client hears of a long run.

mod answer;
pub(crate) mod asking;
mod authorization;
mod client;
pub(crate) mod definitions;
mod elicitation;
pub(crate) mod instructions;
mod over_http;
mod progress;
mod request_state;
mod rounds;
mod through_daemon;
mod wire;

use std::{panic::AssertUnwindSafe, sync::Arc};

use belljar_catalog::{Detail, Query};
use belljar_gateway::{Asker, Gateway, report};
use belljar_http::{Admission, Scope};
use belljar_ledger::Ledger;
use belljar_model::{Effect, ErrorKind, LimitsPatch, Outcome, RunError, RunId, display};
use belljar_upstream::Caller;
use futures::FutureExt as _;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestParams, CompleteResult, ContentBlock,
        ErrorCode, Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
        ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::generations::{Generation, Generations};
use asking::{Asked, Asking, Way};
use client::{Client, Questions};
use definitions::{EXECUTE, SEARCH};
use rounds::{NoRound, Retry, Rounds};

pub(crate) use over_http::OverHttp;
pub(crate) use through_daemon::ThroughDaemon;
pub(crate) use wire::Wire;

/// The server. One per client.
pub(crate) struct Server {
    worker: Worker,
    tools: Vec<Tool>,
    questions: Questions,
}

/// Who does the work.
pub(crate) enum Worker {
    Here(Arc<Generations>),
    Daemon(ThroughDaemon),
}

/// Who does the work of one request.
enum Doer<'a> {
    /// As long as the run lasts, so do the servers that it began with.
    Here(Generation),
    Daemon(&'a ThroughDaemon),
}

impl Doer<'_> {
    fn asking(&self) -> &Asking {
        match self {
            Self::Here(current) => &current.asking,
            Self::Daemon(daemon) => &daemon.asking,
        }
    }
}

impl Server {
    pub(crate) fn new(worker: Worker) -> Self {
        Self { worker, tools: definitions::tools(), questions: Questions::default() }
    }
}

#[derive(Deserialize, Serialize)]
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
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        info.server_info = Implementation::new("belljar", env!("CARGO_PKG_VERSION"));
        match &self.worker {
            Worker::Here(generations) => info.with_instructions(&*generations.current().instructions),
            Worker::Daemon(daemon) => info.with_instructions(daemon.instructions.as_str()),
        }
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.clone()))
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

    async fn call_tool(
        &self,
        mut request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let retry = Retry::of(&mut request);
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        if let Worker::Here(generations) = &self.worker
            && Admission::of(&context).is_none()
        {
            // There is one client. No child is started before somebody needs it, so children hear of what this client can do.
            let abilities = client::abilities(&context.peer);
            generations.current().gateway.toolbox().upstream().set_client_abilities(abilities);
        }
        let result = async {
            match request.name.as_ref() {
                SEARCH => Ok(match not_allowed(&context, Scope::Search) {
                    None => self.search(arguments, &context).await.into(),
                    Some(refusal) => refusal.into(),
                }),
                EXECUTE => match not_allowed(&context, Scope::RunReadOnly) {
                    None => progress::told_meanwhile(&context, self.execute(arguments, retry, &context)).await,
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

impl Server {
    async fn search(&self, arguments: Value, context: &RequestContext<RoleServer>) -> CallToolResult {
        let request: SearchRequest = match serde_json::from_value(arguments) {
            Ok(request) => request,
            Err(error) => return refused(&format!("the arguments of {SEARCH} are wrong: {error}")),
        };
        let detail = match request.detail.as_deref().map(str::parse::<Detail>).transpose() {
            Ok(detail) => detail,
            Err(error) => return refused(&error.to_string()),
        };
        let current = match &self.worker {
            Worker::Here(generations) => generations.current(),
            Worker::Daemon(daemon) => return daemon.search(&request, context.ct.cancelled()).await,
        };
        let query = Query {
            text: request.query,
            server: request.server,
            effect: None,
            detail,
            limit: request.limit,
            budget: request.budget,
        };
        let answer = current.gateway.toolbox().search(&query).await;
        let mut result = CallToolResult::success(vec![ContentBlock::text(answer.to_text())]);
        result.structured_content = serde_json::to_value(&answer).ok();
        result
    }

    /// Runs a script, and puts to the client's user what rules ask.
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
        let doer = match &self.worker {
            Worker::Here(generations) => Doer::Here(generations.current()),
            Worker::Daemon(daemon) => Doer::Daemon(daemon),
        };
        let desk = match doer.asking().way(context) {
            Way::Rounds(ledger) => {
                let rounds = Rounds { ledger, principal: principal(context) };
                let mut round = match rounds.begin(request, retry).await {
                    Ok(round) => round,
                    Err(NoRound::Refused(error)) => return Err(error),
                    Err(NoRound::Told(result)) => return Ok((*result).into()),
                };
                let asked = Asked { desk: Some(round.desk), with_answer: round.is_asked_with_answer };
                let result = self.done_by(&doer, round.take_request(), context, asked).await;
                return Ok(rounds.end(round, result).await);
            }
            _ if retry.is_some() => {
                let message = "belljar has asked this client nothing: requestState and inputResponses are not for it";
                return Err(ErrorData::invalid_params(message, None));
            }
            Way::Requests(desk, ledger) => Some((desk, ledger)),
            Way::Nobody => None,
        };
        let asked = Asked { desk: desk.map(|(desk, _)| desk), with_answer: false };
        Ok(asked_meanwhile(context, desk, self.done_by(&doer, request, context, asked)).await.into())
    }

    async fn done_by(
        &self,
        doer: &Doer<'_>,
        request: ExecuteRequest,
        context: &RequestContext<RoleServer>,
        asked: Asked,
    ) -> CallToolResult {
        match doer {
            Doer::Here(current) => told(self.run(current, request, context, asked).await),
            Doer::Daemon(daemon) => {
                let client = client::name(context);
                daemon.execute(&request, client.as_deref(), asked, context.ct.cancelled()).await
            }
        }
    }

    async fn run(
        &self,
        current: &Generation,
        request: ExecuteRequest,
        context: &RequestContext<RoleServer>,
        asked: Asked,
    ) -> Outcome {
        let gateway = current.gateway.with_origin("serve").with_approvals(current.asking.approvals(asked));
        let asker = Asker::new(principal(context), client::name(context).as_deref());
        let (caller, gateway) = match Admission::of(context) {
            None => {
                let client = Client::new(context.peer.clone(), &self.questions);
                (Caller::new(Some(Arc::new(client))), gateway.with_asker(asker))
            }
            // Of many clients none is asked what servers want to know of one.
            Some(admission) => {
                let principal = admission.principal();
                let caller = match principal.is_owner() {
                    true => Caller::default(),
                    false => Caller::default().of_principal(principal.name()),
                };
                (caller, for_principal(&gateway, admission).with_asker(asker))
            }
        };
        match (request.code, request.run) {
            (Some(code), None) => gateway.execute_for(caller, code, &request.limits, ended(context)).await,
            (None, Some(run)) => Box::pin(gateway.resume_for(caller, run, ended(context))).await,
            _ => Outcome::refused(neither_or_both()),
        }
    }
}

/// Whose token a request has. It is the owner who asks at the socket, as at stdin and stdout.
fn principal(context: &RequestContext<RoleServer>) -> Option<&str> {
    let principal = Admission::of(context)?.principal();
    (!principal.is_owner()).then(|| principal.name())
}

/// Does the work, and puts to whoever sits at this desk what is asked meanwhile.
async fn asked_meanwhile(
    context: &RequestContext<RoleServer>,
    desk: Option<(u64, &Arc<dyn Ledger>)>,
    work: impl Future<Output = CallToolResult>,
) -> CallToolResult {
    match desk {
        None => work.await,
        Some((desk, ledger)) => tokio::select! {
            result = work => result,
            never = elicitation::ask(&context.peer, desk, ledger) => match never {},
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

/// The gateway as somebody has it who is one of many: with turns of their own in the queue, and what their token is good for.
fn for_principal(gateway: &Gateway, admission: &Admission) -> Gateway {
    let principal = admission.principal();
    let gateway = gateway.for_client(principal.name());
    if principal.may(Scope::Run) { gateway } else { gateway.with_ceiling(Effect::ReadOnly) }
}

/// What somebody is told whose token is not good for this. At stdin and stdout there is no token.
fn not_allowed(context: &RequestContext<RoleServer>, scope: Scope) -> Option<CallToolResult> {
    let principal = Admission::of(context)?.principal();
    if principal.may(scope) {
        return None;
    }
    let scopes: Vec<String> = principal.scopes().map(|scope| scope.to_string()).collect();
    Some(refused(&format!(
        "the token '{}' does not allow this: its scopes are {}",
        principal.name(),
        scopes.join(", ")
    )))
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
