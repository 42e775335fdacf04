//! Counts wrong tokens by the address that they come from.
//!
//! A valid token always works, even from an address that sent many wrong ones: behind a proxy all
//! clients have one address, and somebody who guesses there must not shut out the others. No number
//! of guesses finds 32 random bytes; the limit only saves work and log lines.

use std::{
    collections::HashMap,
    net::IpAddr,
    time::{Duration, Instant},
};

use parking_lot::Mutex;

/// How long wrong tokens are remembered.
const WINDOW: Duration = Duration::from_secs(60);
/// The most addresses that are remembered. 4,096: some 200 KB.
const MAX_ADDRESSES: usize = 4096;

/// The wrong tokens of the last minute.
#[derive(Debug, Default)]
pub(crate) struct Guesses {
    by_address: Mutex<HashMap<IpAddr, (Instant, u32)>>,
}

impl Guesses {
    /// Counts a wrong token, and returns how long to wait if there were more than `limit`.
    pub(crate) fn count(&self, address: IpAddr, limit: u32, now: Instant) -> Option<Duration> {
        let mut seen = self.by_address.lock();
        if seen.len() >= MAX_ADDRESSES && !seen.contains_key(&network(address)) {
            seen.retain(|_, (began, _)| now.saturating_duration_since(*began) < WINDOW);
            if seen.len() >= MAX_ADDRESSES {
                return Some(WINDOW);
            }
        }
        let (began, count) = seen.entry(network(address)).or_insert((now, 0));
        if now.saturating_duration_since(*began) >= WINDOW {
            (*began, *count) = (now, 0);
        }
        *count = count.saturating_add(1);
        (*count > limit).then(|| WINDOW.saturating_sub(now.saturating_duration_since(*began)))
    }
}

/// The network of an address: a client with an IPv6 address usually has 2^64 of them.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(ip) => IpAddr::V6((ip.to_bits() & !u128::from(u64::MAX)).into()),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_guesses_is_told_to_wait_until_a_minute_is_over() {
        let (guesses, now) = (Guesses::default(), Instant::now());
        let [one, two] = ["192.0.2.1", "192.0.2.2"].map(|address| address.parse().expect("an address"));
        for _ in 0..3 {
            assert_eq!(guesses.count(one, 3, now), None);
        }
        let later = now + Duration::from_secs(20);
        assert_eq!(guesses.count(one, 3, later), Some(Duration::from_secs(40)));
        assert_eq!(guesses.count(two, 3, later), None);
        assert_eq!(guesses.count(one, 3, now + WINDOW), None);
    }

    #[test]
    fn a_network_counts_as_one_address_and_there_is_room_for_a_bounded_number() {
        let (guesses, now) = (Guesses::default(), Instant::now());
        assert_eq!(guesses.count("2001:db8::1".parse().expect("an address"), 1, now), None);
        assert!(guesses.count("2001:db8::2".parse().expect("an address"), 1, now).is_some());
        for number in 0..u32::try_from(MAX_ADDRESSES).expect("small") {
            guesses.count(IpAddr::V4(number.into()), 1, now);
        }
        assert_eq!(guesses.by_address.lock().len(), MAX_ADDRESSES);
        assert_eq!(guesses.count("203.0.113.9".parse().expect("an address"), 1, now + WINDOW), None);
    }
}
