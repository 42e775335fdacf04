//! What the script waits for: tool calls and timers, each a call of an async import.
//!
//! The host hands over one answer at a time. [`next`] returns it, the script runs on until it waits again, and only then is the
//! next answer asked for. A wake-up polls the one future that it belongs to, so that each answer costs the same work whatever
//! else is pending; and nothing here yields of its own accord, so that the fuel of a run depends on its answers alone.

use std::{
    cell::RefCell,
    collections::{BTreeMap, VecDeque},
    future::{Future, poll_fn},
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, Wake, Waker},
};

use crate::{glass::belljar::sandbox::tools::CallError, globals::Call};

/// Something that the script waited for has happened.
pub(crate) enum Event {
    /// A tool has answered.
    Answered(Answered),
    /// A timer's time has come.
    Elapsed { timer: u32 },
}

/// A tool's answer to a call.
pub(crate) struct Answered {
    pub(crate) call: Call,
    pub(crate) result: Result<String, CallError>,
}

/// What kind of thing is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Awaited {
    Call,
    Timer(u32),
}

type EventFuture = Pin<Box<dyn Future<Output = Event>>>;

#[derive(Default)]
struct Table {
    futures: BTreeMap<u64, (Awaited, EventFuture)>,
    calls: usize,
    last: u64,
    woken: Arc<Woken>,
}

#[derive(Default)]
struct Woken(Mutex<(VecDeque<u64>, Option<Waker>)>);

impl Woken {
    fn lock(&self) -> std::sync::MutexGuard<'_, (VecDeque<u64>, Option<Waker>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct EntryWaker {
    entry: u64,
    woken: Arc<Woken>,
}

impl Wake for EntryWaker {
    fn wake(self: Arc<Self>) {
        let mut woken = self.woken.lock();
        woken.0.push_back(self.entry);
        if let Some(waker) = woken.1.take() {
            waker.wake();
        }
    }
}

thread_local! {
    static TABLE: RefCell<Table> = RefCell::default();
}

/// Starts `future` at once and keeps it until it is ready.
pub(crate) fn start(awaited: Awaited, future: impl Future<Output = Event> + 'static) {
    let mut future: EventFuture = Box::pin(future);
    let (entry, woken) = TABLE.with_borrow_mut(|table| {
        table.last += 1;
        (table.last, table.woken.clone())
    });
    // An import is called at its future's first poll, so that calls leave the jar in the order of the script.
    let waker = Waker::from(Arc::new(EntryWaker { entry, woken: woken.clone() }));
    let ready = match future.as_mut().poll(&mut Context::from_waker(&waker)) {
        Poll::Pending => None,
        Poll::Ready(event) => Some(event),
    };
    TABLE.with_borrow_mut(|table| {
        if awaited == Awaited::Call {
            table.calls += 1;
        }
        let future: EventFuture = match ready {
            None => future,
            Some(event) => {
                woken.lock().0.push_back(entry);
                Box::pin(std::future::ready(event))
            }
        };
        table.futures.insert(entry, (awaited, future));
    });
}

/// How many tool calls have no answer yet.
pub(crate) fn calls() -> usize {
    TABLE.with_borrow(|table| table.calls)
}

/// Whether nothing at all is on its way.
pub(crate) fn is_empty() -> bool {
    TABLE.with_borrow(|table| table.futures.is_empty())
}

/// Forgets all timers.
pub(crate) fn drop_timers() {
    drop_where(|awaited| matches!(awaited, Awaited::Timer(_)));
}

/// Forgets one timer.
pub(crate) fn cancel_timer(timer: u32) {
    drop_where(|awaited| awaited == Awaited::Timer(timer));
}

/// The imports of what is forgotten are cancelled by the drop.
fn drop_where(is_forgotten: impl Fn(Awaited) -> bool) {
    let dropped: Vec<_> =
        TABLE.with_borrow_mut(|table| table.futures.extract_if(.., |_, (awaited, _)| is_forgotten(*awaited)).collect());
    drop(dropped);
}

/// The next event. Waits for ever if nothing is on its way.
pub(crate) async fn next() -> Event {
    poll_fn(|context| {
        loop {
            let taken = TABLE.with_borrow_mut(|table| {
                let entry = {
                    let mut woken = table.woken.lock();
                    let entry = woken.0.pop_front();
                    if entry.is_none() {
                        woken.1 = Some(context.waker().clone());
                    }
                    entry
                }?;
                Some((entry, table.futures.remove(&entry), table.woken.clone()))
            });
            let Some((entry, future, woken)) = taken else { return Poll::Pending };
            let Some((awaited, mut future)) = future else { continue };
            let waker = Waker::from(Arc::new(EntryWaker { entry, woken }));
            match future.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Pending => TABLE.with_borrow_mut(|table| {
                    table.futures.insert(entry, (awaited, future));
                }),
                Poll::Ready(event) => {
                    if awaited == Awaited::Call {
                        TABLE.with_borrow_mut(|table| table.calls -= 1);
                    }
                    return Poll::Ready(event);
                }
            }
        }
    })
    .await
}
