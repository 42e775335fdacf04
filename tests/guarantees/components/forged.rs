//! A recording of a component's run may come from anywhere. Whatever it says, its replay ends in an
//! error that says what is wrong with it, in this process and through the command.

use belljar_model::{ByteSize, Limits};
use belljar_recording::{Answer, Entry, Property, Question, Start, Writer};
use belljar_sandbox::{Recording, ReplayError};

use super::{
    recordings::{recorded_with, recording, replayed},
    repeats::various,
};
use crate::support::{Terminal, sandbox};

const MAX: ByteSize = ByteSize::mib(4);
const DEMO: &str = "[servers.demo]\nbuiltin = \"demo\"\n";

/// A change of a recording.
struct Forgery {
    what: &'static str,
    /// What the error says.
    says: &'static str,
    start: fn(&mut Start),
    /// Changes each entry except directories and the end; `None` leaves it out.
    entry: for<'a> fn(Entry<'a>) -> Option<Entry<'a>>,
    directory: Listed,
}

/// What happens to directories.
enum Listed {
    Kept,
    LeftOut,
    Refused,
    At(u32),
    OfServer(&'static str),
}

impl Forgery {
    fn new(what: &'static str, says: &'static str) -> Self {
        Self { what, says, start: |_| (), entry: |entry| Some(entry), directory: Listed::Kept }
    }

    fn start(self, start: fn(&mut Start)) -> Self {
        Self { start, ..self }
    }

    fn entry(self, entry: for<'a> fn(Entry<'a>) -> Option<Entry<'a>>) -> Self {
        Self { entry, ..self }
    }

    fn directory(self, directory: Listed) -> Self {
        Self { directory, ..self }
    }

    fn of(&self, recording: &Recording) -> Vec<u8> {
        let mut start = recording.start().clone();
        (self.start)(&mut start);
        let mut writer = Writer::new(&start, MAX);
        for entry in recording.entries() {
            if let Entry::Directory { namespace, listing } = entry {
                let properties: Vec<Property<'_>> = listing.unwrap().properties().collect();
                match self.directory {
                    Listed::Kept => writer.directory(namespace, Ok(properties.into_iter())),
                    Listed::LeftOut => {}
                    Listed::Refused => writer.directory(namespace, Err::<std::vec::IntoIter<_>, _>("it is away")),
                    Listed::At(other) => writer.directory(other, Ok(properties.into_iter())),
                    Listed::OfServer(server) => {
                        let moved = |property| Property { server, ..property };
                        writer.directory(namespace, Ok(properties.into_iter().map(moved)));
                    }
                }
                continue;
            }
            match (self.entry)(entry) {
                Some(Entry::Clock { clock, milliseconds, count }) => writer.clock_entry(clock, milliseconds, count),
                Some(Entry::Catalog { question, answer }) => writer.catalog(question, answer),
                Some(Entry::Call { number, server, tool, arguments, fuel }) => {
                    writer.call(number, server, tool, arguments, fuel);
                }
                Some(Entry::Answer { number, answer, kept }) => writer.answer(number, answer, kept),
                Some(Entry::Unanswered { number, kept }) => writer.unanswered(number, kept),
                _ => {}
            }
        }
        writer.end(recording.end().unwrap()).unwrap()
    }
}

/// Another answer to what was ready.
fn ready<'a>(entry: Entry<'a>, answer: Result<&'a str, &'a str>) -> Option<Entry<'a>> {
    Some(match entry {
        Entry::Catalog { question, .. } => Entry::Catalog { question, answer },
        other => other,
    })
}

/// Another result of a call.
fn answered<'a>(entry: Entry<'a>, text: &'a str) -> Option<Entry<'a>> {
    Some(match entry {
        Entry::Answer { number, answer: Answer::Result(_), kept } => {
            Entry::Answer { number, answer: Answer::Result(text), kept }
        }
        other => other,
    })
}

fn forgeries() -> Vec<Forgery> {
    let new = Forgery::new;
    let order = "does not say what the component was given";
    vec![
        new("an order that is not JSON", order).start(|start| start.source = "{".to_owned()),
        new("an order of another form", order).start(|start| start.source = r#"{"servers":{}}"#.to_owned()),
        new("an order without servers", "no server is configured")
            .start(|start| start.source = r#"{"servers":[],"input":null}"#.to_owned()),
        new("no servers of the run", "the recording has call 0").start(|start| start.servers.clear()),
        new("a script's", "the recording is of a script").start(|start| start.surroundings.component = false),
        new("another component's", "of another component").start(|start| start.engine.component = [7; 32]),
        new("positions beyond the pollables", "the result of the run is not").entry(|entry| ready(entry, Ok("[3, 9]"))),
        new("positions that are not numbers", "the result of the run is not").entry(|entry| ready(entry, Ok("[-1]"))),
        new("an answer of a poll that is not JSON", "the result of the run is not")
            .entry(|entry| ready(entry, Ok("{"))),
        new("a poll that was refused", "the result of the run is not").entry(|entry| ready(entry, Err("no"))),
        new("a poll of others", "asks which of 3").entry(|entry| {
            Some(match entry {
                Entry::Catalog { answer, .. } => {
                    Entry::Catalog { question: Question::Poll { pollables: u32::MAX, waits: true }, answer }
                }
                other => other,
            })
        }),
        new("no poll", "which was not recorded")
            .entry(|entry| (!matches!(entry, Entry::Catalog { .. })).then_some(entry)),
        new("an answer that is not JSON", "the result of the run is not").entry(|entry| answered(entry, "{")),
        new("an answer of another type", "the result of the run is not").entry(|entry| answered(entry, "[[7]]")),
        new("answers to other calls", "hands over number").entry(|entry| {
            Some(match entry {
                Entry::Answer { number, answer, kept } => Entry::Answer { number: number + 7, answer, kept },
                other => other,
            })
        }),
        new("answers in another order", "hands over number").entry(|entry| {
            Some(match entry {
                Entry::Answer { number, answer, kept } => Entry::Answer { number: 1 - number.min(1), answer, kept },
                other => other,
            })
        }),
        new("no answers", "waits for an answer more")
            .entry(|entry| (!matches!(entry, Entry::Answer { .. })).then_some(entry)),
        new("calls at another time", "fuel was used before it").entry(|entry| {
            Some(match entry {
                Entry::Call { number, server, tool, arguments, .. } => {
                    Entry::Call { number, server, tool, arguments, fuel: u64::MAX }
                }
                other => other,
            })
        }),
        new("tools of another server", "other.fail").directory(Listed::OfServer("other")),
        new("no tools", "looks into namespace 0").directory(Listed::LeftOut),
        new("tools of another place", "looks into namespace 0").directory(Listed::At(7)),
        new("a server that was away", "the recording has call 0").directory(Listed::Refused),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_a_recording_says_its_replay_ends_in_an_error_that_names_it() {
    let file = various();
    let whole = recording(&recorded_with(&file, &Limits::default()).await);
    let terminal = Terminal::new();
    let config = terminal.file("belljar.toml", DEMO).to_str().unwrap().to_owned();
    let component = terminal.file("guest.wasm", &file).to_str().unwrap().to_owned();
    let by_command = |bytes: &[u8]| {
        let path = terminal.file("run.belljar", bytes).to_str().unwrap().to_owned();
        terminal.belljar(&["replay", &path, "--component", &component, "--config", &config])
    };
    // Without a change it is repeated, so the errors below are due to the changes.
    let same = Forgery::new("nothing", "").of(&whole);
    replayed(&file, &Recording::read(same.clone()).unwrap()).await.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(by_command(&same).code, 0);
    for forgery in forgeries() {
        let bytes = forgery.of(&whole);
        let error = replayed(&file, &Recording::read(bytes.clone()).unwrap()).await.expect_err(forgery.what);
        assert!(matches!(error, ReplayError::Run(_) | ReplayError::Diverged(_)), "{}: {error:?}", forgery.what);
        assert!(error.to_string().contains(forgery.says), "{}: {error}", forgery.what);
        let answer = by_command(&bytes);
        assert!(matches!(answer.code, 1 | 2) && answer.stderr.contains(forgery.says), "{}: {answer:#?}", forgery.what);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scripts_recording_is_not_a_components_whatever_it_says() {
    let terminal = Terminal::new();
    let config = terminal.file("belljar.toml", DEMO).to_str().unwrap().to_owned();
    let script = terminal.file("script.js", "return 1").to_str().unwrap().to_owned();
    let path = terminal.folder.path().join("script.belljar");
    let ran = terminal.belljar(&["run", &script, "--config", &config, "--record", path.to_str().unwrap()]);
    assert_eq!(ran.code, 0, "{ran:#?}");
    let whole = Recording::read(std::fs::read(&path).unwrap()).unwrap();
    let file = various();
    let component = terminal.file("guest.wasm", &file).to_str().unwrap().to_owned();
    let says = |bytes: &[u8], with: &[&str]| {
        let path = terminal.file("forged.belljar", bytes).to_str().unwrap().to_owned();
        let mut arguments = vec!["replay", &path, "--config", &config];
        arguments.extend(with);
        let answer = terminal.belljar(&arguments);
        assert_eq!(answer.code, 2, "{answer:#?}");
        answer.stderr
    };
    let with = ["--component", component.as_str()];
    assert!(says(whole.bytes(), &with).contains("is of a script"));
    let flagged = Forgery::new("", "").start(|start| start.surroundings.component = true).of(&whole);
    assert!(says(&flagged, &with).contains("of another component"));
    assert!(says(&flagged, &[]).contains("--component"));
    assert!(says(&flagged, &["--source", &script]).contains("is of a component"));
    // The library does not pass what it says to the interpreter either.
    let error =
        sandbox().replay(&Recording::read(flagged).unwrap(), &Limits::default()).await.expect_err("it is refused");
    assert!(error.to_string().contains("component"), "{error}");
}
