//! Sessions: whom they belong to, how many there may be, and when one is dropped.
//!
//! rmcp ends a session that has had no message for some time, even while one of its calls is
//! running. Here a session is in use as long as any part of it is: a request, its stream, or the
//! call behind it, even if its stream is gone. rmcp's own timeout is disabled.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, atomic::AtomicU8},
    time::{Duration, Instant},
};

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::watch;

use crate::AskedOnce;

/// All sessions.
#[derive(Debug)]
pub(crate) struct Sessions {
    open: Mutex<Open>,
    most: usize,
    most_per_principal: usize,
    count: watch::Sender<usize>,
}

#[derive(Debug, Default)]
struct Open {
    sessions: HashMap<Arc<str>, Session>,
    /// Places that are taken, by principal, including those of sessions that are being created.
    places: HashMap<Arc<str>, usize>,
}

#[derive(Debug)]
struct Session {
    place: Place,
    uses: usize,
    /// Ids of requests in progress. Of two requests with the same id, rmcp would lose the first.
    requests: HashSet<String>,
    last_used: Instant,
    log_level: Arc<AtomicU8>,
    workspace: Arc<AskedOnce>,
}

/// A place for one session, which is freed when this is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    sessions: Arc<Sessions>,
    principal: Arc<str>,
}

/// Keeps a session alive, and reserves the id of a request in it.
#[derive(Debug)]
pub(crate) struct Use {
    sessions: Arc<Sessions>,
    session: Arc<str>,
    request: Option<String>,
    log_level: Arc<AtomicU8>,
    workspace: Arc<AskedOnce>,
}

impl Use {
    /// The log level from which its client wants messages, as the handler numbers levels.
    pub(crate) fn log_level(&self) -> &AtomicU8 {
        &self.log_level
    }

    /// The workspace that its client names.
    pub(crate) fn workspace(&self) -> &AskedOnce {
        &self.workspace
    }
}

/// Why a session cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NoUse {
    /// This principal has no session with this id.
    Unknown,
    /// A request with this id is already in progress.
    Repeated,
}

impl Sessions {
    pub(crate) fn new(most: usize, most_per_principal: usize) -> Arc<Self> {
        Arc::new(Self { open: Mutex::default(), most, most_per_principal, count: watch::Sender::new(0) })
    }

    /// The number of sessions, and each change of it.
    pub(crate) fn count(&self) -> watch::Receiver<usize> {
        self.count.subscribe()
    }

    /// Takes a place for another session, if there is one.
    pub(crate) fn reserve(self: &Arc<Self>, principal: &Arc<str>) -> Option<Place> {
        let mut open = self.open.lock();
        let all: usize = open.places.values().sum();
        let own = open.places.get(principal).copied().unwrap_or(0);
        if all >= self.most || own >= self.most_per_principal {
            return None;
        }
        open.places.insert(principal.clone(), own + 1);
        Some(Place { sessions: self.clone(), principal: principal.clone() })
    }

    /// Notes that a session was created.
    pub(crate) fn add(&self, id: Arc<str>, place: Place, now: Instant) {
        let session = Session {
            place,
            uses: 0,
            requests: HashSet::new(),
            last_used: now,
            log_level: Arc::default(),
            workspace: Arc::default(),
        };
        let mut open = self.open.lock();
        let replaced = open.sessions.insert(id, session);
        self.tell(open);
        drop(replaced);
    }

    /// Uses a session. A session of another principal is treated as if it did not exist.
    pub(crate) fn enter(self: &Arc<Self>, id: &str, principal: &str, request: Option<String>) -> Result<Use, NoUse> {
        let mut open = self.open.lock();
        let (session, found) = {
            let key = open.sessions.get_key_value(id).map(|(key, _)| key.clone()).ok_or(NoUse::Unknown)?;
            (key, open.sessions.get_mut(id).ok_or(NoUse::Unknown)?)
        };
        if *found.place.principal != *principal {
            return Err(NoUse::Unknown);
        }
        if let Some(request) = &request
            && !found.requests.insert(request.clone())
        {
            return Err(NoUse::Repeated);
        }
        found.uses += 1;
        let (log_level, workspace) = (found.log_level.clone(), found.workspace.clone());
        Ok(Use { sessions: self.clone(), session, request, log_level, workspace })
    }

    /// Removes a session that has ended.
    pub(crate) fn remove(&self, id: &str) {
        let mut open = self.open.lock();
        let removed = open.sessions.remove(id);
        self.tell(open);
        drop(removed);
    }

    /// Removes sessions that have been idle for that long, and those that are not `alive`; returns
    /// their ids.
    pub(crate) fn give_up(&self, now: Instant, idle: Duration, alive: impl Fn(&str) -> bool) -> Vec<Arc<str>> {
        let mut open = self.open.lock();
        let over = |(id, session): &(&Arc<str>, &Session)| {
            !alive(id) || session.uses == 0 && now.saturating_duration_since(session.last_used) >= idle
        };
        let ids: Vec<_> = open.sessions.iter().filter(over).map(|(id, _)| id.clone()).collect();
        let removed: Vec<_> = ids.iter().filter_map(|id| open.sessions.remove(id)).collect();
        self.tell(open);
        drop(removed);
        ids
    }

    fn tell(&self, open: MutexGuard<'_, Open>) {
        let count = open.sessions.len();
        self.count.send_if_modified(|told| std::mem::replace(told, count) != count);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.sessions.open.lock();
        if let Some(taken) = open.places.get_mut(&self.principal) {
            *taken -= 1;
            if *taken == 0 {
                open.places.remove(&self.principal);
            }
        }
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        let mut open = self.sessions.open.lock();
        if let Some(session) = open.sessions.get_mut(&self.session) {
            session.uses -= 1;
            session.last_used = Instant::now();
            if let Some(request) = &self.request {
                session.requests.remove(request);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3600);

    fn sessions() -> (Arc<Sessions>, Arc<str>, Arc<str>) {
        (Sessions::new(3, 2), "ann".into(), "bob".into())
    }

    #[test]
    fn places_are_bounded_in_all_and_by_principal_and_come_back() {
        let (sessions, ann, bob) = sessions();
        let first = sessions.reserve(&ann).expect("a place");
        let _second = sessions.reserve(&ann).expect("a place");
        assert!(sessions.reserve(&ann).is_none());
        let _third = sessions.reserve(&bob).expect("a place");
        assert!(sessions.reserve(&bob).is_none());
        sessions.add("one".into(), first, Instant::now());
        assert!(sessions.reserve(&bob).is_none());
        sessions.remove("one");
        assert!(sessions.reserve(&bob).is_some());
    }

    #[test]
    fn a_session_of_somebody_else_is_unknown() {
        let (sessions, ann, _) = sessions();
        sessions.add("one".into(), sessions.reserve(&ann).expect("a place"), Instant::now());
        assert!(sessions.enter("one", "ann", None).is_ok());
        assert_eq!(sessions.enter("one", "bob", None).err(), Some(NoUse::Unknown));
        assert_eq!(sessions.enter("two", "ann", None).err(), Some(NoUse::Unknown));
    }

    #[test]
    fn an_id_is_used_by_one_request_at_a_time() {
        let (sessions, ann, _) = sessions();
        sessions.add("one".into(), sessions.reserve(&ann).expect("a place"), Instant::now());
        let first = sessions.enter("one", "ann", Some("1".to_owned())).expect("in");
        assert_eq!(sessions.enter("one", "ann", Some("1".to_owned())).err(), Some(NoUse::Repeated));
        drop(first);
        assert!(sessions.enter("one", "ann", Some("1".to_owned())).is_ok());
    }

    #[test]
    fn an_idle_session_is_given_up_and_one_in_use_or_gone_elsewhere_is_not_kept_too_long() {
        let (sessions, ann, _) = sessions();
        let now = Instant::now();
        for id in ["one", "two"] {
            sessions.add(id.into(), sessions.reserve(&ann).expect("a place"), now);
        }
        let held = sessions.enter("one", "ann", None).expect("in");
        let over = sessions.give_up(now + HOUR, HOUR, |_| true);
        assert_eq!(over.iter().map(|id| &**id).collect::<Vec<_>>(), ["two"]);
        assert_eq!(*sessions.count().borrow(), 1);
        drop(held);
        assert!(sessions.give_up(Instant::now(), HOUR, |_| true).is_empty());
        assert_eq!(sessions.give_up(Instant::now(), HOUR, |_| false).len(), 1);
        assert_eq!(sessions.reserve(&ann).map(drop), Some(()));
    }
}
