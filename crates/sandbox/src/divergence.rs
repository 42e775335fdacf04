//! Why a replay has no outcome, and the checks against the recording: of its limits before the
//! replay, of its outcome afterwards.
//!
//! It does not need wasmtime, and is shared with the gateway's side of an engine in another
//! process.

use std::fmt;

use belljar_model::{LimitError, LimitHit, Limits, LimitsPatch, Outcome, RunError};
use belljar_recording::{Answer, Digests, Entry, Recording};

/// The most tools that all directories of a recording may have together. Each takes more memory
/// here than in the recording.
const MAX_PROPERTIES: u64 = 100_000;

/// Why a replay has no outcome.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The replay did not begin, or belljar failed.
    #[error("{0}")]
    Run(RunError),
    /// The run was recorded with a limit that is above the allowed one.
    #[error("the run was recorded with another limit: {0}; raise limits.{name}", name = .0.name)]
    Limits(#[from] LimitError),
    /// The replay takes longer than is allowed here.
    #[error("the replay met the limit '{name}' of {max} {unit}: raise limits.{name}", name = .0.name, max = .0.max, unit = .0.name.unit())]
    Time(LimitHit),
    /// The replay differs from its recording.
    #[error("the replay is not what was recorded: {0}")]
    Diverged(Divergence),
}

/// The first difference between a replay and its recording.
#[derive(Debug, Clone)]
pub struct Divergence {
    text: String,
    outcome: Option<Box<Outcome>>,
}

impl Divergence {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), outcome: None }
    }

    /// A difference that was found elsewhere.
    pub(crate) fn found(text: String, outcome: Option<Outcome>) -> Self {
        Self { text, outcome: outcome.map(Box::new) }
    }

    /// The same, with the recorded remarks added to its outcome.
    pub(crate) fn with_remarks(self, recording: &Recording) -> Self {
        Self { outcome: self.outcome.map(|outcome| Box::new(with_remarks(recording, *outcome))), ..self }
    }

    /// How the replay ended, if it made the recorded calls and ended differently. The recording has
    /// only the digests of an outcome; a caller who has the outcome itself can say more.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_deref()
    }
}

impl fmt::Display for Divergence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

/// The limits of a recorded run, if they are within the caller's, and the recording is within them.
pub(crate) fn limits(recording: &Recording, ceiling: &Limits) -> Result<Limits, ReplayError> {
    let recorded = &recording.start().limits;
    let patch = LimitsPatch { timeout: None, compute: None, wait: None, call: None, ..LimitsPatch::from(recorded) };
    patch.within(ceiling)?;
    within_its_limits(recording)?;
    Ok(recorded.clone())
}

/// The outcome with the recorded remarks added to it.
pub(crate) fn with_remarks(recording: &Recording, mut outcome: Outcome) -> Outcome {
    recording.remarks().unwrap_or_default().add_to(&mut outcome);
    outcome
}

/// The part of an outcome that differs from the recorded one.
pub(crate) fn other_part(outcome: &Outcome, recorded: &Digests) -> Option<&'static str> {
    let found = Digests::of(&outcome.result, &outcome.logs, &outcome.calls);
    let parts = [
        ("result", found.result == recorded.result),
        ("logs", found.logs == recorded.logs),
        ("calls", found.calls == recorded.calls),
    ];
    parts.into_iter().find_map(|(part, is_equal)| (!is_equal).then_some(part))
}

/// Checks that a recording contains no more than its own limits allow, so that the caller's limits
/// bound it too.
fn within_its_limits(recording: &Recording) -> Result<(), ReplayError> {
    let limits = &recording.start().limits;
    let (mut calls, mut largest, mut properties) = (0_u64, 0, 0_u64);
    // The source of a component's run contains the lists of its servers, to which no limit of a run
    // applies.
    let source = if recording.start().surroundings.component { "" } else { &*recording.start().source };
    for entry in recording.entries() {
        match entry {
            Entry::Call { .. } => calls += 1,
            Entry::Answer { answer: Answer::Result(text), .. } => largest = text.len().max(largest),
            Entry::Directory { listing: Ok(listing), .. } => properties = properties.saturating_add(listing.count()),
            _ => {}
        }
    }
    let bounds = [
        (source.len() as u64, limits.max_source.as_u64(), "bytes of source"),
        (calls, limits.max_calls, "calls"),
        (largest as u64, limits.max_result.as_u64(), "bytes in an answer"),
        (properties, MAX_PROPERTIES, "tools in its directories"),
    ];
    match bounds.into_iter().find(|(found, max, _)| found > max) {
        None => Ok(()),
        Some((found, max, what)) => {
            let text = format!("the recording has {found} {what}, and no run that it can be of has more than {max}");
            Err(ReplayError::Diverged(Divergence::new(text)))
        }
    }
}
