//! What is kept of a run however it ends: its logs, its calls, and the limit that ended it.

use std::{collections::BTreeMap, sync::Arc, time::Instant};

use belljar_model::{CallRecord, LimitHit, LogEntry, LogLevel};
use parking_lot::Mutex;

use crate::{GrantedTool, calls::unanswered, holdings::Holdings, place::Place};

/// Bytes of a note besides its texts.
const NOTE_BYTES: u64 = 100;

/// A run's notes, shared by the run and the code that drives it.
#[derive(Clone)]
pub(crate) struct Journal {
    notes: Arc<Mutex<Notes>>,
    holdings: Holdings,
}

/// What was noted.
#[derive(Default)]
pub(crate) struct Notes {
    pub(crate) logs: Vec<LogEntry>,
    pub(crate) log_bytes: u64,
    pub(crate) log_lines: u64,
    logs_are_cut: bool,
    pub(crate) calls: Vec<CallRecord>,
    pub(crate) calls_begun: u64,
    /// The most calls that were open at once, and the largest arguments and results.
    pub(crate) concurrent_calls: u64,
    pub(crate) largest_arguments: u64,
    pub(crate) largest_result: u64,
    /// Calls whose answer the guest does not have yet, by their number.
    open: BTreeMap<u64, OpenCall>,
    /// The last call that was refused because of a limit: its error, and the limit.
    pub(crate) refusal: Option<(String, LimitHit)>,
    pub(crate) hit: Option<LimitHit>,
    /// The numbers of the calls and timers that were handed over.
    pub(crate) order: Vec<u64>,
}

/// A call whose answer the guest does not have yet.
struct OpenCall {
    tool: GrantedTool,
    begun: Instant,
    /// Bytes of its arguments that are held for it.
    held: u64,
    /// Where the script made it.
    place: Option<Place>,
}

impl Journal {
    /// No notes yet. They are counted in `holdings`.
    pub(crate) fn new(holdings: Holdings) -> Self {
        Self { notes: Arc::default(), holdings }
    }

    /// Keeps as much of a log entry as there is room for. The rest is cut, and the log says so
    /// once. Returns whether any of it was kept.
    pub(crate) fn log(&self, level: LogLevel, mut text: String, max_bytes: u64, max_lines: u64) -> bool {
        let mut notes = self.notes.lock();
        if notes.logs_are_cut {
            return false;
        }
        let lines_left = as_size(max_lines.saturating_sub(notes.log_lines));
        let bytes_left = as_size(max_bytes.saturating_sub(notes.log_bytes));
        let end = end_of(&text, bytes_left, lines_left);
        let fits = end == Some(text.len());
        if let Some(end) = end {
            text.truncate(end);
            if fits || !text.is_empty() {
                notes.log_bytes += text.len() as u64;
                notes.log_lines += lines(&text) as u64;
                self.holdings.keep(NOTE_BYTES.saturating_add(text.len() as u64));
                notes.logs.push(LogEntry { level, text });
            }
        }
        if !fits {
            notes.logs_are_cut = true;
            let text =
                format!("[the logs reached their limit of {max_bytes} bytes or {max_lines} lines; the rest is cut]");
            notes.logs.push(LogEntry { level: LogLevel::Warn, text });
        }
        end.is_some()
    }

    /// Notes that a call has begun, and where, and counts its arguments.
    ///
    /// # Errors
    /// The limit, if there is no room for them. The call stays open until the script learns of it.
    pub(crate) fn begin(
        &self,
        number: u64,
        tool: GrantedTool,
        arguments: usize,
        place: Option<Place>,
    ) -> Result<(), LimitHit> {
        let counted = self.holdings.begin_call(arguments as u64);
        let held = if counted.is_ok() { arguments as u64 } else { 0 };
        let mut notes = self.notes.lock();
        notes.calls_begun += 1;
        notes.largest_arguments = notes.largest_arguments.max(arguments as u64);
        notes.open.insert(number, OpenCall { tool, begun: Instant::now(), held, place });
        notes.concurrent_calls = notes.concurrent_calls.max(notes.open.len() as u64);
        counted
    }

    /// Notes that a call was refused because of a limit, and its error.
    pub(crate) fn refused(&self, message: &str, hit: LimitHit) {
        self.notes.lock().refusal = Some((message.to_owned(), hit));
    }

    /// Calls whose answer the guest does not have yet.
    pub(crate) fn open_calls(&self) -> u64 {
        self.notes.lock().open.len() as u64
    }

    /// Whether the guest has made a call of this number, and does not have its answer yet.
    pub(crate) fn is_open(&self, number: u64) -> bool {
        self.notes.lock().open.contains_key(&number)
    }

    /// The tool of a call whose answer the guest does not have yet.
    pub(crate) fn open_tool(&self, number: u64) -> Option<GrantedTool> {
        self.notes.lock().open.get(&number).map(|call| call.tool.clone())
    }

    /// The calls whose answer the guest does not have yet, in the order in which they were begun.
    pub(crate) fn open_tools(&self) -> Vec<(u64, GrantedTool)> {
        self.notes.lock().open.iter().map(|(number, call)| (*number, call.tool.clone())).collect()
    }

    /// Where the script made the first of the calls whose answer the guest does not have yet.
    pub(crate) fn first_open_place(&self) -> Option<Place> {
        self.notes.lock().open.values().find_map(|call| call.place)
    }

    /// The unanswered calls, each with the record of a call whose answer never came.
    pub(crate) fn unanswered(&self) -> Vec<(u64, CallRecord)> {
        let notes = self.notes.lock();
        notes.open.iter().map(|(number, call)| (*number, unanswered(&call.tool, call.begun))).collect()
    }

    /// Notes the size of a call's result.
    pub(crate) fn received(&self, bytes: usize) {
        let mut notes = self.notes.lock();
        notes.largest_result = notes.largest_result.max(bytes as u64);
    }

    /// Notes how a call ended, when the guest gets its answer. A refused call has no record.
    /// Returns the tool if the call was open.
    pub(crate) fn end(&self, number: u64, record: Option<CallRecord>) -> Option<GrantedTool> {
        let mut notes = self.notes.lock();
        let call = notes.open.remove(&number)?;
        self.holdings.end_call(call.held);
        match record {
            Some(record) => {
                let error = record.error.as_ref().map_or(0, String::len);
                let texts = record.server.len() + record.tool.len() + error;
                self.holdings.keep(NOTE_BYTES.saturating_add(texts as u64));
                notes.calls.push(record);
            }
            None => notes.calls_begun -= 1,
        }
        Some(call.tool)
    }

    /// Notes that the guest gets the result of the call or timer with this number.
    pub(crate) fn handed_over(&self, number: u64) {
        self.notes.lock().order.push(number);
    }

    /// Notes the limit that ends the run. The first one counts.
    pub(crate) fn exceeded(&self, hit: LimitHit) {
        self.notes.lock().hit.get_or_insert(hit);
    }

    /// All notes. No call is open any more.
    pub(crate) fn close(&self) -> Notes {
        std::mem::take(&mut *self.notes.lock())
    }
}

/// Where a text must be cut to fit into this many bytes and lines; `None` if there is no line left.
fn end_of(text: &str, bytes: usize, lines: usize) -> Option<usize> {
    let last_line = lines.checked_sub(1)?;
    let of_lines = text.match_indices('\n').nth(last_line).map_or(text.len(), |(at, _)| at);
    let mut end = of_lines.min(bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    Some(end)
}

fn lines(text: &str) -> usize {
    1 + text.bytes().filter(|byte| *byte == b'\n').count()
}

fn as_size(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journal() -> Journal {
        Journal::new(Holdings::new(u64::MAX, false))
    }

    #[test]
    fn logs_over_the_limit_are_cut_and_the_cut_is_said_once() {
        let journal = journal();
        journal.log(LogLevel::Log, "12345".into(), 8, 9);
        journal.log(LogLevel::Log, "67é90".into(), 8, 9);
        journal.log(LogLevel::Log, "more".into(), 8, 9);
        let notes = journal.close();
        let texts: Vec<&str> = notes.logs.iter().map(|entry| entry.text.as_str()).collect();
        assert_eq!(texts.len(), 3, "{texts:?}");
        assert_eq!(&texts[..2], ["12345", "67"]);
        assert!(texts[2].contains("limit of 8 bytes"), "{texts:?}");
        assert_eq!(notes.log_bytes, 7);
    }

    #[test]
    fn lines_over_the_limit_are_cut_too_wherever_they_stand() {
        for (texts, kept) in [
            (&["a", "b", "c", "d"][..], &["a", "b", "c"][..]),
            (&["a\nb\nc\nd"], &["a\nb\nc"]),
            (&["a", "b\nc\nd", "e"], &["a", "b\nc"]),
            (&["", "", "", ""], &["", "", ""]),
        ] {
            let journal = journal();
            for text in texts {
                journal.log(LogLevel::Log, (*text).to_owned(), 100, 3);
            }
            let notes = journal.close();
            let got: Vec<&str> = notes.logs.iter().map(|entry| entry.text.as_str()).collect();
            assert_eq!(&got[..got.len() - 1], kept, "{texts:?}");
            assert!(got.last().is_some_and(|text| text.contains("or 3 lines")), "{got:?}");
            assert_eq!(notes.log_lines, 3, "{texts:?}");
        }
    }
}
