//! Calls that outlive their request: the Tasks extension of the protocol (SEP-2663).
//!
//! A client that declares the extension gets a task's handle when a call takes long, and asks for
//! the answer later, over any connection. A task belongs to its principal: for all others it does
//! not exist. rmcp's own manager cannot be used here: it aborts a call when its time to live is
//! over, knows nothing about principals, and bounds nothing.
//!
//! `store` keeps tasks and forgets them, and `asks` has a task's questions to its client.

mod asks;
mod store;
#[cfg(test)]
mod tests;

use std::{
    pin::pin,
    sync::{Arc, Weak},
    time::Duration,
};

use rmcp::{
    ErrorData,
    model::{CallToolResponse, CallToolResult, CreateTaskResult, GetTaskResult, InputResponses},
};
use tokio::{
    task::JoinSet,
    time::{sleep, sleep_until},
};
use tokio_util::sync::CancellationToken;

pub use asks::Asks;
use store::Shared;

/// When a call becomes a task, and how many there may be. Each has the reason for its default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskLimits {
    /// How long a call may take before it becomes a task, or `None` if no call does. 10 seconds:
    /// most runs end earlier and need no second request, and no client has given up by then.
    pub after: Option<Duration>,
    /// The most tasks, including those whose results are kept. 512: as many as connections.
    pub all: usize,
    /// The most tasks of one principal. 64: as many requests as a client on stdin and stdout may
    /// have in flight.
    pub per_principal: usize,
    /// The least time for which a result is kept. 15 minutes: long enough for a laptop that was
    /// closed for a moment.
    pub keep: Duration,
    /// While the kept results are larger than this, no call becomes a task. 64 MiB.
    pub kept_bytes: usize,
    /// How often a client should poll. A second.
    pub poll: Duration,
}

impl Default for TaskLimits {
    fn default() -> Self {
        Self {
            after: Some(Duration::from_secs(10)),
            all: 512,
            per_principal: 64,
            keep: Duration::from_secs(15 * 60),
            kept_bytes: 64 * 1024 * 1024,
            poll: Duration::from_secs(1),
        }
    }
}

/// The latest message about a call's progress.
pub type Status = Arc<dyn Fn() -> Option<String> + Send + Sync>;

/// The owner of a task, or the principal that asks for one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The principal's name.
    pub name: Arc<str>,
    /// Whether it may make calls that change something. If not, it can neither see nor cancel such
    /// calls.
    pub may_change: bool,
}

impl Owner {
    /// Whether a task of `other` belongs to this owner.
    fn has(&self, other: &Self) -> bool {
        self.name == other.name && (self.may_change || !other.may_change)
    }
}

/// A call of a client that knows tasks.
#[derive(Clone)]
pub struct Call {
    /// The owner of its task.
    pub owner: Owner,
    /// How long it may take; its task lives longer.
    pub longest: Duration,
    /// Cancelled when nobody wants the result any more. The work must react to it.
    pub cancel: CancellationToken,
    /// Progress for the client while it works.
    pub status: Status,
    /// Its questions to its client.
    pub asks: Asks,
}

/// How a call ended.
#[derive(Debug)]
pub enum Ending {
    /// It has a result, which may report a failure.
    Done(CallToolResult),
    /// It was cancelled, and has stopped. The result is for a waiting client, the text for the
    /// status of a task.
    Cancelled(CallToolResult, String),
    /// It has no result.
    Failed(ErrorData),
}

impl Ending {
    fn of(joined: Option<Result<Self, tokio::task::JoinError>>) -> Self {
        match joined {
            Some(Ok(ending)) => ending,
            // A panic ends its call and nothing else.
            Some(Err(_)) | None => {
                Self::Failed(ErrorData::internal_error("the request failed inside the server; its log says more", None))
            }
        }
    }

    fn answer(self) -> Result<CallToolResponse, ErrorData> {
        match self {
            Self::Done(result) | Self::Cancelled(result, _) => Ok(result.into()),
            Self::Failed(error) => Err(error),
        }
    }
}

/// All tasks of a server, in memory: they end with it.
#[derive(Clone)]
pub struct Tasks(Arc<Shared>);

impl Tasks {
    /// Creates an empty set of tasks.
    pub fn new(limits: TaskLimits) -> Self {
        Self(Arc::new(Shared::new(limits)))
    }

    /// Does the work of a call, and returns its result. If the work takes longer than
    /// [`TaskLimits::after`], or asks its client something, it returns a task instead. If there is
    /// no room for a task, the client waits. As long as it is not a task, the call is cancelled
    /// when it is `given_up`.
    ///
    /// # Errors
    /// What the work ended in.
    ///
    /// # Cancellation
    /// Dropping the future ends the work, unless it is a task.
    pub async fn answer(
        &self,
        call: Call,
        work: impl Future<Output = Ending> + Send + 'static,
        given_up: impl Future<Output = ()>,
    ) -> Result<CallToolResponse, ErrorData> {
        let mut running = JoinSet::new();
        running.spawn(work);
        let (mut given_up, mut is_given_up) = (pin!(given_up), false);
        let (asks, after) = (call.asks.clone(), self.0.limits.after);
        let late = async {
            match after {
                Some(after) => tokio::select! {
                    () = sleep(after) => {}
                    () = asks.wanted() => {}
                },
                None => std::future::pending().await,
            }
        };
        let (mut late, mut may_become_one) = (pin!(late), true);
        if after.is_none() {
            asks.close();
        }
        loop {
            tokio::select! {
                biased;
                ended = running.join_next() => return Ending::of(ended).answer(),
                () = given_up.as_mut(), if !is_given_up => {
                    is_given_up = true;
                    asks.close();
                    call.cancel.cancel();
                }
                () = late.as_mut(), if may_become_one && !is_given_up => match self.0.begin(&call) {
                    Some((id, task)) => {
                        self.0.watch(supervise(Arc::downgrade(&self.0), id, running));
                        return Ok(CallToolResponse::Task(CreateTaskResult::new(task)));
                    }
                    None => {
                        may_become_one = false;
                        asks.close();
                        tracing::info!("there is no room for another task, so a client has to wait for its call");
                    }
                },
            }
        }
    }

    /// `tasks/get`.
    ///
    /// # Errors
    /// This owner has none with this id.
    pub fn get(&self, owner: &Owner, id: &str) -> Result<GetTaskResult, ErrorData> {
        self.0.detailed(owner, id).map(GetTaskResult::new)
    }

    /// `tasks/update`: answers to a task's questions. Answers without a question are ignored.
    ///
    /// # Errors
    /// This owner has none with this id.
    pub fn update(&self, owner: &Owner, id: &str, answers: InputResponses) -> Result<(), ErrorData> {
        let asks = self.0.asks(owner, id)?;
        asks.answered(answers);
        self.0.touch(owner, id)
    }

    /// `tasks/cancel`. A task that has ended stays unchanged.
    ///
    /// # Errors
    /// This owner has none with this id.
    pub fn cancel(&self, owner: &Owner, id: &str) -> Result<(), ErrorData> {
        self.0.cancel(owner, id)
    }

    /// The number of tasks.
    pub fn count(&self) -> usize {
        self.0.count()
    }
}

/// Keeps the result of a task, and forgets the task when its time is over.
async fn supervise(shared: Weak<Shared>, id: String, mut running: JoinSet<Ending>) {
    let ending = Ending::of(running.join_next().await);
    let until = shared.upgrade().and_then(|shared| shared.end(&id, ending));
    if let Some(until) = until {
        sleep_until(until).await;
    }
    if let Some(shared) = shared.upgrade() {
        shared.forget(&id);
    }
}
