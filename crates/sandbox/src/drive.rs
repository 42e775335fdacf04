//! Polls a run: hands over answers when the guest waits, keeps the clocks, and lets other runs have their turn.
//!
//! A run computes only while it holds a turn, and gives it up at the next tick or when it waits. Between two turns the runtime does
//! what else there is to do (answers, deadlines, other clients): a thread that has only runs to poll would do so every 61st time.
//! That is why a guest that yields must not wake the task itself, as the engine does: tokio polls a task that was woken while it ran before
//! it looks at anything else. A [`Bell`] stands between the two.

use std::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    task::{Context, Poll, Wake, Waker},
};

use belljar_model::JsonText;
use futures::task::AtomicWaker;
use tokio::sync::Semaphore;

use crate::{delivery::Arrival, host::Shared};

/// How often a guest may wake itself within a turn. The engine does so once or twice for a call.
const MAX_RINGS: u32 = 1_000;

/// How a turn ended.
enum Turn<T> {
    Ended(T),
    /// The guest wants to go on when the others have had their turn.
    UsedUp,
    /// The guest waits for the host.
    Waits,
}

/// Drives `run` to its end.
///
/// # Cancellation
/// Dropping the future drops the run, and with it its calls and timers.
pub(crate) async fn drive<T>(run: impl Future<Output = T>, shared: &Shared, turns: &Semaphore) -> T {
    let mut run = pin!(run);
    let bell = Arc::new(Bell::default());
    let waker = Waker::from(bell.clone());
    loop {
        // The semaphore is never closed while the sandbox lives.
        let turn = turns.acquire().await;
        match poll_fn(|context| Poll::Ready(take_turn(run.as_mut(), shared, &bell, &waker, context))).await {
            Turn::Ended(result) => return result,
            // Tokio polls a task that yields after it has looked at timers and sockets. The turn is kept until then: else the next run would come
            // first, and after it the next but one.
            Turn::UsedUp => tokio::task::yield_now().await,
            Turn::Waits => {
                drop(turn);
                woken().await;
                shared.meter.resume();
            }
        }
    }
}

/// Polls the guest until it has nothing left to do, or has used up its turn.
fn take_turn<T>(
    mut run: Pin<&mut impl Future<Output = T>>,
    shared: &Shared,
    bell: &Bell,
    waker: &Waker,
    context: &mut Context<'_>,
) -> Turn<T> {
    let mut rings = 0;
    loop {
        bell.task.register(context.waker());
        bell.has_rung.store(false, SeqCst);
        shared.meter.enter();
        bell.is_inside.store(true, SeqCst);
        let polled = run.as_mut().poll(&mut Context::from_waker(waker));
        bell.is_inside.store(false, SeqCst);
        let has_rung = bell.has_rung.swap(false, SeqCst);
        let waits = shared.meter.leave();
        if let Poll::Ready(result) = polled {
            return Turn::Ended(result);
        }
        if !waits {
            return Turn::UsedUp;
        }
        // It has woken itself, so it has not come to its end yet: only a guest that has nothing left to do is handed an answer, or what it does
        // would depend on when the answer came.
        if has_rung {
            rings += 1;
            if rings > MAX_RINGS {
                return Turn::UsedUp;
            }
            continue;
        }
        // One that stands inside an import cannot be handed anything.
        if shared.meter.is_standing() {
            return Turn::Waits;
        }
        match shared.inbox.poll_next(context) {
            Poll::Ready(arrival) => hand_over(arrival, shared),
            Poll::Pending => return Turn::Waits,
        }
    }
}

/// Wakes the task for the guest, but not while the guest is being polled: whoever polls it sees to that.
#[derive(Default)]
struct Bell {
    task: AtomicWaker,
    is_inside: AtomicBool,
    has_rung: AtomicBool,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // First the note, then the question: whoever leaves the guest does it the other way round, so that one of the two sees the other.
        self.has_rung.store(true, SeqCst);
        if !self.is_inside.load(SeqCst) {
            self.task.wake();
        }
    }
}

/// Ends when the task is woken, by whatever it has given its waker to before.
async fn woken() {
    let mut is_woken = false;
    poll_fn(|_| if std::mem::replace(&mut is_woken, true) { Poll::Ready(()) } else { Poll::Pending }).await;
}

fn hand_over(arrival: Arrival<JsonText>, shared: &Shared) {
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
    for (number, record) in shared.inbox.late() {
        shared.journal.end(number, record);
    }
}
