//! Who asks for a run.

use std::sync::Arc;

use belljar_daemon::requests::Principal;
use belljar_http::{Admission, Asks, Owner, Scope};
use belljar_model::{Effect, RequestTrace, ServedRequest, TRACEPARENT, TRACESTATE};
use belljar_upstream::{AskClient, ClientAbilities};
use rmcp::{
    RoleServer,
    service::{Peer, RequestContext},
};

use serde_json::Value;

use super::{
    client::{self, AskedClient, Questions, Way},
    definitions::EXECUTE,
};

/// The asker of a run. A run may outlive its request, and this is what it keeps of it.
pub(super) struct Requester {
    /// The HTTP request, if it came over HTTP.
    pub(super) admission: Option<Admission>,
    /// The client's name.
    pub(super) client: Option<String>,
    /// What it can be asked.
    abilities: ClientAbilities,
    takes_requests: bool,
    pub(super) peer: Peer<RoleServer>,
    /// Where its task keeps questions, if there may be one.
    asks: Option<Asks>,
    /// The request, for a trace.
    pub(super) trace: RequestTrace,
}

impl Requester {
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Self {
        Self {
            admission: Admission::of(context).cloned(),
            client: client::name(context),
            abilities: client::abilities(context),
            takes_requests: client::takes_requests(context),
            peer: context.peer.clone(),
            asks: None,
            trace: trace(context, EXECUTE),
        }
    }

    pub(super) fn of_task(context: &RequestContext<RoleServer>, asks: &Asks) -> Self {
        let admission = Admission::of(context).map(Admission::outliving);
        Self { admission, asks: Some(asks.clone()), ..Self::of(context) }
    }

    /// The principal of the run, and its scope; `None` for the owner at the socket or at stdin and
    /// stdout.
    pub(super) fn principal(&self) -> Option<Principal> {
        let principal = self.admission.as_ref()?.principal();
        let ceiling = (!principal.may(Scope::Run)).then_some(Effect::ReadOnly);
        (!principal.is_owner()).then(|| Principal { name: principal.name().to_owned(), ceiling })
    }

    /// Whom children may ask. If there are many clients, none is asked.
    pub(super) fn asked_by_children(&self, questions: &Questions) -> Option<Arc<dyn AskClient>> {
        if self.admission.is_some() {
            return None;
        }
        let way = match &self.asks {
            Some(asks) if !self.takes_requests => Way::Task(asks.clone()),
            _ => Way::Requests(self.peer.clone()),
        };
        Some(Arc::new(AskedClient::new(way, self.abilities, questions)))
    }
}

/// The request, which calls this tool, and the span that its client says it is part of.
pub(super) fn trace(context: &RequestContext<RoleServer>, tool: &str) -> RequestTrace {
    let said = |key: &str| context.meta.get(key).and_then(Value::as_str).map(str::to_owned);
    let transport = if Admission::of(context).is_some() { "tcp" } else { "pipe" };
    let served = ServedRequest {
        tool: tool.to_owned(),
        id: context.id.to_string(),
        protocol: context.protocol_version().map(|version| version.to_string()).unwrap_or_default(),
        transport: transport.to_owned(),
    };
    RequestTrace { traceparent: said(TRACEPARENT), tracestate: said(TRACESTATE), served: Some(served) }.bounded()
}

/// The owner of the tasks.
pub(super) fn owner(context: &RequestContext<RoleServer>) -> Owner {
    // On stdin and stdout there is one client.
    let Some(admission) = Admission::of(context) else { return Owner { name: Arc::from(""), may_change: true } };
    let principal = admission.principal();
    Owner { name: principal.name().into(), may_change: principal.may(Scope::Run) }
}

/// The principal of a request. At the socket it is the owner, as at stdin and stdout.
pub(super) fn principal(context: &RequestContext<RoleServer>) -> Option<&str> {
    let principal = Admission::of(context)?.principal();
    (!principal.is_owner()).then(|| principal.name())
}

/// Completes when nobody waits for the answer any more, or nobody should.
pub(super) async fn ended(context: &RequestContext<RoleServer>) {
    match Admission::of(context) {
        None => context.ct.cancelled().await,
        Some(admission) => tokio::select! {
            () = context.ct.cancelled() => {}
            () = admission.called_off() => {}
        },
    }
}
