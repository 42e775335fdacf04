//! Images, sounds and files in a component's value are separate blocks, both in its run and in its
//! replay.

use belljar_gateway::ComponentJob;
use belljar_model::{ByteSize, ErrorKind, Limits, LimitsPatch, Media, Outcome, Recorded};
use belljar_sandbox::Recording;
use belljar_upstream::Caller;
use belljar_worker::WorkerProgram;
use futures::FutureExt as _;
use serde_json::{Value, json};

use super::{
    any_tool::{ANY, chooser},
    support::{kind, module, returns, run_with, typed, value},
};
use crate::{
    stub_server::{Stub, gateway},
    support::belljar,
};

/// Runs a component over a server with one tool, `picture`, and repeats the recording. Returns both
/// outcomes.
async fn twice(file: Vec<u8>) -> (Outcome, Outcome) {
    let picture = json!({ "content": [
        { "type": "image", "data": "iVBO".repeat(100), "mimeType": "image/png" },
        { "type": "text", "text": "a lake" },
    ] });
    let tools = json!([{ "name": "picture", "inputSchema": { "type": "object" } }]);
    let stub = Stub::new(tools, move |_, _| picture.clone());
    let gateway = gateway(&[("kit", stub)], Vec::new()).with_recording(ByteSize::mib(4));
    let program = WorkerProgram { program: belljar().to_owned(), arguments: vec!["__component".into()] };
    let job = ComponentJob { program, file, input: None };
    let never = std::future::pending().boxed();
    let first = gateway.run_component(&job, &LimitsPatch::default(), Caller::default(), never).await;
    let Some(Recorded::Whole(bytes)) = &first.recording else { panic!("{first:#?}") };
    let recording = Recording::read(bytes.clone()).unwrap();
    let again = gateway.replay_component(&job, &recording).await.unwrap_or_else(|error| panic!("{error}\n{first:#?}"));
    (first, again)
}

fn kinds(media: &[Media]) -> Vec<&str> {
    media.iter().map(Media::kind).collect()
}

fn equal(first: &Outcome, again: &Outcome) -> Value {
    let value =
        |outcome: &Outcome| outcome.result.as_ref().unwrap_or_else(|error| panic!("{error:#?}")).to_value().unwrap();
    assert_eq!(value(first), value(again));
    assert_eq!(first.media, again.media);
    assert_eq!(first.usage.fuel, again.usage.fuel);
    value(first)
}

#[tokio::test(flavor = "multi_thread")]
async fn media_that_a_component_returns_are_the_same_in_its_replay() {
    let content = json!({ "seen": [
        { "type": "image", "data": "iVBO".repeat(500), "mimeType": "image/png" },
        { "type": "audio", "data": "UklG".repeat(300), "mimeType": "audio/wav" },
        { "type": "resource", "resource": { "uri": "file:///a", "blob": "AAEC", "mimeType": "application/pdf" } },
    ], "more": "a text" })
    .to_string();
    let parts = format!(r#"(data (i32.const 4096) "{}")"#, content.replace('"', "\\22"));
    let body = returns(0, "(i32.const 4096)", &format!("(i32.const {})", content.len()));
    let (first, again) = twice(typed("", &module(&parts, &body))).await;
    let value = equal(&first, &again);
    assert_eq!(kinds(&first.media), ["image", "audio", "resource"]);
    assert!(!value.to_string().contains("iVBO") && value["more"] == "a text", "{value:#}");
    assert_eq!(first.media[1].file().unwrap().0, Some("audio/wav"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_of_a_tool_is_the_same_in_the_replay_that_calls_nothing() {
    let (first, again) = twice(typed(ANY, &chooser("kit.picture", "{}"))).await;
    let value = equal(&first, &again);
    assert_eq!((kinds(&first.media), first.calls.len(), again.calls.len()), (vec!["image"], 1, 1), "{value:#}");
}

/// A component that returns a text between two others, made of this many letters A.
fn filled(before: &str, letters: usize, after: &str) -> Vec<u8> {
    let at = 131_072;
    let (middle, end) = (at + before.len(), at + before.len() + letters);
    let text = |text: &str| text.replace('"', "\\22");
    let parts = format!(r#"(data (i32.const {at}) "{}") (data (i32.const {end}) "{}")"#, text(before), text(after));
    let fill = format!("(memory.fill (i32.const {middle}) (i32.const 65) (i32.const {letters}))");
    let given = returns(0, &format!("(i32.const {at})"), &format!("(i32.const {})", end + after.len() - at));
    typed("", &module(&parts, &format!("{fill} {given}")))
}

const BEFORE: &str = r#"{"seen":[{"type":"image","data":""#;
const AFTER: &str = r#"","mimeType":"image/png"}],"more":"a text"}"#;

#[tokio::test(flavor = "multi_thread")]
async fn an_image_does_not_count_as_output() {
    assert_eq!(Limits::default().max_output, ByteSize::kib(256));
    let (first, again) = twice(filled(BEFORE, 600_000, AFTER)).await;
    let value = equal(&first, &again);
    assert_eq!((kinds(&first.media), &value["more"]), (vec!["image"], &json!("a text")));
    assert_eq!(first.media[0].file().unwrap().1.len(), 450_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_an_image_counts_and_an_image_has_its_own_bound() {
    let limits = Limits { max_output: ByteSize::kib(1), max_result: ByteSize::kib(100), ..Limits::default() };
    assert_eq!(value(&run_with(&filled(BEFORE, 90_000, AFTER), &limits).await)["more"], "a text");
    for (what, file) in [
        ("a text", filled("", 2000, "")),
        ("a text of an object", filled(r#"{"text":""#, 2000, r#""}"#)),
        ("a text beside an image", filled(BEFORE, 90_000, &AFTER.replace("a text", &"a text".repeat(200)))),
        ("an image that is too large", filled(BEFORE, 120_000, AFTER)),
    ] {
        let outcome = run_with(&file, &limits).await;
        assert_eq!(kind(&outcome), ErrorKind::Output, "{what}");
        let error = outcome.result.unwrap_err();
        assert!(error.hint.is_some_and(|hint| hint.contains("in the component")), "{what}");
        assert_eq!(error.limit.map(|limit| limit.max), Some(1024), "{what}");
    }
}
