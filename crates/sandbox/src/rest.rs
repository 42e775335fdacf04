//! While a run waits for people alone, no clock of it counts.
//!
//! A run *rests* when its guest has nothing left to do, no timer runs, and each call without an
//! answer waits for a person. People take their time; what belljar, a script or a tool does is
//! bounded, and a person is not.

use std::{
    future::poll_fn,
    pin::pin,
    task::{Context, Poll},
};

use crate::{
    host::{Journal, Meter},
    inbox::Inbox,
    parking::Parking,
};

/// Waits until the guest's next completion can be taken. While only people are waited for, no clock counts.
pub(crate) async fn ready(parking: &Parking, inbox: &Inbox, journal: &Journal, meter: &Meter) {
    let mut ready = pin!(inbox.ready());
    poll_fn(|context: &mut Context<'_>| {
        // Before it is looked: what changes afterwards comes back here.
        parking.wake_at_change(context.waker());
        if ready.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        let parked = parking.parked();
        meter.stand(parked > 0 && parked == journal.open_calls() && !inbox.has_timers());
        Poll::Pending
    })
    .await;
}
