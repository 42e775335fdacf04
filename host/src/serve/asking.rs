//! How the owner is asked about calls of runs that came in here.

use std::{sync::Arc, time::Duration};

use belljar_config::ApprovalsSettings;
use belljar_gateway::Approvals;
use belljar_http::Admission;
use belljar_ledger::Ledger;
use belljar_model::LedgerLevel;
use rmcp::{RoleServer, service::RequestContext};

use super::client;
use crate::{
    approvals,
    setup::{self, Loaded},
};

/// How the owner is asked about calls of runs that this server is asked for.
#[derive(Clone)]
pub(crate) struct Asking {
    settings: ApprovalsSettings,
    /// Where questions lie; nothing where there are no rules that could ask.
    ledger: Option<Arc<dyn Ledger>>,
    /// Whether a run that waits can be put aside: something is kept of it, and it is not in a process of its own.
    can_rest: bool,
}

/// How the client's user is asked.
pub(super) enum Way<'a> {
    /// They are not.
    Nobody,
    /// By requests to the client, at this desk, while their run waits.
    Requests(u64, &'a Arc<dyn Ledger>),
    /// In place of an answer, when their run was put aside.
    Rounds(&'a Arc<dyn Ledger>),
}

impl Asking {
    pub(crate) fn of(loaded: &Loaded) -> Self {
        let ledger = || Arc::new(setup::ledger_of(&loaded.config.ledger)) as Arc<dyn Ledger>;
        Self {
            settings: loaded.config.approvals.clone(),
            ledger: loaded.policy.is_some().then(ledger),
            can_rest: loaded.config.ledger.level != LedgerLevel::Off && loaded.config.runs.process != Some(true),
        }
    }

    /// Who can be asked: whoever sits at this desk, and the owner by a command.
    pub(crate) fn approvals(&self, asked: Asked) -> Approvals {
        let approvals = approvals::asked(&self.settings, approvals::at_client(asked.desk), true);
        if asked.with_answer { Approvals { hold: Duration::ZERO, ..approvals } } else { approvals }
    }

    /// How the client's user is asked, if the client shows forms and rules could ask. Over HTTP the
    /// client is not the owner's to ask, except at the owner's socket.
    pub(super) fn way(&self, context: &RequestContext<RoleServer>) -> Way<'_> {
        let Some(ledger) = &self.ledger else { return Way::Nobody };
        let admission = Admission::of(context);
        if !client::takes_requests(context) {
            let is_owner = admission.is_none_or(|admission| admission.principal().is_owner());
            let is_asked = is_owner && self.can_rest && client::shows_forms(context.client_capabilities().as_ref());
            return if is_asked { Way::Rounds(ledger) } else { Way::Nobody };
        }
        if admission.is_some() || !client::abilities(context).elicitation {
            return Way::Nobody;
        }
        approvals::new_desk().map_or(Way::Nobody, |desk| Way::Requests(desk, ledger))
    }
}

/// Where a run that is asked for has its questions asked.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Asked {
    pub(crate) desk: Option<u64>,
    /// Whether the client is asked with the answer: its run is put aside as soon as it waits.
    pub(crate) with_answer: bool,
}
