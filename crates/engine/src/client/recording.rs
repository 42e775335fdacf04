//! Translates a recording from the engine's process into the gateway's terms.
//!
//! The process knows a tool only as an index into its granted tools, and the results of calls are
//! known here. So its recording is checked like any foreign recording, and written again: with the
//! tools' names, with the calls as they were made from here, and with digests of the outcome as it
//! was received.

use std::{collections::BTreeMap, sync::Arc};

use belljar_model::{ByteSize, CallRecord, Limits, Outcome, Recorded};
use belljar_recording::{Digests, End, Entry, Kept, Property, Recording, Server, Writer};
use belljar_sandbox::{Directory, Function, GrantedTool, Namespace, Program};

/// What is known here about a run that the process recorded.
pub(super) struct Known<'a> {
    pub(super) program: &'a Program,
    pub(super) limits: &'a Limits,
    pub(super) namespaces: &'a [Namespace],
    pub(super) functions: &'a [Function],
    pub(super) directories: &'a [Option<Arc<Directory>>],
    /// The calls of the outcome, with their numbers, in the outcome's order.
    pub(super) calls: &'a [(u64, CallRecord)],
    pub(super) outcome: &'a Outcome,
}

/// Why a recording does not belong to the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the process that ran the script recorded something else ({0})")]
struct Foreign(&'static str);

impl Known<'_> {
    /// The recording of this run, based on what the process recorded.
    pub(super) fn recording(&self, bytes: Vec<u8>, max: ByteSize) -> Recorded {
        let recording = match Recording::read(bytes) {
            Ok(recording) => recording,
            Err(error) => return Recorded::NotReplayable { reason: error.to_string() },
        };
        match self.rewritten(&recording, max) {
            Ok(recorded) => recorded,
            Err(foreign) => {
                tracing::warn!("{foreign}");
                Recorded::NotReplayable { reason: foreign.to_string() }
            }
        }
    }

    fn rewritten(&self, recording: &Recording, max: ByteSize) -> Result<Recorded, Foreign> {
        let start = recording.start();
        if start.source != self.program.source || self.program.seed.is_some_and(|seed| seed != start.seed) {
            return Err(Foreign("the script or its seed"));
        }
        if start.limits != *self.limits || start.servers != self.namespaces.iter().map(Server::from).collect::<Vec<_>>()
        {
            return Err(Foreign("the limits or the servers"));
        }
        if start.surroundings != self.program.surroundings(self.functions) {
            return Err(Foreign("what stood around the script"));
        }
        if self.program.component.is_some_and(|component| component != start.engine.component) {
            return Err(Foreign("another component"));
        }
        let calls: BTreeMap<u64, &CallRecord> = self.calls.iter().map(|(number, call)| (*number, call)).collect();
        let kept = |number: &u64| calls.get(number).map(|call| kept_of(call));
        let mut writer = Writer::new(start, max);
        let mut unanswered = Vec::new();
        for entry in recording.entries() {
            match entry {
                Entry::Clock { clock, milliseconds, count } => writer.clock_read(clock, milliseconds, count),
                Entry::Directory { namespace, listing } => match (listing, self.directory(namespace)) {
                    (Ok(_), Some(directory)) => {
                        let properties: Vec<Property<'_>> = directory.properties().map(property).collect();
                        writer.directory(namespace, Ok(properties.into_iter()));
                    }
                    (Err(reason), None) => writer.directory(namespace, Err::<std::vec::IntoIter<_>, _>(reason)),
                    _ => return Err(Foreign("a directory")),
                },
                Entry::Catalog { question, answer } => writer.catalog(question, answer),
                Entry::Call { number, server, tool, arguments, fuel } => {
                    let tool = self.tool(server, tool).ok_or(Foreign("a tool"))?;
                    writer.call(number, tool.path.server(), tool.path.tool(), arguments, fuel);
                }
                Entry::Timer { number, milliseconds } => writer.timer(number, milliseconds),
                Entry::Answer { number, answer, .. } => writer.answer(number, answer, kept(&number)),
                Entry::Elapsed { number } => writer.elapsed(number),
                Entry::Unanswered { number, .. } => unanswered.push(number),
                Entry::End(End { cause, .. }) => {
                    // First the calls of the outcome, in its order; then those that were never
                    // made.
                    let (made, not_made): (Vec<u64>, Vec<u64>) =
                        unanswered.iter().partition(|number| calls.contains_key(number));
                    let in_order = self.calls.iter().map(|(number, _)| *number).filter(|number| made.contains(number));
                    in_order.for_each(|number| writer.unanswered(number, kept(&number)));
                    not_made.iter().for_each(|number| writer.unanswered(*number, None));
                    let Outcome { result, logs, calls, usage, .. } = self.outcome;
                    let end =
                        End { cause, fuel: usage.fuel.unwrap_or_default(), digests: Digests::of(result, logs, calls) };
                    return Ok(match writer.end(end) {
                        Ok(bytes) => Recorded::Whole(bytes),
                        Err(full) => Recorded::NotReplayable { reason: full.to_string() },
                    });
                }
            }
        }
        Err(Foreign("no end"))
    }

    fn directory(&self, namespace: u32) -> Option<&Arc<Directory>> {
        self.directories.get(namespace as usize)?.as_ref()
    }

    /// The tool at an index of the process.
    fn tool(&self, namespace: &str, entry: &str) -> Option<&GrantedTool> {
        self.directory(namespace.parse().ok()?)?.tool(entry.parse().ok()?)
    }
}

fn property<'a>((name, tool): (&'a str, &'a GrantedTool)) -> Property<'a> {
    Property { name, server: tool.path.server(), tool: tool.path.tool(), effect: tool.effect }
}

fn kept_of(call: &CallRecord) -> Kept<'_> {
    Kept { ok: call.ok, ms: call.ms, error: call.error.as_deref() }
}

#[cfg(test)]
mod tests {
    use belljar_model::{Effect, JsonText, RunError, ToolPath, Usage};
    use belljar_recording::{Answer, CallForm, Cause, EngineId, Start, Surroundings};

    use super::*;

    const MAX: ByteSize = ByteSize::mib(1);

    /// The process's recording of a run of one call, of the tool at an index.
    fn said(source: &str, entry: &str) -> Vec<u8> {
        let start = Start {
            engine: EngineId { component: [1; 32], wasmtime: "1".to_owned() },
            source: source.to_owned(),
            begun_ms: 1,
            seed: [2; 32],
            limits: Limits::default(),
            servers: vec![Server { name: "a".to_owned(), globals: vec!["a".to_owned()], form: CallForm::default() }],
            surroundings: Surroundings::default(),
        };
        let mut writer = Writer::new(&start, MAX);
        let place = Property { name: "read", server: "0", tool: "0", effect: Effect::External };
        writer.directory(0, Ok([place].into_iter()));
        writer.call(0, "0", entry, "{}", 5);
        writer.answer(0, Answer::Result("1"), Some(Kept { ok: false, ms: 9e9, error: Some("a lie") }));
        let digests = Digests { result: [0; 32], logs: [0; 32], calls: [0; 32] };
        writer.end(End { cause: Cause::Script, fuel: 0, digests }).expect("there is room")
    }

    fn recorded(bytes: Vec<u8>) -> Recorded {
        let tool = GrantedTool { path: ToolPath::new("a", "read it"), effect: Effect::ReadOnly };
        let directory = Directory::new([("read".to_owned(), tool)]);
        let (server, tool) = ("a".to_owned(), "read it".to_owned());
        let call = CallRecord {
            server,
            tool,
            effect: Effect::ReadOnly,
            ok: true,
            ms: 2.0,
            error: None,
            verdict: None,
            rule: None,
        };
        let result: Result<JsonText, RunError> = Ok(JsonText::null());
        let usage = Usage { fuel: Some(7), ..Usage::default() };
        let refused = Outcome::refused(RunError::new(belljar_model::ErrorKind::Internal, ""));
        let outcome = Outcome { result, calls: vec![call.clone()], usage, order: vec![0], ..refused };
        let known = Known {
            program: &Program::new("x"),
            limits: &Limits::default(),
            namespaces: &[Namespace::new("a", vec!["a".to_owned()])],
            functions: &[],
            directories: &[Some(Arc::new(directory))],
            calls: &[(0, call)],
            outcome: &outcome,
        };
        known.recording(bytes, MAX)
    }

    #[test]
    fn names_records_and_digests_are_those_that_are_known_here() {
        let Recorded::Whole(bytes) = recorded(said("x", "0")) else { panic!("it is the run's") };
        let recording = Recording::read(bytes).expect("a recording");
        let entries: Vec<Entry<'_>> = recording.entries().collect();
        let Entry::Directory { listing: Ok(listing), .. } = entries[0] else { panic!("{entries:?}") };
        let property = listing.properties().next().expect("a tool");
        assert_eq!((property.server, property.tool, property.effect), ("a", "read it", Effect::ReadOnly));
        assert!(matches!(entries[1], Entry::Call { server: "a", tool: "read it", fuel: 5, .. }), "{entries:?}");
        let Entry::Answer { kept, .. } = entries[2] else { panic!("{entries:?}") };
        assert_eq!(kept, Some(Kept { ok: true, ms: 2.0, error: None }));
        let end = recording.end().expect("an end");
        assert_eq!(end.fuel, 7);
        assert_ne!(end.digests.calls, [0; 32]);
    }

    #[test]
    fn a_recording_of_something_else_is_not_taken() {
        for (bytes, why) in [
            (said("y", "0"), "the script or its seed"),
            (said("x", "1"), "a tool"),
            (said("x", "fs"), "a tool"),
            (b"nothing".to_vec(), "not a recording"),
        ] {
            let Recorded::NotReplayable { reason } = recorded(bytes) else { panic!("{why}") };
            assert!(reason.contains(why), "{reason}");
        }
    }
}
