//! The client of this server, whom children may ask.
//!
//! A client of the initialize era is asked by a request. The later revision has no requests from
//! server to client: there, a client that supports tasks finds the question in the task of its
//! call, and other clients cannot be asked.

#![expect(deprecated, reason = "sampling and roots are deprecated, and children of the initialize era ask for them")]

use std::sync::Arc;

use belljar_http::Asks;
use belljar_upstream::{AskClient, ClientAbilities};
use futures::{FutureExt as _, future::BoxFuture};
use rmcp::{
    ErrorData, RoleServer,
    model::{
        ClientCapabilities, ClientResult, CreateMessageRequest, CreateMessageRequestParams, CreateMessageResult,
        ElicitRequest, ElicitRequestParams, ElicitResult, ErrorCode, Implementation, InputRequest, ListRootsRequest,
        ListRootsResult, ProtocolVersion, ServerRequest,
    },
    service::{Peer, RequestContext, ServiceError},
};
use serde::de::DeserializeOwned;
use tokio::sync::Semaphore;

/// How many questions of children the client may leave unanswered. A user sees one at a time.
const MAX_QUESTIONS: usize = 64;

/// Passes on a child's request.
pub(super) struct AskedClient {
    way: Way,
    abilities: ClientAbilities,
    questions: Questions,
}

/// How a client is asked.
#[derive(Clone)]
pub(super) enum Way {
    /// By requests.
    Requests(Peer<RoleServer>),
    /// By its task.
    Task(Asks),
}

/// The open questions of all children, bounded: a child may ask without end, and a client need not
/// answer.
#[derive(Clone)]
pub(super) struct Questions(Arc<Semaphore>);

impl Default for Questions {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAX_QUESTIONS)))
    }
}

impl AskedClient {
    pub(super) fn new(way: Way, abilities: ClientAbilities, questions: &Questions) -> Self {
        Self { way, abilities, questions: questions.clone() }
    }

    /// Asks the client, unless it already has too much to answer: by a request, or through its
    /// task.
    fn ask<T: DeserializeOwned, F: Future<Output = Result<T, ErrorData>> + Send + 'static>(
        &self,
        by_task: InputRequest,
        by_request: impl FnOnce(Peer<RoleServer>) -> F + Send + 'static,
    ) -> BoxFuture<'static, Result<T, ErrorData>> {
        let way = self.way.clone();
        let place = self.questions.0.clone().try_acquire_owned();
        async move {
            let Ok(_place) = place else {
                let message = format!("{MAX_QUESTIONS} questions wait for the client's answers, the limit; ask later");
                return Err(ErrorData::new(ErrorCode(belljar_daemon::codes::BUSY), message, None));
            };
            let asks = match way {
                Way::Requests(peer) => return by_request(peer).await,
                Way::Task(asks) => asks,
            };
            let none = || ErrorData::internal_error("the client gives no answer", None);
            let answer = asks.ask(by_task).await.ok_or_else(none)?;
            serde_json::from_value(answer).map_err(|error| {
                ErrorData::internal_error(format!("the client's answer cannot be read: {error}"), None)
            })
        }
        .boxed()
    }
}

/// The client's name and version: in this request, or from the handshake.
pub(super) fn name(context: &RequestContext<RoleServer>) -> Option<String> {
    let of_all = || context.peer.peer_info().map(|info| info.client_info.clone());
    let Implementation { name, version, .. } = context.meta.client_info().or_else(of_all)?;
    Some(if version.is_empty() { name } else { format!("{name} {version}") })
}

/// Whether the client of this request can be asked by requests of the server.
pub(super) fn takes_requests(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_none_or(|revision| revision < ProtocolVersion::V_2026_07_28)
}

/// The client's declared capabilities, as far as there is a way to use them.
pub(super) fn abilities(context: &RequestContext<RoleServer>) -> ClientAbilities {
    let can_be_asked = |abilities: &ClientCapabilities| takes_requests(context) || abilities.supports_tasks();
    let Some(declared) = context.client_capabilities().filter(can_be_asked) else { return ClientAbilities::default() };
    let (sampling, elicitation) = (declared.sampling.as_ref(), declared.elicitation.as_ref());
    ClientAbilities {
        sampling: sampling.is_some(),
        sampling_tools: sampling.is_some_and(|sampling| sampling.tools.is_some()),
        elicitation: shows_forms(Some(&declared)),
        elicitation_url: elicitation.is_some_and(|asked| asked.url.is_some()),
        roots: declared.roots.is_some(),
    }
}

/// Whether a client with these capabilities shows forms. A client that names neither forms nor
/// pages is older than pages.
pub(super) fn shows_forms(capabilities: Option<&ClientCapabilities>) -> bool {
    let asked = capabilities.and_then(|capabilities| capabilities.elicitation.as_ref());
    asked.is_some_and(|asked| asked.form.is_some() || asked.url.is_none())
}

impl AskClient for AskedClient {
    fn abilities(&self) -> ClientAbilities {
        self.abilities
    }

    fn create_message(
        &self,
        request: CreateMessageRequestParams,
    ) -> BoxFuture<'static, Result<CreateMessageResult, ErrorData>> {
        let by_task = InputRequest::CreateMessage(CreateMessageRequest::new(request.clone()));
        self.ask(by_task, |peer| async move { peer.create_message(request).await.map_err(refused) })
    }

    fn elicit(&self, request: ElicitRequestParams) -> BoxFuture<'static, Result<ElicitResult, ErrorData>> {
        let by_task = InputRequest::Elicitation(ElicitRequest::new(request.clone()));
        self.ask(by_task, |peer| async move {
            match peer.send_request(ServerRequest::ElicitRequest(ElicitRequest::new(request))).await {
                Ok(ClientResult::ElicitResult(answer)) => Ok(answer),
                Ok(_) => Err(refused(ServiceError::UnexpectedResponse)),
                Err(error) => Err(refused(error)),
            }
        })
    }

    fn list_roots(&self) -> BoxFuture<'static, Result<ListRootsResult, ErrorData>> {
        let by_task = InputRequest::ListRoots(ListRootsRequest::default());
        self.ask(by_task, |peer| async move { peer.list_roots().await.map_err(refused) })
    }
}

/// What the child is told when the client gives no answer.
fn refused(error: ServiceError) -> ErrorData {
    match error {
        ServiceError::McpError(error) => error,
        error => ErrorData::new(ErrorCode::INTERNAL_ERROR, format!("the client gave no answer: {error}"), None),
    }
}
