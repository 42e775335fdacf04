//! belljar as an MCP server: two tools, whatever the number of children.
//!
//! `wire` is the connection to the client and bounds what it may have in flight. `definitions` is what a model reads of the
//! tools, `instructions` what it is told at first, `answer` what it gets of a run. `client` passes on what children ask,
//! `through_daemon` has the daemon do the work.

mod answer;
mod client;
pub(crate) mod definitions;
mod instructions;
mod through_daemon;
mod wire;

use std::{panic::AssertUnwindSafe, sync::Arc};

use belljar_catalog::{Detail, Query};
use belljar_gateway::{Gateway, report};
use belljar_model::{ErrorKind, LimitsPatch, Outcome, RunError, display};
use belljar_upstream::Caller;
use futures::FutureExt as _;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorCode, Implementation,
        ListPromptsResult, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    },
    service::RequestContext,
};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use client::{Client, Questions};
use definitions::{EXECUTE, SEARCH};

pub(crate) use instructions::instructions;
pub(crate) use through_daemon::ThroughDaemon;
pub(crate) use wire::Wire;

/// The server. One per client.
pub(crate) struct Server {
    worker: Worker,
    instructions: String,
    tools: Vec<Tool>,
    questions: Questions,
}

/// Who does the work.
pub(crate) enum Worker {
    Here(Box<Gateway>),
    Daemon(ThroughDaemon),
}

impl Server {
    /// A server that a client knows by these instructions.
    pub(crate) fn new(worker: Worker, instructions: String) -> Self {
        Self { worker, instructions, tools: definitions::tools(), questions: Questions::default() }
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExecuteRequest {
    code: String,
    #[serde(default, deserialize_with = "null_is_none")]
    limits: LimitsPatch,
}

/// Models write `null` for what they leave out.
fn null_is_none<'de, D: Deserializer<'de>>(deserializer: D) -> Result<LimitsPatch, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        info.server_info = Implementation::new("belljar", env!("CARGO_PKG_VERSION"));
        info.with_instructions(self.instructions.as_str())
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
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "there are no prompts", None))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        if let Worker::Here(gateway) = &self.worker {
            // No child is started before somebody needs it, so children hear of what this client can do.
            gateway.toolbox().upstream().set_client_abilities(client::abilities(&context.peer));
        }
        let result = async {
            match request.name.as_ref() {
                SEARCH => Ok(self.search(arguments, &context).await),
                EXECUTE => Ok(self.execute(arguments, &context).await),
                other => {
                    let message =
                        format!("there is no tool '{}': there are {SEARCH} and {EXECUTE}", display::line(other));
                    Err(ErrorData::invalid_params(message, None))
                }
            }
        };
        // A panic ends its request and nothing else. Without an answer, the request would count as in flight for ever.
        match AssertUnwindSafe(result).catch_unwind().await {
            Ok(result) => result.map(Into::into),
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
        let gateway = match &self.worker {
            Worker::Here(gateway) => gateway,
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
        let answer = gateway.toolbox().search(&query).await;
        let mut result = CallToolResult::success(vec![ContentBlock::text(answer.to_text())]);
        result.structured_content = serde_json::to_value(&answer).ok();
        result
    }

    async fn execute(&self, arguments: Value, context: &RequestContext<RoleServer>) -> CallToolResult {
        let outcome = match serde_json::from_value::<ExecuteRequest>(arguments) {
            Ok(request) => match &self.worker {
                Worker::Here(gateway) => {
                    let caller = Caller::new(Some(Arc::new(Client::new(context.peer.clone(), &self.questions))));
                    gateway.execute_for(caller, request.code, &request.limits, context.ct.cancelled()).await
                }
                Worker::Daemon(daemon) => return daemon.execute(&request, context.ct.cancelled()).await,
            },
            Err(error) => Outcome::refused(
                RunError::new(ErrorKind::Usage, format!("the arguments of {EXECUTE} are wrong: {error}"))
                    .with_hint("it takes {code: string, limits?: {timeout?: \"30s\", …}}"),
            ),
        };
        told(outcome)
    }
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
