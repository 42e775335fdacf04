//! How a daemon ends: when it is told to, when nobody needs it, and without leaving anything
//! behind.

use std::{
    path::Path,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use crate::{
    Address, DaemonClient, DaemonServer, Options, RequestError, codes, platform,
    requests::{AskStatus, Stop, Stopped},
};
use serde_json::json;

use super::support::{Event, Raw, daemon, daemon_at, options, place};

/// Whether there is no daemon to connect to any more, and no socket.
async fn is_gone(address: &Address) -> bool {
    let socket = address.socket();
    platform::connect(&socket).await.unwrap().is_none() && !socket.exists()
}

#[tokio::test]
async fn stop_waits_for_what_runs_and_takes_nothing_new() {
    let mut daemon = daemon(options()).await;
    let (mut running, mut stopping, mut late) = (daemon.client().await, daemon.client().await, daemon.client().await);
    let running = tokio::spawn(async move { running.request("hang", &json!({})).await });
    assert_eq!(daemon.event().await, Event::Begun);
    let stopped = tokio::spawn(async move { stopping.ask(&Stop {}).await });
    // Once it cannot be found any more, it has begun to end.
    while DaemonClient::connect(&daemon.address).await.unwrap().is_some() {
        tokio::task::yield_now().await;
    }
    let refused = late.request("echo", &json!({})).await.unwrap_err();
    assert!(matches!(&refused, RequestError::Refused(fault) if fault.code == codes::STOPPING), "{refused}");
    assert!(!daemon.served.is_finished());
    daemon.release.cancel();
    assert_eq!(running.await.unwrap().unwrap().get(), "\"released\"");
    assert_eq!(stopped.await.unwrap().unwrap(), Stopped { stopped: true, cancelled: 0 });
    daemon.served.await.unwrap();
    assert_eq!(daemon.events.recv().await, Some(Event::Dropped));
    assert_eq!(daemon.events.recv().await, Some(Event::Shutdown));
    assert!(is_gone(&daemon.address).await);
}

#[tokio::test(start_paused = true)]
async fn what_does_not_end_within_the_bound_is_cancelled() {
    let mut daemon = daemon(Options { drain: Duration::from_secs(60), ..options() }).await;
    let (mut running, mut stopping) = (daemon.client().await, daemon.client().await);
    let running = tokio::spawn(async move { running.request("hang", &json!({})).await });
    assert_eq!(daemon.event().await, Event::Begun);
    assert_eq!(stopping.ask(&Stop {}).await.unwrap(), Stopped { stopped: true, cancelled: 1 });
    assert!(matches!(running.await.unwrap().unwrap_err(), RequestError::Ended { .. }));
    daemon.served.await.unwrap();
    assert_eq!(daemon.events.recv().await, Some(Event::Dropped));
    assert_eq!(daemon.events.recv().await, Some(Event::Shutdown));
}

#[tokio::test]
async fn a_signal_ends_it_as_stop_does() {
    let mut daemon = daemon(options()).await;
    let _connected = daemon.client().await;
    daemon.told_to_end.cancel();
    daemon.served.await.unwrap();
    assert_eq!(daemon.events.recv().await, Some(Event::Shutdown));
    assert!(is_gone(&daemon.address).await);
}

#[tokio::test(start_paused = true)]
async fn without_a_client_it_ends_after_the_idle_time_and_with_one_it_does_not() {
    let daemon = daemon(Options { idle: Some(Duration::from_secs(1800)), ..options() }).await;
    let client = daemon.client().await;
    tokio::time::sleep(Duration::from_secs(100_000)).await;
    assert!(!daemon.served.is_finished());
    drop(client);
    let begun = tokio::time::Instant::now();
    daemon.served.await.unwrap();
    assert!(begun.elapsed() >= Duration::from_secs(1800));
}

#[tokio::test(start_paused = true)]
async fn it_never_ends_by_itself_while_something_is_kept() {
    let daemon = daemon(Options { idle: Some(Duration::from_secs(1800)), ..options() }).await;
    daemon.needed.store(true, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_secs(100_000)).await;
    assert!(!daemon.served.is_finished());
    let mut client = daemon.client().await;
    assert!(client.ask(&AskStatus {}).await.unwrap().kept_alive);
    drop(client);
    daemon.needed.store(false, Ordering::SeqCst);
    daemon.served.await.unwrap();
}

/// Leaves behind what a daemon leaves that was killed.
fn leave(socket: &Path) {
    #[cfg(unix)]
    drop(std::os::unix::net::UnixListener::bind(socket).unwrap());
    #[cfg(windows)]
    std::fs::write(socket, r"\\.\pipe\belljar-00000000000000000000000000000000").unwrap();
}

#[tokio::test]
async fn a_socket_that_a_killed_daemon_left_is_replaced() {
    let (folder, address) = place();
    leave(&address.socket());
    assert!(address.socket().exists());
    assert!(DaemonClient::connect(&address).await.unwrap().is_none());
    let daemon = daemon_at(address, folder, options()).await;
    assert_eq!(daemon.client().await.request("echo", &json!(1)).await.unwrap().get(), "1");
}

#[cfg(windows)]
#[tokio::test]
async fn a_file_that_names_another_pipe_is_refused_unopened() {
    let (_folder, address) = place();
    for named in [r"\\elsewhere\pipe\belljar-00000000000000000000000000000000", r"\\.\pipe\other", "", "C:\\secret"] {
        std::fs::write(address.socket(), named).unwrap();
        let fault = platform::connect(&address.socket()).await.unwrap_err();
        assert_eq!(fault.kind(), std::io::ErrorKind::InvalidData, "{named}: {fault}");
    }
}

#[tokio::test]
async fn a_client_that_does_not_hang_up_keeps_no_new_daemon_from_listening() {
    let first = daemon(options()).await;
    let mut stays = Raw::greeted(&first.address.socket()).await;
    first.told_to_end.cancel();
    first.served.await.unwrap();
    let (sender, _events) = tokio::sync::mpsc::unbounded_channel();
    let service = Arc::new(super::support::Stub::new(sender));
    let second = DaemonServer::bind(&first.address, service, options()).await.unwrap();
    let served = tokio::spawn(second.serve(std::future::pending()));
    assert!(DaemonClient::connect(&first.address).await.unwrap().is_some());
    assert_eq!(stays.hear().await, serde_json::Value::Null);
    served.abort();
}

#[tokio::test]
async fn a_new_daemon_listens_only_when_the_one_before_it_is_gone() {
    let mut first = daemon(options()).await;
    let mut client = first.client().await;
    let running = tokio::spawn(async move { client.request("hang", &json!({})).await });
    assert_eq!(first.event().await, Event::Begun);
    first.told_to_end.cancel();
    let (sender, _events) = tokio::sync::mpsc::unbounded_channel();
    let service = super::support::Stub::new(sender);
    let second = DaemonServer::bind(&first.address, Arc::new(service), options());
    let mut second = std::pin::pin!(second);
    assert!(futures::poll!(second.as_mut()).is_pending());
    assert!(!first.served.is_finished());
    first.release.cancel();
    assert!(running.await.unwrap().is_ok());
    second.await.unwrap();
    assert!(first.served.is_finished());
}
