//! The waiters for the owner's decisions in this process, and the task that polls for decisions.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use belljar_approvals::{QuestionId, State};
use belljar_ledger::Ledger;
use parking_lot::Mutex;
use tokio::{sync::oneshot, time::sleep};

/// How often the ledger is polled while anybody waits: another process may have taken a decision.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// The waiters for decisions in this process.
#[derive(Default)]
pub(crate) struct Waiting(Mutex<Open>);

#[derive(Default)]
struct Open {
    questions: BTreeMap<QuestionId, oneshot::Sender<State>>,
    is_looking: bool,
}

impl Waiting {
    /// Waits for a question that is about to be asked. The polling task ends when nobody waits.
    pub(crate) fn for_decision(self: &Arc<Self>, ledger: &Arc<dyn Ledger>, id: QuestionId) -> oneshot::Receiver<State> {
        let (told, decided) = oneshot::channel();
        let mut open = self.0.lock();
        open.questions.insert(id, told);
        if !std::mem::replace(&mut open.is_looking, true) {
            tokio::spawn(look(self.clone(), ledger.clone()));
        }
        decided
    }
}

async fn look(waiting: Arc<Waiting>, ledger: Arc<dyn Ledger>) {
    loop {
        sleep(LOOK_EVERY).await;
        let ids: Vec<QuestionId> = {
            let mut open = waiting.0.lock();
            open.questions.retain(|_, told| !told.is_closed());
            if open.questions.is_empty() {
                open.is_looking = false;
                return;
            }
            open.questions.keys().copied().collect()
        };
        let states = match ledger.question_states(ids).await {
            Ok(states) => states,
            // The waiter has a timeout, and the next look may succeed.
            Err(fault) => {
                tracing::debug!("decisions of the owner could not be read: {fault}");
                continue;
            }
        };
        let mut open = waiting.0.lock();
        for (id, state) in states.into_iter().filter(|(_, state)| *state != State::Open) {
            if let Some(told) = open.questions.remove(&id) {
                // A waiter that is gone has withdrawn its question.
                let _ = told.send(state);
            }
        }
    }
}
