use belljar_model::{ByteSize, Effect, Limits};
use minicbor::Encoder;

use crate::{
    Answer, CallForm, Cause, Clock, Digests, End, EngineId, Entry, GlobalFunction, Kept, Property, Question, ReadError,
    Recording, Remarks, Server, Start, Surroundings, Writer,
    format::{self, HEADER, TRAILER, kind},
};

fn start() -> Start {
    Start {
        engine: EngineId { component: [7; 32], wasmtime: "48.0.8".to_owned() },
        source: "return await box.echo({ a: 1 })".to_owned(),
        begun_ms: 1_790_000_000_000,
        seed: [3; 32],
        limits: Limits { max_calls: 12, ..Limits::default() },
        servers: vec![Server {
            name: "a-b".to_owned(),
            globals: vec!["a-b".to_owned(), "a_b".to_owned()],
            form: CallForm::default(),
        }],
        surroundings: Surroundings::default(),
    }
}

fn end() -> End<'static> {
    let digests = Digests { result: [1; 32], logs: [2; 32], calls: [3; 32] };
    End { cause: Cause::Time { limit: "timeout", max: 10, used: 11 }, fuel: u64::MAX, digests }
}

const PROPERTY: Property<'_> = Property { name: "echo", server: "a-b", tool: "echo", effect: Effect::Mutating };
const KEPT: Kept<'_> = Kept { ok: false, ms: 1.5, error: Some("no") };

/// One of each.
pub(crate) fn bytes() -> Vec<u8> {
    let mut writer = Writer::new(&start(), ByteSize::mib(1));
    writer.clock(Clock::Wall, 5);
    writer.clock(Clock::Wall, 5);
    writer.clock(Clock::Monotonic, 5);
    writer.clock(Clock::Wall, 6);
    writer.directory(0, Ok([PROPERTY, PROPERTY].into_iter()));
    writer.directory(1, Err::<std::array::IntoIter<_, 0>, _>("it does not start"));
    writer.catalog(Question::List(None), Ok("[]"));
    writer.catalog(Question::Search { query: "ü", limit: 3 }, Ok("[1]"));
    writer.catalog(Question::Describe("a.b"), Err("no such tool"));
    writer.catalog(Question::Plan("{}"), Ok("[]"));
    writer.catalog(Question::Artifacts("{\"list\":{}}"), Ok("[]"));
    writer.catalog(Question::Keep("{\"keys\":{}}"), Err("{}"));
    writer.catalog(Question::Route { server: "a-b", words: Some("ü") }, Ok("{}"));
    writer.catalog(Question::Route { server: "a-b", words: None }, Err("no projects"));
    writer.catalog(Question::Poll { pollables: 3, waits: true }, Ok("[0,2]"));
    writer.call(0, "a-b", "echo", "{}", 17);
    writer.timer(1, 20);
    writer.elapsed(1);
    writer.answer(0, Answer::Result("{}"), None);
    writer.answer(
        2,
        Answer::Fault { message: "m", hint: None, is_refusal: true, denial: None, name: None },
        Some(KEPT),
    );
    writer.unanswered(3, Some(KEPT));
    writer.end(end()).expect("there is room")
}

#[test]
fn what_a_host_put_around_a_script_is_read_and_bounded() {
    let form = CallForm { positional: true, plain: true };
    let server = Server { name: "host".to_owned(), globals: Vec::new(), form };
    let function = GlobalFunction { name: "f".to_owned(), server: 1, property: "g".to_owned() };
    let surroundings = Surroundings {
        prelude: Some("globalThis.a = 1\n".to_owned()),
        functions: vec![function.clone()],
        no_builtins: true,
        extended_value: true,
        artifacts: true,
        keep: true,
        component: true,
    };
    let mut start = Start { surroundings, ..start() };
    start.servers.push(server);
    let written = |start: &Start| {
        let mut writer = Writer::new(start, ByteSize::mib(4));
        let name = Some("RangeError");
        writer.answer(0, Answer::Fault { message: "m", hint: None, is_refusal: false, denial: None, name }, None);
        writer.end(end()).expect("there is room")
    };
    let recording = Recording::read(written(&start)).expect("a recording");
    assert_eq!(*recording.start(), start);
    let Some(Entry::Answer { answer: Answer::Fault { name, .. }, .. }) = recording.entries().next() else {
        panic!("{recording:?}")
    };
    assert_eq!(name, Some("RangeError"));
    start.surroundings.functions = vec![function; 10_001];
    let refused = Recording::read(written(&start)).expect_err("too many functions");
    assert!(refused.to_string().contains("10001 functions"), "{refused}");
}

#[test]
fn what_was_written_is_read() {
    let recording = Recording::read(bytes()).expect("a recording");
    assert_eq!(*recording.start(), start());
    assert_eq!(recording.end(), Some(end()));
    let mut entries: Vec<Entry<'_>> = recording.entries().collect();
    let Entry::Directory { namespace: 0, listing: Ok(listing) } = entries.remove(1) else { panic!("{entries:?}") };
    assert_eq!(listing.properties().collect::<Vec<_>>(), [PROPERTY, PROPERTY]);
    let expected = [
        Entry::Clock { clock: Clock::Wall, milliseconds: 5, count: 2 },
        Entry::Directory { namespace: 1, listing: Err("it does not start") },
        Entry::Catalog { question: Question::List(None), answer: Ok("[]") },
        Entry::Catalog { question: Question::Search { query: "ü", limit: 3 }, answer: Ok("[1]") },
        Entry::Catalog { question: Question::Describe("a.b"), answer: Err("no such tool") },
        Entry::Catalog { question: Question::Plan("{}"), answer: Ok("[]") },
        Entry::Catalog { question: Question::Artifacts("{\"list\":{}}"), answer: Ok("[]") },
        Entry::Catalog { question: Question::Keep("{\"keys\":{}}"), answer: Err("{}") },
        Entry::Catalog { question: Question::Route { server: "a-b", words: Some("ü") }, answer: Ok("{}") },
        Entry::Catalog { question: Question::Route { server: "a-b", words: None }, answer: Err("no projects") },
        Entry::Catalog { question: Question::Poll { pollables: 3, waits: true }, answer: Ok("[0,2]") },
        Entry::Call { number: 0, server: "a-b", tool: "echo", arguments: "{}", fuel: 17 },
        Entry::Timer { number: 1, milliseconds: 20 },
        Entry::Elapsed { number: 1 },
        Entry::Answer { number: 0, answer: Answer::Result("{}"), kept: None },
        Entry::Answer {
            number: 2,
            answer: Answer::Fault { message: "m", hint: None, is_refusal: true, denial: None, name: None },
            kept: Some(KEPT),
        },
        Entry::Unanswered { number: 3, kept: Some(KEPT) },
        Entry::Clock { clock: Clock::Wall, milliseconds: 6, count: 1 },
        Entry::Clock { clock: Clock::Monotonic, milliseconds: 5, count: 1 },
        Entry::End(end()),
    ];
    assert_eq!(entries, expected);
}

#[test]
fn a_recording_with_one_flipped_bit_is_refused() {
    let whole = bytes();
    for at in 0..whole.len() {
        for bit in 0..8 {
            let mut flipped = whole.clone();
            flipped[at] ^= 1 << bit;
            assert!(Recording::read(flipped).is_err(), "bit {bit} of byte {at}");
        }
    }
}

#[test]
fn a_recording_that_was_cut_off_is_refused_wherever() {
    let whole = bytes();
    for length in 0..whole.len() {
        assert!(Recording::read(&whole[..length]).is_err(), "{length} bytes");
    }
    let refused = Recording::read(&whole[..whole.len() - 1]).expect_err("a byte is missing");
    assert!(matches!(refused, ReadError::Damaged), "{refused}");
}

#[test]
fn another_version_and_another_file_are_told_apart() {
    let mut newer = bytes();
    newer[9] += 1;
    let refused = Recording::read(newer).expect_err("it is newer").to_string();
    assert!(refused.contains("format version 3") && refused.contains("reads version 2"), "{refused}");
    for other in [&b""[..], b"{}", b"\x89PNG\r\n\x1a\n and more"] {
        assert!(matches!(Recording::read(other), Err(ReadError::Foreign)));
    }
}

/// The entries that follow the start, as an attacker writes them, with a matching digest.
fn forged(entries: impl FnOnce(&mut Encoder<Vec<u8>>)) -> Vec<u8> {
    let whole = bytes();
    let first = Recording::read(&whole[..]).expect("a recording").first();
    let mut out = Encoder::new(whole[..first].to_vec());
    entries(&mut out);
    let mut bytes = out.into_writer();
    let digest = format::digest(&bytes);
    bytes.extend(digest);
    bytes
}

#[test]
fn lengths_and_kinds_that_a_forger_claims_are_refused_and_allocate_nothing() {
    let huge = u64::MAX;
    let attempts: [(&str, Vec<u8>); 8] = [
        ("no end", forged(|_| {})),
        ("an array without an end", forged(|out| drop(out.begin_array()))),
        ("a huge array", forged(|out| drop(out.array(huge)))),
        (
            "a huge directory",
            forged(|out| drop(out.array(3).and_then(|out| out.u8(kind::DIRECTORY)?.u32(0)?.array(huge)))),
        ),
        ("a huge text", forged(|out| drop(out.array(2).and_then(|out| out.u8(kind::ELAPSED)?.str_len(huge))))),
        ("an unknown kind", forged(|out| drop(out.array(2).and_then(|out| out.u8(200)?.u8(0))))),
        (
            "a time that is none",
            forged(|out| {
                drop(
                    out.array(3)
                        .and_then(|out| out.u8(kind::UNANSWERED)?.u8(0)?.array(3)?.bool(true)?.f64(f64::NAN)?.null()),
                )
            }),
        ),
        ("a map in place of an entry", forged(|out| drop(out.map(huge)))),
    ];
    for (what, bytes) in attempts {
        let refused = Recording::read(bytes).expect_err(what);
        assert!(matches!(refused, ReadError::Invalid { .. }), "{what}: {refused}");
    }
    let mut behind = bytes();
    behind.truncate(behind.len() - TRAILER);
    behind.push(0);
    let digest = format::digest(&behind);
    behind.extend(digest);
    let refused = Recording::read(behind).expect_err("there is more").to_string();
    assert!(refused.contains("follows the end"), "{refused}");
    // Remarks may be there, once.
    let remarks = Remarks { hint: Some("a hint".to_owned()), ..Remarks::default() };
    let remarked = remarks.behind(bytes(), ByteSize::mib(1)).expect("there is room");
    assert_eq!(Recording::read(remarked.clone()).expect("a recording").remarks(), Some(remarks.clone()));
    assert_eq!(remarks.behind(remarked.clone(), ByteSize::mib(1)).expect("there is room"), remarked);
    let with_cause = Remarks { calls: Some("too much was left".to_owned()), ..remarks.clone() };
    let bytes_of = with_cause.behind(remarked, ByteSize::mib(1)).expect("there is room");
    assert_eq!(Recording::read(bytes_of).expect("a recording").remarks(), Some(with_cause));
    assert!(remarks.behind(bytes(), ByteSize::b(bytes().len() as u64)).is_err(), "they count");
    let nothing = [&bytes()[..HEADER], &format::digest(&bytes()[..HEADER])].concat();
    assert!(matches!(Recording::read(nothing), Err(ReadError::Invalid { .. })));
}

#[test]
fn a_recording_never_has_more_bytes_than_its_budget() {
    let room = 8 * 1024;
    for (answers, fits) in [(0, true), (10, true), (400, false)] {
        let mut writer = Writer::new(&start(), ByteSize::b(room));
        for number in 0..answers {
            writer.answer(number, Answer::Result(&"x".repeat(20)), None);
        }
        match writer.end(end()) {
            Ok(bytes) => assert!(fits && bytes.len() as u64 <= room),
            Err(full) => assert!(!fits && full.max == room),
        }
    }
}
