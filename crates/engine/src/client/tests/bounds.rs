//! The number of runs for which a process can make the gateway hold something.

use super::*;

fn asked(run: u64) -> Vec<u8> {
    from_worker::question(run, &Question::Directory(0))
}

#[tokio::test]
async fn a_process_that_has_more_runs_under_way_than_may_be_live_is_ended() {
    let options = SandboxOptions { max_live: 2, max_computing: 1, ..SandboxOptions::default() };
    let (connection, serving, mut fake) = connected_with(&options);
    // Two that are live, and one for each thread that may have ended one without reporting it yet.
    let runs: Vec<_> = (0..4).map(|_| begun(&connection, Limits::default())).collect();
    for _ in &runs {
        fake.hear(to_worker::RUN).await;
    }
    for number in 1..=3 {
        fake.say(&asked(number)).await;
        fake.hear(to_worker::ANSWER).await;
    }
    // A run that has ended makes room for another.
    let ended = Outcome { result: Ok(JsonText::null()), ..Outcome::refused(RunError::new(ErrorKind::Internal, "")) };
    fake.say(&from_worker::outcome(2, &ended)).await;
    fake.say(&asked(4)).await;
    fake.hear(to_worker::ANSWER).await;
    let fifth = begun(&connection, Limits::default());
    fake.hear(to_worker::RUN).await;
    fake.say(&asked(5)).await;
    assert_eq!(serving.await.expect("no panic"), Lost::Violated(Violation::Live));
    assert!(!fifth.await.expect("no panic").expect("it had begun").is_ok());
}

#[tokio::test]
async fn a_run_beyond_all_places_is_told_that_belljar_is_busy() {
    let options = SandboxOptions { max_live: 1, max_queued: 0, ..SandboxOptions::default() };
    let (connection, _serving, mut fake) = connected_with(&options);
    let mut runs = JoinSet::new();
    // The process reports nothing about any of them.
    for _ in 0..400 {
        let connection = connection.clone();
        runs.spawn(async move { begun(&connection, Limits::default()).await });
    }
    let mut busy = 0;
    while busy < 400 - 257 {
        let outcome = timeout(MOMENT, runs.join_next()).await.expect("it is told at once").expect("there are more");
        let outcome = outcome.expect("no panic").expect("no panic").expect("it is not begun elsewhere");
        let error = outcome.result.expect_err("there is no place");
        assert_eq!(error.kind, ErrorKind::Busy, "{error:#?}");
        assert!(error.retry_after_ms.is_some() && error.limit.is_some_and(|limit| limit.name.as_str() == "max_queued"));
        busy += 1;
    }
    // A run that has ended frees its place.
    fake.hear(to_worker::RUN).await;
    fake.say(&outcome(Ok(JsonText::null()), vec![])).await;
    let ended = timeout(MOMENT, runs.join_next()).await.expect("it ends").expect("there are more");
    assert!(ended.expect("no panic").expect("no panic").is_some_and(|outcome| outcome.is_ok()));
    let another = begun(&connection, Limits::default());
    for _ in 0..257 {
        fake.hear(to_worker::RUN).await;
    }
    assert!(!another.is_finished());
}
