//! Makes a recording while a run goes on.

use belljar_model::ByteSize;
use minicbor::Encoder;

use crate::{
    Answer, Begin, CallForm, Clock, End, Head, Kept, Question, Start,
    entry::{Encoded, Property},
    format::{HEADER, MAGIC, TRAILER, VERSION, digest, kind},
};

/// The most bytes of an entry in addition to its texts. (The largest has three digests, and item
/// headers of nine bytes.)
const ENTRY_BYTES: usize = 192;
/// The most bytes that a text takes in addition to its own, including an array around it.
const TEXT_BYTES: usize = 32;

/// A growing recording. If it would exceed its budget, it ends. The run goes on, but cannot be
/// replayed.
pub struct Writer {
    /// `None` once the budget was exceeded.
    out: Option<Encoder<Vec<u8>>>,
    max: ByteSize,
    /// The last reading of each clock, and how often it was read. It is written when the clock's
    /// time changes.
    clocks: [Reading; 2],
}

#[derive(Default, Clone, Copy)]
struct Reading {
    milliseconds: u64,
    count: u64,
}

/// A recording would have exceeded its budget.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the recording would have more than {max} bytes, which is its limit")]
pub struct Full {
    /// The budget.
    pub max: u64,
}

impl Writer {
    /// A recording of at most `max` bytes, for a run that begins.
    pub fn new(start: &Start, max: ByteSize) -> Self {
        let Start { engine, source, begun_ms, seed, limits, servers, surroundings } = start;
        let servers = servers.iter().map(|server| (server.name.as_str(), server.globals.as_slice(), server.form));
        let begin = Begin { source, begun_ms: *begun_ms, seed: *seed, servers, surroundings };
        Self::begin(&Head::new(engine, limits), begin, max)
    }

    /// The same, from parts.
    pub fn begin<'a>(
        head: &Head,
        begin: Begin<'a, impl ExactSizeIterator<Item = (&'a str, &'a [String], CallForm)> + Clone>,
        max: ByteSize,
    ) -> Self {
        let text = |text: &str| text.len() + TEXT_BYTES;
        let of_server = |(name, globals, _): (&str, &[String], CallForm)| {
            text(name) + globals.iter().map(|global| text(global)).sum::<usize>()
        };
        let around = begin.source.len() + begin.surroundings.bytes();
        let texts = head.bytes() + around + begin.servers.clone().map(of_server).sum::<usize>();
        // A short run fits into the first allocation.
        let room = usize::try_from(max.as_u64()).unwrap_or(usize::MAX);
        let mut out = Vec::with_capacity((HEADER + texts + 3 * ENTRY_BYTES + TRAILER).min(room));
        out.extend(MAGIC);
        out.extend(VERSION.to_be_bytes());
        let mut writer = Self { out: Some(Encoder::new(out)), max, clocks: Default::default() };
        writer.push(texts, |out| head.encode(begin, out));
        writer
    }

    /// Its size so far, or `None` if it would exceed its budget.
    pub fn bytes(&self) -> Option<u64> {
        self.out.as_ref().map(|out| out.writer().len() as u64)
    }

    /// A clock was read.
    pub fn clock(&mut self, clock: Clock, milliseconds: u64) {
        self.clock_read(clock, milliseconds, 1);
    }

    /// A clock was read this often, with the same value.
    pub fn clock_read(&mut self, clock: Clock, milliseconds: u64, count: u64) {
        let last = &mut self.clocks[clock as usize];
        if last.count > 0 && last.milliseconds == milliseconds {
            last.count = last.count.saturating_add(count);
            return;
        }
        let ended = std::mem::replace(last, Reading { milliseconds, count });
        self.reading(clock, ended);
    }

    /// The script looked into a namespace.
    pub fn directory<'a>(
        &mut self,
        namespace: u32,
        listing: Result<impl ExactSizeIterator<Item = Property<'a>> + Clone, &str>,
    ) {
        let texts = match &listing {
            Ok(properties) => {
                let text = |each: Property<'_>| each.name.len() + each.server.len() + each.tool.len() + ENTRY_BYTES;
                properties.clone().map(text).sum()
            }
            Err(reason) => reason.len(),
        };
        self.push(texts, |out| {
            out.array(3)?.u8(kind::DIRECTORY)?.u32(namespace)?;
            match listing {
                Ok(mut properties) => {
                    out.array(properties.len() as u64)?;
                    properties.try_for_each(|each| each.encode(out))
                }
                Err(reason) => out.str(reason)?.ok(),
            }
        });
    }

    /// The script asked the catalogue.
    pub fn catalog(&mut self, question: Question<'_>, answer: Result<&str, &str>) {
        let asked = match question {
            Question::List(server) => server.map_or(0, str::len),
            Question::Search { query, .. } => query.len(),
            Question::Describe(path) => path.len(),
            Question::Route { server, words } => server.len() + words.map_or(0, str::len),
            Question::Plan(text) | Question::Artifacts(text) | Question::Keep(text) => text.len(),
            Question::Poll { .. } => 0,
        };
        let (is_answered, text) = match answer {
            Ok(text) => (true, text),
            Err(text) => (false, text),
        };
        self.push(asked + text.len(), |out| {
            question.encode(out.array(4)?.u8(kind::CATALOG)?)?;
            out.bool(is_answered)?.str(text)?.ok()
        });
    }

    /// The script began a call. `fuel` is how much had been used by then.
    pub fn call(&mut self, number: u64, server: &str, tool: &str, arguments: &str, fuel: u64) {
        self.push(server.len() + tool.len() + arguments.len(), |out| {
            out.array(6)?.u8(kind::CALL)?.u64(number)?.str(server)?.str(tool)?.str(arguments)?.u64(fuel)?.ok()
        });
    }

    /// The script began a timer.
    pub fn timer(&mut self, number: u64, milliseconds: u32) {
        self.push(0, |out| out.array(3)?.u8(kind::TIMER)?.u64(number)?.u32(milliseconds)?.ok());
    }

    /// The script got the answer to a call.
    pub fn answer(&mut self, number: u64, answer: Answer<'_>, kept: Option<Kept<'_>>) {
        let texts = match answer {
            Answer::Result(text) => text.len(),
            Answer::Fault { message, hint, denial, name, .. } => {
                message.len() + [hint, denial, name].into_iter().flatten().map(str::len).sum::<usize>()
            }
        };
        self.push(texts + error_bytes(kept), |out| {
            answer.encode(out.array(4)?.u8(kind::ANSWER)?.u64(number)?)?;
            Kept::encode(kept, out)
        });
    }

    /// The script got the end of a timer.
    pub fn elapsed(&mut self, number: u64) {
        self.push(0, |out| out.array(2)?.u8(kind::ELAPSED)?.u64(number)?.ok());
    }

    /// The run ended before the script got the answer to a call.
    pub fn unanswered(&mut self, number: u64, kept: Option<Kept<'_>>) {
        self.push(error_bytes(kept), |out| Kept::encode(kept, out.array(3)?.u8(kind::UNANSWERED)?.u64(number)?));
    }

    /// The run ended. Returns its complete recording.
    ///
    /// # Errors
    /// [`Full`], if it would have exceeded its budget.
    pub fn end(mut self, end: End<'_>) -> Result<Vec<u8>, Full> {
        for clock in [Clock::Wall, Clock::Monotonic] {
            self.reading(clock, self.clocks[clock as usize]);
        }
        self.push(0, |out| end.encode(out));
        let mut bytes = self.out.ok_or(Full { max: self.max.as_u64() })?.into_writer();
        let trailer = digest(&bytes);
        bytes.extend(trailer);
        Ok(bytes)
    }

    fn reading(&mut self, clock: Clock, Reading { milliseconds, count }: Reading) {
        if count > 0 {
            self.clock_entry(clock, milliseconds, count);
        }
    }

    /// Writes a reading at its place in another recording.
    pub fn clock_entry(&mut self, clock: Clock, milliseconds: u64, count: u64) {
        let is_monotonic = clock == Clock::Monotonic;
        self.push(0, |out| out.array(4)?.u8(kind::CLOCK)?.bool(is_monotonic)?.u64(milliseconds)?.u64(count)?.ok());
    }

    /// Adds an entry whose texts have this many bytes, if there is room for it.
    fn push(&mut self, texts: usize, entry: impl FnOnce(&mut Encoder<Vec<u8>>) -> Encoded) {
        let Some(out) = &mut self.out else { return };
        let bytes = out.writer().len().saturating_add(texts).saturating_add(ENTRY_BYTES + TRAILER);
        let is_written = bytes as u64 <= self.max.as_u64() && entry(out).is_ok();
        if !is_written {
            self.out = None;
        }
    }
}

impl std::fmt::Debug for Writer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bytes = self.out.as_ref().map(|out| out.writer().len());
        formatter.debug_struct("Writer").field("bytes", &bytes).field("max", &self.max).finish()
    }
}

fn error_bytes(kept: Option<Kept<'_>>) -> usize {
    kept.and_then(|kept| kept.error).map_or(0, str::len)
}
