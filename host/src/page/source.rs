//! Answers the page's questions.

use std::sync::Arc;

use belljar_gateway::RunLedger;
use belljar_ledger::{Ledger, LedgerError};
use belljar_page::{NotShown, RunsAsked, Source};
use belljar_telemetry::{CONTENT_TYPE, Update};
use futures::{
    FutureExt as _, StreamExt as _,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;

use super::{questions, runs};
use crate::backend::Generations;

/// The ledger of this process, and what is known of its live runs.
pub(super) struct LedgerSource {
    pub(super) generations: Arc<Generations>,
}

impl LedgerSource {
    pub(super) fn new(generations: Arc<Generations>) -> Self {
        Self { generations }
    }

    /// Where runs and questions are.
    pub(super) fn ledger(&self) -> Result<Arc<dyn Ledger>, NotShown> {
        let kept = self.generations.ledger();
        let missing = || NotShown::Failed("this process keeps no ledger".to_owned());
        kept.map(|RunLedger { ledger, .. }| ledger).ok_or_else(missing)
    }
}

pub(super) fn unreadable(fault: LedgerError) -> NotShown {
    NotShown::Failed(format!("{fault}: {}", fault.hint()))
}

/// What a page has to know of an update: it asks for the rest. No text of a script goes this way.
fn told(update: &Update) -> Value {
    match update {
        Update::Run(event) => {
            let event = json!(event);
            json!({ "kind": "run", "run": event["run"], "event": event["event"] })
        }
        Update::Child(_) => json!({ "kind": "child" }),
        Update::Lost { events } => json!({ "kind": "lost", "events": events }),
    }
}

impl Source for LedgerSource {
    fn runs(&self, asked: RunsAsked) -> BoxFuture<'_, Result<Value, NotShown>> {
        runs::list(self, asked).boxed()
    }

    fn run(&self, run: String) -> BoxFuture<'_, Result<Value, NotShown>> {
        runs::one(self, run).boxed()
    }

    fn approvals(&self) -> BoxFuture<'_, Result<Value, NotShown>> {
        questions::list(self).boxed()
    }

    fn waiting(&self) -> BoxFuture<'_, Result<Value, NotShown>> {
        questions::count(self).boxed()
    }

    fn question(&self, id: String) -> BoxFuture<'_, Result<(Value, String), NotShown>> {
        questions::one(self, id).boxed()
    }

    fn decide(&self, id: String, identity: String, approve: bool) -> BoxFuture<'_, Result<(), NotShown>> {
        questions::decide(self, id, identity, approve).boxed()
    }

    fn metrics(&self) -> BoxFuture<'_, (&'static str, String)> {
        async { (CONTENT_TYPE, self.generations.metrics().await) }.boxed()
    }

    fn updates(&self) -> BoxStream<'static, Value> {
        let updates = self.generations.telemetry().updates();
        let next = |mut updates: tokio::sync::broadcast::Receiver<Update>| async move {
            let update = match updates.recv().await {
                Ok(update) => update,
                Err(RecvError::Lagged(events)) => Update::Lost { events },
                Err(RecvError::Closed) => return None,
            };
            Some((told(&update), updates))
        };
        stream::unfold(updates, next).boxed()
    }
}
