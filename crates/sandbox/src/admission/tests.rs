use std::task::Poll;

use futures::{FutureExt as _, future::BoxFuture, poll};

use super::*;

fn admission(max_live: u32, live_memory: ByteSize, max_queued: u32) -> Arc<Admission> {
    let queue_timeout = Duration::from_secs(60);
    Admission::new(&SandboxOptions { max_live, live_memory, max_queued, queue_timeout, ..SandboxOptions::default() })
}

type Asked = BoxFuture<'static, Result<Slot, RunError>>;

/// Asks for a slot, and queues.
async fn asked(admission: &Arc<Admission>, client: &'static str, memory: ByteSize) -> Asked {
    let admission = admission.clone();
    let mut asked = async move { admission.admit(client, memory).await }.boxed();
    match poll!(asked.as_mut()) {
        Poll::Ready(answer) => std::future::ready(answer).boxed(),
        Poll::Pending => asked,
    }
}

async fn is_in(asked: &mut Asked) -> bool {
    poll!(asked.as_mut()).is_ready()
}

#[tokio::test]
async fn clients_take_turns_in_the_queue_whatever_they_have_in_it() {
    let door = admission(1, ByteSize::gib(1), 100);
    let mut slot = door.admit("busy", ByteSize::mib(1)).await.expect("a free slot");
    let mut all = Vec::new();
    for client in ["greedy", "greedy", "greedy", "greedy", "modest", "greedy", "late"] {
        all.push((client, asked(&door, client, ByteSize::mib(1)).await));
    }
    let mut order = Vec::new();
    while !all.is_empty() {
        drop(slot);
        let mut next = None;
        for (at, (_, waiting)) in all.iter_mut().enumerate() {
            if let Poll::Ready(answer) = poll!(waiting.as_mut()) {
                next = Some((at, answer.expect("a slot")));
                break;
            }
        }
        let (at, its) = next.expect("one gets the slot that is freed");
        order.push(all.remove(at).0);
        slot = its;
    }
    assert_eq!(order, ["greedy", "modest", "late", "greedy", "greedy", "greedy", "greedy"]);
}

#[tokio::test]
async fn a_full_queue_sends_away_the_greediest_and_never_more_than_there_is_need_for() {
    let door = admission(1, ByteSize::gib(1), 3);
    let _slot = door.admit("greedy", ByteSize::mib(1)).await.expect("a free slot");
    let mut greedy = Vec::new();
    for _ in 0..3 {
        greedy.push(asked(&door, "greedy", ByteSize::mib(1)).await);
    }
    let refused = door.admit("greedy", ByteSize::mib(1)).await.err().expect("the queue is full");
    assert_eq!(refused.kind, ErrorKind::Busy);
    assert!(
        refused.retry_after_ms.is_some_and(|ms| ms >= 100) && refused.message.contains("retry after"),
        "{refused:?}"
    );
    assert_eq!(refused.limit, Some(LimitHit { name: LimitName::MaxQueued, max: 3, used: 4 }));

    let mut modest = asked(&door, "modest", ByteSize::mib(1)).await;
    assert!(!is_in(&mut modest).await, "it waits");
    let sent_away = greedy.pop().expect("three").await.err().expect("the last of the greedy one made room");
    assert_eq!(sent_away.kind, ErrorKind::Busy);
    assert!(!is_in(&mut greedy[0]).await && !is_in(&mut greedy[1]).await);
    // Two against one: neither client is more than one ahead.
    let second = door.admit("modest", ByteSize::mib(1)).await.err().expect("the queue is full");
    assert_eq!(second.kind, ErrorKind::Busy);
}

#[tokio::test]
async fn live_runs_are_bounded_by_their_memory_limits_together() {
    let door = admission(100, ByteSize::mib(100), 10);
    let first = door.admit("", ByteSize::mib(60)).await.expect("60 of 100");
    let mut large = asked(&door, "", ByteSize::mib(60)).await;
    assert!(!is_in(&mut large).await);
    // Runs that would fit wait behind it, or the large one would never start.
    let mut small = asked(&door, "", ByteSize::mib(1)).await;
    assert!(!is_in(&mut small).await);
    drop(first);
    assert!(is_in(&mut large).await && is_in(&mut small).await);
    // A run above the bound runs alone.
    drop((large, small));
    let alone = door.admit("", ByteSize::gib(5)).await.expect("alone");
    let mut other = asked(&door, "", ByteSize::mib(1)).await;
    assert!(!is_in(&mut other).await);
    drop(alone);
    assert!(is_in(&mut other).await);
}

#[tokio::test]
async fn whoever_gives_up_leaves_nothing_behind() {
    let door = admission(1, ByteSize::gib(1), 2);
    let slot = door.admit("", ByteSize::mib(1)).await.expect("a free slot");
    for _ in 0..10 {
        let mut waiting = asked(&door, "", ByteSize::mib(1)).await;
        assert!(!is_in(&mut waiting).await);
    }
    let nothing = {
        let state = door.state.lock();
        (state.queued, state.clients.len())
    };
    assert_eq!(nothing, (0, 0));
    // A run that is dropped between getting its slot and using it returns the slot.
    let waiting = asked(&door, "", ByteSize::mib(1)).await;
    drop(slot);
    drop(waiting);
    assert_eq!(door.state.lock().free_slots, 1);
    assert_eq!(door.state.lock().free_memory, ByteSize::gib(1).as_u64());
    assert!(door.admit("", ByteSize::mib(1)).await.is_ok());
}

#[tokio::test]
async fn a_run_that_waits_too_long_is_told_so() {
    let queue_timeout = Duration::from_millis(20);
    let door = Admission::new(&SandboxOptions { max_live: 1, queue_timeout, ..SandboxOptions::default() });
    let _slot = door.admit("", ByteSize::mib(1)).await.expect("a free slot");
    let error = door.admit("", ByteSize::mib(1)).await.err().expect("nobody frees the slot");
    assert_eq!(error.limit, Some(LimitHit { name: LimitName::QueueTimeout, max: 20, used: 20 }));
    assert_eq!(door.state.lock().queued, 0);
}
