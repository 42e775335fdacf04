//! What a child may ask of the client whose run calls it, and who that is.
//!
//! A child does not say for which of its calls it asks. So a request is passed on only when all its calls in flight are of one
//! run; else nobody could say whose model would answer, or whose screen would show a question.

#![expect(deprecated, reason = "sampling and roots are deprecated, and children of the initialize era ask for them")]

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use futures::future::BoxFuture;
use rmcp::{
    ErrorData,
    model::{CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams, ElicitResult, ListRootsResult},
};

/// The client behind a run, as far as it answers what children ask.
pub trait AskClient: Send + Sync + 'static {
    /// `sampling/createMessage`.
    fn create_message(
        &self,
        request: CreateMessageRequestParams,
    ) -> BoxFuture<'static, Result<CreateMessageResult, ErrorData>>;

    /// `elicitation/create`.
    fn elicit(&self, request: ElicitRequestParams) -> BoxFuture<'static, Result<ElicitResult, ErrorData>>;

    /// `roots/list`.
    fn list_roots(&self) -> BoxFuture<'static, Result<ListRootsResult, ErrorData>>;
}

/// What the client can do for children. Children hear of it when they start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClientAbilities {
    /// It has a model that children may use.
    pub sampling: bool,
    /// It can put a question to its user.
    pub elicitation: bool,
    /// It has folders that it works in.
    pub roots: bool,
}

/// Whoever makes calls: one run, or a single call.
#[derive(Clone)]
pub struct Caller {
    id: u64,
    client: Option<Arc<dyn AskClient>>,
}

impl Caller {
    /// A caller whose client, if there is one, answers what children ask.
    pub fn new(client: Option<Arc<dyn AskClient>>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self { id: NEXT.fetch_add(1, Ordering::Relaxed), client }
    }
}

impl Default for Caller {
    /// A caller without a client.
    fn default() -> Self {
        Self::new(None)
    }
}

impl fmt::Debug for Caller {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Caller").field("id", &self.id).field("has_client", &self.client.is_some()).finish()
    }
}

/// The callers that have calls in flight at one child.
#[derive(Clone, Default)]
pub(crate) struct Callers(Arc<Mutex<BTreeMap<u64, (usize, Caller)>>>);

impl Callers {
    /// Notes a call, until what is returned is dropped.
    pub(crate) fn enter(&self, caller: &Caller) -> Calling {
        let mut callers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        callers.entry(caller.id).or_insert_with(|| (0, caller.clone())).0 += 1;
        Calling { callers: self.clone(), id: caller.id }
    }

    /// The client of the only caller, if there is but one, and it has one.
    pub(crate) fn only_client(&self) -> Option<Arc<dyn AskClient>> {
        let callers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut callers = callers.values();
        match (callers.next(), callers.next()) {
            (Some((_, caller)), None) => caller.client.clone(),
            _ => None,
        }
    }
}

impl fmt::Debug for Callers {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Callers")
    }
}

/// A call in flight.
pub(crate) struct Calling {
    callers: Callers,
    id: u64,
}

impl Drop for Calling {
    fn drop(&mut self) {
        let mut callers = self.callers.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((count, _)) = callers.get_mut(&self.id) {
            *count -= 1;
            if *count == 0 {
                callers.remove(&self.id);
            }
        }
    }
}
