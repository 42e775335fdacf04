//! The client of this server, as children may ask it.
//!
//! Only clients of the initialize era can be asked: the later revision has no requests from server to client.

#![expect(deprecated, reason = "sampling and roots are deprecated, and children of the initialize era ask for them")]

use std::sync::Arc;

use belljar_upstream::{AskClient, ClientAbilities};
use futures::{FutureExt as _, future::BoxFuture};
use rmcp::{
    ErrorData, RoleServer,
    model::{
        ClientCapabilities, ClientResult, CreateMessageRequestParams, CreateMessageResult, ElicitRequest,
        ElicitRequestParams, ElicitResult, ErrorCode, Implementation, ListRootsResult, ServerRequest,
    },
    service::{Peer, RequestContext, ServiceError},
};
use tokio::sync::Semaphore;

/// Questions of children that the client has not answered. A user sees one at a time.
const MAX_QUESTIONS: usize = 64;

/// Passes on what a child asks.
pub(super) struct Client {
    peer: Peer<RoleServer>,
    questions: Questions,
}

/// The open questions of all children, bounded: a child may ask without end, and a client need not answer.
#[derive(Clone)]
pub(super) struct Questions(Arc<Semaphore>);

impl Default for Questions {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAX_QUESTIONS)))
    }
}

impl Client {
    pub(super) fn new(peer: Peer<RoleServer>, questions: &Questions) -> Self {
        Self { peer, questions: questions.clone() }
    }

    /// Asks the client, if it has not too much to answer already.
    fn ask<T, F: Future<Output = Result<T, ErrorData>> + Send + 'static>(
        &self,
        question: impl FnOnce(Peer<RoleServer>) -> F + Send + 'static,
    ) -> BoxFuture<'static, Result<T, ErrorData>> {
        let peer = self.peer.clone();
        let place = self.questions.0.clone().try_acquire_owned();
        async move {
            let Ok(_place) = place else {
                let message = format!("{MAX_QUESTIONS} questions wait for the client's answers, the limit; ask later");
                return Err(ErrorData::new(ErrorCode(belljar_daemon::codes::BUSY), message, None));
            };
            question(peer).await
        }
        .boxed()
    }
}

/// What the client calls itself, and its version: with this request, or when it was greeted.
pub(super) fn name(context: &RequestContext<RoleServer>) -> Option<String> {
    let of_all = || context.peer.peer_info().map(|info| info.client_info.clone());
    let Implementation { name, version, .. } = context.meta.client_info().or_else(of_all)?;
    Some(if version.is_empty() { name } else { format!("{name} {version}") })
}

/// What the client said that it can do.
pub(super) fn abilities(peer: &Peer<RoleServer>) -> ClientAbilities {
    let Some(info) = peer.peer_info() else { return ClientAbilities::default() };
    let (sampling, elicitation) = (info.capabilities.sampling.as_ref(), info.capabilities.elicitation.as_ref());
    ClientAbilities {
        sampling: sampling.is_some(),
        sampling_tools: sampling.is_some_and(|sampling| sampling.tools.is_some()),
        elicitation: shows_forms(Some(&info.capabilities)),
        elicitation_url: elicitation.is_some_and(|asked| asked.url.is_some()),
        roots: info.capabilities.roots.is_some(),
    }
}

/// Whether a client that can do this shows forms. One that names neither forms nor pages is of before there were pages.
pub(super) fn shows_forms(capabilities: Option<&ClientCapabilities>) -> bool {
    let asked = capabilities.and_then(|capabilities| capabilities.elicitation.as_ref());
    asked.is_some_and(|asked| asked.form.is_some() || asked.url.is_none())
}

impl AskClient for Client {
    fn abilities(&self) -> ClientAbilities {
        abilities(&self.peer)
    }

    fn create_message(
        &self,
        request: CreateMessageRequestParams,
    ) -> BoxFuture<'static, Result<CreateMessageResult, ErrorData>> {
        self.ask(|peer| async move { peer.create_message(request).await.map_err(refused) })
    }

    fn elicit(&self, request: ElicitRequestParams) -> BoxFuture<'static, Result<ElicitResult, ErrorData>> {
        self.ask(|peer| async move {
            match peer.send_request(ServerRequest::ElicitRequest(ElicitRequest::new(request))).await {
                Ok(ClientResult::ElicitResult(answer)) => Ok(answer),
                Ok(_) => Err(refused(ServiceError::UnexpectedResponse)),
                Err(error) => Err(refused(error)),
            }
        })
    }

    fn list_roots(&self) -> BoxFuture<'static, Result<ListRootsResult, ErrorData>> {
        self.ask(|peer| async move { peer.list_roots().await.map_err(refused) })
    }
}

/// What the child is told when the client gives no answer.
fn refused(error: ServiceError) -> ErrorData {
    match error {
        ServiceError::McpError(error) => error,
        error => ErrorData::new(ErrorCode::INTERNAL_ERROR, format!("the client gave no answer: {error}"), None),
    }
}
