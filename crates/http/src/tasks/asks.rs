//! Questions of a task to its client: each has a key, and its answer comes with `tasks/update`.

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;
use rmcp::model::{InputRequest, InputRequests, InputResponses};
use serde_json::Value;
use tokio::sync::{Notify, oneshot};

/// The most open questions of one task. A user sees one at a time.
const MAX_OPEN: usize = 16;

/// The questions of one call.
#[derive(Debug, Clone, Default)]
pub struct Asks(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    asked: Mutex<Asked>,
    /// Signals a question: a call that is not a task yet must become one.
    wanted: Notify,
}

#[derive(Debug, Default)]
struct Asked {
    open: BTreeMap<String, (InputRequest, oneshot::Sender<Value>)>,
    /// How many questions there were: a key is used only once.
    count: u64,
    is_closed: bool,
}

impl Asks {
    /// Asks the client. Returns `None` if it cannot be asked, or will not answer any more.
    ///
    /// # Cancellation
    /// Dropping the future withdraws the question.
    pub async fn ask(&self, request: InputRequest) -> Option<Value> {
        let (tell, told) = oneshot::channel();
        let key = {
            let mut asked = self.0.asked.lock();
            if asked.is_closed || asked.open.len() >= MAX_OPEN {
                return None;
            }
            asked.count += 1;
            let key = format!("ask-{}", asked.count);
            asked.open.insert(key.clone(), (request, tell));
            key
        };
        let _taken_back = TakenBack { asks: self, key };
        self.0.wanted.notify_one();
        told.await.ok()
    }

    /// Waits until something is asked.
    pub(super) async fn wanted(&self) {
        self.0.wanted.notified().await;
    }

    /// The open questions.
    pub(super) fn open(&self) -> InputRequests {
        self.0.asked.lock().open.iter().map(|(key, (request, _))| (key.clone(), request.clone())).collect()
    }

    /// Passes answers on; answers without an open question are dropped.
    pub(super) fn answered(&self, answers: InputResponses) {
        let mut asked = self.0.asked.lock();
        for (key, answer) in answers {
            if let Some((_, tell)) = asked.open.remove(&key) {
                // The asker may no longer be there.
                let _ = tell.send(answer);
            }
        }
    }

    /// Notes that nobody will answer any more.
    pub(super) fn close(&self) {
        let mut asked = self.0.asked.lock();
        asked.is_closed = true;
        asked.open.clear();
    }
}

struct TakenBack<'a> {
    asks: &'a Asks,
    key: String,
}

impl Drop for TakenBack<'_> {
    fn drop(&mut self) {
        self.asks.0.asked.lock().open.remove(&self.key);
    }
}
