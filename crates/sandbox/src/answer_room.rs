//! Where an answer waits for room in the memory that the host may hold for the run.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::{
    holdings::{Held, Holdings},
    parking::{Parked, Parking},
};

/// Room for the answer of one call, within what the host may hold for its run.
#[derive(Clone)]
pub struct AnswerRoom(Arc<Room>);

struct Room {
    holdings: Holdings,
    parking: Parking,
    state: Mutex<RoomState>,
}

#[derive(Default)]
struct RoomState {
    held: Option<Held>,
    is_abandoned: bool,
}

impl AnswerRoom {
    pub(crate) fn new(holdings: Holdings, parking: Parking) -> Self {
        Self(Arc::new(Room { holdings, parking, state: Mutex::default() }))
    }

    /// The call waits for a person as long as the returned value exists. While a run waits for
    /// people alone, its clocks stop.
    pub fn park(&self) -> Parked {
        self.0.parking.park()
    }

    /// Waits until an answer of this many bytes may be read into memory. Returns at once if nobody
    /// waits for the answer any more.
    ///
    /// # Cancellation
    /// If the future is dropped, nothing is counted.
    pub async fn admit(&self, bytes: usize) {
        let is_wanted = || {
            let state = self.0.state.lock();
            !state.is_abandoned && state.held.is_none()
        };
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let held = self.0.holdings.admit(bytes, is_wanted).await;
        let mut state = self.0.state.lock();
        if !state.is_abandoned && state.held.is_none() {
            state.held = held;
        }
    }

    /// Takes the room that was admitted, if any.
    pub(crate) fn take(&self) -> Option<Held> {
        self.0.state.lock().held.take()
    }

    /// Nobody waits for the answer any more.
    pub(crate) fn abandon(&self) {
        let held = {
            let mut state = self.0.state.lock();
            state.is_abandoned = true;
            state.held.take()
        };
        drop(held);
        self.0.holdings.abandon();
    }
}

impl std::fmt::Debug for AnswerRoom {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("AnswerRoom")
    }
}
