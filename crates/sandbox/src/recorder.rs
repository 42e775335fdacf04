//! Records what a run takes in, if a recording is wanted.

use std::sync::Arc;

use belljar_model::{CallRecord, JsonText, Limits, Outcome, Recorded};
use belljar_recording::{Answer, Cause, Clock, Digests, End, EngineId, Head, Kept, Property, Question, Writer};
use parking_lot::Mutex;

use crate::{CallError, Directory, GrantedTool};

/// The recording of a run. If none is wanted, nothing is written.
pub struct Recorder(Option<Writer>);

/// The head of recordings with the limits of the last one, since consecutive runs usually have the
/// same.
#[derive(Default)]
pub(crate) struct LastHead(Mutex<Option<(Limits, Arc<Head>)>>);

impl LastHead {
    /// The head of a recording by this engine with these limits.
    pub(crate) fn of(&self, engine: &EngineId, limits: &Limits) -> Arc<Head> {
        let mut last = self.0.lock();
        match &*last {
            Some((found, head)) if found == limits => head.clone(),
            _ => last.insert((limits.clone(), Arc::new(Head::new(engine, limits)))).1.clone(),
        }
    }
}

impl Recorder {
    /// A recorder that records everything, if there is a writer.
    pub fn new(writer: Option<Writer>) -> Self {
        Self(writer)
    }

    /// Whether anything is recorded.
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Its size, or `None` if no recording is wanted or it would be too large.
    pub fn bytes(&self) -> Option<u64> {
        self.0.as_ref().and_then(Writer::bytes)
    }

    /// Records a reading of a clock.
    pub fn clock(&mut self, clock: Clock, milliseconds: u64) {
        if let Some(writer) = &mut self.0 {
            writer.clock(clock, milliseconds);
        }
    }

    /// Records what the script found in a namespace.
    pub fn directory(&mut self, namespace: u32, directory: Result<&Directory, &str>) {
        if let Some(writer) = &mut self.0 {
            let listing = directory.map(|directory| {
                let properties: Vec<Property<'_>> = directory.properties().map(property).collect();
                properties.into_iter()
            });
            writer.directory(namespace, listing);
        }
    }

    /// Records an answer of the catalogue to the script.
    pub fn catalog(&mut self, question: Question<'_>, answer: Result<&str, &str>) {
        if let Some(writer) = &mut self.0 {
            writer.catalog(question, answer);
        }
    }

    /// Records a call that the script began, with the fuel used so far.
    pub fn call(&mut self, number: u64, tool: &GrantedTool, arguments: &str, fuel: u64) {
        if let Some(writer) = &mut self.0 {
            writer.call(number, tool.path.server(), tool.path.tool(), arguments, fuel);
        }
    }

    /// Records a timer that the script began.
    pub fn timer(&mut self, number: u64, milliseconds: u32) {
        if let Some(writer) = &mut self.0 {
            writer.timer(number, milliseconds);
        }
    }

    /// Records an answer that the script got.
    pub fn answer(&mut self, number: u64, result: &Result<JsonText, CallError>, record: Option<&CallRecord>) {
        if let Some(writer) = &mut self.0 {
            let answer = match result {
                Ok(text) => Answer::Result(text.as_str()),
                Err(CallError { message, hint, is_refusal, denial, name }) => {
                    let [hint, denial, name] = [hint, denial, name].map(Option::as_deref);
                    Answer::Fault { message, hint, is_refusal: *is_refusal, denial, name }
                }
            };
            writer.answer(number, answer, record.map(kept));
        }
    }

    /// Records the end of a timer, when the script gets it.
    pub fn elapsed(&mut self, number: u64) {
        if let Some(writer) = &mut self.0 {
            writer.elapsed(number);
        }
    }

    /// Records a call whose answer the script never got.
    pub fn unanswered(&mut self, number: u64, record: Option<&CallRecord>) {
        if let Some(writer) = &mut self.0 {
            writer.unanswered(number, record.map(kept));
        }
    }

    /// Ends the recording of a run, and returns it.
    pub fn end(&mut self, cause: Cause<'_>, outcome: &Outcome) -> Option<Recorded> {
        let writer = self.0.take()?;
        let digests = Digests::of(&outcome.result, &outcome.logs, &outcome.calls);
        let fuel = outcome.usage.fuel.unwrap_or_default();
        Some(match writer.end(End { cause, fuel, digests }) {
            Ok(bytes) => Recorded::Whole(bytes),
            Err(full) => Recorded::NotReplayable { reason: full.to_string() },
        })
    }
}

fn property<'a>((name, tool): (&'a str, &'a GrantedTool)) -> Property<'a> {
    Property { name, server: tool.path.server(), tool: tool.path.tool(), effect: tool.effect }
}

fn kept(record: &CallRecord) -> Kept<'_> {
    Kept { ok: record.ok, ms: record.ms, error: record.error.as_deref() }
}
