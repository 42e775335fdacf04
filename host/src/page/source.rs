//! Answers the page's requests.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use belljar_gateway::RunLedger;
use belljar_ledger::{Ledger, LedgerError};
use belljar_model::ErrorKind;
use belljar_page::{Asked, Export, NotShown, Source, Task, WrittenCall};
use belljar_telemetry::{CONTENT_TYPE, Update};
use futures::{
    FutureExt as _, StreamExt as _,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;

use super::{calls, cost, kept, questions, rules, runs, tools};
use crate::{
    backend::{Backend, Backends as _, Generations},
    failure::Failure,
};

/// The ledger of this process, and what is known of its live runs.
pub(super) struct LedgerSource {
    pub(super) generations: Arc<Generations>,
    pub(super) tokens: Recent,
    pub(super) verdicts: Recent,
    pub(super) times: Recent,
}

/// An expensive answer, and when it was made. It is made by one request at a time.
#[derive(Default)]
pub(super) struct Recent(tokio::sync::Mutex<Option<(Instant, Value)>>);

impl Recent {
    /// The answer, made anew if it is older than this.
    pub(super) async fn or_make<F>(&self, lives: Duration, make: F) -> Result<Value, NotShown>
    where
        F: Future<Output = Result<Value, NotShown>>,
    {
        let mut known = self.0.lock().await;
        if let Some((at, value)) = &*known
            && at.elapsed() < lives
        {
            return Ok(value.clone());
        }
        let value = make.await?;
        *known = Some((Instant::now(), value.clone()));
        Ok(value)
    }
}

impl LedgerSource {
    pub(super) fn new(generations: Arc<Generations>) -> Self {
        Self { generations, tokens: Recent::default(), verdicts: Recent::default(), times: Recent::default() }
    }

    /// The backend that answers like the command line, with the servers as they are now.
    pub(super) async fn backend(&self) -> Result<Box<dyn Backend>, NotShown> {
        self.generations.backend().await.map_err(|failure| refused(&failure))
    }

    /// The ledger with runs and questions.
    pub(super) fn ledger(&self) -> Result<Arc<dyn Ledger>, NotShown> {
        let kept = self.generations.ledger();
        let missing = || NotShown::Failed("this process keeps no ledger".to_owned());
        kept.map(|RunLedger { ledger, .. }| ledger).ok_or_else(missing)
    }
}

pub(super) fn unreadable(fault: LedgerError) -> NotShown {
    NotShown::Failed(format!("{fault}: {}", fault.hint()))
}

/// What the command line would say.
pub(super) fn refused(failure: &Failure) -> NotShown {
    let (message, hint) = failure.told();
    let told = match hint {
        Some(hint) => format!("{message}; {hint}"),
        None => message,
    };
    match failure.kind() {
        ErrorKind::Internal => NotShown::Failed(told),
        _ => NotShown::Refused(told),
    }
}

/// What a page must know about an update: it asks for the rest. No text of a script is sent this
/// way.
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
    fn shown(&self, asked: Asked) -> BoxFuture<'_, Result<Value, NotShown>> {
        async move {
            match asked {
                Asked::Runs(asked) => runs::list(self, asked).await,
                Asked::Run(run) => runs::one(self, run).await,
                Asked::Compared(one, other) => kept::compared(self, &one, &other).await,
                Asked::Approvals => questions::list(self).await,
                Asked::Waiting => questions::count(self).await,
                Asked::Servers => tools::servers(self).await,
                Asked::Search(asked) => tools::search(self, asked).await,
                Asked::ToolsOf(server) => tools::of_server(self, server).await,
                Asked::Tool(path) => tools::one(self, &path).await,
                Asked::Rules => rules::list(self).await,
                Asked::Cost => cost::shown(self).await,
                _ => Err(NotShown::Unknown("this belljar does not show that".to_owned())),
            }
        }
        .boxed()
    }

    fn done(&self, task: Task) -> BoxFuture<'_, Result<Value, NotShown>> {
        async move {
            match task {
                Task::Explain(call) => rules::explained(self, call).await,
                Task::Replay(run) => kept::replayed(self, &run).await,
                _ => Err(NotShown::Unknown("this belljar does not do that".to_owned())),
            }
        }
        .boxed()
    }

    fn exported(&self, run: String, form: Export) -> BoxFuture<'_, Result<Vec<u8>, NotShown>> {
        async move { kept::exported(self, &run, form).await }.boxed()
    }

    fn cancel(&self, run: String) -> BoxFuture<'_, Result<(), NotShown>> {
        async move { runs::cancelled(self, &run) }.boxed()
    }

    fn call(&self, call: WrittenCall) -> BoxFuture<'_, Result<Value, NotShown>> {
        calls::made(self, call).boxed()
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
