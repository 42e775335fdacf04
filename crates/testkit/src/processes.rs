//! Whether processes still exist.

use std::time::{Duration, Instant};

/// Whether the process exists and is not a zombie, or is one whose other threads have not ended: it
/// still has its files open. Only Linux can tell; elsewhere no process counts as running.
pub fn is_running(pid: u32) -> bool {
    let Ok(status) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    // The name in parentheses may contain anything, so the state follows the last closing one.
    let Some((_, rest)) = status.rsplit_once(')') else { return false };
    let mut fields = rest.split_whitespace();
    match fields.next() {
        None | Some("X") => false,
        // The number of threads is the 20th field in total.
        Some("Z") => fields.nth(16).and_then(|threads| threads.parse().ok()).is_some_and(|threads: u32| threads > 1),
        Some(_) => true,
    }
}

/// Waits until the process is gone, and returns whether it was gone in time. Blocks its thread.
pub fn is_gone_within(pid: u32, limit: Duration) -> bool {
    const STEP: Duration = Duration::from_millis(5);
    let deadline = Instant::now() + limit;
    while is_running(pid) {
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(STEP);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_is_running_and_one_that_cannot_be_is_not() {
        assert!(is_running(std::process::id()));
        assert!(is_gone_within(u32::MAX, Duration::ZERO));
    }
}
