//! While a run waits only for people, its clocks stop; after a while, it is put aside.
//!
//! A run *rests* when its guest has nothing left to do, no timer runs, and each unanswered call
//! waits for a person. People take their time; belljar, scripts and tools are bounded, but a person
//! is not. A run that has rested for a long time gives up its slot: everything that it took in is
//! in its recording, from which it is resumed later.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures::future::BoxFuture;

use crate::{admission::Admission, inbox::Inbox, journal::Journal, meter::Meter, parking::Parking};

/// How the wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stood {
    /// The guest's next completion can be taken.
    Ready,
    /// Nothing came, and the run has rested long enough to be put aside.
    Long,
}

/// When a resting run may be put aside.
#[derive(Clone)]
pub(crate) struct RestAfter {
    time: Duration,
    admission: Arc<Admission>,
}

impl RestAfter {
    /// After this time, or at once if others want its slot.
    pub(crate) fn new(time: Duration, admission: Arc<Admission>) -> Self {
        Self { time, admission }
    }

    fn passed(&self) -> BoxFuture<'static, ()> {
        let Self { time, admission } = self.clone();
        Box::pin(async move {
            tokio::select! {
                () = tokio::time::sleep(time) => {}
                () = admission.is_wanted() => {}
            }
        })
    }
}

/// Waits until the guest's next completion can be taken. While the run waits only for people, its
/// clocks stop.
pub(crate) async fn ready(
    parking: &Parking,
    inbox: &Inbox,
    journal: &Journal,
    meter: &Meter,
    after: Option<&RestAfter>,
) -> Stood {
    let mut ready = pin!(inbox.ready());
    let mut passed: Option<BoxFuture<'static, ()>> = None;
    poll_fn(|context: &mut Context<'_>| {
        // Registered before the check, so that later changes are noticed.
        parking.wake_at_change(context.waker());
        if ready.as_mut().poll(context).is_ready() {
            return Poll::Ready(Stood::Ready);
        }
        let parked = parking.parked();
        let rests = parked > 0 && parked == journal.open_calls() && !inbox.has_timers();
        meter.stand(rests);
        let Some(after) = after.filter(|_| rests) else {
            passed = None;
            return Poll::Pending;
        };
        let passed: &mut Pin<Box<_>> = passed.get_or_insert_with(|| after.passed());
        passed.as_mut().poll(context).map(|()| Stood::Long)
    })
    .await
}
