//! Decides when a component computes, when it waits, and when it gets the answers to its calls.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    task::{Context, Poll, Wake, Waker},
};

use belljar_sandbox::common::{Meter, Phase};
use futures::task::AtomicWaker;

use crate::{calls::Calls, tape::Tape};

/// How often a component may yield with calls open before it gets their answers without having
/// waited for them.
const MAX_YIELDS: u32 = 100;

/// A run whose clocks depend on whether it computes, and which gets answers when it waits for them.
pub(crate) struct Turns<'a, R> {
    run: Pin<Box<R>>,
    meter: &'a Meter,
    calls: &'a Calls,
    tape: &'a Tape,
    /// Whether the run was interrupted since the last check.
    ticked: Arc<AtomicBool>,
    woken: Arc<Woken>,
    /// How often it has yielded since it last waited.
    yields: u32,
}

/// Notes whether the run has woken itself.
#[derive(Default)]
struct Woken {
    is_woken: AtomicBool,
    by: AtomicWaker,
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.is_woken.store(true, SeqCst);
        self.by.wake();
    }
}

impl<'a, R: Future> Turns<'a, R> {
    pub(crate) fn new(run: R, meter: &'a Meter, calls: &'a Calls, tape: &'a Tape, ticked: Arc<AtomicBool>) -> Self {
        Self { run: Box::pin(run), meter, calls, tape, ticked, woken: Arc::default(), yields: 0 }
    }
}

impl<R: Future<Output = wasmtime::Result<T>>, T> Future for Turns<'_, R> {
    type Output = R::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<R::Output> {
        self.woken.by.register(context.waker());
        let waker = Waker::from(self.woken.clone());
        loop {
            self.woken.is_woken.store(false, SeqCst);
            self.ticked.store(false, SeqCst);
            self.meter.enter(Phase::Computing);
            let polled = self.run.as_mut().poll(&mut Context::from_waker(&waker));
            if polled.is_ready() {
                self.meter.enter(Phase::Queued);
                return polled;
            }
            let (is_interrupted, goes_on) = (self.ticked.load(SeqCst), self.woken.is_woken.load(SeqCst));
            self.yields = match (is_interrupted, goes_on) {
                (true, _) => self.yields,
                (false, true) => self.yields.saturating_add(1),
                (false, false) => 0,
            };
            // A component that is interrupted while it computes continues with what it has, and so
            // does one that yields a few times before it waits.
            let gets_answer = !is_interrupted && (!goes_on || self.yields > MAX_YIELDS);
            if gets_answer && self.calls.give_next(context, goes_on) {
                self.yields = 0;
                continue;
            }
            if self.tape.has_stopped() {
                return Poll::Ready(Err(wasmtime::Error::msg("the recording has nothing more for the component")));
            }
            self.meter.enter(match self.calls.waits_for_people(context.waker()) {
                true => Phase::Resting,
                false => Phase::Waiting,
            });
            return Poll::Pending;
        }
    }
}
