//! The substitute for the real world: a recording, either read in order or searched for what the
//! script asks for.

use belljar_model::ToolPath;
use belljar_recording::{Clock, Question};

use crate::{
    Directory,
    rehearsal::Rehearsal,
    replay::{CallEnd, HandOver, Replay, Stop},
};

/// A recording, in one of two uses.
pub(crate) enum StandIn {
    /// The same script, which must behave as recorded.
    Replay(Replay),
    /// Another script, whose questions are answered as far as the recording has answers.
    Rehearsal(Box<Rehearsal>),
}

impl StandIn {
    pub(crate) fn clock(&mut self, clock: Clock) -> Result<u64, Stop> {
        match self {
            Self::Replay(replay) => replay.clock(clock),
            Self::Rehearsal(rehearsal) => Ok(rehearsal.clock(clock)),
        }
    }

    pub(crate) fn directory(&mut self, namespace: u32) -> Result<Result<Directory, String>, Stop> {
        match self {
            Self::Replay(replay) => replay.directory(namespace),
            Self::Rehearsal(rehearsal) => Ok(rehearsal.directory(namespace)),
        }
    }

    pub(crate) fn catalog(&mut self, question: Question<'_>) -> Result<Result<String, String>, Stop> {
        match self {
            Self::Replay(replay) => replay.catalog(question),
            Self::Rehearsal(rehearsal) => Ok(rehearsal.catalog(question)),
        }
    }

    pub(crate) fn call(&mut self, number: u64, path: &ToolPath, arguments: &str, fuel: u64) -> Result<(), Stop> {
        match self {
            Self::Replay(replay) => replay.call(number, path, arguments, fuel),
            Self::Rehearsal(rehearsal) => {
                rehearsal.call(number, path, arguments);
                Ok(())
            }
        }
    }

    pub(crate) fn timer(&mut self, number: u64, milliseconds: u32) -> Result<(), Stop> {
        match self {
            Self::Replay(replay) => replay.timer(number, milliseconds),
            Self::Rehearsal(rehearsal) => {
                rehearsal.timer(number, milliseconds);
                Ok(())
            }
        }
    }

    pub(crate) fn cancel_timer(&mut self, number: u64) {
        match self {
            // The end of a timer that was cancelled is not in the recording.
            Self::Replay(_) => {}
            Self::Rehearsal(rehearsal) => rehearsal.cancel_timer(number),
        }
    }

    pub(crate) fn next(&mut self) -> Result<HandOver, Stop> {
        match self {
            Self::Replay(replay) => replay.next_completion(),
            Self::Rehearsal(rehearsal) => rehearsal.next(),
        }
    }

    /// The next completion is not open in the run.
    pub(crate) fn not_open(&mut self, number: u64) -> Stop {
        match self {
            Self::Replay(replay) => replay.not_open(number),
            Self::Rehearsal(_) => Stop,
        }
    }

    /// The calls whose answers the script never got, as the outcome has them.
    pub(crate) fn unanswered(&self) -> Vec<(u64, Option<CallEnd>)> {
        match self {
            Self::Replay(replay) => replay.unanswered(),
            Self::Rehearsal(_) => Vec::new(),
        }
    }
}
