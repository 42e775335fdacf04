//! The requests in flight: how many, how large, and until when they count.

use std::{collections::HashMap, sync::Arc};

use rmcp::model::RequestId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{MAX_BYTES_IN_FLIGHT, MAX_IN_FLIGHT, refusal::Refusal};

/// Requests that are being handled or whose answers are not written yet.
pub(super) struct InFlight {
    requests: Arc<Semaphore>,
    bytes: Arc<Semaphore>,
    unanswered: HashMap<RequestId, Slot>,
}

/// A request's place. It is shared by the request's handler and its answer on the way, and is free
/// when neither holds it: the handler of a cancelled request may continue for a while, and its
/// answer never comes.
#[derive(Clone)]
pub(super) struct Slot {
    _request: Arc<OwnedSemaphorePermit>,
    _bytes: Arc<OwnedSemaphorePermit>,
}

impl Default for InFlight {
    fn default() -> Self {
        Self {
            requests: Arc::new(Semaphore::new(MAX_IN_FLIGHT)),
            bytes: Arc::new(Semaphore::new(MAX_BYTES_IN_FLIGHT)),
            unanswered: HashMap::new(),
        }
    }
}

impl InFlight {
    /// Takes a place for a request whose line has this many bytes.
    pub(super) fn enter(&mut self, id: &RequestId, bytes: usize) -> Result<Slot, Refusal> {
        if self.unanswered.contains_key(id) {
            return Err(Refusal::SameId);
        }
        let request = self.requests.clone().try_acquire_owned().map_err(|_| Refusal::TooMany)?;
        let used = MAX_BYTES_IN_FLIGHT.saturating_sub(self.bytes.available_permits()).saturating_add(bytes);
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let bytes = self.bytes.clone().try_acquire_many_owned(bytes).map_err(|_| Refusal::TooLarge(used))?;
        let slot = Slot { _request: Arc::new(request), _bytes: Arc::new(bytes) };
        self.unanswered.insert(id.clone(), slot.clone());
        Ok(slot)
    }

    /// The place of a request that is being answered, to be held until the answer is written.
    pub(super) fn leave(&mut self, id: &RequestId) -> Option<Slot> {
        self.unanswered.remove(id)
    }

    /// Notes that a request will have no answer, and returns whether there was one to cancel.
    pub(super) fn cancel(&mut self, id: &RequestId) -> bool {
        self.unanswered.remove(id).is_some()
    }
}
