//! How the owner is asked about calls of runs that came in here.

use std::sync::Arc;

use belljar_config::ApprovalsSettings;
use belljar_gateway::Approvals;
use belljar_http::Admission;
use belljar_ledger::Ledger;
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
}

impl Asking {
    pub(crate) fn of(loaded: &Loaded) -> Self {
        let ledger = || Arc::new(setup::ledger_of(&loaded.config.ledger)) as Arc<dyn Ledger>;
        Self { settings: loaded.config.approvals.clone(), ledger: loaded.policy.is_some().then(ledger) }
    }

    /// Who can be asked: whoever sits at this desk, and the owner by a command.
    pub(crate) fn approvals(&self, desk: Option<u64>) -> Approvals {
        approvals::asked(&self.settings, approvals::at_client(desk), true)
    }

    /// The client's user, if the client shows forms and rules could ask: the number of their desk,
    /// and where its questions lie. Over HTTP the client is not the owner's to ask.
    pub(super) fn desk(&self, context: &RequestContext<RoleServer>) -> Option<(u64, &Arc<dyn Ledger>)> {
        let ledger = self.ledger.as_ref().filter(|_| Admission::of(context).is_none())?;
        if !client::abilities(&context.peer).elicitation {
            return None;
        }
        Some((approvals::new_desk().ok()?, ledger))
    }
}
