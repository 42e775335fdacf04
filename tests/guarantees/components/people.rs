//! A component can continue beside a call that a person is asked about. Its clocks stop only while
//! it waits for nothing but people, and nobody is asked any more about a call that it has given up.

use std::{
    future::IntoFuture as _,
    pin::pin,
    sync::{Arc, mpsc},
    time::{Duration, Instant},
};

use belljar_approvals::{Refusal, State};
use belljar_foreign::Server;
use belljar_gateway::{ComponentJob, Gateway};
use belljar_model::{ByteSize, Effect, ErrorKind, JsonText, Limits, LimitsPatch, Outcome, Recorded};
use belljar_sandbox::{
    AnswerRoom, CallError, Directory, GrantedTool, Namespace, Recording, ToolSet, Tools, Unavailable,
};
use belljar_upstream::Caller;
use belljar_worker::WorkerProgram;
use futures::{FutureExt as _, future::BoxFuture, poll};
use parking_lot::Mutex;
use serde_json::json;

use super::{
    recordings::WORLD,
    support::{compiled, components, encoded, kind, module, returns, tools, value, wit},
};
use crate::{
    approvals::{House, LONG, RULES},
    stub_server::Stub,
    support::belljar,
};

/// A guard against a component that is not ended.
const MOMENT: Duration = Duration::from_secs(60);

/// A component that makes a call without waiting for it, and then does what `rest` says with
/// `$asked` and the empty `$set`. `$other` calls another tool.
fn beside((asked, asked_with): (&str, &str), (other, other_with): (&str, &str), rest: &str) -> Vec<u8> {
    let text = |text: &str| text.replace('"', "\\22");
    let parts = format!(
        r#"(import "belljar:sandbox/tools-async@0.2.0" "find" (func $find (param i32 i32 i32)))
        (import "belljar:sandbox/tools-async@0.2.0" "[async-lower][method]tool.call"
            (func $call (param i32 i32 i32 i32) (result i32)))
        (import "wasi:clocks/monotonic-clock@0.2.6" "subscribe-duration" (func $after (param i64) (result i32)))
        (import "wasi:io/poll@0.2.6" "[method]pollable.block" (func $block (param i32)))
        (import "wasi:io/poll@0.2.6" "poll" (func $poll (param i32 i32 i32)))
        (import "$root" "[waitable-set-new]" (func $new (result i32)))
        (import "$root" "[waitable-join]" (func $join (param i32 i32)))
        (import "$root" "[waitable-set-wait]" (func $wait (param i32 i32) (result i32)))
        (import "$root" "[subtask-cancel]" (func $cancel (param i32) (result i32)))
        (import "$root" "[subtask-drop]" (func $drop (param i32)))
        (data (i32.const 16) "ok")
        (data (i32.const 100) "{asked}") (data (i32.const 300) "{other}")
        (data (i32.const 500) "{}") (data (i32.const 800) "{}")
        ;; The task of a call of the tool at a path, with these arguments.
        (func $begin (param $at i32) (param $length i32) (param $with i32) (param $bytes i32) (param $into i32) (result i32)
            (call $find (local.get $at) (local.get $length) (i32.const 2048))
            (if (i32.load8_u (i32.const 2048)) (then unreachable))
            (i32.shr_u
                (call $call (i32.load (i32.const 2052)) (local.get $with) (local.get $bytes) (local.get $into))
                (i32.const 4)))
        (func $other (result i32)
            (call $begin (i32.const 300) (i32.const {}) (i32.const 800) (i32.const {}) (i32.const 3072)))
        ;; Waits until a task has returned.
        (func $take (param $task i32) (param $set i32)
            (call $join (local.get $task) (local.get $set))
            (loop $again
                (drop (call $wait (local.get $set) (i32.const 4000)))
                (br_if $again (i32.ne (i32.load (i32.const 4004)) (i32.const 2))))
            (call $drop (local.get $task)))"#,
        text(asked_with),
        text(other_with),
        other.len(),
        other_with.len(),
    );
    let body = format!(
        "(local $asked i32) (local $set i32) (local.set $set (call $new))
         (local.set $asked
            (call $begin (i32.const 100) (i32.const {}) (i32.const 500) (i32.const {}) (i32.const 2560)))
         {rest} {}",
        asked.len(),
        asked_with.len(),
        returns(0, "(i32.const 16)", "(i32.const 2)")
    );
    let world = "import wasi:clocks/monotonic-clock@0.2.6; import wasi:io/poll@0.2.6;
        import belljar:sandbox/tools-async@0.2.0; export run: async func() -> result<string, string>;";
    encoded(&wit(&tools()), &WORLD, world, &module(&parts, &body))
}

/// Gives up the call that is asked about.
const GIVE_UP: &str = "(drop (call $cancel (local.get $asked))) (call $drop (local.get $asked))";

/// Tools that a person is asked about, who never answers: `kit.any`. The server `slow` never says
/// which tools it has.
struct Asking(ToolSet);

impl Asking {
    fn tools() -> Arc<dyn Tools> {
        let slow = async |_| Ok(json!(null));
        Arc::new(Self(tools().with("slow", "tool", Effect::ReadOnly, slow)))
    }
}

impl Tools for Asking {
    fn namespaces(&self) -> Vec<Namespace> {
        self.0.namespaces()
    }

    fn directory(&self, namespace: usize) -> BoxFuture<'_, Result<Arc<Directory>, Unavailable>> {
        match self.0.namespaces().get(namespace).is_some_and(|namespace| namespace.server == "slow") {
            true => std::future::pending().boxed(),
            false => self.0.directory(namespace),
        }
    }

    fn call(&self, _: &GrantedTool, _: JsonText, _: Duration) -> BoxFuture<'static, Result<JsonText, CallError>> {
        unreachable!("it is called with its room")
    }

    fn begin(
        &self,
        _number: u64,
        _tool: &GrantedTool,
        _arguments: JsonText,
        _limit: Duration,
        room: AnswerRoom,
    ) -> BoxFuture<'static, Result<JsonText, CallError>> {
        async move {
            let _parked = room.park();
            std::future::pending().await
        }
        .boxed()
    }
}

/// Runs a component beside a call that nobody decides about. Returns the outcome, and how long that
/// took.
async fn asked(rest: &str, limits: Limits) -> (Outcome, Duration) {
    let file = beside(("kit.any", "{}"), ("slow.tool", "{}"), rest);
    let linked = components().link(&compiled(&file).unwrap(), &Server::all(tools().catalog())).unwrap();
    let begun = Instant::now();
    let run = components().run(&linked).limits(&limits).tools(Asking::tools());
    let outcome = tokio::time::timeout(MOMENT, run).await.expect("its time ends it");
    (outcome, begun.elapsed())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_wait_for_a_person_takes_its_time_beside_a_call_that_does() {
    let hour = "(i64.const 3600000000000)";
    for (what, rest) in [
        ("sleeping", format!("(call $block (call $after {hour}))")),
        (
            "waiting for timers",
            format!(
                "(i32.store (i32.const 4032) (call $after {hour})) (call $poll (i32.const 4032) (i32.const 1) (i32.const 4040))"
            ),
        ),
        ("looking for a tool", "(drop (call $other))".to_owned()),
    ] {
        let limits = Limits { timeout: Duration::from_secs(1), ..Limits::default() };
        let (outcome, took) = asked(&rest, limits).await;
        assert_eq!(kind(&outcome), ErrorKind::Timeout, "{what}: {outcome:#?}");
        assert!(took < Duration::from_secs(30), "{what}: {took:?}");
    }
    // The owner's `wait` as well.
    let limits = Limits { wait: Duration::from_secs(1), ..Limits::default() };
    let (outcome, _) = asked(&format!("(call $block (call $after {hour}))"), limits).await;
    assert_eq!(outcome.result.unwrap_err().limit.unwrap().name.as_str(), "wait");
}

#[tokio::test(flavor = "multi_thread")]
async fn while_it_waits_for_a_person_alone_its_clocks_stand_still() {
    let file = beside(("kit.any", "{}"), ("slow.tool", "{}"), "(call $take (local.get $asked) (local.get $set))");
    let linked = components().link(&compiled(&file).unwrap(), &Server::all(tools().catalog())).unwrap();
    let limits = Limits { timeout: Duration::from_secs(3), ..Limits::default() };
    let mut run = pin!(components().run(&linked).limits(&limits).tools(Asking::tools()).into_future());
    // More than twice as long as it may take.
    let _ = tokio::time::timeout(Duration::from_secs(7), &mut run).await.expect_err("it has not ended");
    assert!(poll!(&mut run).is_pending());
}

/// A house whose reads are answered when the returned sender says so.
fn house() -> (House, mpsc::Sender<()>) {
    let (answer, answers) = mpsc::channel();
    let answers = Mutex::new(answers);
    let sent = Arc::<Mutex<Vec<String>>>::default();
    let noted = sent.clone();
    let stub = Stub::new(Stub::real_tools("filesystem"), move |_, arguments| {
        noted.lock().push(arguments["path"].as_str().unwrap_or_default().to_owned());
        // An error if the test is over.
        let _ = answers.lock().recv();
        json!({ "content": [{ "type": "text", "text": "read" }] })
    });
    (House::over(stub, sent, RULES, LONG), answer)
}

/// A component that makes a write that is asked about, waits for a read, gives up the write, and
/// waits for another read.
fn changing_its_mind() -> ComponentJob {
    let read = "(call $take (call $other) (local.get $set))";
    let file = beside(
        ("fs.write_file", r#"{"path":"/out/x","content":"hello"}"#),
        ("fs.read_text_file", r#"{"path":"/a"}"#),
        &format!("{read} {GIVE_UP} {read}"),
    );
    let program = WorkerProgram { program: belljar().to_owned(), arguments: vec!["__component".into()] };
    ComponentJob { program, file, input: None }
}

fn start(gateway: Gateway, job: ComponentJob) -> tokio::task::JoinHandle<Outcome> {
    tokio::spawn(async move {
        let never = std::future::pending().boxed();
        gateway.run_component(&job, &LimitsPatch::default(), Caller::default(), never).await
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_asked_about_a_call_that_was_given_up_and_it_is_never_sent() {
    let (house, answer) = house();
    let gateway = house.gateway.clone().with_recording(ByteSize::mib(4));
    let run = start(gateway.clone(), changing_its_mind());
    let question = house.questions(1).await.remove(0);
    answer.send(()).unwrap();
    let begun = Instant::now();
    while house.state(question.id).await == State::Open {
        assert!(begun.elapsed() < MOMENT, "the question stays open");
        tokio::task::yield_now().await;
    }
    // The run goes on meanwhile.
    assert_eq!(house.state(question.id).await, State::Withdrawn);
    assert_eq!(house.decide(question.id, true).await, Err(Refusal::Over));
    answer.send(()).unwrap();
    let outcome = run.await.unwrap();
    assert_eq!((value(&outcome), house.sent()), (json!("ok"), vec!["/a".to_owned(); 2]));
    let calls: Vec<_> = outcome.calls.iter().map(|call| (call.tool.as_str(), call.ok)).collect();
    assert_eq!(calls, [("read_text_file", true), ("read_text_file", true), ("write_file", false)]);
    let Some(Recorded::Whole(bytes)) = &outcome.recording else { panic!("{outcome:#?}") };
    let recording = Recording::read(bytes.clone()).unwrap();
    let again = gateway.replay_component(&changing_its_mind(), &recording).await.unwrap();
    assert_eq!((value(&again), &again.order), (json!("ok"), &outcome.order));
    assert_eq!((again.calls.len(), again.usage.fuel), (3, outcome.usage.fuel));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_was_given_up_lets_no_clock_stand_still() {
    let (house, answer) = house();
    let limits = Limits { timeout: Duration::from_secs(10), ..Limits::default() };
    let run = start(house.gateway.with_limits(limits), changing_its_mind());
    house.questions(1).await;
    answer.send(()).unwrap();
    // The second read is not answered.
    let outcome = tokio::time::timeout(MOMENT, run).await.expect("its time ends it").unwrap();
    assert_eq!(kind(&outcome), ErrorKind::Timeout, "{outcome:#?}");
}
