//! The tools, prompts and resources with the names that the suite uses. Their contents are data:
//! `fixture.json`.

#![expect(deprecated, reason = "the suite also asks for what the protocol is about to drop")]

use std::{collections::BTreeMap, time::Duration};

use parking_lot::Mutex;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, ClientCapabilities,
        ClientResult, CompleteRequestParams, CompleteResult, CompletionInfo, ContentBlock, GetPromptRequestParams,
        GetPromptResponse, GetPromptResult, GetTaskParams, GetTaskResult, Implementation, InputRequest,
        InputRequiredResult, InputResponses, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
        ListToolsResult, LoggingLevel, LoggingMessageNotificationParam, PaginatedRequestParams,
        ProgressNotificationParam, Prompt, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
        Resource, ResourceTemplate, ServerCapabilities, ServerConfig, ServerRequest, SetLevelRequestParams,
        SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams, UpdateTaskParams,
    },
    service::{RequestContext, SubscriptionContext, SubscriptionSink},
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use crate::{
    jobs::{self, Jobs},
    rounds::{Rounds, States},
};

/// How long lists may be kept.
const TTL_MS: u64 = 60_000;
/// Between two notifications of one call.
const MOMENT: Duration = Duration::from_millis(50);

#[derive(Deserialize)]
struct Data {
    tools: Vec<Tool>,
    results: BTreeMap<String, CallToolResult>,
    asks: BTreeMap<String, Value>,
    rounds: BTreeMap<String, Rounds>,
    inputs: BTreeMap<String, InputRequest>,
    resources: Vec<Resource>,
    contents: BTreeMap<String, Value>,
    templates: Vec<ResourceTemplate>,
    prompts: Vec<Prompt>,
    messages: BTreeMap<String, Value>,
}

pub(crate) struct Fixture {
    data: Data,
    states: States,
    listeners: Mutex<Vec<SubscriptionSink>>,
    jobs: Jobs,
}

impl Fixture {
    pub(crate) fn new() -> Result<Self, serde_json::Error> {
        let data = serde_json::from_str(include_str!("fixture.json"))?;
        Ok(Self { data, states: States::default(), listeners: Mutex::default(), jobs: Jobs::new() })
    }

    /// What a call or a prompt with this name still needs from the client; `None` if it never needs
    /// anything.
    fn needed(
        &self,
        name: &str,
        answered: (Option<&InputResponses>, Option<&str>),
        context: &RequestContext<RoleServer>,
    ) -> Result<Option<Result<InputRequiredResult, &str>>, ErrorData> {
        let Some(rounds) = self.data.rounds.get(name) else { return Ok(None) };
        let abilities = context.client_capabilities().unwrap_or_default();
        let next = rounds.next(&self.data.inputs, &self.states, answered, &abilities)?;
        Ok(Some(next.ok_or(rounds.says.as_str())))
    }

    fn listeners(&self) -> Vec<SubscriptionSink> {
        self.listeners.lock().clone()
    }
}

fn text(text: impl Into<String>) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}

fn internal(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

fn unknown(name: &str) -> ErrorData {
    ErrorData::invalid_params(format!("there is no '{name}'"), None)
}

fn read<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(internal)
}

/// The same value with names in braces replaced by arguments.
fn filled(value: &Value, arguments: &Map<String, Value>) -> Value {
    match value {
        Value::String(text) => {
            let fill = |text: String, (name, value): (&String, &Value)| {
                text.replace(&format!("{{{name}}}"), value.as_str().unwrap_or_default())
            };
            Value::String(arguments.iter().fold(text.clone(), fill))
        }
        Value::Array(elements) => elements.iter().map(|element| filled(element, arguments)).collect(),
        Value::Object(members) => {
            Value::Object(members.iter().map(|(name, value)| (name.clone(), filled(value, arguments))).collect())
        }
        other => other.clone(),
    }
}

impl ServerHandler for Fixture {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_completions()
            .enable_logging()
            .enable_tasks()
            .build();
        let mut info = ServerConfig::new(capabilities);
        info.server_info = Implementation::new("belljar-testkit-conformance", "0");
        info
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.data.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let list = ListToolsResult::with_all_items(self.data.tools.clone());
        Ok(list.with_ttl_ms(TTL_MS).with_cache_scope(CacheScope::Public))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name.as_ref();
        let answered = (request.input_responses.as_ref(), request.request_state.as_deref());
        let needed = self.needed(name, answered, &context)?;
        if let Some(Ok(needed)) = needed {
            return Ok(CallToolResponse::InputRequired(needed));
        }
        let arguments = request.arguments.unwrap_or_default();
        let given = (&arguments, request.input_responses.as_ref());
        if let Some(answer) = self.jobs.call(name, given, &self.data.inputs, &context).await {
            return answer;
        }
        if let Some(Err(says)) = needed {
            return Ok(text(says));
        }
        if let Some(ask) = self.data.asks.get(name) {
            let asked: ServerRequest = read(filled(ask, &arguments))?;
            let answer: ClientResult = context.peer.send_request(asked).await.map_err(internal)?;
            return Ok(text(format!("the client answered: {}", json!(answer))));
        }
        if let Some(result) = self.data.results.get(name) {
            return Ok(result.clone().into());
        }
        match name {
            "test_tool_with_logging" => {
                for step in ["begun", "at it", "done"] {
                    let message = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(step));
                    context.peer.notify_logging_message(message).await.map_err(internal)?;
                    tokio::time::sleep(MOMENT).await;
                }
            }
            "test_tool_with_progress" => {
                for progress in [0.0, 50.0, 100.0] {
                    if let Some(token) = context.meta.get_progress_token() {
                        let told = ProgressNotificationParam::new(token, progress).with_total(100.0);
                        context.peer.notify_progress(told).await.map_err(internal)?;
                    }
                    tokio::time::sleep(MOMENT).await;
                }
            }
            "greet" => {
                let name = arguments.get("name").and_then(Value::as_str).unwrap_or("nobody");
                return Ok(text(format!("Hello, {name}!")));
            }
            "test_logging_tool" => {
                if let Some(level) = context.meta.log_level() {
                    let message = LoggingMessageNotificationParam::new(level, json!("a level was set"));
                    context.peer.notify_logging_message(message).await.map_err(internal)?;
                }
            }
            "test_custom_header" => {
                let value = arguments.get("value").and_then(Value::as_str);
                return value.map(text).ok_or_else(|| ErrorData::invalid_params("'value' must be a string", None));
            }
            "test_missing_capability" => {
                if context.client_capabilities().unwrap_or_default().sampling.is_none() {
                    let needed = ClientCapabilities::builder().enable_sampling().build();
                    return Err(ErrorData::missing_required_client_capability(needed));
                }
            }
            "test_trigger_tool_change" => {
                for listener in self.listeners() {
                    listener.notify_tool_list_changed().await.map_err(internal)?;
                }
            }
            "test_trigger_prompt_change" => {
                for listener in self.listeners() {
                    listener.notify_prompt_list_changed().await.map_err(internal)?;
                }
            }
            other => return Err(unknown(other)),
        }
        Ok(text("done"))
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.jobs.tasks().get(&jobs::owner(&context), &request.task_id)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.jobs.tasks().update(&jobs::owner(&context), &request.task_id, request.input_responses)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.jobs.tasks().cancel(&jobs::owner(&context), &request.task_id)
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let list = ListResourcesResult::with_all_items(self.data.resources.clone());
        Ok(list.with_ttl_ms(TTL_MS).with_cache_scope(CacheScope::Public))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let list = ListResourceTemplatesResult::with_all_items(self.data.templates.clone());
        Ok(list.with_ttl_ms(TTL_MS).with_cache_scope(CacheScope::Public))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.as_str();
        let of_template = || {
            let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
            Some(json!({ "mimeType": "application/json", "text": json!({ "id": id }).to_string() }))
        };
        let Some(mut content) = self.data.contents.get(uri).cloned().or_else(of_template) else {
            return Err(ErrorData::resource_not_found(format!("there is no {uri}"), Some(json!({ "uri": uri }))));
        };
        content["uri"] = json!(uri);
        let result: ReadResourceResult = read(json!({ "resultType": "complete", "contents": [content] }))?;
        Ok(result.with_ttl_ms(TTL_MS).with_cache_scope(CacheScope::Public).into())
    }

    async fn subscribe(&self, _: SubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(&self, _: UnsubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.supported_by(&self.get_info().capabilities))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.listeners.lock().push(context.sink().clone());
        context.cancelled().await;
        Ok(())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let list = ListPromptsResult::with_all_items(self.data.prompts.clone());
        Ok(list.with_ttl_ms(TTL_MS).with_cache_scope(CacheScope::Public))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let answered = (request.input_responses.as_ref(), request.request_state.as_deref());
        let messages = match self.needed(&request.name, answered, &context)? {
            Some(Ok(needed)) => return Ok(GetPromptResponse::InputRequired(needed)),
            Some(Err(says)) => json!([{ "role": "user", "content": { "type": "text", "text": says } }]),
            None => {
                let messages = self.data.messages.get(&request.name).ok_or_else(|| unknown(&request.name))?;
                filled(messages, &request.arguments.unwrap_or_default())
            }
        };
        let result: GetPromptResult = read(json!({ "resultType": "complete", "messages": messages }))?;
        Ok(result.into())
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let values = vec!["one".to_owned(), "two".to_owned()];
        Ok(CompleteResult::new(CompletionInfo::new(values).map_err(internal)?))
    }

    async fn set_level(&self, _: SetLevelRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Ok(())
    }
}
