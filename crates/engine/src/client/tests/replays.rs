//! The claims of a process about replays are not trusted.

use belljar_model::{CallRecord, RunError};
use belljar_recording::{Cause, Digests, End, EngineId, Recording, Start, Surroundings, Writer as Recorder};
use belljar_sandbox::ReplayError;

use super::*;
use crate::protocol::{
    replayed,
    to_worker::{self, Replay},
};

/// A run that ended in 1, after one call.
fn recorded() -> (Recording, Outcome) {
    let start = Start {
        engine: EngineId { component: [1; 32], wasmtime: "1".to_owned() },
        source: "return 1".to_owned(),
        begun_ms: 1,
        seed: [2; 32],
        limits: Limits::default(),
        servers: Vec::new(),
        surroundings: Surroundings::default(),
    };
    let (server, tool) = ("a".to_owned(), "b".to_owned());
    let call = CallRecord {
        server,
        tool,
        effect: Effect::ReadOnly,
        ok: true,
        ms: 1.0,
        error: None,
        verdict: None,
        rule: None,
    };
    let refused = Outcome::refused(RunError::new(ErrorKind::Internal, ""));
    let outcome = Outcome { result: Ok(JsonText::from_value(&json!(1))), calls: vec![call], ..refused };
    let digests = Digests::of(&outcome.result, &outcome.logs, &outcome.calls);
    let end = End { cause: Cause::Script, fuel: 0, digests };
    let bytes = Recorder::new(&start, ByteSize::mib(1)).end(end).expect("there is room");
    (Recording::read(bytes).expect("a recording"), outcome)
}

/// The result of replaying a recording in a process that sends these frames, and why the process
/// was ended, if it was.
async fn told(recording: Recording, said: Vec<Vec<u8>>) -> (Result<Outcome, ReplayError>, Option<Lost>) {
    let (connection, mut serving, mut fake) = connected();
    let replaying = tokio::spawn(async move {
        let ceiling = Limits::default();
        let replay = Replay { source: None, ceiling: ceiling.clone(), recording: recording.bytes() };
        connection.replay(&replay, &recording, &ceiling, MOMENT).await.expect("there is a process")
    });
    let asked = fake.hear(to_worker::REPLAY).await;
    assert_eq!(to_worker::parse_replay(&asked).expect("a replay").source, None);
    for frame in said {
        fake.say(&frame).await;
    }
    let replayed = replaying.await.expect("no panic");
    let lost = tokio::time::timeout(Duration::from_millis(50), &mut serving).await.ok();
    (replayed, lost.map(|lost| lost.expect("no panic")))
}

#[tokio::test]
async fn a_process_that_says_that_a_run_was_repeated_must_give_its_outcome() {
    let (recording, outcome) = recorded();
    let (replayed, lost) = told(recording.clone(), replayed::frames(1, Ok(outcome.clone())).into()).await;
    let replayed = replayed.expect("it is the outcome");
    assert_eq!((replayed.result, replayed.calls, lost), (outcome.result.clone(), outcome.calls.clone(), None));

    let value = Outcome { result: Ok(JsonText::from_value(&json!(2))), ..outcome.clone() };
    let calls = Outcome { calls: Vec::new(), ..outcome };
    for lie in [value, calls] {
        let (replayed, _) = told(recording.clone(), replayed::frames(1, Ok(lie)).into()).await;
        let Err(ReplayError::Run(error)) = replayed else { panic!("{replayed:?}") };
        assert!(error.kind == ErrorKind::Internal && error.message.contains("another outcome"), "{error:?}");
    }
}

#[tokio::test]
async fn a_process_that_calls_a_tool_in_a_replay_is_ended() {
    let (recording, _) = recorded();
    for frame in [ask(0), call(0, 0, 0)] {
        let kind = *frame.get(4).expect("a kind");
        let (replayed, lost) = told(recording.clone(), vec![frame]).await;
        assert!(matches!(replayed, Err(ReplayError::Run(_))), "{replayed:?}");
        assert_eq!(lost, Some(Lost::Violated(Violation::Kind(kind))));
    }
}

#[tokio::test]
async fn a_process_that_repeats_what_was_to_be_run_is_ended() {
    let (connection, serving, mut fake) = connected();
    let run = begun(&connection, Limits::default());
    fake.hear(to_worker::RUN).await;
    let [first, _] = replayed::frames(1, Ok(recorded().1));
    fake.say(&first).await;
    assert_eq!(serving.await.expect("no panic"), Lost::Violated(Violation::Kind(from_worker::REPLAYED)));
    assert_eq!(run.await.expect("no panic").expect("it had begun").result.unwrap_err().kind, ErrorKind::Internal);
}
