//! Polls a run: hands over answers when the guest waits, and keeps the clocks.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    task::Poll,
};

use crate::{delivery::Arrival, host::Shared};

/// Drives `run` to its end.
///
/// # Cancellation
/// Dropping the future drops the run, and with it its calls and timers.
pub(crate) async fn drive<T>(run: impl Future<Output = T>, shared: &Shared) -> T {
    let mut run = pin!(run);
    poll_fn(|context| {
        loop {
            shared.meter.enter();
            let polled = run.as_mut().poll(context);
            let waits = shared.meter.leave();
            if let Poll::Ready(result) = polled {
                return Poll::Ready(result);
            }
            // A guest that has only used up its turn wants to go on when the others have had theirs.
            if !waits {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            // One that stands inside an import cannot be handed anything.
            if shared.meter.is_standing() {
                return Poll::Pending;
            }
            match shared.inbox.poll_next(context) {
                Poll::Ready(arrival) => hand_over(arrival, shared),
                Poll::Pending => return Poll::Pending,
            }
        }
    })
    .await
}

fn hand_over(arrival: Arrival, shared: &Shared) {
    shared.journal.handed_over(arrival.number());
    // If the guest has cancelled meanwhile, nobody waits any more.
    match arrival {
        Arrival::Answer { number, record, result, waiting } => {
            shared.journal.end(number, record);
            let _ = waiting.send(result);
        }
        Arrival::Elapsed { waiting, .. } => {
            let _ = waiting.send(());
        }
    }
}

/// Notes the calls whose answers came too late to be handed over.
pub(crate) fn note_late(shared: &Shared) {
    for arrival in shared.inbox.drain() {
        if let Arrival::Answer { number, record, .. } = arrival {
            shared.journal.end(number, record);
        }
    }
}
