//! Tasks end, are kept, are bounded, and have an owner.

use std::{future::pending, sync::Arc, time::Duration};

use rmcp::{
    ErrorData,
    model::{
        CallToolResponse, CallToolResult, ContentBlock, DetailedTask, ElicitRequest, ElicitRequestParams,
        ElicitationSchema, InputRequest, TaskPayload, TaskStatus,
    },
};
use serde_json::{Value, json};
use tokio::{sync::Notify, time::sleep};
use tokio_util::sync::CancellationToken;

use super::{Asks, Call, Ending, Owner, TaskLimits, Tasks};

const MOMENT: Duration = Duration::from_millis(5);

fn tasks(change: impl FnOnce(&mut TaskLimits)) -> Tasks {
    let mut limits = TaskLimits { after: Some(MOMENT), ..TaskLimits::default() };
    change(&mut limits);
    Tasks::new(limits)
}

fn who(name: &str) -> Owner {
    Owner { name: name.into(), may_change: true }
}

fn call(owner: &str) -> Call {
    Call {
        owner: who(owner),
        longest: Duration::from_secs(60),
        cancel: CancellationToken::new(),
        status: Arc::new(|| Some("at it".to_owned())),
        asks: Asks::default(),
    }
}

fn done(text: &str) -> Ending {
    Ending::Done(CallToolResult::success(vec![ContentBlock::text(text)]))
}

/// The id of the task that a call became.
fn task(answer: Result<CallToolResponse, ErrorData>) -> String {
    match answer.expect("an answer") {
        CallToolResponse::Task(created) => created.task.task_id,
        other => panic!("it is no task: {other:?}"),
    }
}

/// The text of a result.
fn text(answer: Result<CallToolResponse, ErrorData>) -> Value {
    match answer.expect("an answer") {
        CallToolResponse::Complete(result) => json!(result)["content"][0]["text"].take(),
        other => panic!("it is no result: {other:?}"),
    }
}

/// A task, once it is in the wanted state.
async fn until(tasks: &Tasks, owner: &str, id: &str, is_so: impl Fn(&DetailedTask) -> bool) -> DetailedTask {
    let looking = async {
        loop {
            let task = tasks.get(&who(owner), id).expect("a task").task;
            if is_so(&task) {
                return task;
            }
            sleep(MOMENT).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), looking).await.expect("it happens within a minute")
}

async fn ended(tasks: &Tasks, owner: &str, id: &str) -> DetailedTask {
    until(tasks, owner, id, |task| task.status().is_terminal()).await
}

#[tokio::test]
async fn a_call_that_ends_in_time_is_answered_and_never_a_task() {
    let tasks = tasks(|limits| limits.after = Some(Duration::from_secs(60)));
    assert_eq!(text(tasks.answer(call("ann"), async { done("now") }, pending()).await), "now");
    assert_eq!(tasks.count(), 0);
}

#[tokio::test]
async fn a_long_call_becomes_a_task_whose_result_is_kept_also_when_nobody_is_there() {
    let (tasks, go_on) = (tasks(|_| {}), Arc::new(Notify::new()));
    let (waits, given_up) = (go_on.clone(), Arc::new(Notify::new()));
    let work = async move {
        waits.notified().await;
        done("late")
    };
    let id = task(tasks.answer(call("ann"), work, given_up.notified()).await);
    given_up.notify_waiters();
    let working = tasks.get(&who("ann"), &id).expect("a task").task;
    assert_eq!((working.status(), working.task.status_message.as_deref()), (TaskStatus::Working, Some("at it")));
    assert!(working.task.ttl_ms.is_some_and(|ttl| ttl >= 60_000 + 15 * 60_000), "{working:?}");
    go_on.notify_one();
    let ended = ended(&tasks, "ann", &id).await;
    let TaskPayload::Completed { result } = &ended.payload else { panic!("{ended:?}") };
    assert_eq!(result["content"][0]["text"], "late");
    assert_eq!(ended.task.status_message, None);
    // As often as anybody asks.
    assert_eq!(tasks.get(&who("ann"), &id).expect("a task").task, ended);
}

#[tokio::test]
async fn a_task_of_another_principal_is_as_unknown_as_none() {
    let tasks = tasks(|_| {});
    let id = task(tasks.answer(call("ann"), pending(), pending()).await);
    for id in [id.as_str(), "none"] {
        let told = [
            tasks.get(&who("bob"), id).map(drop),
            tasks.update(&who("bob"), id, Default::default()),
            tasks.cancel(&who("bob"), id),
            tasks.get(&who("ann"), "none").map(drop),
        ];
        let told = told.map(|told| told.expect_err("refused"));
        assert!(told.iter().all(|error| *error == told[3] && error.code.0 == -32602), "{told:?}");
    }
    assert!(tasks.get(&who("ann"), &id).is_ok());
}

#[tokio::test]
async fn a_cancelled_task_says_so_when_its_work_has_stopped_and_one_that_has_ended_stays_as_it_is() {
    let tasks = tasks(|_| {});
    let long = call("ann");
    let cancel = long.cancel.clone();
    let work = async move {
        cancel.cancelled().await;
        Ending::Cancelled(CallToolResult::error(Vec::new()), "two calls were made".to_owned())
    };
    let id = task(tasks.answer(long, work, pending()).await);
    tasks.cancel(&who("ann"), &id).expect("acknowledged");
    let cancelled = ended(&tasks, "ann", &id).await;
    assert_eq!(cancelled.payload, TaskPayload::Cancelled);
    assert_eq!(cancelled.task.status_message.as_deref(), Some("two calls were made"));

    let work = async {
        sleep(4 * MOMENT).await;
        done("late")
    };
    let id = task(tasks.answer(call("ann"), work, pending()).await);
    let before = ended(&tasks, "ann", &id).await;
    tasks.cancel(&who("ann"), &id).expect("acknowledged all the same");
    assert_eq!(tasks.get(&who("ann"), &id).expect("a task").task, before);
}

#[tokio::test]
async fn a_call_that_is_given_up_before_it_is_a_task_is_cancelled() {
    let tasks = tasks(|limits| limits.after = Some(Duration::from_secs(60)));
    let long = call("ann");
    let cancel = long.cancel.clone();
    let work = async move {
        cancel.cancelled().await;
        Ending::Cancelled(CallToolResult::error(vec![ContentBlock::text("stopped")]), String::new())
    };
    assert_eq!(text(tasks.answer(long, work, async {}).await), "stopped");
}

#[tokio::test]
async fn whoever_may_only_read_hears_of_no_task_that_may_change_something() {
    let tasks = tasks(|_| {});
    let reader = Owner { may_change: false, ..who("ann") };
    let changing = task(tasks.answer(call("ann"), pending(), pending()).await);
    let reading = task(tasks.answer(Call { owner: reader.clone(), ..call("ann") }, pending(), pending()).await);
    let unknown = tasks.get(&reader, "none").map(drop).expect_err("there is none");
    for refused in [
        tasks.get(&reader, &changing).map(drop),
        tasks.update(&reader, &changing, Default::default()),
        tasks.cancel(&reader, &changing),
    ] {
        assert_eq!(refused.expect_err("it is none of its own").message, unknown.message);
    }
    assert!(tasks.get(&reader, &reading).is_ok());
    assert!(tasks.get(&who("ann"), &reading).is_ok() && tasks.get(&who("ann"), &changing).is_ok());
}

#[tokio::test]
async fn there_are_so_many_tasks_of_one_and_of_all_and_whoever_gets_none_waits() {
    let tasks = tasks(|limits| (limits.all, limits.per_principal) = (3, 2));
    for owner in ["ann", "ann", "bob"] {
        task(tasks.answer(call(owner), pending(), pending()).await);
    }
    for owner in ["ann", "bob", "eve"] {
        let work = async {
            sleep(4 * MOMENT).await;
            done("waited for")
        };
        assert_eq!(text(tasks.answer(call(owner), work, pending()).await), "waited for");
    }
    assert_eq!(tasks.count(), 3);
}

#[tokio::test]
async fn while_much_is_kept_no_call_becomes_a_task() {
    let tasks = tasks(|limits| limits.kept_bytes = 1_000);
    let large = || async {
        sleep(4 * MOMENT).await;
        done(&"x".repeat(2_000))
    };
    let id = task(tasks.answer(call("ann"), large(), pending()).await);
    ended(&tasks, "ann", &id).await;
    assert_eq!(text(tasks.answer(call("ann"), large(), pending()).await), "x".repeat(2_000));
}

#[tokio::test]
async fn a_task_is_forgotten_when_its_time_is_over_and_not_before_it_has_ended() {
    let tasks = tasks(|limits| limits.keep = 4 * MOMENT);
    let go_on = Arc::new(Notify::new());
    let waits = go_on.clone();
    let work = async move {
        waits.notified().await;
        done("late")
    };
    let id = task(tasks.answer(Call { longest: Duration::ZERO, ..call("ann") }, work, pending()).await);
    let first = tasks.get(&who("ann"), &id).expect("a task").task.task.ttl_ms;
    sleep(10 * MOMENT).await;
    // It runs longer than its first time to live, and lives on.
    assert!(tasks.get(&who("ann"), &id).expect("a task").task.task.ttl_ms > first);
    go_on.notify_one();
    let forgotten = async {
        while tasks.count() > 0 {
            sleep(MOMENT).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), forgotten).await.expect("it is forgotten");
    assert!(tasks.get(&who("ann"), &id).is_err());
}

#[tokio::test]
async fn a_panic_ends_its_task_and_nothing_else() {
    let tasks = tasks(|_| {});
    let work = async {
        sleep(4 * MOMENT).await;
        panic!("on purpose");
    };
    let id = task(tasks.answer(call("ann"), work, pending()).await);
    let failed = ended(&tasks, "ann", &id).await;
    let TaskPayload::Failed { error } = &failed.payload else { panic!("{failed:?}") };
    assert_eq!(error["code"], -32603);
}

#[tokio::test]
async fn what_a_call_asks_makes_it_a_task_at_once_and_is_answered_question_by_question() {
    let tasks = tasks(|limits| limits.after = Some(Duration::from_secs(3600)));
    let asking = call("ann");
    let asks = asking.asks.clone();
    let work = async move {
        let (one, two) = tokio::join!(asks.ask(question("one")), asks.ask(question("two")));
        done(&json!([one, two]).to_string())
    };
    let id = task(tasks.answer(asking, work, pending()).await);
    let open = |task: &DetailedTask| match &task.payload {
        TaskPayload::InputRequired { input_requests } => input_requests.keys().cloned().collect(),
        _ => Vec::new(),
    };
    let both = until(&tasks, "ann", &id, |task| open(task).len() == 2).await;
    assert_eq!(both.status(), TaskStatus::InputRequired);
    let keys = open(&both);
    let answer = |key: &str, answer: &str| {
        tasks.update(&who("ann"), &id, [(key.to_owned(), json!(answer))].into()).expect("acknowledged");
    };
    answer("never asked", "nothing");
    answer(&keys[0], "first");
    assert_eq!(open(&tasks.get(&who("ann"), &id).expect("a task").task), keys[1..]);
    answer(&keys[0], "again");
    answer(&keys[1], "second");
    let ended = ended(&tasks, "ann", &id).await;
    let TaskPayload::Completed { result } = &ended.payload else { panic!("{ended:?}") };
    assert_eq!(result["content"][0]["text"], r#"["first","second"]"#);
}

#[tokio::test]
async fn nobody_is_asked_where_there_can_be_no_task() {
    let tasks = tasks(|limits| limits.after = None);
    let asking = call("ann");
    let asks = asking.asks.clone();
    let work = async move { done(&format!("{:?}", asks.ask(question("one")).await)) };
    assert_eq!(text(tasks.answer(asking, work, pending()).await), "None");
}

fn question(message: &str) -> InputRequest {
    let requested_schema: ElicitationSchema =
        serde_json::from_value(json!({ "type": "object", "properties": {} })).expect("a schema");
    let message = message.to_owned();
    let params = ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema };
    InputRequest::Elicitation(ElicitRequest::new(params))
}
