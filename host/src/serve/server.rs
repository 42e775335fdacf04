//! The protocol's requests, and their handlers.

#![expect(deprecated, reason = "logging is deprecated, and clients of today ask for it")]

use std::{
    panic::AssertUnwindSafe,
    sync::{Arc, atomic::Ordering::Relaxed},
};

use belljar_daemon::requests::Search;
use belljar_http::{Admission, AskedOnce, Scope, TaskLimits, Tasks};
use belljar_model::display;
use futures::FutureExt as _;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, CompleteRequestParams,
        CompleteResult, ErrorCode, GetTaskParams, GetTaskResult, Implementation, ListPromptsResult,
        ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
        ReadResourceRequestParams, ReadResourceResponse, ResourcesCapability, ServerCapabilities, ServerConfig,
        SetLevelRequestMethod, SetLevelRequestParams, Tool, UpdateTaskParams,
    },
    service::{NotificationContext, RequestContext},
};
use serde_json::Value;

use super::{
    answer::{self, refused},
    client::{self, Questions},
    definitions::{self, EXECUTE, SEARCH},
    execute::Runs,
    progress,
    requester::{owner, trace},
    requests::SearchRequest,
    rounds::Retry,
    scopes::{may_run, not_allowed},
    workspace::{WorkspaceChoice, Workspaces},
};
use crate::{backend::Backends, traces::Asked};

/// The server.
#[derive(Clone)]
pub(crate) struct Server {
    tools: Arc<[Tool]>,
    runs: Runs,
}

impl Server {
    /// A server whose runs become tasks according to `tasks`, for clients that support them.
    pub(crate) fn new(backends: Arc<dyn Backends>, tasks: TaskLimits, workspace: WorkspaceChoice) -> Self {
        let (questions, tasks, workspaces) = (Questions::default(), Tasks::new(tasks), Workspaces::new(workspace));
        Self {
            tools: definitions::tools().into(),
            runs: Runs { backends, questions, tasks, log_level: Arc::default(), workspaces },
        }
    }

    /// What the client on stdin and stdout is asked for once.
    pub(crate) fn roots_of_stdio(&self) -> Arc<AskedOnce> {
        self.runs.workspaces.of_stdio()
    }

    /// Searches. `asked` stays there if the request gets no further than to this server.
    async fn search(
        &self,
        arguments: Value,
        asked: &mut Option<Asked>,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        let request: SearchRequest = match serde_json::from_value(arguments) {
            Ok(request) => request,
            Err(error) => return refused(&format!("the arguments of {SEARCH} are wrong: {error}")),
        };
        let SearchRequest { query, server, detail, limit, budget } = request;
        let request = Some(trace(context, SEARCH));
        let search = Search { query, server, effect: None, detail, limit, budget, request };
        let found = async {
            let mut backend = self.runs.backends.backend().await?;
            *asked = None;
            backend.search(search).await
        };
        answer::of(found.await)
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder().enable_tools().enable_tasks().build();
        capabilities.resources = self.runs.backends.artifacts().map(|_| ResourcesCapability::default());
        capabilities.logging = self.runs.backends.is_heard_meanwhile().then(Default::default);
        let mut info = ServerConfig::new(capabilities);
        info.server_info = Implementation::new("belljar", env!("CARGO_PKG_VERSION"));
        info.with_instructions(&*self.runs.backends.instructions())
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
        // The default answers with an empty list, which claims a missing capability.
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "prompts are not supported", None))
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.runs.list_resources(request, &context).await
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.runs.resource_templates(&context).await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.runs.read_resource(&request.uri, &context).await.map(ReadResourceResponse::from)
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
        let is_told = client::takes_requests(&context) && self.runs.backends.is_heard_meanwhile();
        let kept = Admission::of(&context).map_or(Some(&*self.runs.log_level), Admission::log_level);
        match kept.filter(|_| is_told) {
            Some(kept) => {
                kept.store(progress::number(request.level), Relaxed);
                Ok(())
            }
            None => Err(ErrorData::method_not_found::<SetLevelRequestMethod>()),
        }
    }

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        self.runs.workspaces.have_changed(&context);
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        may_run(&context)?;
        self.runs.tasks.get(&owner(&context), &request.task_id)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        may_run(&context)?;
        self.runs.tasks.update(&owner(&context), &request.task_id, request.input_responses)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        may_run(&context)?;
        self.runs.tasks.cancel(&owner(&context), &request.task_id)
    }

    async fn call_tool(
        &self,
        mut request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let retry = Retry::of(&mut request);
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        if Admission::of(&context).is_none() {
            // There is one client. No child is started before it is needed, so children learn what
            // this client can do.
            self.runs.backends.set_client_abilities(client::abilities(&context));
        }
        // A request that gets no further than this server has its span from here.
        let known = [SEARCH, EXECUTE].into_iter().find(|name| *name == request.name);
        let mut asked = Some(Asked::now(|| Some(trace(&context, known.unwrap_or_default()))));
        let result = async {
            match request.name.as_ref() {
                SEARCH => Ok(match not_allowed(&context, Scope::Search) {
                    None => self.search(arguments, &mut asked, &context).await.into(),
                    Some(refusal) => refusal.into(),
                }),
                EXECUTE => match not_allowed(&context, Scope::RunReadOnly) {
                    // Boxed: the state of a run is large, in more than one place here, and the
                    // stack is small.
                    None => Box::pin(self.runs.execute(arguments, retry, &mut asked, &context)).await,
                    Some(refusal) => Ok(refusal.into()),
                },
                other => {
                    let message =
                        format!("there is no tool '{}': there are {SEARCH} and {EXECUTE}", display::line(other));
                    Err(ErrorData::invalid_params(message, None))
                }
            }
        };
        // A panic only ends its request. Without an answer, the request would count as in flight
        // for ever.
        let result = AssertUnwindSafe(result).catch_unwind().await.unwrap_or_else(|_| {
            Err(ErrorData::internal_error("the request failed inside belljar; its log says more", None))
        });
        if let Some(refused) = asked {
            refused.ended(answer::failure(&result));
        }
        result
    }
}
