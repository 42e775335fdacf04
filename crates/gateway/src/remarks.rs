//! belljar's own remarks on a run's calls, for the log that the author reads.
//!
//! The script never sees a remark, so its behaviour cannot depend on one. Warnings depend only on
//! the calls, their arguments, their answers and the tools' schemas, and are sorted in an order of
//! their own, not in that in which the checks happened to end. Apart from times, only the remark
//! that the run had to wait for another depends on other runs.

use std::collections::BTreeSet;

use belljar_model::{LogEntry, LogLevel};
use parking_lot::Mutex;

/// Remarks on one run. The same mistake in a thousand calls is one remark, and a handful of
/// different ones is enough to begin with.
const MAX_REMARKS: usize = 10;

/// The remarks on one run, each once.
#[derive(Default)]
pub(crate) struct Remarks(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    texts: BTreeSet<String>,
    is_cut: bool,
    told: BTreeSet<String>,
}

impl Remarks {
    /// Adds a remark, if it is new.
    pub(crate) fn add(&self, text: String) {
        let mut kept = self.0.lock();
        kept.texts.insert(text);
        if kept.texts.len() > MAX_REMARKS {
            // Drops the last one in the order, so that the remaining ones do not depend on the
            // order of arrival.
            kept.texts.pop_last();
            kept.is_cut = true;
        }
    }

    /// Adds an event of the run that depends on other runs.
    pub(crate) fn tell(&self, text: String) {
        let mut kept = self.0.lock();
        if kept.told.len() < MAX_REMARKS {
            kept.told.insert(text);
        }
    }

    /// All of them, for a run that is put aside: remarks and events.
    pub(crate) fn all(&self) -> (Vec<String>, Vec<String>) {
        let kept = self.0.lock();
        (kept.texts.iter().cloned().collect(), kept.told.iter().cloned().collect())
    }

    /// All of them, as entries of the log.
    pub(crate) fn take(&self) -> impl Iterator<Item = LogEntry> + use<> {
        let Kept { texts, is_cut, told } = std::mem::take(&mut *self.0.lock());
        let cut =
            is_cut.then(|| format!("[there are more warnings of this kind than {MAX_REMARKS}; the rest is left out]"));
        let told = told.into_iter().map(|text| LogEntry { level: LogLevel::Info, text });
        texts.into_iter().chain(cut).map(|text| LogEntry { level: LogLevel::Warn, text }).chain(told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remark_is_made_once_and_the_same_ones_stay_in_whatever_order_they_came() {
        let remarked = |numbers: &[usize]| {
            let remarks = Remarks::default();
            numbers.iter().for_each(|number| remarks.add(format!("remark {number:02}")));
            remarks.take().map(|entry| entry.text).collect::<Vec<_>>()
        };
        assert_eq!(remarked(&[2, 1, 2]), ["remark 01", "remark 02"]);
        let up: Vec<usize> = (0..30).collect();
        let down: Vec<usize> = (0..30).rev().collect();
        assert_eq!(remarked(&up), remarked(&down));
        assert_eq!(remarked(&up).len(), MAX_REMARKS + 1);
    }
}
