//! Sends updates as a stream of server-sent events.

use std::{convert::Infallible, sync::Arc, time::Duration};

use bytes::Bytes;
use futures::{
    StreamExt as _,
    stream::{self, BoxStream},
};
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::Frame;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

use crate::answer::{self, Answer};

/// How long updates wait for others, so that a page redraws only a few times a second.
const GATHER: Duration = Duration::from_millis(100);
/// The most updates of one message. Others wait for the next one.
const MAX_GATHERED: usize = 500;
/// How often something is sent even if nothing happens, so that a page that is gone is noticed.
const BEAT: Duration = Duration::from_secs(15);

/// An answer that continues for as long as the page is open. `held` is kept until it ends.
pub(crate) fn answer<T: Send + Sync + 'static>(
    updates: BoxStream<'static, Value>,
    held: Arc<T>,
    is_open: impl Fn() -> bool + Send + 'static,
) -> Answer {
    let messages =
        stream::unfold((updates, held, is_open, true), |(mut updates, held, is_open, is_first)| async move {
            if is_first {
                return Some((message(&[]), (updates, held, is_open, false)));
            }
            let gathered = gathered(&mut updates).await.filter(|_| is_open())?;
            Some((message(&gathered), (updates, held, is_open, false)))
        });
    let frames = messages.map(|text| Ok::<_, Infallible>(Frame::data(Bytes::from(text))));
    answer::with("text/event-stream", StreamBody::new(frames).boxed_unsync())
}

/// The updates of a moment; empty if nothing happened for a while, and `None` if no more can come.
async fn gathered(updates: &mut BoxStream<'static, Value>) -> Option<Vec<Value>> {
    let first = tokio::select! {
        first = updates.next() => first?,
        () = tokio::time::sleep(BEAT) => return Some(Vec::new()),
    };
    let (mut gathered, end) = (vec![first], Instant::now() + GATHER);
    while gathered.len() < MAX_GATHERED {
        tokio::select! {
            next = updates.next() => match next {
                Some(update) => gathered.push(update),
                None => break,
            },
            () = sleep_until(end) => break,
        }
    }
    Some(gathered)
}

fn message(updates: &[Value]) -> String {
    // JSON on one line has no line breaks of its own.
    format!("data: {}\n\n", json!(updates))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn updates_of_a_moment_come_together_and_a_silent_stream_beats() {
        let now = stream::iter([json!(1), json!("a\nb")]).chain(stream::pending()).boxed();
        let mut body = answer(now, Arc::new(()), || true).into_body();
        let mut texts = Vec::new();
        for _ in 0..3 {
            let frame = body.frame().await.expect("it goes on").expect("it does not fail");
            texts.push(String::from_utf8(frame.into_data().expect("data").to_vec()).expect("text"));
        }
        assert_eq!(texts, ["data: []\n\n", "data: [1,\"a\\nb\"]\n\n", "data: []\n\n"]);
    }
}
