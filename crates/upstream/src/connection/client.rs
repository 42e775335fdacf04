//! belljar as the client of its children: it passes on what they ask, or declines it.

#![expect(deprecated, reason = "roots and logging are deprecated, and children of the initialize era have them")]

use std::{collections::HashMap, fmt, sync::Arc};

use belljar_model::Redactor;
use parking_lot::Mutex;
use rmcp::{
    ClientHandler, ErrorData, RoleClient,
    model::{
        ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult, CustomRequest, CustomResult,
        ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationCapability, ErrorCode,
        FormElicitationCapability, Implementation, ListRootsResult, LoggingMessageNotificationParam,
        ProgressNotificationParam, ProgressToken, ProtocolVersion, RootsCapabilities, SamplingCapability,
        UrlElicitationCapability,
    },
    service::{NotificationContext, RequestContext},
};
use serde_json::Value;
use tokio::{sync::Notify, time::Instant};

use crate::{
    connection::{
        answering::{Answering, ELICITATION, PING, ROOTS, SAMPLING, Watch},
        client_requests::{AskClient, Caller, Callers, ClientAbilities, ProgressHeard},
        question,
    },
    limits,
    pace::LinePace,
    redaction::redacted_line,
};

/// Answers a child's pings, passes its other requests to the client of the only run that calls it,
/// and handles its progress and changed tools.
#[derive(Debug, Clone)]
pub(crate) struct ChildClient {
    /// The child's configured name.
    pub(crate) server: String,
    /// Who gets its requests.
    pub(crate) watch: Watch,
    /// The name that belljar gives itself.
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) progress: Progress,
    pub(crate) tools_changed: Arc<Notify>,
    /// What the child may ask, as announced when it started.
    pub(crate) abilities: ClientAbilities,
    pub(crate) callers: Callers,
    /// Whether it is reached over HTTP.
    pub(crate) is_remote: bool,
    /// Masks the child's secrets in what it says.
    pub(crate) redactor: Arc<Redactor>,
    /// How much of its unsolicited messages is logged.
    pub(crate) log_pace: Arc<Mutex<LinePace>>,
}

/// Why nobody is asked.
pub(crate) enum NobodyAsked {
    /// The client cannot be asked this, or the owner does not allow it.
    NotAllowed,
    /// It is not clear whom to ask.
    SeveralRuns,
    /// The run was asked often enough.
    Enough,
}

impl ChildClient {
    /// The client that may be asked what `is_allowed` names, with its capabilities for this child.
    fn asked(
        &self,
        is_allowed: impl Fn(ClientAbilities) -> bool,
    ) -> Result<(Arc<dyn AskClient>, ClientAbilities), NobodyAsked> {
        if !is_allowed(self.abilities) {
            return Err(NobodyAsked::NotAllowed);
        }
        self.asked_of(&self.callers.only().ok_or(NobodyAsked::SeveralRuns)?, is_allowed)
    }

    /// The same, if it is clear which call the question is about.
    pub(crate) fn asked_of(
        &self,
        caller: &Caller,
        is_allowed: impl Fn(ClientAbilities) -> bool,
    ) -> Result<(Arc<dyn AskClient>, ClientAbilities), NobodyAsked> {
        let client = caller.client().ok_or(NobodyAsked::NotAllowed)?;
        let abilities = self.abilities.and(client.abilities());
        if !is_allowed(abilities) {
            return Err(NobodyAsked::NotAllowed);
        }
        if !caller.takes_a_question() {
            tracing::warn!(
                server = self.server,
                "it asks more than {} questions in one run",
                limits::QUESTIONS_PER_RUN
            );
            return Err(NobodyAsked::Enough);
        }
        Ok((client.clone(), abilities))
    }

    /// A request of the child, which is being answered.
    fn answering(&self, method: &str, context: &RequestContext<RoleClient>) -> Answering {
        self.watch.request(method, || self.callers.only()?.run_trace().cloned(), context)
    }
}

impl ClientHandler for ChildClient {
    fn get_info(&self) -> ClientConfig {
        let client = Implementation::new(self.name.clone(), self.version.clone());
        let mut capabilities = ClientCapabilities::default();
        capabilities.sampling = self.abilities.sampling.then(|| {
            let mut sampling = SamplingCapability::default();
            sampling.tools = self.abilities.sampling_tools.then(Default::default);
            sampling
        });
        capabilities.elicitation = match (self.abilities.elicitation, self.abilities.elicitation_url) {
            (false, false) => None,
            // In the form before there were pages, which older servers expect.
            (true, false) => Some(ElicitationCapability::new()),
            (has_forms, true) => {
                let mut pages = ElicitationCapability::new().with_url(UrlElicitationCapability::new());
                pages.form = has_forms.then(FormElicitationCapability::new);
                Some(pages)
            }
        };
        capabilities.roots = self.abilities.roots.then(RootsCapabilities::default);
        ClientConfig::new(capabilities, client).with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn ping(&self, context: RequestContext<RoleClient>) -> Result<(), ErrorData> {
        self.answering(PING, &context).ended(Ok(()))
    }

    async fn create_message(
        &self,
        request: CreateMessageRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let answering = self.answering(SAMPLING, &context);
        let answer = async {
            let (client, abilities) =
                self.asked(|abilities| abilities.sampling).map_err(|why| declined(SAMPLING, &why))?;
            client.create_message(question::sampling(&self.server, request, abilities)?).await
        };
        answering.ended(answer.await)
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let answering = self.answering(ELICITATION, &context);
        let Ok((client, abilities)) = self.asked(|abilities| abilities.elicitation || abilities.elicitation_url) else {
            answering.declined();
            return Ok(ElicitResult::new(ElicitationAction::Decline));
        };
        let answer = async { client.elicit(question::elicitation(&self.server, request, abilities)?).await };
        answering.ended(answer.await)
    }

    async fn list_roots(&self, context: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        let answering = self.answering(ROOTS, &context);
        let answer = async {
            let (client, _) = self.asked(|abilities| abilities.roots).map_err(|why| declined(ROOTS, &why))?;
            client.list_roots().await
        };
        answering.ended(answer.await)
    }

    /// Gets requests that belljar does not know or cannot parse.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleClient>,
    ) -> Result<CustomResult, ErrorData> {
        let answering = self.answering(&request.method, &context);
        answering.ended(Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None)))
    }

    async fn on_progress(&self, news: ProgressNotificationParam, _context: NotificationContext<RoleClient>) {
        self.progress.beat(&news, &self.redactor);
    }

    /// One connection of a child serves many clients, so its log messages belong to no request, and
    /// go to belljar's log.
    async fn on_logging_message(
        &self,
        message: LoggingMessageNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        let admitted = self.log_pace.lock().admit(Instant::now());
        let Some(left_out) = admitted else { return };
        let server = self.server.as_str();
        if left_out > 0 {
            tracing::info!(target: "belljar::child", server, "{left_out} log messages left out: it sends too many");
        }
        let text = match message.data {
            Value::String(text) => text,
            data => data.to_string(),
        };
        let text = redacted_line(&text, limits::STDERR_LINE_BYTES, &self.redactor);
        tracing::info!(target: "belljar::child", server, "logs at {:?}: {text}", message.level);
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.tools_changed.notify_one();
    }
}

/// The answer to a refused request: "unknown method" if nobody may ever be asked, or else a refusal
/// for this time.
fn declined(method: &'static str, why: &NobodyAsked) -> ErrorData {
    match why {
        NobodyAsked::NotAllowed => ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None),
        NobodyAsked::SeveralRuns => {
            let message = "the calls in flight belong to several runs, so it is not known whose client to ask";
            ErrorData::new(ErrorCode::INVALID_REQUEST, message, None)
        }
        NobodyAsked::Enough => {
            let message = format!("the run was asked {} questions, and is asked no more", limits::QUESTIONS_PER_RUN);
            ErrorData::new(ErrorCode::INVALID_REQUEST, message, None)
        }
    }
}

/// The calls with listeners for progress.
#[derive(Clone, Default)]
pub(crate) struct Progress(Arc<Mutex<HashMap<ProgressToken, Listening>>>);

/// A listener: a signal, and the message.
type Listening = (Arc<Notify>, Option<ProgressHeard>);

impl fmt::Debug for Progress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Progress")
    }
}

impl Progress {
    /// Listens for progress under `token` until it is dropped.
    pub(crate) fn watch(&self, token: ProgressToken, heard: Option<ProgressHeard>) -> ProgressWatch {
        let beat = Arc::<Notify>::default();
        self.0.lock().insert(token.clone(), (beat.clone(), heard));
        ProgressWatch { beat, token, progress: self.clone() }
    }

    fn beat(&self, news: &ProgressNotificationParam, redactor: &Redactor) {
        let listening = self.0.lock().get(&news.progress_token).cloned();
        let Some((beat, heard)) = listening else { return };
        beat.notify_one();
        if let Some(heard) = heard {
            heard(&said(news, redactor));
        }
    }
}

/// The text of a progress message, for people.
fn said(news: &ProgressNotificationParam, redactor: &Redactor) -> String {
    match (&news.message, news.total) {
        (Some(message), _) => redacted_line(message, limits::PROGRESS_CHARS, redactor),
        (None, Some(total)) => format!("{} of {total}", news.progress),
        (None, None) => news.progress.to_string(),
    }
}

/// One call's listener for progress.
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
        self.progress.0.lock().remove(&self.token);
    }
}
