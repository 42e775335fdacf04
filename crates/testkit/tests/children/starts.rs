//! How children start, and how a start fails.

use std::{collections::BTreeMap, time::Instant};

use belljar_model::StdioCommand;
use belljar_testkit::is_gone_within;
use belljar_upstream::{Backoff, Exit, StartError, StartStep};
use serde_json::json;

use super::*;

fn command(command: &str) -> StdioCommand {
    StdioCommand { command: command.to_owned(), args: Vec::new(), env: BTreeMap::new(), cwd: None, sandbox: None }
}

async fn start_error(upstream: &Upstream) -> std::sync::Arc<StartError> {
    upstream.tools("child").await.expect_err("the start fails")
}

#[tokio::test]
async fn a_command_that_does_not_exist_is_a_clear_start_fault() {
    let upstream = upstream(ServerSpec::new("child", Transport::Stdio(command("belljar-no-such-command"))));
    let fault = start_error(&upstream).await;
    assert!(matches!(&*fault, StartError::CommandNotFound { command } if command == "belljar-no-such-command"));
    let status = status(&upstream);
    assert_eq!(status.state, ServerState::Failing);
    assert_eq!(status.last_error.as_deref(), Some("the command 'belljar-no-such-command' was not found"));
    assert!(status.hint.is_some_and(|hint| hint.contains("PATH")));
    let fault = call(&upstream, "echo", json!({})).await.expect_err("nothing to call");
    assert!(matches!(&fault, CallError::Unavailable { server, .. } if server == "child"), "{fault}");
}

#[tokio::test]
async fn a_file_that_is_no_program_is_a_clear_start_fault() {
    let upstream = upstream(ServerSpec::new(
        "child",
        Transport::Stdio(command(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))),
    ));
    assert!(matches!(&*start_error(&upstream).await, StartError::CannotExecute { .. }));
}

#[tokio::test]
async fn a_working_directory_that_does_not_exist_is_a_clear_start_fault() {
    let mut command = command(&binary().to_string_lossy());
    command.cwd = Some(scratch_file());
    let upstream = upstream(ServerSpec::new("child", Transport::Stdio(command)));
    assert!(matches!(&*start_error(&upstream).await, StartError::NoDirectory { .. }));
}

#[tokio::test]
async fn a_child_runs_in_its_working_directory() {
    let mut command = command(&binary().to_string_lossy());
    command.args = vec!["probe".to_owned()];
    command.cwd = Some(env!("CARGO_TARGET_TMPDIR").into());
    let upstream = upstream(ServerSpec::new("child", Transport::Stdio(command)));
    let result = call(&upstream, "directory", json!({})).await.expect("a result");
    let seen = Path::new(result["content"][0]["text"].as_str().expect("a text")).canonicalize().expect("it exists");
    assert_eq!(seen, Path::new(env!("CARGO_TARGET_TMPDIR")).canonicalize().expect("it exists"));
    upstream.shutdown().await;
}

#[tokio::test]
async fn a_child_that_exits_at_once_reports_its_stderr() {
    let upstream = child(&["exit"]);
    let fault = start_error(&upstream).await;
    let StartError::Exited { exit: Exit::Process(exit), stderr } = &*fault else { panic!("{fault:?}") };
    assert_eq!(exit.code(), Some(3));
    assert_eq!(*stderr, ["cannot start: the variable EXAMPLE_TOKEN is not set"]);
    assert!(fault.reason().contains("EXAMPLE_TOKEN"), "{fault}");
}

#[tokio::test]
async fn a_mute_child_hits_the_start_limit_and_is_killed() {
    let mut spec = spec(&["mute"]);
    let limit = Duration::from_secs(5);
    spec.start_timeout = limit;
    let upstream = upstream(spec);
    let mut changes = upstream.subscribe();
    let begun = Instant::now();
    let fault = start_error(&upstream).await;
    assert!(
        matches!(&*fault, StartError::NoAnswer { step: StartStep::Initialize, limit: found, .. } if *found == limit),
        "{fault:?}"
    );
    assert!(begun.elapsed() >= limit);
    assert!(fault.hint().is_some_and(|hint| hint.contains("start_timeout")));
    let pid = status_when(&mut changes, |status| status.pid.is_some()).await.pid.expect("just seen");
    assert!(is_gone_within(pid, AMPLE));
}

#[tokio::test]
async fn a_start_fault_names_the_step_that_failed() {
    let refusing = child(&["refuse"]);
    let fault = start_error(&refusing).await;
    assert!(
        matches!(&*fault, StartError::Protocol { step: StartStep::Initialize, message, .. } if message == "a licence is needed"),
        "{fault:?}"
    );
    let mut spec = spec(&["mute-list"]);
    spec.start_timeout = Duration::from_secs(10);
    let fault = start_error(&upstream(spec)).await;
    assert!(matches!(&*fault, StartError::NoAnswer { step: StartStep::ListTools, .. }), "{fault:?}");
}

#[tokio::test]
async fn an_unknown_server_is_a_fault_that_names_the_nearest() {
    let upstream = demo();
    let fault = upstream.tools("chidl").await.expect_err("no such server");
    assert_eq!(fault.hint().as_deref(), Some("did you mean 'child'?"));
    let called = upstream.call(&ToolPath::new("chidl", "x"), Map::new(), AMPLE).await;
    assert!(matches!(called, Err(CallError::UnknownServer { nearest: Some(nearest), .. }) if nearest == "child"));
}

#[tokio::test]
async fn a_failed_start_is_remembered_for_a_while_and_then_tried_again() {
    let file = scratch_file();
    let program = file.to_string_lossy().into_owned();
    let mut options = options();
    options.backoff = Backoff { first: Duration::from_secs(3600), most: Duration::from_secs(3600) };
    let server = || vec![ServerSpec::new("child", Transport::Stdio(command(&program)))];
    let patient = upstream_with(server(), options.clone());
    options.backoff = Backoff { first: Duration::ZERO, most: Duration::ZERO };
    let eager = upstream_with(server(), options);
    assert!(matches!(&*start_error(&patient).await, StartError::CommandNotFound { .. }));
    assert!(matches!(&*start_error(&eager).await, StartError::CommandNotFound { .. }));
    // Now there is a file, so another start would fail for another reason.
    std::fs::write(&file, "no program").expect("the folder is writable");
    assert!(matches!(&*start_error(&patient).await, StartError::CommandNotFound { .. }));
    assert!(matches!(&*start_error(&eager).await, StartError::CannotExecute { .. }));
    std::fs::remove_file(&file).expect("just written");
}

#[tokio::test]
async fn concurrent_demands_share_one_start() {
    let upstream = child(&["echo"]);
    let mut changes = upstream.subscribe();
    upstream.begin("child");
    let demands = (0..20).map(|_| {
        let upstream = upstream.clone();
        tokio::spawn(async move { upstream.tools("child").await.map(|tools| tools.len()) })
    });
    for demand in demands.collect::<Vec<_>>() {
        assert_eq!(demand.await.expect("no panic").expect("it starts"), 3);
    }
    let mut starts = 0;
    while let Ok(change) = changes.try_recv() {
        starts += u32::from(change.state == ServerState::Starting && change.pid.is_some());
    }
    assert_eq!((starts, status(&upstream).restarts), (1, 0));
    upstream.shutdown().await;
}

#[tokio::test]
async fn a_demand_that_is_dropped_takes_no_start_from_the_others() {
    let upstream = child(&["echo"]);
    let first = upstream.tools("child");
    let mut changes = upstream.subscribe();
    {
        // Polled once, so that it begins the start, and then dropped.
        let first = std::pin::pin!(first);
        assert!(tokio::time::timeout(Duration::ZERO, first).await.is_err());
    }
    assert_eq!(state_when(&mut changes, ServerState::Ready).await.tools, Some(3));
    upstream.shutdown().await;
}

#[tokio::test]
async fn a_child_sees_only_the_environment_it_was_given() {
    let mut spec = spec(&["probe"]);
    if let Transport::Stdio(command) = &mut spec.transport {
        command.env.insert("OWN".to_owned(), "1".to_owned());
        command.env.insert("BOTH".to_owned(), "own".to_owned());
    }
    let mut options = options();
    options.environment.insert("SHARED".to_owned(), "2".to_owned());
    options.environment.insert("BOTH".to_owned(), "shared".to_owned());
    let upstream = upstream_with(vec![spec], options);
    let result = call(&upstream, "environment", json!({})).await.expect("a result");
    assert_eq!(result["structuredContent"], json!({"OWN": "1", "SHARED": "2", "BOTH": "own"}));
    upstream.shutdown().await;
}

#[tokio::test]
async fn a_start_that_fails_takes_no_other_child_with_it() {
    let good = child_server("good", binary(), &["echo"]);
    let upstream = upstream_with(vec![spec(&["exit"]), good], options());
    let (bad, good) = tokio::join!(upstream.tools("child"), upstream.tools("good"));
    assert!(bad.is_err());
    assert_eq!(good.expect("it starts").len(), 3);
    assert_eq!(upstream.names().collect::<Vec<_>>(), ["child", "good"]);
    upstream.shutdown().await;
}
