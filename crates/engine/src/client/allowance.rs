//! How many bytes of answers are sent to the engine's process unasked, for one run.
//!
//! Asking for an answer costs a round trip. So answers are sent at once while only a few of their
//! bytes still wait for room in the process, which reports with its calls how much has found room.
//! All other answers wait here until the process asks for them.

use super::lost::Violation;

/// How much may be on its way for one run: a thousand small answers, or a few larger ones. For the
/// default of 64 live runs, that is 16 MiB.
const MAX_BYTES: u64 = 256 * 1024;

/// The answers of one run that were sent unasked.
pub(super) struct Allowance {
    max: u64,
    sent: u64,
    admitted: u64,
}

impl Allowance {
    /// For a run with this `max_held`.
    pub(super) fn new(max_held: u64) -> Self {
        Self { max: max_held.min(MAX_BYTES), sent: 0, admitted: 0 }
    }

    /// Whether this many bytes may be sent unasked. If so, they count from now on.
    pub(super) fn grant(&mut self, bytes: u64) -> bool {
        let sent = self.sent.saturating_add(bytes);
        let is_granted = sent - self.admitted <= self.max;
        if is_granted {
            self.sent = sent;
        }
        is_granted
    }

    /// Notes how much has found room by now, according to the process. Its threads may overtake
    /// each other, so the number may be lower than before.
    pub(super) fn note_admitted(&mut self, bytes: u64) -> Result<(), Violation> {
        if bytes > self.sent {
            return Err(Violation::Admitted);
        }
        self.admitted = self.admitted.max(bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_unasked_is_bounded_until_it_is_said_to_be_admitted() {
        let mut allowance = Allowance::new(100);
        assert!(allowance.grant(60) && allowance.grant(40));
        assert!(!allowance.grant(1));
        assert_eq!(allowance.note_admitted(60), Ok(()));
        assert_eq!(allowance.note_admitted(30), Ok(()), "what was said later may come sooner");
        assert!(allowance.grant(60) && !allowance.grant(1));
        assert_eq!(allowance.note_admitted(161), Err(Violation::Admitted));
        assert!(!Allowance::new(u64::MAX).grant(MAX_BYTES + 1));
    }
}
