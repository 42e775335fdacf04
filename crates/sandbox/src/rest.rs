//! While a run waits for people alone, no clock of it counts; and when that lasts, it is put aside.
//!
//! A run *rests* when its guest has nothing left to do, no timer runs, and each call without an
//! answer waits for a person. People take their time; what belljar, a script or a tool does is
//! bounded, and a person is not. A run that has rested for long gives up its slot: what it took in
//! is in its recording, from which it goes on later.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures::future::BoxFuture;

use crate::{admission::Admission, inbox::Inbox, journal::Journal, meter::Meter, parking::Parking};

/// What is waited for has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stood {
    /// The guest's next completion can be taken.
    Ready,
    /// Nothing has, and the run has rested for so long that it may be put aside.
    Long,
}

/// When a run that rests may be put aside.
#[derive(Clone)]
pub(crate) struct RestAfter {
    time: Duration,
    admission: Arc<Admission>,
}

impl RestAfter {
    /// After so long, and at once where others want its slot.
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

/// Waits until the guest's next completion can be taken. While only people are waited for, no clock
/// counts.
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
        // Before it is looked: what changes afterwards comes back here.
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
