//! Nothing is left of children.

use std::time::Instant;

use belljar_testkit::{is_gone_within, is_running};
use belljar_upstream::StartError;
use serde_json::json;

use super::*;

#[tokio::test]
async fn shutdown_leaves_no_process_behind_not_even_a_stubborn_grandchild() {
    let files: Vec<_> = (0..3).map(|_| scratch_file()).collect();
    let specs = files.iter().enumerate().map(|(number, file)| {
        child_server(&format!("child{number}"), binary(), &["stubborn", &file.to_string_lossy()])
    });
    let upstream = upstream_with(specs.collect(), options());
    let mut all = Vec::new();
    for (number, file) in files.iter().enumerate() {
        upstream.tools(&format!("child{number}")).await.expect("it starts");
        all.extend(pids(file));
    }
    assert_eq!(all.len(), 6);
    assert!(all.iter().all(|pid| is_running(*pid)));
    let begun = Instant::now();
    upstream.shutdown().await;
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    all.retain(|pid| is_running(*pid));
    assert_eq!(all, Vec::<u32>::new());
    assert!(upstream.status().iter().all(|status| status.state == ServerState::Cold && status.pid.is_none()));
}

#[tokio::test]
async fn a_helper_that_outlives_its_leader_is_ended_too() {
    let file = scratch_file();
    let upstream = child(&["leave-helper", &file.to_string_lossy()]);
    upstream.tools("child").await.expect("it starts");
    let helper = pids(&file);
    assert!(helper.iter().all(|pid| is_running(*pid)));
    upstream.shutdown().await;
    assert!(helper.iter().all(|pid| is_gone_within(*pid, Duration::ZERO)));
}

#[tokio::test]
async fn a_helper_of_a_child_that_was_killed_is_ended_too() {
    let file = scratch_file();
    let upstream = child(&["leave-helper", &file.to_string_lossy()]);
    let mut changes = upstream.subscribe();
    upstream.tools("child").await.expect("it starts");
    let pid = status(&upstream).pid.and_then(|pid| i32::try_from(pid).ok()).expect("it runs");
    let helper = pids(&file);
    let leader = nix::unistd::Pid::from_raw(pid);
    nix::sys::signal::kill(leader, nix::sys::signal::Signal::SIGKILL).expect("it can be killed");
    // The helper holds the child's stdout open, so only the exit shows the end.
    state_when(&mut changes, ServerState::Failing).await;
    assert!(helper.iter().all(|pid| is_gone_within(*pid, Duration::ZERO)));
    upstream.shutdown().await;
}

#[tokio::test]
async fn a_healthy_child_ends_by_itself_when_its_input_ends() {
    // Any of them may get no processor for a second, but not all.
    let mut times = Vec::new();
    for _ in 0..3 {
        let upstream = child(&["echo"]);
        upstream.tools("child").await.expect("it starts");
        let begun = Instant::now();
        upstream.shutdown().await;
        times.push(begun.elapsed());
    }
    let shortest = times.iter().min().expect("three of them");
    assert!(*shortest < Duration::from_millis(900), "a signal was waited for: {times:?}");
}

#[tokio::test]
async fn a_call_in_flight_is_cancelled_by_a_shutdown_and_nothing_starts_after_it() {
    let upstream = child(&["hang-call"]);
    upstream.tools("child").await.expect("it starts");
    let (called, ()) = tokio::join!(call(&upstream, "echo", json!({})), upstream.shutdown());
    assert!(matches!(called, Err(CallError::Cancelled { .. })), "{called:?}");
    let fault = upstream.start("child").await.expect_err("nothing starts any more");
    assert!(matches!(&*fault, StartError::ShuttingDown), "{fault:?}");
    upstream.begin("child");
    assert_eq!(status(&upstream).state, ServerState::Cold);
}

#[tokio::test]
async fn a_shutdown_breaks_off_a_start() {
    let upstream = child(&["mute"]);
    let mut changes = upstream.subscribe();
    upstream.begin("child");
    let pid = status_when(&mut changes, |status| status.pid.is_some()).await.pid.expect("just seen");
    let begun = Instant::now();
    let (started, ()) = tokio::join!(upstream.tools("child"), upstream.shutdown());
    let fault = started.expect_err("it was broken off");
    assert!(matches!(&*fault, StartError::ShuttingDown), "{fault:?}");
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert!(!is_running(pid));
}

#[tokio::test]
async fn dropping_the_last_handle_kills_everything() {
    let file = scratch_file();
    let upstream = child(&["stubborn", &file.to_string_lossy()]);
    let another = upstream.clone();
    upstream.tools("child").await.expect("it starts");
    let all = pids(&file);
    drop(upstream);
    assert!(all.iter().all(|pid| is_running(*pid)), "there is another handle");
    drop(another);
    assert!(all.iter().all(|pid| is_gone_within(*pid, AMPLE)));
}

#[tokio::test]
async fn a_restart_begins_when_nothing_is_left_of_the_life_before() {
    let upstream = child(&["crash-on-call"]);
    let mut changes = upstream.subscribe();
    call(&upstream, "echo", json!({})).await.expect_err("it dies");
    state_when(&mut changes, ServerState::Failing).await;
    assert_eq!(upstream.start("child").await.expect("it starts again").len(), 3);
    let again = status(&upstream);
    assert_eq!((again.state, again.restarts), (ServerState::Ready, 1));
    assert!(again.last_error.is_some(), "what happened before is not forgotten");
    upstream.shutdown().await;
}

#[tokio::test]
async fn a_helper_that_left_the_group_is_found_by_the_supervisor() {
    let file = scratch_file();
    let upstream = child(&["runaway", &file.to_string_lossy()]);
    upstream.tools("child").await.expect("it starts");
    let mut all = pids(&file);
    assert!(all.len() == 2 && all.iter().all(|pid| is_running(*pid)));
    let begun = Instant::now();
    upstream.shutdown().await;
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    all.retain(|pid| is_running(*pid));
    assert_eq!(all, Vec::<u32>::new());
}

#[tokio::test]
async fn nothing_is_left_without_a_supervisor_either_as_long_as_it_stays_in_the_group() {
    let file = scratch_file();
    let mut options = options();
    options.supervisor = None;
    let upstream = upstream_with(vec![spec(&["stubborn", &file.to_string_lossy()])], options);
    upstream.tools("child").await.expect("it starts");
    let mut all = pids(&file);
    upstream.shutdown().await;
    all.retain(|pid| is_running(*pid));
    assert_eq!(all, Vec::<u32>::new());
}

#[test]
fn nothing_is_left_when_belljar_itself_is_killed() {
    use std::io::BufRead as _;
    let file = scratch_file();
    let mut host = std::process::Command::new(binary())
        .args(["host", &file.to_string_lossy()])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    let mut output = std::io::BufReader::new(host.stdout.take().expect("it was asked for"));
    output.read_line(&mut line).expect("it says that it is ready");
    assert_eq!(line, "ready\n");
    let all = pids(&file);
    assert!(all.len() == 2 && all.iter().all(|pid| is_running(*pid)));
    // SIGKILL, which nobody can notice in time.
    host.kill().expect("it can be killed");
    host.wait().expect("it is dead");
    // The child ignores the end of its input and SIGTERM, and its helper is in another session.
    assert!(all.iter().all(|pid| is_gone_within(*pid, AMPLE)));
}
