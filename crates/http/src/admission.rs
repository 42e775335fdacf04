//! What a request carries to its handler: whose it is, and what it keeps alive.

use std::{
    collections::BTreeSet,
    sync::{Arc, atomic::AtomicU8},
};

use rmcp::{RoleServer, service::RequestContext};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::{Scope, sessions::Use, shares::Share};

/// No token has this name.
const OWNER: &str = "(owner)";

/// Who asks: the name of a token, whatever its secret is by now, a subject of the authorization
/// server, or the owner at the socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    name: Arc<str>,
    scopes: Arc<BTreeSet<Scope>>,
    origin: Origin,
}

/// Who says that it is this principal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// The owner, who made the token, or runs the server.
    Owner,
    /// The authorization server, which can give it a token with other scopes.
    Issuer,
}

impl Principal {
    /// One with these rights.
    pub fn new(name: &str, scopes: BTreeSet<Scope>) -> Self {
        Self { name: name.into(), scopes: Arc::new(scopes), origin: Origin::Owner }
    }

    /// A subject of the authorization server.
    pub(crate) fn of_issuer(name: &str, scopes: BTreeSet<Scope>) -> Self {
        Self { origin: Origin::Issuer, ..Self::new(name, scopes) }
    }

    /// Whoever runs the server.
    #[cfg(unix)]
    pub(crate) fn owner() -> Self {
        Self::new(OWNER, BTreeSet::from([Scope::Admin]))
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is whoever runs the server.
    pub fn is_owner(&self) -> bool {
        &*self.name == OWNER
    }

    /// Whether its token is one of the authorization server.
    pub(crate) fn is_of_issuer(&self) -> bool {
        self.origin == Origin::Issuer
    }

    pub(crate) fn shared_name(&self) -> &Arc<str> {
        &self.name
    }

    /// Whether it may do this. Whoever may run all may run what only reads.
    pub fn may(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope)
            || self.scopes.contains(&Scope::Admin)
            || scope == Scope::RunReadOnly && self.scopes.contains(&Scope::Run)
    }

    /// What it was given.
    pub fn scopes(&self) -> impl Iterator<Item = Scope> {
        self.scopes.iter().copied()
    }
}

/// One request that was let in. As long as it is held, its session is in use, and the server waits
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

    /// That of the request which a handler has; absent where it did not come over HTTP. A handler
    /// has to hold its context while it works.
    pub fn of(context: &RequestContext<RoleServer>) -> Option<&Self> {
        context.extensions.get::<http::request::Parts>()?.extensions.get::<Self>()
    }

    /// Who asks.
    pub fn principal(&self) -> &Principal {
        &self.0.principal
    }

    /// That of work which outlives its request, as a task does: the end of the server waits for it,
    /// and its session does not. Tasks have bounds of their own.
    pub fn outliving(&self) -> Self {
        let flight = self.0.flight.as_ref().map(Flight::another);
        Self::new(self.0.principal.clone(), (None, None), flight, self.0.ending.clone())
    }

    /// From which level on the client of its session wants to hear of what is logged. What the
    /// number means is for the handler to say; 0 until it was set. There is none without a session.
    pub fn log_level(&self) -> Option<&AtomicU8> {
        self.0.session.as_ref().map(Use::log_level)
    }

    /// Ends when the server is about to end and waits for this request no longer. The answer can
    /// still be sent.
    pub async fn called_off(&self) {
        self.0.ending.cancelled().await;
    }
}

/// Counts what is under way.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flights(watch::Sender<usize>);

/// One of them, until it is dropped.
#[derive(Debug)]
pub(crate) struct Flight(watch::Sender<usize>);

impl Flights {
    pub(crate) fn begin(&self) -> Flight {
        self.0.send_modify(|count| *count += 1);
        Flight(self.0.clone())
    }

    /// How many there are, and each change of it.
    pub(crate) fn count(&self) -> watch::Receiver<usize> {
        self.0.subscribe()
    }
}

impl Flight {
    /// One more of the same count.
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
