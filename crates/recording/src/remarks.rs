//! What belljar itself added to an outcome after the script had ended: the script never saw it, and
//! a replay cannot reproduce it.

use belljar_model::{ByteSize, ErrorKind, LogEntry, LogLevel, Outcome, RunError};
use minicbor::{Decoder, Encoder, decode};

use crate::{
    Full, ReadError, Recording,
    entry::{Encoded, known, length, optional_text, text_or_null},
    format::{TRAILER, digest, kind},
};

/// The most lines of the log that may be added.
const MAX_LINES: u64 = 1000;

const LEVELS: [LogLevel; 5] = [LogLevel::Debug, LogLevel::Log, LogLevel::Info, LogLevel::Warn, LogLevel::Error];

/// What was added to an outcome.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Remarks {
    /// Lines after the script's logs.
    pub logs: Vec<LogEntry>,
    /// The hint that replaces the error's.
    pub hint: Option<String>,
    /// If the run was ended because it left too many answers of the host's program untaken: the
    /// message of an error of the kind `calls`, which replaces the error of a cancelled run.
    pub calls: Option<String>,
}

impl Remarks {
    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.logs.is_empty() && self.hint.is_none() && self.calls.is_none()
    }

    /// Adds the remarks to an outcome that does not have them yet.
    pub fn add_to(&self, outcome: &mut Outcome) {
        outcome.logs.extend(self.logs.iter().cloned());
        if let (Err(error), Some(message)) = (&mut outcome.result, &self.calls)
            && error.kind == ErrorKind::Cancelled
        {
            *error = RunError::new(ErrorKind::Calls, message.clone());
        }
        if let (Err(error), Some(hint)) = (&mut outcome.result, &self.hint) {
            error.hint = Some(hint.clone());
        }
    }

    /// The recording with these remarks at its end.
    ///
    /// # Errors
    /// [`RemarkError`], if it is not a recording, or would have more than `max` bytes.
    pub fn behind(&self, recording: Vec<u8>, max: ByteSize) -> Result<Vec<u8>, RemarkError> {
        let recording = Recording::read(recording)?;
        let mut out = Encoder::new(recording.without_remarks().to_vec());
        if self.encode(&mut out).is_err() {
            return Err(Full { max: max.as_u64() }.into());
        }
        let mut bytes = out.into_writer();
        if (bytes.len() + TRAILER) as u64 > max.as_u64() {
            return Err(Full { max: max.as_u64() }.into());
        }
        let trailer = digest(&bytes);
        bytes.extend(trailer);
        Ok(bytes)
    }

    fn encode(&self, out: &mut Encoder<Vec<u8>>) -> Encoded {
        // The fourth item, which older versions do not know, is written only if needed.
        out.array(if self.calls.is_some() { 4 } else { 3 })?.u8(kind::REMARKS)?.array(self.logs.len() as u64)?;
        for LogEntry { level, text } in &self.logs {
            out.array(2)?.str(level.as_str())?.str(text)?;
        }
        text_or_null(out, self.hint.as_deref())?;
        match &self.calls {
            Some(message) => out.str(message)?.ok(),
            None => Ok(()),
        }
    }

    pub(crate) fn decode(input: &mut Decoder<'_>) -> Result<Self, decode::Error> {
        let items = length(input)?;
        if !(3..=4).contains(&items) {
            return Err(decode::Error::message(format!("remarks have {items} items, not 3 or 4")));
        }
        if input.u8()? != kind::REMARKS {
            return Err(decode::Error::message("it is not a remark"));
        }
        let lines = length(input)?;
        if lines > MAX_LINES {
            return Err(decode::Error::message(format!("{lines} remarks, of at most {MAX_LINES}")));
        }
        let mut logs = Vec::new();
        for _ in 0..lines {
            known(input, 2)?;
            let name = input.str()?;
            let level = level_of(name).ok_or_else(|| decode::Error::message("a remark of an unknown level"))?;
            logs.push(LogEntry { level, text: input.str()?.to_owned() });
        }
        let hint = optional_text(input)?.map(str::to_owned);
        let calls = if items == 4 { Some(input.str()?.to_owned()) } else { None };
        Ok(Self { logs, hint, calls })
    }
}

/// The level of this name.
pub(crate) fn level_of(name: &str) -> Option<LogLevel> {
    LEVELS.into_iter().find(|level| level.as_str() == name)
}

/// Why remarks cannot be added to a recording.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RemarkError {
    /// It is not a recording.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It would be too large.
    #[error(transparent)]
    Full(#[from] Full),
}
