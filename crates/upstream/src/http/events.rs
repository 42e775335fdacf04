//! A stream of server-sent events, read piece by piece and never beyond a bound.

use std::{collections::VecDeque, time::Duration};

use rmcp::model::RequestId;

use crate::framing::scan::IdScan;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    /// It came whole.
    Whole {
        /// Its name; `message` by default.
        name: String,
        /// Its data.
        data: Vec<u8>,
    },
    /// Its data was too long and was discarded. If it answered a request, this is the request's id.
    TooLong(Option<RequestId>),
}

/// The size of a line other than `data`: names, ids and numbers.
const FIELD_BYTES: usize = 4 * 1024;
/// The longest reconnection pause that a server may ask for.
const LONGEST_RETRY: Duration = Duration::from_secs(30);

/// The part of a line that shows whether it is data.
const DATA: &[u8] = b"data: ";

/// Reads the events of one stream.
#[derive(Debug)]
pub(crate) struct Events {
    limit: usize,
    /// The line so far, unless it is data.
    line: Vec<u8>,
    is_data_line: bool,
    after_return: bool,
    name: String,
    data: Vec<u8>,
    has_data: bool,
    overflow: Option<IdScan>,
    ready: VecDeque<Event>,
    last_id: Option<String>,
    retry: Option<Duration>,
}

impl Events {
    /// Reads events with at most `limit` bytes of data.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            is_data_line: false,
            after_return: false,
            name: String::new(),
            data: Vec::new(),
            has_data: false,
            overflow: None,
            ready: VecDeque::new(),
            last_id: None,
            retry: None,
        }
    }

    /// The id of the last event that had one, from which the stream can be resumed.
    pub(crate) fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// The server's pause before the stream is resumed.
    pub(crate) fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// The next event that has come whole.
    pub(crate) fn next(&mut self) -> Option<Event> {
        self.ready.pop_front()
    }

    /// Reads the next piece.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (piece, after) = rest.split_at(end);
            let is_return = after.first() == Some(&b'\r');
            // The second half of a line break of two characters.
            let is_second_half = piece.is_empty() && self.after_return && !is_return;
            self.after_return = is_return;
            if !is_second_half {
                self.add(piece);
                self.end_line();
            }
            rest = after.get(1..).unwrap_or_default();
        }
        if !rest.is_empty() {
            self.after_return = false;
            self.add(rest);
        }
    }

    /// Adds to the line. Data is stored at once; of anything else the beginning suffices.
    fn add(&mut self, mut piece: &[u8]) {
        if !self.is_data_line && self.line.len() < DATA.len() {
            let (head, rest) = piece.split_at((DATA.len() - self.line.len()).min(piece.len()));
            self.line.extend_from_slice(head);
            piece = rest;
            if self.line.len() == DATA.len() && self.line.starts_with(b"data:") {
                self.is_data_line = true;
                let line = std::mem::take(&mut self.line);
                self.begin_data();
                self.push_data(value_of(&line).1);
            }
        }
        if self.is_data_line {
            self.push_data(piece);
        } else {
            let room = FIELD_BYTES.saturating_sub(self.line.len());
            self.line.extend(piece.iter().take(room));
        }
    }

    /// Several lines of data are one text with line breaks.
    fn begin_data(&mut self) {
        if std::mem::replace(&mut self.has_data, true) {
            self.push_data(b"\n");
        }
    }

    fn push_data(&mut self, data: &[u8]) {
        if let Some(scan) = &mut self.overflow {
            scan.feed(data);
        } else if self.data.len() + data.len() > self.limit {
            let mut scan = IdScan::default();
            scan.feed(&self.data);
            scan.feed(data);
            self.overflow = Some(scan);
            self.data = Vec::new();
        } else {
            self.data.extend_from_slice(data);
        }
    }

    fn end_line(&mut self) {
        if std::mem::take(&mut self.is_data_line) {
            return;
        }
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            self.dispatch();
            return;
        }
        let (field, value) = value_of(&line);
        match field {
            b"data" => {
                self.begin_data();
                self.push_data(value);
            }
            b"event" => self.name = String::from_utf8_lossy(value).into_owned(),
            b"id" => {
                let is_visible = |byte: &u8| byte.is_ascii_graphic() || *byte == b' ';
                // It is sent back in a header.
                self.last_id =
                    std::str::from_utf8(value).ok().filter(|_| value.iter().all(is_visible)).map(str::to_owned);
            }
            b"retry" => {
                let milliseconds = std::str::from_utf8(value).ok().and_then(|value| value.parse().ok());
                self.retry = milliseconds.map(Duration::from_millis).map(|retry| retry.min(LONGEST_RETRY));
            }
            _ => {}
        }
    }

    fn dispatch(&mut self) {
        let name = std::mem::take(&mut self.name);
        let data = std::mem::take(&mut self.data);
        let has_data = std::mem::take(&mut self.has_data);
        if let Some(scan) = self.overflow.take() {
            self.ready.push_back(Event::TooLong(scan.answered()));
        } else if has_data {
            let name = if name.is_empty() { "message".to_owned() } else { name };
            self.ready.push_back(Event::Whole { name, data });
        }
    }
}

/// A line's field and value.
fn value_of(line: &[u8]) -> (&[u8], &[u8]) {
    match line.iter().position(|byte| *byte == b':') {
        Some(colon) => {
            let (field, value) = line.split_at(colon);
            let value = value.strip_prefix(b":").unwrap_or(value);
            (field, value.strip_prefix(b" ").unwrap_or(value))
        }
        None => (line, b""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(data: &str) -> Event {
        Event::Whole { name: "message".to_owned(), data: data.as_bytes().to_vec() }
    }

    /// The events of a text that comes in pieces of every size.
    fn reading(text: &str, limit: usize) -> Vec<Event> {
        let whole = reading_in_pieces(text, limit, text.len().max(1));
        for size in [1, 2, 3, 7] {
            assert_eq!(reading_in_pieces(text, limit, size), whole, "in pieces of {size}");
        }
        whole
    }

    fn reading_in_pieces(text: &str, limit: usize, size: usize) -> Vec<Event> {
        let mut events = Events::new(limit);
        for piece in text.as_bytes().chunks(size) {
            events.feed(piece);
        }
        std::iter::from_fn(|| events.next()).collect()
    }

    #[test]
    fn events_are_read_whatever_the_line_breaks_and_the_pieces() {
        for line_break in ["\n", "\r\n", "\r"] {
            let text = ": comment\nevent: endpoint\ndata: /messages?id=1\n\ndata:{\"a\":\ndata: 1}\nid: 7\nretry: 500\n\nid: 8\n\ndata\n\n: end\ndata: unfinished";
            let events = reading(&text.replace('\n', line_break), 100);
            let endpoint = Event::Whole { name: "endpoint".to_owned(), data: b"/messages?id=1".to_vec() };
            assert_eq!(events, [endpoint, message("{\"a\":\n1}"), message("")], "{line_break:?}");
        }
    }

    #[test]
    fn where_to_take_the_stream_up_again_is_kept() {
        let mut events = Events::new(100);
        events.feed(b"id: 7\nretry: 500\ndata: x\n\nid: 8\n\n");
        assert_eq!((events.last_id(), events.retry()), (Some("8"), Some(Duration::from_millis(500))));
        events.feed(b"id: a\x01b\nretry: 999999999\n\n");
        assert_eq!((events.last_id(), events.retry()), (None, Some(LONGEST_RETRY)));
    }

    #[test]
    fn data_beyond_the_limit_is_dropped_and_its_request_is_known() {
        let long = "x".repeat(50_000);
        let seven = Event::TooLong(Some(RequestId::Number(7)));
        for text in [
            format!("data: {{\"id\":7,\"result\":\"{long}\"}}\n\ndata: next\n\n"),
            format!("data: {{\"result\":\"{long}\",\ndata: \"id\":7}}\n\ndata: next\n\n"),
        ] {
            assert_eq!(reading(&text, 1_000), [seven.clone(), message("next")]);
        }
    }

    #[test]
    fn endless_comments_cost_nothing() {
        let mut events = Events::new(100);
        for _ in 0..1_000 {
            events.feed(&[b':'; 1_000]);
        }
        assert!(events.line.capacity() < 64 * 1024, "{}", events.line.capacity());
        events.feed(b"\ndata: x\n\n");
        assert_eq!(events.next(), Some(message("x")));
    }
}
