//! Locks for servers that keep state, such as a page, a session or an open file.
//!
//! Calls of one run share a server with those of others, unless a run holds it: a run that calls a
//! server with `exclusive = true` holds it until the run ends, and a script's `$exclusive` section
//! until the section ends. Meanwhile the calls of other runs wait. A run waits for a server only if
//! it holds none that comes later in the configuration, so two runs never wait for each other.
//! Where that order cannot be kept, the call fails at once with an explanation. All locks of a run
//! are released when it ends, however it ends.

use std::{collections::BTreeMap, pin::pin, sync::Arc, time::Duration};

use belljar_model::{Sharing, ToolPath};
use parking_lot::Mutex;
use tokio::{
    sync::{Notify, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock},
    time::timeout,
};

use crate::Toolbox;

/// The function under which a namespace has its lock, and the one that releases it.
pub(crate) const ACQUIRE: &str = ToolPath::ACQUIRE;
pub(crate) const RELEASE: &str = ToolPath::RELEASE;

/// The lock of one server: shared by calls, exclusive for its holder.
pub(crate) type ServerLock = Arc<RwLock<()>>;

/// Why a server cannot be locked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LockError {
    /// Waiting might never end.
    #[error("'{server}' is in use by another run, and this run holds '{held}', which that one may be waiting for")]
    OutOfOrder { server: String, held: String },
    #[error("'{server}' was in use by another run for {} s", waited.as_secs())]
    Busy { server: String, waited: Duration },
    #[error("the run has ended")]
    Ended,
}

impl LockError {
    /// What the script's author can do.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::OutOfOrder { server, held } => {
                Some(format!("use {server} before {held} in the script, or run it again"))
            }
            Self::Busy { .. } => Some("run the script again later".to_owned()),
            Self::Ended => None,
        }
    }
}

/// The locks that one run holds.
pub(crate) struct RunLocks {
    toolbox: Arc<Toolbox>,
    /// The principal whose instances it uses, if each principal has its own.
    principal: Option<Arc<str>>,
    /// The exclusive servers named in the source, which are locked together, in order.
    mentioned: Vec<usize>,
    held: Mutex<Held>,
    /// Only one part of a run waits for a server at a time.
    turn: tokio::sync::Mutex<()>,
    /// Signals that the run has got a server.
    taken: Notify,
}

#[derive(Default)]
struct Held {
    servers: BTreeMap<usize, OwnedRwLockWriteGuard<()>>,
    has_ended: bool,
}

/// The right to make one call.
pub(crate) struct Permit(#[expect(dead_code, reason = "it is there to be dropped")] Option<OwnedRwLockReadGuard<()>>);

impl RunLocks {
    /// Whether it holds a server exclusively.
    pub(crate) fn has_any(&self) -> bool {
        !self.held.lock().servers.is_empty()
    }

    /// The locks of a run of this source, none of them held yet.
    pub(crate) fn new(toolbox: Arc<Toolbox>, source: &str, principal: Option<Arc<str>>) -> Self {
        let mentioned = toolbox.mentioned(source).filter(|at| toolbox.sharing(*at) == Sharing::Exclusive).collect();
        Self {
            toolbox,
            principal,
            mentioned,
            held: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
            taken: Notify::new(),
        }
    }

    /// Waits until a tool of this server may be called. `waits` is called if it has to wait.
    ///
    /// # Cancellation
    /// The lock is not taken.
    pub(crate) async fn enter(
        &self,
        server: usize,
        most: Duration,
        waits: &(dyn Fn(&str) + Sync),
    ) -> Result<Permit, LockError> {
        match self.toolbox.sharing(server) {
            Sharing::Free => Ok(Permit(None)),
            Sharing::Exclusive => self.acquire(server, most, waits).await.map(|()| Permit(None)),
            Sharing::Stateful if self.has(server) => Ok(Permit(None)),
            Sharing::Stateful => {
                let lock = self.toolbox.lock_of(server, self.principal.as_ref());
                if let Ok(permit) = lock.clone().try_read_owned() {
                    return Ok(Permit(Some(permit)));
                }
                self.may_wait(server)?;
                waits(self.toolbox.name_of(server));
                // It may be behind an exclusive section of its own run, which waits in front of it
                // and then holds the server for both.
                let entered = async {
                    tokio::select! {
                        permit = lock.read_owned() => Permit(Some(permit)),
                        () = self.had(server) => Permit(None),
                    }
                };
                timeout(most, entered).await.map_err(|_| self.busy(server, most))
            }
        }
    }

    /// Locks a server for this run, after those that the script names before it.
    ///
    /// # Cancellation
    /// The lock is not taken.
    pub(crate) async fn acquire(
        &self,
        server: usize,
        most: Duration,
        waits: &(dyn Fn(&str) + Sync),
    ) -> Result<(), LockError> {
        let _turn = self.turn.lock().await;
        let mut wanted = vec![server];
        if self.toolbox.sharing(server) == Sharing::Exclusive {
            wanted.extend_from_slice(&self.mentioned);
        }
        wanted.sort_unstable();
        wanted.dedup();
        for server in wanted {
            if self.has(server) {
                continue;
            }
            let lock = self.toolbox.lock_of(server, self.principal.as_ref());
            let guard = match lock.clone().try_write_owned() {
                Ok(guard) => guard,
                Err(_) => {
                    self.may_wait(server)?;
                    waits(self.toolbox.name_of(server));
                    timeout(most, lock.write_owned()).await.map_err(|_| self.busy(server, most))?
                }
            };
            let mut held = self.held.lock();
            if held.has_ended {
                return Err(LockError::Ended);
            }
            held.servers.insert(server, guard);
            drop(held);
            self.taken.notify_waiters();
        }
        Ok(())
    }

    /// Releases a server, unless the run holds it to its end.
    pub(crate) fn release(&self, server: usize) {
        if self.toolbox.sharing(server) != Sharing::Exclusive {
            self.held.lock().servers.remove(&server);
        }
    }

    /// Releases everything. Nothing can be locked afterwards.
    pub(crate) fn end(&self) {
        let mut held = self.held.lock();
        held.has_ended = true;
        held.servers.clear();
    }

    fn has(&self, server: usize) -> bool {
        self.held.lock().servers.contains_key(&server)
    }

    /// Waits until the run holds a server.
    async fn had(&self, server: usize) {
        loop {
            let mut taken = pin!(self.taken.notified());
            // Registered first, so that no signal is missed.
            taken.as_mut().enable();
            if self.has(server) {
                return;
            }
            taken.await;
        }
    }

    /// Whether the run may wait for a server: it holds none that comes later.
    fn may_wait(&self, server: usize) -> Result<(), LockError> {
        let last = self.held.lock().servers.keys().next_back().copied();
        match last.filter(|last| *last > server) {
            None => Ok(()),
            Some(last) => {
                let name = |at| self.toolbox.name_of(at).to_owned();
                Err(LockError::OutOfOrder { server: name(server), held: name(last) })
            }
        }
    }

    fn busy(&self, server: usize, waited: Duration) -> LockError {
        LockError::Busy { server: self.toolbox.name_of(server).to_owned(), waited }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use belljar_model::{ServerSpec, Transport};
    use belljar_upstream::{BuiltIns, Options};

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    /// `first` and `second` are exclusive, `third` is stateful, `free` neither.
    fn toolbox() -> Arc<Toolbox> {
        let spec = |name: &str, exclusive: bool, stateful: bool| {
            let mut spec = ServerSpec::new(name, Transport::BuiltIn(name.to_owned()));
            (spec.exclusive, spec.life.stateful) = (exclusive, stateful);
            spec
        };
        let specs = vec![
            spec("first", true, false),
            spec("second", true, false),
            spec("third", false, true),
            spec("free", false, false),
        ];
        Arc::new(Toolbox::new(specs, BuiltIns::default(), Options::new("belljar-tests", "0")))
    }

    fn run(toolbox: &Arc<Toolbox>, source: &str) -> Arc<RunLocks> {
        Arc::new(RunLocks::new(toolbox.clone(), source, None))
    }

    fn nobody(_: &str) {}

    #[tokio::test(start_paused = true)]
    async fn an_exclusive_server_is_one_run_s_until_that_ends_and_others_wait_and_are_told() {
        let toolbox = toolbox();
        let (one, other) = (run(&toolbox, ""), run(&toolbox, ""));
        drop(one.enter(0, LONG, &nobody).await.expect("free"));
        drop(one.enter(0, LONG, &nobody).await.expect("its own"));
        let told = Arc::new(AtomicUsize::new(0));
        let waiting = tokio::spawn({
            let (other, told) = (other.clone(), told.clone());
            async move {
                let waits = |server: &str| {
                    assert_eq!(server, "first");
                    told.fetch_add(1, Ordering::SeqCst);
                };
                other.enter(0, LONG, &waits).await.is_ok()
            }
        });
        tokio::task::yield_now().await;
        assert_eq!(told.load(Ordering::SeqCst), 1);
        assert!(!waiting.is_finished());
        one.end();
        assert!(waiting.await.expect("no panic"));
        // A run that has ended locks nothing.
        assert!(matches!(one.enter(1, LONG, &nobody).await, Err(LockError::Ended)));
        drop(other);
        assert!(
            run(&toolbox, "").enter(0, LONG, &nobody).await.is_ok(),
            "a run that is dropped gives back what it had"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn two_runs_that_want_two_servers_never_wait_for_each_other() {
        let toolbox = toolbox();
        let (one, other) = (run(&toolbox, ""), run(&toolbox, ""));
        assert!(one.enter(0, LONG, &nobody).await.is_ok());
        assert!(other.enter(1, LONG, &nobody).await.is_ok());
        let fault = other.enter(0, LONG, &nobody).await.err().expect("against the order");
        assert_eq!(
            fault.to_string(),
            "'first' is in use by another run, and this run holds 'second', which that one may be waiting for"
        );
        let waiting = tokio::spawn({
            let one = one.clone();
            async move { one.enter(1, LONG, &nobody).await.is_ok() }
        });
        tokio::task::yield_now().await;
        other.end();
        assert!(waiting.await.expect("no panic"));
        // Servers named in the script are locked in their order from the beginning.
        one.end();
        let both = run(&toolbox, "await second.a(); await first.b()");
        assert!(both.enter(1, LONG, &nobody).await.is_ok());
        assert!(both.has(0) && both.has(1) && !both.has(2));
    }

    #[tokio::test(start_paused = true)]
    async fn calls_share_a_stateful_server_and_wait_while_a_script_holds_it() {
        let toolbox = toolbox();
        let (one, other) = (run(&toolbox, ""), run(&toolbox, ""));
        let call = one.enter(2, LONG, &nobody).await.expect("free");
        assert!(other.enter(2, LONG, &nobody).await.is_ok(), "calls share it");
        assert!(matches!(other.acquire(2, LONG, &nobody).await, Err(LockError::Busy { .. })), "a call is under way");
        drop(call);
        assert!(other.acquire(2, LONG, &nobody).await.is_ok());
        assert!(other.enter(2, LONG, &nobody).await.is_ok(), "its own calls do not wait");
        assert!(matches!(one.enter(2, LONG, &nobody).await, Err(LockError::Busy { .. })));
        other.release(2);
        assert!(one.enter(2, LONG, &nobody).await.is_ok());
        assert!(one.enter(3, LONG, &nobody).await.is_ok(), "a free server is everybody's");
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_behind_a_section_of_its_own_run_enters_with_it() {
        let toolbox = toolbox();
        let (one, other) = (run(&toolbox, ""), run(&toolbox, ""));
        let call = other.enter(2, LONG, &nobody).await.expect("free");
        let section = tokio::spawn({
            let one = one.clone();
            async move { one.acquire(2, LONG, &nobody).await.is_ok() }
        });
        tokio::task::yield_now().await;
        let behind = tokio::spawn({
            let one = one.clone();
            async move { one.enter(2, LONG, &nobody).await.is_ok() }
        });
        tokio::task::yield_now().await;
        assert!(!section.is_finished() && !behind.is_finished());
        drop(call);
        assert!(section.await.expect("no panic"));
        // The section goes on, and may be waiting for this very call.
        assert!(behind.await.expect("no panic"));
        assert!(matches!(other.enter(2, LONG, &nobody).await, Err(LockError::Busy { .. })), "calls of others wait");
    }
}
