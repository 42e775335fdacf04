//! What the host holds for one run, counted in bytes against `max_held`.
//!
//! There are two kinds of bytes. *Arguments* of calls count until the script gets the answer, and
//! *notes* (logs and records of calls) until the run ends: both follow the script's own order, so a
//! call that finds no room fails in every repetition of the run. *Answers* come in any order. They
//! never make a call fail: one that finds no room in memory goes to a file (see `overflow`), and
//! one that finds none there either is not read from its child until there is room, which no script
//! can observe.

use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use belljar_model::{LimitHit, LimitName};
use parking_lot::Mutex;
use tokio::sync::Notify;

/// Bytes of answers that may be in memory on their way to the file. One answer is always allowed,
/// whatever its size.
const PASSING_BYTES: u64 = 8 << 20;
/// How many times `max_held` the file may hold: by default 2 GiB, four hundred of the largest
/// answers.
const FILE_FACTOR: u64 = 32;
/// How much the files of all runs of this process may hold: by default, the full files of four
/// runs. They bridge the moments when scripts compute while children answer; more would fill the
/// disk of a small machine.
const ALL_FILES_BYTES: u64 = 8 << 30;

/// The files of this process: all its sandboxes share the same disk.
static ALL_FILES: AllFiles = AllFiles::new(ALL_FILES_BYTES);

/// The bytes that are held for a run. Clones share the count.
#[derive(Clone)]
pub(crate) struct Holdings(Arc<Inner>);

struct Inner {
    max: u64,
    has_file: bool,
    files: &'static AllFiles,
    counts: Mutex<Counts>,
    /// Signals that a waiting answer may find room.
    freed: Notify,
}

/// What the files of all runs hold together.
struct AllFiles {
    max: u64,
    used: AtomicU64,
    /// Signals that a file is gone.
    freed: Notify,
}

#[derive(Default)]
struct Counts {
    arguments: u64,
    notes: u64,
    answers: u64,
    passing: u64,
    /// Answers in the file, and their bytes since it was last empty.
    filed: u64,
    file_bytes: u64,
    /// The most that the file has held. This space belongs to the run until it ends, even if
    /// answers are read back meanwhile.
    disk_bytes: u64,
    peak: u64,
    /// The script waits for something that has not arrived.
    is_starving: bool,
}

/// Where an answer was admitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Memory,
    /// It has to be written to the file before the next one is admitted.
    File,
}

/// An answer in memory, counted until this is dropped.
pub(crate) struct Held {
    holdings: Holdings,
    place: Place,
    bytes: u64,
}

/// Room in the file, counted until this is dropped.
pub(crate) struct Filed(Holdings);

impl Holdings {
    /// Nothing is held yet. `has_file` says whether answers can be written to a file.
    pub(crate) fn new(max: u64, has_file: bool) -> Self {
        Self::among(&ALL_FILES, max, has_file)
    }

    fn among(files: &'static AllFiles, max: u64, has_file: bool) -> Self {
        Self(Arc::new(Inner { max, has_file, files, counts: Mutex::default(), freed: Notify::new() }))
    }

    /// Counts the arguments of a call, if there is room for them.
    pub(crate) fn begin_call(&self, bytes: u64) -> Result<(), LimitHit> {
        let mut counts = self.0.counts.lock();
        let used = counts.arguments.saturating_add(counts.notes).saturating_add(bytes);
        if used > self.0.max {
            return Err(LimitHit { name: LimitName::MaxHeld, max: self.0.max, used });
        }
        counts.arguments += bytes;
        counts.note_peak();
        Ok(())
    }

    /// Counts the arguments of a call for which the caller has found room in its own count.
    pub(crate) fn hold_arguments(&self, bytes: u64) {
        let mut counts = self.0.counts.lock();
        counts.arguments = counts.arguments.saturating_add(bytes);
        counts.note_peak();
    }

    /// The script has got the answer of a call.
    pub(crate) fn end_call(&self, bytes: u64) {
        let mut counts = self.0.counts.lock();
        counts.arguments = counts.arguments.saturating_sub(bytes);
        drop(counts);
        self.0.freed.notify_waiters();
    }

    /// Counts what is kept until the run ends. It has limits of its own.
    pub(crate) fn keep(&self, bytes: u64) {
        let mut counts = self.0.counts.lock();
        counts.notes = counts.notes.saturating_add(bytes);
        counts.note_peak();
    }

    /// Waits until an answer of this many bytes may be in memory; `None` if `is_wanted` says that
    /// nobody waits for it any more.
    ///
    /// # Cancellation
    /// If the future is dropped, nothing is counted.
    pub(crate) async fn admit(&self, bytes: u64, is_wanted: impl Fn() -> bool) -> Option<Held> {
        if !is_wanted() {
            return None;
        }
        if let Some(place) = self.try_admit(bytes) {
            return Some(Held { holdings: self.clone(), place, bytes });
        }
        loop {
            let mut freed = pin!(self.0.freed.notified());
            let mut file_gone = pin!(self.0.files.freed.notified());
            // Registered first, so that no change is missed.
            freed.as_mut().enable();
            file_gone.as_mut().enable();
            if !is_wanted() {
                return None;
            }
            if let Some(place) = self.try_admit(bytes) {
                return Some(Held { holdings: self.clone(), place, bytes });
            }
            tokio::select! {
                () = freed => {}
                () = file_gone => {}
            }
        }
    }

    /// A waiter for an answer gave up: the code that holds it back has to check again whether it is
    /// wanted.
    pub(crate) fn abandon(&self) {
        self.0.freed.notify_waiters();
    }

    /// The script waits for something that has not arrived. It may be behind an answer that found
    /// no room, so one more is admitted.
    pub(crate) fn starve(&self) {
        self.0.counts.lock().is_starving = true;
        self.0.freed.notify_waiters();
    }

    /// The most bytes that were in memory at once.
    pub(crate) fn peak(&self) -> u64 {
        self.0.counts.lock().peak
    }

    fn try_admit(&self, bytes: u64) -> Option<Place> {
        let mut counts = self.0.counts.lock();
        let rest = self.0.max.saturating_sub(counts.arguments.saturating_add(counts.notes));
        let fits = |held: u64, max: u64| held == 0 || held.saturating_add(bytes) <= max;
        let place = if fits(counts.answers, rest) {
            Place::Memory
        } else if self.0.has_file
            && fits(counts.passing, PASSING_BYTES)
            && fits(counts.file_bytes, self.0.max.saturating_mul(FILE_FACTOR))
            && self.0.files.take(counts.growth(bytes))
        {
            Place::File
        } else if counts.is_starving {
            Place::Memory
        } else {
            return None;
        };
        counts.is_starving = false;
        match place {
            Place::Memory => counts.answers = counts.answers.saturating_add(bytes),
            Place::File => {
                counts.passing = counts.passing.saturating_add(bytes);
                counts.filed += 1;
                counts.file_bytes = counts.file_bytes.saturating_add(bytes);
                counts.disk_bytes = counts.disk_bytes.max(counts.file_bytes);
            }
        }
        counts.note_peak();
        Some(place)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let disk_bytes = self.counts.get_mut().disk_bytes;
        if disk_bytes > 0 {
            self.files.give_back(disk_bytes);
        }
    }
}

impl AllFiles {
    const fn new(max: u64) -> Self {
        Self { max, used: AtomicU64::new(0), freed: Notify::const_new() }
    }

    /// Takes this many bytes of the disk, if there is room.
    fn take(&self, bytes: u64) -> bool {
        let taken = |used: u64| used.checked_add(bytes).filter(|used| *used <= self.max);
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken).is_ok()
    }

    /// Returns this many bytes.
    fn give_back(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
        self.freed.notify_waiters();
    }
}

impl Counts {
    /// By how much an answer of this size makes the file larger than ever before.
    fn growth(&self, bytes: u64) -> u64 {
        self.file_bytes.saturating_add(bytes).saturating_sub(self.disk_bytes)
    }

    fn note_peak(&mut self) {
        let held = [self.notes, self.answers, self.passing].into_iter().fold(self.arguments, u64::saturating_add);
        self.peak = self.peak.max(held);
    }

    fn unfile(&mut self) {
        self.filed = self.filed.saturating_sub(1);
        if self.filed == 0 {
            self.file_bytes = 0;
        }
    }
}

impl Held {
    pub(crate) fn place(&self) -> Place {
        self.place
    }

    /// Call this when the answer is in the file, and no longer in memory. `None` if it was to stay
    /// in memory.
    pub(crate) fn into_filed(mut self) -> Option<Filed> {
        if self.place == Place::Memory {
            return None;
        }
        let filed = Filed(self.holdings.clone());
        self.holdings.0.counts.lock().passing -= self.bytes;
        // Leaves nothing for `drop`.
        (self.place, self.bytes) = (Place::Memory, 0);
        Some(filed)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut counts = self.holdings.0.counts.lock();
        match self.place {
            Place::Memory => counts.answers = counts.answers.saturating_sub(self.bytes),
            Place::File => {
                counts.passing = counts.passing.saturating_sub(self.bytes);
                counts.unfile();
            }
        }
        drop(counts);
        self.holdings.0.freed.notify_waiters();
    }
}

impl Drop for Filed {
    fn drop(&mut self) {
        self.0.0.counts.lock().unfile();
        self.0.0.freed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    fn admitted(holdings: &Holdings, bytes: u64) -> Option<Held> {
        holdings.admit(bytes, || true).now_or_never().flatten()
    }

    fn place(holdings: &Holdings, bytes: u64) -> Option<(Place, Held)> {
        admitted(holdings, bytes).map(|held| (held.place(), held))
    }

    #[test]
    fn arguments_and_notes_share_the_budget_and_answers_take_none_of_it() {
        let holdings = Holdings::new(100, false);
        holdings.begin_call(60).expect("there is room");
        holdings.keep(10);
        let _answer = admitted(&holdings, 50).expect("the first one always comes in");
        let hit = holdings.begin_call(31).expect_err("too many");
        assert_eq!((hit.name, hit.max, hit.used), (LimitName::MaxHeld, 100, 101));
        holdings.begin_call(30).expect("there is room for just as many");
        holdings.end_call(60);
        holdings.begin_call(60).expect("there is room again");
        assert_eq!(holdings.peak(), 60 + 10 + 50 + 30);
    }

    #[test]
    fn an_answer_that_finds_no_room_is_held_back_until_there_is_some() {
        let holdings = Holdings::new(100, false);
        let first = admitted(&holdings, 70).expect("there is room");
        let _second = admitted(&holdings, 30).expect("there is room");
        let mut third = pin!(holdings.admit(1, || true));
        assert!(third.as_mut().now_or_never().is_none());
        drop(first);
        assert_eq!(third.now_or_never().flatten().map(|held| held.place()), Some(Place::Memory));
    }

    #[test]
    fn one_answer_comes_in_whatever_its_size_and_another_when_the_script_starves() {
        let holdings = Holdings::new(100, false);
        holdings.begin_call(100).expect("there is room");
        let _first = admitted(&holdings, 1_000).expect("the inbox is empty");
        assert!(admitted(&holdings, 1).is_none());
        holdings.starve();
        let _second = admitted(&holdings, 1_000).expect("the script waits for another one");
        assert!(admitted(&holdings, 1).is_none(), "one for each time");
    }

    #[test]
    fn an_answer_that_nobody_waits_for_any_more_is_not_held_back() {
        let holdings = Holdings::new(100, false);
        let _first = admitted(&holdings, 100);
        assert!(holdings.admit(1, || false).now_or_never().expect("at once").is_none());
    }

    #[test]
    fn what_finds_no_room_in_memory_goes_to_the_file_until_that_is_full_too() {
        let max = PASSING_BYTES / 4;
        let holdings = Holdings::new(max, true);
        let _first = admitted(&holdings, max).expect("there is room");
        let (where_to, passing) = place(&holdings, PASSING_BYTES).expect("there is a file");
        assert_eq!(where_to, Place::File);
        assert!(admitted(&holdings, 1).is_none(), "one is on its way");
        let mut filed = vec![passing.into_filed().expect("it was for the file")];
        let mut left = max * FILE_FACTOR - PASSING_BYTES;
        while left > 0 {
            let (where_to, passing) = place(&holdings, PASSING_BYTES).expect("there is room in the file");
            assert_eq!(where_to, Place::File);
            filed.extend(passing.into_filed());
            left -= PASSING_BYTES;
        }
        assert!(admitted(&holdings, 1).is_none(), "the file is full");
        filed.clear();
        assert_eq!(place(&holdings, 1).map(|(where_to, _)| where_to), Some(Place::File));
    }

    #[test]
    fn the_files_of_all_runs_share_what_they_may_hold_until_a_run_ends() {
        static FILES: AllFiles = AllFiles::new(3_000);
        let run = || {
            let holdings = Holdings::among(&FILES, 100, true);
            let first = admitted(&holdings, 100).expect("there is room in memory");
            (holdings, first)
        };
        let (one, first_of_one) = run();
        let (other, _first_of_other) = run();
        let mut filed = Vec::new();
        for _ in 0..2 {
            let (where_to, passing) = place(&one, 1_000).expect("there is a file");
            assert_eq!(where_to, Place::File);
            filed.extend(passing.into_filed());
        }
        let (_, _third) = place(&other, 1_000).expect("there is room for one more");
        let mut waiting = pin!(other.admit(1_000, || true));
        assert!(waiting.as_mut().now_or_never().is_none(), "all files together are full, though its own is not");
        // Reading back does not shrink the file, but its own run may overwrite the space.
        filed.clear();
        assert!(waiting.as_mut().now_or_never().is_none());
        let (where_to, again) = place(&one, 2_000).expect("its file is as large already");
        assert_eq!(where_to, Place::File);
        drop((again, first_of_one, one));
        let (where_to, _admitted) = waiting.now_or_never().flatten().map(|held| (held.place(), held)).expect("room");
        assert_eq!(where_to, Place::File);
    }

    #[test]
    fn a_script_that_starves_gets_its_answer_when_the_files_of_others_are_full() {
        static FILES: AllFiles = AllFiles::new(1_000);
        let (one, other) = (Holdings::among(&FILES, 100, true), Holdings::among(&FILES, 100, true));
        let _firsts = (admitted(&one, 100), admitted(&other, 100));
        let _filed = place(&one, 1_000).expect("there is a file");
        assert!(admitted(&other, 1).is_none());
        other.starve();
        assert_eq!(place(&other, 1).map(|(where_to, _)| where_to), Some(Place::Memory));
    }
}
