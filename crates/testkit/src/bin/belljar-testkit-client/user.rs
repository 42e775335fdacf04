//! The client behind belljar, whose user accepts every form unchanged.

#![expect(deprecated, reason = "sampling and roots are deprecated, and servers of the initialize era ask for them")]

use belljar_upstream::{AskClient, ClientAbilities};
use futures::future::{BoxFuture, ready};
use rmcp::{
    ErrorData,
    model::{
        CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams, ElicitResult, ElicitationAction,
        ListRootsResult, Role, SamplingMessage, SamplingMessageContentBlock,
    },
};
use serde_json::{Map, Value};

pub(crate) struct User;

impl User {
    pub(crate) const ABILITIES: ClientAbilities = ClientAbilities {
        sampling: true,
        sampling_tools: false,
        elicitation: true,
        elicitation_url: false,
        roots: true,
    };
}

impl AskClient for User {
    fn abilities(&self) -> ClientAbilities {
        Self::ABILITIES
    }

    fn create_message(
        &self,
        _: CreateMessageRequestParams,
    ) -> BoxFuture<'static, Result<CreateMessageResult, ErrorData>> {
        let answer = SamplingMessage::new(Role::Assistant, SamplingMessageContentBlock::text("an answer"));
        Box::pin(ready(Ok(CreateMessageResult::new(answer, "none".to_owned()))))
    }

    fn elicit(&self, request: ElicitRequestParams) -> BoxFuture<'static, Result<ElicitResult, ErrorData>> {
        let form = serde_json::to_value(&request).unwrap_or_default();
        let fields = form["requestedSchema"]["properties"].as_object();
        let content: Map<String, Value> = fields
            .into_iter()
            .flatten()
            .filter_map(|(name, field)| Some((name.clone(), field.get("default")?.clone())))
            .collect();
        Box::pin(ready(Ok(ElicitResult::new(ElicitationAction::Accept).with_content(Value::Object(content)))))
    }

    fn list_roots(&self) -> BoxFuture<'static, Result<ListRootsResult, ErrorData>> {
        Box::pin(ready(Ok(ListRootsResult::new(Vec::new()))))
    }
}
