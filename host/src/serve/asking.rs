//! How the owner is asked about calls of runs that came in here.

use std::sync::Arc;

use belljar_http::Admission;
use belljar_ledger::Ledger;
use rmcp::{RoleServer, service::RequestContext};

use super::client;
use crate::approvals::{self, Asking};

/// How the client's user is asked.
pub(super) enum Way<'a> {
    /// Not at all.
    Nobody,
    /// By requests to the client, at this desk, while their run waits.
    Requests(u64, &'a Arc<dyn Ledger>),
    /// In place of an answer, after their run was put aside.
    Rounds(&'a Arc<dyn Ledger>),
}

impl<'a> Way<'a> {
    /// How the client's user is asked, if the client shows forms and rules could ask. Over HTTP the
    /// client is not the owner's, except at the owner's socket.
    pub(super) fn of(asking: &'a Asking, context: &RequestContext<RoleServer>) -> Self {
        let Some(ledger) = &asking.ledger else { return Self::Nobody };
        let admission = Admission::of(context);
        if !client::takes_requests(context) {
            let is_owner = admission.is_none_or(|admission| admission.principal().is_owner());
            let is_asked = is_owner && asking.can_rest && client::shows_forms(context.client_capabilities().as_ref());
            return if is_asked { Self::Rounds(ledger) } else { Self::Nobody };
        }
        if admission.is_some() || !client::abilities(context).elicitation {
            return Self::Nobody;
        }
        approvals::new_desk().map_or(Self::Nobody, |desk| Self::Requests(desk, ledger))
    }
}

/// Where the questions of a requested run are asked.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Asked {
    pub(super) desk: Option<u64>,
    /// Whether the client is asked in the answer: its run is put aside as soon as it waits.
    pub(super) with_answer: bool,
}
