//! The client of this server, as children may ask it.
//!
//! Only clients of the initialize era can be asked: the later revision has no requests from server to client.

#![expect(deprecated, reason = "sampling and roots are deprecated, and children of the initialize era ask for them")]

use belljar_upstream::{AskClient, ClientAbilities};
use futures::{FutureExt as _, future::BoxFuture};
use rmcp::{
    ErrorData, RoleServer,
    model::{
        ClientResult, CreateMessageRequestParams, CreateMessageResult, ElicitRequest, ElicitRequestParams,
        ElicitResult, ErrorCode, ListRootsResult, ServerRequest,
    },
    service::{Peer, ServiceError},
};

/// Passes on what a child asks.
pub(crate) struct Client(pub(crate) Peer<RoleServer>);

/// What the client said that it can do.
pub(crate) fn abilities(peer: &Peer<RoleServer>) -> ClientAbilities {
    let Some(info) = peer.peer_info() else { return ClientAbilities::default() };
    let (sampling, elicitation) = (info.capabilities.sampling.as_ref(), info.capabilities.elicitation.as_ref());
    ClientAbilities {
        sampling: sampling.is_some(),
        sampling_tools: sampling.is_some_and(|sampling| sampling.tools.is_some()),
        // One that names neither is of before there were pages.
        elicitation: elicitation.is_some_and(|asked| asked.form.is_some() || asked.url.is_none()),
        elicitation_url: elicitation.is_some_and(|asked| asked.url.is_some()),
        roots: info.capabilities.roots.is_some(),
    }
}

impl AskClient for Client {
    fn abilities(&self) -> ClientAbilities {
        abilities(&self.0)
    }

    fn create_message(
        &self,
        request: CreateMessageRequestParams,
    ) -> BoxFuture<'static, Result<CreateMessageResult, ErrorData>> {
        let peer = self.0.clone();
        async move { peer.create_message(request).await.map_err(refused) }.boxed()
    }

    fn elicit(&self, request: ElicitRequestParams) -> BoxFuture<'static, Result<ElicitResult, ErrorData>> {
        let peer = self.0.clone();
        async move {
            match peer.send_request(ServerRequest::ElicitRequest(ElicitRequest::new(request))).await {
                Ok(ClientResult::ElicitResult(answer)) => Ok(answer),
                Ok(_) => Err(refused(ServiceError::UnexpectedResponse)),
                Err(error) => Err(refused(error)),
            }
        }
        .boxed()
    }

    fn list_roots(&self) -> BoxFuture<'static, Result<ListRootsResult, ErrorData>> {
        let peer = self.0.clone();
        async move { peer.list_roots().await.map_err(refused) }.boxed()
    }
}

/// What the child is told when the client gives no answer.
fn refused(error: ServiceError) -> ErrorData {
    match error {
        ServiceError::McpError(error) => error,
        error => ErrorData::new(ErrorCode::INTERNAL_ERROR, format!("the client gave no answer: {error}"), None),
    }
}
