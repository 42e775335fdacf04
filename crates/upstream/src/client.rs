//! What belljar is to its children: a client without sampling, roots or elicitation.

#![expect(deprecated, reason = "roots are deprecated, and declined here")]

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use rmcp::{
    ClientHandler, ErrorData, RoleClient,
    model::{
        ClientCapabilities, ClientConfig, ErrorCode, Implementation, ListRootsResult, ProgressNotificationParam,
        ProgressToken, ProtocolVersion,
    },
    service::{NotificationContext, RequestContext},
};
use tokio::sync::Notify;

/// Answers a child's pings, declines what else it may ask, and passes on its news of progress and of changed tools.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) progress: Progress,
    pub(crate) tools_changed: Arc<Notify>,
}

impl ClientHandler for Client {
    fn get_info(&self) -> ClientConfig {
        let client = Implementation::new(self.name.clone(), self.version.clone());
        ClientConfig::new(ClientCapabilities::default(), client)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn list_roots(&self, _context: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "roots/list", None))
    }

    async fn on_progress(&self, news: ProgressNotificationParam, _context: NotificationContext<RoleClient>) {
        self.progress.beat(&news.progress_token);
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.tools_changed.notify_one();
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
