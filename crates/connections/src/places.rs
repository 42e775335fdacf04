//! Room for connections, and which of them is closed when there is none left.
//!
//! A connection with a request keeps its place. One that waits for the head of a request, even if
//! half of it has arrived, does not block others for long: when all places are taken, the one that
//! has waited longest is closed.

use std::{collections::HashMap, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

/// How long a connection may wait for a request before it may be closed. A second: enough for the
/// next request of a client that was just answered or is far away.
const SPARED: Duration = Duration::from_secs(1);

/// All connections of a server.
#[derive(Debug)]
pub struct Connections {
    most: usize,
    open: Mutex<Open>,
    /// A place is free, or a connection waits.
    changed: Notify,
}

#[derive(Debug, Default)]
struct Open {
    count: usize,
    next: u64,
    waiting: HashMap<u64, Waiting>,
}

#[derive(Debug)]
struct Waiting {
    since: Instant,
    give_way: CancellationToken,
}

/// A place for one connection, which is freed when this is dropped. At first it waits for a
/// request.
#[derive(Debug)]
pub struct Place {
    all: Arc<Connections>,
    id: u64,
    give_way: CancellationToken,
}

/// A request of a connection is being answered, until this is dropped.
#[derive(Debug)]
pub struct Answering(Arc<Place>);

impl Connections {
    /// Room for so many.
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, open: Mutex::default(), changed: Notify::new() })
    }

    /// Waits for a free place, and closes connections that wait for requests if there is none.
    pub async fn place(self: &Arc<Self>) -> Arc<Place> {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            // Registered first, so that no change is missed.
            changed.as_mut().enable();
            match self.try_place() {
                Ok(place) => return Arc::new(place),
                Err(Some(until)) => tokio::select! {
                    () = changed => {}
                    () = sleep_until(until) => {}
                },
                Err(None) => changed.await,
            }
        }
    }

    /// A place, or the time when one could be made.
    fn try_place(self: &Arc<Self>) -> Result<Place, Option<Instant>> {
        let mut open = self.open.lock();
        if open.count < self.most {
            let (id, give_way) = (open.next, CancellationToken::new());
            open.next += 1;
            open.count += 1;
            open.waiting.insert(id, Waiting { since: Instant::now(), give_way: give_way.clone() });
            return Ok(Place { all: self.clone(), id, give_way });
        }
        let longest = open.waiting.iter().min_by_key(|(_, waiting)| waiting.since);
        let Some((id, until)) = longest.map(|(id, waiting)| (*id, waiting.since + SPARED)) else { return Err(None) };
        if Instant::now() < until {
            return Err(Some(until));
        }
        if let Some(waiting) = open.waiting.remove(&id) {
            waiting.give_way.cancel();
        }
        Err(None)
    }
}

impl Place {
    /// A request has come.
    pub fn answers(self: &Arc<Self>) -> Answering {
        self.all.open.lock().waiting.remove(&self.id);
        Answering(self.clone())
    }

    /// Completes when another connection needs the place.
    pub async fn gives_way(&self) {
        self.give_way.cancelled().await;
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        let Place { all, id, give_way } = &*self.0;
        let waiting = Waiting { since: Instant::now(), give_way: give_way.clone() };
        all.open.lock().waiting.insert(*id, waiting);
        all.changed.notify_waiters();
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.all.open.lock();
        open.waiting.remove(&self.id);
        open.count -= 1;
        drop(open);
        self.all.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use std::{future::Future, pin::Pin};

    use super::*;

    /// Whether it is already closed.
    async fn is_over<F: Future>(future: Pin<&mut F>) -> bool {
        tokio::select! {
            biased;
            _ = future => true,
            () = std::future::ready(()) => false,
        }
    }

    async fn gives_way(place: &Place) -> bool {
        is_over(std::pin::pin!(place.gives_way())).await
    }

    #[tokio::test(start_paused = true)]
    async fn the_connection_that_has_waited_longest_gives_way_and_one_that_is_answered_never_does() {
        let all = Connections::new(3);
        let [answered, first, second] = [all.place().await, all.place().await, all.place().await];
        let answering = answered.answers();
        tokio::time::advance(SPARED / 2).await;
        drop(first.answers());
        let mut more = std::pin::pin!(all.place());
        assert!(!is_over(more.as_mut()).await);
        tokio::time::advance(SPARED / 2).await;
        assert!(!is_over(more.as_mut()).await, "the place is not free yet");
        second.gives_way().await;
        assert!(!gives_way(&first).await);
        drop(second);
        let third = more.await;
        tokio::time::advance(SPARED * 10).await;
        let mut more = std::pin::pin!(all.place());
        assert!(!is_over(more.as_mut()).await);
        first.gives_way().await;
        drop(first);
        drop(more.await.answers());
        let _third = third.answers();
        assert!(!gives_way(&answered).await);
        drop(answering);
        assert!(!gives_way(&answered).await);
    }

    #[tokio::test(start_paused = true)]
    async fn where_all_are_answered_a_connection_waits_until_one_ends() {
        let all = Connections::new(1);
        let only = all.place().await;
        let answering = only.answers();
        let mut more = std::pin::pin!(all.place());
        tokio::time::advance(SPARED * 10).await;
        assert!(!is_over(more.as_mut()).await);
        drop(answering);
        drop(only);
        more.await;
    }
}
