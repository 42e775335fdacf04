//! The existing tasks, and the bounds on their number.

use std::{collections::HashMap, fmt::Write as _, sync::Arc, time::Duration};

use parking_lot::Mutex;
use rand::TryRngCore as _;
use rmcp::{
    ErrorData,
    model::{DetailedTask, JsonObject, Task, TaskPayload, TaskStatus},
    task_manager::current_timestamp,
};
use serde_json::Value;
use tokio::{task::JoinSet, time::Instant};
use tokio_util::sync::CancellationToken;

use super::{Asks, Call, Ending, Owner, Status, TaskLimits};

/// Random bytes of an id. Knowing an id does not give access to a task of another principal.
const ID_BYTES: usize = 16;

pub(super) struct Shared {
    pub(super) limits: TaskLimits,
    tasks: Mutex<HashMap<String, Entry>>,
    /// One future for each task, from its start until it is forgotten. They end with the server.
    watching: Mutex<JoinSet<()>>,
}

struct Entry {
    owner: Owner,
    task: Task,
    began: Instant,
    ended: Option<Ended>,
    status: Status,
    asks: Asks,
    cancel: CancellationToken,
}

struct Ended {
    payload: Arc<TaskPayload>,
    bytes: usize,
}

impl Shared {
    pub(super) fn new(limits: TaskLimits) -> Self {
        Self { limits, tasks: Mutex::default(), watching: Mutex::default() }
    }

    /// Makes a call a task, if there is room.
    pub(super) fn begin(&self, call: &Call) -> Option<(String, Task)> {
        let id = new_id()?;
        let now = current_timestamp();
        let task = Task::new(id.clone(), TaskStatus::Working, now.clone(), now)
            .with_ttl_ms(milliseconds(call.longest.saturating_add(self.limits.keep)))
            .with_poll_interval_ms(milliseconds(self.limits.poll).max(1));
        let task = match (call.status)() {
            Some(message) => task.with_status_message(message),
            None => task,
        };
        let mut tasks = self.tasks.lock();
        let own = tasks.values().filter(|entry| entry.owner.name == call.owner.name).count();
        let kept: usize = tasks.values().filter_map(|entry| entry.ended.as_ref()).map(|ended| ended.bytes).sum();
        if tasks.len() >= self.limits.all || own >= self.limits.per_principal || kept > self.limits.kept_bytes {
            return None;
        }
        let entry = Entry {
            owner: call.owner.clone(),
            task: task.clone(),
            began: Instant::now(),
            ended: None,
            status: call.status.clone(),
            asks: call.asks.clone(),
            cancel: call.cancel.clone(),
        };
        tasks.insert(id.clone(), entry);
        Some((id, task))
    }

    /// Drives the future that watches a task.
    pub(super) fn watch(&self, watching: impl Future<Output = ()> + Send + 'static) {
        let mut all = self.watching.lock();
        while all.try_join_next().is_some() {}
        all.spawn(watching);
    }

    /// Keeps the result of a task, and returns until when it is kept.
    pub(super) fn end(&self, id: &str, ending: Ending) -> Option<Instant> {
        let (payload, message) = match ending {
            Ending::Done(result) => (TaskPayload::Completed { result: object(&result) }, None),
            Ending::Cancelled(_, message) => (TaskPayload::Cancelled, Some(message)),
            Ending::Failed(error) => (TaskPayload::Failed { error: object(&error) }, None),
        };
        let bytes = match &payload {
            TaskPayload::Completed { result: object } | TaskPayload::Failed { error: object } => {
                serde_json::to_string(object).map_or(0, |text| text.len())
            }
            _ => 0,
        };
        let mut tasks = self.tasks.lock();
        let entry = tasks.get_mut(id)?;
        entry.asks.close();
        // Its progress may keep alive the things that it worked with.
        entry.status = Arc::new(|| None);
        entry.task.status_message = message;
        entry.task.last_updated_at = current_timestamp();
        entry.ended = Some(Ended { payload: Arc::new(payload), bytes });
        let lives = entry.lives_at_least(self.limits.keep);
        Some(entry.began + lives)
    }

    pub(super) fn forget(&self, id: &str) {
        let forgotten = self.tasks.lock().remove(id);
        drop(forgotten);
    }

    pub(super) fn detailed(&self, owner: &Owner, id: &str) -> Result<DetailedTask, ErrorData> {
        let (task, payload) = {
            let mut tasks = self.tasks.lock();
            let entry = known(&mut tasks, owner, id)?;
            match &entry.ended {
                Some(ended) => (entry.task.clone(), Some(ended.payload.clone())),
                None => {
                    entry.lives_at_least(self.limits.keep);
                    let message = (entry.status)();
                    if message != entry.task.status_message {
                        entry.task.status_message = message;
                        entry.task.last_updated_at = current_timestamp();
                    }
                    let open = entry.asks.open();
                    let payload = (!open.is_empty()).then(|| TaskPayload::InputRequired { input_requests: open });
                    (entry.task.clone(), payload.map(Arc::new))
                }
            }
        };
        // A result may be large, so it is copied after the lock is released.
        let payload = payload.map_or(TaskPayload::Working, |payload| TaskPayload::clone(&payload));
        Ok(DetailedTask::new(task, payload))
    }

    pub(super) fn asks(&self, owner: &Owner, id: &str) -> Result<Asks, ErrorData> {
        known(&mut self.tasks.lock(), owner, id).map(|entry| entry.asks.clone())
    }

    pub(super) fn touch(&self, owner: &Owner, id: &str) -> Result<(), ErrorData> {
        let mut tasks = self.tasks.lock();
        let entry = known(&mut tasks, owner, id)?;
        if entry.ended.is_none() {
            entry.task.last_updated_at = current_timestamp();
        }
        Ok(())
    }

    pub(super) fn cancel(&self, owner: &Owner, id: &str) -> Result<(), ErrorData> {
        let mut tasks = self.tasks.lock();
        let entry = known(&mut tasks, owner, id)?;
        entry.asks.close();
        let cancel = entry.cancel.clone();
        drop(tasks);
        cancel.cancel();
        Ok(())
    }

    pub(super) fn count(&self) -> usize {
        self.tasks.lock().len()
    }
}

impl Entry {
    /// Its time to live, which is never shorter than what the client was told, and lasts at least
    /// `keep` from now.
    fn lives_at_least(&mut self, keep: Duration) -> Duration {
        let needed = self.began.elapsed().saturating_add(keep);
        let lives = Duration::from_millis(self.task.ttl_ms.unwrap_or_default()).max(needed);
        self.task.ttl_ms = Some(milliseconds(lives));
        lives
    }
}

/// A task of this owner. A task of another owner is treated as if it did not exist.
fn known<'t>(tasks: &'t mut HashMap<String, Entry>, owner: &Owner, id: &str) -> Result<&'t mut Entry, ErrorData> {
    tasks
        .get_mut(id)
        .filter(|entry| owner.has(&entry.owner))
        .ok_or_else(|| ErrorData::invalid_params("unknown task: no task has this id, or it has expired", None))
}

fn new_id() -> Option<String> {
    let mut bytes = [0_u8; ID_BYTES];
    if let Err(error) = rand::rngs::OsRng.try_fill_bytes(&mut bytes) {
        tracing::warn!("a call does not become a task, as the system returned no random bytes: {error}");
        return None;
    }
    let hex = |mut text: String, byte: &u8| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    };
    Some(bytes.iter().fold(String::with_capacity(2 * ID_BYTES), hex))
}

fn object(value: &impl serde::Serialize) -> JsonObject {
    match serde_json::to_value(value) {
        Ok(Value::Object(object)) => object,
        _ => JsonObject::new(),
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
