//! Counts what is open at once, in total and per principal: requests and the size of their bodies,
//! and in the same way the runs of the host protocol.
//!
//! No principal can take everything, so that a greedy one leaves room for the others.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;

use crate::Limits;

/// What all principals have open.
#[derive(Debug, Clone)]
pub(crate) struct Shares(Arc<All>);

#[derive(Debug)]
struct All {
    most: Amount,
    most_per_principal: Amount,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    all: Amount,
    of: HashMap<Arc<str>, Amount>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Amount {
    requests: usize,
    bytes: usize,
}

/// An open request, and the size of its body. It is released when dropped.
#[derive(Debug)]
pub(crate) struct Share {
    all: Arc<All>,
    principal: Arc<str>,
    bytes: usize,
}

/// Why there is no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Full {
    /// Too many requests are open: this many.
    Requests(usize),
    /// This principal has too many open requests: this many.
    RequestsOfPrincipal(usize),
    /// All bodies together are too large.
    Bytes,
    /// This principal's bodies are too large.
    BytesOfPrincipal,
}

impl Shares {
    pub(crate) fn new(limits: &Limits) -> Self {
        // The remaining connections are reserved for probes, incoming heads and refusals.
        let requests = limits.connections - limits.connections / 8;
        let most = Amount { requests, bytes: limits.bodies_bytes };
        let most_per_principal =
            Amount { requests: limits.requests_per_principal, bytes: limits.bodies_bytes_per_principal };
        Self::within(most, most_per_principal)
    }

    /// Any number of requests, with bounds on their bytes in total and per principal.
    pub(crate) fn of_bytes(all: usize, per_principal: usize) -> Self {
        let most = |bytes| Amount { requests: usize::MAX, bytes };
        Self::within(most(all), most(per_principal))
    }

    fn within(most: Amount, most_per_principal: Amount) -> Self {
        Self(Arc::new(All { most, most_per_principal, taken: Mutex::default() }))
    }

    /// Opens a request.
    pub(crate) fn open(&self, principal: &Arc<str>) -> Result<Share, Full> {
        let All { most, most_per_principal, .. } = &*self.0;
        let mut taken = self.0.taken.lock();
        if taken.all.requests >= most.requests {
            return Err(Full::Requests(most.requests));
        }
        let own = taken.of.get(principal).map_or(0, |own| own.requests);
        if own >= most_per_principal.requests {
            return Err(Full::RequestsOfPrincipal(most_per_principal.requests));
        }
        taken.all.requests += 1;
        taken.of.entry(principal.clone()).or_default().requests += 1;
        Ok(Share { all: self.0.clone(), principal: principal.clone(), bytes: 0 })
    }
}

impl Share {
    /// Takes room for more of its body.
    pub(crate) fn take(&mut self, bytes: usize) -> Result<(), Full> {
        let All { most, most_per_principal, .. } = &*self.all;
        let mut taken = self.all.taken.lock();
        let all = taken.all.bytes.saturating_add(bytes);
        if all > most.bytes {
            return Err(Full::Bytes);
        }
        let own = taken.of.entry(self.principal.clone()).or_default();
        let more = own.bytes.saturating_add(bytes);
        if more > most_per_principal.bytes {
            return Err(Full::BytesOfPrincipal);
        }
        own.bytes = more;
        taken.all.bytes = all;
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut taken = self.all.taken.lock();
        taken.all.requests -= 1;
        taken.all.bytes -= self.bytes;
        if let Some(own) = taken.of.get_mut(&self.principal) {
            own.requests -= 1;
            own.bytes -= self.bytes;
            if own.requests == 0 {
                taken.of.remove(&self.principal);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares() -> Shares {
        Shares::new(&Limits {
            connections: 8,
            requests_per_principal: 4,
            bodies_bytes: 100,
            bodies_bytes_per_principal: 60,
            ..Limits::default()
        })
    }

    #[test]
    fn one_principal_leaves_requests_for_others_and_all_leave_connections_for_probes() {
        let (shares, ann, bob, eve) = (shares(), "ann".into(), "bob".into(), "eve".into());
        let mut of_ann: Vec<_> = (0..4).map(|_| shares.open(&ann).expect("room")).collect();
        assert_eq!(shares.open(&ann).err(), Some(Full::RequestsOfPrincipal(4)));
        let _of_bob: Vec<_> = (0..3).map(|_| shares.open(&bob).expect("room")).collect();
        assert_eq!(shares.open(&eve).err(), Some(Full::Requests(7)));
        of_ann.pop();
        assert!(shares.open(&eve).is_ok());
    }

    #[test]
    fn bodies_are_bounded_by_principal_and_together_and_come_back() {
        let (shares, ann, bob) = (shares(), "ann".into(), "bob".into());
        let mut of_ann = shares.open(&ann).expect("room");
        of_ann.take(40).expect("room");
        let mut more = shares.open(&ann).expect("room");
        assert_eq!(more.take(21), Err(Full::BytesOfPrincipal));
        more.take(20).expect("room");
        let mut of_bob = shares.open(&bob).expect("room");
        assert_eq!(of_bob.take(41), Err(Full::Bytes));
        assert_eq!(of_bob.take(usize::MAX), Err(Full::Bytes));
        drop((of_ann, more));
        of_bob.take(60).expect("room");
        assert!(shares.0.taken.lock().of.len() == 1);
    }

    #[test]
    fn there_may_be_any_number_of_runs_with_so_many_bytes() {
        let (shares, ann, bob) = (Shares::of_bytes(100, 60), "ann".into(), "bob".into());
        let mut of_ann: Vec<_> = (0..1_000).map(|_| shares.open(&ann).expect("room")).collect();
        of_ann.iter_mut().take(60).for_each(|run| run.take(1).expect("room"));
        assert_eq!(of_ann.last_mut().map(|run| run.take(1)), Some(Err(Full::BytesOfPrincipal)));
        assert_eq!(shares.open(&bob).expect("room").take(41), Err(Full::Bytes));
        drop(of_ann);
        shares.open(&ann).expect("room").take(60).expect("room");
    }
}
