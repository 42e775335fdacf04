//! What belljar is to its children: a client that passes on what they ask, or declines it.

#![expect(deprecated, reason = "roots are deprecated, and children of the initialize era ask for them")]

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use rmcp::{
    ClientHandler, ErrorData, RoleClient,
    model::{
        ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
        ElicitResult, ElicitationAction, ElicitationCapability, ErrorCode, Implementation, ListRootsResult,
        ProgressNotificationParam, ProgressToken, ProtocolVersion, RootsCapabilities, SamplingCapability,
    },
    service::{NotificationContext, RequestContext},
};
use tokio::sync::Notify;

use crate::asking::{Callers, ClientAbilities};

/// Answers a child's pings, passes on what else it asks to the client whose run is the only one that calls it, and hears its news of
/// progress and of changed tools.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) progress: Progress,
    pub(crate) tools_changed: Arc<Notify>,
    pub(crate) abilities: ClientAbilities,
    pub(crate) callers: Callers,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let client = Implementation::new(self.name.clone(), self.version.clone());
        let mut capabilities = ClientCapabilities::default();
        capabilities.sampling = self.abilities.sampling.then(SamplingCapability::default);
        capabilities.elicitation = self.abilities.elicitation.then(ElicitationCapability::default);
        capabilities.roots = self.abilities.roots.then(RootsCapabilities::default);
        ClientConfig::new(capabilities, client).with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn create_message(
        &self,
        request: CreateMessageRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        match self.callers.only_client().filter(|_| self.abilities.sampling) {
            Some(client) => client.create_message(request).await,
            None => Err(declined("sampling/createMessage", self.abilities.sampling)),
        }
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        match self.callers.only_client().filter(|_| self.abilities.elicitation) {
            Some(client) => client.elicit(request).await,
            None => Ok(ElicitResult::new(ElicitationAction::Decline)),
        }
    }

    async fn list_roots(&self, _context: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        match self.callers.only_client().filter(|_| self.abilities.roots) {
            Some(client) => client.list_roots().await,
            None => Err(declined("roots/list", self.abilities.roots)),
        }
    }

    async fn on_progress(&self, news: ProgressNotificationParam, _context: NotificationContext<RoleClient>) {
        self.progress.beat(&news.progress_token);
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.tools_changed.notify_one();
    }
}

/// What has no answer: the method is unknown where the client is known not to have it; else it is refused this time.
fn declined(method: &'static str, is_known: bool) -> ErrorData {
    if is_known {
        let message = "the calls in flight are of several runs, so nobody can say who is asked";
        ErrorData::new(ErrorCode::INVALID_REQUEST, message, None)
    } else {
        ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None)
    }
}

/// The calls that want to hear of their progress.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress(Arc<Mutex<HashMap<ProgressToken, Arc<Notify>>>>);

impl Progress {
    /// Hears of progress under `token` until it is dropped.
    pub(crate) fn watch(&self, token: ProgressToken) -> ProgressWatch {
        let beat = Arc::<Notify>::default();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(token.clone(), beat.clone());
        ProgressWatch { beat, token, progress: self.clone() }
    }

    fn beat(&self, token: &ProgressToken) {
        if let Some(beat) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(token) {
            beat.notify_one();
        }
    }
}

/// One call's interest in its progress.
#[derive(Debug)]
pub(crate) struct ProgressWatch {
    beat: Arc<Notify>,
    token: ProgressToken,
    progress: Progress,
}

impl ProgressWatch {
    /// The next news of progress.
    pub(crate) async fn next(&self) {
        self.beat.notified().await;
    }
}

impl Drop for ProgressWatch {
    fn drop(&mut self) {
        self.progress.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.token);
    }
}
