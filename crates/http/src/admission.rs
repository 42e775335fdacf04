//! The context of a request for its handler: its principal, and what it keeps alive.

use std::{
    collections::BTreeSet,
    sync::{Arc, atomic::AtomicU8},
    time::Duration,
};

use rmcp::{
    RoleServer,
    service::{NotificationContext, RequestContext},
};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::{AskedOnce, Scope, sessions::Use, shares::Share};

/// A name that no token has.
const OWNER: &str = "(owner)";

/// The principal: the name of a token, whichever secret it has now, a subject of the authorization
/// server, or the owner at the socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    name: Arc<str>,
    scopes: Arc<BTreeSet<Scope>>,
    origin: Origin,
}

/// Who vouches for this principal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// The owner, who made the token, or runs the server.
    Owner,
    /// The authorization server, which can issue a token with other scopes.
    Issuer {
        /// The time, in Unix time, until which this token is accepted.
        until: Duration,
    },
}

impl Principal {
    /// A principal with these rights.
    pub fn new(name: &str, scopes: BTreeSet<Scope>) -> Self {
        Self { name: name.into(), scopes: Arc::new(scopes), origin: Origin::Owner }
    }

    /// A subject of the authorization server, whose token is accepted until this Unix time.
    pub(crate) fn of_issuer(name: &str, scopes: BTreeSet<Scope>, until: Duration) -> Self {
        Self { origin: Origin::Issuer { until }, ..Self::new(name, scopes) }
    }

    /// The owner of the server.
    #[cfg(unix)]
    pub(crate) fn owner() -> Self {
        Self::new(OWNER, BTreeSet::from([Scope::Admin]))
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is the owner of the server.
    pub fn is_owner(&self) -> bool {
        &*self.name == OWNER
    }

    /// Whether its token was issued by the authorization server.
    pub(crate) fn is_of_issuer(&self) -> bool {
        self.expires().is_some()
    }

    /// The Unix time until which its token is accepted, if the authorization server sets one.
    pub(crate) fn expires(&self) -> Option<Duration> {
        match self.origin {
            Origin::Owner => None,
            Origin::Issuer { until } => Some(until),
        }
    }

    pub(crate) fn shared_name(&self) -> &Arc<str> {
        &self.name
    }

    /// Whether it has this scope. `run` includes `run:read-only`.
    pub fn may(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope)
            || self.scopes.contains(&Scope::Admin)
            || scope == Scope::RunReadOnly && self.scopes.contains(&Scope::Run)
    }

    /// Its scopes.
    pub fn scopes(&self) -> impl Iterator<Item = Scope> {
        self.scopes.iter().copied()
    }
}

/// A request that was admitted. As long as it is held, its session is in use, and the server waits
/// for it before it ends.
#[derive(Debug, Clone)]
pub struct Admission(Arc<Held>);

#[derive(Debug)]
struct Held {
    principal: Principal,
    session: Option<Use>,
    flight: Option<Flight>,
    _share: Option<Share>,
    ending: CancellationToken,
}

impl Admission {
    pub(crate) fn new(
        principal: Principal,
        (session, share): (Option<Use>, Option<Share>),
        flight: Option<Flight>,
        ending: CancellationToken,
    ) -> Self {
        Self(Arc::new(Held { principal, session, flight, _share: share, ending }))
    }

    /// The admission of the handler's request; `None` if it did not come over HTTP. A handler must
    /// keep its context while it works.
    pub fn of(context: &RequestContext<RoleServer>) -> Option<&Self> {
        context.extensions.get::<http::request::Parts>()?.extensions.get::<Self>()
    }

    /// The principal.
    pub fn principal(&self) -> &Principal {
        &self.0.principal
    }

    /// The admission of work that outlives its request, such as a task: the server waits for it
    /// before it ends, but a session does not. Tasks have their own bounds.
    pub fn outliving(&self) -> Self {
        let flight = self.0.flight.as_ref().map(Flight::another);
        Self::new(self.0.principal.clone(), (None, None), flight, self.0.ending.clone())
    }

    /// The log level from which the client of its session wants messages. The handler defines the
    /// numbers; it is 0 until it is set. `None` without a session.
    pub fn log_level(&self) -> Option<&AtomicU8> {
        self.0.session.as_ref().map(Use::log_level)
    }

    /// The workspace that the client of its session names; the handler asks for it. `None` without
    /// a session.
    pub fn workspace(&self) -> Option<&AskedOnce> {
        self.0.session.as_ref().map(Use::workspace)
    }

    /// The admission of a notification; `None` if it did not come over HTTP.
    pub fn of_notification(context: &NotificationContext<RoleServer>) -> Option<&Self> {
        context.extensions.get::<http::request::Parts>()?.extensions.get::<Self>()
    }

    /// Completes when the server is about to end and no longer waits for this request. The answer
    /// can still be sent.
    pub async fn called_off(&self) {
        self.0.ending.cancelled().await;
    }
}

/// Counts the requests that are in progress.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flights(watch::Sender<usize>);

/// One counted item, until it is dropped.
#[derive(Debug)]
pub(crate) struct Flight(watch::Sender<usize>);

impl Flights {
    pub(crate) fn begin(&self) -> Flight {
        self.0.send_modify(|count| *count += 1);
        Flight(self.0.clone())
    }

    /// The count, and each change of it.
    pub(crate) fn count(&self) -> watch::Receiver<usize> {
        self.0.subscribe()
    }
}

impl Flight {
    /// Counts another item.
    fn another(&self) -> Self {
        self.0.send_modify(|count| *count += 1);
        Self(self.0.clone())
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}
